"""Approximate randomization of all pairs with shared swap masks: the permutation test of the package.

For each replicate a mask says in which units the outputs of two systems change sides (Riezler & Maxwell 2005,
https://aclanthology.org/W05-0908); all pairs have the same masks. δ° is the gain after the swaps, and δ* := δ + δ° takes the place
of the bootstrap's: counting δ* against 0, δ and 2δ is counting δ° against −δ, 0 and δ, so #(|δ°| ≥ δ) is read off the counts like
the two-sided p of the bootstrap. As there, no result depends on memory, on the cells computed together, or on other systems.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

import numpy as np

from pipeline.resampling.address import cell_bounds
from pipeline.resampling.comparison.compare import Tally, compare_values
from pipeline.resampling.comparison.compare_bytes import GainBytes, count_whole_gains
from pipeline.resampling.comparison.compare_integers import GainTables
from pipeline.resampling.comparison.comparison_rules import Plan, Rule, plan_swaps
from pipeline.resampling.comparison.swapped_pairs import SwappedPairs
from pipeline.resampling.draws import Draws
from pipeline.resampling.measures import LANES, PAIRS_AT_ONCE, Measure, Observed, PairCounts
from pipeline.resampling.observe import observe
from pipeline.resampling.products.columns import StatisticColumns, Sums, Wanted
from pipeline.resampling.products.contract import largest_magnitude
from pipeline.resampling.products.swap_batches import SwapBatches
from pipeline.resampling.tally import close_cell, count_in_tiles, empty_counts, empty_lanes

__all__ = ["randomize"]

_LONGEST_BATCH = 2048  # replicates; longer batches leave the cache and gain nothing


def randomize(
    draws: Draws,
    measures: Sequence[Measure],
    *,
    cells: range,
    replicates: int,
    memory_bytes: int = 2**26,
    pairs_at_once: int = PAIRS_AT_ONCE,
    observed: Sequence[Observed] | None = None,
) -> list[PairCounts]:
    """Compare all pairs of all measures after random swaps of their units.

    Parameters
    ----------
    draws : Draws
        The address of the masks; ``n_units`` and ``n_draws`` are the number of units of every measure.
    measures : sequence of Measure
        They share the masks. A randomization cannot test margins.
    cells : range
        Cells to count; results are kept per cell, so any split of a pass gives the same numbers.
    replicates : int
        Of the whole pass: the last cell may be partial.
    memory_bytes : int, optional
        For masks and sums of a batch; changes no result. A batch has at least 32 replicates; a few MB are needed beside it.
    pairs_at_once : int, optional
        Of all measures together; for more pairs, masks are drawn again for each portion. Changes no result.
    observed : sequence of Observed, optional
        The result of `observe` for each measure, if already known.

    Returns
    -------
    list of PairCounts
        One for each measure. ``counts`` are of δ° < −δ, = −δ, < 0, = 0, = δ and > δ; the margin counts are −1. ``sums`` are Σδ°,
        Σδ°² and Σ|δ°|; the histogram is of δ°/se. For a pair with an undefined observed gain all replicates are empty. No score is
        kept. If a score can be estimated, sums and histogram come from gains with the error of estimates, at most se/256; counts
        are those of the exact scores.

    Raises
    ------
    ValueError
        If units do not match, or sums would not be exact.
    """
    for measure in measures:
        if len(measure.statistics) != draws.n_units:
            raise ValueError(f"statistics of {len(measure.statistics)} units, swaps of {draws.n_units}")
    if observed is None:
        observed = [observe(measure) for measure in measures]

    def count(some: Sequence[Measure], seen: Sequence[Observed], first: bool) -> list[PairCounts]:
        return _count(draws, some, seen, cells=cells, replicates=replicates, memory_bytes=memory_bytes)

    return count_in_tiles(measures, observed, pairs_at_once, count)


def _count(
    draws: Draws, measures: Sequence[Measure], observed: Sequence[Observed], *, cells: range, replicates: int, memory_bytes: int
) -> list[PairCounts]:
    """Compare all pairs of all measures at once."""
    plans = [plan_swaps(measure, seen) for measure, seen in zip(measures, observed, strict=True)]
    columns = StatisticColumns.of(_wanted(plans), n_units=draws.n_units, n_draws=draws.n_units)
    comparisons = [
        [_comparison(index, plan, seen, rule) for rule in plan.rules]
        for index, (plan, seen) in enumerate(zip(plans, observed, strict=True))
    ]
    rows = sum(comparison.bytes_per_replicate for several in comparisons for comparison in several)
    counted = sum(len(range(*cell_bounds(cell, replicates))) for cell in cells)
    batches = SwapBatches(draws, columns, replicates=counted)
    batch = max(min(memory_bytes // (batches.bytes_per_replicate + rows), _LONGEST_BATCH) // LANES, 1) * LANES
    for comparison in itertools.chain.from_iterable(comparisons):
        if isinstance(comparison, _IntegerPairs):
            comparison.prepare(batch, counted)
    results = [empty_counts(plan, len(cells)) for plan in plans]
    lanes = [
        empty_lanes(plan, exact=all(isinstance(own, _IntegerPairs) and own.in_tables for own in several))
        for plan, several in zip(plans, comparisons, strict=True)
    ]
    for number, cell in enumerate(cells):
        first, stop = cell_bounds(cell, replicates)
        for running in lanes:
            running[:] = 0.0
        for start in range(first, stop, batch):
            count = min(batch, stop - start)
            sums = Sums(columns, batches.multiply(start, count))
            for several, result, running in zip(comparisons, results, lanes, strict=True):
                tally = Tally(result.counts, result.histogram, result.empty, running)
                for comparison in several:
                    with np.errstate(divide="ignore", invalid="ignore"):  # 0/0 is a defined outcome: an empty replicate
                        comparison.compare(sums, count, tally, number)
        for plan, seen, several, result, running in zip(plans, observed, comparisons, results, lanes, strict=True):
            for comparison in several:
                if isinstance(comparison, _IntegerPairs):
                    comparison.close(Tally(result.counts, result.histogram, result.empty, running), number)
            close_cell(plan, result, running, number, tests_margin=False)
            result.empty[~np.isfinite(seen.delta), number] = stop - first
    return results


class _IntegerPairs:
    """Pairs over one denominator: D° = v_a − v_b with v_s = T_s − 2 M_s, a sum of ± the numerators, exact in float64."""

    def __init__(self, index: int, measure: Measure, rule: Rule) -> None:
        self._index, self._rule = index, rule
        numerators = measure.statistics[:, rule.systems, 0]
        self._totals = numerators.sum(axis=0).astype(np.float64)
        self._largest = len(numerators) * largest_magnitude(numerators)
        self._tables: GainBytes | GainTables | None = None

    def prepare(self, batch: int, replicates: int) -> None:
        """Choose how to count this many replicates in batches."""
        self._tables = count_whole_gains(self._rule.thresholds, largest_sum=self._largest, batch=batch, replicates=replicates)

    @property
    def in_tables(self) -> bool:
        """Whether gains are counted in tables, so that their sums are exact."""
        return self._tables is not None

    @property
    def bytes_per_replicate(self) -> int:
        return 8 * len(self._totals)

    def compare(self, sums: Sums, count: int, tally: Tally, cell: int) -> None:
        values = sums.of(self._index, self._rule.systems, 0)
        values *= -2.0
        values += self._totals[:, None]
        if self._tables is None:
            compare_values(values, self._rule.thresholds, tally, cell)
        else:
            self._tables.add(values, tally, cell)

    def close(self, tally: Tally, cell: int) -> None:
        """Read the counts of a cell from the tables."""
        if self._tables is not None:
            self._tables.close(tally, cell)


def _comparison(index: int, plan: Plan, observed: Observed, rule: Rule) -> _IntegerPairs | SwappedPairs:
    if rule.name == "integer":
        return _IntegerPairs(index, plan.measure, rule)
    return SwappedPairs(index, plan.measure, observed, rule)


def _wanted(plans: Sequence[Plan]) -> Iterator[Wanted]:
    """Yield the statistics that a pass sums; swaps never change a shared denominator."""
    for index, plan in enumerate(plans):
        for rule in plan.rules:
            statistics = range(1 if rule.name == "integer" else plan.measure.statistics.shape[2])
            yield index, plan.measure, rule.systems, statistics
