"""Intervals of the gain: that of the test which decides, beside each verdict, and those by other methods that a cube holds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pipeline.inference.intervals.compatible_intervals import Wins, compatible_intervals, critical_of_wins, hold_to_verdict
from pipeline.inference.sample_size.power import critical_value
from pipeline.inference.unit_diagnostics.few_units import StudentTails
from pipeline.report.families.verdicts import Evidence, Judged
from pipeline.report.pairs.columns import Column, coded, known_flags, numbers
from pipeline.report.pairs.cube_facts import read_variable
from pipeline.report.pairs.pair_parts import IntervalMethod

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["BELONGS_TO", "BOOTSTRAP_T", "decision_intervals", "hold", "read_intervals"]

BELONGS_TO: Mapping[IntervalMethod, str] = {
    "max-t": "gain ± c se, with the c of max-T over all pairs of the family",
    "bonferroni": "gain ± t se, with the t of Student's law and Bonferroni over all pairs of the family",
    "tango": "Tango's, of wins and losses, where fewer than 20 units differ",
}
"""Descriptions of the interval beside a verdict, by its method."""

BOOTSTRAP_T = ("studentised", "simultaneous-studentised")
"""Methods of `pipeline.inference.intervals.bootstrap_t`: their p is no convention of counts, stands in the cube, and has their
name."""


def read_intervals(
    cube: xr.Dataset, delta: NDArray[np.float64], *, alpha: float, wanted: Sequence[str] = (), **where: str
) -> dict[str, Column]:
    """Return the ends of every method that is wanted, else that the cube holds, of each pair with the better system first.

    By path, with the p of bootstrap-t; nothing where the cube has none, or has them at another level than the report's.
    """
    ends, reasons = read_variable(cube, "interval", **where), read_variable(cube, "interval_reason", **where)
    held = cube.attrs.get("alpha_of_intervals", cube.attrs.get("alpha"))  # a report may ask for another level
    if ends is None or reasons is None or held != alpha or (reasons < 0).all():
        return {}
    behind, pairs = delta < 0, len(delta)
    own = read_variable(cube, "interval_p", **where)
    held_by = list(map(str, cube["interval_method"].values.tolist()))
    found = {}
    # What is not a finite number is unknown: there is no such interval, and the cube says why.
    for name in [name for name in wanted if name in held_by] or held_by:
        lo, hi = ends[held_by.index(name)].T
        found[f"intervals.{name}.lo"] = numbers(np.where(behind, -hi, lo) + 0.0, pairs)
        found[f"intervals.{name}.hi"] = numbers(np.where(behind, -lo, hi) + 0.0, pairs)
        if own is not None and name in BOOTSTRAP_T:
            found[f"intervals.{name}.p"] = numbers(np.asarray(own[held_by.index(name)], np.float64), pairs)
    return found


def decision_intervals(
    known: Evidence, judged: Judged, *, wins: Wins, tails: StudentTails | None, alpha: float
) -> dict[str, Column]:
    """Return, by path, the interval beside the verdict of each pair: that of the test which decides, at the level of the family.

    By max-T it is δ ± c · se with the c of all pairs; where Holm decides, the same with Student's 1 − α/(2K) quantile. Nothing
    outside the family, for pairs that cannot be tested or are not decided, and where an end would be infinite. What is not decided
    would need an interval that holds its level where no test does, and there is none.

    Parameters
    ----------
    known : Evidence
    judged : Judged
        From `pipeline.report.families.verdicts.judge_pairs`.
    wins : Wins
    tails : StudentTails or None
        Of the units of the test set; without them as many units as one likes are presumed.
    alpha : float
    """
    adjusted = known.adjusted
    measured = adjusted.member & np.isfinite(adjusted.decision.own)
    method: IntervalMethod
    if adjusted.decision.by == "max_t":
        method, se, critical = "max-t", adjusted.max_t_se, np.inf if adjusted.critical is None else adjusted.critical
        of_wins = critical_of_wins(critical, wins.units, alpha)
    else:
        level, freedom = alpha / max(int(measured.sum()), 1), None if tails is None else tails.freedom
        method, se, of_wins = "bonferroni", known.se, float(critical_value(level))
        critical = float(critical_value(level, freedom)) if freedom is None or freedom >= 1 else np.inf
    separated, decided = judged.separated, ~judged.verdict.equal(slice(None), "not decided")
    found = compatible_intervals(known.gain, se, critical=critical, critical_of_wins=of_wins, separated=separated, wins=wins)
    there = measured & decided & ~known.identical & ~known.flat & np.isfinite(found.lo)
    pairs = len(there)
    return {
        "interval.method": coded(np.where(there, found.by_wins, -1).astype(np.int8), (method, "tango")),
        "interval.level": coded(np.where(there, 0, -1).astype(np.int8), (1 - alpha,)),
        "interval.lo": numbers(np.where(there, found.lo, np.nan), pairs),
        "interval.hi": numbers(np.where(there, found.hi, np.nan), pairs),
        "interval.open": known_flags(separated & (found.lo == 0), there),
    }


def hold(columns: Mapping[str, Column], *, separated: NDArray[np.bool_]) -> dict[str, Column]:
    """Return the columns of intervals, if any, held to verdicts that were corrected for more than their family."""
    if "interval.lo" not in columns:
        return {}
    lo = hold_to_verdict(columns["interval.lo"].values, separated)
    return {"interval.lo": numbers(lo, len(lo)), "interval.open": known_flags(separated & (lo == 0), np.isfinite(lo))}
