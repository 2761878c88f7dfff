"""Work out for `compare` what a study would say: the format of the files, and the metrics that are usual for it."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from pipeline.dataclass import dataclass, field
from pipeline.errors import DataError, PipelineError, UsageError
from pipeline.interfaces import Items, usual_column
from pipeline.items.readers import is_number, load_reader
from pipeline.items.readers._tables import find_head
from pipeline.items.readers._typed_tables import begins_json
from pipeline.items.readers.scores import ScoreReader
from pipeline.items.recognise import AUTO, FormatFound, recognise_beside, refuse_json, take_sample
from pipeline.metrics._columns import OF_NUMBERS, output_column
from pipeline.metrics.registry import call_by_options, is_metric, refuse_unknown_metric
from pipeline.survey.folders import find_reference

__all__ = ["FormatInUse", "UsualMetrics", "find_format", "place_metrics", "usual_metrics"]


@dataclass(frozen=True)
class FormatInUse:
    """A format and what goes with it.

    Parameters
    ----------
    value : str or mapping
        As ``format:`` of a test set has it.
    metric : str or None
        What is usual for it.
    gold : mapping
        ``references`` or ``gold`` of a test set, as the format takes them; empty where it takes none.
    holds_systems : bool
        Whether one file may hold all systems.
    told : str
        What the format was recognised by; empty where it was named.
    columns : mapping
        Which columns of tables hold what, by role.
    """

    value: str | Mapping[str, Any]
    metric: str | None
    gold: Mapping[str, Any]
    holds_systems: bool
    told: str = ""
    columns: Mapping[str, str] = field(default_factory=dict)


def find_format(
    named: str | Mapping[str, Any],
    outputs: Sequence[str],
    references: Sequence[str],
    *,
    base: Path,
    columns: Mapping[str, str] | None = None,
) -> FormatInUse:
    """Return the format that is named, or that the first output has, and what it is compared with.

    Raises
    ------
    UsageError
        P011 where it needs one gold file, P012 where it needs references, P014 where it needs neither.
    DataError
        P259 where no reader recognises the file, P260 where two do alike, P275 where a file is JSON and is not read as such.
    """
    form: Any = named
    told = ""
    if isinstance(named, Mapping):
        if not isinstance(named.get("name"), str):
            raise UsageError.of("P015", "the format has no name", where="--format", help="write `--format '{name: lm-eval, …}'`")
        form = named["name"] if len(named) == 1 else named
    if form == AUTO:
        form, told = recognise_beside(base / outputs[0], [base / path for path in references])
        refuse_json([base / path for path in (*outputs[1:], *references)], form.name)
    reader = load_reader(form)
    kind = reader.compares_with
    if kind == "gold" and len(references) != 1:
        given = f"{len(references)} are" if references else "none is"
        message = f"the format {reader.name} needs one reference file (the gold annotation), and {given} given"
        raise UsageError.of("P011", message, where="-r", help="give one reference file with -r")
    if kind == "references" and not references:
        there = shlex.quote(find_reference(outputs, base=base) or "REF")
        raise UsageError.of("P012", f"{reader.name} needs at least one reference", where="-r", help=f"give it with -r {there}")
    gold: dict[str, Any] = {}
    if kind == "gold":
        gold = {"gold": references[0]}
    elif kind == "references":
        gold = {"references": list(references)}
    elif len(references) == 1 and reader.gold_lists_items:
        gold = {"gold": references[0]}
    elif references:
        message = f"the format {reader.name} has scores already: it takes no reference"
        raise UsageError.of("P014", message, where="-r", help="leave out -r, or name another --format")
    value = form.as_written if isinstance(form, FormatFound) else form
    return FormatInUse(value, reader.usual_metric, gold, reader.holds_systems, told, columns or {})


_DOUBTFUL = frozenset({
    "bpb", "brier", "cer", "cost", "costs", "ece", "entropy", "error", "errors", "latency", "likelihood", "logprob", "loss", "mae",
    "mse", "nll", "perplexity", "ppl", "rmse", "runtime", "seconds", "ter", "time", "tokens", "toxicity", "wer",
})  # fmt: skip
"""Words in the names of scores that are better when they are lower, no means of items as they are logged, or no scores."""

_BALANCED = frozenset({"diff", "pct"})
"""Words in the names of scores of which neither more nor less need be better: 50 % may be best. No file is believed there."""


_Columns = Mapping[str, bool | None]
"""The columns of numbers of one output, and the direction of each where its file says it."""


class UsualMetrics(NamedTuple):
    """What is compared where no metric is named, and what is told of it."""

    metrics: list[str | dict[str, Any]]
    told: str = ""


def usual_metrics(found: FormatInUse, outputs: Mapping[str, str], *, base: Path) -> UsualMetrics:
    """Return what is usual for the format, or each score that a harness logged.

    Some log ``acc`` beside ``acc_norm``; either is the mean of a column, called by its name. A harness may also log a likelihood
    as ``perplexity``, or a difference of which less is better: where the files do not say which way it is, a name that leaves this
    open is left out, and told.

    Raises
    ------
    UsageError
        P010 where no metric is usual for the format, P016 where the names of all scores leave open which direction is better.
    """
    if found.metric is None:
        form = found.value if isinstance(found.value, str) else found.value["name"]
        message = f"no metric is usual for the format {form!r}, and none is given"
        raise UsageError.of("P010", message, help="name one with -m; `pipeline metrics` lists them")
    if not load_reader(found.value).named_scores:
        if found.metric == "mean":
            _refuse_open_mean(found, outputs, base)
        return UsualMetrics([found.metric])
    columns = _read_columns(found, outputs, base)
    common = [name for name in columns[0] if all(name in others for others in columns)]
    better = {name: _direction(name, columns) for name in common}
    clear = [name for name in common if better[name] is not None]
    if common and not clear:
        raise _open_direction(common[0])
    if all(better.values()) and (not common or all(len(others) == 1 for others in columns)):
        return UsualMetrics([_mean_of(common[0] if common else None, higher_is_better=True)])
    ways = [("more", [name for name in clear if better[name]]), ("less", [name for name in clear if not better[name]])]
    told = "compared: " + "; ".join(f"{', '.join(names)}, {way} is better" for way, names in ways if names)
    if clear != common:
        left = [name for name in common if name not in clear]
        told += f"; not compared: {', '.join(left)}: ask for it with {_spelt_out(left[0])}"
    return UsualMetrics([_mean_of(name, higher_is_better=better[name] is True) for name in clear], told)


def place_metrics(
    given: Sequence[str | Mapping[str, Any]], found: FormatInUse, outputs: Mapping[str, str], *, base: Path
) -> list[str | Mapping[str, Any]]:
    """Return metrics as a study names them: the module of one of the user's own may stand in the current folder.

    Where outputs are scores, whatever is no metric is the name of one of their columns; so is one that needs a gold, where there
    is such a column.

    Raises
    ------
    UsageError
        P016 where neither the name of a column nor the files say which direction is better.
    DataError
        P226 where the first output has no column of a name that no metric has either.
    """
    are_scores = {metric for metric in given if isinstance(metric, str) and found.metric == "mean" and ":" not in metric}
    read = any(metric not in OF_NUMBERS or (metric == "mean" and _tells(found)) for metric in are_scores)
    columns = _read_columns(found, outputs, base) if read else []
    for name in sorted(are_scores):
        if read and columns[0] and name not in columns[0] and not is_metric(name):
            _refuse_unknown_score(name, found, outputs, base)
    placed: list[str | Mapping[str, Any]] = []
    for metric in given:
        if isinstance(metric, str) and metric in are_scores:
            placed.append(_place_score(metric, found, columns))
        else:
            called = call_by_options(metric)
            placed.append(_place(called, base) if isinstance(called, str) else called)
    return placed


def _tells(found: FormatInUse) -> bool:
    """Say whether the directions of scores may be told by their files or names."""
    reader = load_reader(found.value)
    return reader.named_scores or reader.says_directions


def _place(metric: str, base: Path) -> str | Mapping[str, Any]:
    module = base / metric.partition(":")[0].partition(".")[0]
    here = ":" in metric and (module.is_dir() or module.with_suffix(".py").is_file())
    refuse_unknown_metric(metric)  # told at once: all else that a study needs takes longer to import than this does to read
    return {"name": metric, "path": "."} if here else metric


def _refuse_unknown_score(name: str, found: FormatInUse, outputs: Mapping[str, str], base: Path) -> None:
    """Say what the metric of scores would, before all else that a study needs is imported; nothing where there is such a column."""
    system, path = next(iter(outputs.items()))
    output_column("mean", next(iter(_read(found, base / path, system).values())), name)


def _place_score(metric: str, found: FormatInUse, columns: Sequence[_Columns]) -> str | Mapping[str, Any]:
    """Return a metric of outputs that are scores."""
    column: str | None = metric
    if metric in OF_NUMBERS or (is_metric(metric) and (found.gold or metric not in columns[0])):
        taken = {usual_column(others) for others in columns}
        if metric != "mean" or not _tells(found) or len(taken) != 1:
            return metric
        (name,), column = taken, None
    else:
        name = metric
    higher_is_better = _direction(name, columns)
    if higher_is_better is None:
        raise _open_direction(name)
    return "mean" if column is None and higher_is_better else _mean_of(column, higher_is_better=higher_is_better)


def _read_columns(found: FormatInUse, outputs: Mapping[str, str], base: Path) -> list[_Columns]:
    """Return the columns of all outputs; of the first alone where no file says anything of directions."""
    asked = list(outputs.items())[: None if _tells(found) else 1]
    return [_columns(found, base / path, system) for system, path in asked]


def _columns(found: FormatInUse, path: Path, system: str) -> _Columns:
    """Return the columns of numbers of one output, and the direction of each where its file says it.

    There are none where it cannot be read, which is told where all systems are.
    """
    try:
        read = _read(found, path, system)
    except DataError:
        return {}
    if not read:
        return {}
    items = next(iter(read.values()))
    numbers = [name for name, values in items.columns.items() if values and all(map(is_number, {*map(str, values)}))]
    return {name: items.directions.get(name) for name in numbers}


def _read(found: FormatInUse, path: Path, system: str) -> Mapping[str, Items]:
    """Return an output, or all that a file holds, by system: its columns are there whatever becomes of a field without a number."""
    asked = None if system == "*" and found.holds_systems else system
    return load_reader(found.value).read_outputs(path, system=asked, options={"columns": found.columns, "missing": "drop"})


def _refuse_open_mean(found: FormatInUse, outputs: Mapping[str, str], base: Path) -> None:
    """Refuse to say that more is better of a column that nobody named and that is called an error or a loss: P016."""
    if isinstance(load_reader(found.value), ScoreReader) and _has_clear_heads(base / next(iter(outputs.values()))):
        return
    columns = _read_columns(found, outputs, base)
    name = usual_column(columns[0])
    if name in columns[0] and _direction(name, columns) is None:
        raise _open_direction(name)


def _has_clear_heads(path: Path) -> bool:
    """Say whether a file is a table whose first line leaves no direction open: then none of its columns need be read for it."""
    try:
        sample = take_sample(path)
    except DataError:
        return False  # which is told where all systems are read
    if len(sample.lines) < 2 or begins_json(sample.head) or (head := find_head(sample.lines)).delimiter is None:
        return False
    return _words_of(head.line).isdisjoint(_DOUBTFUL | _BALANCED)


def _words_of(name: str) -> set[str]:
    return set(re.split(r"[^a-z0-9]+", name.lower()))


def _mean_of(column: str | None, *, higher_is_better: bool) -> dict[str, Any]:
    """Return the mean of a column by its name, or of the only one there is."""
    named = {"name": column, "metric": "mean", "column": column} if column else {"name": "mean"}
    return named if higher_is_better else {**named, "higher_is_better": False}


def _direction(column: str, outputs: Sequence[_Columns]) -> bool | None:
    """Return whether more is better, or None where that is open.

    Less is, where all files say so that have the column: one that says nothing may have another number under its name. More is,
    where the name leaves no doubt and no file says otherwise.
    """
    words = _words_of(column)
    said = [output[column] for output in outputs if column in output]
    if not words.isdisjoint(_BALANCED):
        return None
    if False in said:
        return False if set(said) == {False} else None
    return True if words.isdisjoint(_DOUBTFUL) else None


def _open_direction(column: str) -> PipelineError:
    message = f"neither its name nor the files tell whether more of '{column}' is better, or less"
    return UsageError.of("P016", message, where="-m", help=f"say it: {_spelt_out(column)}")


def _spelt_out(column: str) -> str:
    return f"-m '{{name: {column}, metric: mean, column: {column}, higher_is_better: false}}', or true"
