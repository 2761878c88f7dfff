"""Measure how cost grows with replicates, items and systems, and what a second worker brings."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from benchmarks.arithmetic import MILLION, fit_line, marginal, spread
from benchmarks.jobs import Job, Reference, Replicates, question_of
from benchmarks.measure import start_measured
from benchmarks.studies import Bench, Question

__all__ = ["SPEEDUP", "Axes", "measure_scaling", "measure_workers"]

SPEEDUP = 1.85
"""How much more two workers should do than one."""

_STATISTICS = 10  # of BLEU
_CELL = 2**14


@dataclass(frozen=True)
class Axes:
    """The points of each table.

    Parameters
    ----------
    replicates, items, systems : sequence of int
        Along one of them the two others are those of ``at``.
    between : Replicates
        For marginal costs along items and systems. From eight cells on: up to there scores of replicates are kept.
    at : Question
        BLEU on so many systems and items.
    """

    replicates: Sequence[int]
    items: Sequence[int]
    systems: Sequence[int]
    between: Replicates
    at: Question

    @classmethod
    def full(cls) -> Axes:
        """Return what `docs/performance.md` shows."""
        at = Question("bleu", "bootstrap", 31, 2034)
        cells = [8 * _CELL, 16 * _CELL, 32 * _CELL, 64 * _CELL]
        return cls(cells, [508, 1017, 2034, 4068], [10, 31, 75, 150], Replicates(8 * _CELL, 40 * _CELL), at)

    @classmethod
    def quick(cls) -> Axes:
        """Return fewer and smaller points."""
        at = Question("bleu", "bootstrap", 31, 1017)
        return cls([8 * _CELL, 16 * _CELL, 32 * _CELL], [508, 1017], [10, 20, 31], Replicates(8 * _CELL, 24 * _CELL), at)

    @property
    def questions(self) -> list[Question]:
        """What is asked: statistics of the most systems first."""
        at = self.at
        by_items = [Question(at.metric, at.procedure, at.systems, items) for items in self.items]
        return [*(Question(at.metric, at.procedure, systems, at.items) for systems in self.systems), *by_items]


def measure_scaling(bench: Bench, axes: Axes, *, repeat: int) -> list[dict[str, Any]]:
    """Return a table and a straight line for replicates, for items, and for systems times statistics."""
    at = axes.at
    whole = [_median(bench, at, [number], repeat)[0] for number in axes.replicates]
    by_items = [_marginal(bench, Question(at.metric, at.procedure, at.systems, n), axes.between, repeat) for n in axes.items]
    by_systems = [_marginal(bench, Question(at.metric, at.procedure, s, at.items), axes.between, repeat) for s in axes.systems]
    columns = [systems * _STATISTICS for systems in axes.systems]
    return [
        _record("replicates", "CPU seconds of the run", axes.replicates, whole, axes),
        _record("items", "CPU seconds of 10^6 replicates", axes.items, by_items, axes),
        _record("systems x statistics", "CPU seconds of 10^6 replicates", columns, by_systems, axes),
    ]


def _median(bench: Bench, question: Question, numbers: Sequence[int], repeat: int) -> list[float]:
    return [statistics.median(bench.run(question, number).cost.cpu_s for _ in range(repeat)) for number in numbers]


def _marginal(bench: Bench, question: Question, between: Replicates, repeat: int) -> float:
    few, many = _median(bench, question, [between.few, between.many], repeat)
    return marginal(few, many, replicates=(between.few, between.many))


def _record(axis: str, quantity: str, x: Sequence[int], y: Sequence[float], axes: Axes) -> dict[str, Any]:
    at = axes.at
    return {
        "kind": "scaling",
        "axis": axis,
        "quantity": quantity,
        "metric": at.metric,
        "procedure": at.procedure,
        "systems": at.systems,
        "items": at.items,
        "x": list(x),
        "cpu_s": [round(value, 3) for value in y],
        "line": fit_line(x, y),
    }


def measure_workers(
    bench: Bench, job: Job, reference: Reference, *, items: int, between: Replicates, repeat: int
) -> dict[str, Any]:
    """Return the record of one worker against two, and of one copy of the reference against two at once.

    The shorter run has one cell: blocks of a run that is a little longer would not divide evenly between two workers, and what
    the second one waits for would be taken off the longer run.
    """
    between = replace(between, few=_CELL)
    question = question_of(job, items)
    walls: dict[int, list[float]] = {1: [], 2: []}
    copies: dict[int, list[float]] = {1: [], 2: []}
    for _ in range(repeat):
        for workers, found in walls.items():
            few, many = (bench.run(question, number, workers=workers).cost.wall_s for number in (between.few, between.many))
            found.append(marginal(few, many, replicates=(between.few, between.many)))
        for number, found in copies.items():
            found.append(_time_copies(reference, job, items, number))
    speedup = spread([one / two for one, two in zip(walls[1], walls[2], strict=True)])
    return {
        "kind": "workers",
        "job": job.name,
        "metric": job.metric,
        "procedure": job.procedure,
        "systems": job.systems,
        "items": items,
        "repeat": repeat,
        "wall_s": {str(workers): spread(found) for workers, found in walls.items()},
        "speedup": speedup,
        "speedup_of_reference": spread([2 * one / two for one, two in zip(copies[1], copies[2], strict=True)]),
        "targets": {"speedup": {"at_least": SPEEDUP, "met": speedup["median"] >= SPEEDUP}},
    }


def _time_copies(reference: Reference, job: Job, items: int, copies: int) -> float:
    """Return wall seconds of so many copies at once; each has about twice the usual number of replicates."""
    replicates = max(1000, round(2 * reference.budget_s / job.seconds * MILLION / 1000) * 1000)
    started = [start_measured(reference.command(job, items, replicates)) for _ in range(copies)]
    return max(one.finish()[0].wall_s for one in started)
