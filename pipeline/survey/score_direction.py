"""Which way a score is better. This module tells where a study takes it the other way than the files of the outputs say."""

from __future__ import annotations

from collections.abc import Sequence

from pipeline.interfaces import usual_column
from pipeline.items.frame import Output
from pipeline.plan.inputs import MetricInputs

__all__ = ["tell_directions"]


def tell_directions(metrics: Sequence[MetricInputs], outputs: Sequence[Output]) -> tuple[str, ...]:
    """Give a sentence for each mean that is taken the other way than the outputs that say so; ratios and counts say nothing."""
    told = []
    for metric in metrics:
        if metric.options.get("metric", metric.name) != "mean":
            continue
        other_way = not metric.higher_is_better
        taken = {output.system: metric.options.get("column") or usual_column(output.columns) for output in outputs}
        others = [output.system for output in outputs if output.directions.get(taken[output.system]) is other_way]
        if others:
            column = taken[others[0]]
            more, less = ("more", "less") if metric.higher_is_better else ("less", "more")
            many = len(others) > 1
            who = f"the files of '{others[0]}' and {len(others) - 1} more say" if many else f"the file of '{others[0]}' says"
            told.append(
                f"{who} that {less} of '{column}' is better, and {metric.name} takes {more}: set "
                f"`higher_is_better: {str(other_way).lower()}` of the metric"
            )
    return tuple(told)
