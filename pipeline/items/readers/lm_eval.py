"""Samples of the lm-evaluation-harness: what it logs of each document, in a file for each task and run; each repeat is a replica.

Where the file of results of the same run is beside them, the means that it publishes are held against the samples.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Literal, NamedTuple

from pipeline.errors import DataError
from pipeline.interfaces import FileSample, Items, Reader, Recognised
from pipeline.items.readers._files import refuse_gold, with_warnings
from pipeline.items.readers._join import need_system
from pipeline.items.readers._json import JsonLine, need, number_text, read_json, read_json_lines
from pipeline.items.readers._lm_eval import ASKED, Answer, digest_content, list_answers, name_rows
from pipeline.items.readers._scored import (
    Wanted,
    choose_numbers,
    group_values,
    is_mean_of,
    make_columns,
    refuse_depth,
    refuse_halves,
)

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


def _read_published(samples: Path, filter_: str | None, metrics: Mapping[str, Sequence[Sequence[str]]]) -> PublishedMeans:
    """Return what the file of results of the same run says of metrics, where it is their mean.

    Parameters
    ----------
    samples : Path
        ``samples_<task>_<date>.jsonl``; a file of another name belongs to no results.
    filter_ : str or None
        The filter of the answers.
    metrics : mapping of str to sequence of sequence of str
        By metric, the numbers whose mean may be published: those of the items, or of several answers to each; of these the first
        ones too, as the harness may take no others.
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
    for metric, readings in metrics.items():
        keys = (f"{metric},{filter_}", metric, f"pass@1({metric}),{filter_}")  # the first try is the mean of scores of 0 and 1
        value = next((said[key] for key in keys if key in said), None)
        means = how[metric] in _MEANS if metric in how else metric not in _NO_MEANS
        said_mean = float(number_text(value) or "nan") if means else math.nan
        if math.isfinite(said_mean):
            published[metric] = said_mean
            if isinstance(better.get(metric), bool) and any(is_mean_of(said_mean, values) for values in readings):
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


class LmEvalReader(Reader):
    """One JSON object a line, of a document and a filter of the answers to it: ``samples_<task>_<date>.jsonl``.

    A document is named by the digest of its content, ``doc_hash``; the second with the same content is ``<digest>#2``, in the
    order of ``doc_id``. Every metric that is a number in all rows is a column. Where documents were asked several times, repeats
    are replicas, with the metrics that have a score of each answer.

    Parameters
    ----------
    metric : str, optional
        The one metric that is wanted; one whose values are lists or objects gives a column for each part of them, and a summary of
        repeats, ``pass@3(exact_match)``, one system in place of its replicas.
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

    def __init__(self, *, metric: str | None = None, filter: str | None = None, agree: Sequence[str] = ASKED) -> None:
        for option, value in (("metric", metric), ("filter", filter)):
            if value is not None and not isinstance(value, str):
                raise ValueError(f"option '{option}' is a name, not {value!r}")
        if not isinstance(agree, (list, tuple)) or not all(part in ASKED for part in agree):
            raise ValueError(f"option 'agree' is a list of {', '.join(ASKED)}, not {agree!r}")
        self.metric = metric
        self.filter = filter
        self.agree = tuple(part for part in ASKED if part in agree)
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
        refuse_gold(paths, "samples of the harness are scores, which need no gold and no references")
        return None

    @with_warnings
    def read_outputs(self, path: Path, *, system: str | None, options: Mapping[str, Any]) -> dict[str, Items]:
        """Return the metrics of the documents of one system; of each of its replicas where documents were asked several times."""
        name = need_system(system, path, "samples")
        try:
            return self._read(path, name, options.get("columns", {}))
        except RecursionError as exc:
            raise refuse_depth(str(path)) from exc

    def _read(self, path: Path, system: str, columns: Mapping[str, str]) -> dict[str, Items]:
        source = str(path)
        lines, odd = read_json_lines(path)
        self._told.extend(odd)
        if not lines:
            raise DataError.of("P205", "the file has no rows", where=source, help="log samples: `lm_eval … --log_samples`")
        filter_, chosen = self._choose_filter(lines, source)
        rows = name_rows(chosen, source)
        answers, told = list_answers(rows, source, metric=self.metric)
        self._told.extend(told)
        wanted = Wanted(self.metric, "metric", "metric", source)
        numbers = choose_numbers([answer.scores for answer in answers], wanted, lambda k: f"{source}:{answers[k].row.line}")
        self._told.extend(numbers.warnings)
        kept = [answers[k] for k in numbers.kept]
        places = _places(kept)
        self._told.extend(_tell_missing(places, len(rows), source))
        groups, told = group_values([answer.row.value for answer in kept], columns, within="doc", source=source)
        self._told.extend(told)
        content = tuple(digest_content(answer.row, self.agree, source) for answer in kept) if self.agree else ()
        values = make_columns(numbers.columns, groups, content, source)
        refuse_halves((answer.row.name for answer in kept), source)
        first = places[min(places)]
        readings = {name: (column, [column[k] for k in first]) for name, column in numbers.columns.items()}
        results = _read_published(path, filter_, readings)
        self._told.extend(results.told)
        return {
            f"{system}/{repeat}" if repeat else system: Items(
                tuple(kept[k].row.name for k in these),
                {name: tuple(column[k] for k in these) for name, column in values.items()},
                source,
                tuple(kept[k].row.line for k in these),
                numbered=False,
                coordinates={"model": system, "replica": str(repeat), "runs_are": "samples"} if repeat else {},
                published={} if repeat else results.means,
                directions=results.directions,
            )
            for repeat, these in places.items()
        }

    def _choose_filter(self, lines: Sequence[JsonLine], source: str) -> tuple[str | None, list[JsonLine]]:
        """Return the filter, and its rows; older versions of the harness name none."""
        names = dict.fromkeys(
            need(line.value, "filter", str, source, line.line) if "filter" in line.value else None for line in lines
        )
        named = [name for name in names if name is not None]
        there = ", ".join(map(repr, named)) or "none: its rows name no filter"
        if self.filter is not None and self.filter not in names:
            help_ = f"name one: `filter: {named[0]}`" if named else "leave `filter` out"
            raise DataError.of("P261", f"no row has the filter '{self.filter}'; there are {there}", where=source, help=help_)
        if self.filter is None and len(names) > 1:
            message = f"the file has several filters of the answers: {there}"
            help_ = f"name one in the study: `format: {{name: lm-eval, filter: {named[0]}}}`"
            raise DataError.of("P261", message, where=source, help=help_)
        wanted = self.filter if self.filter is not None else next(iter(names), None)
        return wanted, [line for line in lines if line.value.get("filter") == wanted]


def _places(answers: Sequence[Answer]) -> dict[int, list[int]]:
    """Return the places of the answers of each repeat, in its order; 0 where documents have one score alone."""
    found: dict[int, list[int]] = {}
    for k, answer in enumerate(answers):
        found.setdefault(answer.repeat, []).append(k)
    return dict(sorted(found.items()))


def _tell_missing(found: Mapping[int, Sequence[int]], documents: int, source: str) -> list[str]:
    """Say how many documents are missing items, by repeat."""
    return [
        f"{source}: {documents - len(places)} of {documents} documents have no number "
        + (f"in repeat {repeat}" if repeat else "there")
        + ", and are missing items"
        for repeat, places in found.items()
        if len(places) < documents
    ]
