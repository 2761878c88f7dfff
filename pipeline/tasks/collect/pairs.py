"""What a cube has about each pair that depends on no other pair, by one procedure: counts, p-values, tails, intervals."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.cubes.cube import CubeWriter
from pipeline.cubes.layout import CubeLayout
from pipeline.cubes.variables import CHUNKS
from pipeline.dataclass import dataclass
from pipeline.inference.decision import without_zero
from pipeline.inference.direct.result import DirectP
from pipeline.inference.direct.tails import few_hits
from pipeline.inference.intervals.bootstrap_t import BOOTSTRAP_T
from pipeline.inference.multiple_comparisons.families import lacks_spread
from pipeline.inference.p_values import CONVENTIONS, PValues, p_values
from pipeline.inference.unit_diagnostics.undecided import UnitShape, find_undecided
from pipeline.interfaces.analyses import FULL
from pipeline.plan.comparisons import Comparison
from pipeline.plan.inventory import Inventory
from pipeline.procedures.registry import PROCEDURES
from pipeline.resampling.address import cell_bounds, count_cells
from pipeline.resampling.draws import Draws
from pipeline.resampling.measures import BINS, COUNTS, SUMS
from pipeline.resampling.strata import StratifiedDraws
from pipeline.store.runs import Store
from pipeline.tasks.collect.cube_slice import Part
from pipeline.tasks.collect.fold import Block, Cells, chunks_at_once, find_packed_scores, fold, kept_scores, read_scores
from pipeline.tasks.collect.kept_scores import Kept, KeptReadings, look_at, read_kept
from pipeline.tasks.collect.p_tables import computed_table, counted_table, exact_p_values
from pipeline.tasks.collect.tail_tables import chunks, tail_table
from pipeline.tasks.resample import make_draws

__all__ = [
    "INTERVAL_P",
    "MAX_T_WITHIN",
    "PairResults",
    "hold_scores",
    "interval_table",
    "read_together",
    "stored_cells",
    "write_computed_pairs",
    "write_counted_pairs",
    "write_scores",
]

INTERVAL_P = "interval_p"
"""The variable that only cubes with bootstrap-t intervals hold."""

MAX_T_WITHIN = "max_t_within"
"""The attribute of a cube whose max-T is beyond the budget: so many kept replicates would be within, 0 where too few."""


@dataclass(frozen=True, eq=False)
class PairResults:
    """Results of single pairs on which the verdicts of the family are based.

    Parameters
    ----------
    p_value : (convention, pair) float64
    p : (pair,) float64
        By the convention that decides, before any correction; 1 if all units differ by the same amount.
    p_few_units : (pair,) float64
        nan where no correction applies.
    kept : Kept or None
        What is needed to read kept replicates; None if the procedure computes.
    """

    p_value: NDArray[np.float64]
    p: NDArray[np.float64]
    p_few_units: NDArray[np.float64]
    kept: Kept | None = None


def stored_cells(part: Part, column: Comparison, inventory: Inventory) -> Cells:
    """Return the stored cells of a column, its pairs in the cube's order."""
    coverage = inventory.coverage(column.address, column.systems, column.replicates)
    return Cells(column, part.size.label, part.flat, coverage, column.replicates)


def read_together(layout: CubeLayout, size: str) -> bool:
    """Tell whether kept replicates are read for all pairs together: by max-T, at the full size, or for their own standard errors.

    Curves over test sizes use counted p-values, and nothing else needs max-T at a smaller size.
    """
    judged = size == FULL and MAX_T_WITHIN not in layout.attrs
    return bool(layout.sizes["replicate"]) and (judged or not set(BOOTSTRAP_T).isdisjoint(layout.intervals))


