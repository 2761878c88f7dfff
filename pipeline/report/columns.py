"""Everything a cube and its counts say of pairs, the better system first. This module reads it as lists of plain values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from pipeline.inference.few_units import sign_flip_floor
from pipeline.inference.multiplicity import holm
from pipeline.inference.readings import READINGS
from pipeline.inference.stability import decide
from pipeline.report.adjustment import Adjusted, FamilyOf, adjust
from pipeline.report.cube_facts import count_of, read_method, read_variable, summed
from pipeline.report.intervals import choose_intervals, half_widths, read_intervals
from pipeline.report.values import plain
from pipeline.study.procedures import PROCEDURES

__all__ = ["read_columns"]

ALL_PAIRS = FamilyOf()
EXACT = "exact-sign-flip"

BELONGING = ("one-sided", "two-sided", "below-zero")
"""Conventions whose p an interval may belong to."""

TWO_SIDED = ("above_twice_delta", "at_twice_delta", "below_zero", "at_zero")
"""Counts whose sum is #(|δ* − δ| ≥ δ), after swaps #(|δ°| ≥ δ)."""


def read_columns(
    cube: xr.Dataset,
    *,
    metric: str,
    test_size: str,
    procedure: str,
    alpha: float,
    margin: bool,
    family: FamilyOf = ALL_PAIRS,
    intervals: Sequence[str] = (),
) -> dict[str, list[Any]]:
    """Give what is known of all pairs of one metric and procedure, a list by name; None where it is not known.

    ``family`` says which of them are tested together, ``intervals`` which method's is wanted: the first that the cube has.
    """
    where = {"metric": metric, "test_size": test_size}
    full = where | {"procedure": procedure}
    delta, se = (np.asarray(read_variable(cube, name, **where), dtype=np.float64) for name in ("observed_delta", "se"))
    identical = np.asarray(read_variable(cube, "identical", **where), dtype=np.bool_)
    reading = READINGS[procedure]
    p = {name: _floats(cube, "p_value", len(delta), convention=name, **full) for name in (*BELONGING, reading.verdict)}
    verdict_p = p[reading.verdict]
    error = _floats(cube, "p_error", len(delta), convention=reading.verdict, **full)
    total = float(cube.attrs["replicates"]) if PROCEDURES[procedure].draws else -1.0
    empty = count_of(cube, "empty", **full)
    replicates = np.full(len(delta), total) - (0 if empty is None else np.maximum(empty, 0))
    discordant = read_variable(cube, "discordant", **where)
    # A count that was not written says nothing against the pair.
    floor = np.where(discordant >= 0, sign_flip_floor(discordant), 0.0) if discordant is not None else np.zeros(len(delta))
    adjusted = adjust(cube, verdict_p, floor, family, alpha=alpha, **full)
    equivalence, hits = _equivalence(cube, replicates, identical, **full) if margin else (np.full(len(delta), np.nan), None)
    equivalence = np.where(adjusted.member, equivalence, np.nan)
    shift = summed(cube, "sum_shift", **full) if reading.bias else None
    histogram = read_variable(cube, "histogram", **full) if reading.interval else None
    gain, ordered = np.abs(delta), delta != 0
    nothing = np.full(len(delta), np.nan)
    scores = dict(zip(cube["system"].values.tolist(), cube["observed_score"].sel(where).values.tolist(), strict=True))
    better, worse = _ordered(cube, delta)
    blocked = adjusted.beyond | (floor > alpha) | ~np.isfinite(se)
    numbers = {
        "score_a": [scores[name] for name in better],
        "score_b": [scores[name] for name in worse],
        "delta": gain,
        "se": se,
        "bias": np.where(ordered, _divide(shift, replicates), np.nan) if shift is not None else nothing,
        "p_one_sided": p["one-sided"],
        "p_two_sided": p["two-sided"],
        "p_plus_one": verdict_p,
        "p_exact": _exact(cube, len(delta), **where) if reading.needs_units else nothing,
        "max_t": adjusted.max_t,
        "holm": adjusted.holm,
        "benjamini_hochberg": adjusted.benjamini_hochberg,
        "monte_carlo_error": error,
        "monte_carlo_error_one_sided": _floats(cube, "p_error", len(delta), convention="one-sided", **full),
        "p_equivalence": equivalence,
        "p_equivalence_holm": holm(equivalence),
        "sign_flip_floor": np.where(floor > 0, floor, np.nan),
    }
    counts = {
        "count": _hide(count_of(cube, "above_twice_delta", **full), ~ordered),
        "discordant": discordant,
        "replicates": replicates,
        "empty_replicates": empty,
    }
    methods = read_method(cube, **full, convention=reading.verdict)
    defined = np.isfinite(verdict_p) & (identical | ~ordered)
    half = half_widths(histogram, 1 - alpha, se=se, gain=gain, p=verdict_p) if histogram is not None else nothing
    several = read_intervals(cube, delta, alpha=alpha, **full)
    return {
        "system_a": better,
        "system_b": worse,
        **{name: plain(np.asarray(values, dtype=np.float64)) for name, values in numbers.items()},
        **{name: _whole(values, len(delta)) for name, values in counts.items()},
        "stable": (
            _stable(cube, verdict_p, replicates, blocked, adjusted, equivalence, hits, alpha, **full)
            if PROCEDURES[procedure].draws
            else _surely(np.where(adjusted.member, verdict_p, np.nan), error, blocked, alpha)
        ),
        "method": ["definition" if known else method for known, method in zip(defined.tolist(), methods, strict=True)],
        "identical": identical.tolist(),
        "in_family": adjusted.member.tolist(),
        "basis": [adjusted.basis] * len(delta),
        "beyond_reach": adjusted.beyond.tolist(),
        "interval": choose_intervals(several, gain, half, p, wanted=intervals, alpha=alpha),
        "intervals": several,
    }


