"""Intervals of the gain: that of the test which decides, beside each verdict, and those by other methods that a cube holds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pipeline.inference.compatible_intervals import Wins, compatible_intervals, critical_of_wins, hold_to_verdict
from pipeline.inference.few_units import StudentTails
from pipeline.inference.power import critical_value
from pipeline.report.cube_facts import read_floats, read_variable
from pipeline.report.pair_parts import Interval, IntervalMethod, MethodInterval, MethodIntervalWithP
from pipeline.report.values import plain
from pipeline.report.verdicts import Evidence, Judged

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["BELONGS_TO", "BOOTSTRAP_T", "Methods", "decision_intervals", "hold", "read_intervals", "read_wins"]

BELONGS_TO: Mapping[IntervalMethod, str] = {
    "max-t": "gain ± c se, with the c of max-T over all pairs of the family",
    "bonferroni": "gain ± t se, with the t of Student's law and Bonferroni over all pairs of the family",
    "tango": "Tango's, of wins and losses, where fewer than 20 units differ",
}
"""What the interval beside a verdict is, by its method."""

BOOTSTRAP_T = ("studentised", "simultaneous-studentised")
"""Methods of `pipeline.inference.bootstrap_t`: their p is no convention of counts, stands in the cube, and has their name."""


Methods: TypeAlias = Mapping[str, MethodIntervalWithP | MethodInterval]
"""The interval of a pair by every method that a cube holds."""


def read_intervals(
    cube: xr.Dataset, delta: NDArray[np.float64], *, alpha: float, wanted: Sequence[str] = (), **where: str
) -> list[Methods | None]:
    """Return the ends of every method that is wanted, else that the cube holds, of each pair with the better system first.

    With the p of bootstrap-t. None where the cube has none, or has them at another level than the report's.
    """
    ends, reasons = read_variable(cube, "interval", **where), read_variable(cube, "interval_reason", **where)
    held = cube.attrs.get("alpha_of_intervals", cube.attrs.get("alpha"))  # a report may ask for another level
    if ends is None or reasons is None or held != alpha or (reasons < 0).all():
        return [None] * len(delta)
    behind = (delta < 0)[:, None]
    turned = np.where(behind, -ends[..., ::-1], ends) + 0.0
    own = read_variable(cube, "interval_p", **where)
    methods: dict[str, Sequence[MethodIntervalWithP | MethodInterval]] = {}
    # What is not a finite number is None: there is no such interval, and the cube says why.
    for position, name in enumerate(cube["interval_method"].values.tolist()):
        pairs = plain(turned[position])
        if own is not None and name in BOOTSTRAP_T:
            beside = plain(np.asarray(own[position], np.float64))
            methods[str(name)] = [MethodIntervalWithP(lo, hi, p) for (lo, hi), p in zip(pairs, beside, strict=True)]
        else:
            methods[str(name)] = [MethodInterval(lo, hi) for lo, hi in pairs]
    methods = {name: methods[name] for name in wanted if name in methods} or methods
    return [dict(zip(methods, found, strict=True)) for found in zip(*methods.values(), strict=True)]


def read_wins(cube: xr.Dataset, discordant: NDArray[np.integer] | None, *, metric: str, test_size: str) -> Wins:
    """Return on how many units of a test size the pairs differ, and what each of these adds to a gain; within strata nothing."""
    win = read_floats(cube, "gain_of_a_win", metric=metric, test_size=test_size)
    if cube.attrs.get("strata"):  # intervals by wins know none
        win = np.full(len(win), np.nan)
    units = int(cube["n_units"].sel(test_size=test_size).item())
    return Wins(np.full(len(win), -1) if discordant is None else discordant, win, units)


def decision_intervals(
    known: Evidence, judged: Judged, *, wins: Wins, tails: StudentTails | None, alpha: float
) -> list[Interval | None]:
    """Return the interval that stands beside the verdict of each pair: that of the test which decides, at the level of the family.

    By max-T it is δ ± c · se with the c of all pairs; where Holm decides, the same with Student's 1 − α/(2K) quantile. None outside
    the family, for pairs that cannot be tested or are not decided, and where an end would be infinite. What is not decided would
    need an interval that holds its level where no test does, and there is none.

    Parameters
    ----------
    known : Evidence
    judged : Judged
        From `pipeline.report.verdicts.judge_pairs`.
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
    separated, decided = judged.separated, np.array([verdict != "not decided" for verdict in judged.verdict], np.bool_)
    found = compatible_intervals(known.gain, se, critical=critical, critical_of_wins=of_wins, separated=separated, wins=wins)
    there = measured & decided & ~known.identical & ~known.flat & np.isfinite(found.lo)
    ends = zip(there.tolist(), found.by_wins.tolist(), found.lo.tolist(), found.hi.tolist(), separated.tolist(), strict=True)
    return [
        Interval("tango" if by_wins else method, 1 - alpha, lo, hi, open=better and lo == 0) if is_there else None
        for is_there, by_wins, lo, hi, better in ends
    ]


def hold(interval: Interval | None, *, separated: bool) -> Interval | None:
    """Return an interval held to a verdict that was corrected for more than its family."""
    if interval is None:
        return None
    lo = float(hold_to_verdict(np.array([interval.lo]), np.array([separated]))[0])
    return replace(interval, lo=lo, open=separated and lo == 0)
