"""One row per pair, the better system first: what its numbers mean, and what is wrong with them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from pipeline.inference.few_units import FEW_DISCORDANT
from pipeline.procedures.registry import PROCEDURES
from pipeline.report.across_families import Correction
from pipeline.report.adjustment import FamilyOf, why_no_max_t
from pipeline.report.cube_facts import FULL, NO_SPREAD, read_unit_effect
from pipeline.report.pair_fields import PairColumns, read_columns
from pipeline.report.rows import Adjustment, FamilyKey, OtherAdjustments, PairRow
from pipeline.report.values import format_p, plain

if TYPE_CHECKING:
    import xarray as xr

__all__ = [
    "NOTICEABLE",
    "beside_exact",
    "counted_p",
    "exact_test",
    "is_biased",
    "is_clustered",
    "is_exact",
    "list_pairs",
    "name_exact",
]

ALL_PAIRS = FamilyOf()

NOTICEABLE = 1.1
"""Design effect above which items are not drawn without a remark: a test at .05 then rejects 6.2 % of true nulls."""


def exact_test(metric: str) -> str:
    """Name the test that does not depend on many units; McNemar's is for scores that are 0 or 1."""
    return "an exact sign or McNemar test" if metric == "accuracy" else "an exact test of swaps"


def name_exact(metric: str) -> str:
    """Name the exact test whose p is the floor of pairs with few discordant units."""
    return "McNemar's exact test" if metric == "accuracy" else "the exact test of all swaps"


def counted_p(row: PairRow) -> float | None:
    """Return the two-sided p by the procedure's convention, neither studentised nor corrected for few units."""
    p: float | None = getattr(row.p_raw, PROCEDURES[row.procedure].verdict.replace("-", "_"))
    return p


def is_exact(row: PairRow) -> bool:
    """Tell whether p by the procedure's convention is an exact law, though the procedure draws."""
    return PROCEDURES[row.procedure].draws and row.replicates is None


def is_biased(row: PairRow) -> bool:
    """Tell whether the bias of the bootstrap is above a quarter of the standard error."""
    return row.bias is not None and row.se is not None and row.se > 0 and abs(row.bias) > 0.25 * row.se


def is_clustered(row: PairRow) -> bool:
    """Tell whether items are drawn though they are known to stand together, and the gain varies more for it."""
    return row.units == row.items and row.design_effect is not None and row.design_effect > NOTICEABLE


def _say_exact(row: PairRow) -> str:
    """Say which p of an exact test a pair with few discordant units is not judged below."""
    if row.p_exact is None:
        return f"p_adjusted is at least {format_p(row.p_floor)}, the smallest p of {exact_test(row.metric)}"
    return f"p_adjusted is at least that of {name_exact(row.metric)}, {format_p(row.p_exact, log10=row.log10_p_exact)}"


def beside_exact(row: PairRow) -> str:
    """Say what the exact sign-flip test of a pair without spread finds; nothing where it has no p."""
    if row.p_exact is None:
        return ""
    return f"; the exact sign-flip test has p = {format_p(row.p_exact, log10=row.log10_p_exact)}"


