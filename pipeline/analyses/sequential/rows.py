"""Results of pairs at their looks, as rows: at the last one, for some pairs at each, and over test sets of different items."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.analyses.sequential.data import OrderedScores
from pipeline.inference.sequential.betting import BoundedSequences, Capital
from pipeline.inference.sequential.e_values import always_valid_p, e_benjamini_hochberg, multiply_e_values
from pipeline.numerics.special import stdtrit

__all__ = ["HALVINGS", "choose_looks", "look_rows", "nothing", "pair_rows", "product_rows"]

HALVINGS = 80
"""Products of a value: forty halvings on each side."""

_LOOKS = 20
_FIRST_LOOK = 10
_BLOCK = 2**22  # values of pairs at a time


def nothing(where: Mapping[str, Any], reason: str) -> dict[str, Any]:
    """Return a row that says why there is no sequence."""
    return {"kind": "none", **where, "reason": reason}


def pair_rows(
    where: Mapping[str, Any], scores: OrderedScores, pairs: Sequence[tuple[str, str]], *, alpha: float, budget: float
) -> list[dict[str, Any]]:
    """Return a row for each pair at the last look; pairs beyond the budget have e-values and no interval."""
    units = scores.values.shape[1]
    rows: list[dict[str, Any]] = []
    affordable = int(budget // (units * HALVINGS))
    step = max(1, _BLOCK // units)
    for first in range(0, len(pairs), step):
        some = pairs[first : first + step]
        gains = scores.gains(some)
        given = BoundedSequences(gains, -scores.reach, scores.reach, alpha)
        capital = given.bet_against(0.0)
        afforded = max(0, min(len(some), affordable - first))
        found = BoundedSequences(gains[:afforded], -scores.reach, scores.reach, alpha).exclude([units])
        once = _interval_of_one_look(gains, alpha)
        for place, (better, worse) in enumerate(some):
            interval = (float(found.lo[place, 0]), float(found.hi[place, 0])) if place < afforded else None
            row = {"kind": "pair", **where, "system_a": better, "system_b": worse, "alpha": alpha, "units": units}
            row |= {"items": scores.items, "mean_gain": float(gains[place].mean())}
            rows.append(row | _evidence(capital, place, alpha) | _beside(interval, once[place]))
    for row, rejected in zip(rows, _e_bh(rows, alpha), strict=True):
        row["e_bh"] = rejected
    return rows


def _evidence(capital: Capital, place: int, alpha: float) -> dict[str, Any]:
    above, below, hedged = capital.log_above[place], capital.log_below[place], capital.log_hedged[place]
    rich = np.flatnonzero(np.maximum(above, below) >= math.log(2 / alpha))
    ahead = len(rich) > 0 and above[rich[0]] > below[rich[0]]
    largest = float(hedged.max())
    return {
        "log10_e": float(hedged[-1]) / math.log(10),
        "log10_e_largest": largest / math.log(10),
        "log10_e_better": float(above[-1]) / math.log(10),
        "log10_e_worse": float(below[-1]) / math.log(10),
        "p": float(always_valid_p(np.array(largest))),
        "decided_at": int(rich[0]) + 1 if len(rich) else None,
        "says": "not decided" if not len(rich) else "better" if ahead else "worse",
    }


def _beside(interval: tuple[float, float] | None, once: tuple[float, float] | None) -> dict[str, Any]:
    """Return the interval for all looks and that for one look, the ratio of their widths, and what is wrong, if anything."""
    fits = interval is not None and interval[0] <= interval[1]
    reason = None if fits else "beyond the budget" if interval is None else "no gain fits all looks: units drift in this order"
    wide = once is not None and once[0] < once[1]
    return {
        "interval": {"lo": interval[0], "hi": interval[1]} if interval is not None and fits else None,
        "interval_of_one_look": {"lo": once[0], "hi": once[1]} if once is not None else None,
        "width_ratio": (interval[1] - interval[0]) / (once[1] - once[0]) if interval and once and fits and wide else None,
        "reason": reason,
    }


def _interval_of_one_look(gains: NDArray[np.float64], alpha: float) -> list[tuple[float, float] | None]:
    """Return Student's interval for the mean of each row; None for a single unit."""
    units = gains.shape[1]
    if units < 2:
        return [None] * len(gains)
    half = -stdtrit(units - 1, alpha / 2) * gains.std(axis=1, ddof=1) / math.sqrt(units)
    return list(zip((gains.mean(axis=1) - half).tolist(), (gains.mean(axis=1) + half).tolist(), strict=True))


