"""The pairs of a family, the better system first, from the columns that its cube has of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pipeline.inference.unit_diagnostics.few_units import FEW_DISCORDANT
from pipeline.interfaces.analyses import FULL
from pipeline.procedures.registry import PROCEDURES
from pipeline.report.families.across_families import Correction
from pipeline.report.families.adjustment import FamilyOf, why_no_max_t
from pipeline.report.pairs.columns import Column, constant, counts, flags, unless
from pipeline.report.pairs.cube_facts import read_unit_effect
from pipeline.report.pairs.notes import may_remark, tell_apart, write_note
from pipeline.report.pairs.pair_fields import PairColumns, read_columns
from pipeline.report.pairs.pair_set import PairSet, Remarks
from pipeline.report.pairs.pairs import Pairs
from pipeline.report.rows import FamilyKey, PairRow
from pipeline.report.values import plain

if TYPE_CHECKING:
    import xarray as xr

__all__ = [
    "counted_p",
    "exact_procedures",
    "is_exact",
    "list_pairs",
    "path_of_counted_p",
]

ALL_PAIRS = FamilyOf()


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
    write = partial(write_note, family=family, uncounted=uncounted)
    may_say = partial(may_remark, gives_interval=gives_interval, uncounted=uncounted)
    return PairSet(columns, _largest_first(columns), Remarks(write, may_say, tell_apart, of.against, held_back))


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