def list_pairs(
    cube: xr.Dataset,
    place: FamilyKey,
    *,
    alpha: float,
    unit: str,
    margins: Mapping[str, float] | None = None,
    family: FamilyOf = ALL_PAIRS,
    intervals: Sequence[str] = (),
    correction: Correction | None = None,
) -> list[PairRow]:
    """Return the rows of all pairs of one metric by one procedure at the full size, the largest gain first.

    Pairs outside the family have no adjusted p and no verdict. With a correction across families the pairs are judged by it.
    """
    # A procedure that cannot test a margin counted nothing against it.
    margin = (margins or {}).get(place.metric) if PROCEDURES[place.procedure].tests_margin else None
    units = int(cube["n_units"].sel(test_size=FULL).item())
    effective: float | None = plain(cube.attrs.get("effective_units")) or (units if unit == "item" else None)
    uncounted = _why_uncounted(cube, place.metric, margin)
    read = partial(
        read_columns,
        cube,
        metric=place.metric,
        test_size=FULL,
        procedure=place.procedure,
        margin=margin,
        family=family,
        intervals=intervals,
        effective=effective,
        counted=uncounted is None,
    )
    of = read(alpha=alpha)
    stable = of.stable
    if correction is not None:
        # Where the level is beyond the replicates of the adjustment that decides, nothing is known of other draws.
        at = read(alpha=correction.level)
        stable = at.stable if at.adjusted_by == of.adjusted_by else [None] * len(of.stable)
    rows = []
    made = _make_rows(cube, of, place, family, units, effective, margin)
    for row, against, holds in zip(made, of.against, stable, strict=True):
        held_back = row.verdict == "not decided"  # which a correction across families may turn into "not separated"
        if correction is not None:
            row = correction.apply(row, stable=holds)
        note = "; ".join(_remarks(row, against, held_back, family, uncounted))
        rows.append(replace(row, note=note) if note else row)
    return sorted(rows, key=lambda row: (-(row.delta or 0.0), row.system_a, row.system_b))


def _make_rows(
    cube: xr.Dataset,
    of: PairColumns,
    place: FamilyKey,
    family: FamilyOf,
    units: int,
    effective: float | None,
    margin: float | None,
) -> Iterator[PairRow]:
    """Yield the row of each pair without its note, and without what `pipeline.report.detectable` adds."""
    reading = PROCEDURES[place.procedure]
    why = None
    if all(value is None for value in of.max_t):
        why = why_no_max_t(cube, family, procedure=place.procedure) or "max_t: no pair has a standard error"
    size = sum(p is not None for p in of.holm)
    correlation, effect = (
        read_unit_effect(cube, name, metric=place.metric) for name in ("intra_cluster_correlation", "design_effect")
    )
    for k, (identical, discordant) in enumerate(zip(of.identical, of.discordant, strict=True)):
        few = reading.needs_units and discordant is not None and discordant < FEW_DISCORDANT and not identical
        yield PairRow(
            test_set=place.test_set,
            metric=place.metric,
            test_size=FULL,
            procedure=place.procedure,
            convention=reading.leads,
            null=reading.null,
            system_a=of.system_a[k],
            system_b=of.system_b[k],
            score_a=of.score_a[k],
            score_b=of.score_b[k],
            delta=of.delta[k],
            se=of.se[k],
            bias=of.bias[k],
            ties=None if discordant is None else units - discordant,
            discordant=discordant,
            units=units,
            effective_units=effective,
            intra_cluster_correlation=correlation[k],
            design_effect=effect[k],
            count=of.count[k],
            replicates=of.replicates[k],
            empty_replicates=of.empty_replicates[k],
            p=of.p[k],
            log10_p=of.log10_p[k],
            p_adjusted=of.p_adjusted[k],
            p_raw=of.p_raw[k],
            p_few_units=of.p_few_units[k],
            p_exact=of.p_exact[k],
            log10_p_exact=of.log10_p_exact[k],
            p_floor=of.p_floor[k],
            tail=of.tail[k],
            tail_reason=of.tail_reason[k],
            in_family=of.in_family[k],
            adjustment=Adjustment(
                by=of.adjusted_by,
                family_size=size,
                others=OtherAdjustments(of.max_t[k], of.holm[k], of.benjamini_hochberg[k]),
                reason=why,
            ),
            interval=of.interval[k],
            intervals=of.intervals[k],
            monte_carlo_error=of.monte_carlo_error[k],
            monte_carlo_error_one_sided=of.monte_carlo_error_one_sided[k],
            stable=of.stable[k],
            method=of.method[k],
            p_label=of.p_label[k],
            p_reason=of.p_reason[k],
            identical=identical,
            margin=margin,
            p_equivalence=of.p_equivalence[k],
            p_equivalence_holm=of.p_equivalence_holm[k],
            p_ahead=of.p_ahead[k],
            p_behind=of.p_behind[k],
            differs_within_margin=of.differs_within_margin[k],
            separated=of.separated[k],
            undecided=of.undecided[k] if of.in_family[k] and not identical else None,
            few_discordant=few,
            verdict=of.verdict[k],
            note=None,
            items=plain(cube.attrs.get("n_items")) or None,
            acceleration=None,
            leverage=None,
            minimum_detectable_effect=None,
        )


