"""Bootstrap-t intervals and their p, from t*: each replicate has its own standard error."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
from numpy.typing import NDArray

from pipeline.dataclass import dataclass
from pipeline.inference.intervals.replicate_intervals import INTERVAL_REASONS, Intervals, refuse
from pipeline.resampling.draws import Draws
from pipeline.resampling.measures import Measure, Observed
from pipeline.resampling.observe import TOLERANCE
from pipeline.resampling.quantiles import gain_quantiles
from pipeline.resampling.standard_errors.studentise import BEYOND, Studentised, studentise
from pipeline.resampling.strata import StratifiedDraws

__all__ = ["BOOTSTRAP_T", "SIMULTANEOUS_STUDENTISED", "STUDENTISED", "BootstrapT", "BootstrapTReader", "bootstrap_t"]

STUDENTISED, SIMULTANEOUS_STUDENTISED = "studentised", "simultaneous-studentised"

BOOTSTRAP_T = (STUDENTISED, SIMULTANEOUS_STUDENTISED)
"""For one pair, equal-tailed · for all pairs of a family together, symmetric."""


@dataclass(frozen=True, eq=False)
class BootstrapT:
    """Bootstrap-t intervals and p-values of all pairs of a measure.

    Parameters
    ----------
    intervals : dict of str to Intervals
        By method. A pair has the reason "undefined" if so many replicates have no spread that an end would be infinite, and
        "rounding" if the standard errors of some are lost in rounding.
    p : dict of str to (pair,) float64
        The p-value that an interval inverts, nan where there is none. ``studentised``: 2 (s + 1)/(b + 1) and at most 1, s the
        smaller of #(t* ≥ t) and #(t* ≤ t) with t = δ / se. ``simultaneous-studentised``: (#(max |t*| ≥ |t|) + 1)/(b + 1).
    """

    intervals: dict[str, Intervals]
    p: dict[str, NDArray[np.float64]]


def bootstrap_t(
    measure: Measure,
    observed: Observed,
    *,
    draws: Draws | StratifiedDraws,
    replicates: int = 9999,
    alpha: float = 0.05,
    methods: Collection[str] = (STUDENTISED,),
    member: NDArray[np.bool_] | None = None,
    memory_bytes: int = 2**28,
) -> BootstrapT:
    """Return [δ − q(1 − α/2) · se, δ − q(α/2) · se], q the quantiles (type 7) of t* = (δ* − δ) / se*, and δ ± c · se.

    Efron and Tibshirani 1993, doi:10.1201/9780429246593, chapter 12. c is the 1 − α quantile over replicates of the largest |t*|
    among the pairs of the family that have an interval of their own, where an undefined score counts as infinite (the max-T of
    Romano and Wolf 2005, doi:10.1198/016214504000000539, with a standard error of each replicate). Only ratios and means have these
    intervals; pairs of another metric have the reason "not a ratio".

    Parameters
    ----------
    measure, observed
        The pairs, and their gains.
    draws : Draws or StratifiedDraws
        The stream of the paired bootstrap: its first ``replicates`` are drawn again.
    replicates : int, optional
    alpha : float, optional
    methods : collection of str, optional
        Of `BOOTSTRAP_T`.
    member : (pair,) bool, optional
        The family; all pairs by default.
    memory_bytes : int, optional
        As of `pipeline.resampling.standard_errors.studentise.studentise`.
    """
    reader = BootstrapTReader(measure, observed, replicates=replicates, alpha=alpha, methods=methods, member=member)
    return reader.result(draws, memory_bytes=memory_bytes)


class BootstrapTReader:
    """Computes `bootstrap_t` from t* that were computed for another purpose, and computes the t* of the remaining pairs itself.

    Parameters
    ----------
    measure, observed, replicates, alpha, methods, member
        As of `bootstrap_t`.
    """

    def __init__(
        self,
        measure: Measure,
        observed: Observed,
        *,
        replicates: int,
        alpha: float,
        methods: Collection[str],
        member: NDArray[np.bool_] | None = None,
    ) -> None:
        unknown = sorted(set(methods) - set(BOOTSTRAP_T))
        if unknown:
            raise ValueError(f"unknown methods of intervals: {', '.join(unknown)}; there are {', '.join(BOOTSTRAP_T)}")
        if not 0 < alpha < 1:
            raise ValueError(f"alpha is between 0 and 1, not {alpha}")
        self._measure, self._observed, self._alpha, self._methods = measure, observed, alpha, methods
        pairs = len(measure.pairs)
        self._member = np.ones(pairs, np.bool_) if member is None else member
        self._reading, self._maxima, self._seen = _Reading.of(pairs), np.zeros(replicates), np.zeros(pairs, np.bool_)

    def add(self, block: Studentised) -> None:
        """Read some pairs, in any order, each once."""
        if self._measure.form != "ratio" or not self._methods:
            return
        self._seen[block.pair] = True
        self._reading.add(block, self._measure, self._observed, self._alpha)
        counted = self._member[block.pair] & (self._reading.reason[block.pair] == 0)
        if SIMULTANEOUS_STUDENTISED in self._methods and counted.any():
            far = np.where(block.empty[counted], np.inf, np.abs(block.t[counted]))
            self._maxima = np.fmax(self._maxima, np.fmax.reduce(far, axis=0))

    def result(self, draws: Draws | StratifiedDraws, *, memory_bytes: int = 2**28) -> BootstrapT:
        """Return the result for all pairs, after drawing those that were not added."""
        alpha, methods, pairs = self._alpha, self._methods, len(self._seen)
        if self._measure.form != "ratio":
            code = np.full(pairs, INTERVAL_REASONS.index("not a ratio"), np.int8)
            none = self._reading.interval(STUDENTISED, alpha, code)
            return BootstrapT(dict.fromkeys(methods, none), {name: np.full(pairs, np.nan) for name in methods})
        left, replicates = np.flatnonzero(~self._seen), len(self._maxima)
        if methods and len(left):
            for block in studentise(draws, self._measure, replicates=replicates, chosen=left, memory_bytes=memory_bytes):
                self.add(block)
        found = {STUDENTISED: (self._reading.interval(STUDENTISED, alpha, self._reading.reason), self._reading.p)}
        if SIMULTANEOUS_STUDENTISED in methods:
            found[SIMULTANEOUS_STUDENTISED] = _simultaneous(self._reading, self._maxima, self._member, alpha)
        return BootstrapT({name: found[name][0] for name in methods}, {name: found[name][1] for name in methods})


@dataclass(frozen=True, eq=False)
class _Reading:
    """Results of blocks of pairs, collected; gains are of the better system over the other."""

    delta: NDArray[np.float64]
    se: NDArray[np.float64]
    slack: NDArray[np.float64]
    t: NDArray[np.float64]
    lo: NDArray[np.float64]
    hi: NDArray[np.float64]
    p: NDArray[np.float64]
    reason: NDArray[np.int8]
    replicates: NDArray[np.int64]

    @classmethod
    def of(cls, pairs: int) -> _Reading:
        """Return an empty collection."""
        delta, se, slack, t, lo, hi, p = (np.full(pairs, np.nan) for _ in range(7))
        return cls(delta, se, slack, t, lo, hi, p, np.zeros(pairs, np.int8), np.zeros(pairs, np.int64))

    def add(self, block: Studentised, measure: Measure, observed: Observed, alpha: float) -> None:
        """Read quantiles, reasons and p of some pairs."""
        own, some = block.pair, len(block.pair)
        self.delta[own], self.se[own] = observed.delta[own], block.se
        self.slack[own] = TOLERANCE * np.abs(observed.score[measure.pairs[own]]).sum(axis=1)
        self.t[own] = block.observed
        # A row of zeros: the difference from it is t* itself.
        rows = np.stack([np.arange(some), np.full(some, some)], axis=1)
        levels = np.tile([alpha / 2, 1 - alpha / 2], (some, 1))
        values = np.concatenate([block.t, np.zeros((1, block.t.shape[1]))])
        found = gain_quantiles(values, rows, delta=np.zeros(some), probabilities=levels)
        low, high = (found.gain if measure.higher_is_better else -found.gain[:, ::-1]).T
        refused = refuse(observed.delta[own], observed.identical[own], block.se, slack=self.slack[own], replicates=found.replicates)
        short = (found.replicates + 1) * alpha / 2 < 1 - 1e-9
        infinite = np.abs(found.gain).max(axis=1) > BEYOND
        places = [INTERVAL_REASONS.index(name) for name in ("too few replicates", "rounding", "undefined")]
        reason = np.select([refused > 0, short, infinite & (block.lost > 0), infinite], [refused, *places]).astype(np.int8)
        self.reason[own], self.replicates[own] = reason, found.replicates
        there = reason == 0
        self.lo[own[there]] = observed.delta[own[there]] - high[there] * block.se[there]
        self.hi[own[there]] = observed.delta[own[there]] - low[there] * block.se[there]
        # Within the tolerance of the scores a t* is as large as t, as a gain is equal to another.
        t, slack = block.observed[there, None], (self.slack[own[there]] / block.se[there])[:, None]
        sides = [(block.t[there] >= t - slack).sum(axis=1), (block.t[there] <= t + slack).sum(axis=1)]
        self.p[own[there]] = np.minimum(1.0, 2 * (np.minimum(*sides) + 1) / (found.replicates[there] + 1))

    def interval(self, method: str, alpha: float, reason: NDArray[np.int8]) -> Intervals:
        """Return the intervals; ends that are equal to 0 are 0."""
        lo, hi = (np.where(np.abs(end) <= self.slack, 0.0, end) for end in (self.lo, self.hi))
        return Intervals(method, 1 - alpha, lo, hi, reason, self.replicates)


def _simultaneous(
    reading: _Reading, maxima: NDArray[np.float64], member: NDArray[np.bool_], alpha: float
) -> tuple[Intervals, NDArray[np.float64]]:
    inside, replicates = member & (reading.reason == 0), len(maxima)
    short, factor = (replicates + 1) * alpha < 1 - 1e-9, np.nan
    if inside.any() and not short and np.quantile(maxima, 1 - alpha, method="higher") < BEYOND:
        factor = float(np.quantile(maxima, 1 - alpha))
    nothing = INTERVAL_REASONS.index("too few replicates" if short else "undefined")
    outside = np.where(member | (reading.reason > 0), reading.reason, INTERVAL_REASONS.index("not in the family"))
    reason = np.where(inside & np.isnan(factor), nothing, outside).astype(np.int8)
    half = np.where(reason == 0, factor * reading.se, np.nan)
    lo, hi = (np.where(np.abs(end) <= reading.slack, 0.0, end) for end in (reading.delta - half, reading.delta + half))
    with np.errstate(divide="ignore", invalid="ignore"):  # without a standard error there is no t, and no p either
        least = np.abs(reading.t) - reading.slack / reading.se
        hits = replicates - np.searchsorted(np.sort(maxima), least)
    p = np.where(reason == 0, (hits + 1) / (replicates + 1), np.nan)
    return Intervals(SIMULTANEOUS_STUDENTISED, 1 - alpha, lo, hi, reason, np.full(len(member), replicates)), p
