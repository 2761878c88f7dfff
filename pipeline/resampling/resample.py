"""One pass over cells of replicates, the resampling of the package: draw, contract, score, compare.

No array of replicates × pairs is ever made. The result is the same, bit for bit, however memory is divided, whichever cells are
computed together, and whatever other systems and measures share the pass.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from pipeline.compiled.small_work import FewSoFar, is_at_hand
from pipeline.resampling.address import CELL, cell_bounds
from pipeline.resampling.comparison.compare import Tally, Thresholds, compare_crossed, compare_values
from pipeline.resampling.comparison.compare_bytes import GainBytes, count_whole_gains
from pipeline.resampling.comparison.compare_few import FEW_GAINS, compare_few
from pipeline.resampling.comparison.compare_integers import GainTables
from pipeline.resampling.comparison.comparison_rules import Plan, Rule, plan_measure
from pipeline.resampling.draws import Draws
from pipeline.resampling.measures import LANES, PAIRS_AT_ONCE, Measure, Observed, PairCounts
from pipeline.resampling.observe import observe
from pipeline.resampling.products.batches import make_batches
from pipeline.resampling.products.columns import StatisticColumns, Sums, Wanted
from pipeline.resampling.products.contract import largest_magnitude
from pipeline.resampling.strata import StratifiedDraws
from pipeline.resampling.tally import close_cell, count_in_tiles, empty_counts, empty_lanes

__all__ = ["resample"]

_SCORED_AT_ONCE = 2**15  # sums: metrics score so few in NumPy, and they stay in the second-level cache
_LONGEST_BATCH = 2048  # replicates; longer ones leave the cache and gain nothing

_is_little = FewSoFar(2**22, 2**24, at_hand=lambda: _is_at_hand())
"""Gains of a pass, and of all passes so far, that NumPy compares in less time than the kernel takes to compile: .3 s and 1 s, not
1.9 s. Where the kernel is on disk, it is used after a sixteenth of the second number."""


def resample(
    draws: Draws | StratifiedDraws,
    measures: Sequence[Measure],
    *,
    cells: range,
    replicates: int,
    keep_replicates: int = 0,
    memory_bytes: int = 2**26,
    pairs_at_once: int = PAIRS_AT_ONCE,
    observed: Sequence[Observed] | None = None,
) -> list[PairCounts]:
    """Compare all pairs of all measures on shared bootstrap samples.

    Parameters
    ----------
    draws : Draws or StratifiedDraws
        The address of the draws; every measure has ``n_units`` units, and the same strata if there are any.
    measures : sequence of Measure
        They share the samples; equal columns are summed once.
    cells : range
        Cells to count; results are kept per cell, so any split of a pass gives the same numbers.
    replicates : int
        Of the whole pass: the last cell may be partial.
    keep_replicates : int, optional
        The number of replicates whose scores are returned, for kept systems.
    memory_bytes : int, optional
        For weights, sums and scores of a batch; changes no result. A batch has at least 32 replicates.
    pairs_at_once : int, optional
        Of all measures together; for more pairs, replicates are drawn again for each portion. Changes no result.
    observed : sequence of Observed, optional
        The result of `observe` for each measure, if already known.

    Returns
    -------
    list of PairCounts
        One for each measure.

    Raises
    ------
    ValueError
        If units or strata do not match, or sums would not be exact.
    """
    for measure in measures:
        _check_draws(draws, measure)
    if observed is None:
        observed = [observe(measure) for measure in measures]

    def count(some: Sequence[Measure], seen: Sequence[Observed], first: bool) -> list[PairCounts]:
        kept = keep_replicates if first else 0  # scores belong to systems: once is enough
        return _count(draws, some, seen, cells=cells, replicates=replicates, keep_replicates=kept, memory_bytes=memory_bytes)

    return count_in_tiles(measures, observed, pairs_at_once, count)


def _count(
    draws: Draws | StratifiedDraws,
    measures: Sequence[Measure],
    observed: Sequence[Observed],
    *,
    cells: range,
    replicates: int,
    keep_replicates: int,
    memory_bytes: int,
) -> list[PairCounts]:
    """Compare all pairs of all measures at once."""
    plans = [plan_measure(measure, seen, n_draws=draws.n_draws) for measure, seen in zip(measures, observed, strict=True)]
    kept = [min(max(min(cell_bounds(c, replicates)[1], keep_replicates) - c * CELL, 0), CELL) for c in cells]
    columns = StatisticColumns.of(_wanted(plans, with_scores=sum(kept) > 0), n_units=draws.n_units, n_draws=draws.n_draws)
    counted = sum(len(range(*cell_bounds(cell, replicates))) for cell in cells)
    work = counted * draws.n_units * (len(columns.contraction.narrow) + len(columns.contraction.wide))
    batches = make_batches(draws, columns, work=work)
    batch = _batch_length(batches.bytes_per_replicate, plans, memory_bytes)
    batches.make_room(batch)
    results = [empty_counts(plan, len(cells), kept=(int(plan.measure.keep.sum()), sum(kept))) for plan in plans]
    is_little = _suits_numpy(plans, counted)
    compare = compare_few if is_little else compare_values
    tables = [[None if is_little else _tables_of(rule, plan, draws, batch, counted) for rule in plan.rules] for plan in plans]
    lanes = [empty_lanes(plan, exact=None not in own) for plan, own in zip(plans, tables, strict=True)]
    for number, cell in enumerate(cells):
        first, stop = cell_bounds(cell, replicates)
        for running in lanes:
            running[:] = 0.0
        for start in range(first, stop, batch):
            count = min(batch, stop - start)
            product = Sums(columns, batches.multiply(start, count))
            wanted = min(max(first + kept[number] - start, 0), count)
            at = sum(kept[:number]) + start - first
            for index, (plan, result) in enumerate(zip(plans, results, strict=True)):
                scored = _Scored(plan.measure, product, index)
                tally = Tally(result.counts, result.histogram, result.empty, lanes[index])
                for rule, table in zip(plan.rules, tables[index], strict=True):
                    if table is None:
                        _compare(rule, scored, tally, number, compare)
                    else:
                        table.add(scored.of(rule.systems, 0), tally, number)
                if wanted and len(result.score):
                    result.score[:, at : at + wanted] = scored.scores(np.flatnonzero(plan.measure.keep))[:, :wanted]
        for plan, result, running, own in zip(plans, results, lanes, tables, strict=True):
            for table in own:
                if table is not None:
                    table.close(Tally(result.counts, result.histogram, result.empty, running), number)
            close_cell(plan, result, running, number, tests_margin=plan.measure.margin is not None)
    return results


def _check_draws(draws: Draws | StratifiedDraws, measure: Measure) -> None:
    if len(measure.statistics) != draws.n_units:
        raise ValueError(f"statistics of {len(measure.statistics)} units, draws of {draws.n_units}")
    # Histograms, max-T and intervals rest on standard errors, which must be those of this law.
    drawn = draws.stratum.tolist() if isinstance(draws, StratifiedDraws) else None
    if drawn != (None if measure.stratum is None else measure.stratum.tolist()):
        raise ValueError("the draws and a measure have different strata")


def _suits_numpy(plans: Sequence[Plan], replicates: int) -> bool:
    rules = [rule for plan in plans for rule in plan.rules]
    gains = replicates * sum(len(rule.thresholds.pair) for rule in rules)
    # Whole gains have kernels of their own, which may have to be compiled though the other one is there.
    return gains <= FEW_GAINS if any(rule.name == "integer" for rule in rules) else _is_little(gains)


def _is_at_hand() -> bool:
    number, place, numbers = np.empty(0), np.empty(0, np.int64), np.empty((0, 3))
    thresholds = Thresholds(place, place, place, numbers, numbers, number, number, number, number, number)
    tally = Tally(np.empty((0, 0, 8), np.int32), np.empty((0, 0, 0), np.uint16), np.empty((0, 0), np.int32), np.empty((0, 0, 0)))
    return is_at_hand(compare_values, np.empty((0, 0)), thresholds, tally, 0)


def _tables_of(
    rule: Rule, plan: Plan, draws: Draws | StratifiedDraws, batch: int, replicates: int
) -> GainBytes | GainTables | None:
    if rule.name != "integer":
        return None
    largest = draws.n_draws * largest_magnitude(plan.measure.statistics[:, :, 0])
    return count_whole_gains(rule.thresholds, largest_sum=largest, batch=batch, replicates=replicates)


def _wanted(plans: Sequence[Plan], *, with_scores: bool) -> Iterator[Wanted]:
    """Yield the statistics that a pass sums."""
    for index, plan in enumerate(plans):
        every = range(plan.measure.statistics.shape[2])
        if with_scores:
            yield index, plan.measure, np.flatnonzero(plan.measure.keep), every
        for rule in plan.rules:
            # With a constant denominator the numerators are enough.
            yield index, plan.measure, rule.systems, range(1) if rule.name == "integer" else every


class _Scored:
    """Summed statistics and scores of one measure in one batch; a system is scored once."""

    def __init__(self, measure: Measure, sums: Sums, index: int) -> None:
        self._measure, self._sums, self._index = measure, sums, index
        self._scores: dict[int, NDArray[np.float64]] = {}

    def of(self, systems: NDArray[np.int64], statistic: int) -> NDArray[np.float64]:
        """Return (system, replicate) sums of one statistic."""
        return self._sums.of(self._index, systems, statistic)

    def scores(self, systems: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return (system, replicate) scores, nan where undefined; they are kept, and not to be written to."""
        new = [system for system in systems.tolist() if system not in self._scores]
        scores = self._score(new)
        self._scores.update(zip(new, scores, strict=True))
        if len(new) == len(systems):  # as a rule; nothing is then copied
            return scores
        return np.array([self._scores[system] for system in systems.tolist()])

    def _score(self, systems: list[int]) -> NDArray[np.float64]:
        scores = np.empty((len(systems), self._sums.replicates))
        several = max(_SCORED_AT_ONCE // max(self._measure.statistics.shape[2] * self._sums.replicates, 1), 1)
        with np.errstate(divide="ignore", invalid="ignore"):  # 0/0 is a defined outcome: an empty replicate
            for start in range(0, len(systems), several):
                some = systems[start : start + several]
                scores[start : start + several] = self._measure.score(self._sums.statistics_of(self._index, some))
        finite = np.isfinite(scores)
        if not finite.all():
            scores[~finite] = np.nan
        return scores


def _compare(
    rule: Rule, sums: _Scored, tally: Tally, cell: int, compare: Callable[[NDArray[np.float64], Thresholds, Tally, int], None]
) -> None:
    if rule.crossed is not None:
        numerators, denominators = sums.of(rule.systems, 0), sums.of(rule.systems, 1)
        scores = sums.scores(rule.systems)
        if rule.name == "crossed-int64":
            wide = numerators.astype(np.int64), denominators.astype(np.int64)
            compare_crossed(*wide, scores, rule.crossed, rule.thresholds, tally, cell)
        else:
            compare_crossed(numerators, denominators, scores, rule.crossed, rule.thresholds, tally, cell)
    else:
        values = sums.of(rule.systems, 0) if rule.name == "integer" else sums.scores(rule.systems)
        compare(values, rule.thresholds, tally, cell)


def _batch_length(bytes_per_replicate: int, plans: Sequence[Plan], memory_bytes: int) -> int:
    """Return the replicates of a batch: a multiple of LANES, so that every batch of a cell starts at lane 0."""
    rows = max((sum(len(rule.systems) * (5 if rule.crossed else 2) for rule in plan.rules) for plan in plans), default=0)
    fitting = memory_bytes // (bytes_per_replicate + 8 * rows)
    return max(min(fitting, _LONGEST_BATCH) // LANES, 1) * LANES
