"""One row a pair, the better system first. This module reads the numbers of a pair off the cube and says what they mean."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from pipeline.analysis.pairs import list_slices
from pipeline.inference.multiplicity import benjamini_hochberg, holm
from pipeline.report.cube_facts import FULL, count_of, read_method, read_variable, summed
from pipeline.report.values import plain

__all__ = ["FEW_DISCORDANT", "HISTOGRAM_HALF_WIDTH", "NO_MAX_T", "NULL", "list_pairs", "symmetric_half_widths"]

FEW_DISCORDANT = 20
HISTOGRAM_HALF_WIDTH = 12.0
NO_MAX_T = "max_t: not computed by this version; Holm controls the same error rate"
NULL = {
    "paired-bootstrap": "the expected scores of A and B are equal (two-sided) or A's is not higher (one-sided)",
    "approximate-randomization": "the outputs of A and B are exchangeable",
}


def symmetric_half_widths(histogram: NDArray[np.int64], level: float) -> NDArray[np.float64]:
    """Give the quantile of |δ* − δ| / se at ``level`` for each pair, from counts on ±12 se; NaN where it is off the grid.

    Parameters
    ----------
    histogram : (pair, bin) int64
        Counts of (δ* − δ) / se; what is beyond ±12 is in the end bins.
    """
    bins = histogram.shape[1]
    edges = np.linspace(-HISTOGRAM_HALF_WIDTH, HISTOGRAM_HALF_WIDTH, bins + 1)
    below = np.concatenate([np.zeros((len(histogram), 1)), np.cumsum(histogram, axis=1, dtype=np.float64)], axis=1)
    middle = (bins + 1) // 2
    # By symmetry edge k lies at minus edge (bins − k): the mass within them is the difference of two running sums.
    inside = below[:, middle:] - below[:, : bins + 1 - middle][:, ::-1]
    widths, total = edges[middle:], below[:, -1]
    if bins % 2 == 0:
        inside[:, 0] = 0.0
    else:
        widths, inside = np.concatenate([[0.0], widths]), np.concatenate([np.zeros((len(inside), 1)), inside], axis=1)
    result = np.full(len(histogram), np.nan)
    for row, (mass, all_of_it) in enumerate(zip(inside, total, strict=True)):
        if all_of_it > 0 and mass[-2] >= level * all_of_it:
            result[row] = np.interp(level * all_of_it, mass, widths)
    return result


def list_pairs(
    cube: xr.Dataset, test_set: str, *, alpha: float, unit: str, margins: Mapping[str, float] | None = None
) -> Iterator[dict[str, Any]]:
    """Give the rows of all pairs at the full size, by metric and procedure, the largest gain first."""
    for metric, procedure in list_slices(cube):
        margin = (margins or {}).get(metric)
        rows = _rows(cube, test_set, metric, procedure, alpha=alpha, unit=unit, margin=margin)
        yield from sorted(rows, key=lambda row: (-(row["delta"] or 0.0), row["system_a"], row["system_b"]))


def _rows(
    cube: xr.Dataset, test_set: str, metric: str, procedure: str, *, alpha: float, unit: str, margin: float | None
) -> Iterator[dict[str, Any]]:
    where = {"metric": metric, "test_size": FULL}
    full = where | {"procedure": procedure}
    delta = np.asarray(cube["observed_delta"].sel(where).values, dtype=np.float64)
    se = np.asarray(cube["se"].sel(where).values, dtype=np.float64)
    identical = np.asarray(cube["identical"].sel(where).values, dtype=np.bool_)
    p = {c: read_variable(cube, "p_value", **full, convention=c) for c in ("one-sided", "two-sided", "two-sided-plus-one")}
    plus_one = np.asarray(p["two-sided-plus-one"], dtype=np.float64)
    adjusted = {"holm": holm(plus_one), "benjamini_hochberg": benjamini_hochberg(plus_one)}
    units = int(cube["n_units"].sel(test_size=FULL).item())
    replicates = int(cube.attrs.get("replicates", 0)) or None
    counts, shift = count_of(cube, "above_twice_delta", **full), summed(cube, "sum_shift", **full)
    histogram = read_variable(cube, "histogram", **full)
    half = symmetric_half_widths(histogram, 1 - alpha) if histogram is not None else np.full(len(delta), np.nan)
    half = np.where(se > 0, half * se, np.nan)
    error = read_variable(cube, "p_error", **full, convention="one-sided")
    steady = [read_variable(cube, "stable", **full, convention=c) for c in ("one-sided", "two-sided")]
    discordant = read_variable(cube, "discordant", **where)
    method = read_method(cube, **full, convention="one-sided")
    margin_counts = [count_of(cube, f"margin_{side}", **full) for side in ("above", "below")] if margin else [None, None]
    effective = units if unit == "item" else cube.attrs.get("effective_units")
    scores = dict(zip(cube["system"].values.tolist(), cube["observed_score"].sel(where).values.tolist(), strict=True))
    names = list(zip(cube["system_a"].values.tolist(), cube["system_b"].values.tolist(), strict=True))
    for k, (first, second) in enumerate(names):
        a, b = (second, first) if delta[k] < 0 else (first, second)
        above, below = margin_counts
        p_margin = (
            max(int(above[k]), int(below[k])) / replicates if above is not None and below is not None and replicates else None
        )
        row = {
            "test_set": test_set,
            "metric": metric,
            "test_size": FULL,
            "procedure": procedure,
            "convention": "one-sided",
            "null": NULL.get(procedure, "as the procedure defines it"),
            "system_a": str(a),
            "system_b": str(b),
            "score_a": scores[a],
            "score_b": scores[b],
            "delta": abs(delta[k]),
            "se": se[k],
            "bias": shift[k] / replicates if shift is not None and replicates else None,
            "ties": units - int(discordant[k]) if discordant is not None else None,
            "discordant": int(discordant[k]) if discordant is not None else None,
            "units": units,
            "effective_units": effective,
            "count": int(counts[k]) if counts is not None else None,
            "replicates": replicates,
            "p_one_sided": _at(p["one-sided"], k),
            "p_two_sided": _at(p["two-sided"], k),
            "p_plus_one": plus_one[k],
            "p_adjusted": {"max_t": None, **{name: values[k] for name, values in adjusted.items()}, "reason": NO_MAX_T},
            "family_size": int(np.isfinite(plus_one).sum()),
            "interval": {"method": "symmetric", "level": 1 - alpha, "lo": abs(delta[k]) - half[k], "hi": abs(delta[k]) + half[k]}
            if np.isfinite(half[k])
            else None,
            "monte_carlo_error": _at(error, k),
            "stable": all(bool(s[k]) for s in steady if s is not None) if any(s is not None for s in steady) else None,
            "method": method[k],
            "identical": bool(identical[k]),
            "margin": margin,
            "p_equivalence": p_margin,
        }
        row = plain(row)
        holm_p = row["p_adjusted"]["holm"]
        row["separated"] = bool(not row["identical"] and row["delta"] and holm_p is not None and holm_p <= alpha)
        row["verdict"] = _verdict(row, alpha)
        row["note"] = _note(row)
        yield row


def _at(values: NDArray[Any] | None, k: int) -> Any:
    return None if values is None else values[k]


def _verdict(row: Mapping[str, Any], alpha: float) -> str:
    if row["identical"]:
        return "identical"
    if row["p_equivalence"] is not None and row["p_equivalence"] <= alpha:
        return "equivalent"
    if row["p_adjusted"]["holm"] is None:
        return "not measured"
    return "better" if row["separated"] else "not separated"


def _note(row: Mapping[str, Any]) -> str | None:
    notes = []
    if row["identical"]:
        notes.append("every unit statistic is equal: p = 1, no interval")
    elif row["delta"] == 0:
        notes.append("no order: the scores are equal")
    elif row["interval"] is None:
        notes.append("interval: the quantile is off the histogram's grid, or there is no histogram")
    if not row["identical"] and row["discordant"] is not None and row["discordant"] < FEW_DISCORDANT:
        notes.append(f"few discordant units (m = {row['discordant']} < {FEW_DISCORDANT}): an exact sign or McNemar test is safer")
    if row["stable"] is False:
        notes.append("the decision at α may change with other draws")
    if row["effective_units"] is None:
        notes.append("effective_units: the sizes of the clusters are not in the cube")
    if row["bias"] is not None and row["se"] and abs(row["bias"]) > 0.25 * row["se"]:
        notes.append("bias above a quarter of the standard error")
    if row["verdict"] == "equivalent" and row["separated"]:
        notes.append("differs, within the margin")
    return "; ".join(notes) or None
