"""How the systems of a study were made. This module tells of trainings: what they took, what their samples held, which failed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from statistics import median
from typing import Any

from pipeline.report.values import MISSING, format_share
from pipeline.report.view import View

__all__ = ["count_failures", "tell_failures", "training_views"]

_DONE, _FAILED = "done", "failed"
_SAMPLES = ("base model", "sample", "done", "failed", "seconds", "range", "memory", "items", "distinct", "notes")
_FAILURES = ("system", "exit status", "attempts", "seconds", "reason", "log")
_MEBIBYTE = 2**20

Row = Mapping[str, Any]


def tell_failures(document: Mapping[str, Any]) -> list[str]:
    """Return a line for each failure of a study; those of trainings are counted by base model, in a table of their own."""
    lost = _lost(document)
    models = ", ".join(f"{number} of {model}" for model, number in Counter(row["model"] for row in lost).items())
    told = [f"{len(lost)} of {len(document['trainings'])} trainings ({models}): see Trainings."] if lost else []
    return [*told, *("; ".join(f"{key}: {_say(value)}" for key, value in row.items()) for row in _others(document))]


def count_failures(document: Mapping[str, Any]) -> int:
    """Count failures: a training is one, on however many test sets its system is absent."""
    return len(_lost(document)) + len(_others(document))


def _lost(document: Mapping[str, Any]) -> list[Row]:
    return [row for row in document["trainings"] if row["status"] == _FAILED]


def _others(document: Mapping[str, Any]) -> list[Row]:
    """Return failures that are neither of a training nor the absence of its system from a test set."""
    names = {row["system"] for row in _lost(document)}
    labels = names | {f"train {name}" for name in names}
    return [row for row in document["failures"] if row.get("system", row.get("label")) not in labels]


def _say(value: Any) -> str:
    """Return a value of a failure in words: of its problems the messages."""
    if isinstance(value, list):
        return "; ".join(str(entry.get("message", entry)) if isinstance(entry, Mapping) else str(entry) for entry in value)
    return str(value)


def training_views(document: Mapping[str, Any]) -> Iterator[View]:
    """Yield the tables of trainings: a line a base model and sample, and a line a training that failed."""
    rows: Sequence[Row] = document["trainings"]
    if not rows:
        return
    groups: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        groups.setdefault((row["model"], _sample(row)), []).append(row)
    cells = tuple(_summary(model, sample, found) for (model, sample), found in groups.items())
    caption = (
        "Seconds: the median of a whole training, with its predictions, and the range. Memory: the most that one of them held. "
        "Items and distinct: of the samples; distinct items (or units) are a share of the training set."
    )
    yield View("trainings", "By base model and sample", _SAMPLES, cells, caption, frozenset({"base model", "sample", "notes"}))
    lost = tuple(map(_failure, _lost(document)))
    if lost:
        words = (
            "Exit status: of its command, where that ended by itself; below 0 it is a signal. Logs are below .store/ of the runs."
        )
        yield View("trainings", "Failed", _FAILURES, lost, words, frozenset({"system", "reason", "log"}))


def _sample(row: Row) -> str:
    """Return the sampling method with its number, as the system's name has it.

    Examples
    --------
    >>> _sample({"system": "a/b/bootstrap-0.5/3"})
    'bootstrap-0.5'
    """
    return str(row["system"]).rsplit("/", 2)[-2]


def _summary(model: str, sample: str, rows: Sequence[Row]) -> tuple[str, ...]:
    done = [row for row in rows if row["status"] == _DONE]
    taken = [row["seconds"] for row in done if row["seconds"] is not None]
    memory = max((row["peak_memory_bytes"] for row in done or rows if row["peak_memory_bytes"]), default=None)
    notes = Counter(note for row in done for note in row["notes"])
    return (
        model,
        sample,
        str(len(done)),
        str(sum(row["status"] == _FAILED for row in rows)),
        f"{median(taken):.2f}" if taken else MISSING,
        f"{min(taken):.2f}–{max(taken):.2f}" if taken else MISSING,
        MISSING if memory is None else f"{memory / _MEBIBYTE:,.0f} MiB",
        _range(done, "items", lambda value: f"{value:,}"),
        _range(done, "distinct", format_share),
        "; ".join(f"{note} ({number})" for note, number in notes.items()) or MISSING,
    )


def _range(rows: Sequence[Row], key: str, form: Any) -> str:
    found = sorted(row[key] for row in rows if row[key] is not None)
    if not found:
        return MISSING
    ends = dict.fromkeys((form(found[0]), form(found[-1])))
    return "–".join(ends)


def _failure(row: Row) -> tuple[str, ...]:
    return (
        row["system"],
        MISSING if row["exit_status"] is None else str(row["exit_status"]),
        str(row["attempts"]),
        MISSING if row["seconds"] is None else f"{row['seconds']:.2f}",
        row["reason"] or MISSING,
        row["log"] or MISSING,
    )
