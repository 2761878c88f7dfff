"""Simultaneous intervals of the gains of a family that never contradict the verdicts beside them.

`simultaneous` gives δ ± c · se, with the c that all pairs of the family share. In `compatible_intervals` gains are those of the
better system, and so not negative; a pair of right and wrong answers that differs on few units has Tango's interval with the same c
(`critical_of_wins`). A step-down test separates more pairs than those whose interval excludes 0, and the floor for few discordant
units fewer: the end near 0 is then set to 0. Such intervals are called compatible with the test (Strassburger and Bretz 2008,
doi:10.1002/sim.3319; Guilbaud 2008, doi:10.1002/bimj.200710449).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pipeline.dataclass import dataclass
from pipeline.inference.intervals.proportions import tango
from pipeline.inference.intervals.replicate_intervals import INTERVAL_REASONS, Intervals, refuse
from pipeline.inference.multiple_comparisons.families import REASONS
from pipeline.inference.multiple_comparisons.studentised_max_t import StudentisedMaxT, critical_maximum
from pipeline.inference.sample_size.power import critical_value, level_of
from pipeline.inference.unit_diagnostics.few_units import FEW_DISCORDANT
from pipeline.numerics.special import ndtr
from pipeline.resampling.measures import Observed
from pipeline.resampling.standard_errors.studentise import BEYOND

__all__ = ["CompatibleIntervals", "Wins", "compatible_intervals", "critical_of_wins", "hold_to_verdict", "simultaneous"]

_Floats = NDArray[np.float64]

_FURTHEST = 37.0  # beyond it 2Φ(−z) is no float with all its digits, and a rate is anything


@dataclass(frozen=True, eq=False)
class Wins:
    """On how many units the systems differ, where each unit is right or wrong.

    Parameters
    ----------
    discordant : (pair,) int
        Below 0 where it is unknown.
    gain : (pair,) float64
        What a unit that only one system has right adds to its gain; nan where scores are not means of two values.
    units : int
    """

    discordant: NDArray[np.integer]
    gain: _Floats
    units: int

    @property
    def few(self) -> NDArray[np.bool_]:
        """(pair,) whether some units differ, but fewer than 20, and each is right or wrong."""
        return np.asarray((self.discordant > 0) & (self.discordant < FEW_DISCORDANT) & np.isfinite(self.gain))

    def split(self, gain: _Floats, chosen: NDArray[np.bool_]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the wins of the system ahead and of the one behind, for the chosen pairs, whose gains are ≥ 0."""
        ahead = np.rint(gain[chosen] / self.gain[chosen]).astype(np.int64)
        m = self.discordant[chosen].astype(np.int64)
        return (m + ahead) // 2, (m - ahead) // 2


@dataclass(frozen=True, eq=False)
class CompatibleIntervals:
    """One interval for each pair.

    Parameters
    ----------
    lo, hi : (pair,) float64
        Of the gain of the better system; nan where an end would be infinite.
    by_wins : (pair,) bool
        The interval is Tango's.
    """

    lo: _Floats
    hi: _Floats
    by_wins: NDArray[np.bool_]