def write_counted_pairs(
    cube: CubeWriter,
    part: Part,
    cells: Cells,
    store: Store,
    *,
    tails: str,
    rule: str,
    scores: NDArray[np.float64] | None = None,
) -> PairResults:
    """Write the counts of the pairs of a part, and everything that follows from them pair by pair.

    Parameters
    ----------
    cube : CubeWriter
    part : Part
        The pairs.
    cells : Cells
        From `stored_cells`.
    store : Store
    tails : str
        ``exact``, ``tilted`` or ``none``: how p-values below 10/b are computed. Exact ones, the default, within a budget.
    rule : str
        How smaller test sizes are made: with it the replicates have an address, and can be drawn again.
    scores : (system, replicate) float64, optional
        From `hold_scores`, where they have been read already.
    """
    layout, procedure = cube.layout, cells.column.procedure
    pairs = len(part.flat)
    counts, parts = np.zeros((pairs, len(COUNTS)), np.int64), []
    for rows in chunks(pairs, at_once=chunks_at_once(cells)):  # the cells of many pairs are never all in memory at once
        found, counts[rows] = _write_rows(cube, part, cells, rows, store)
        parts.append(found)
    counted = PValues.join(parts)
    table, defined = counted_table(counted, layout.alpha, len(layout.pairs)), counted.replicates
    if cells.column.exact:  # of the counts, only the bias and what is needed to read kept scores remain
        table |= computed_table(exact_p_values(part, procedure), layout.alpha, len(layout.pairs))
    kept = Kept(np.empty((0, 0)) if scores is None else scores, counts, defined)
    if PROCEDURES[procedure].keeps_scores and layout.sizes["replicate"] and not read_together(layout, cells.label):
        kept = Kept(hold_scores(part, cells, layout, store) if scores is None else scores, counts, defined)
        asked: dict[str, Any] = {"methods": layout.intervals, "alpha": layout.alpha, "acceleration": part.moments.acceleration}
        draws = draws_of(part, layout, procedure, rule)
        readings = read_kept(kept, part.measure, part.observed, tested=part.tested, draws=draws, judged=False, **asked)
        table |= interval_table(part, layout, readings)
    if PROCEDURES[procedure].has_tails and not cells.column.exact:
        table |= tail_table(part, layout, table["p_reason"] != 0, few_hits(counted), defined, how=tails)
    return replace(_write_table(cube, part, procedure, table), kept=kept)


def write_computed_pairs(cube: CubeWriter, part: Part, procedure: str, found: DirectP) -> PairResults:
    """Write p-values computed without replicates."""
    return _write_table(cube, part, procedure, computed_table(found, cube.layout.alpha, len(cube.layout.pairs)))


def _write_table(cube: CubeWriter, part: Part, procedure: str, table: dict[str, NDArray[Any]]) -> PairResults:
    """Write p-values, the one that decides about each pair before any correction, and whether a verdict may rest on it."""
    reading, observed, tested = PROCEDURES[procedure], part.observed, part.tested
    p = without_zero(table["p_value"][CONVENTIONS.index(reading.verdict)])
    known = {name: getattr(observed, name) for name in ("score", "delta", "se", "identical")}
    flat = lacks_spread(part.measure.pairs, **known) & reading.needs_units
    corrected = np.full(len(p), np.nan)
    if reading.few_units and tested.tails is not None:
        # The standard error of equal differences is rounding error about 0: no t is computed from it.
        corrected = np.where(flat, np.nan, without_zero(tested.tails.p_value(observed.delta, observed.se)))
    undecided = np.zeros(len(p), np.int8)
    if reading.needs_units:
        effective = None if tested.tails is None else tested.tails.units
        undecided = find_undecided(UnitShape.of(part.measure, observed, part.moments, effective=effective))
    own = np.where(flat & np.isfinite(p), 1.0, p)
    table |= {"p": own, "p_few_units": corrected, "undecided": undecided}
    cube.write_table(part.metric, part.size.label, table, procedure=procedure, pairs=part.rows)
    return PairResults(table["p_value"], own, corrected)


def interval_table(part: Part, layout: CubeLayout, readings: KeptReadings) -> dict[str, NDArray[Any]]:
    """Return the variables of intervals, of gains as the cube orders pairs."""
    table: dict[str, NDArray[Any]] = {}
    if layout.intervals:
        ends = np.where(part.turned[:, None], -readings.interval[..., ::-1], readings.interval) + 0.0
        table |= {"interval": ends, "interval_reason": readings.reason}
    if INTERVAL_P not in layout.without:
        table[INTERVAL_P] = readings.p
    return table


