"""One row a pair, the better system first. This module says what the numbers of a pair mean, and what is wrong with them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import repeat
from typing import Any

import xarray as xr

from pipeline.inference.few_units import FEW_DISCORDANT
from pipeline.procedures.registry import PROCEDURES
from pipeline.report.adjustment import FamilyOf
from pipeline.report.cube_facts import FULL
from pipeline.report.no_variation import NO_SPREAD
from pipeline.report.pair_fields import read_columns
from pipeline.report.units import read_unit_columns
from pipeline.report.values import format_p, plain

__all__ = ["beside_exact", "exact_test", "list_pairs", "name_exact"]

COPIED = ("system_a", "system_b", "score_a", "score_b", "delta", "se", "bias")
COUNTED = ("count", "replicates", "empty_replicates", "p", "log10_p", "p_adjusted")
BESIDE = ("p_raw", "p_few_units", "p_exact", "log10_p_exact", "p_floor", "tail", "tail_reason")
JUDGED = ("monte_carlo_error", "monte_carlo_error_one_sided", "stable", "method", "p_label", "p_reason", "identical")
ALL_PAIRS = FamilyOf()
CONCLUDED = ("p_equivalence", "p_equivalence_holm", "p_ahead", "p_behind", "differs_within_margin")


def exact_test(metric: str) -> str:
    """Name the test that does not depend on many units; McNemar's is for scores that are 0 or 1."""
    return "an exact sign or McNemar test" if metric == "accuracy" else "an exact sign-flip test"


def name_exact(metric: str) -> str:
    """Name the exact test whose p is the floor of pairs with few discordant units."""
    return "McNemar's exact test" if metric == "accuracy" else "the exact sign-flip test"


def _say_exact(row: Mapping[str, Any]) -> str:
    """Say which p of an exact test a pair with few discordant units is not judged below."""
    if row["p_exact"] is None:
        return f"p_adjusted is at least {format_p(row['p_floor'])}, the smallest p of {exact_test(row['metric'])}"
    return f"p_adjusted is at least that of {name_exact(row['metric'])}, {format_p(row['p_exact'], log10=row['log10_p_exact'])}"


def beside_exact(row: Mapping[str, Any]) -> str:
    """Say what the exact sign-flip test of a pair without spread finds; nothing where it has no p."""
    if row["p_exact"] is None:
        return ""
    return f"; the exact sign-flip test has p = {format_p(row['p_exact'], log10=row['log10_p_exact'])}"


def list_pairs(
    cube: xr.Dataset,
    test_set: str,
    *,
    metric: str,
    procedure: str,
    alpha: float,
    unit: str,
    margins: Mapping[str, float] | None = None,
    family: FamilyOf = ALL_PAIRS,
    intervals: Sequence[str] = (),
) -> list[dict[str, Any]]:
    """Return the rows of all pairs of one metric by one procedure at the full size, the largest gain first.

    Pairs outside the family have no adjusted p and no verdict.
    """
    # A procedure that cannot test a margin counted nothing against it.
    margin = (margins or {}).get(metric) if PROCEDURES[procedure].tests_margin else None
    units = int(cube["n_units"].sel(test_size=FULL).item())
    effective = plain(cube.attrs.get("effective_units")) or (units if unit == "item" else None)
    uncounted = _why_uncounted(cube, metric, margin)
    asked: dict[str, Any] = {"alpha": alpha, "margin": margin is not None, "family": family, "intervals": intervals}
    asked |= {"effective": effective, "counted": uncounted is None}
    of = read_columns(cube, metric=metric, test_size=FULL, procedure=procedure, **asked)
    why = _why_no_max_t(cube, procedure, family) if all(value is None for value in of["max_t"]) else None
    size = sum(p is not None for p in of["holm"])
    others = zip(of["max_t"], of["holm"], of["benjamini_hochberg"], strict=True)
    named = [dict(zip(("max_t", "holm", "benjamini_hochberg"), values, strict=True)) for values in others]
    columns: dict[str, Iterable[Any]] = {
        "test_set": repeat(test_set),
        "metric": repeat(metric),
        "test_size": repeat(FULL),
        "procedure": repeat(procedure),
        "convention": repeat(PROCEDURES[procedure].leads),
        "null": repeat(PROCEDURES[procedure].null),
        **{name: of[name] for name in COPIED},
        "ties": [None if discordant is None else units - discordant for discordant in of["discordant"]],
        "discordant": of["discordant"],
        "units": repeat(units),
        "effective_units": repeat(effective),
        **read_unit_columns(cube, metric=metric),
        **{name: of[name] for name in COUNTED},
        **{name: of[name] for name in BESIDE},
        "in_family": of["in_family"],
        "adjustment": [
            {"by": by, "family_size": size, "others": values, "reason": why}
            for by, values in zip(of["adjusted_by"], named, strict=True)
        ],
        "interval": of["interval"],
        "intervals": of["intervals"],
        **{name: of[name] for name in JUDGED},
        "margin": repeat(margin),
        **{name: of[name] for name in CONCLUDED},
        "separated": of["separated"],
        "few_discordant": repeat(False),
        "verdict": of["verdict"],
    }
    # The lists are as long as each other, as `read_columns` gives them; what is repeated has no end.
    rows = [dict(zip(columns, cells, strict=True)) for cells in zip(*columns.values(), strict=False)]
    for row, against in zip(rows, of["against"], strict=True):
        _remark(row, against, family, uncounted)
    return sorted(rows, key=lambda row: (-(row["delta"] or 0.0), row["system_a"], row["system_b"]))


