"""Bootstrap p-values too small to be counted: tails computed where fewer than ten replicates count against a gain.

With common denominators the exact law is used. Otherwise resamples are drawn with tilted chances (`tilting`), their true scores are
compared as in the pass, and each is weighted by its probability without the tilt relative to that with it: unbiased for any score,
with a standard error (Johns 1988, J. Amer. Statist. Assoc. 83, 709-714).

`choose_tails` says which are computed by default. A law of few values costs microseconds, one of decimal scores a hundredth of a
second, and a leaderboard may have a thousand. The choice depends on sizes, never on the clock, so it is the same on every machine.
"""

from __future__ import annotations

import math
from dataclasses import replace
from math import isqrt

import numpy as np
from numpy.typing import NDArray

from pipeline.dataclass import dataclass
from pipeline.inference.direct.exact import exact_tests, mark_model_tails
from pipeline.inference.direct.result import LABELS, REASONS, DirectP, assemble, code_of
from pipeline.inference.direct.scores import MEMORY, differences, is_mean, why_no_numerators
from pipeline.inference.direct.tilting import PairGain, find_tilt
from pipeline.inference.p_values import PValues
from pipeline.resampling.exact.budget import OF_TAILS, Budget
from pipeline.resampling.measures import Measure, Observed
from pipeline.resampling.observe import TOLERANCE

__all__ = ["TAIL_DRAWS", "bootstrap_tails", "choose_tails", "few_hits", "tail_points", "tilted_tails"]

_SHORT = 2**18
"""Up to this many values of a law times points of a ring, sums are taken directly; beyond, units are sorted and transformed."""

_FEWEST_VALUES = 4
"""Values of a law; with fewer, other work takes as long."""

_SIGMAS = 24
"""Standard deviations that a ring spans: twelve on either side."""


def choose_tails(measure: Measure, observed: Observed, *, asked: NDArray[np.bool_], points: int) -> NDArray[np.bool_]:
    """Choose the pairs whose exact tails are computed: those with the fewest standard errors between them, within a budget.

    These are nearest to a verdict. The choice decides which tails exist, and changes no number.

    Parameters
    ----------
    measure : Measure
    observed : Observed
    asked : (pair,) bool
        The pairs, with common denominators, whose tails are wanted.
    points : int
        The budget, as `pipeline.resampling.exact.budget.tails_budget` gives it.

    Returns
    -------
    (pair,) bool
    """
    members = np.flatnonzero(asked)
    cost = tail_points(measure, observed, members)
    with np.errstate(divide="ignore", invalid="ignore"):  # without a spread the gain is infinitely many standard errors
        away = np.abs(observed.delta[members]) / observed.se[members]
    order = np.lexsort((members, cost, np.where(np.isnan(away), np.inf, away)))
    chosen = np.zeros(len(asked), np.bool_)
    chosen[members[order][np.cumsum(cost[order]) <= points]] = True
    return chosen


