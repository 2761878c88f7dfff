"""What a cube holds of one procedure: counts, p-values, intervals, corrections, computed and written."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.cubes.cube import CubeWriter
from pipeline.cubes.declarations import METHODS, TAIL_REASONS
from pipeline.cubes.layout import CubeLayout
from pipeline.cubes.variables import CHUNKS
from pipeline.inference.decision import decide_family, without_zero
from pipeline.inference.direct.result import DirectP
from pipeline.inference.direct.scores import why_no_numerators
from pipeline.inference.direct.tails import TAIL_DRAWS, bootstrap_tails, choose_tails, few_hits
from pipeline.inference.families import lacks_spread
from pipeline.inference.multiplicity import benjamini_hochberg, bonferroni, holm
from pipeline.inference.p_values import CONVENTIONS, PValues, p_values
from pipeline.inference.studentised_max_t import StudentisedMaxT
from pipeline.inference.undecided import UnitShape, find_undecided
from pipeline.plan.comparisons import Comparison
from pipeline.plan.inventory import Inventory
from pipeline.procedures.registry import PROCEDURES
from pipeline.resampling.address import count_cells, draw_key
from pipeline.resampling.draws import Draws
from pipeline.resampling.exact.budget import tails_budget
from pipeline.resampling.measures import BINS, COUNTS, SUMS
from pipeline.resampling.strata import StratifiedDraws
from pipeline.store.runs import Store
from pipeline.tasks.collect.cube_slice import Part, Tested
from pipeline.tasks.collect.fold import Block, Cells, fold, kept_scores
from pipeline.tasks.collect.kept_scores import Kept, look_at, read_kept
from pipeline.tasks.collect.p_tables import computed_table, counted_table, exact_p_values
from pipeline.tasks.resample import make_draws

__all__ = ["ADJUSTMENTS", "EXACT", "INTERVAL_P", "MAX_T", "MAX_T_WITHIN", "stored_cells", "write_computed", "write_counts"]

INTERVAL_P = "interval_p"
"""The variable that only cubes with bootstrap-t intervals hold."""

CHUNK_PAIRS = CHUNKS["pair"]
"""Pairs folded at a time: their cells are never all held at once."""

_EXACT = METHODS.index("exact")

_FULL = "full"
"""The label of the largest test size."""

_TAIL_REASON = {name: np.int8(code) for code, name in enumerate(TAIL_REASONS)}

ADJUSTMENTS = {"holm": holm, "benjamini-hochberg": benjamini_hochberg, "bonferroni": bonferroni}
"""Those that need p-values alone."""

BY_ADJUSTMENT = "p_by_adjustment"
"""The variable that has every convention by every adjustment; ``p_adjusted`` is the one of them that decides."""

MAX_T = "max-t"
"""The one that needs the pairs of a replicate together: of the kept ones, two-sided."""

MAX_T_WITHIN = "max_t_within"
"""The attribute of a cube whose max-T is beyond the budget: so many kept replicates would be within, 0 where too few."""


EXACT = "exact"
"""The attribute of a cube that has exact p-values in place of counted ones: replicates beside them, by procedure and metric."""


def stored_cells(part: Part, column: Comparison, inventory: Inventory) -> Cells:
    """Return the stored cells of a column, its pairs in the cube's order."""
    coverage = inventory.coverage(column.address, column.systems, column.replicates)
    return Cells(column, part.size.label, part.flat, coverage, column.replicates)