def _e_bh(rows: Sequence[Mapping[str, Any]], alpha: float) -> list[bool]:
    logs = np.array([row["log10_e"] for row in rows]) * math.log(10)
    return [bool(one) for one in e_benjamini_hochberg(logs, alpha=alpha)]


def choose_looks(asked: Sequence[int], units: int) -> list[int]:
    """Return the looks that were asked for, or about twenty in equal steps of the logarithm; the last is all units.

    Examples
    --------
    >>> choose_looks([50, 100, 500], 120)
    [50, 100, 120]
    >>> choose_looks([], 40)[:4]
    [10, 11, 12, 13]
    """
    steps = np.geomspace(min(_FIRST_LOOK, units), units, _LOOKS)
    wanted = asked or np.unique(np.rint(steps).astype(np.int64)).tolist()
    return [*(look for look in wanted if look < units), units]


def look_rows(
    where: Mapping[str, Any],
    scores: OrderedScores,
    pairs: Sequence[tuple[str, str]],
    *,
    alpha: float,
    looks: Sequence[int],
    budget: float,
) -> Iterator[dict[str, Any]]:
    """Yield the looks of some pairs: the sequence, the evidence, and the interval if this look were the only one."""
    if not pairs or len(pairs) * sum(looks) * HALVINGS > budget:
        return
    gains = scores.gains(pairs)
    given = BoundedSequences(gains, -scores.reach, scores.reach, alpha)
    capital, found = given.bet_against(0.0), given.exclude(looks)
    largest = np.maximum.accumulate(capital.log_hedged, axis=1)
    for row, (better, worse) in enumerate(pairs):
        for place, look in enumerate(looks):
            once = _interval_of_one_look(gains[row : row + 1, :look], alpha)[0]
            lo, hi = float(found.lo[row, place]), float(found.hi[row, place])
            yield {
                "kind": "look",
                **where,
                "system_a": better,
                "system_b": worse,
                "units": look,
                "mean_gain": float(gains[row, :look].mean()),
                "interval": {"lo": lo, "hi": hi} if lo <= hi else None,
                "interval_of_one_look": {"lo": once[0], "hi": once[1]} if once is not None else None,
                "log10_e": float(capital.log_hedged[row, look - 1]) / math.log(10),
                "log10_e_largest": float(largest[row, look - 1]) / math.log(10),
            }


def product_rows(
    metric: str, test_sets: Sequence[str], found: Mapping[str, Sequence[Mapping[str, Any]]], alpha: float
) -> list[dict[str, Any]]:
    """Return a row for each pair with the product of its e-values over test sets of different items.

    Parameters
    ----------
    metric : str
    test_sets : sequence of str
        In the order of the looks.
    found : mapping
        The rows of pairs of each test set; pairs that any test set lacks are left out.
    alpha : float
    """
    by_pair: dict[frozenset[str], list[Mapping[str, Any]]] = {}
    for name in test_sets:
        for row in found[name]:
            by_pair.setdefault(frozenset((row["system_a"], row["system_b"])), []).append(row)
    rows = []
    for measured in by_pair.values():
        if len(measured) < len(test_sets):
            continue
        a, b = measured[0]["system_a"], measured[0]["system_b"]
        better, worse = _multiply_side(measured, a), _multiply_side(measured, b)
        if (worse[-1], b) > (better[-1], a):
            a, b, better, worse = b, a, worse, better
        hedged = _multiply_up([row["log10_e"] for row in measured])
        enough = math.log10(2 / alpha)
        rows.append(
            {
                "kind": "product",
                "metric": metric,
                "test_sets": list(test_sets),
                "system_a": a,
                "system_b": b,
                "alpha": alpha,
                "units": sum(row["units"] for row in measured),
                "log10_e": hedged[-1],
                "log10_e_by_look": hedged,
                "log10_e_better": better[-1],
                "log10_e_worse": worse[-1],
                "p": float(always_valid_p(np.array(max(hedged) * math.log(10)))),
                "says": "better" if max(better) >= enough else "worse" if max(worse) >= enough else "not decided",
            }
        )
    for row, rejected in zip(rows, _e_bh(rows, alpha), strict=True):
        row["e_bh"] = rejected
    return rows


def _multiply_side(measured: Sequence[Mapping[str, Any]], first: str) -> list[float]:
    """Return decimal logarithms, after each look, of the product of e-values for "the first of the pair is not better"."""
    return _multiply_up([row["log10_e_better" if row["system_a"] == first else "log10_e_worse"] for row in measured])


def _multiply_up(logs: Sequence[float]) -> list[float]:
    return [float(multiply_e_values(np.array(logs[: look + 1]))) for look in range(len(logs))]
