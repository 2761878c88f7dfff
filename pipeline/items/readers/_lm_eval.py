"""Rows that the lm-evaluation-harness logs of documents: their names, what was asked, and the scores of each time it was."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from pipeline.errors import Problem
from pipeline.items.readers._json import JsonLine, digest_of, need, refuse_shape
from pipeline.items.readers._tables import refuse

__all__ = ["ASKED", "Answer", "Row", "digest_content", "list_answers", "name_rows"]

ASKED = ("doc", "prompt", "target")
_REPEATS = "scores_per_repeat"
_FIELDS = frozenset(
    {"doc_id", "doc", "target", "arguments", "resps", "filtered_resps", "filter", "metrics", _REPEATS}
    | {f"{name}_hash" for name in ASKED}
)
"""What a row has beside its scores."""


class Row(NamedTuple):
    """A document as one filter of the answers scores it."""

    line: int
    value: Mapping[str, Any]
    name: str
    number: int | None


class Answer(NamedTuple):
    """Scores of a document.

    Parameters
    ----------
    row : Row
    repeat : int
        Which of the times that it was asked, from 1; 0 where the scores are those of the document: it was asked once, or they
        summarise several answers.
    scores : mapping of str to object
        By metric.
    """

    row: Row
    repeat: int
    scores: Mapping[str, Any]


def name_rows(lines: Sequence[JsonLine], source: str) -> list[Row]:
    """Return the rows with their names, in the order of the file."""
    found: dict[str, list[Row]] = {}
    for line in lines:
        number = need(line.value, "doc_id", int, source, line.line) if "doc_id" in line.value else None
        name = _digest(Row(line.line, line.value, "", number), "doc", source)
        found.setdefault(name, []).append(Row(line.line, line.value, name, number))
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


_TWICE = "keep one row for each document and filter; rows of several filters that are not named cannot be distinguished"


def list_answers(rows: Sequence[Row], source: str, *, metric: str | None) -> tuple[list[Answer], list[str]]:
    """Return the scores of each document, or of each answer where it was asked several times; and what was left out.

    Parameters
    ----------
    rows : sequence of Row
    source : str
        The file.
    metric : str or None
        The metric that is asked for: one that has no scores of single answers is a summary, and there is one of each document.
    """
    repeats = [_repeats(row, source) for row in rows]
    names = dict.fromkeys(name for scores in repeats for name in scores)
    if not names or (metric is not None and metric not in names):
        return [Answer(row, 0, _metrics(row, source)) for row in rows], []
    answers = [
        Answer(row, k + 1, {name: values[k] for name, values in scores.items() if k < len(values)})
        for row, scores in zip(rows, repeats, strict=True)
        for k in range(max(map(len, scores.values()), default=0))
    ]
    others = dict.fromkeys(name for row in rows for name in _metrics(row, source) if _summarised(name) not in names)
    told = [
        f"{source}: the metric '{name}' has one value a document, where others have one an answer, and was left out; "
        f"`metric: {name}` takes it alone"
        for name in others
        if metric is None
    ]
    return answers, told


def _repeats(row: Row, source: str) -> Mapping[str, Sequence[Any]]:
    """Return the scores of each answer by metric; none where the document was asked once."""
    found: Mapping[str, Sequence[Any]] = need(row.value, _REPEATS, dict, source, row.line) if row.value.get(_REPEATS) else {}
    for name, values in found.items():
        if not isinstance(values, list):
            raise refuse_shape(source, row.line, f"'{name}' in the field '{_REPEATS}'", "a list of scores", values)
    return found


def _summarised(name: str) -> str:
    """Return the metric that a summary is of: ``exact_match`` of ``pass@3(exact_match)``."""
    return name[name.index("(") + 1 : -1] if name.endswith(")") and "(" in name else name


def _metrics(row: Row, source: str) -> dict[str, Any]:
    """Return the scores of a row: those it lists, or in older versions whatever is nothing else."""
    if "metrics" not in row.value:
        return {key: value for key, value in row.value.items() if key not in _FIELDS}
    listed = need(row.value, "metrics", list, source, row.line)
    if not all(isinstance(name, str) for name in listed):
        raise refuse_shape(source, row.line, "the field 'metrics'", "a list of names", listed)
    return {name: row.value[name] for name in listed if name in row.value}


def digest_content(row: Row, parts: Sequence[str], source: str) -> str:
    """Return the digest of what systems must agree in."""
    return digest_of([_digest(row, part, source) for part in parts])


def _digest(row: Row, part: str, source: str) -> str:
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