def _stable(
    cube: xr.Dataset,
    p: NDArray[np.float64],
    replicates: NDArray[np.float64],
    blocked: NDArray[np.bool_],
    adjusted: Adjusted,
    equivalence: NDArray[np.float64],
    equivalence_hits: NDArray[np.int64] | None,
    alpha: float,
    **where: str,
) -> list[bool | None]:
    """Say whether other draws would leave each verdict as it is; None where there is no p or no count.

    A verdict asks first for equivalence, after Holm, then for a difference, by the family's adjustment; at the report's own α.
    """
    there = adjusted.member & np.isfinite(p)
    found = [count_of(cube, name, **where) for name in TWO_SIDED]
    counts = [count for count in found if count is not None]
    by_max_t = adjusted.basis == "max_t"
    if len(counts) < len(TWO_SIDED) or (by_max_t and not adjusted.bounded):
        return [None] * len(p)
    trials = np.asarray(replicates, dtype=np.int64)
    hits = np.stack([np.maximum(count, 0) for count in counts]).sum(axis=0)
    if by_max_t:
        holds = (adjusted.surely == adjusted.possibly) | blocked
    else:
        holds = decide(hits, trials, p=np.where(there, p, np.nan), alpha=alpha).stable | blocked
    if equivalence_hits is not None:
        other = decide(equivalence_hits, trials, p=equivalence, alpha=alpha)
        holds = other.surely | (~other.possibly & holds)
    return [bool(value) if known else None for value, known in zip(holds, there, strict=True)]


def _surely(p: NDArray[np.float64], error: NDArray[np.float64], blocked: NDArray[np.bool_], alpha: float) -> list[bool | None]:
    """Say whether p-values that are known within an error give the same verdicts at both of its ends; None without p."""
    ends = [holm(np.clip(p + side * np.nan_to_num(error), 0.0, 1.0)) <= alpha for side in (-1.0, 1.0)]
    return [bool(sure) if there else None for sure, there in zip((ends[0] == ends[1]) | blocked, np.isfinite(p), strict=True)]


def _exact(cube: xr.Dataset, pairs: int, **where: str) -> NDArray[np.float64]:
    """Give the exact sign-flip p, of all pairs if it was asked for, else of those with few discordant units."""
    if EXACT in cube["procedure"].values.tolist():
        return _floats(cube, "p_value", pairs, procedure=EXACT, convention=READINGS[EXACT].verdict, **where)
    return _floats(cube, "p_sign_flip", pairs, **where)


def _equivalence(
    cube: xr.Dataset, replicates: NDArray[np.float64], identical: NDArray[np.bool_], **where: str
) -> tuple[NDArray[np.float64], NDArray[np.int64] | None]:
    """Give (s + 1)/(b + 1) with s = max(#(δ* ≥ 2δ + margin), #(δ* ≤ 2δ − margin)), and s; NaN where nothing was counted."""
    above, below = (count_of(cube, f"margin_{side}", **where) for side in ("above", "below"))
    if above is None or below is None:
        return np.full(len(replicates), np.nan), None
    hits = np.maximum(above, below)
    known = (np.minimum(above, below) >= 0) & (replicates > 0) & ~identical
    return np.where(known, (hits + 1) / (replicates + 1), np.nan), np.maximum(hits, 0)


def _floats(cube: xr.Dataset, name: str, pairs: int, **where: str) -> NDArray[np.float64]:
    values = read_variable(cube, name, **where)
    return np.full(pairs, np.nan) if values is None else np.asarray(values, dtype=np.float64)


def _ordered(cube: xr.Dataset, delta: NDArray[np.float64]) -> tuple[list[str], list[str]]:
    names = list(zip(cube["system_a"].values.tolist(), cube["system_b"].values.tolist(), strict=True))
    turned = [(b, a) if gain < 0 else (a, b) for (a, b), gain in zip(names, delta, strict=True)]
    return [str(a) for a, _ in turned], [str(b) for _, b in turned]


def _hide(values: NDArray[np.int64] | None, hidden: NDArray[np.bool_]) -> NDArray[np.int64] | None:
    return None if values is None else np.where(hidden, -1, values)


def _whole(values: NDArray[Any] | None, pairs: int) -> list[int | None]:
    """Give counts as integers; below 0 means that nothing was written."""
    return [None] * pairs if values is None else [int(value) if value >= 0 else None for value in values.tolist()]


def _divide(values: NDArray[Any], by: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(np.divide(values, by, out=np.full(len(by), np.nan), where=by > 0), dtype=np.float64)
