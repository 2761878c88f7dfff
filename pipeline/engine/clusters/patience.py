"""Wait for a scheduler, its file and its workers, and give up once that has taken too long."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

from pipeline.engine.clusters.jobs import Jobs
from pipeline.engine.signals import StopAsked
from pipeline.engine.watching.state import now as time_of_day
from pipeline.errors import ClusterError
from pipeline.study.profile import ClusterProfile

__all__ = ["LOOK_SECONDS", "STARVED_SECONDS", "Patience", "await_answer", "await_scheduler_file"]

_T = TypeVar("_T")

STARVED_SECONDS = 600.0
"""How long a run waits without a single worker before it gives up, resumable."""

LOOK_SECONDS = 1.0
"""How often somebody looks."""


class Patience:
    """How long there have been no workers, and whether waiting for them is still worthwhile."""

    def __init__(self, profile: ClusterProfile, jobs: Jobs) -> None:
        self._profile, self._jobs = profile, jobs
        self._worked, self._since = time.monotonic(), time_of_day()
        self._ever, self._workers = False, 0

    def note(self, workers: int) -> None:
        """Record the number of workers.

        Raises
        ------
        ClusterError
            P602 there was none for too long; P610 none can come: the batch system refuses every job.
        """
        self._workers = workers
        if workers:
            self._worked, self._since, self._ever = time.monotonic(), time_of_day(), True
            return
        if self._jobs.hopeless:
            raise ClusterError.of(
                "P610",
                f"the batch system refuses the jobs of workers: {self._jobs.refusal}",
                where=self._profile.name,
                help="correct `options:` of the profile (queue, account, memory, walltime); then `pipeline resume` continues it",
            )
        most = STARVED_SECONDS if self._ever else self._profile.start_seconds
        if time.monotonic() - self._worked > most:
            raise ClusterError.of(
                "P602",
                f"no worker for {most:.0f} s" if self._ever else f"no worker came within {most:.0f} s",
                where=self._profile.name,
                help="check the queue and the logs of the workers in the run's logs/; `pipeline resume` continues it",
            )

    def facts(self) -> dict[str, object]:
        """Return for `state.json` how many workers there are; where there are none since when, and what was refused."""
        facts: dict[str, object] = {"workers": self._workers}
        if not self._workers:
            facts["no_workers_since"] = self._since
        if self._jobs.refusal:
            facts["refused"] = self._jobs.refusal
        return facts


def await_scheduler_file(profile: ClusterProfile, stop: Callable[[], bool]) -> None:
    """Wait until the scheduler of a profile has written its file, or a stop is asked.

    Raises
    ------
    ClusterError
        P601 it has not done so within the profile's time.
    """
    if profile.scheduler_file is None:
        return
    deadline = time.monotonic() + profile.start_seconds
    while not (written := os.path.exists(profile.scheduler_file)) and time.monotonic() < deadline and not stop():
        time.sleep(min(LOOK_SECONDS, max(0.0, deadline - time.monotonic())))
    if not written:
        raise ClusterError.of(
            "P601",
            f"no scheduler has written {profile.scheduler_file}",
            where=profile.name,
            help="start it with --scheduler-file, or correct `scheduler_file:` in the profile",
        )


def await_answer(ask: Callable[[], _T], profile: ClusterProfile, stop: Callable[[], bool], seconds: float) -> _T:
    """Return the answer of a profile's scheduler, unless a stop is asked for or there is no answer in time.

    It is asked in a thread: a timeout of Dask's bounds how long connecting takes, and not how long a port that accepts may then
    be silent; nor does a signal end that wait.

    Raises
    ------
    StopAsked
    ClusterError
        P601 nobody answers, or the answer is an error of the network or of a value.
    """
    try:
        return _answer(ask, stop, seconds)
    except (OSError, TimeoutError, ValueError) as error:
        raise ClusterError.of(
            "P601",
            f"no scheduler answers at {profile.address or profile.scheduler_file or profile.name}: {error}",
            where=profile.name,
            help="start it, or correct `address:` in the profile",
        ) from error


def _answer(ask: Callable[[], _T], stop: Callable[[], bool], seconds: float) -> _T:
    answer: Future[_T] = Future()

    def run() -> None:
        try:
            answer.set_result(ask())
        except BaseException as error:  # it is raised below, in the thread that asked
            answer.set_exception(error)

    threading.Thread(target=run, name="ask", daemon=True).start()
    deadline = time.monotonic() + seconds
    while not stop():
        try:
            return answer.result(timeout=0.1)
        except TimeoutError:
            if answer.done():
                raise
            if time.monotonic() > deadline:
                raise TimeoutError(f"no answer within {seconds:.0f} s") from None
    raise StopAsked
