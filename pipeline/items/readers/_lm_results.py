"""Aggregates of the lm-evaluation-harness. This module finds the results beside a file of samples, and what they say of means."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from pipeline.errors import DataError
from pipeline.items.readers._json import number_text, read_json
from pipeline.items.readers._scored import is_mean_of

__all__ = ["PublishedMeans", "read_published"]

_SAMPLES = re.compile(r"samples_(?P<task>.+)_(?P<date>[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9-]+(?:\.[0-9]+)?)\.jsonl(?:\.[a-z0-9]+)?")
_MEANS = frozenset({"mean", "nanmean"})
_NO_MEANS = frozenset({"perplexity"})
"""Metrics that are numbers of items, and whose aggregate is no mean although a task does not say so."""


class PublishedMeans(NamedTuple):
    """What a file of results says.

    Parameters
    ----------
    means : mapping of str to float
    directions : mapping of str to bool
        Whether more is better, of the metrics whose mean over the items is what is published: what is said of an aggregate that
        is none need not hold of the numbers of items. Less of a perplexity is better, of which items have log-likelihoods.
    told : tuple of str
        What is odd.
    """

    means: Mapping[str, float]
    directions: Mapping[str, bool]
    told: tuple[str, ...]


def read_published(samples: Path, filter_: str | None, metrics: Mapping[str, Sequence[str]]) -> PublishedMeans:
    """Return what the file of results of the same run says of metrics, where it is their mean.

    Parameters
    ----------
    samples : Path
        ``samples_<task>_<date>.jsonl``; a file of another name belongs to no results.
    filter_ : str or None
        The filter of the answers.
    metrics : mapping of str to sequence of str
        The numbers of the items by metric.
    """
    named = _SAMPLES.fullmatch(samples.name)
    results = samples.with_name(f"results_{named['date']}.json") if named else None
    if named is None or results is None or not results.is_file():
        return PublishedMeans({}, {}, ())
    try:
        found, _ = read_json(results)
    except DataError as exc:
        problem = exc.problems[0]
        told = f"{problem.where or results}: {problem.message}; what it says of '{named['task']}' is not shown"
        return PublishedMeans({}, {}, (told,))
    said = _task(found, "results", named["task"])
    listed = _task(found, "configs", named["task"]).get("metric_list")
    how = {
        str(entry.get("metric")): str(entry["aggregation"])
        for entry in (listed if isinstance(listed, list) else [])
        if isinstance(entry, Mapping) and "aggregation" in entry
    }
    better = _task(found, "higher_is_better", named["task"])
    published: dict[str, float] = {}
    directions: dict[str, bool] = {}
    for metric, values in metrics.items():
        value = said.get(f"{metric},{filter_}" if filter_ is not None else metric, said.get(metric))
        means = how[metric] in _MEANS if metric in how else metric not in _NO_MEANS
        said_mean = float(number_text(value) or "nan") if means else math.nan
        if math.isfinite(said_mean):
            published[metric] = said_mean
            if isinstance(better.get(metric), bool) and is_mean_of(said_mean, values):
                directions[metric] = better[metric]
    return PublishedMeans(published, directions, ())


def _task(found: Any, part: str, task: str) -> Mapping[str, Any]:
    """Return what a part of the results says of a task, whose name may have lost characters in that of a file."""
    said = found.get(part) if isinstance(found, Mapping) else None
    if not isinstance(said, Mapping):
        return {}
    name = task if task in said else next((key for key in said if re.sub(r"\W", "_", key) == task), None)
    value = said.get(name)
    return value if isinstance(value, Mapping) else {}
