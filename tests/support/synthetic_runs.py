"""Runs of models, as the part of a cube that the analyses of runs read, and the statistics beside it."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from pipeline.interfaces import ScoredStatistics

__all__ = ["build", "mean"]

CONVENTIONS = ("two-sided", "two-sided-plus-one", "one-sided")


def mean(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    return sums[0] / sums[1]


def build(
    models: dict[str, NDArray[np.int64]], p: dict[frozenset[str], float] | None = None, *, seed: int = 5
) -> tuple[dict[str, xr.Dataset], dict[str, dict[str, ScoredStatistics]]]:
    """Return the part of a cube that is read of (run, unit) values, with p of pairs of systems: 1 where nothing is said."""
    systems = [f"{model}-{run}" for model, values in models.items() for run in range(len(values))]
    values = np.concatenate(list(models.values()))
    statistics = np.stack([values, np.ones_like(values)], axis=2)
    pairs = list(combinations(systems, 2))
    held = np.array([(p or {}).get(frozenset(pair), 1.0) for pair in pairs])
    place = {name: number for number, name in enumerate(systems)}
    discordant = np.array([(values[place[a]] != values[place[b]]).sum() for a, b in pairs])
    cube = xr.Dataset(
        {
            "observed_score": (("metric", "test_size", "system"), mean(statistics.sum(axis=1).T)[None, None]),
            "discordant": (("metric", "test_size", "pair"), discordant[None, None]),
            "p_value": (
                ("procedure", "convention", "metric", "test_size", "pair"),
                np.broadcast_to(held, (1, len(CONVENTIONS), 1, 1, len(pairs))) * np.array([1.0, 1.0, np.nan])[:, None, None, None],
            ),
        },
        coords={
            "metric": ["m"],
            "test_size": ["full"],
            "system": systems,
            "procedure": ["paired-bootstrap"],
            "convention": list(CONVENTIONS),
            "model": ("system", [name.split("-")[0] for name in systems]),
            "replica": ("system", [name.split("-")[1] for name in systems]),
            "system_a": ("pair", [a for a, _ in pairs]),
            "system_b": ("pair", [b for _, b in pairs]),
        },
        attrs={"seed": seed, "unit": "item"},
    )
    data = xr.Dataset({"statistics": (("system", "item", "statistic"), statistics)}, coords={"system": systems})
    return {"news": cube}, {"news": {"m": ScoredStatistics(data, mean, "ratio", True)}}
