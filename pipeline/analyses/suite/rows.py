"""The conclusions of a suite as rows of plain values: the better system first, the most decided pairs on top."""

from __future__ import annotations

from collections.abc import Iterator
from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.analyses.suite.data import Question, SuiteData
from pipeline.analyses.suite.words import MOST_NAMED, describe_pair
from pipeline.dataclass import dataclass
from pipeline.errors import name_some
from pipeline.inference.across.suite_conclusions import CONCLUSIONS, SuiteConclusion, conclude_questions, count_alone
from pipeline.inference.across.suites import Heterogeneity, heterogeneity
from pipeline.inference.unit_diagnostics.few_units import FEW_DISCORDANT
from pipeline.inference.unit_diagnostics.undecided import UNDECIDED, explain_undecided
from pipeline.numerics.special import ndtri

__all__ = ["MOST_SHOWN", "pair_rows"]

MOST_SHOWN = 12
"""Pairs that are drawn, and told in words on a page."""
MOST_LINES = 120
"""Gains that one figure holds."""
FEWEST = 2


@dataclass(frozen=True, eq=False)
class _Found:
    """All that is known of the pairs that were measured on two test sets or more, by their columns."""

    data: SuiteData
    question: Question
    suite: SuiteConclusion
    surely: NDArray[np.int64]
    possibly: NDArray[np.int64]
    gains: Heterogeneity

    def side(self, better: bool) -> int | None:
        """Return the place of a direction among those that were tested."""
        side = 0 if better else 1
        return self.question.sides.index(side) if side in self.question.sides else None