def compatible_intervals(
    gain: _Floats,
    se: _Floats,
    *,
    critical: float,
    critical_of_wins: float,
    separated: NDArray[np.bool_],
    wins: Wins | None = None,
) -> CompatibleIntervals:
    """Return δ ± c · se, or Tango's interval where fewer than 20 units differ, with ends that agree with the verdicts.

    Parameters
    ----------
    gain, se : (pair,) float64
        δ ≥ 0, and what the test divides it by; nan where there is none.
    critical : float
        c; infinite if no pair can be separated.
    critical_of_wins : float
        z of Tango's intervals, such as `critical_of_wins` gives.
    separated : (pair,) bool
        The better system is shown to be better.
    wins : Wins, optional

    Examples
    --------
    The second pair is separated by a later step, the third is kept from it by its floor:

    >>> given = {"critical": 3.0, "critical_of_wins": 3.0, "separated": np.array([True, True, False])}
    >>> found = compatible_intervals(np.array([4.0, 2.5, 4.0]), np.ones(3), **given)
    >>> found.lo.tolist(), found.hi.tolist()
    ([1.0, 0.0, 0.0], [7.0, 5.5, 7.0])
    """
    half = np.where(se > 0, (critical if np.isfinite(critical) else np.nan) * se, np.nan)
    lo, hi = gain - half, gain + half
    by_wins = np.zeros(len(gain), np.bool_)
    if wins is not None and np.isfinite(critical_of_wins):
        by_wins = wins.few & np.isfinite(gain)
        level = 2 * float(ndtr(-min(critical_of_wins, _FURTHEST)))
        ends = tango(*wins.split(gain, by_wins), wins.units, alpha=level)
        lo[by_wins], hi[by_wins] = (end * wins.gain[by_wins] * wins.units for end in ends)
    return CompatibleIntervals(hold_to_verdict(lo, separated), hi, by_wins)


def critical_of_wins(critical: float, units: int, alpha: float) -> float:
    """Return the z of Tango's intervals for max-T's ``critical``, but at least that of a pair by itself.

    The t of a pair with wins and losses on few of n units is the quantile of its p by Student's law
    (`pipeline.inference.unit_diagnostics.few_wins`), so a single step separates it if its p is below 2 P(T_{n−1} ≥ c). z is the
    quantile of that level by the Gaussian law, which Tango's interval uses.

    Examples
    --------
    >>> round(critical_of_wins(3.0, 20, 0.05), 3), round(critical_of_wins(1.0, 20, 0.05), 3), critical_of_wins(np.inf, 20, 0.05)
    (2.68, 1.96, inf)
    """
    level = float(level_of(np.array(critical), units - 1.0))
    return float(critical_value(min(level, alpha))) if level > 0 else np.inf


def hold_to_verdict(lo: _Floats, separated: NDArray[np.bool_]) -> _Floats:
    """Return the ends near 0: not below 0 where a pair is separated, and not above it where it is not.

    Examples
    --------
    >>> hold_to_verdict(np.array([-0.1, -0.1, 0.1, 0.1]), np.array([True, False, True, False])).tolist()
    [0.0, -0.1, 0.1, 0.0]
    """
    return np.where(separated, np.maximum(lo, 0.0), np.minimum(lo, 0.0)) + 0.0  # no −0


def simultaneous(max_t: StudentisedMaxT | None, observed: Observed, *, alpha: float = 0.05) -> Intervals:
    """Return δ_j ± c · se_j of a family: a single step of its max-T separates what excludes 0, unless few units differ.

    Parameters
    ----------
    max_t : StudentisedMaxT or None
        None where Holm decides, and there are no such intervals.
    observed : Observed
        The same pairs.
    alpha : float, optional
    """
    if max_t is None:
        none = np.full(len(observed.delta), np.nan)
        reason = np.full(len(none), INTERVAL_REASONS.index("no max-t"), np.int8)
        return Intervals("simultaneous", 1 - alpha, none, none, reason, np.zeros(len(none), np.int64))
    replicates, pairs, c = max_t.replicates, len(observed.delta), critical_maximum(max_t.largest, alpha)
    c = c if c < BEYOND else np.nan
    refused = refuse(
        observed.delta, observed.identical, max_t.se, slack=np.zeros(pairs), replicates=np.full(pairs, max(replicates, 1))
    )
    short = "undefined" if (replicates + 1) * alpha >= 1 - 1e-9 else "too few replicates"
    outside = max_t.family.reason == REASONS.index("not in the family")
    unknown = np.full(pairs, np.isnan(c))
    codes = [INTERVAL_REASONS.index(name) for name in ("not in the family", short)]
    reason = np.select([refused > 0, outside, unknown], [refused, *codes]).astype(np.int8)
    half = np.where(reason == 0, c * max_t.se, np.nan)
    return Intervals("simultaneous", 1 - alpha, observed.delta - half, observed.delta + half, reason, np.full(pairs, replicates))
