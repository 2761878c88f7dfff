"""Metrics for those who write no study. This module says what `compare` takes where none is named, and what a name stands for."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from pipeline.errors import DataError, PipelineError, UsageError
from pipeline.items.readers import is_number, load_reader
from pipeline.metrics.registry import is_metric
from pipeline.tasks.formats import FormatInUse

__all__ = ["UsualMetrics", "place_metric", "usual_metrics"]

_DOUBTFUL = frozenset({
    "bpb", "brier", "cer", "cost", "costs", "diff", "ece", "entropy", "error", "errors", "latency", "likelihood", "logprob", "loss",
    "mae", "mse", "nll", "pct", "perplexity", "ppl", "rmse", "seconds", "ter", "time", "tokens", "toxicity", "wer",
})  # fmt: skip
"""Words in the names of scores that are better when they are lower, no means of items as they are logged, or no scores."""

_OF_SCORES = {"mean", "ratio", "win-rate"}
"""Metrics that are made of scores; any other needs a gold, which scores do not have."""


class UsualMetrics(NamedTuple):
    """What is compared where no metric is named, and what is told of it."""

    metrics: list[str | dict[str, Any]]
    told: str = ""


def usual_metrics(found: FormatInUse, outputs: Mapping[str, str], *, base: Path) -> UsualMetrics:
    """Give what is usual for the format, or each score that a harness logged.

    Some log ``acc`` beside ``acc_norm``; either is the mean of a column, called by its name. A harness may also log a likelihood
    as ``perplexity``, or a difference of which less is better: where no file says which way it is, a name that leaves this open
    is left out, and told.

    Raises
    ------
    UsageError
        P010 where no metric is usual for the format, P016 where the names of all scores leave open which direction is better.
    """
    if found.metric is None:
        form = found.value if isinstance(found.value, str) else found.value["name"]
        message = f"no metric is usual for the format {form!r}, and none is given"
        raise UsageError.of("P010", message, help="name one with -m; `pipeline metrics` lists them")
    if not getattr(load_reader(found.value), "named_scores", False):
        return UsualMetrics([found.metric])
    columns = [_columns(found, base / path, system) for system, path in outputs.items()]
    common = [name for name in columns[0] if all(name in others for others in columns)]
    better = {name: _direction(name, columns) for name in common}
    clear = [name for name in common if better[name] is not None]
    if common and not clear:
        raise _open_direction(common[0])
    if len(common) < 2 and all(better.values()):
        return UsualMetrics([found.metric])
    ways = [("more", [name for name in clear if better[name]]), ("less", [name for name in clear if not better[name]])]
    told = "compared: " + "; ".join(f"{', '.join(names)}, {way} is better" for way, names in ways if names)
    if clear != common:
        left = [name for name in common if name not in clear]
        told += f"; not compared: {', '.join(left)}: ask for it with {_spelt_out(left[0])}"
    return UsualMetrics([_mean_of(name, higher_is_better=better[name] is True) for name in clear], told)


def place_metric(
    given: str | Mapping[str, Any], found: FormatInUse, outputs: Mapping[str, str], *, base: Path
) -> str | Mapping[str, Any]:
    """Give a metric as a study names it: the module of one of the user's own may stand in the current folder.

    Where outputs are scores, whatever is no metric is the name of one of their columns; so is one that needs a gold, where there
    is such a column.

    Raises
    ------
    UsageError
        P016 where neither the name of a column nor a file says which direction is better.
    """
    if not isinstance(given, str):
        return given
    if found.metric == "mean" and ":" not in given and given not in _OF_SCORES:
        system, path = next(iter(outputs.items()))  # the others say the same, or the survey tells
        columns = _columns(found, base / path, system)
        if not is_metric(given) or (not found.gold and given in columns):
            higher_is_better = _direction(given, [columns])
            if higher_is_better is None:
                raise _open_direction(given)
            return _mean_of(given, higher_is_better=higher_is_better)
    module = base / given.partition(":")[0].partition(".")[0]
    here = ":" in given and (module.is_dir() or module.with_suffix(".py").is_file())
    return {"name": given, "path": "."} if here else given


def _columns(found: FormatInUse, path: Path, system: str) -> dict[str, bool | None]:
    """Give the columns of numbers of one output, and the direction of each where its file says it.

    There are none where it cannot be read, which is told where all systems are.
    """
    try:
        read = load_reader(found.value).read_outputs(
            path, system=None if system == "*" and found.holds_systems else system, options={}
        )
    except DataError:
        return {}
    if not read:
        return {}
    items = next(iter(read.values()))
    numbers = [name for name, values in items.columns.items() if values and all(map(is_number, {*map(str, values)}))]
    return {name: items.directions.get(name) for name in numbers}


def _mean_of(column: str, *, higher_is_better: bool) -> dict[str, Any]:
    return {"name": column, "metric": "mean", "column": column} | ({} if higher_is_better else {"higher_is_better": False})


def _direction(column: str, outputs: Sequence[Mapping[str, bool | None]]) -> bool | None:
    """Give whether more is better: as the files say that do, if they agree, or by a name that leaves no doubt; else None."""
    said = {output[column] for output in outputs if output.get(column) is not None}
    if said:
        return said.pop() if len(said) == 1 else None
    return True if _DOUBTFUL.isdisjoint(re.split(r"[^a-z0-9]+", column.lower())) else None


def _open_direction(column: str) -> PipelineError:
    message = f"neither its name nor a file tells whether more of '{column}' is better, or less"
    return UsageError.of("P016", message, where="-m", help=f"say it: {_spelt_out(column)}")


def _spelt_out(column: str) -> str:
    return f"-m '{{name: {column}, metric: mean, column: {column}, higher_is_better: false}}', or true"