def tail_points(
    measure: Measure, observed: Observed, members: NDArray[np.integer], *, memory_bytes: int = MEMORY
) -> NDArray[np.int64]:
    """Bound the cost of each pair's bootstrap law, in points of a transform.

    With w the range of the differences of n units in steps of their lattice, a ring has at most n·w points, or 24 standard
    deviations, each at most w√n/2, and the law no more values than w + 1 or n. Where denominators vary the lattice is that of
    both sums: as wide as any.
    """
    units = len(measure.statistics)
    widest = 8 * units + 2 * OF_TAILS.points
    cost = np.full(len(members), widest, np.int64)
    simple = np.flatnonzero(is_mean(measure)[members])
    done = 0
    for _, rows in differences(measure, observed, members[simple], memory_bytes=memory_bytes, row_bytes=24):
        low = rows.min(axis=1)
        step = np.maximum(np.gcd.reduce(rows - low[:, None], axis=1), 1)
        width = (rows.max(axis=1) - low) // step
        factor = min(units, _SIGMAS * (isqrt(units) + 1) // 2)
        points = np.minimum(width, OF_TAILS.points) * factor + 1
        values = np.maximum(np.minimum(width + 1, units), _FEWEST_VALUES)
        short = units // 8 + points * values // 2
        wide = 8 * units + np.clip(2 * points, _SHORT // 2, 2 * OF_TAILS.points)
        cost[simple[done : done + len(rows)]] = np.where(points * values <= _SHORT, short, wide)
        done += len(rows)
    return cost


TAIL_DRAWS = 4096  # tilted resamples a tail
_FEW = 10
_LEVEL = 1.959963984540054  # standard errors on either side of a 95 % interval


def few_hits(found: PValues) -> NDArray[np.bool_]:
    """Tell which counted p-values are based on fewer than ten hits: p < 10/b.

    Returns
    -------
    (convention, pair) bool
        False where there is no p, or none was counted.
    """
    return np.asarray((found.hits < _FEW) & (found.reason == 0) & np.isfinite(found.p))


def bootstrap_tails(
    measure: Measure,
    observed: Observed,
    *,
    asked: NDArray[np.bool_],
    key: int,
    draws: int = TAIL_DRAWS,
    defined: NDArray[np.float64] | None = None,
    budget: Budget = OF_TAILS,
    memory_bytes: int = MEMORY,
) -> DirectP:
    """Compute the paired bootstrap's p-values of some pairs by exact laws and by tilting.

    Parameters
    ----------
    measure : Measure
    observed : Observed
    asked : (pair,) bool
        Pairs to compute; the others get the reason "not asked".
    key : int
        Address of the draws, from `pipeline.resampling.address.draw_key`. Pairs share them: no other pair changes a number.
    draws : int, default 4096
        For each of a pair's two tails: 4096 give a relative standard error of some 3 to 5 %, and a draw takes n times 50 ns. With 0
        only the saddlepoint tail is computed, in milliseconds and without a stated error.
    defined : (pair,) float64, optional
        Share of replicates that have a score, from the counts of the pass; 1 if not given. p is conditional on them.
    budget : Budget, default OF_TAILS
        Of an exact tail.
    memory_bytes : int, optional
        For a batch of draws × units; changes no result.

    Returns
    -------
    DirectP
        Methods "exact" and "tail"; tails have a ``relative_error``, with ``lo`` and ``hi`` 1.96 of them away.
    """
    chosen = asked & np.isfinite(observed.delta) & ~observed.identical
    common = np.flatnonzero(chosen & (why_no_numerators(measure) == 0))
    exact = exact_tests(
        replace(measure, pairs=measure.pairs[common]), _select(observed, common), parts=("bootstrap",), budget=budget
    )["bootstrap"]
    known = np.zeros(len(chosen), np.bool_)
    known[common] = exact.reason != code_of("integers too large", REASONS)
    tails = tilted_tails(measure, observed, asked=asked & ~known, key=key, draws=draws, defined=defined, memory_bytes=memory_bytes)
    places, source = np.flatnonzero(known), np.flatnonzero(known[common])
    fields = {}
    for name, values in vars(tails).items():
        merged = values.copy()
        merged[..., places] = getattr(exact, name)[..., source]
        fields[name] = merged
    return DirectP(**fields)


def tilted_tails(
    measure: Measure,
    observed: Observed,
    *,
    asked: NDArray[np.bool_],
    key: int,
    draws: int = TAIL_DRAWS,
    defined: NDArray[np.float64] | None = None,
    memory_bytes: int = MEMORY,
) -> DirectP:
    """Compute the paired bootstrap's p-values of some pairs by tilting, for any score; see `bootstrap_tails`."""
    reason = np.where(asked, 0, code_of("not asked", REASONS)).astype(np.int8)
    names = ("one-sided", "two-sided", "below-zero", "at-or-below-zero")
    logs, errors = np.full((2, len(names), len(reason)), np.nan)
    for pair in np.flatnonzero(asked & (observed.delta != 0) & np.isfinite(observed.delta)).tolist():
        problem = _Problem.of(measure, observed, pair)
        upper, lower = (_estimate(problem, side, key=key, draws=draws, memory_bytes=memory_bytes) for side in (1, -1))
        if upper is None and lower is None:
            reason[pair] = code_of("out of reach", REASONS)
            continue
        upper, lower = upper or _NOTHING, lower or _NOTHING
        parts = (upper.strict, upper.weak.plus(lower.weak), lower.strict, lower.weak)
        logs[:, pair], errors[:, pair] = [part.log_p for part in parts], [part.relative_error for part in parts]
    logs[np.isneginf(logs)] = np.nan  # no tilted draw hit, which does not prove that none can
    if defined is not None:
        with np.errstate(divide="ignore"):  # a pair that is never defined has no gain either
            logs -= np.log(defined)
    logs[:, observed.delta == 0] = 0.0  # without a gain there is no tail: the two-sided p is 1 by definition, and the only one
    # The interval is symmetric about p, and stays above 0 where the error is too large to say more.
    reach = np.minimum(np.where(np.isfinite(errors), _LEVEL * errors, 0.0), 1.0)
    with np.errstate(divide="ignore"):  # log 0
        low, high = logs + np.log1p(-reach), logs + np.log1p(reach)
    result = assemble(
        {name: (low[row], high[row]) for row, name in enumerate(names)},
        observed=observed,
        reason=reason,
        method="tail",
        relative_error=dict(zip(names, errors, strict=True)),
    )
    if not draws:
        label = np.where(np.isnan(result.p) | (result.label != 0), result.label, code_of("saddlepoint", LABELS))
        result = replace(result, label=label.astype(np.int8))
    return mark_model_tails(result)


@dataclass(frozen=True)
class _Chance:
    """A tail probability and its relative standard error, nan where it is not known."""

    log_p: float
    relative_error: float

    def plus(self, other: _Chance) -> _Chance:
        total = float(np.logaddexp(self.log_p, other.log_p))
        errors = [math.exp(part.log_p - total) * part.relative_error for part in (self, other) if part.log_p > -math.inf]
        return _Chance(total, math.hypot(*errors) if errors else math.nan)


@dataclass(frozen=True)
class _Side:
    """The probabilities of lying beyond a threshold, and of lying beyond or on it."""

    strict: _Chance
    weak: _Chance


_NONE = _Chance(-math.inf, math.nan)
_NOTHING = _Side(_NONE, _NONE)


@dataclass(frozen=True, eq=False)
class _Problem:
    gain: PairGain
    delta: float
    slack: float

    @classmethod
    def of(cls, measure: Measure, observed: Observed, pair: int) -> _Problem:
        a, b = measure.pairs[pair] if observed.delta[pair] > 0 else measure.pairs[pair][::-1]
        first, second = (measure.statistics[:, system].astype(np.float64) for system in (a, b))
        gain = PairGain(first, second, measure.score, 1 if measure.higher_is_better else -1)
        slack = TOLERANCE * (abs(float(observed.score[a])) + abs(float(observed.score[b])))
        return cls(gain, abs(float(observed.delta[pair])), slack)


def _estimate(problem: _Problem, side: int, *, key: int, draws: int, memory_bytes: int) -> _Side | None:
    """Estimate the tail above 2δ (side 1) or below 0 (side −1)."""
    target = 2 * problem.delta if side > 0 else 0.0
    tilt = find_tilt(problem.gain, target, side)
    if tilt is None:
        return None
    if not draws:
        alone = _Chance(tilt.log_p, math.nan)
        return _Side(alone, alone)
    units = problem.gain.units
    chances = np.maximum(tilt.chances, 1e-300)
    log_ratio = np.log(units * chances)  # of a draw: tilted over uniform
    rng = np.random.Generator(np.random.Philox(np.random.SeedSequence([key, side > 0])))
    batch = max(memory_bytes // (24 * units), 1)
    beyond, log_weight = np.empty((2, draws))
    for start in range(0, draws, batch):
        weights = rng.multinomial(units, chances / chances.sum(), size=min(batch, draws - start)).astype(np.float64)
        beyond[start : start + batch] = side * (problem.gain.gain(weights) - target)
        log_weight[start : start + batch] = -(weights @ log_ratio)
    scale = -units * float(chances @ log_ratio)
    return _Side(*(_weigh(log_weight[beyond > edge], scale, draws) for edge in (problem.slack, -math.nextafter(problem.slack, 1))))


def _weigh(log_weight: NDArray[np.float64], scale: float, draws: int) -> _Chance:
    """Average the weights of all draws, 0 for those that do not hit."""
    if not len(log_weight):
        return _NONE
    shares = np.exp(log_weight - scale)
    mean = float(shares.sum()) / draws
    variance = float(shares @ shares) / draws - mean * mean
    return _Chance(scale + math.log(mean), math.sqrt(max(variance, 0.0) / draws) / mean)


def _select(observed: Observed, members: NDArray[np.int64]) -> Observed:
    pairs = {name: getattr(observed, name)[members] for name in ("delta", "se", "discordant", "identical")}
    return Observed(score=observed.score, **pairs)