def write_counts(cube: CubeWriter, part: Part, cells: Cells, store: Store, *, tails: str, rule: str = "prefix") -> Kept:
    """Write what was counted by a procedure that draws, and all that is read off it.

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
    rule : str, optional
        How smaller test sizes are made: with it the replicates have an address, and can be drawn again.

    Returns
    -------
    Kept
        What was counted, and the kept scores: none where the procedure keeps none.
    """
    layout, procedure = cube.layout, cells.column.procedure
    pairs = len(layout.pairs)
    counts, defined = np.zeros((pairs, len(COUNTS)), np.int64), np.zeros(pairs, np.int64)
    few = np.zeros((len(CONVENTIONS), pairs), np.bool_)
    pieces = []
    for first in range(0, pairs, CHUNK_PAIRS):
        rows = slice(first, min(first + CHUNK_PAIRS, pairs))
        found, counts[rows] = _write_rows(cube, part, cells, rows, store)
        defined[rows], few[:, rows] = found.replicates, few_hits(found)
        pieces.append(counted_table(found, layout.alpha, pairs))
    table = {name: np.concatenate([piece[name] for piece in pieces], axis=-1) for name in pieces[0]}
    if cells.column.exact:  # of the counts the bias is left, and what kept scores are read with
        table |= computed_table(exact_p_values(part, procedure), layout.alpha)
    floor = part.floor(procedure)
    max_t = None
    kept = Kept(np.empty((0, 0)), counts, defined)
    if PROCEDURES[procedure].keeps_scores and layout.sizes["replicate"]:
        kept = Kept(_write_scores(cube, part, cells, store), counts, defined)
        asked: dict[str, Any] = {"tested": replace(part.tested, floor=floor), "methods": layout.intervals, "alpha": layout.alpha}
        # Max-T at the full size alone: curves over test sizes read counted p-values, and nothing else asks for a smaller one.
        asked["judged"] = part.size.label == _FULL and MAX_T_WITHIN not in layout.attrs
        asked["acceleration"] = part.moments.acceleration
        readings = read_kept(kept, part.measure, part.observed, **asked, draws=_draws(part, layout, procedure, rule))
        max_t = readings.max_t
        table |= readings.max_t_table()
        if layout.intervals:
            ends = np.where(part.turned[:, None], -readings.interval[..., ::-1], readings.interval) + 0.0
            table |= {"interval": ends, "interval_reason": readings.reason}
        if INTERVAL_P not in layout.without:
            table[INTERVAL_P] = readings.p
    table[BY_ADJUSTMENT] = _adjust(table["p_value"], max_t, part.tested)
    table |= _decide(part, procedure, table["p_value"], max_t, alpha=layout.alpha)
    if PROCEDURES[procedure].has_tails and not cells.column.exact:
        table |= _tails(part, layout, table["p_reason"] != 0, few, defined, how=tails)
    cube.write_table(part.metric, cells.label, table, procedure=procedure)
    return kept


def _draws(part: Part, layout: CubeLayout, procedure: str, rule: str) -> Draws | StratifiedDraws:
    """Return the stream that the cells of a procedure were counted of."""
    return make_draws(
        seed=layout.seed,
        procedure=procedure,
        test_set=layout.test_set,
        size=part.size.label,
        rule=rule,
        n_units=part.size.n_units,
        stratum=part.measure.stratum,
    )


def _tails(
    part: Part, layout: CubeLayout, fixed: NDArray[np.bool_], few: NDArray[np.bool_], defined: NDArray[np.int64], *, how: str
) -> dict[str, NDArray[Any]]:
    """Compute p-values of pairs of which any rests on fewer than ten replicates.

    They stand beside the counted ones and never in their place: to choose between the two by what was counted would be a
    selection, and a p-value that is now counted and now computed belongs to no convention. What is missing has a reason, and
    p-values that are ``fixed`` by definition, or missing, have no tail.
    """
    tilt = how == "tilted"
    asked = np.asarray(few.any(axis=0)) & ~fixed
    reason = np.where(
        fixed, _TAIL_REASON["by-definition"], np.where(asked, _TAIL_REASON["none"], _TAIL_REASON["enough-replicates"])
    )
    if how == "none" or part.measure.stratum is not None:  # the tails are those of units drawn all alike
        reason[asked] = _TAIL_REASON["not-asked" if how == "none" else "within-strata"]
        return {"tail_reason": reason}
    if not tilt:
        without_law = asked & (why_no_numerators(part.measure) != 0)
        asked &= ~without_law
        points = tails_budget(replicates=layout.replicates, pairs=len(asked), is_full=part.size.label == _FULL)
        chosen = choose_tails(part.measure, part.observed, asked=asked, points=points)
        reason[without_law], reason[asked & ~chosen] = _TAIL_REASON["no-exact-law"], _TAIL_REASON["beyond-the-budget"]
        asked = chosen
    if not asked.any():
        return {"tail_reason": reason}
    key = draw_key(seed=layout.seed, purpose="tails", test_set=layout.test_set, size=part.size.label, rule="tilted")
    # Where only exact laws are asked for, nothing is drawn for pairs whose integers turn out too large for one.
    draws = TAIL_DRAWS if tilt else 0
    tails = bootstrap_tails(part.measure, part.observed, asked=asked, key=key, defined=defined / layout.replicates, draws=draws)
    # A bound of a transform is no tail: with integers that do not fit it is left out unless tilting was asked for.
    # A chance of exactly 0 is known too, and has no logarithm: what was never counted cannot be.
    known = np.isfinite(tails.p) & (tilt | (tails.method == _EXACT))
    reason[asked & ~known.any(axis=0)] = _TAIL_REASON["out-of-reach" if tilt else "no-exact-law"]
    return {
        "tail_reason": reason,
        "tail_p": np.where(known, tails.p, np.nan),
        "tail_log10_p": np.where(known & np.isfinite(tails.log10_p), tails.log10_p, np.nan),
        "tail_p_error": np.where(known, (tails.hi - tails.lo) / 2, np.nan),
        "tail_method": np.where(known, tails.method, -1).astype(np.int8),
        "tail_label": np.where(known, tails.label, -1).astype(np.int8),
    }


