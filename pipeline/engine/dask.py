"""Run tasks on a Dask cluster. Nothing else imports Dask.

A bounded window of futures, each released once its receipt is here: no result lives only in a worker, no graph is ever built.
"""

from __future__ import annotations

import logging
import shlex
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import dask.config
from dask.utils import key_split, parse_timedelta
from distributed import Client, Future, as_completed, get_worker
from distributed.client import FutureCancelledError
from distributed.scheduler import KilledWorker
from distributed.security import Security

from pipeline.compiled.notice import tell_of_compilation
from pipeline.engine.clusters.cluster import close_all, cluster_config, end_workers, fewest_workers, make_cluster
from pipeline.engine.clusters.job_script import describe_start
from pipeline.engine.clusters.jobs import Jobs
from pipeline.engine.clusters.patience import LOOK_SECONDS, STARVED_SECONDS, Patience, await_answer, await_scheduler_file
from pipeline.engine.clusters.placement import lacking, unplaceable, unrunnable
from pipeline.engine.clusters.surroundings import surround
from pipeline.engine.executor import Outcome
from pipeline.errors import ClusterError
from pipeline.plan.task import Failure, Receipt, Task
from pipeline.study.profile import ClusterProfile
from pipeline.tasks.run import run_heard, run_task

__all__ = ["DaskExecutor", "open_executor", "preview_start"]

WINDOW_PER_THREAD = 3
"""Tasks in flight for each worker thread: one runs, two wait, and a stop or a lost worker costs little."""

RESCALE_SECONDS = 30.0
"""How often workers that are gone are asked for again: a batch system does not do that by itself."""

PLACING_SECONDS = 15.0
"""How long a task waits for a worker that has what it asks for, once all workers are there: another may be about to return."""

HAND_OVER_SECONDS = 10.0  # A receipt's worker may be gone, and others are asked for only while nobody waits for it.


