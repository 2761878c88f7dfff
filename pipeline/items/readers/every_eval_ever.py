"""Samples of Every Eval Ever: one evaluation of a file, and what the file says of it as a whole."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

from pipeline.errors import DataError, Problem
from pipeline.interfaces import FileSample, Items, Recognised
from pipeline.items.readers._files import with_warnings
from pipeline.items.readers._json import JsonLine, need, read_json, read_json_lines, refuse_shape
from pipeline.items.readers._records import (
    ScoredFormat,
    asked_groups,
    check_name,
    choose_one,
    find_beside,
    name_of,
    score_of,
    text_of,
    twice,
)
from pipeline.items.readers._scored import is_mean_of
from pipeline.items.readers._tables import refuse

__all__ = ["EveryEvalEverReader"]

_KEYS = (b'"evaluation_id"', b'"evaluation_name"', b'"sample_id"', b'"interaction_type"')


class _Row(NamedTuple):
    """One sample: where it stands, whose it is, of which evaluation and run, and its record."""

    line: int
    model: str
    evaluation: str
    result: str
    epoch: str
    sample: str
    record: Mapping[str, Any]


class _Whole(NamedTuple):
    """What is told of an evaluation as a whole: its score, the score that stands for one that is not known, and its direction."""

    score: float | None
    unknown: str | None
    less_is_better: bool = False


class EveryEvalEverReader(ScoredFormat):
    """``{uuid}_samples.jsonl`` or ``{uuid}.jsonl`` of Every Eval Ever: one sample a line, of one model.

    Items have the columns ``score`` and ``is_correct``, and ``content`` where all samples have a hash. A sample with an error is
    missing. Epochs in the metadata are replicas where there are several. ``{uuid}.json`` beside it has the published score.

    Parameters
    ----------
    evaluation : str, optional
        An ``evaluation_result_id`` or an ``evaluation_name``: needed where the file has several.
    """

    name: ClassVar[str] = "every-eval-ever"
    endings: ClassVar[tuple[str, ...]] = (".jsonl",)
    says_directions: ClassVar[bool] = True
    holds_systems: ClassVar[bool] = True

    def __init__(self, *, evaluation: str | None = None) -> None:
        super().__init__()
        self.evaluation = check_name("evaluation", evaluation)

    @staticmethod
    def recognise(sample: FileSample) -> Recognised | None:
        """Take objects, one a line, that name an evaluation and a sample of it."""
        head = sample.head.removeprefix(b"\xef\xbb\xbf")
        if head.startswith(b"{") and all(key in head for key in _KEYS):
            return Recognised(0.95, "line 1 is an object with evaluation_id, evaluation_name, sample_id and interaction_type")
        return None

    @with_warnings
    def read_outputs(self, path: Path, *, system: str | None, options: Mapping[str, Any]) -> dict[str, Items]:
        """Return the scores of a model, or of each of its epochs; of every model in the file, where the study names none."""
        source = str(path)
        records, odd = read_json_lines(path)
        self._told.extend(odd)
        rows = self._choose([_read_row(record, source) for record in records], source)
        models = dict.fromkeys(row.model for row in rows)
        if system is not None and len(models) > 1:
            raise DataError.of(
                "P219",
                f"the file has samples of {len(models)} models, {', '.join(sorted(models)[:5])}, but is named '{system}'",
                where=source,
                help="give the file without {system}: systems are then its models",
            )
        whole = self._read_beside(path, rows[0])
        result: dict[str, Items] = {}
        for model in models:
            epochs: dict[str, list[_Row]] = {}
            for row in rows:
                if row.model == model:
                    epochs.setdefault(row.epoch, []).append(row)
            alone, label = len(epochs) == 1, system or model
            if "" in epochs and not alone:
                raise refuse_shape(source, epochs[""][0].line, "the epoch", "there, as that of other samples is", None)
            for epoch, chosen in epochs.items():
                items = self._as_items(chosen, source, options, whole.unknown)
                coordinates = {} if alone else {"model": label, "replica": epoch, "runs_are": "samples"}
                published = {"score": whole.score} if alone and len(models) == 1 and whole.score is not None else {}
                directions = {"score": False} if whole.less_is_better and is_mean_of(whole.score, items.columns["score"]) else {}
                name = label if alone else f"{label}/{epoch}"
                result[name] = replace(items, coordinates=coordinates, published=published, directions=directions)
        return result

    def _choose(self, rows: Sequence[_Row], source: str) -> list[_Row]:
        """Return the samples of the evaluation that is asked for, by its result's name or its own."""
        kinds = dict.fromkeys((row.evaluation, row.result) for row in rows)
        times = Counter(result or evaluation for evaluation, result in kinds)
        # A result goes by its own name, and by that of its evaluation too where others have the same.
        labels = {kind: kind[1] or kind[0] if times[kind[1] or kind[0]] == 1 else "/".join(filter(None, kind)) for kind in kinds}
        named = [label for kind, label in labels.items() if kind[0] == self.evaluation and self.evaluation not in labels.values()]
        asked = choose_one(
            None if named else self.evaluation, named or labels.values(), option="evaluation", what="evaluation", source=source
        )
        return [row for row in rows if labels[row.evaluation, row.result] == asked]

    def _as_items(self, rows: Sequence[_Row], source: str, options: Mapping[str, Any], unknown: str | None) -> Items:
        lines: dict[str, int] = {}
        problems: list[Problem] = []
        kept: list[_Row] = []
        scores: list[str] = []
        failed: list[str] = []
        for row in rows:
            if row.sample in lines:
                help_ = "a sample has one score in each evaluation; epochs are told by `metadata.epoch`"
                problems.append(twice(row.sample, source, lines[row.sample], row.line, help_=help_))
                continue
            lines[row.sample] = row.line
            if row.record.get("error"):
                failed.append(row.sample)
                continue
            evaluation = need(row.record, "evaluation", dict, source, row.line)
            given = need(evaluation, "score", (int, float, bool), source, row.line)
            score = score_of(given, f"the score of '{row.sample}'", f"{source}:{row.line}")
            if unknown is not None and float(score) == float(unknown):
                failed.append(row.sample)
                continue
            kept.append(row)
            scores.append(score)
        refuse(problems)
        self.tell_missing(
            source, failed, len(rows), "for they have an error" if unknown is None else "with an error or level unknown"
        )
        columns: dict[str, Sequence[str]] = {"score": tuple(scores)}
        columns |= self._correct(kept, source) | self._content(kept, source) | _groups(kept, asked_groups(options), source)
        return Items(tuple(row.sample for row in kept), columns, source, tuple(row.line for row in kept), numbered=False)

    def _correct(self, rows: Sequence[_Row], source: str) -> dict[str, Sequence[str]]:
        given = [row.record["evaluation"].get("is_correct") for row in rows]
        if not all(isinstance(value, bool) for value in given):
            self._told.append(f"{source}: not every sample says whether it is correct: there is no column is_correct")
            return {}
        return {"is_correct": tuple(str(int(value)) for value in given)}

    def _content(self, rows: Sequence[_Row], source: str) -> dict[str, Sequence[str]]:
        hashes = tuple(text_of(row.record, "sample_hash", source, row.line) for row in rows)
        if not all(hashes):
            self._told.append(f"{source}: not every sample has a hash: nothing shows that systems were asked the same")
            return {}
        return {"content": hashes}

    def _read_beside(self, path: Path, row: _Row) -> _Whole:
        stem = path.name.split(".jsonl")[0]
        names = dict.fromkeys((f"{stem.removesuffix('_samples')}.json", f"{stem}.json"))
        found = find_beside([path.with_name(name) for name in names], lambda beside: self._read_whole(beside, row), self._told)
        return found or _Whole(None, None)

    def _read_whole(self, path: Path, row: _Row) -> _Whole:
        """Return what the file of results tells of an evaluation; nothing where it has none, or several, that may be it."""
        value, _ = read_json(path)
        source = str(path)
        results = need(value, "evaluation_results", list, source)
        for key, asked in (("evaluation_result_id", row.result), ("evaluation_name", row.evaluation)):
            found = [result for result in results if asked and isinstance(result, Mapping) and result.get(key) == asked]
            if len(found) == 1:
                config = found[0].get("metric_config")
                config = config if isinstance(config, Mapping) else {}
                details = need(found[0], "score_details", dict, source)
                score = score_of(need(details, "score", (int, float), source), f"the score of '{asked}'", source)
                # Converters write `false` of whatever they know nothing of: it says nothing.
                less = config.get("lower_is_better") is True
                unknown = "-1" if config.get("has_unknown_level") is True else None
                return _Whole(float(score), unknown, less)
        return _Whole(None, None)


def _read_row(given: JsonLine, source: str) -> _Row:
    line, record = given
    return _Row(
        line,
        name_of(record, "model_id", source, line),
        name_of(record, "evaluation_name", source, line),
        text_of(record, "evaluation_result_id", source, line),
        text_of(_metadata(record, source, line), "epoch", source, line),
        name_of(record, "sample_id", source, line),
        record,
    )


def _metadata(record: Mapping[str, Any], source: str, line: int) -> Mapping[str, Any]:
    found: Mapping[str, Any] = {} if record.get("metadata") is None else need(record, "metadata", dict, source, line)
    return found


def _groups(rows: Sequence[_Row], wanted: Mapping[str, str], source: str) -> dict[str, Sequence[str]]:
    """Return the metadata that group samples: those that at least one has."""
    found: dict[str, Sequence[str]] = {}
    for role, key in wanted.items():
        values = tuple(text_of(_metadata(row.record, source, row.line), key, source, row.line) for row in rows)
        if any(values):
            found[role] = values
    return found
