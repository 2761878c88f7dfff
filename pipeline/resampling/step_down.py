"""Successive maxima and exceedances of a family, block by block of kept scores. This module holds the loops, and knows no p.

Replicates with an undefined score are counted apart, so that p can be conditional on those in which all that it needs is defined.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pipeline.compiled import kernel

__all__ = ["Members", "count_any", "count_step_down"]

_TILE = 1024  # replicates: 150 systems are 1.2 MB, and the running maxima stay in the level-1 cache


class Members(NamedTuple):
    """The pairs of a family, the largest t first; t* is ((first − second) − center) · scale, its size where two-sided."""

    first: NDArray[np.int64]  # (member,) row of scores
    second: NDArray[np.int64]
    center: NDArray[np.float64]  # (member,) δ
    scale: NDArray[np.float64]  # (member,) 1 / se
    least: NDArray[np.float64]  # (member,) what counts as reaching t


@kernel
def count_step_down(
    scores: NDArray[np.float64],
    members: Members,
    two_sided: bool,
    hits: NDArray[np.int64],
    defined: NDArray[np.int64],
    largest: NDArray[np.float64],
) -> None:
    """Add to ``hits`` how often max_{k ≥ j} t*_k reaches t_j, and to ``defined`` how often all t*_k of k ≥ j are defined.

    The last of the successive maxima is that of the whole family, for single-step procedures: it is written to ``largest``.

    Parameters
    ----------
    scores : (row, replicate) float64
        nan where undefined: the replicate then counts for no member from the smallest t up to and above the one that lacks it.
    members : Members
    two_sided : bool
    hits, defined : (member,) int64
    largest : (replicate,) float64
        nan where any t* is undefined, −inf without members.
    """
    first, second, center, scale, least = members
    largest[:] = -np.inf
    for start in range(0, scores.shape[1], _TILE):
        stop = min(start + _TILE, scores.shape[1])
        maxima = largest[start:stop]
        for member in range(len(first) - 1, -1, -1):
            a, b = scores[first[member], start:stop], scores[second[member], start:stop]
            middle, times, threshold = center[member], scale[member], least[member]
            reached = there = 0
            for i in range(stop - start):
                t = ((a[i] - b[i]) - middle) * times
                t = abs(t) if two_sided else t
                # nan enters where t is nan, and stays: no comparison with it is true.
                highest = t if (t > maxima[i] or t != t) else maxima[i]
                maxima[i] = highest
                reached += highest >= threshold
                there += highest == highest
            hits[member] += reached
            defined[member] += there


@kernel
def count_any(scores: NDArray[np.float64], members: Members, two_sided: bool, critical: NDArray[np.float64]) -> tuple[int, int]:
    """Count replicates in which any t* is above its critical value, of those in which all are defined; give both numbers.

    Parameters
    ----------
    scores : (row, replicate) float64
    members : Members
        ``least`` is not used.
    two_sided : bool
    critical : (member,) float64
    """
    exceeded, undefined = np.empty(_TILE, np.bool_), np.empty(_TILE, np.bool_)
    found = there = 0
    for start in range(0, scores.shape[1], _TILE):
        stop = min(start + _TILE, scores.shape[1])
        exceeded[:] = False
        undefined[:] = False
        for member in range(len(members.first)):
            a, b = scores[members.first[member], start:stop], scores[members.second[member], start:stop]
            middle, times, threshold = members.center[member], members.scale[member], critical[member]
            for i in range(stop - start):
                t = ((a[i] - b[i]) - middle) * times
                t = abs(t) if two_sided else t
                exceeded[i] |= t > threshold
                undefined[i] |= t != t
        for i in range(stop - start):
            found += exceeded[i] and not undefined[i]
            there += not undefined[i]
    return found, there