class DaskExecutor:
    """A client and its window of futures.

    Parameters
    ----------
    client : Client
        Of the scheduler.
    runs : Path
        The folder of runs.
    prefix : str
        Before every key.
    profile : ClusterProfile
        What the cluster was made by.
    cluster : Cluster, optional
        The one that was started for this run, and is closed with it.
    workers : int, optional
        How many it should have, where those that are lost are to be asked for again.
    jobs : Jobs, optional
        What the batch system says to the cluster's jobs.
    """

    def __init__(
        self,
        client: Client,
        runs: Path,
        *,
        prefix: str,
        profile: ClusterProfile,
        cluster: Any = None,
        workers: int | None = None,
        jobs: Jobs | None = None,
    ) -> None:
        self._client = client
        self._jobs = jobs or Jobs()
        self._patience = Patience(profile, self._jobs)
        self._runs = str(runs)
        self._prefix, self._topic = prefix, f"{prefix}-compiling"
        self._cluster = cluster
        self._workers = workers
        self._running: dict[str, Task] = {}
        self._placed: dict[str, tuple[Future[Any], float]] = {}  # those that ask for resources, and when a worker last had them
        self._refused: list[Outcome] = []
        self._ended = as_completed(loop=client.loop, raise_errors=False)
        self._threads = 1
        self._looked = 0.0
        self._rescaled = time.monotonic()
        client.subscribe_topic(self._topic, lambda event: tell_of_compilation(elsewhere=True))

    def free(self) -> int:
        """Return the room left in the window."""
        self._look()
        return max(4, WINDOW_PER_THREAD * self._threads) - len(self._running)

    def submit(self, task: Task, attempt: str) -> None:
        """Submit a task to the scheduler."""
        # The attempt is in the key: Dask gives back a known future for a known key, even one that failed.
        key = f"{self._prefix}-{task.kind}-{task.key}-a{attempt}"
        # What it needed is done: its worker need not be told a thousand keys.
        asked = dict(task.resources) or None
        told = (replace(task, needs=()), self._runs, get_worker, self._topic)
        future = self._client.submit(run_heard, run_task, *told, key=key, pure=False, resources=asked)
        if asked:
            self._placed[str(future.key)] = (future, time.monotonic())
        self._running[str(future.key)] = task
        self._ended.add(future)

    def wait(self, seconds: float) -> Sequence[Outcome]:
        """Return the tasks that ended; ClusterError when there has been no worker for too long."""
        deadline = time.monotonic() + seconds
        outcomes: list[Outcome] = []
        while (self._running or self._refused) and not outcomes and time.monotonic() < deadline:
            self._refuse_loss()
            if self._refused:
                outcomes, self._refused = self._refused, []
                break
            if not self._has_ready(min(LOOK_SECONDS, deadline - time.monotonic())):
                self._look()
                continue
            self._refuse_loss()  # which cancels whatever runs, as if these had failed
            batch = list(self._ended.next_batch(block=False))
            results = self._gather(batch)
            # One that was refused is cancelled, and ends once more.
            outcomes.extend(self._outcome(future, results) for future in batch if str(future.key) in self._running)
        return outcomes

    def _refuse_loss(self) -> None:
        if self._client.status != "running":
            raise ClusterError.of("P603", "the scheduler is gone", help="`pipeline resume` continues with a new one")

    def _has_ready(self, seconds: float) -> bool:
        """Sleep until a future has ended, for so long at most: looking a hundred times a second took half a percent of a core."""
        with self._ended.thread_condition:
            # A future that ended between the question and the sleep has sent its notice already, which needs the condition held.
            return self._ended.has_ready() or (self._ended.thread_condition.wait(seconds) and self._ended.has_ready())

    def _gather(self, futures: Sequence[Future[Any]]) -> dict[str, Receipt | Failure]:
        """Fetch all successful results at once: a round trip to the worker for each would limit the rate of tasks."""
        if not (finished := {str(future.key): future for future in futures if future.status == "finished"}):
            return {}
        asked = partial(self._client.gather, list(finished.values()), asynchronous=True)
        try:
            return dict(zip(finished, self._client.sync(asked, callback_timeout=HAND_OVER_SECONDS), strict=True))
        except Exception:  # it tells one of many that failed, and not which: each is then asked by itself
            return {}

    def _outcome(self, future: Future[Any], results: Mapping[str, Receipt | Failure]) -> Outcome:
        task = self._running.pop(str(future.key))
        self._placed.pop(str(future.key), None)
        result: Receipt | Failure
        try:
            if str(future.key) in results:
                result = results[str(future.key)]
            elif future.status in {"finished", "error"}:
                result = future.result(timeout=HAND_OVER_SECONDS)
            else:
                result = Failure.lost(task, f"it was {future.status}")
        except (KilledWorker, FutureCancelledError, TimeoutError) as error:
            result = Failure.lost(task, f"its worker died ({error})")
        except Exception as error:  # a task returns its failures: this is the worker's, transport or a package that differs there
            result = unrunnable(task, error)
        future.release()
        return Outcome(task, result)

    def _look(self) -> None:
        """Count threads about once a second, ask for lost workers again, and notice refused jobs and starvation."""
        now = time.monotonic()
        if now - self._looked < LOOK_SECONDS:
            return
        self._looked = now
        key_split.cache_clear()  # no key is met twice, and Dask would keep the names of 100,000
        workers: Mapping[str, Any] = self._client.scheduler_info(n_workers=-1)["workers"]
        self._threads = sum(int(worker["nthreads"]) for worker in workers.values())
        self._patience.note(len(workers))
        self._refuse_unplaceable([worker.get("resources", {}) for worker in workers.values()], now)
        if self._cluster is not None and self._workers and len(workers) < self._workers and now - self._rescaled > RESCALE_SECONDS:
            self._rescaled = now
            self._jobs.retry(self._cluster)
            self._cluster.scale(self._workers)

    def _refuse_unplaceable(self, offers: Sequence[Mapping[str, float]], now: float) -> None:
        """Give up tasks that no worker has had room for in a while: the scheduler would keep them for ever."""
        if not offers:  # nobody to judge by: starvation has a patience of its own
            self._placed = {key: (future, now) for key, (future, _) in self._placed.items()}
            return
        patience = PLACING_SECONDS if len(offers) >= (self._workers or 1) else STARVED_SECONDS
        for key, (future, had) in list(self._placed.items()):
            lack = lacking(self._running[key].resources, offers)
            if lack is None:
                self._placed[key] = (future, now)
            elif now - had > patience:
                task = self._running.pop(key)
                del self._placed[key]
                future.cancel()
                self._refused.append(Outcome(task, unplaceable(task, lack)))

    def ask(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Have one worker call a function, and return what it returns; ClusterError where no worker comes."""
        future, limit = self._client.submit(function, *arguments, pure=False), LOOK_SECONDS
        try:
            while True:
                self._look()
                try:
                    return future.result(timeout=limit)
                except TimeoutError:
                    if future.status == "error":  # of the function, not of the wait for it
                        raise
                    limit += LOOK_SECONDS * future.done()  # an answer is on its way, and slower than a look
        finally:
            future.release()

    @property
    def is_encrypted(self) -> bool:
        """Whether the scheduler refuses connections without a certificate."""
        return str(self._client.scheduler_info(n_workers=0)["address"]).startswith("tls://")

    def describe(self) -> dict[str, object]:
        """Say how many workers there are; where there are none since when, and what was refused.

        Not where they are: a state may be shown to others, and an address is half of what an intruder needs.
        """
        if not self._looked:
            self._look()
        return {"engine": "dask", **self._patience.facts()}

    def close(self) -> None:
        """Close client and cluster; running tasks are given up, and local workers are not waited for."""
        self._ended.clear()
        if self._running:
            end_workers(self._cluster)
        close_all(self._client, self._cluster, seconds=30)


@contextmanager
def open_executor(
    profile: ClusterProfile,
    runs: Path,
    *,
    prefix: str,
    workers: int | None,
    logs: Path,
    stop: Callable[[], bool] = lambda: False,
) -> Iterator[DaskExecutor]:
    """Start or join the cluster of a profile and close it again.

    Parameters
    ----------
    profile : ClusterProfile
        Which `distributed` Cluster class with which options, or the address of a scheduler.
    runs : Path
        The folder of runs, on a file system that the workers share.
    prefix : str
        Before every key: unique to the run, so that runs may share a scheduler.
    workers : int, optional
        In place of the profile's number.
    logs : Path
        A folder for the logs of workers.
    stop : callable
        Asked while a scheduler or its file is awaited: once it says True nothing is awaited any longer.

    Raises
    ------
    ClusterError
        P601 the cluster cannot be made or reached. That it gives no workers is found by the executor (P602, P610): it is given
        before the first one is there, so that the run can say what it waits for.
    """
    for name in ("distributed", "distributed.nanny", "distributed.worker", "distributed.scheduler", "distributed.core", "tornado"):
        logging.getLogger(name).setLevel(logging.ERROR)
    with (
        dask.config.set(cluster_config(profile)),
        surround(profile, logs, dask.config.get("temporary-directory", None)) as surroundings,
        dask.config.set(surroundings.config),
    ):
        wanted, jobs = workers or profile.workers, Jobs()
        secure = _ToldToJobs if surroundings.kind == "batch" else Security
        security = secure(require_encryption=True, **surroundings.certificates)
        cluster = make_cluster(profile, wanted, logs, jobs, security=security, configured=dask.config.get)
        client: Client | None = None
        try:
            await_scheduler_file(profile, stop)
            client = _connect(profile, cluster, stop)
            kept = None if profile.adapt else wanted or fewest_workers(profile)
            yield (executor := DaskExecutor(client, runs, prefix=prefix, profile=profile, cluster=cluster, workers=kept, jobs=jobs))
            executor.close()
        except BaseException:
            close_all(client, cluster, seconds=10)
            raise


class _ToldToJobs(Security):
    """Certificates in files, whose paths jobs are told in a line for a shell."""

    def get_tls_config_for_role(self, role: str) -> dict[str, str | None]:
        """Return the paths for a role."""
        config: dict[str, str | None] = super().get_tls_config_for_role(role)
        return {key: value and shlex.quote(value) for key, value in config.items()} if role == "worker" else config


def _connect(profile: ClusterProfile, cluster: Any, stop: Callable[[], bool]) -> Client:
    target: Mapping[str, Any] = {"address": profile.address if cluster is None else cluster}
    if cluster is None and profile.scheduler_file:
        target = {"scheduler_file": profile.scheduler_file}
    seconds = parse_timedelta(dask.config.get("distributed.comm.timeouts.connect"))
    return await_answer(lambda: Client(**target, timeout=seconds, set_as_default=False), profile, stop, 2 * seconds)


def preview_start(profile: ClusterProfile, workers: int | None, logs: Path) -> str:
    """Return what `open_executor` would submit to a batch system, or would do otherwise, with this site's configuration."""
    with dask.config.set(cluster_config(profile)):
        return describe_start(profile, workers or profile.workers, logs, dask.config.get)