def _why_uncounted(cube: xr.Dataset, metric: str, margin: float | None) -> str | None:
    """Say why a cube's counts are not of the margin that is asked for; a cube that does not name its margin is believed."""
    held = cube.attrs.get("margin")
    if margin is None or held is None or dict(held).get(metric) == margin:
        return None
    counted = dict(held).get(metric)
    run = "without a margin" if counted is None else f"against a margin of {counted:g}"
    return f"p_equivalence: the run counted {run}, and the report asks for {margin:g}; run it with that margin"


def _remarks(row: PairRow, against: bool, held_back: bool, family: FamilyOf, uncounted: str | None) -> Iterator[str]:
    """Say what the numbers of a pair leave in doubt."""
    if not row.in_family:
        yield f"not with {family.baseline}, so not in the family: no adjusted p, verdict or interval beside it"
    if against:
        yield f"{row.procedure} rejects in favour of {row.system_b}, though {row.system_a} scores better"
    if uncounted:
        yield uncounted
    yield from _notes(row, held_back)


def _notes(row: PairRow, held_back: bool) -> Iterator[str]:
    if row.p is None:
        drawn = "nothing was written for this pair, or its score is undefined in every replicate"
        computed = f"{row.procedure} is not defined for this score, or the score is undefined"
        yield f"there is no p-value: {row.p_reason or (drawn if PROCEDURES[row.procedure].draws else computed)}"
        return
    if row.identical:
        yield "identical: every unit statistic is equal, p = 1 by definition, no count, bias or interval"
    elif row.delta == 0:
        own = "= 1 by definition" if row.p == 1 else "is the test's own and not about the score"
        yield f"no order: the scores are equal, two-sided p {own}, no one-sided p, count or bias"
    yield from _doubts(row, held_back)
    if row.empty_replicates:
        replicates = row.replicates or 0
        all_of_them = replicates + row.empty_replicates
        yield f"p is conditional on the {replicates:,} defined replicates of {all_of_them:,}"
    if row.monte_carlo_error is None:
        yield "monte_carlo_error: not in the cube"
    if row.stable is False:
        counted = row.replicates is not None or row.adjustment.by == "max_t"
        yield (
            "another random seed could change the verdict at α"
            if counted
            else "p is known within bounds that lie on both sides of α"
        )
    if row.effective_units is None:
        yield "effective_units: the sizes of the clusters are not in the cube"
    if is_biased(row):
        yield "bias above a quarter of the standard error"
    if row.differs_within_margin:
        yield "differs, within the margin"
    if row.verdict == "not decided":
        claim = "no difference is" if row.margin is None else "neither a difference nor equivalence is"
        yield f"not decided ({row.undecided}): {claim} claimed, however small p is"
    if row.verdict == "inconclusive":
        yield "not separated at this n, and not shown to be equivalent"


def _doubts(row: PairRow, held_back: bool) -> Iterator[str]:
    """Say what keeps a difference of one pair from being believed."""
    if row.identical:
        return
    if row.p_reason == NO_SPREAD:
        yield f"no spread: {NO_SPREAD}, and resampling cannot test it{beside_exact(row)}"
    if row.se is None:
        yield "se: undefined, as the score without one of the units is 0/0; no verdict of a difference"
    elif row.interval is None and row.in_family and PROCEDURES[row.procedure].gives_interval:
        if held_back:
            yield "interval: none is shown, as none would hold its level where no test does"
        else:
            yield f"interval: {'the standard error is 0' if row.se == 0 else 'an end of it would be infinite'}"
    if is_clustered(row):
        yield f"design effect {row.design_effect:.2f}: items are drawn though they stand together, and p is too small"
    if row.few_discordant:
        m = row.discordant
        yield f"few discordant units (m = {m} < {FEW_DISCORDANT}): {_say_exact(row)}"
