"""Systems by score, with the ranks that the separated pairs allow. This module makes no test of its own."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import xarray as xr

from pipeline.analysis.pairs import has_value
from pipeline.report.cube_facts import FULL, metric_fact
from pipeline.report.values import plain

__all__ = ["COORDINATES", "list_ranks", "list_systems"]

COORDINATES = ("model", "group", "sample", "fraction", "replica")


def list_ranks(pairs: Iterable[Mapping[str, Any]], cube: xr.Dataset, *, metric: str, procedure: str) -> list[dict[str, Any]]:
    """Give systems from best to worst by the pairs of one family, each with its rank and the ranks that are not excluded.

    Systems with the same score share the better rank; one without a score has none, and stands last.

    The interval of a rank is [1 + systems separately better, S − systems separately worse], over the pairs that Holm separates:
    all S intervals hold together with probability 1 − α (Mogstad and others 2024, doi:10.1093/restud/rdad006).
    """
    better: dict[str, int] = {}
    worse: dict[str, int] = {}
    tied: set[frozenset[str]] = set()
    for row in pairs:
        if row["delta"] == 0:
            tied.add(frozenset((row["system_a"], row["system_b"])))
        if row["separated"]:
            worse[row["system_a"]] = worse.get(row["system_a"], 0) + 1
            better[row["system_b"]] = better.get(row["system_b"], 0) + 1
    values = cube["observed_score"].sel(metric=metric, test_size=FULL).values.tolist()
    scores = {str(name): plain(value) for name, value in zip(cube["system"].values.tolist(), values, strict=True)}
    sign = -1.0 if metric_fact(cube, "higher_is_better", metric) is not False else 1.0
    order = sorted(scores, key=lambda name: (scores[name] is None, sign * (scores[name] or 0.0), name))
    ranked = [name for name in order if scores[name] is not None]
    ranks: dict[str, int] = {}
    for position, name in enumerate(ranked, start=1):
        before = ranked[position - 2] if position > 1 else name
        ranks[name] = ranks[before] if frozenset((before, name)) in tied else position
    return [
        {
            "metric": metric,
            "procedure": procedure,
            "rank": ranks.get(name),
            "name": name,
            "score": scores[name],
            "rank_low": 1 + better.get(name, 0) if name in ranks else None,
            "rank_high": len(ranked) - worse.get(name, 0) if name in ranks else None,
            "beats": worse.get(name, 0),
            "beaten_by": better.get(name, 0),
        }
        for name in order
    ]


def list_systems(cube: xr.Dataset, test_set: str) -> list[dict[str, Any]]:
    """Give a row a system: what is known of it and its scores by metric."""
    known = {name: cube[name].values.tolist() for name in COORDINATES if name in cube.variables and cube[name].dims == ("system",)}
    metrics = [str(metric) for metric in cube["metric"].values.tolist()]
    scores = {metric: cube["observed_score"].sel(metric=metric, test_size=FULL).values.tolist() for metric in metrics}
    rows = []
    for position, name in enumerate(cube["system"].values.tolist()):
        facts = {key: values[position] if has_value(values[position]) else None for key, values in known.items()}
        row = {"test_set": test_set, "name": str(name), "model": None, "group": None, **facts}
        rows.append(plain({**row, "scores": {metric: values[position] for metric, values in scores.items()}}))
    return rows
