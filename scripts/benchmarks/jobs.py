"""Measure in turns the jobs J1 to J5: a million replicates of all pairs, ours beside plain NumPy."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from benchmarks.arithmetic import MILLION, marginal, spread
from benchmarks.measure import start_measured
from benchmarks.studies import Bench, Question, Run

__all__ = [
    "BEYOND_KEPT",
    "JOBS",
    "Job",
    "Reference",
    "Replicates",
    "Settings",
    "measure_job",
    "questions",
    "select_jobs",
    "warm_up",
]

OUTSIDE = 0.05
"""Seconds outside the blocks over those within, of 10^6 replicates: Dask, ledger and Zarr."""

FLOATS = "float"
"""The form of products in single precision, which every processor has."""

_WITHOUT_DOT = (FLOATS, "avx2")
"""Forms of processors that add no four products of bytes in one instruction."""

MEMORY_BYTES = 2**30
"""Of a worker, whatever the number of replicates."""


@dataclass(frozen=True)
class Job:
    """One question with the ratios that it should not exceed.

    Parameters
    ----------
    to_reference, to_product : float, optional
        Marginal CPU seconds over those of plain NumPy, and of the matrix product alone.
    without_dot : float, optional
        Over those of plain NumPy on processors without an instruction that adds four products of bytes.
    seconds : float
        About what 10^6 replicates of the reference take: decides how many replicates are enough to measure it.
    quick_cells : int
        Cells of 2^14 replicates of the longer run of a quick measurement; the shorter has two.
    is_quick : bool
        Whether a quick measurement has it.
    repeat : int
        Repetitions of a full measurement.
    """

    name: str
    metric: str
    procedure: str
    systems: int
    to_reference: float | None
    to_product: float | None
    without_dot: float | None
    seconds: float
    quick_cells: int
    repeat: int = 5
    is_quick: bool = True


JOBS = (
    Job("J1", "bleu", "bootstrap", 31, 0.20, 0.55, 0.40, 25, 10),
    Job("J2", "bleu", "bootstrap", 150, 0.28, 0.55, 0.60, 80, 6),
    Job("J3", "bleu", "randomization", 31, None, None, None, 20, 10, is_quick=False),
    Job("J3", "bleu", "randomization", 150, 0.30, None, 0.40, 175, 4),
    Job("J4", "accuracy", "bootstrap", 31, 0.15, None, 0.40, 14, 10),
    Job("J4", "accuracy", "bootstrap", 150, 0.25, None, 0.40, 28, 6, is_quick=False),
    Job("J5", "accuracy", "randomization", 31, 0.30, None, 0.90, 3, 18),
    Job("J5", "accuracy", "randomization", 150, 0.60, None, 0.90, 20, 8),
)


@dataclass(frozen=True)
class Replicates:
    """Of the short and the long run of a pair; ``few`` and ``many`` as in `marginal`."""

    few: int
    many: int


BEYOND_KEPT = Replicates(147_456, MILLION)
"""More than scores are kept of, in either run: what collecting reads off kept scores is no part of the difference."""


@dataclass(frozen=True)
class Reference:
    """A program that prints what `benchmarks.reference` prints."""

    program: Path
    budget_s: float  # CPU seconds it may take at a time; its cost is linear in replicates

    def run(self, job: Job, items: int, *, times: float = 1.0) -> dict[str, Any]:
        """Run it on the job with as many replicates as fit the budget, ``times`` as many if asked."""
        blocks = max(1, round(times * self.budget_s / job.seconds * MILLION / 1000))
        replicates = min(blocks * 1000, MILLION)
        measured = start_measured(self.command(job, items, replicates))
        printed: dict[str, Any] = json.loads(measured.finish()[1].strip().splitlines()[-1])
        return {**printed, "replicates": replicates}

    def command(self, job: Job, items: int, replicates: int) -> list[str]:
        """Return its command line."""
        sizes = [str(number) for number in (job.systems, replicates, items)]
        starter = [sys.executable] if self.program.suffix == ".py" else []
        return [*starter, str(self.program), job.metric, job.procedure, *sizes]


@dataclass(frozen=True)
class Settings:
    """How much is measured.

    Parameters
    ----------
    replicates : Replicates, optional
        In place of the job's own (quick) numbers.
    items : int
        Of the test set.
    repeat : int, optional
        In place of each job's own number.
    side_by_side : bool
        Start the short and the long run together: half the time, and rougher figures.
    product : str
        The form of our products: the same in the short run as in the long one, which a run left alone may take only if it is long.
    """

    replicates: Replicates | None
    items: int
    repeat: int | None
    side_by_side: bool
    reference: Reference
    product: str = FLOATS

    def replicates_of(self, job: Job) -> Replicates:
        """Return what the short and the long run of a job have."""
        return self.replicates or Replicates(2 * 2**14, job.quick_cells * 2**14)


def select_jobs(names: Sequence[str], systems: int | None, *, quick: bool = False) -> list[Job]:
    """Return the jobs of these names, on so many systems if a number is given: then each once, and without targets."""
    unknown = sorted(set(names) - {job.name for job in JOBS})
    if unknown:
        raise ValueError(f"there is no job {', '.join(unknown)}; there are {', '.join(sorted({job.name for job in JOBS}))}")
    chosen = [job for job in JOBS if job.name in names and (job.is_quick or not quick)]
    if systems is None:
        return chosen
    once = {
        job.name: replace(job, systems=systems, to_reference=None, to_product=None, without_dot=None) for job in reversed(chosen)
    }
    return [once[name] for name in sorted(once)]


def question_of(job: Job, items: int) -> Question:
    """Return what a job asks."""
    return Question(job.metric, job.procedure, job.systems, items)


def warm_up(bench: Bench, questions: Sequence[Question], *, side_by_side: bool = False) -> dict[Question, Run]:
    """Extract the statistics of all systems once, and compile what the procedures need, by a run for each metric and size."""
    asked: dict[tuple[str, int], list[Question]] = {}
    for question in questions:
        asked.setdefault((question.metric, question.items), []).append(question)
    joint = [
        Question(metric, "+".join(dict.fromkeys(q.procedure for q in found)), max(q.systems for q in found), items)
        for (metric, items), found in asked.items()
    ]
    with ThreadPoolExecutor(2 if side_by_side else 1) as threads:
        return dict(zip(joint, threads.map(bench.prepare, joint), strict=True))


def _pair_of_runs(bench: Bench, question: Question, replicates: Replicates, *, side_by_side: bool) -> tuple[Run, Run]:
    if not side_by_side:
        return bench.run(question, replicates.few), bench.run(question, replicates.many)
    bench.write_study(question)
    with ThreadPoolExecutor(2) as threads:
        short, long = (threads.submit(bench.run, question, number) for number in (replicates.few, replicates.many))
        return short.result(), long.result()


def measure_job(bench: Bench, job: Job, settings: Settings) -> dict[str, Any]:
    """Measure a job and the reference in turns, and give its record."""
    replicates, question = settings.replicates_of(job), question_of(job, settings.items)
    between = (replicates.few, replicates.many)
    pairs, references = [], []
    for number in range(settings.repeat or job.repeat):
        if number % 2:  # whatever drifts on this machine meets both sides in both orders
            references.append(settings.reference.run(job, settings.items))
        pairs.append(_pair_of_runs(bench, question, replicates, side_by_side=settings.side_by_side))
        if not number % 2:
            references.append(settings.reference.run(job, settings.items))
    ours = [marginal(short.cost.cpu_s, long.cost.cpu_s, replicates=between) for short, long in pairs]
    to_reference = spread([mine / other["reference_cpu_s"] for mine, other in zip(ours, references, strict=True)])
    to_product = spread([mine / other["product_cpu_s"] for mine, other in zip(ours, references, strict=True)])
    described = _describe_ours(pairs, ours, between)
    return {
        "kind": "job",
        "job": job.name,
        "metric": job.metric,
        "procedure": job.procedure,
        "systems": job.systems,
        "pairs": question.pairs,
        "items": settings.items,
        "replicates": MILLION,
        "measured_replicates": list(between),
        "product_form": settings.product,
        "repeat": len(pairs),
        "ours": described,
        "reference": _describe_reference(references),
        "product_cpu_s": spread([other["product_cpu_s"] for other in references]),
        "ratio_to_reference": to_reference,
        "ratio_to_product": to_product,
        "targets": {
            name: {"at_most": target, "met": found["median"] <= target}
            for name, target, found in (
                ("ratio_to_reference", job.without_dot if settings.product in _WITHOUT_DOT else job.to_reference, to_reference),
                ("ratio_to_product", None if settings.product in _WITHOUT_DOT else job.to_product, to_product),
            )
            if target is not None
        },
        "limits": _judge_limits(described, is_timed=not settings.side_by_side),
    }


def _describe_ours(pairs: Sequence[tuple[Run, Run]], ours: Sequence[float], between: tuple[int, int]) -> dict[str, Any]:
    """Return CPU and wall of 10^6 replicates, what a run costs apart from them, and how little is spent outside the blocks."""
    walls = [marginal(short.cost.wall_s, long.cost.wall_s, replicates=between) for short, long in pairs]
    blocks = [marginal(short.seconds["resample"], long.seconds["resample"], replicates=between) for short, long in pairs]
    collected = [marginal(_collecting(short), _collecting(long), replicates=between) for short, long in pairs]
    fixed = [short.cost.cpu_s - each * between[0] / MILLION for (short, _), each in zip(pairs, ours, strict=True)]
    return {
        "cpu_s": spread(ours),
        "wall_s": spread(walls),
        "fixed_cpu_s": spread(fixed),
        "blocks_s": spread(blocks),
        "blocks": pairs[-1][1].tasks["resample"],
        # Zarr is in `collect`, and in the shards of a cube; Dask, ledger and progress are what is in no task.
        "collect_s": spread(collected),
        "outside_blocks": spread([(mine - block) / block for mine, block in zip(ours, blocks, strict=True)]),
        "outside_tasks": spread([(m - b - c) / b for m, b, c in zip(ours, blocks, collected, strict=True)]),
        "peak_memory_bytes": max(long.worker_memory_bytes for _, long in pairs),
        "peak_memory_bytes_of_few": max(short.worker_memory_bytes for short, _ in pairs),
    }


def _collecting(run: Run) -> float:
    """Return the seconds of making cubes, by shards too."""
    return run.seconds["collect"] + run.seconds.get("shard", 0.0)


def _judge_limits(ours: dict[str, Any], *, is_timed: bool) -> dict[str, Any]:
    """Judge what is apart from speed; blocks give wall seconds, which mean little where two runs share the cores."""
    limits = {"peak_memory_bytes": {"at_most": MEMORY_BYTES, "met": ours["peak_memory_bytes"] <= MEMORY_BYTES}}
    if is_timed:
        limits["outside_blocks"] = {"at_most": OUTSIDE, "met": ours["outside_blocks"]["median"] <= OUTSIDE}
    return limits


def _describe_reference(references: Sequence[dict[str, Any]]) -> dict[str, Any]:
    parts = {part: spread([other["parts"][part] for other in references])["median"] for part in references[0]["parts"]}
    cpu = spread([other["reference_cpu_s"] for other in references])
    return {"cpu_s": cpu, "parts": parts, "replicates": references[0]["replicates"]}


def questions(jobs: Sequence[Job], items: int) -> Iterator[Question]:
    """Yield what the jobs ask."""
    for job in jobs:
        yield question_of(job, items)
