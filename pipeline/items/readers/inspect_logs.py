"""Logs of Inspect: the scores of samples, each epoch a replica of the system."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Literal

from pipeline.errors import DataError
from pipeline.interfaces import FileSample, Items, Reader, Recognised
from pipeline.items.readers._files import refuse_gold, with_warnings
from pipeline.items.readers._inspect import Log, Sample, read_log
from pipeline.items.readers._join import need_system
from pipeline.items.readers._json import digest_of, need, number_text
from pipeline.items.readers._scored import (
    Numbers,
    Wanted,
    choose_numbers,
    find_at,
    group_values,
    make_columns,
    refuse_depth,
    refuse_halves,
)
from pipeline.items.readers._tables import is_number
from pipeline.study.grouping import DOCUMENT, ROLES

__all__ = ["InspectReader"]

_ASKED = ("input", "target")
_MEANINGS: dict[str, float] = {"C": 1, "I": 0, "P": 0.5, "N": 0, "yes": 1, "true": 1, "no": 0, "false": 0}
"""What a value in words is worth, as in the metrics of Inspect itself."""
_MOST_TEXT = 5120
"""Characters of a text that the summaries of a log keep."""
_NEAR = 1e-6
_MOST_NAMED = 3


class InspectReader(Reader):
    """A log of one run of a task: ``.eval``, which is a zip, or ``.json``.

    The value of a scorer is a column of its name; where it has parts (a list, an object), each is a column ``scorer.part``.
    Epochs are replicas. A sample without a score, and one that was invalidated, is a missing item.

    Parameters
    ----------
    scorer : str, optional
        The scorer; needed where samples have several.
    value : str or int, optional
        The part of its value that is wanted.
    incomplete : bool
        Whether a run that did not come to its end is read all the same.
    agree : list of str
        What systems must agree in, of ``input`` and ``target``.
    """

    name: ClassVar[str] = "inspect"
    endings: ClassVar[tuple[str, ...]] = (".eval", ".json")
    targets: ClassVar[tuple[str, ...]] = ()
    compares_with: Literal["references", "gold", "nothing"] = "nothing"
    usual_metric: str | None = "mean"
    named_scores: ClassVar[bool] = True
    blank: str = "0"

    def __init__(
        self,
        *,
        scorer: str | None = None,
        value: str | int | None = None,
        incomplete: bool = False,
        agree: Sequence[str] = _ASKED,
    ) -> None:
        if scorer is not None and not isinstance(scorer, str):
            raise ValueError(f"option 'scorer' is a name, not {scorer!r}")
        if isinstance(value, bool) or not isinstance(value, (str, int, type(None))):
            raise ValueError(f"option 'value' is the name or the number of a part, not {value!r}")
        if not isinstance(incomplete, bool):
            raise ValueError(f"option 'incomplete' is true or false, not {incomplete!r}")
        if not isinstance(agree, (list, tuple)) or not all(part in _ASKED for part in agree):
            raise ValueError(f"option 'agree' is a list of {', '.join(_ASKED)}, not {agree!r}")
        self.scorer = scorer
        self.value = str(value) if value is not None else None
        self.incomplete = incomplete
        self.agree = tuple(part for part in _ASKED if part in agree)
        self._told: list[str] = []

    @staticmethod
    def recognise(sample: FileSample) -> Recognised | None:
        """Take a zip with the header of a log, and a JSON document that begins as one."""
        if "_journal/start.json" in sample.members or {"header.json", "summaries.json"} <= set(sample.members):
            return Recognised(0.98, "a zip with the header and the journal of a log")
        head = b"".join(sample.head[:400].split())
        if head.startswith(b'{"version":') and b'"status":' in head and b'"eval":{' in head:
            return Recognised(0.95, "a JSON document that begins with version, status and eval")
        return None

    @with_warnings
    def read_gold(self, paths: Sequence[Path], options: Mapping[str, Any]) -> Items | None:
        """Return None: scores are already compared with the gold."""
        refuse_gold(paths, "logs of Inspect hold scores, which need no gold and no references")
        return None

    @with_warnings
    def read_outputs(self, path: Path, *, system: str | None, options: Mapping[str, Any]) -> dict[str, Items]:
        """Return the scores of the samples of one system; of each of its replicas where there are several epochs."""
        name = need_system(system, path, "samples")
        try:
            return self._read(path, name, options.get("columns", {}))
        except RecursionError as exc:
            raise refuse_depth(str(path)) from exc

    def _read(self, path: Path, name: str, roles: Mapping[str, str]) -> dict[str, Items]:
        asked: Mapping[str, str] = {role: key for role, key in roles.items() if role not in ROLES - {DOCUMENT}}
        log = read_log(path, paths=tuple(asked.values()))
        self._told.extend(log.warnings)
        self._refuse_incomplete(log)
        scorer = self._choose_scorer(log)
        values = [_value(sample, scorer) for sample in log.samples]
        parted = any(isinstance(value, (list, Mapping)) for value in values)
        wanted = Wanted(self.value, "value", "value", log.source)
        numbers = choose_numbers([_parts(scorer, value) for value in values], wanted, lambda k: log.samples[k].place)
        self._told.extend(numbers.warnings)
        kept = [log.samples[k] for k in numbers.kept]
        self._told.extend(_tell_missing(log, kept))
        groups, told = group_values([sample.fields for sample in kept], asked, within="metadata", source=log.source)
        self._told.extend(told)
        content = tuple(_content(sample, self.agree) for sample in kept) if self.agree else ()
        columns = make_columns(_rename(numbers, scorer, parted=parted), groups, content, log.source)
        refuse_halves((sample.name for sample in kept), log.source)
        published = _published(log, scorer, tuple(numbers.columns), parted=parted)
        if log.epochs == 1:
            return {name: _items(log, kept, range(len(kept)), columns, published=published)}
        self._told.extend(_doubt_published(log, kept, columns, published))
        return {
            f"{name}/{epoch}": _items(
                log,
                kept,
                [k for k, sample in enumerate(kept) if sample.epoch == epoch],
                columns,
                coordinates={"model": name, "replica": str(epoch), "runs_are": "samples"},
            )
            for epoch in sorted({sample.epoch for sample in kept})
        }

    def _refuse_incomplete(self, log: Log) -> None:
        if log.complete:
            return
        what = {"started": "was started and has not ended", "cancelled": "was cancelled", "error": "ended in an error"}
        message = f"the run {what.get(log.status, f'has the status {log.status!r}')}: the log has {len(log.samples)} samples"
        if not self.incomplete:
            help_ = "run it to its end (`inspect eval-retry`), or say `format: {name: inspect, incomplete: true}`"
            raise DataError.of("P266", message, where=log.source, help=help_)
        self._told.append(f"{log.source}: {message}; those that it lacks are missing items")

    def _choose_scorer(self, log: Log) -> str:
        names = dict.fromkeys(name for sample in log.samples for name in _scores(sample))
        there = ", ".join(map(repr, names)) or "none"
        if self.scorer is not None and self.scorer in names:
            return self.scorer
        if self.scorer is not None:
            message = f"no sample has a score of '{self.scorer}'; there are {there}"
        elif len(names) == 1:
            return next(iter(names))
        else:
            message = f"samples have several scorers: {there}" if names else "no sample has a score"
        help_ = f"name a scorer: `format: {{name: inspect, scorer: {next(iter(names), '…')}}}`"
        raise DataError.of("P261", message, where=log.source, help=help_)


def _scores(sample: Sample) -> Mapping[str, Any]:
    """Return the scores of a sample by scorer; none of one that was invalidated."""
    if sample.fields.get("scores") is None or sample.fields.get("invalidation") is not None:
        return {}
    scores: Mapping[str, Any] = need(sample.fields, "scores", dict, sample.place)
    return scores


def _value(sample: Sample, scorer: str) -> Any:
    """Return the value of a score, words as numbers; None where there is none."""
    score = _scores(sample).get(scorer)
    return _weigh(need(score, "value", (object, bool), sample.place)) if score is not None else None


def _weigh(value: Any) -> Any:
    if isinstance(value, list):
        return [_weigh(part) for part in value]
    if isinstance(value, Mapping):
        return {key: _weigh(part) for key, part in value.items()}
    if not isinstance(value, str):
        return value
    meaning = _MEANINGS.get(value, _MEANINGS.get(value.lower()) if len(value) > 1 else None)
    if meaning is not None:
        return meaning
    return float(value) if is_number(value) else value


def _parts(scorer: str, value: Any) -> dict[str, Any]:
    if isinstance(value, list):
        return {str(k): part for k, part in enumerate(value)}
    if isinstance(value, Mapping):
        return dict(value)
    return {scorer: value} if value is not None else {}


def _rename(numbers: Numbers, scorer: str, *, parted: bool) -> dict[str, tuple[str, ...]]:
    return {f"{scorer}.{part}" if parted else part: column for part, column in numbers.columns.items()}


def _items(
    log: Log,
    samples: Sequence[Sample],
    chosen: Sequence[int],
    columns: Mapping[str, Sequence[str]],
    *,
    coordinates: Mapping[str, str] | None = None,
    published: Mapping[str, float] | None = None,
) -> Items:
    """Return the samples at some places as items."""
    return Items(
        tuple(samples[k].name for k in chosen),
        {name: tuple(values[k] for k in chosen) for name, values in columns.items()},
        log.source,
        tuple(k + 1 for k in chosen),
        numbered=False,
        coordinates=coordinates or {},
        published=published or {},
    )


def _tell_missing(log: Log, kept: Sequence[Sample]) -> list[str]:
    """Say which samples of an epoch are missing items, and why."""
    there = {(sample.name, sample.epoch) for sample in kept}
    found = {(sample.name, sample.epoch): sample for sample in log.samples}
    told = []
    for epoch in sorted({sample.epoch for sample in log.samples}):
        names = dict.fromkeys([*log.names, *(name for name, of in found if of == epoch)])
        why = {name: _reason(found.get((name, epoch))) for name in names if (name, epoch) not in there}
        if why:
            reasons = ", ".join(f"{count} {reason}" for reason, count in Counter(why.values()).items())
            some = ", ".join(map(repr, list(why)[:_MOST_NAMED])) + ", …" * (len(why) > _MOST_NAMED)
            of = f" of epoch {epoch}" if log.epochs > 1 else ""
            told.append(f"{log.source}: {len(why)} of {len(names)} samples{of} are missing items ({reasons}): {some}")
    return told


def _reason(sample: Sample | None) -> str:
    if sample is None:
        return "not in the log"
    for field, reason in (("invalidation", "invalidated"), ("error", "ended in an error"), ("limit", "met a limit")):
        if sample.fields.get(field) is not None:
            return reason
    return "not scored"


def _content(sample: Sample, parts: Sequence[str]) -> str:
    return digest_of([_text(sample.fields.get(part)) for part in parts])


def _text(value: Any) -> Any:
    """Return the text of what was asked: as much of it as summaries keep, without what they leave out or runs number anew."""
    if isinstance(value, str):
        return value[:_MOST_TEXT]
    if isinstance(value, list):
        return [text for text in map(_text, value) if text is not None]
    if isinstance(value, Mapping) and "role" in value:
        return [str(value["role"]), _text(value.get("content"))]
    return _text(value.get("text")) if isinstance(value, Mapping) and value.get("type") == "text" else None


def _published(log: Log, scorer: str, parts: Sequence[str], *, parted: bool) -> dict[str, float]:
    """Return what the header says is the mean of columns: over the epochs, where there are several."""
    listed = find_at(log.header, "results.scores")
    published = {}
    for entry in listed if isinstance(listed, list) else []:
        if not isinstance(entry, Mapping) or entry.get("scorer") != scorer or entry.get("reducer") not in (None, "mean"):
            continue
        part = entry.get("name")
        metrics = entry.get("metrics")
        for metric in ("accuracy", "mean"):
            said = float(number_text(find_at(metrics, f"{metric}.value")) or "nan")
            if part in parts and math.isfinite(said):
                published[f"{scorer}.{part}" if parted else str(part)] = said
    return published


def _doubt_published(
    log: Log, kept: Sequence[Sample], columns: Mapping[str, Sequence[str]], published: Mapping[str, float]
) -> list[str]:
    """Say where the mean over epochs and samples is not what the header says."""
    told = []
    for column, said in published.items():
        of: dict[str, list[float]] = {}
        for sample, value in zip(kept, columns[column], strict=True):
            of.setdefault(sample.name, []).append(float(value))
        found = sum(sum(values) / len(values) for values in of.values()) / len(of)
        if abs(found - said) > _NEAR:
            says = f"the log says that '{column}' is {said:.6g} over its epochs"
            told.append(f"{log.source}: {says}, and its scores give {found:.6g}")
    return told
