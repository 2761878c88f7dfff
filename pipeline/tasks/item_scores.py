"""Read the scores of single items, for the page that compares any two systems."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Literal

import numpy as np

from pipeline.analyses.pairs import find_copies
from pipeline.inference.unit_diagnostics.item_effects import effects_of_items, scores_of_items
from pipeline.interfaces import ScoredStatistics
from pipeline.interfaces.analyses import FULL
from pipeline.report.item_scores import MOST_BYTES, ItemScores

__all__ = ["read_item_scores"]

_PACKED = 4 / 3
"""Characters a byte."""


def read_item_scores(cubes: Mapping[str, Any], statistics: Mapping[str, Mapping[str, ScoredStatistics]]) -> Iterator[ItemScores]:
    """Yield the item scores of the best systems by test set and metric, for as many systems as a page has room for.

    Parameters
    ----------
    cubes : mapping of str to Dataset
        By test set.
    statistics : mapping of str to mapping of str to ScoredStatistics
        By test set and metric.
    """
    places = [(test_set, metric) for test_set, of_metric in statistics.items() for metric in of_metric]
    for test_set, metric in places:
        found = _read(test_set, metric, cubes[test_set], statistics[test_set][metric], MOST_BYTES // len(places))
        if found is not None:
            yield found


def _read(test_set: str, metric: str, cube: Any, scored: ScoredStatistics, most_bytes: int) -> ItemScores | None:
    data = scored.data
    place = {str(name): position for position, name in enumerate(data["system"].values.tolist())}
    ranked = _rank(metric, cube, scored, place)
    if len(ranked) < 2:
        return None
    items = [str(name) for name in data["item"].values.tolist()] if "item" in data.coords else None
    count = data.sizes["item"]
    room = most_bytes - (0 if items is None else sum(len(name.encode()) + 3 for name in items))
    first = data["statistics"][place[ranked[0]]].values
    scores = scores_of_items(first, scored.score) if scored.form == "ratio" else None
    size = 1 if scores is not None and len(np.unique(scores)) < 16 else 2
    most = int(room / (count * size * _PACKED))
    if most < 2:
        return None
    values, denominators = [], set()
    for name in ranked[:most]:
        own = data["statistics"][place[name]].values.astype(np.int64, copy=False)
        denominators.add(int(own[0, -1]))
        scores = scores_of_items(own, scored.score) if scored.form == "ratio" else None
        values.append((scores, effects_of_items(own, scored.score)))
    means = len(denominators) == 1 and all(scores is not None for scores, _ in values)
    table = np.array([scores if means else effects for scores, effects in values], np.float64)
    kind: Literal["scores", "effects"] = "scores" if means else "effects"
    return ItemScores(test_set, metric, kind, ranked[:most], max(0, len(ranked) - most), items, table, scored.higher_is_better)


def _rank(metric: str, cube: Any, scored: ScoredStatistics, there: Mapping[str, int]) -> list[str]:
    """Return the systems with a score, the best first, without copies of others."""
    at = {"metric": metric, "test_size": FULL}
    names = [str(name) for name in cube["system"].values.tolist()]
    score = dict(zip(names, cube["observed_score"].sel(at).values.tolist(), strict=True))
    sign = -1.0 if scored.higher_is_better else 1.0
    copies = find_copies(cube, metric)
    known = (name for name in names if name in there and np.isfinite(score[name]) and name not in copies)
    return sorted(known, key=lambda name: (sign * score[name], name))
