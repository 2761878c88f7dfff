"""One row per pair, the better system first: what its numbers mean, and what is wrong with them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache, partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pipeline.inference.few_units import FEW_DISCORDANT
from pipeline.interfaces import Procedure
from pipeline.procedures.registry import PROCEDURES
from pipeline.report.families.across_families import Correction
from pipeline.report.families.adjustment import FamilyOf, why_no_max_t
from pipeline.report.pairs.columns import Column, constant, counts, flags, unless
from pipeline.report.pairs.cube_facts import FULL, NO_SPREAD, read_unit_effect
from pipeline.report.pairs.pair_fields import PairColumns, read_columns
from pipeline.report.pairs.pair_set import PairSet, Remarks
from pipeline.report.pairs.pairs import Pairs
from pipeline.report.rows import FamilyKey, PairRow
from pipeline.report.values import format_p, plain

if TYPE_CHECKING:
    import xarray as xr

__all__ = [
    "NOTICEABLE",
    "are_biased",
    "are_clustered",
    "beside_exact",
    "counted_p",
    "exact_procedures",
    "exact_test",
    "is_clustered",
    "is_exact",
    "list_pairs",
    "name_exact",
    "path_of_counted_p",
]

ALL_PAIRS = FamilyOf()

NOTICEABLE = 1.1
"""Design effect above which items are not drawn without a remark: a test at .05 then rejects 6.2 % of true nulls."""


@cache
def _reading(procedure: str) -> Procedure:
    """Return a procedure; asked of every pair, a catalogue would take longer than all else."""
    return PROCEDURES[procedure]


def exact_test(metric: str) -> str:
    """Name the test that does not depend on many units; McNemar's is for scores that are 0 or 1."""
    return "an exact sign or McNemar test" if metric == "accuracy" else "an exact test of swaps"


def name_exact(metric: str) -> str:
    """Name the exact test whose p is the floor of pairs with few discordant units."""
    return "McNemar's exact test" if metric == "accuracy" else "the exact test of all swaps"


def path_of_counted_p(procedure: str) -> str:
    """Return where a row has the two-sided p by the procedure's convention, neither studentised nor corrected for few units."""
    return f"p_raw.{PROCEDURES[procedure].verdict.replace('-', '_')}"


def counted_p(row: PairRow) -> float | None:
    """Return the two-sided p by the procedure's convention, neither studentised nor corrected for few units."""
    p: float | None = getattr(row.p_raw, path_of_counted_p(row.procedure).removeprefix("p_raw."))
    return p


def is_exact(row: PairRow) -> bool:
    """Tell whether p by the procedure's convention is an exact law, though the procedure draws."""
    return PROCEDURES[row.procedure].draws and row.replicates is None


def exact_procedures(families: Mapping[FamilyKey, Pairs]) -> dict[str, None]:
    """Return the procedures that draw, and of which p-values are exact all the same."""
    found = [place.procedure for place, of in families.items() if len(of) and not of.known("replicates").all()]
    return dict.fromkeys(name for name in found if PROCEDURES[name].draws)


def are_biased(pairs: Pairs) -> NDArray[np.bool_]:
    """Tell of each pair whether the bias of the bootstrap is above a quarter of the standard error."""
    se = pairs.floats("se")
    with np.errstate(invalid="ignore"):
        return np.asarray((se > 0) & (np.abs(pairs.floats("bias")) > 0.25 * se))


def is_clustered(row: PairRow) -> bool:
    """Tell whether items are drawn though they are known to stand together, and the gain varies more for it."""
    return row.units == row.items and row.design_effect is not None and row.design_effect > NOTICEABLE