def write_scores(
    cube: CubeWriter, part: Part, cells: Cells, store: Store, systems: slice, scores: NDArray[np.float64] | None = None
) -> None:
    """Write the kept scores of some systems, a chunk at a time: still packed, or those already in memory, if all are."""
    kept = cube.layout.sizes["replicate"]
    length = min(CHUNKS["replicate"], kept)
    at_hand = scores if scores is not None and scores.shape[1] == kept else None
    for first in range(systems.start, systems.stop, CHUNKS["system"]):
        some = part.position[first : min(first + CHUNKS["system"], systems.stop)]
        for cell in range(count_cells(kept)):
            start, stop = cell_bounds(cell, kept)
            at = (cells.column.metric.name, cells.label, start)
            whole = stop - start == length
            packed = find_packed_scores(cells, cell, some, length, store) if whole and cube.takes_packed_scores else None
            if packed is not None:
                cube.write_packed_scores(*at, packed, first_system=first)
                continue
            chunk = read_scores(cells, cell, some, stop - start, store) if at_hand is None else at_hand[some, start:stop]
            cube.write_scores(*at, chunk, first_system=first)


def hold_scores(part: Part, cells: Cells, layout: CubeLayout, store: Store) -> NDArray[np.float64]:
    """Return the kept scores that are used, (system, replicate), by the measure's systems."""
    systems = len(cells.column.systems)
    held = np.empty((systems, look_at(layout.sizes["replicate"], systems)))
    for first_system, first, scores in kept_scores(cells, held.shape[1], np.arange(systems), store):
        held[first_system : first_system + len(scores), first : first + scores.shape[1]] = scores
    return held


def draws_of(part: Part, layout: CubeLayout, procedure: str, rule: str) -> Draws | StratifiedDraws:
    """Return the stream of draws from which the cells of a procedure were counted."""
    return make_draws(
        seed=layout.seed,
        procedure=procedure,
        test_set=layout.test_set,
        size=part.size.label,
        rule=rule,
        n_units=part.size.n_units,
        stratum=part.measure.stratum,
    )


def _write_rows(cube: CubeWriter, part: Part, cells: Cells, rows: slice, store: Store) -> tuple[PValues, NDArray[np.int64]]:
    """Write the counts of a range of pairs; return what follows from them, and the counts summed over cells."""
    metric, size, procedure = cells.column.metric.name, cells.label, cells.column.procedure
    observed, reading = part.observed, PROCEDURES[procedure]
    pairs = rows.stop - rows.start
    totals = np.zeros((pairs, len(COUNTS)), np.int64)
    sums = np.zeros((pairs, len(SUMS)))
    empty = np.zeros(pairs, np.int64)
    histogram = np.zeros((pairs, BINS), np.int64)
    for block in fold(cells, rows, store):
        cube.write_cells(
            metric,
            size,
            block.first_cell,
            counts=block.counts,
            empty=block.empty,
            sums=block.sums,
            first_pair=part.rows.start + rows.start,
            procedure=procedure,
        )
        totals += block.counts.sum(1, dtype=np.int64)
        empty += block.empty.sum(1, dtype=np.int64)
        histogram += block.histogram
        for cell in range(block.sums.shape[1]):  # in cell order: a float sum must not depend on how it was cut
            sums += block.sums[:, cell]
    if cells.replicates:
        cube.write_histogram(metric, size, histogram, first_pair=part.rows.start + rows.start, procedure=procedure)
        _write_nothing(cube, part, cells, rows)
    found = p_values(
        totals,
        cells.replicates - empty,
        delta=observed.delta[rows],
        identical=observed.identical[rows],
        sums=sums,
        conventions=reading.conventions,
        bias=reading.centred_at_gain,
    )
    return found, totals


def _write_nothing(cube: CubeWriter, part: Part, cells: Cells, rows: slice) -> None:
    """Write that this column has no replicate in cells that only other columns of the cube use: sums over cells stay right."""
    end, step = cube.layout.sizes["cell"], CHUNKS["cell"]
    for first in range(count_cells(cells.replicates), end, step):
        block = Block.of(rows.stop - rows.start, range(first, min(first + step, end)))
        block.counts[..., [COUNTS.index(name) for name in ("margin_above", "margin_below")]] = -1
        cube.write_cells(
            part.metric,
            cells.label,
            first,
            counts=block.counts,
            empty=block.empty,
            sums=block.sums,
            first_pair=part.rows.start + rows.start,
            procedure=cells.column.procedure,
        )
