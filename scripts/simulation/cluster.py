"""Workers, one coordinator and one store: the tasks of a study are played through on them, event by event.

What is modelled is what the engine has: a coordinator with its scheduler in one process, which hands out tasks and takes receipts
one after the other and keeps a bounded window of tasks in flight; workers that take the next task when they have ended one; a
file system that gives all workers together only so many bytes a second. Nothing fails, and workers are alike.

The time that `pipeline plan` tells is another matter (`pipeline.engine.forecast`): a sum by stage over the few workers of a
machine, without a queue or bytes. This asks what thousands of equal tasks wait for, and that is the queue and the bytes.
"""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

__all__ = ["Cluster", "Job", "Outcome", "Stage", "Work", "simulate"]

SMALLEST_WINDOW, WINDOW_PER_WORKER = 4, 3  # as `pipeline.engine.dask` has them; a test compares


@dataclass(frozen=True)
class Job:
    """One task: seconds on a worker beside those in which bytes move, and the bytes that it reads or writes."""

    seconds: float
    stored_bytes: float = 0.0


@dataclass(frozen=True)
class Work:
    """The tasks of one stage, and what a worker loses once, at the first of them that it does."""

    name: str
    jobs: Sequence[Job]
    warm_seconds: float = 0.0


@dataclass(frozen=True)
class Cluster:
    """What tasks run on.

    Parameters
    ----------
    workers : int
        Of one thread each.
    task_seconds : float
        That coordinator and scheduler are busy with a task, half of it before the task starts.
    receipt_seconds : float
        That the coordinator is busy with writing a receipt, synced.
    store_bandwidth, worker_bandwidth : float
        Bytes a second of all workers together, and of one.
    start_seconds : float
        Before the first task is handed out.
    variation : float
        Standard deviation of the time of a task, as a share of it.
    """

    workers: int
    task_seconds: float
    receipt_seconds: float
    store_bandwidth: float
    worker_bandwidth: float
    start_seconds: float = 0.0
    variation: float = 0.0


@dataclass(frozen=True)
class Stage:
    """How one stage went.

    Parameters
    ----------
    name : str
    jobs : int
    seconds : float
        From its first task's hand-out to its last receipt.
    busy_seconds : float
        Of workers, with tasks, without moving bytes.
    stored_bytes : float
    bounds : mapping of str to float
        What each resource alone would take: no stage is faster than any of them.
    """

    name: str
    jobs: int
    seconds: float
    busy_seconds: float
    stored_bytes: float
    bounds: Mapping[str, float]

    @property
    def bottleneck(self) -> str:
        """The resource that alone would take longest."""
        return max(self.bounds, key=lambda resource: self.bounds[resource])


@dataclass(frozen=True)
class Outcome:
    """How all stages went, one after the other."""

    workers: int
    seconds: float
    stages: tuple[Stage, ...]

    @property
    def busy_seconds(self) -> float:
        """Of all workers together."""
        return sum(stage.busy_seconds for stage in self.stages)

    @property
    def utilisation(self) -> float:
        """Share of the workers' time in which they compute."""
        return self.busy_seconds / (self.workers * self.seconds)

    @property
    def bottleneck(self) -> str:
        """The longest stage, and what holds it up."""
        longest = max(self.stages, key=lambda stage: stage.seconds)
        return f"{longest.name}: {longest.bottleneck}"


def simulate(stages: Sequence[Work], cluster: Cluster, *, seed: int = 1) -> Outcome:
    """Play stages through, each after all of the one before it.

    How long a job takes is drawn from its own place in its stage and the seed: not from the workers there are.
    """
    now, done = cluster.start_seconds, []
    for number, work in enumerate(stages):
        varied = _vary(work.jobs, cluster.variation, np.random.default_rng([seed, number]))
        stage = _Play(cluster, Work(work.name, varied, work.warm_seconds)).run()
        now += stage.seconds
        done.append(stage)
    return Outcome(cluster.workers, now, tuple(done))