def are_clustered(pairs: Pairs) -> NDArray[np.bool_]:
    """Tell of each pair whether items are drawn though they stand together, and the gain varies more for it."""
    with np.errstate(invalid="ignore"):
        return np.asarray((pairs.floats("units") == pairs.floats("items")) & (pairs.floats("design_effect") > NOTICEABLE))


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
) -> PairSet:
    """Return all pairs of one metric by one procedure at the full size, the largest gain first.

    Pairs outside the family have no adjusted p and no verdict. With a correction across families the pairs are judged by it.
    What `pipeline.report.pairs.detectable` adds is not there yet.
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
    columns = of.columns | _shared(cube, of, place, family, units, effective, margin)
    held_back = columns["verdict"].equal(slice(None), "not decided")  # which a correction may turn into "not separated"
    if correction is not None:
        # Where the level is beyond the replicates of the adjustment that decides, nothing is known of other draws.
        at = read(alpha=correction.level)
        stable = at.columns["stable"] if at.adjusted_by == of.adjusted_by else constant(None, len(held_back))
        columns |= correction.apply(place, columns, stable=stable)
    gives_interval = PROCEDURES[place.procedure].gives_interval
    write = partial(_write_note, family=family, uncounted=uncounted)
    may_say = partial(_may_remark, gives_interval=gives_interval, uncounted=uncounted)
    return PairSet(columns, _largest_first(columns), Remarks(write, may_say, of.against, held_back))


def _largest_first(columns: Mapping[str, Column]) -> NDArray[np.int64]:
    """Return the pairs by gain, and by the names of their systems where it is the same."""
    everything = slice(None)
    names = columns["system_a"].words or ()
    rank = np.argsort(np.array(sorted(range(len(names)), key=names.__getitem__), np.int64))
    first, second = (rank[columns[side].values] for side in ("system_a", "system_b"))
    order: NDArray[np.int64] = np.lexsort((second, first, -np.nan_to_num(columns["delta"].floats(everything))))
    return order


def _shared(
    cube: xr.Dataset,
    of: PairColumns,
    place: FamilyKey,
    family: FamilyOf,
    units: int,
    effective: float | None,
    margin: float | None,
) -> dict[str, Column]:
    """Return the columns that a report knows besides those of `read_columns`, most of them of one value."""
    reading, everything = PROCEDURES[place.procedure], slice(None)
    pairs = len(of.against)
    why = None
    if not of.columns["adjustment.others.max_t"].known(everything).any():
        why = why_no_max_t(cube, family, procedure=place.procedure) or "max_t: no pair has a standard error"
    correlation, effect = (
        read_unit_effect(cube, name, metric=place.metric) for name in ("intra_cluster_correlation", "design_effect")
    )
    discordant = of.columns["discordant"].values
    identical, member = (of.columns[name].equal(everything, True) for name in ("identical", "in_family"))
    few = (discordant >= 0) & (discordant < FEW_DISCORDANT) & ~identical & reading.needs_units
    values = {
        "test_set": place.test_set,
        "metric": place.metric,
        "test_size": FULL,
        "procedure": place.procedure,
        "convention": reading.leads,
        "null": reading.null,
        "units": units,
        "effective_units": effective,
        "adjustment.family_size": int(of.columns["adjustment.others.holm"].known(everything).sum()),
        "adjustment.reason": why,
        "margin": margin,
        "items": plain(cube.attrs.get("n_items")) or None,
    }
    return {
        **{name: constant(value, pairs) for name, value in values.items()},
        "ties": counts(np.where(discordant < 0, -1, units - discordant), pairs),
        "intra_cluster_correlation": correlation,
        "design_effect": effect,
        "undecided": unless(~member | identical, of.columns["undecided"]),
        "few_discordant": flags(few),
    }


def _why_uncounted(cube: xr.Dataset, metric: str, margin: float | None) -> str | None:
    """Say why a cube's counts are not of the margin that is asked for; a cube that does not name its margin is believed."""
    held = cube.attrs.get("margin")
    if margin is None or held is None or dict(held).get(metric) == margin:
        return None
    counted = dict(held).get(metric)
    run = "without a margin" if counted is None else f"against a margin of {counted:g}"
    return f"p_equivalence: the run counted {run}, and the report asks for {margin:g}; run it with that margin"


def _write_note(row: PairRow, against: bool, held_back: bool, *, family: FamilyOf, uncounted: str | None) -> str:
    return "; ".join(_remarks(row, against, held_back, family, uncounted))


def _remarks(row: PairRow, against: bool, held_back: bool, family: FamilyOf, uncounted: str | None) -> Iterator[str]:
    """Say what the numbers of a pair leave in doubt."""
    if not row.in_family:
        yield f"not with {family.baseline}, so not in the family: no adjusted p, verdict or interval beside it"
    if against:
        yield f"{row.procedure} rejects in favour of {row.system_b}, though {row.system_a} scores better"
    if uncounted:
        yield uncounted
    yield from _notes(row, held_back)


def _may_remark(pairs: Pairs, *, gives_interval: bool, uncounted: str | None) -> NDArray[np.bool_]:
    """Tell which pairs may have a remark, of those whose test does not reject in favour of the system that is behind.

    It is asked of all pairs, so that rows are made of those alone that may have a note.
    """
    if uncounted is not None or not pairs.known("effective_units").all():
        return np.ones(len(pairs), np.bool_)
    silent = pairs.holds("in_family") & pairs.known("p") & pairs.known("se") & pairs.known("monte_carlo_error")
    silent &= pairs.floats("delta") > 0
    if gives_interval:
        silent &= pairs.known("interval")
    doubtful = [pairs.holds(name) for name in ("identical", "few_discordant", "differs_within_margin")]
    doubtful += [pairs.equal("verdict", word) for word in ("not decided", "inconclusive")]
    doubtful += [pairs.equal("stable", False), pairs.known("p_reason"), pairs.floats("empty_replicates") > 0]
    doubtful += [are_biased(pairs), are_clustered(pairs)]
    return np.asarray(~silent | np.any(doubtful, axis=0))


def _notes(row: PairRow, held_back: bool) -> Iterator[str]:
    if row.p is None:
        drawn = "nothing was written for this pair, or its score is undefined in every replicate"
        computed = f"{row.procedure} is not defined for this score, or the score is undefined"
        yield f"there is no p-value: {row.p_reason or (drawn if _reading(row.procedure).draws else computed)}"
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
    if row.bias is not None and row.se is not None and abs(row.bias) > 0.25 * row.se > 0:
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
    elif row.interval is None and row.in_family and _reading(row.procedure).gives_interval:
        if held_back:
            yield "interval: none is shown, as none would hold its level where no test does"
        else:
            yield f"interval: {'the standard error is 0' if row.se == 0 else 'an end of it would be infinite'}"
    if is_clustered(row):
        yield f"design effect {row.design_effect:.2f}: items are drawn though they stand together, and p is too small"
    if row.few_discordant:
        m = row.discordant
        yield f"few discordant units (m = {m} < {FEW_DISCORDANT}): {_say_exact(row)}"
