"""What a cube has about a whole family by one procedure: corrections, max-T, and the p that decides."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.cubes.cube import CubeWriter
from pipeline.inference.decision import decide_family
from pipeline.inference.multiple_comparisons.multiplicity import benjamini_hochberg, bonferroni, holm
from pipeline.inference.multiple_comparisons.studentised_max_t import StudentisedMaxT
from pipeline.inference.p_values import CONVENTIONS
from pipeline.interfaces.analyses import FULL
from pipeline.resampling.address import count_cells
from pipeline.resampling.measures import COUNTS
from pipeline.store.runs import Store
from pipeline.tasks.collect.cube_slice import Part, family_pairs, floor_of
from pipeline.tasks.collect.fold import Cells
from pipeline.tasks.collect.kept_scores import Kept, read_kept
from pipeline.tasks.collect.pairs import MAX_T_WITHIN, PairResults, draws_of, hold_scores, interval_table

__all__ = ["ADJUSTMENTS", "EXACT", "MAX_T", "read_kept_counts", "read_kept_replicates", "read_pairs", "write_family"]

ADJUSTMENTS = {"holm": holm, "benjamini-hochberg": benjamini_hochberg, "bonferroni": bonferroni}
"""The adjustments that need only p-values."""

BY_ADJUSTMENT = "p_by_adjustment"
"""The variable that has every convention by every adjustment; ``p_adjusted`` is the one of them that decides."""

MAX_T = "max-t"
"""The adjustment that needs all pairs of a replicate together: on kept replicates, two-sided."""

EXACT = "exact"
"""The attribute of a cube that has exact p-values in place of counted ones: replicates beside them, by procedure and metric."""


def read_pairs(cube: CubeWriter, metric: str, size: str, procedure: str) -> PairResults:
    """Return the results of single pairs that shards have written."""
    p_value, p, few = (cube.read(name, metric, size, procedure=procedure) for name in ("p_value", "p", "p_few_units"))
    return PairResults(p_value, p, few)


def read_kept_counts(cube: CubeWriter, metric: str, size: str, procedure: str, replicates: int) -> Kept:
    """Return the counts that shards have written, summed over cells, without scores."""
    names = [*(f"count_{name}" for name in COUNTS), "count_empty"]
    cells = count_cells(replicates)  # further cells, of other columns, hold none of this one
    sums = [cube.read(name, metric, size, procedure=procedure)[:, :cells].sum(axis=1, dtype=np.int64) for name in names]
    return Kept(np.empty((0, 0)), np.stack(sums[:-1], axis=-1), replicates - sums[-1])


def read_kept_replicates(
    cube: CubeWriter, part: Part, cells: Cells, kept: Kept, store: Store, *, rule: str
) -> tuple[Kept, StudentisedMaxT | None]:
    """Write the results that kept replicates give for all pairs together: max-T, where it decides, and intervals."""
    layout, procedure = cube.layout, cells.column.procedure
    if not kept.scores.size:  # of pairs that shards have written
        kept = replace(kept, scores=hold_scores(part, cells, layout, store))
    tested = replace(part.tested, floor=part.floor(procedure))
    asked: dict[str, Any] = {"methods": layout.intervals, "alpha": layout.alpha, "acceleration": part.moments.acceleration}
    asked["judged"] = part.size.label == FULL and MAX_T_WITHIN not in layout.attrs
    draws = draws_of(part, layout, procedure, rule)
    readings = read_kept(kept, part.measure, part.observed, tested=tested, draws=draws, **asked)
    table = readings.max_t_table() | interval_table(part, layout, readings)
    if table:
        cube.write_table(part.metric, cells.label, table, procedure=procedure)
    return kept, readings.max_t


def write_family(
    cube: CubeWriter, metric: str, size: str, procedure: str, pairs: PairResults, max_t: StudentisedMaxT | None = None
) -> None:
    """Write the corrections for the family of one test set, metric, test size and procedure, and the p that decides."""
    member = family_pairs(cube.layout).member
    nothing = np.full(len(pairs.p), np.nan)
    known = (cube.read(name, metric, size) for name in ("discordant", "p_sign_flip"))
    found = decide_family(
        pairs.p,
        corrected=pairs.p_few_units,
        floor=floor_of(procedure, *known),
        max_t=nothing if max_t is None else max_t.p,
        alone=nothing if max_t is None else max_t.alone,
        replicates=0 if max_t is None else max_t.replicates,
        alpha=cube.layout.alpha,
        member=member,
    )
    table = {BY_ADJUSTMENT: _adjust(pairs.p_value, max_t, member), "p": found.own, "p_adjusted": found.p}
    cube.write_table(metric, size, table, procedure=procedure)


def _adjust(p: NDArray[np.float64], max_t: StudentisedMaxT | None, member: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Correct (convention, pair) p-values for the family of one test set, metric, test size and procedure.

    Returns
    -------
    (convention, adjustment, pair) float64
        The last adjustment is max-T, of the two-sided p as (s + 1)/(b + 1).
    """
    adjusted = np.full((len(CONVENTIONS), len(ADJUSTMENTS) + 1, p.shape[1]), np.nan)
    for row, values in zip(adjusted, np.where(member, p, np.nan), strict=True):
        row[:-1] = [adjust(values) for adjust in ADJUSTMENTS.values()]
    if max_t is not None:
        adjusted[CONVENTIONS.index("two-sided-plus-one"), -1] = max_t.p
    return adjusted
