"""How each pair is compared, decided before anything is drawn: observed scores become thresholds.

The choice depends on the two systems of the pair alone, never on other systems.
"""

from __future__ import annotations

from math import gcd

import numpy as np
from numpy.typing import NDArray

from pipeline.dataclass import dataclass
from pipeline.resampling.comparison.compare import Crossed, Thresholds
from pipeline.resampling.measures import BINS, HALF_WIDTH, RULES, Measure, Observed
from pipeline.resampling.observe import TOLERANCE
from pipeline.resampling.products.contract import FLOAT64_LIMIT

__all__ = ["Plan", "Rule", "plan_measure", "plan_swaps"]

_INT64_LIMIT = 2**63
_TOLERANCE, _INTEGER, _CROSSED, _CROSSED_INT64, _TOO_WIDE = range(len(RULES))


@dataclass(frozen=True, eq=False)
class Rule:
    """Pairs that are compared by the same rule.

    Parameters
    ----------
    name : str
        One of `RULES`.
    thresholds : Thresholds
        Rows of values are positions in ``systems``.
    crossed : Crossed or None
        For the cross-multiplied rules; denominators are positions in ``systems``.
    systems : (row,) int64
        Systems these pairs need.
    unit : (chosen,) float64
        Score points of one unit of the gains that are summed: sums are scaled by it at the end of a cell.
    """

    name: str
    thresholds: Thresholds
    crossed: Crossed | None
    systems: NDArray[np.int64]
    unit: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Plan:
    """A measure with its pairs sorted by rule.

    Parameters
    ----------
    rule : (pair,) int8
        Position in `RULES`.
    rules : tuple of Rule
        Those that some pair needs.
    """

    measure: Measure
    rule: NDArray[np.int8]
    rules: tuple[Rule, ...]


@dataclass(frozen=True, eq=False)
class _Integers:
    """Integers of oriented pairs of a ratio, (pair,) each: D* = N*_first − N*_second; in all units D ≥ 0, C = Σ denominators."""

    gain: NDArray[np.int64]
    total: NDArray[np.int64]
    largest_gain: NDArray[np.int64]  # bound of |d_i|
    largest_denominator: NDArray[np.int64]
    is_shared: NDArray[np.bool_]
    is_constant: NDArray[np.bool_]
    step: NDArray[np.int64]  # greatest common divisor of all numerators: the lattice of these two systems, whoever else is there


def plan_measure(measure: Measure, observed: Observed, *, n_draws: int) -> Plan:
    """Choose a rule for each pair and compute its thresholds."""
    oriented = _orient(measure, observed)
    if measure.form == "ratio":
        integers = _pair_integers(measure, oriented)
        rule = _choose_rules(integers, n_draws)
    else:
        integers, rule = None, np.full(len(oriented), _TOLERANCE, np.int8)
    rules: list[Rule] = []
    scores = np.flatnonzero((rule == _TOLERANCE) | (rule == _TOO_WIDE))
    if scores.size:
        rules.append(_by_score(measure, observed, oriented, scores))
    for code in (_INTEGER, _CROSSED, _CROSSED_INT64):
        chosen = np.flatnonzero(rule == code)
        if integers is None or not chosen.size:
            continue
        if code == _INTEGER:
            rules.append(_by_integer(measure, observed, oriented, chosen, integers, n_draws))
        else:
            rules.append(_by_crossing(measure, observed, oriented, chosen, integers, RULES[code]))
    return Plan(measure, rule, tuple(rules))


def plan_swaps(measure: Measure, observed: Observed) -> Plan:
    """Choose a rule for each pair where units are swapped at random: δ° is compared with −δ, 0 and δ.

    Swaps leave the total of a shared denominator alone, whether it is constant or not: such pairs are compared as integers.
    A pair with an undefined gain is in no rule: there is nothing to compare with.
    """
    oriented = _orient(measure, observed)
    defined = np.isfinite(observed.delta)
    rule = np.full(len(oriented), _TOLERANCE, np.int8)
    if measure.form == "ratio":
        integers = _pair_integers(measure, oriented)
        narrow = integers.largest_gain <= (FLOAT64_LIMIT - 1) // len(measure.statistics)
        rule = np.where(integers.is_shared, np.where(narrow, _INTEGER, _TOO_WIDE), _TOLERANCE).astype(np.int8)
    rules: list[Rule] = []
    scores = np.flatnonzero((rule != _INTEGER) & defined)
    if scores.size:
        delta, slack = np.abs(observed.delta[scores]), _slack(observed, oriented, scores)
        rules.append(_by_swaps(observed, oriented, scores, delta, slack, np.ones(len(scores)), np.ones(len(scores)), _TOLERANCE))
    chosen = np.flatnonzero((rule == _INTEGER) & defined)
    if chosen.size:
        gain, step, total = (values[chosen].astype(np.float64) for values in (integers.gain, integers.step, integers.total))
        unit = np.array(measure.score(np.stack([step, total])), np.float64)  # as for the bootstrap: a finer lattice, same float
        rules.append(_by_swaps(observed, oriented, chosen, gain, np.zeros(len(chosen)), step, unit, _INTEGER))
    return Plan(measure, rule, tuple(rules))


