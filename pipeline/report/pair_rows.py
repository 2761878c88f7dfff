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
    columns = _columns(cube, metric, procedure, level=1 - alpha, margin=margin is not None)
    units = int(cube["n_units"].sel(test_size=FULL).item())
    family = sum(value is not None for value in columns["p_plus_one"])
    for cells in zip(*columns.values(), strict=True):
        of = dict(zip(columns, cells, strict=True))
        row: dict[str, Any] = {
            "test_set": test_set,
            "metric": metric,
            "test_size": FULL,
            "procedure": procedure,
            "convention": "one-sided",
            "null": NULL.get(procedure, "as the procedure defines it"),
            **{name: of[name] for name in ("system_a", "system_b", "score_a", "score_b", "delta", "se", "bias")},
            "ties": None if of["discordant"] is None else units - of["discordant"],
            "discordant": of["discordant"],
            "units": units,
            "effective_units": units if unit == "item" else plain(cube.attrs.get("effective_units")),
            **{name: of[name] for name in ("count", "replicates", "p_one_sided", "p_two_sided", "p_plus_one")},
            "p_adjusted": {
                "max_t": None,
                "holm": of["holm"],
                "benjamini_hochberg": of["benjamini_hochberg"],
                "reason": NO_MAX_T,
            },
            "family_size": family,
            "interval": _interval(of["delta"], of["half_width"], 1 - alpha),
            **{name: of[name] for name in ("monte_carlo_error", "stable", "method", "identical")},
            "margin": margin,
            "p_equivalence": of["p_equivalence"],
        }
        holm_p = row["p_adjusted"]["holm"]
        row["separated"] = bool(not row["identical"] and row["delta"] and holm_p is not None and holm_p <= alpha)
        row["verdict"] = _verdict(row, alpha)
        row["note"] = _note(row)
        yield row


def _columns(cube: xr.Dataset, metric: str, procedure: str, *, level: float, margin: bool) -> dict[str, list[Any]]:
    """Read everything a pair has, a list of plain values each; None where it is not known."""
    where = {"metric": metric, "test_size": FULL}
    full = where | {"procedure": procedure}
    delta, se = (np.asarray(read_variable(cube, name, **where), dtype=np.float64) for name in ("observed_delta", "se"))
    p = {name: _p_value(cube, convention=name, **full) for name in ("one-sided", "two-sided", "two-sided-plus-one")}
    nothing = np.full(len(delta), np.nan)
    empty = count_of(cube, "empty", **full)
    replicates = np.full(len(delta), float(cube.attrs["replicates"])) - (0 if empty is None else np.maximum(empty, 0))
    histogram = read_variable(cube, "histogram", **full)
    half = symmetric_half_widths(histogram, level) if histogram is not None else nothing
    shift, error = summed(cube, "sum_shift", **full), read_variable(cube, "p_error", **full, convention="one-sided")
    scores = dict(zip(cube["system"].values.tolist(), cube["observed_score"].sel(where).values.tolist(), strict=True))
    better, worse = _ordered(cube, delta)
    numbers = {
        "score_a": [scores[name] for name in better],
        "score_b": [scores[name] for name in worse],
        "delta": np.abs(delta),
        "se": se,
        "bias": _divide(shift, replicates) if shift is not None else nothing,
        "p_one_sided": p["one-sided"],
        "p_two_sided": p["two-sided"],
        "p_plus_one": p["two-sided-plus-one"],
        "holm": holm(p["two-sided-plus-one"]),
        "benjamini_hochberg": benjamini_hochberg(p["two-sided-plus-one"]),
        "half_width": np.where(se > 0, half * se, np.nan),
        "monte_carlo_error": error if error is not None else nothing,
        "p_equivalence": _p_equivalence(cube, replicates, **full) if margin else nothing,
    }
    counts = {
        "count": count_of(cube, "above_twice_delta", **full),
        "discordant": read_variable(cube, "discordant", **where),
        "replicates": replicates,
    }
    return {
        "system_a": better,
        "system_b": worse,
        **{name: plain(np.asarray(values, dtype=np.float64)) for name, values in numbers.items()},
        **{name: _whole(values, len(delta)) for name, values in counts.items()},
        "stable": _stable(cube, p, **full),
        "method": read_method(cube, **full, convention="one-sided"),
        "identical": plain(read_variable(cube, "identical", **where)),
    }


def _p_value(cube: xr.Dataset, **where: str) -> NDArray[np.float64]:
    return np.asarray(read_variable(cube, "p_value", **where), dtype=np.float64)


def _ordered(cube: xr.Dataset, delta: NDArray[np.float64]) -> tuple[list[str], list[str]]:
    names = list(zip(cube["system_a"].values.tolist(), cube["system_b"].values.tolist(), strict=True))
    turned = [(b, a) if gain < 0 else (a, b) for (a, b), gain in zip(names, delta, strict=True)]
    return [str(a) for a, _ in turned], [str(b) for _, b in turned]


def _whole(values: NDArray[Any] | None, pairs: int) -> list[int | None]:
    """Give counts as integers; below 0 means that nothing was written."""
    return [None] * pairs if values is None else [int(value) if value >= 0 else None for value in values.tolist()]


def _divide(values: NDArray[Any], by: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(np.divide(values, by, out=np.full(len(by), np.nan), where=by > 0), dtype=np.float64)


def _p_equivalence(cube: xr.Dataset, replicates: NDArray[np.float64], **where: str) -> NDArray[np.float64]:
    """Give max(#(δ* ≥ 2δ + margin), #(δ* ≤ 2δ − margin)) / b; NaN where the counts were not taken."""
    above, below = (count_of(cube, f"margin_{side}", **where) for side in ("above", "below"))
    if above is None or below is None:
        return np.full(len(replicates), np.nan)
    return np.where(np.minimum(above, below) >= 0, _divide(np.maximum(above, below), replicates), np.nan)


def _stable(cube: xr.Dataset, p: Mapping[str, NDArray[np.float64]], **where: str) -> list[bool | None]:
    """Say whether both decisions, one-sided and two-sided, would hold with other draws; a p that is absent decides nothing."""
    steady = [read_variable(cube, "stable", **where, convention=side) for side in ("one-sided", "two-sided")]
    if steady[0] is None or steady[1] is None:
        return [None] * cube.sizes["pair"]
    holds = [
        np.asarray(s, dtype=np.bool_) | ~np.isfinite(p[side]) for s, side in zip(steady, ("one-sided", "two-sided"), strict=True)
    ]
    measured = np.isfinite(p["two-sided"])
    return [bool(a and b) if there else None for a, b, there in zip(*holds, measured, strict=True)]


def _interval(delta: float | None, half: float | None, level: float) -> dict[str, Any] | None:
    if delta is None or half is None:
        return None
    return {"method": "symmetric", "level": level, "lo": delta - half, "hi": delta + half}


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
    if row["p_two_sided"] is None:
        return "there is no p-value: nothing was written for this pair, or its score is undefined in every replicate"
    if row["identical"]:
        notes.append("identical: every unit statistic is equal, p = 1, no interval")
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
