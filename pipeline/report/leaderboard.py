"""Systems by score, with the ranks and letters that the separated pairs allow. This module makes no test of its own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import xarray as xr

from pipeline.analyses.pairs import has_value
from pipeline.inference.ranks import rank_intervals
from pipeline.report.adjustment import FamilyOf
from pipeline.report.cube_facts import FULL, metric_fact
from pipeline.report.rank_groups import letters_of, list_clusters, relate
from pipeline.report.values import plain

__all__ = ["COORDINATES", "Standing", "list_systems", "stand"]

COORDINATES = ("model", "group", "sample", "fraction", "replica")


class Standing(NamedTuple):
    """Where the systems of one family stand: rows of ``leaderboard`` and of ``clusters``."""

    board: list[dict[str, Any]]
    clusters: list[dict[str, Any]]


def stand(pairs: Sequence[Mapping[str, Any]], cube: xr.Dataset, *, metric: str, family: FamilyOf, alpha: float) -> Standing:
    """Return systems from best to worst by the pairs of one family, each with its rank and the ranks that are not excluded.

    Systems with the same score share the better rank; one without a score has none, and stands last. Against a baseline there are
    no ranks and no groups: nothing is said of two other systems.
    """
    values = cube["observed_score"].sel(metric=metric, test_size=FULL).values.tolist()
    names = [str(name) for name in cube["system"].values.tolist()]
    scores = {name: plain(value) for name, value in zip(names, values, strict=True)}
    sign = -1.0 if metric_fact(cube, "higher_is_better", metric) is not False else 1.0
    order = sorted(names, key=lambda name: (scores[name] is None, sign * (scores[name] or 0.0), name))
    if family.baseline is not None:
        return Standing(_against(pairs, order, scores, family.baseline), [])
    found = relate(pairs, names, scores, alpha=alpha)
    ranks, beats, beaten = rank_intervals(found), found.beats.sum(axis=1).tolist(), found.beats.sum(axis=0).tolist()
    clusters = list(list_clusters(found, names))
    letters, place = letters_of(clusters), {name: position for position, name in enumerate(names)}
    rank, low, high = ([value or None for value in side.tolist()] for side in (ranks.rank, ranks.low, ranks.high))
    board = []
    for name in order:
        own = place[name]
        row = {"rank": rank[own], "name": name, "score": scores[name], "rank_low": low[own], "rank_high": high[own]}
        board.append({**row, "beats": beats[own], "beaten_by": beaten[own], "letters": letters.get(name), "against_baseline": None})
    return Standing(board, clusters)


def _against(
    pairs: Sequence[Mapping[str, Any]], order: Sequence[str], scores: Mapping[str, float | None], baseline: str
) -> list[dict[str, Any]]:
    """Return systems with their verdict against the baseline, seen from them: better, worse, or what else it is."""
    members = [row for row in pairs if row["in_family"]]
    better = Counter(row["system_a"] for row in members if row["separated"])
    worse = Counter(row["system_b"] for row in members if row["separated"])
    verdicts = {name: row["verdict"] for row in members for name in (row["system_a"], row["system_b"])}
    board = []
    for name in order:
        verdict = verdicts.get(name) if name != baseline else None
        row = {"rank": None, "name": name, "score": scores[name], "rank_low": None, "rank_high": None}
        row |= {"beats": better[name], "beaten_by": worse[name]}
        board.append({**row, "letters": None, "against_baseline": "worse" if verdict == "better" and name in worse else verdict})
    return board


def list_systems(cube: xr.Dataset, test_set: str) -> list[dict[str, Any]]:
    """Return a row a system: what is known of it and its scores by metric."""
    known = {name: cube[name].values.tolist() for name in COORDINATES if name in cube.variables and cube[name].dims == ("system",)}
    metrics = [str(metric) for metric in cube["metric"].values.tolist()]
    scores = {metric: cube["observed_score"].sel(metric=metric, test_size=FULL).values.tolist() for metric in metrics}
    rows = []
    for position, name in enumerate(cube["system"].values.tolist()):
        facts = {key: values[position] if has_value(values[position]) else None for key, values in known.items()}
        row = {"test_set": test_set, "name": str(name), "model": None, "group": None, **facts}
        rows.append(plain({**row, "scores": {metric: values[position] for metric, values in scores.items()}}))
    return rows