def _why_uncounted(cube: xr.Dataset, metric: str, margin: float | None) -> str | None:
    """Say why a cube's counts are not of the margin that is asked for; a cube that does not name its margin is believed."""
    held = cube.attrs.get("margin")
    if margin is None or held is None or dict(held).get(metric) == margin:
        return None
    counted = dict(held).get(metric)
    run = "without a margin" if counted is None else f"against a margin of {counted:g}"
    return f"p_equivalence: the run counted {run}, and the report asks for {margin:g}; run it with that margin"


def _why_no_max_t(cube: xr.Dataset, procedure: str, family: FamilyOf) -> str:
    if not PROCEDURES[procedure].keeps_scores:
        return f"max_t: {procedure} has no replicates of all systems together; Holm controls the same error rate"
    if not family.is_of(cube):
        return "max_t: the run read it off for another family; Holm controls the same error rate"
    return "max_t: no scores were kept" if not cube.attrs.get("kept") else "max_t: no pair has a standard error"


def _remark(row: dict[str, Any], against: bool, family: FamilyOf, uncounted: str | None) -> None:
    """Add to a row what its numbers leave in doubt, in words."""
    few = row["discordant"] is not None and row["discordant"] < FEW_DISCORDANT
    row["few_discordant"] = PROCEDURES[row["procedure"]].needs_units and few and not row["identical"]
    outside = [] if row["in_family"] else [f"not with {family.baseline}, so not in the family: no adjusted p and no verdict"]
    turned = (
        [f"{row['procedure']} rejects in favour of {row['system_b']}, though {row['system_a']} scores better"] if against else []
    )
    row["note"] = "; ".join([*outside, *turned, *([uncounted] if uncounted else []), *_notes(row)]) or None


def _notes(row: Mapping[str, Any]) -> Iterator[str]:
    if row["p"] is None:
        drawn = "nothing was written for this pair, or its score is undefined in every replicate"
        computed = f"{row['procedure']} is not defined for this score, or the score is undefined"
        yield f"there is no p-value: {row['p_reason'] or (drawn if PROCEDURES[row['procedure']].draws else computed)}"
        return
    if row["identical"]:
        yield "identical: every unit statistic is equal, p = 1 by definition, no count, bias or interval"
    elif row["delta"] == 0:
        own = "= 1 by definition" if row["p"] == 1 else "is the test's own and not about the score"
        yield f"no order: the scores are equal, two-sided p {own}, no one-sided p, count or bias"
    yield from _doubts(row)
    if row["empty_replicates"]:
        replicates, all_of_them = row["replicates"], row["replicates"] + row["empty_replicates"]
        yield f"p is conditional on the {replicates:,} defined replicates of {all_of_them:,}"
    if row["monte_carlo_error"] is None:
        yield "monte_carlo_error: not in the cube"
    if row["stable"] is False:
        draws = PROCEDURES[row["procedure"]].draws
        yield "the verdict at α may change with other draws" if draws else "p is known within bounds that lie on both sides of α"
    if row["effective_units"] is None:
        yield "effective_units: the sizes of the clusters are not in the cube"
    if row["bias"] is not None and row["se"] and abs(row["bias"]) > 0.25 * row["se"]:
        yield "bias above a quarter of the standard error"
    if row["differs_within_margin"]:
        yield "differs, within the margin"
    if row["verdict"] == "inconclusive":
        yield "not separated at this n, and not shown to be equivalent"


def _doubts(row: Mapping[str, Any]) -> Iterator[str]:
    """Say what keeps a difference of one pair from being believed."""
    if row["identical"]:
        return
    if row["p_reason"] == NO_SPREAD:
        yield f"no spread: {NO_SPREAD}, and resampling cannot test it{beside_exact(row)}"
    if row["se"] is None:
        yield "se: undefined, as the score without one of the units is 0/0; no verdict of a difference"
    elif row["interval"] is None and PROCEDURES[row["procedure"]].gives_interval:
        yield (
            "interval: the standard error is 0"
            if row["se"] == 0
            else "interval: its quantile is off the histogram's grid, or beyond the kept replicates"
        )
    if row["few_discordant"]:
        m = row["discordant"]
        yield f"few discordant units (m = {m} < {FEW_DISCORDANT}): {_say_exact(row)}"
