"""Samples of the lm-evaluation-harness: what it logs of each document, in a file for each task and run.

Where the file of results of the same run is beside them, the means that it publishes are held against the samples.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Literal, NamedTuple

from pipeline.errors import DataError, Problem
from pipeline.interfaces import FileSample, Items, Reader, Recognised
from pipeline.items.readers._files import with_warnings
from pipeline.items.readers._join import need_system
from pipeline.items.readers._json import JsonLine, digest_of, need, number_text, read_json, read_json_lines, refuse_shape
from pipeline.items.readers._scored import (
    Wanted,
    choose_numbers,
    group_values,
    is_mean_of,
    make_columns,
    refuse_depth,
    refuse_halves,
)
from pipeline.items.readers._tables import refuse

__all__ = ["LmEvalReader", "PublishedMeans"]

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


def _read_published(samples: Path, filter_: str | None, metrics: Mapping[str, Sequence[str]]) -> PublishedMeans:
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


_ASKED = ("doc", "prompt", "target")
_FIELDS = frozenset(
    {"doc_id", "doc", "target", "arguments", "resps", "filtered_resps", "filter", "metrics", "scores_per_repeat"}
    | {f"{name}_hash" for name in _ASKED}
)
"""What a row has beside its scores."""


class _Row(NamedTuple):
    """A document as one filter of the answers scores it."""

    line: int
    value: Mapping[str, Any]
    name: str
    number: int | None


class LmEvalReader(Reader):
    """One JSON object a line, of a document and a filter of the answers to it: ``samples_<task>_<date>.jsonl``.

    A document is named by the digest of its content, ``doc_hash``; the second with the same content is ``<digest>#2``, in the
    order of ``doc_id``. Every metric that is a number in all rows is a column.

    Parameters
    ----------
    metric : str, optional
        The one metric that is wanted; one whose values are lists or objects gives a column for each part of them.
    filter : str, optional
        The filter of the answers; needed where a file has several.
    agree : list of str
        What systems must agree in, of ``doc``, ``prompt`` and ``target``.
    """

    name: ClassVar[str] = "lm-eval"
    endings: ClassVar[tuple[str, ...]] = (".jsonl", ".json")
    targets: ClassVar[tuple[str, ...]] = ()
    compares_with: Literal["references", "gold", "nothing"] = "nothing"
    usual_metric: str | None = "mean"
    named_scores: ClassVar[bool] = True
    blank: str = "0"

    def __init__(self, *, metric: str | None = None, filter: str | None = None, agree: Sequence[str] = _ASKED) -> None:
        for option, value in (("metric", metric), ("filter", filter)):
            if value is not None and not isinstance(value, str):
                raise ValueError(f"option '{option}' is a name, not {value!r}")
        if not isinstance(agree, (list, tuple)) or not all(part in _ASKED for part in agree):
            raise ValueError(f"option 'agree' is a list of {', '.join(_ASKED)}, not {agree!r}")
        self.metric = metric
        self.filter = filter
        self.agree = tuple(part for part in _ASKED if part in agree)
        self._told: list[str] = []

    @staticmethod
    def recognise(sample: FileSample) -> Recognised | None:
        """Take JSON lines that begin with the number of a document, and have the document."""
        first = next(iter(sample.lines), "")
        if first.startswith('{"doc_id"') and '"doc"' in first:
            return Recognised(0.98, "line 1 is a JSON object with the fields doc_id and doc")
        return None

    @with_warnings
    def read_gold(self, paths: Sequence[Path], options: Mapping[str, Any]) -> Items | None:
        """Return None: scores are already compared with the gold."""
        if paths:
            message = "samples of the harness are scores, which need no gold and no references"
            raise DataError.of("P219", message, where=str(paths[0]), help="leave it out of the study")
        return None

    @with_warnings
    def read_outputs(self, path: Path, *, system: str | None, options: Mapping[str, Any]) -> dict[str, Items]:
        """Return the metrics of the documents of one system."""
        name = need_system(system, path, "samples")
        try:
            return {name: self._read(path, options.get("columns", {}))}
        except RecursionError as exc:
            raise refuse_depth(str(path)) from exc

    def write(self, path: Path, columns: Mapping[str, Sequence[Any]], ids: Sequence[str]) -> None:
        """Refuse: nothing is trained for scores."""
        raise ValueError("outputs of trainings are not written in this format")

    def _read(self, path: Path, columns: Mapping[str, str]) -> Items:
        source = str(path)
        lines, odd = read_json_lines(path)
        self._told.extend(odd)
        if not lines:
            raise DataError.of("P205", "the file has no rows", where=source, help="log samples: `lm_eval … --log_samples`")
        filter_, chosen = self._choose_filter(lines, source)
        rows = _name_rows(chosen, source)
        wanted = Wanted(self.metric, "metric", "metric", source)
        numbers = choose_numbers([_metrics(row, source) for row in rows], wanted, lambda k: f"{source}:{rows[k].line}")
        self._told.extend(numbers.warnings)
        if len(numbers.kept) < len(rows):
            lacking = len(rows) - len(numbers.kept)
            self._told.append(f"{source}: {lacking} of {len(rows)} documents have no number there, and are missing items")
        rows = [rows[k] for k in numbers.kept]
        groups, told = group_values([row.value for row in rows], columns, within="doc", source=source)
        self._told.extend(told)
        content = tuple(digest_of([_digest(row, part, source) for part in self.agree]) for row in rows) if self.agree else ()
        values = make_columns(numbers.columns, groups, content, source)
        results = _read_published(path, filter_, numbers.columns)
        self._told.extend(results.told)
        ids, places = tuple(row.name for row in rows), tuple(row.line for row in rows)
        refuse_halves(ids, source)
        return Items(ids, values, source, places, numbered=False, published=results.means, directions=results.directions)

    def _choose_filter(self, lines: Sequence[JsonLine], source: str) -> tuple[str | None, list[JsonLine]]:
        """Return the filter, and its rows; older versions of the harness name none."""
        names = dict.fromkeys(
            need(line.value, "filter", str, source, line.line) if "filter" in line.value else None for line in lines
        )
        there = ", ".join(repr(name) for name in names if name is not None) or "none: its rows name no filter"
        if self.filter is not None and self.filter not in names:
            raise DataError.of(
                "P261", f"no row has the filter '{self.filter}'; there are {there}", where=source, help="name one: `filter: …`"
            )
        if self.filter is None and len(names) > 1:
            message = f"the file has several filters of the answers: {there}"
            raise DataError.of("P261", message, where=source, help="name one in the study: `format: {name: lm-eval, filter: …}`")
        wanted = self.filter if self.filter is not None else next(iter(names), None)
        return wanted, [line for line in lines if line.value.get("filter") == wanted]


def _name_rows(lines: Sequence[JsonLine], source: str) -> list[_Row]:
    """Return the rows with their names, in the order of the file."""
    found: dict[str, list[_Row]] = {}
    for line in lines:
        number = need(line.value, "doc_id", int, source, line.line) if "doc_id" in line.value else None
        name = _digest(_Row(line.line, line.value, "", number), "doc", source)
        found.setdefault(name, []).append(_Row(line.line, line.value, name, number))
    problems = []
    named = []
    for name, rows in found.items():
        # Processes that share the work write in an order of their own.
        rows.sort(key=lambda row: (row.number is None, row.number or 0, row.line))
        for place, row in enumerate(rows, start=1):
            before = rows[place - 2]
            if place > 1 and row.number is not None and row.number == before.number:
                lines_ = f"on lines {before.line} and {row.line}"
                problems.append(Problem("P209", f"document {row.number} occurs twice, {lines_}", f"{source}:{row.line}", _TWICE))
            named.append(row._replace(name=name if place == 1 else f"{name}#{place}"))
    refuse(problems)
    return sorted(named, key=lambda row: row.line)


_TWICE = "leave one row for each document and filter; rows of several filters that are not named cannot be distinguished"


def _metrics(row: _Row, source: str) -> dict[str, Any]:
    """Return the scores of a row: those it lists, or in older versions whatever is nothing else."""
    if "metrics" not in row.value:
        return {key: value for key, value in row.value.items() if key not in _FIELDS}
    listed = need(row.value, "metrics", list, source, row.line)
    if not all(isinstance(name, str) for name in listed):
        raise refuse_shape(source, row.line, "the field 'metrics'", "a list of names", listed)
    return {name: row.value[name] for name in listed if name in row.value}


def _digest(row: _Row, part: str, source: str) -> str:
    """Return the digest of the document, its prompt or its target: that of the row, or as newer versions of the harness make it."""
    key = f"{part}_hash"
    if key in row.value:
        return str(need(row.value, key, str, source, row.line))
    if part == "doc":
        document = need(row.value, "doc", object, source, row.line)
        text = json.dumps(document, indent=2, ensure_ascii=False)
    elif part == "prompt":
        text = _first_prompt(row.value.get("arguments"))
    else:
        text = str(row.value.get("target"))
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()


def _first_prompt(arguments: Any) -> str:
    """Return the first thing a model was given: newer versions number arguments in objects, older ones have lists."""
    for _ in range(2):
        parts = list(arguments.values()) if isinstance(arguments, Mapping) else arguments
        if not isinstance(parts, list) or not parts:
            break
        arguments = parts[0]
    return arguments if isinstance(arguments, str) else json.dumps(arguments, default=str)