def _orient(measure: Measure, observed: Observed) -> NDArray[np.int64]:
    ahead = ~(observed.delta < 0)  # nan and 0 keep the given order
    as_given = ahead == measure.higher_is_better  # lower is better: δ = −(s_A − s_B), the rows change places
    return np.where(as_given[:, None], measure.pairs, measure.pairs[:, ::-1])


def _pair_integers(measure: Measure, oriented: NDArray[np.int64]) -> _Integers:
    numerators, denominators = measure.statistics.transpose(2, 1, 0)
    totals = measure.statistics.sum(axis=0)
    highest, lowest = measure.statistics.max(axis=0), measure.statistics.min(axis=0)
    groups: dict[bytes, int] = {}
    group = np.array([groups.setdefault(column.tobytes(), len(groups)) for column in denominators], np.int64)
    steps = np.gcd.reduce(numerators, axis=1)
    a, b = oriented.T
    return _Integers(
        gain=totals[a, 0] - totals[b, 0],
        total=totals[a, 1],
        largest_gain=np.maximum(highest[a, 0] - lowest[b, 0], highest[b, 0] - lowest[a, 0]),
        largest_denominator=highest[a, 1],
        is_shared=(group[a] == group[b]) & (lowest[a, 1] >= 0) & (totals[a, 1] > 0),
        is_constant=highest[a, 1] == lowest[a, 1],
        step=np.maximum(np.gcd(steps[a], steps[b]), 1),
    )


