"""Count the replicates in which t* of a pair, and the largest t* so far, reach the pair's t.

Step-down max-T (`studentised_max_t`) compares with that largest t*. Pairs come from the smallest t to the largest, so it is the
largest so far.

Where t* are known to lie between bounds, most need not be computed. One that is surely below the largest so far, and surely on one
side of its pair's t, can be counted without being known; the others are computed, and the counts are the same.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pipeline.compiled.bare import bare_kernel
from pipeline.resampling.standard_errors.enclosures import Enclosed

__all__ = ["Reached", "count_all", "count_enclosed", "count_reaching"]

_FEW = 64  # pairs, whose t* NumPy counts before a kernel is loaded


class Reached(NamedTuple):
    """Counts of the replicates in which the t of pairs is reached."""

    own: NDArray[np.int64]  # (pair,) by its own t*
    successive: NDArray[np.int64]  # (pair,) by the largest t* of it and of all with a smaller t
    largest: NDArray[np.float64]  # (replicate,) of all

    @classmethod
    def nothing(cls, pairs: int, replicates: int) -> Reached:
        """Return counts of 0, to be filled."""
        own, successive = np.zeros((2, pairs), np.int64)
        return cls(own, successive, np.zeros(replicates))

    def reversed(self) -> Reached:
        """Return the same with the pairs from the last to the first."""
        return Reached(self.own[::-1], self.successive[::-1], self.largest)


def count_all(
    blocks: Iterable[NDArray[np.float64]], *, cap: NDArray[np.float64], least: NDArray[np.float64], replicates: int
) -> Reached:
    """Count from t* themselves.

    Parameters
    ----------
    blocks : iterable of (some pairs, replicate) float64
        t*, the pair with the smallest t first; nan and infinity count as the cap.
    cap : (pair,) float64
        Upper limit of |t*|.
    least : (pair,) float64
        What is to be reached.
    replicates : int
    """
    found, done = Reached.nothing(len(cap), replicates), 0
    count = _count_few if len(cap) <= _FEW else count_reaching
    for t in blocks:
        rows = slice(done, done + len(t))
        count(t, cap[rows], least[rows], found.largest, found.own[rows], found.successive[rows])
        done = rows.stop
    return found


def count_enclosed(blocks: Iterable[Enclosed], *, cap: NDArray[np.float64], least: NDArray[np.float64], replicates: int) -> Reached:
    """Count from bounds of t*; on every replicate the pair with the smallest t comes first.

    Parameters
    ----------
    blocks : iterable of Enclosed
    cap, least, replicates
        As of `count_all`.
    """
    found = Reached.nothing(len(cap), replicates)
    for block in blocks:
        rows, largest = block.rows, found.largest[block.replicates]
        pair, replicate, reaches = block.find_open(cap=cap[rows], least=least[rows], largest=largest, own=found.own[rows])
        _count_open(
            np.searchsorted(pair, np.arange(rows.stop - rows.start + 1)),
            replicate,
            block.exactly(pair, replicate),
            reaches,
            cap[rows],
            least[rows],
            largest,
            found.own[rows],
            found.successive[rows],
        )
    return found


def _count_few(
    t: NDArray[np.float64],
    cap: NDArray[np.float64],
    least: NDArray[np.float64],
    largest: NDArray[np.float64],
    own: NDArray[np.int64],
    successive: NDArray[np.int64],
) -> None:
    """Count as `count_reaching` does, in NumPy and with the same result."""
    for pair, values in enumerate(np.abs(t)):
        size = np.where(values < cap[pair], values, cap[pair])
        own[pair] = np.count_nonzero(size >= least[pair])
        largest[:] = np.where(size > largest, size, largest)
        successive[pair] = np.count_nonzero(largest >= least[pair])


@bare_kernel
def count_reaching(
    t: NDArray[np.float64],
    cap: NDArray[np.float64],
    least: NDArray[np.float64],
    largest: NDArray[np.float64],
    own: NDArray[np.int64],
    successive: NDArray[np.int64],
) -> None:
    """Fill how often |t*| of a pair, and the largest of it and of those before it, reach what counts as its t.

    Parameters
    ----------
    t : (pair, replicate) float64
        t*, the pair with the smallest t first; nan and infinity count as the cap.
    cap, least : (pair,) float64
    largest : (replicate,) float64
        Of the pairs before; of these too when it is done.
    own, successive : (pair,) int64
    """
    for pair in range(len(t)):
        most, threshold, alone, reached = cap[pair], least[pair], 0, 0
        for i in range(t.shape[1]):
            size = abs(t[pair, i])
            size = size if size < most else most  # not so of nan
            alone += size >= threshold
            highest = size if size > largest[i] else largest[i]
            largest[i] = highest
            reached += highest >= threshold
        own[pair] = alone
        successive[pair] = reached


@bare_kernel
def _count_open(
    begin: NDArray[np.int64],
    replicate: NDArray[np.int64],
    sizes: NDArray[np.float64],
    reaches: NDArray[np.bool_],
    cap: NDArray[np.float64],
    least: NDArray[np.float64],
    largest: NDArray[np.float64],
    own: NDArray[np.int64],
    successive: NDArray[np.int64],
) -> None:
    """Count what is left, with the |t*| that were asked for.

    Parameters
    ----------
    begin : (pair + 1,) int64
        Where those of a pair are among them.
    replicate : (asked,) int64
    sizes : (asked,) float64
    reaches : (asked,) bool
        What is counted already as reaching the pair's t.
    cap, least : (pair,) float64
    largest : (replicate,) float64
        Of the pairs before; of these too when it is done.
    own, successive : (pair,) int64
        Added to.
    """
    for pair in range(len(cap)):
        most, threshold = cap[pair], least[pair]
        for place in range(begin[pair], begin[pair + 1]):
            i = replicate[place]
            size = sizes[place] if sizes[place] < most else most
            own[pair] += (not reaches[place]) & (size >= threshold)
            largest[i] = size if size > largest[i] else largest[i]
        reached = 0
        for i in range(len(largest)):
            reached += largest[i] >= threshold
        successive[pair] += reached
