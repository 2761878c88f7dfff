"""Statistics of items for the analyses that ask for them. This module pairs what a cube holds with the metric that scores it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from pipeline.cubes.reading import open_statistics
from pipeline.interfaces import ScoredStatistics
from pipeline.metrics.registry import load_metric
from pipeline.plan.inputs import MetricInputs
from pipeline.study.schema import MetricSpec

__all__ = ["scored_statistics"]


def scored_statistics(
    cubes: Path, test_sets: Iterable[str], metrics: Sequence[MetricSpec | MetricInputs]
) -> dict[str, dict[str, ScoredStatistics]]:
    """Give the statistics of items by test set and metric; they are read when they are used.

    Analyses may not import metrics: what a metric knows of its sums is handed to them here.

    Parameters
    ----------
    cubes : Path
        The run's ``cubes.zarr``.
    test_sets : iterable of str
        Those that were collected.
    metrics : sequence of MetricSpec or MetricInputs
        Those of the study, or of its survey, which knows where one of the user's own is.
    """
    found: dict[str, dict[str, ScoredStatistics]] = {}
    for test_set in test_sets:
        stored = open_statistics(cubes, test_set)
        of_metric = found[test_set] = {}
        for spec in metrics:
            if spec.name in stored:
                data, metric = stored[spec.name], load_metric(spec.name, spec.options)
                score = metric.scorer(tuple(int(places) for places in data["decimals"].values.tolist()))
                of_metric[spec.name] = ScoredStatistics(data, score, metric.form, metric.higher_is_better)
    return found
