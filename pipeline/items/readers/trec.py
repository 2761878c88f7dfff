"""Retrieval runs and judgements of TREC, with documents ordered as trec_eval does."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Literal

from pipeline.errors import Problem
from pipeline.interfaces import FileSample, Items, Reader, Recognised
from pipeline.items.readers._files import Lines, read_lines, with_warnings
from pipeline.items.readers._tables import NUMBER, refuse

__all__ = ["TrecReader"]

_RUN = ("topic", "Q0", "document", "rank", "score", "tag")
_QRELS = ("topic", "iteration", "document", "relevance")
_WHOLE = re.compile(r"[+-]?[0-9]{1,9}")
_NO_NUMBERS = frozenset({"nan", "inf", "infinity"})
_BLANK = " \t\v\f\r"
_BLANKS = re.compile(f"[{_BLANK}]+")
_LOOKED_AT = 50


@dataclass
class _Topic:
    """What a file has of a topic: documents, what stands beside each, and their lines."""

    documents: list[str] = field(default_factory=list)
    values: list[str] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)


class TrecReader(Reader):
    """Runs ``topic Q0 document rank score tag`` and qrels ``topic iteration document relevance``, parted by blanks.

    Items are topics. Those of the gold have the column ``relevance``, pairs of a document and its relevance; those of runs have
    ``ranking``, documents from the best to the last. They go by score, and by name where scores are equal, both from the highest to
    the lowest, with scores in single precision: that is trec_eval's order. The ranks of the file are not looked at. A file of which
    no system is named holds the runs of its tags.
    """

    name: ClassVar[str] = "trec"
    endings: ClassVar[tuple[str, ...]] = (".run", ".txt", ".res", ".trec")
    targets: ClassVar[tuple[str, ...]] = ("relevance",)
    outputs: ClassVar[tuple[str, ...]] = ("ranking",)
    compares_with: Literal["references", "gold", "nothing"] = "gold"
    usual_metric: str | None = "average-precision"
    holds_systems: ClassVar[bool] = True
    blank: str = ""

    def __init__(self) -> None:
        self._told: list[str] = []

    @staticmethod
    def recognise(sample: FileSample) -> Recognised | None:
        """Take lines of six fields, the second Q0, the fifth a score."""
        rows = [line.split() for line in sample.lines[:_LOOKED_AT] if line.strip()]
        if not rows or any(len(row) != len(_RUN) or not _WHOLE.fullmatch(row[3]) or not NUMBER.fullmatch(row[4]) for row in rows):
            return None
        if all(row[1].upper() == "Q0" for row in rows):
            return Recognised(0.97, f"six fields a line, the second Q0, the fifth a score: {rows[0][4]}")
        return None

    @with_warnings
    def read_gold(self, paths: Sequence[Path], options: Mapping[str, Any]) -> Items | None:
        """Return the judgements of one file or several; None without files."""
        if not paths:
            return None
        judged: dict[str, tuple[tuple[str, int], ...]] = {}
        places: dict[str, tuple[str, int]] = {}
        for path in paths:
            lines = self._read(path)
            topics = _collect(lines, _QRELS, by_tag=False)[""]
            refuse([*_refuse_values(lines, topics, _complain_relevance), *_refuse_shared(lines, topics, places)])
            for name, topic in topics.items():
                places[name] = (lines.source, topic.lines[0])
                judged[name] = tuple(sorted(zip(topic.documents, map(int, topic.values), strict=True)))
        numbers = tuple(line for _, line in places.values())
        return Items(tuple(judged), {"relevance": tuple(judged.values())}, str(paths[0]), numbers, numbered=False)

    @with_warnings
    def read_outputs(self, path: Path, *, system: str | None, options: Mapping[str, Any]) -> dict[str, Items]:
        """Return the ranking of each topic, of one system or of the systems that the tags name."""
        lines = self._read(path)
        runs = _collect(lines, _RUN, by_tag=True)
        if system is not None and len(runs) > 1:
            some = ", ".join(list(runs)[:3]) + ", …" * (len(runs) > 3)
            self._told.append(f"{lines.source} has lines of {len(runs)} tags ({some}): they are read as one run, '{system}'")
        if system is not None:
            runs = {system: _collect(lines, _RUN, by_tag=False)[""]}
        refuse(problem for topics in runs.values() for problem in _refuse_values(lines, topics, _complain_score))
        return {name: _as_run(topics, lines.source) for name, topics in runs.items()}

    def fit(self, gold: Items, output: Items) -> Items:
        """Leave out the topics of a run that nobody judged, as trec_eval does: there is nothing to hold them against."""
        judged = set(gold.ids)
        kept = [k for k, name in enumerate(output.ids) if name in judged]
        if len(kept) == len(output):
            return output
        left = [name for name in output.ids if name not in judged]
        some = ", ".join(left[:5]) + ", …" * (len(left) > 5)
        told = f"{output.source} has {len(left)} of {len(output)} topics without judgements, which are left out: {some}"
        return Items(
            tuple(output.ids[k] for k in kept),
            {name: tuple(values[k] for k in kept) for name, values in output.columns.items()},
            output.source,
            tuple(output.lines[k] for k in kept),
            output.numbered,
            warnings=(*output.warnings, told),
        )

    def _read(self, path: Path) -> Lines:
        lines = read_lines(path)
        self._told.extend(lines.warnings)
        return lines


def _collect(lines: Lines, fields: tuple[str, ...], *, by_tag: bool) -> dict[str, dict[str, _Topic]]:
    """Put the lines of a file under their topics, and those of a file of several runs under their tags; else all under ``""``."""
    wrong: list[Problem] = []
    runs: dict[str, dict[str, _Topic]] = {}
    value = 4 if fields == _RUN else 3
    for number, line in enumerate(lines.values, start=1):
        # `str.split()` would also part at blanks that do not break.
        row = line.split() if line.isascii() else _BLANKS.split(line.strip(_BLANK))
        if len(row) != len(fields):
            if row:
                wrong.append(_malformed(row, fields, f"{lines.source}:{number}"))
            continue
        topic = runs.setdefault(row[-1] if by_tag else "", {}).setdefault(row[0], _Topic())
        topic.documents.append(row[2])
        topic.values.append(row[value])
        topic.lines.append(number)
    if not wrong and not runs:
        wrong.append(Problem("P264", "the file has no line with a document", lines.source, f"a line is `{' '.join(fields)}`"))
    refuse(wrong)
    return runs


def _malformed(row: list[str], fields: tuple[str, ...], where: str) -> Problem:
    hint = f"a line is `{' '.join(fields)}`"
    if len(row) == len(_QRELS) and fields == _RUN:
        hint += "; this looks like judgements, which are the `gold:`"
    elif len(row) == len(_RUN) and fields == _QRELS:
        hint += "; this looks like a run, which is one of the `outputs:`"
    return Problem("P264", f"the line has {len(row)} fields in place of {len(fields)}", where, hint)


def _refuse_values(
    lines: Lines, topics: Mapping[str, _Topic], complain: Callable[[str], tuple[str, str] | None]
) -> Iterator[Problem]:
    """Yield what is wrong with the documents of a file: one that is there twice, and values of no use."""
    for name, topic in topics.items():
        for value in set(topic.values):
            found = complain(value)
            for k in [k for k, other in enumerate(topic.values) if other == value] if found is not None else ():
                assert found is not None
                message = f"document '{topic.documents[k]}' of topic '{name}' has the {found[1]}"
                yield Problem(found[0], message, f"{lines.source}:{topic.lines[k]}", "correct the line")
        first: dict[str, int] = {}
        if len(set(topic.documents)) == len(topic.documents):
            continue
        for document, line in zip(topic.documents, topic.lines, strict=True):
            if first.setdefault(document, line) != line:
                message = f"the document '{document}' of topic '{name}' is there twice, on lines {first[document]} and {line}"
                yield Problem("P209", message, f"{lines.source}:{line}", "leave one line for each document of a topic")


def _complain_score(value: str) -> tuple[str, str] | None:
    if NUMBER.fullmatch(value):
        return None if abs(float(value)) != float("inf") else ("P210", f"score {value}, which is not a finite number")
    code = "P210" if value.lower().lstrip("+-") in _NO_NUMBERS else "P264"
    return code, f"score {value[:40]!r}, which is not a{' finite' * (code == 'P210')} number"


def _complain_relevance(value: str) -> tuple[str, str] | None:
    return (
        None
        if _WHOLE.fullmatch(value)
        else ("P264", f"relevance {value[:40]!r}, which is not a whole number of at most nine digits")
    )


def _refuse_shared(lines: Lines, topics: Mapping[str, _Topic], places: Mapping[str, tuple[str, int]]) -> Iterator[Problem]:
    for name, topic in topics.items():
        if name in places:
            source, line = places[name]
            message = f"topic '{name}' is judged here and in {source}, line {line}"
            yield Problem("P209", message, f"{lines.source}:{topic.lines[0]}", "put the judgements of a topic into one file")


def _as_run(topics: Mapping[str, _Topic], source: str) -> Items:
    rankings = tuple(map(_rank, topics.values()))
    return Items(tuple(topics), {"ranking": rankings}, source, tuple(topic.lines[0] for topic in topics.values()), numbered=False)


def _rank(topic: _Topic) -> tuple[str, ...]:
    """Return the documents of a topic by score and then by name, from the highest to the lowest.

    Scores are rounded to single precision, as trec_eval does: such as differ beyond it are equal there, and go by name.
    """
    import numpy as np  # recognising a run does not need it

    with np.errstate(over="ignore"):  # beyond single precision is infinite, and still the best or the last
        scores = np.array([float(value) for value in topic.values]).astype(np.float32).tolist()
    return tuple(name for _, name in sorted(zip(scores, topic.documents, strict=True), reverse=True))
