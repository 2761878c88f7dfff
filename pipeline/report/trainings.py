"""How the systems of a study were made: what trainings took, what their samples held, which failed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from statistics import median

from pipeline.errors import name_some
from pipeline.report.document import Report
from pipeline.report.facts import AbsentSystem, Failure, TrainingRow
from pipeline.report.layout.view import View
from pipeline.report.rows import FamilyKey
from pipeline.report.values import MISSING, format_share

__all__ = ["count_failures", "say_only_model", "tell_failures", "training_views"]

_DONE, _FAILED = "done", "failed"
_SAMPLES = ("base model", "sample", "done", "failed", "seconds", "range", "memory", "items", "distinct", "notes")
_FAILURES = ("system", "exit status", "attempts", "seconds", "reason", "log")
_MEBIBYTE = 2**20


def tell_failures(report: Report) -> list[str]:
    """Return a line for each failure of a study; those of trainings are counted by base model, in a table of their own."""
    lost = _lost(report)
    models = ", ".join(f"{number} of {model}" for model, number in Counter(row.model for row in lost).items())
    told = [f"{len(lost)} of {len(report.trainings)} trainings ({models}): see Trainings."] if lost else []
    return [*told, *map(_say, _others(report))]


def count_failures(report: Report) -> int:
    """Count failures: a training is one, on however many test sets its system is absent."""
    return len(_lost(report)) + len(_others(report))


def say_only_model(report: Report, place: FamilyKey) -> str | None:
    """Return what there is to say where all trainings of every model but one failed; None where models, or none, are compared.

    The runs of the one that is left differ by the luck of their samples and seeds: which of them leads answers no question.
    """
    of = {row.system: row.model for row in report.trainings}
    left = {of.get(row.name) for row in report.board_of[place]}
    lost = sorted({row.model for row in _lost(report)} - left)
    if len(left) != 1 or None in left or not lost:
        return None
    (model,) = left
    return f"There are no two models to compare: only {model} is left, since every training of {name_some(lost)} failed."


def _lost(report: Report) -> list[TrainingRow]:
    return [row for row in report.trainings if row.status == _FAILED]


def _others(report: Report) -> list[Failure]:
    """Return failures that are neither of a training nor the absence of its system from a test set."""
    names = {row.system for row in _lost(report)}
    labels = names | {f"train {name}" for name in names}
    return [row for row in report.failures if (row.system if isinstance(row, AbsentSystem) else row.label) not in labels]


def _say(failure: Failure) -> str:
    """Return a failure in words: of its problems the messages."""
    if isinstance(failure, AbsentSystem):
        return f"label: {failure.label}; system: {failure.system}; reason: {failure.reason}"
    problems = "; ".join(problem.message for problem in failure.problems)
    return f"label: {failure.label}; exit_code: {failure.exit_code}; problems: {problems}"


def training_views(report: Report) -> Iterator[View]:
    """Yield the tables of trainings: a line a base model and sample, and a line a training that failed."""
    rows = report.trainings
    if not rows:
        return
    groups: dict[tuple[str, str], list[TrainingRow]] = {}
    for row in rows:
        groups.setdefault((row.model, _sample(row.system)), []).append(row)
    cells = tuple(_summary(model, sample, found) for (model, sample), found in groups.items())
    caption = (
        "Seconds: the median of a whole training, with its predictions, and the range. Memory: the most that one of them held. "
        "Items and distinct: of the samples; distinct items (or units) are a share of the training set."
    )
    yield View("trainings", "By base model and sample", _SAMPLES, cells, caption, frozenset({"base model", "sample", "notes"}))
    lost = tuple(map(_failure, _lost(report)))
    if lost:
        words = (
            "Exit status: of its command, where that ended by itself; below 0 it is a signal. Logs are below .store/ of the runs."
        )
        yield View("trainings", "Failed", _FAILURES, lost, words, frozenset({"system", "reason", "log"}))


def _sample(system: str) -> str:
    """Return the sampling method with its number, as a system's name has it.

    Examples
    --------
    >>> _sample("a/b/bootstrap-0.5/3")
    'bootstrap-0.5'
    """
    return system.rsplit("/", 2)[-2]


def _summary(model: str, sample: str, rows: Sequence[TrainingRow]) -> tuple[str, ...]:
    done = [row for row in rows if row.status == _DONE]
    taken = [row.seconds for row in done if row.seconds is not None]
    memory = max((row.peak_memory_bytes for row in done or rows if row.peak_memory_bytes), default=None)
    notes = Counter(note for row in done for note in row.notes)
    return (
        model,
        sample,
        str(len(done)),
        str(sum(row.status == _FAILED for row in rows)),
        f"{median(taken):.2f}" if taken else MISSING,
        f"{min(taken):.2f}–{max(taken):.2f}" if taken else MISSING,
        MISSING if memory is None else f"{memory / _MEBIBYTE:,.0f} MiB",
        _range([row.items for row in done], lambda value: f"{value:,}"),
        _range([row.distinct for row in done], format_share),
        "; ".join(f"{note} ({number})" for note, number in notes.items()) or MISSING,
    )


def _range(values: Sequence[float | None], form: Callable[[float], str]) -> str:
    found = sorted(value for value in values if value is not None)
    if not found:
        return MISSING
    ends = dict.fromkeys((form(found[0]), form(found[-1])))
    return "–".join(ends)


def _failure(row: TrainingRow) -> tuple[str, ...]:
    return (
        row.system,
        MISSING if row.exit_status is None else str(row.exit_status),
        str(row.attempts),
        MISSING if row.seconds is None else f"{row.seconds:.2f}",
        row.reason or MISSING,
        row.log or MISSING,
    )