def _choose_rules(pairs: _Integers, n_draws: int) -> NDArray[np.int8]:
    """Return the rule of each pair; nothing is multiplied that could overflow."""
    most = FLOAT64_LIMIT - 1
    narrow = (pairs.largest_gain <= most // n_draws) & (np.abs(pairs.gain) <= most // (2 * n_draws))
    constant = np.where(narrow, _INTEGER, _TOO_WIDE)
    rule = np.where(pairs.is_shared, constant, _TOLERANCE).astype(np.int8)
    for pair in np.flatnonzero(pairs.is_shared & ~pairs.is_constant).tolist():
        gain, total = int(pairs.gain[pair]), int(pairs.total[pair])
        common, reach = gcd(gain, total), n_draws * int(pairs.largest_gain[pair])
        twice = 2 * abs(gain // common) * n_draws * int(pairs.largest_denominator[pair])
        largest = max(reach * (total // common), twice)
        if reach >= FLOAT64_LIMIT or largest >= _INT64_LIMIT:
            rule[pair] = _TOO_WIDE
        else:
            rule[pair] = _CROSSED if largest < FLOAT64_LIMIT else _CROSSED_INT64
    return rule


def _by_swaps(
    observed: Observed,
    oriented: NDArray[np.int64],
    chosen: NDArray[np.int64],
    gain: NDArray[np.float64],
    slack: NDArray[np.float64],
    step: NDArray[np.float64],
    unit: NDArray[np.float64],
    code: int,
) -> Rule:
    """δ° is symmetric around 0: that is its center, and −gain, 0 and gain are its thresholds."""
    exact = np.arange(-1.0, 2.0) * gain[:, None]
    systems, rows = np.unique(oriented[chosen], return_inverse=True)
    rows = rows.reshape(-1, 2)
    thresholds = Thresholds(
        chosen, *_columns(rows), exact - slack[:, None], exact + slack[:, None], np.zeros(len(chosen)),
        _bin_scale(observed.se[chosen]) * unit, np.zeros(0), np.zeros(0), step,
    )  # fmt: skip
    return Rule(RULES[code], thresholds, None, systems, unit)


def _by_score(measure: Measure, observed: Observed, oriented: NDArray[np.int64], chosen: NDArray[np.int64]) -> Rule:
    """δ* within the tolerance of a threshold is equal to it; an undefined observed score makes all replicates empty."""
    delta = np.abs(observed.delta[chosen])
    exact = np.arange(3.0) * delta[:, None]
    slack = _slack(observed, oriented, chosen)[:, None]
    systems, rows = np.unique(oriented[chosen], return_inverse=True)
    rows = rows.reshape(-1, 2)
    thresholds = Thresholds(
        chosen, *_columns(rows), exact - slack, exact + slack, delta, _bin_scale(observed.se[chosen]),
        *_margins(measure, delta, slack[:, 0], np.ones(len(chosen))), np.ones(len(chosen)),
    )  # fmt: skip
    return Rule(RULES[_TOLERANCE], thresholds, None, systems, np.ones(len(chosen)))


def _by_integer(
    measure: Measure,
    observed: Observed,
    oriented: NDArray[np.int64],
    chosen: NDArray[np.int64],
    integers: _Integers,
    n_draws: int,
) -> Rule:
    """D*/(n_draws·c) against k·D/(n·c): the integer D* against k·D·n_draws/n, rounded up and down."""
    n_units = len(measure.statistics)
    scaled, step = integers.gain[chosen] * n_draws, integers.step[chosen]  # below 2^52
    several = np.arange(3) * scaled[:, None]
    low, high = (-(-several // n_units)).astype(np.float64), (several // n_units).astype(np.float64)
    # Whole numbers of Python: units times a step may be beyond 64 bits.
    center = np.array([gain / (n_units * by) for gain, by in zip(scaled.tolist(), step.tolist(), strict=True)], np.float64)
    # The score of one step: a finer lattice that another system brings gives the same float.
    lattice = step.astype(np.float64)
    denominators = n_draws * integers.largest_denominator[chosen].astype(np.float64)
    unit = np.array(measure.score(np.stack([lattice, denominators])), np.float64)
    systems, rows = np.unique(oriented[chosen], return_inverse=True)
    rows = rows.reshape(-1, 2)
    thresholds = Thresholds(
        chosen, *_columns(rows), low, high, center, _bin_scale(observed.se[chosen]) * unit,
        *_margins(measure, np.abs(observed.delta[chosen]), _slack(observed, oriented, chosen), unit), lattice,
    )  # fmt: skip
    return Rule(RULES[_INTEGER], thresholds, None, systems, unit)


def _by_crossing(
    measure: Measure,
    observed: Observed,
    oriented: NDArray[np.int64],
    chosen: NDArray[np.int64],
    integers: _Integers,
    name: str,
) -> Rule:
    """D*/C* against k·D/C: the integer D*·C against k·D·C*, both divided by what C and D have in common."""
    common = np.gcd(integers.gain[chosen], integers.total[chosen])
    total, gain = integers.total[chosen] // common, integers.gain[chosen] // common
    systems, rows = np.unique(oriented[chosen], return_inverse=True)
    rows = rows.reshape(-1, 2)
    delta = np.abs(observed.delta[chosen])
    unused = np.zeros((0, 3))
    thresholds = Thresholds(
        chosen, *_columns(rows), unused, unused, delta, _bin_scale(observed.se[chosen]),
        *_margins(measure, delta, _slack(observed, oriented, chosen), np.ones(len(chosen))), np.ones(len(chosen)),
    )  # fmt: skip
    crossed = Crossed(np.ascontiguousarray(rows[:, 0]), total, gain)
    return Rule(name, thresholds, crossed, systems, np.ones(len(chosen)))


def _columns(rows: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    return np.ascontiguousarray(rows[:, 0]), np.ascontiguousarray(rows[:, 1])


def _slack(observed: Observed, oriented: NDArray[np.int64], chosen: NDArray[np.int64]) -> NDArray[np.float64]:
    first, second = observed.score[oriented[chosen]].T
    slack: NDArray[np.float64] = TOLERANCE * (np.abs(first) + np.abs(second))
    return slack


def _bin_scale(se: NDArray[np.float64]) -> NDArray[np.float64]:
    usable = np.isfinite(se) & (se > 0)
    scale = np.zeros(len(se))
    scale[usable] = BINS / (2 * HALF_WIDTH) / se[usable]
    return scale


def _margins(
    measure: Measure, delta: NDArray[np.float64], slack: NDArray[np.float64], unit: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    if measure.margin is None:
        return np.zeros(0), np.zeros(0)
    return (2 * delta + measure.margin - slack) / unit, (2 * delta - measure.margin + slack) / unit