def _write_scores(cube: CubeWriter, part: Part, cells: Cells, store: Store) -> NDArray[np.float64]:
    """Write the kept scores, and give (system, replicate) those that are looked at, by the measure's systems."""
    column, kept = cells.column, cube.layout.sizes["replicate"]
    held = np.empty((len(column.systems), look_at(kept, len(column.systems))))
    for first_system, first, scores in kept_scores(cells, kept, part.position, store):
        cube.write_scores(column.metric.name, cells.label, first, scores, first_system=first_system)
        stop = min(first + scores.shape[1], held.shape[1])
        if first < stop:
            held[part.position[first_system : first_system + len(scores)], first:stop] = scores[:, : stop - first]
    return held


def _write_rows(cube: CubeWriter, part: Part, cells: Cells, rows: slice, store: Store) -> tuple[PValues, NDArray[np.int64]]:
    """Write the counts of a range of pairs; give what is read off them, and the counts summed over cells."""
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
            first_pair=rows.start,
            procedure=procedure,
        )
        totals += block.counts.sum(1, dtype=np.int64)
        empty += block.empty.sum(1, dtype=np.int64)
        histogram += block.histogram
        for cell in range(block.sums.shape[1]):  # in cell order: a float sum must not depend on how it was cut
            sums += block.sums[:, cell]
    if cells.replicates:
        cube.write_histogram(metric, size, histogram, first_pair=rows.start, procedure=procedure)
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
    """Write that cells which other columns of the cube have hold no replicate of this one: sums over cells are then its own."""
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
            first_pair=rows.start,
            procedure=cells.column.procedure,
        )


def _adjust(p: NDArray[np.float64], max_t: StudentisedMaxT | None, tested: Tested) -> NDArray[np.float64]:
    """Correct (convention, pair) p-values for the family of one test set, metric, test size and procedure.

    Returns
    -------
    (convention, adjustment, pair) float64
        The last adjustment is max-T, of the two-sided p as (s + 1)/(b + 1).
    """
    adjusted = np.full((len(CONVENTIONS), len(ADJUSTMENTS) + 1, p.shape[1]), np.nan)
    for row, values in zip(adjusted, np.where(tested.member, p, np.nan), strict=True):
        row[:-1] = [adjust(values) for adjust in ADJUSTMENTS.values()]
    if max_t is not None:
        adjusted[CONVENTIONS.index("two-sided-plus-one"), -1] = max_t.p
    return adjusted


def _decide(
    part: Part, procedure: str, p_value: NDArray[np.float64], max_t: StudentisedMaxT | None, *, alpha: float
) -> dict[str, NDArray[Any]]:
    """Return the p of every pair, its correction for few units, the p that it is judged by, and whether that is a verdict."""
    reading, observed, tested = PROCEDURES[procedure], part.observed, part.tested
    p = without_zero(p_value[CONVENTIONS.index(reading.verdict)])
    known = {name: getattr(observed, name) for name in ("score", "delta", "se", "identical")}
    flat = lacks_spread(part.measure.pairs, **known) & reading.needs_units
    corrected = np.full(len(p), np.nan)
    if reading.few_units and tested.tails is not None:
        # The standard error of equal differences is what rounding left of 0: no t is made of it.
        corrected = np.where(flat, np.nan, without_zero(tested.tails.p_value(observed.delta, observed.se)))
    nothing = np.full(len(p), np.nan)
    found = decide_family(
        np.where(flat & np.isfinite(p), 1.0, p),
        corrected=corrected,
        floor=part.floor(procedure),
        max_t=nothing if max_t is None else max_t.p,
        alone=nothing if max_t is None else max_t.alone,
        replicates=0 if max_t is None else max_t.replicates,
        alpha=alpha,
        member=tested.member,
    )
    undecided = np.zeros(len(p), np.int8)
    if reading.needs_units:
        effective = None if tested.tails is None else tested.tails.units
        undecided = find_undecided(UnitShape.of(part.measure, observed, part.moments, effective=effective))
    return {"p": found.own, "p_few_units": corrected, "p_adjusted": found.p, "undecided": undecided}


def write_computed(cube: CubeWriter, part: Part, procedure: str, found: DirectP) -> None:
    """Write p-values that no replicate was drawn for."""
    values = computed_table(found, cube.layout.alpha) | {BY_ADJUSTMENT: _adjust(found.p, None, part.tested)}
    values |= _decide(part, procedure, found.p, None, alpha=cube.layout.alpha)
    cube.write_table(part.metric, part.size.label, values, procedure=procedure)
