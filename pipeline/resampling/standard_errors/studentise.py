"""Gains of bootstrap replicates divided by their own standard errors, t*, for some pairs at a time.

A replicate is drawn again from its address, and the standard error of a pair's difference is that of its linearised influence
values on the units drawn: √(n/(n − 1) · Σu²), within strata √(Σ n_h/(n_h − 1) · Σ(u − mean_h u)²). Ratios are linearised on every
replicate (`ratio_spread`), other metrics once, on the test set (`influence_spread`). `studentise_budget` says beforehand what that
costs, and `studentise_plans` how it is summed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
from numpy.typing import NDArray

from pipeline.compiled.bare import bare_kernel
from pipeline.dataclass import dataclass
from pipeline.resampling.draws import Draws, draw_counts, draw_weights
from pipeline.resampling.measures import Measure
from pipeline.resampling.observe import TOLERANCE, score_observed
from pipeline.resampling.products.byte_product import MOST_DRAWS, blocks_of, choose_form, zero_counts
from pipeline.resampling.products.differing_units import MANY, MOST_UNITS, DifferingUnits
from pipeline.resampling.standard_errors.ratio_spread import LOST
from pipeline.resampling.standard_errors.studentise_plans import Parts, influence_plans, ratio_plans
from pipeline.resampling.strata import StratifiedDraws, draw_stratified_weights

__all__ = ["BEYOND", "INFINITE", "Studentised", "noise_of", "replicates_at_a_time", "studentise", "t_of"]

BEYOND = 1e200
"""A t* larger than this is infinite: of a replicate without a spread of its own, or with one that is lost in rounding."""

INFINITE = 1e300
"""What stands for the size of an infinite t*."""

_BATCH = 1024
_SHORTEST_BATCH = 32
_LARGEST_KEPT = 255  # of counts: what a byte holds
_SHARE_KEPT = 8  # of the memory, for resamples that are asked for again
_TILES = "amx"  # the form of products that is as fast as bits
_FEW = 64  # pairs, of which NumPy divides the gains before a kernel is loaded


@dataclass(frozen=True, eq=False)
class Studentised:
    """The t* of some pairs, t* = (δ* − δ) / se*, δ = score[first] − score[second] as the metric gives it.

    Parameters
    ----------
    pair : (some,) int64
        Positions among the pairs of the measure.
    t : (some, replicate) float64
        nan where a score is undefined, and where a replicate without spread repeats δ; beyond ± `BEYOND` for others without spread.
    empty : (some, replicate) bool
        Where a score is undefined.
    observed : (some,) float64
        δ / se.
    se : (some,) float64
        Of the test set itself, in the metric's points; for means it is the jackknife's. nan with one unit, or if lost in rounding.
    lost : (some,) int64
        Replicates whose own standard error is lost in rounding; they count as without spread.
    """

    pair: NDArray[np.int64]
    t: NDArray[np.float64]
    empty: NDArray[np.bool_]
    observed: NDArray[np.float64]
    se: NDArray[np.float64]
    lost: NDArray[np.int64]


def studentise(
    draws: Draws | StratifiedDraws,
    measure: Measure,
    *,
    replicates: int,
    chosen: NDArray[np.int64] | None = None,
    scores: NDArray[np.float64] | None = None,
    memory_bytes: int = 2**28,
) -> Iterator[Studentised]:
    """Draw the replicates from 0 on and yield the t* of pairs, in their order.

    Parameters
    ----------
    draws : Draws or StratifiedDraws
        With as many draws as units, and the measure's strata.
    measure : Measure
    replicates : int
        Each costs a product over all units for every pair, so ask for some thousands, not a million.
    chosen : (some,) int64, optional
        Positions of the pairs, in the order wanted; all pairs by default.
    scores : (system, ≥ replicates) float64, optional
        Scores of the same replicates, nan where undefined; needed unless the metric is a ratio.
    memory_bytes : int, optional
        For t*, weights, columns and sums. It changes no number.
    """
    units, pairs = len(measure.statistics), measure.pairs.astype(np.int64)
    if (draws.n_units, draws.n_draws) != (units, units):
        raise ValueError(f"{draws.n_draws} draws of {draws.n_units} units, there are {units}")
    strata, own = draws.stratum if isinstance(draws, StratifiedDraws) else None, measure.stratum
    if (strata is None) != (own is None) or (strata is not None and own is not None and not np.array_equal(strata, own)):
        raise ValueError("draws and measure are not of the same strata")
    order = np.arange(len(pairs)) if chosen is None else chosen
    batch = replicates_at_a_time(units, memory_bytes)
    several = max(memory_bytes // (2 * (9 * replicates + 48 * units + 48 * batch)), 1)
    by_ratio = measure.form == "ratio"
    may = by_ratio and isinstance(draws, Draws) and units <= MOST_DRAWS
    work = replicates * units * len(order)
    form = choose_form(work) if may else None
    differing: Callable[[NDArray[np.int64], NDArray[np.int64]], DifferingUnits] | None = None
    if isinstance(draws, Draws) and form != _TILES and work >= MANY and units <= MOST_UNITS:
        differing = partial(DifferingUnits, draws, replicates, memory_bytes=memory_bytes // 2)
    if by_ratio:
        plans = ratio_plans(measure, strata, form, order, differing=differing)
    else:
        plans = influence_plans(measure, scores, replicates)
    noise = noise_of(measure)
    again = len(order) > several and replicates * units <= memory_bytes // _SHARE_KEPT
    resamples = _Resamples(draws, replicates, batch, in_bytes=form is not None, keeps=again)
    for start in range(0, len(order), several):
        some = order[start : start + several]
        yield _studentise(resamples, plans(some), some, noise[some])


def replicates_at_a_time(units: int, memory_bytes: int) -> int:
    """Return how many replicates are drawn together."""
    return max(_SHORTEST_BATCH, min(_BATCH, memory_bytes // (48 * units)))


class _Resamples:
    """How often each unit is drawn, some replicates at a time.

    They are asked for once for every block of pairs. What is kept is kept in bytes, which a count hardly ever exceeds, and turned
    into numbers again; that takes a fourth of the time of drawing. Counts in bytes are kept beside them where they are asked for.
    """

    def __init__(self, draws: Draws | StratifiedDraws, replicates: int, batch: int, *, in_bytes: bool, keeps: bool) -> None:
        self.draws, self.replicates, self._batch, self._keeps = draws, replicates, batch, keeps
        self._weights = np.empty((min(batch, replicates), draws.n_units), np.float32)
        self._in_bytes = in_bytes
        self._kept: dict[int, NDArray[np.uint8]] = {}
        self._counts: dict[int, NDArray[np.uint8]] = {}

    def __iter__(self) -> Iterator[tuple[int, NDArray[np.float32], NDArray[np.uint8] | None]]:
        """Yield the first replicate, (replicate, unit) weights and the counts of `draw_counts`; both hold until the next ones."""
        for first in range(0, self.replicates, self._batch):
            count = min(self._batch, self.replicates - first)
            counts = self._count(self.draws, first, count) if self._in_bytes and isinstance(self.draws, Draws) else None
            yield first, self._weigh(first, count), counts

    def _count(self, draws: Draws, first: int, count: int) -> NDArray[np.uint8]:
        place = first if self._keeps else 0
        if place in self._counts and self._keeps:
            return self._counts[place]
        if place not in self._counts:
            self._counts[place] = zero_counts(count, draws.n_units)
        counts = self._counts[place][: blocks_of(count)]
        draw_counts(draws, first, count, counts)
        return counts

    def _weigh(self, first: int, count: int) -> NDArray[np.float32]:
        weights = self._weights[:count]
        if first in self._kept:
            weights[:] = self._kept[first]
            return weights
        if isinstance(self.draws, StratifiedDraws):
            draw_stratified_weights(self.draws, first, count, out=self._weights)
        else:
            draw_weights(self.draws, first, count, out=self._weights)
        if self._keeps and weights.max(initial=0.0) <= _LARGEST_KEPT:
            self._kept[first] = weights.astype(np.uint8)
        return weights


def _studentise(resamples: _Resamples, parts: Parts, chosen: NDArray[np.int64], noise: NDArray[np.float64]) -> Studentised:
    draws, replicates, units = resamples.draws, resamples.replicates, resamples.draws.n_units
    delta, variance = np.empty((2, len(chosen)))
    for rows, plan in parts:
        delta[rows], variance[rows] = plan.observe()
    alone = units == 1 if isinstance(draws, Draws) else bool(np.all(draws.sizes == 1))
    se = np.sqrt(np.where((variance == LOST) | alone, np.nan, variance))
    with np.errstate(divide="ignore", invalid="ignore"):  # 0/0 is no t
        observed = delta / se
    t, empty = np.empty((len(chosen), replicates)), np.empty((len(chosen), replicates), np.bool_)
    lost = np.zeros(len(chosen), np.int64)
    for first, drawn, counts in resamples:
        for rows, plan in parts:
            divide = _divide_few if len(rows) <= _FEW else _divide
            divide(*plan.spread(drawn, first, counts), rows, delta, noise, first, t, empty, lost)
    return Studentised(chosen, t, empty, observed, se, lost)


@bare_kernel(error_model="numpy")
def _divide(
    gain: NDArray[np.float64],
    spread: NDArray[np.float64],
    rows: NDArray[np.int64],
    delta: NDArray[np.float64],
    noise: NDArray[np.float64],
    first: int,
    t: NDArray[np.float64],
    empty: NDArray[np.bool_],
    lost: NDArray[np.int64],
) -> None:
    """Fill t* of the replicates from ``first``: (gain − δ) / se*."""
    count = gain.shape[1]
    for own in range(len(rows)):
        pair = rows[own]
        values, squares = gain[own], spread[own]
        target, undefined = t[pair, first : first + count], empty[pair, first : first + count]
        middle, near, unknown = delta[pair], noise[pair], 0
        for i in range(count):
            shift = values[i] - middle
            undefined[i] = values[i] != values[i]
            unknown += squares[i] == LOST
            # As everywhere in the package, a gain within this distance of another is equal to it.
            shift = 0.0 if squares[i] == 0.0 and abs(shift) <= near else shift
            # 0/0 is no t*, and another number over 0 an infinite one.
            found = shift / np.sqrt(squares[i] if squares[i] > 0.0 else 0.0)
            found = -INFINITE if found < -INFINITE else found
            target[i] = INFINITE if found > INFINITE else found
        lost[pair] += unknown


def _divide_few(
    gain: NDArray[np.float64],
    spread: NDArray[np.float64],
    rows: NDArray[np.int64],
    delta: NDArray[np.float64],
    noise: NDArray[np.float64],
    first: int,
    t: NDArray[np.float64],
    empty: NDArray[np.bool_],
    lost: NDArray[np.int64],
) -> None:
    """Do what `_divide` does in NumPy, operation by operation, and so with the same bits."""
    some = slice(first, first + gain.shape[1])
    t[rows, some] = t_of(gain, spread, delta=delta[rows, None], noise=noise[rows, None])
    empty[rows, some] = np.isnan(gain)
    lost[rows] += np.count_nonzero(spread == LOST, axis=1)


def noise_of(measure: Measure) -> NDArray[np.float64]:
    """Return (pair,) how far two gains of a pair may be from each other and still be equal."""
    return np.asarray(TOLERANCE * np.abs(score_observed(measure)[measure.pairs.astype(np.int64)]).sum(axis=1))


def t_of(
    gain: NDArray[np.float64], spread: NDArray[np.float64], *, delta: NDArray[np.float64], noise: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return (``gain`` − ``delta``) / √ ``spread``; a gain within the noise of δ repeats it where there is no spread."""
    with np.errstate(all="ignore"):
        shift = gain - delta
        shift = np.where((spread == 0.0) & (np.abs(shift) <= noise), 0.0, shift)
        found = shift / np.sqrt(np.where(spread > 0.0, spread, 0.0))
        found = np.where(found < -INFINITE, -INFINITE, found)
        return np.where(found > INFINITE, INFINITE, found)
