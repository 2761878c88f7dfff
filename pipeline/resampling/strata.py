"""Bootstrap draws within strata: n_h of the n_h units of each stratum, drawn by address.

The words are those of `pipeline.resampling.draws`, one stream a replicate: with the strata one after the other, draw j is word j
and belongs to the stratum that holds place j; it is unit (word · n_h) >> 32 of that stratum. Its key differs from that of plain
draws, which are unaffected; with a single stratum the two are the same function of the key.
"""

from __future__ import annotations

import hashlib
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from pipeline.compiled.bare import bare_kernel
from pipeline.dataclass import dataclass
from pipeline.resampling.address import draw_key
from pipeline.resampling.draws import check_replicates, rows_of
from pipeline.resampling.philox import SHIFT, draw_words, rounds

__all__ = ["StratifiedDraws", "draw_stratified_units", "draw_stratified_weights", "stratified_key"]


@dataclass(frozen=True, eq=False)
class StratifiedDraws:
    """A stream of bootstrap samples that keep the number of units of each stratum.

    Parameters
    ----------
    key : int
        64 bits from `stratified_key`.
    stratum : (unit,) int64
        The stratum of each unit, numbered 0 … H − 1 without a gap.
    """

    key: int
    stratum: NDArray[np.int64]

    def __post_init__(self) -> None:
        if not 0 <= self.key < 2**64:
            raise ValueError(f"a key has 64 bits: {self.key} is not in 0 … {2**64 - 1}")
        if self.stratum.ndim != 1 or not 1 <= len(self.stratum) <= 2**24:
            raise ValueError(f"strata of 1 … {2**24} units have one dimension, not {self.stratum.shape}")
        if self.stratum.min() < 0 or not self.sizes.all():
            raise ValueError(f"strata are numbered 0 … H − 1 without a gap, not {np.unique(self.stratum).tolist()}")

    @property
    def n_units(self) -> int:
        """Units to draw from."""
        return len(self.stratum)

    @property
    def n_draws(self) -> int:
        """Draws in each replicate: as many as there are units."""
        return len(self.stratum)

    @cached_property
    def sizes(self) -> NDArray[np.int64]:
        """(stratum,) units of each."""
        return np.bincount(self.stratum).astype(np.int64)

    @cached_property
    def order(self) -> NDArray[np.int64]:
        """(place,) the units, stratum by stratum, and in their own order within each."""
        return np.argsort(self.stratum, kind="stable").astype(np.int64)

    @property
    def fixed(self) -> int:
        """Units alone in their stratum: drawn once in every replicate, so they add nothing to any variance."""
        return int(np.sum(self.sizes == 1))


def stratified_key(*, seed: int, purpose: str, test_set: str, size: str, rule: str, stratum: NDArray[np.integer]) -> int:
    """Return the 64-bit key of a stream of draws within strata: it depends on the strata, but not on their names.

    Parameters
    ----------
    seed, purpose, test_set, size, rule
        As of `pipeline.resampling.address.draw_key`.
    stratum : (unit,) int
        The stratum of each unit, under any numbers.

    Examples
    --------
    >>> where = dict(seed=1, purpose="paired-bootstrap", test_set="news", size="full", rule="units")
    >>> stratified_key(**where, stratum=np.array([7, 7, 2])) == stratified_key(**where, stratum=np.array([0, 0, 1]))
    True
    """
    _, first, inverse = np.unique(stratum, return_index=True, return_inverse=True)
    by_appearance = np.argsort(np.argsort(first))[inverse]
    content = hashlib.sha256(by_appearance.astype("<i8").tobytes()).hexdigest()[:16]
    return draw_key(seed=seed, purpose=purpose, test_set=test_set, size=size, rule=f"{rule}, within strata {content}")


def draw_stratified_units(draws: StratifiedDraws, replicate: int) -> NDArray[np.int64]:
    """Draw the units of one replicate, stratum by stratum: the readable definition.

    Examples
    --------
    >>> draw_stratified_units(StratifiedDraws(key=1, stratum=np.array([0, 1, 0, 0, 2])), 0)
    array([3, 3, 2, 1, 4])
    """
    check_replicates(replicate, 1)
    words = draw_words(draws.key, replicate, -(-draws.n_draws // 4))[: draws.n_draws]
    starts, sizes = _places(draws)
    places = starts + ((words.astype(np.uint64) * sizes.astype(np.uint64)) >> SHIFT).astype(np.int64)
    units: NDArray[np.int64] = draws.order[places]
    return units


def draw_stratified_weights(
    draws: StratifiedDraws, first: int, count: int, out: NDArray[np.float32] | None = None
) -> NDArray[np.float32]:
    """Count how often each unit is drawn in consecutive replicates; in the form of `pipeline.resampling.draws.draw_weights`.

    Parameters
    ----------
    draws : StratifiedDraws
    first, count : int
        First replicate and number of replicates.
    out : (≥ count, unit) float32, optional
        Where to write; rows beyond ``count`` stay as they are.

    Returns
    -------
    (replicate, unit) float32
        Whole numbers; in each row, those of a stratum sum to the number of its units.
    """
    check_replicates(first, count)
    weights = rows_of(out, count, draws.n_units)
    padding = (0, -draws.n_draws % 4)
    starts, sizes = (np.pad(values, padding).astype(np.uint32).reshape(-1, 4).T for values in _places(draws))
    # (word, quad), as the words come.
    _fill_weights(
        np.uint64(draws.key), np.uint64(first), np.ascontiguousarray(starts), np.ascontiguousarray(sizes), draws.order, weights
    )
    return weights


def _places(draws: StratifiedDraws) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return (draw,) the first place of each draw's stratum and its number of units."""
    starts = np.cumsum(draws.sizes) - draws.sizes
    return np.repeat(starts, draws.sizes), np.repeat(draws.sizes, draws.sizes)


@bare_kernel
def _fill_weights(
    key: np.uint64,
    first: np.uint64,
    starts: NDArray[np.uint32],
    sizes: NDArray[np.uint32],
    order: NDArray[np.int64],
    weights: NDArray[np.float32],
) -> None:
    # As in `draws`: the words of a whole replicate first (this loop vectorises), then the scatter into a row in the cache.
    n_units = weights.shape[1]
    quads = starts.shape[1]
    places = np.empty((4, quads), np.uint32)
    counts = np.empty(n_units, np.int32)
    for row in range(weights.shape[0]):
        replicate = first + np.uint64(row)
        for quad in range(quads):
            c0, c1, c2, c3 = rounds(np.uint64(quad), replicate, key)
            places[0, quad] = starts[0, quad] + np.uint32((c0 * np.uint64(sizes[0, quad])) >> SHIFT)
            places[1, quad] = starts[1, quad] + np.uint32((c1 * np.uint64(sizes[1, quad])) >> SHIFT)
            places[2, quad] = starts[2, quad] + np.uint32((c2 * np.uint64(sizes[2, quad])) >> SHIFT)
            places[3, quad] = starts[3, quad] + np.uint32((c3 * np.uint64(sizes[3, quad])) >> SHIFT)
        counts[:] = 0
        for word in range(4):
            for quad in range((n_units - word + 3) // 4):
                counts[places[word, quad]] += 1
        for place in range(n_units):
            weights[row, order[place]] = counts[place]
