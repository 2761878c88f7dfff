"""Resamples without a score. This module conditions the events of a bootstrap sum on a denominator that is not 0.

Units with c = 0 count where others are drawn too. P(event, C* > 0) = P(event) − P(event, C* = 0), except where the second is
almost all of the first: then it is the mixture over the number of draws that hit a unit with c > 0.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from pipeline.resampling.exact.budget import Budget
from pipeline.resampling.exact.chances import Chance, Event
from pipeline.resampling.exact.events import Slope, occur_when

__all__ = ["log_chance_of_empty", "occur_when_defined"]

_SAFE = 1e-3  # share of an event that has to be left for a difference to be good to 1e-12 or so
_FIELDS = tuple(Event.__dataclass_fields__)


def log_chance_of_empty(c: NDArray[np.int64]) -> float:
    """Give log P(C* = 0) = n log(share of units with c = 0)."""
    hollow = int((c == 0).sum())
    return len(c) * math.log(hollow / len(c)) if hollow else -math.inf


def occur_when_defined(d: NDArray[np.int64], c: NDArray[np.int64], slope: Slope, *, budget: Budget) -> Event:
    """Compute the chances of Σ Z over a resample with Z = ud − vc, given that C* > 0."""
    whole, hollow, n = occur_when(d, c, slope, draws=len(d), budget=budget), c == 0, len(d)
    if not hollow.any():
        return whole
    log_empty = log_chance_of_empty(c)
    empty = occur_when(d[hollow], c[hollow], Slope(1, 0), draws=n, budget=budget, log_mass=log_empty)
    log_rest = math.log(-math.expm1(log_empty))
    if not d[hollow].any() and any(_is_lost(getattr(whole, name), getattr(empty, name)) for name in _FIELDS):
        parts = _by_hits(d[~hollow], c[~hollow], slope, n, budget)
        return Event(*(_total([getattr(part, name) for part in parts]).given(log_rest) for name in _FIELDS))
    return Event(*(getattr(whole, name).minus(getattr(empty, name)).given(log_rest) for name in _FIELDS))


def _is_lost(whole: Chance, taken: Chance) -> bool:
    if not (whole.is_exact and taken.is_exact):
        return False  # an interval says by itself how much it has lost
    return taken.log_low > -math.inf and taken.log_low - whole.log_high > math.log1p(-_SAFE)


def _by_hits(d: NDArray[np.int64], c: NDArray[np.int64], slope: Slope, n: int, budget: Budget) -> list[Event]:
    """Split by the number of draws that hit a unit with c > 0; the others add nothing to ΣZ."""
    share = len(d) / n
    hits = np.arange(1, n + 1)
    logs = gammaln(n + 1) - gammaln(hits + 1) - gammaln(n - hits + 1) + hits * math.log(share) + (n - hits) * math.log1p(-share)
    return [
        occur_when(d, c, slope, draws=k, budget=budget, log_mass=log) for k, log in zip(hits.tolist(), logs.tolist(), strict=True)
    ]


def _total(chances: list[Chance]) -> Chance:
    low, high = (float(np.logaddexp.reduce([getattr(chance, bound) for chance in chances])) for bound in ("log_low", "log_high"))
    return Chance(low, high)