def pair_rows(data: SuiteData, question: Question) -> Iterator[dict[str, Any]]:
    """Yield a row a pair, then a row a pair and test set, in the same order: the most decided pairs first.

    Parameters
    ----------
    data : SuiteData
    question : Question
    """
    several = np.isfinite(data.p[0]).sum(axis=0) >= FEWEST
    sides = list(question.sides)
    # Pairs on one test set are no part of the suite: they add to no correction.
    p, lo, hi = (np.where(several, of[sides], np.nan) for of in (data.p, data.lo, data.hi))
    suite = conclude_questions(p, alpha=question.alpha)
    surely, possibly = (count_alone(of, alpha=question.alpha) for of in (hi, lo))
    gains = heterogeneity(np.where(several, data.delta, np.nan), data.se)
    found = _Found(data, question, suite, surely, possibly, gains)
    oriented = [_orient(found, pair) for pair in range(len(data.pairs))]
    order = sorted(range(len(data.pairs)), key=lambda pair: (not several[pair], *_place(found, pair, oriented[pair])))
    shown = max(1, min(MOST_SHOWN, MOST_LINES // max(len(data.test_sets), 1)))
    pairs = [
        _pair_row(found, pair, oriented[pair], shown=place < shown)
        if several[pair]
        else _unmeasured_row(found, pair, shown=place < shown)
        for place, pair in enumerate(order)
    ]
    yield from pairs
    for place, pair in enumerate(order):
        if several[pair]:
            yield from _test_set_rows(found, pair, oriented[pair], shown=place < shown)


def _orient(found: _Found, pair: int) -> bool:
    """Tell whether a pair keeps its order: with a baseline always, else where its first system is the better one of the suite."""
    if found.question.baseline is not None:
        return True
    at_least, p = found.suite.at_least[:, pair], found.suite.p[:, 0, pair]
    if at_least[0] != at_least[1]:
        return bool(at_least[0] > at_least[1])
    return not p[1] < p[0]


def _place(found: _Found, pair: int, kept: bool) -> tuple[Any, ...]:
    at_least, p = found.suite.at_least[:, pair], found.suite.p[:, 0, pair]
    first, second = found.data.pairs[pair]
    together = int(found.suite.together[:, pair].max())
    return -int(at_least.max()), -together, float(np.nan_to_num(p.min(), nan=2.0)), *((first, second) if kept else (second, first))


def _pair_row(found: _Found, pair: int, kept: bool, *, shown: bool) -> dict[str, Any]:
    data, suite = found.data, found.suite
    first, second = data.pairs[pair] if kept else data.pairs[pair][::-1]
    measured = np.isfinite(data.p[0, :, pair])
    undecided = measured & (data.undecided[:, pair] > 0)
    gain = data.delta[:, pair] * (1 if kept else -1)
    row: dict[str, Any] = {
        "kind": "pair",
        "metric": found.question.metric,
        "procedure": found.question.procedure,
        "system_a": first,
        "system_b": second,
        "shown": shown,
        "alpha": found.question.alpha,
        "test_sets": int(suite.test_sets[pair]),
        "identical_on": _names(data, data.identical[:, pair] & measured),
        "missing_on": _names(data, ~data.present[:, pair]),
        "undefined_on": _names(data, data.present[:, pair] & ~measured),
        "undecided_on": _names(data, undecided),
        "undecided_because": "; ".join(_why_undecided(data, pair, undecided)) or None,
    }
    stable = True
    for word, better in (("better", kept), ("worse", not kept)):
        side = found.side(better)
        row |= _side(found, pair, side, word)
        stable &= side is None or bool(found.surely[side, pair] == found.possibly[side, pair])
    few = measured & (data.discordant[:, pair] >= 0) & (data.discordant[:, pair] < FEW_DISCORDANT) & ~data.identical[:, pair]
    row |= {
        "stable": stable,
        "gain_lowest": _number(np.nanmin(gain[measured])) if np.isfinite(gain[measured]).any() else None,
        "gain_highest": _number(np.nanmax(gain[measured])) if np.isfinite(gain[measured]).any() else None,
        "mean_gain": _number(found.gains.mean[pair] * (1 if kept else -1)),
        "mean_se": _mean_se(data.se[:, pair], measured),
        "q": _number(found.gains.q[pair]),
        "degrees": int(found.gains.degrees[pair]),
        "p_equal_gains": _number(found.gains.p[pair]),
        "i_squared": _number(found.gains.i_squared[pair]),
        "warning": "; ".join(_warn(data, few, undecided)) or None,
        "reason": None,
    }
    return row | {"words": describe_pair(row)}


def _warn(data: SuiteData, few: NDArray[np.bool_], undecided: NDArray[np.bool_]) -> Iterator[str]:
    if undecided.any():
        yield f"not decided on {', '.join(_names(data, undecided))}"
    if few.any():
        yield f"fewer than {FEW_DISCORDANT} units differ on {', '.join(_names(data, few))}"


def _why_undecided(data: SuiteData, pair: int, undecided: NDArray[np.bool_]) -> Iterator[str]:
    """Say of each reason why a pair is not decided, and on which test sets."""
    for code in np.unique(data.undecided[undecided, pair]).tolist():
        there = undecided & (data.undecided[:, pair] == code)
        units = data.units[there]
        why = explain_undecided(UNDECIDED[code], units=int(units.min()), most=int(units.max()))
        yield f"{why} ({name_some(_names(data, there), MOST_NAMED)})"


def _side(found: _Found, pair: int, side: int | None, word: str) -> dict[str, Any]:
    """Return what is known of one direction; None throughout where it was not asked."""
    of_word = (f"{word}_at_least", f"{word}_bounds", f"{word}_on", f"{word}_where")
    keys = (*of_word, f"p_{word}_on_any", f"p_{word}_over_pairs", f"{word}_together")
    if side is None:
        return dict.fromkeys(keys)
    suite = found.suite
    rejected = np.nan_to_num(suite.holm[side, :, pair], nan=2.0) <= found.question.alpha
    bounds = {"lo": int(found.surely[side, pair]), "hi": int(found.possibly[side, pair])}
    p = (_number(suite.p[side, 0, pair]), _number(suite.over_pairs[side, pair]))
    count, names = int(suite.at_least[side, pair]), _names(found.data, rejected)
    where = "all" if count == suite.test_sets[pair] else ", ".join(names) or None
    values = (count, bounds, names, where, *p, int(suite.together[side, pair]))
    return dict(zip(keys, values, strict=True))


def _unmeasured_row(found: _Found, pair: int, *, shown: bool) -> dict[str, Any]:
    data, (first, second) = found.data, found.data.pairs[pair]
    measured = np.isfinite(data.p[0, :, pair])
    there = ", ".join(_names(data, measured)) or "no test set"
    why = f"{first} and {second} are compared on {there} only: a suite is made of two test sets or more"
    return {
        "kind": "unmeasured",
        "metric": found.question.metric,
        "procedure": found.question.procedure,
        "system_a": first,
        "system_b": second,
        "shown": shown,
        "test_sets": int(measured.sum()),
        "missing_on": _names(data, ~data.present[:, pair]),
        "undefined_on": _names(data, data.present[:, pair] & ~measured),
        "reason": why,
    }


def _test_set_rows(found: _Found, pair: int, kept: bool, *, shown: bool) -> Iterator[dict[str, Any]]:
    data, suite = found.data, found.suite
    first, second = data.pairs[pair] if kept else data.pairs[pair][::-1]
    sign, z = (1.0 if kept else -1.0), -float(ndtri(found.question.alpha / 2))
    means = {name: name if kept else {"better": "worse", "worse": "better"}.get(name, name) for name in CONCLUSIONS}
    if len(suite.p) == 1:
        means["better"] = found.question.direction  # of one direction, the one that was asked
    # Columns of plain values: a large suite has half a million of these rows.
    columns: dict[str, list[Any]] = {
        "gain": _numbers(sign * data.delta[:, pair]),
        "se": _numbers(data.se[:, pair]),
        "discordant": [count if count >= 0 else None for count in data.discordant[:, pair].tolist()],
        "identical": data.identical[:, pair].tolist(),
        "conclusion": [
            "not decided" if why else means[CONCLUSIONS[code]]
            for code, why in zip(suite.conclusion[:, pair].tolist(), data.undecided[:, pair].tolist(), strict=True)
        ],
        "undecided": [UNDECIDED[code] or None for code in data.undecided[:, pair].tolist()],
    }
    for word, better in (("better", kept), ("worse", not kept)):
        side = found.side(better)
        nothing = [None] * len(data.test_sets)
        columns[f"p_{word}"] = nothing if side is None else _numbers(data.p[0 if better else 1, :, pair])
        columns[f"p_{word}_holm"] = nothing if side is None else _numbers(suite.holm[side, :, pair])
    for name, *values in zip(data.test_sets, *columns.values(), strict=True):
        row = dict(zip(columns, values, strict=True))
        gain, se = row["gain"], row["se"]
        yield {
            "kind": "test-set",
            "metric": found.question.metric,
            "procedure": found.question.procedure,
            "system_a": first,
            "system_b": second,
            "shown": shown,
            "test_set": name,
            "interval": {"lo": gain - z * se, "hi": gain + z * se} if gain is not None and se else None,
            **row,
        }


def _numbers(values: NDArray[np.float64]) -> list[float | None]:
    """Return plain numbers, without negative zeros; None where there is none."""
    return [value if isfinite(value) else None for value in (values + 0.0).tolist()]


def _mean_se(se: NDArray[np.float64], measured: NDArray[np.bool_]) -> float | None:
    """Return the standard error of the weighted mean of independent gains, 1/√Σw."""
    known = se[measured & np.isfinite(se) & (se > 0)]
    return float(1 / np.sqrt((1 / known**2).sum())) if len(known) else None


def _names(data: SuiteData, mask: NDArray[np.bool_]) -> list[str]:
    return [name for name, inside in zip(data.test_sets, mask.tolist(), strict=True) if inside]


def _number(value: Any) -> float | None:
    """Return a plain number, without a negative zero; None where there is none."""
    return float(value) + 0.0 if np.isfinite(value) else None
