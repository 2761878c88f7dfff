"""Parts of a pair's row: intervals, detectable effects, and the unit on which the gain depends most."""

from __future__ import annotations

from typing import Literal

from pipeline.dataclass import dataclass

__all__ = ["Interval", "IntervalMethod", "Leverage", "MethodInterval", "MethodIntervalWithP", "MinimumDetectableEffect"]

IntervalMethod = Literal["max-t", "bonferroni", "tango"]


@dataclass(frozen=True, slots=True)
class Interval:
    """The interval that stands beside a pair's verdict, and belongs to its adjusted p.

    ``level`` is that of all pairs of the family together. ``open``: ``lo`` is 0 and outside, as the pair is separated.
    A pair that is not decided has no interval.
    """

    method: IntervalMethod
    level: float
    lo: float
    hi: float
    open: bool


@dataclass(frozen=True, slots=True)
class MethodInterval:
    """The ends of one method's interval; None where there is none."""

    lo: float | None
    hi: float | None


@dataclass(frozen=True, slots=True)
class MethodIntervalWithP(MethodInterval):
    """The ends of a bootstrap-t interval, with the p of t*."""

    p: float | None


@dataclass(frozen=True, slots=True)
class MinimumDetectableEffect:
    """The smallest true gain that is found with some power by the test that decides the pair in its family.

    ``critical`` is how many standard errors a gain must exceed, None where McNemar's exact test decides; ``level`` is what it is
    worth of a pair alone, two-sided. ``units_needed`` find the observed gain with this power, if it is the true one. ``reason``
    says why no gain could have been shown.
    """

    gain: float | None
    power: float
    level: float | None
    critical: float | None
    law: Literal["Gaussian", "Student", "binomial"]
    units_needed: int | None
    reason: str | None


@dataclass(frozen=True, slots=True)
class Leverage:
    """The one unit that adds most to a gain's variance: its position, its share of it, and the gain without it."""

    unit: int
    share: float
    delta_without: float