def _vary(jobs: Sequence[Job], variation: float, generator: np.random.Generator) -> list[Job]:
    sigma = np.sqrt(np.log1p(variation**2))
    factors = np.exp(generator.normal(-(sigma**2) / 2, sigma, len(jobs)))  # of mean 1
    return [Job(job.seconds * factor, job.stored_bytes) for job, factor in zip(jobs, factors.tolist(), strict=True)]


class _Play:
    """One stage in time, from 0."""

    def __init__(self, cluster: Cluster, work: Work) -> None:
        self._cluster, self._work, self._jobs = cluster, work, work.jobs
        self._window = max(SMALLEST_WINDOW, WINDOW_PER_WORKER * cluster.workers)
        self._next, self._in_flight = 0, 0
        self._arrived: deque[int] = deque()
        self._cold, self._idle = cluster.workers, cluster.workers  # who has not had a task yet, who has none now
        self._coordinator_free = 0.0
        self._store_free = 0.0
        self._events: list[tuple[float, int, str, int]] = []
        self._order = 0

    def run(self) -> Stage:
        """Play all events and say what came out."""
        actions = {"arrived": self._arrive, "computed": self._store, "stored": self._end, "received": self._receive}
        now = 0.0
        self._hand_out(now)
        while self._events:
            now, _, event, job = heapq.heappop(self._events)
            actions[event](now, job)
        busy, stored = sum(job.seconds for job in self._jobs), sum(job.stored_bytes for job in self._jobs)
        warm = (self._cluster.workers - self._cold) * self._work.warm_seconds
        return Stage(self._work.name, len(self._jobs), now, busy, stored, self._bounds(busy + warm, stored))

    def _bounds(self, busy: float, stored: float) -> dict[str, float]:
        cluster = self._cluster
        alone = [job.seconds + job.stored_bytes / cluster.worker_bandwidth for job in self._jobs]
        return {
            "workers": (busy + stored / cluster.worker_bandwidth) / cluster.workers,
            "coordinator": len(self._jobs) * (cluster.task_seconds + cluster.receipt_seconds),
            "store": stored / cluster.store_bandwidth,
            # The longest task; it is the bound where there are fewer tasks than workers.
            "too few tasks": max(alone, default=0.0) + (self._work.warm_seconds if alone else 0.0),
        }

    def _at(self, time: float, event: str, job: int) -> None:
        self._order += 1
        heapq.heappush(self._events, (time, self._order, event, job))

    def _coordinate(self, now: float, seconds: float) -> float:
        self._coordinator_free = max(now, self._coordinator_free) + seconds
        return self._coordinator_free

    def _hand_out(self, now: float) -> None:
        while self._in_flight < self._window and self._next < len(self._jobs):
            self._at(self._coordinate(now, self._cluster.task_seconds / 2), "arrived", self._next)
            self._next += 1
            self._in_flight += 1

    def _arrive(self, now: float, job: int) -> None:
        self._arrived.append(job)
        if self._idle:
            self._idle -= 1
            # Of idle workers one that has had no task yet.
            self._start(now + (self._work.warm_seconds if self._cold else 0.0))
            self._cold -= bool(self._cold)

    def _start(self, now: float) -> None:
        job = self._arrived.popleft()
        self._at(now + self._jobs[job].seconds, "computed", job)

    def _store(self, now: float, job: int) -> None:
        size = self._jobs[job].stored_bytes
        self._store_free = max(now, self._store_free) + size / self._cluster.store_bandwidth
        self._at(max(self._store_free, now + size / self._cluster.worker_bandwidth) if size else now, "stored", job)

    def _end(self, now: float, job: int) -> None:
        if self._arrived:
            self._start(now)
        else:
            self._idle += 1
        self._at(self._coordinate(now, self._cluster.task_seconds / 2 + self._cluster.receipt_seconds), "received", job)

    def _receive(self, now: float, job: int) -> None:
        self._in_flight -= 1
        self._hand_out(now)
