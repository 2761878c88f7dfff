"""Makes the cluster that a profile names, whatever its class. This module starts workers so that Ctrl-C does not reach them."""

from __future__ import annotations

import importlib
import os
import shlex
import signal
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from multiprocessing import resource_tracker
from pathlib import Path
from typing import Any

from pipeline.amounts import parse_bytes
from pipeline.engine.jobs import Jobs, refuse_odd_path
from pipeline.engine.placement import declare, offer_of_machine
from pipeline.errors import ClusterError
from pipeline.store.files import make_directory
from pipeline.study.load import ClusterProfile

__all__ = ["CONFIG", "fewest_workers", "make_cluster"]

CONFIG: dict[str, Any] = {
    # A worker that dies makes all its tasks suspects; preemption must not condemn the innocent. The coordinator counts itself.
    "distributed.scheduler.allowed-failures": 20,
    "distributed.worker.memory.target": False,  # results leave at once: spilling would be a leak, not a need
    "distributed.worker.memory.spill": False,
    "distributed.nanny.pre-spawn-environ.NUMBA_NUM_THREADS": 1,
    "distributed.nanny.pre-spawn-environ.VECLIB_MAXIMUM_THREADS": 1,
    # Dask gives every freed array back to the system at once: kernels would fault their buffers in again for each batch.
    "distributed.nanny.pre-spawn-environ.MALLOC_TRIM_THRESHOLD_": 2**27,
    "distributed.nanny.pre-spawn-environ.MALLOC_MMAP_THRESHOLD_": 2**25,
    # Samples of stacks and ticks of loops, a hundred times a second in four processes, would be 3 to 5 % of a run: receipts say
    # where the time goes.
    "distributed.worker.profile.enabled": False,
    "distributed.admin.tick.interval": "500ms",
    "distributed.admin.tick.cycle": "5s",
    "distributed.admin.system-monitor.interval": "5s",
    # Looking at memory ten times a second, at copies of results that nobody keeps, at the list of workers: another .5 % of a core.
    "distributed.worker.memory.monitor-interval": "500ms",
    "distributed.scheduler.active-memory-manager.start": False,
    "distributed.client.scheduler-info-interval": "10s",
    "distributed.comm.timeouts.connect": "30s",
    "distributed.admin.log-length": 0,
}
"""How clusters are set here, in place of what Dask does by itself; a profile's own settings come after."""


START_ATTEMPTS = 3
"""How often the workers of this machine are started before the run gives up: one may be killed before it is watched."""


def make_cluster(profile: ClusterProfile, workers: int | None, logs: Path, jobs: Jobs | None = None) -> Any:
    """Make the cluster of a profile with so many workers; None where the profile names a scheduler that runs already.

    ``jobs`` learns what a batch system says to the jobs of workers.

    Raises
    ------
    ClusterError
        P601 it cannot be started; P604 its class cannot be imported, or is none; P611 its jobs cannot write logs there; P612 its
        workers die while they start.
    """
    if profile.cluster is None:
        return None
    module, _, name = profile.cluster.rpartition(".")
    try:
        factory = getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError, ValueError) as error:
        raise ClusterError.of(
            "P604",
            f"the cluster class {profile.cluster!r} cannot be imported: {error}",
            where=profile.name,
            help="`pip install dask-jobqueue` for SLURM and its kin, or correct `cluster:` in the profile",
        ) from error
    if not callable(getattr(factory, "scale", None)):
        raise ClusterError.of(
            "P604",
            f"{profile.cluster!r} is no cluster class: it has no scale()",
            where=profile.name,
            help="name a class such as distributed.LocalCluster or dask_jobqueue.SLURMCluster in `cluster:`",
        )
    options = dict(profile.options)
    environment = dict(profile.environment)
    if name == "LocalCluster":
        local = {"n_workers": workers or os.cpu_count() or 1, "threads_per_worker": 1, "processes": True, "host": "127.0.0.1"}
        options = {**local, "dashboard_address": "127.0.0.1:0", **options}
        if environment:
            options["env"] = environment
        if workers:
            options["n_workers"] = workers
        threads = float(options["threads_per_worker"] or 1)
        has = offer_of_machine(int(options["n_workers"] or 1))
        # What the profile says of its workers wins: it may know of an accelerator, or give less memory away.
        options["resources"] = {**has, "cores": max(threads, has["cores"]), **options.get("resources", {})}
    elif name.endswith("Cluster") and module.startswith("dask_jobqueue"):
        if "log_directory" not in options:
            refuse_odd_path(logs, profile.name)
        make_directory(logs)
        if jobs is not None:
            options["job_cls"] = jobs.watch(options.get("job_cls") or factory.job_cls)
        # By default the dashboard of a batch cluster listens on every interface, without a password.
        scheduler = {"dashboard_address": "127.0.0.1:0", **options.pop("scheduler_options", {})}
        options = {"python": sys.executable, "log_directory": str(logs), "scheduler_options": scheduler, **options}
        exports = [f"export {variable}={shlex.quote(value)}" for variable, value in environment.items()]
        options["job_script_prologue"] = [*exports, *options.get("job_script_prologue", ())]
    try:
        if module.startswith("dask_jobqueue"):
            options["worker_extra_args"] = _declared(options)
        cluster = _start_local(factory, options, profile) if name == "LocalCluster" else _start(factory, options)
        if name != "LocalCluster":
            if profile.adapt:
                cluster.adapt(**profile.adapt)
            else:
                cluster.scale(workers or fewest_workers(profile))
    except (OSError, TypeError, ValueError, RuntimeError, TimeoutError) as error:
        raise ClusterError.of(
            "P601",
            f"the cluster cannot be started: {type(error).__name__}: {error}",
            where=profile.name,
            help="correct `options:` of the profile",
        ) from error
    return cluster


def fewest_workers(profile: ClusterProfile) -> int | None:
    """Give how many workers are asked for where nobody says how many; None where that is left to the cluster's class."""
    local = profile.cluster is None or profile.cluster.endswith(".LocalCluster")
    return None if local else 1


def _start(factory: Any, options: Mapping[str, Any]) -> Any:
    with _interrupts_held_back():
        return factory(**options)


def _start_local(factory: Any, options: Mapping[str, Any], profile: ClusterProfile) -> Any:
    """Start the workers of this machine, again where one dies before its nanny watches it."""
    for left in reversed(range(START_ATTEMPTS)):
        try:
            return _start(factory, options)
        except (RuntimeError, OSError) as error:
            if left:
                continue
            raise ClusterError.of(
                "P612",
                f"workers die while they start: {type(error).__name__}: {error}",
                where=profile.name,
                help="start fewer with --workers, or allow more memory and open files (`ulimit -v`, `ulimit -n`)",
            ) from error
    raise AssertionError("the last attempt returns or raises")


def _declared(options: Mapping[str, Any]) -> list[str]:
    """Give the arguments of a batch job's workers with what each of them has, unless the profile says so itself."""
    given = [str(argument) for argument in options.get("worker_extra_args") or ()]
    if any(argument.startswith("--resources") for argument in given):
        return given
    processes = int(options.get("processes") or 1)
    offer: dict[str, float] = {}
    if options.get("cores"):
        offer["cores"] = float(max(1, int(options["cores"]) // processes))
    if options.get("memory"):
        offer["memory"] = parse_bytes(str(options["memory"])) // processes
    return [*given, "--resources", declare(offer)] if offer else given


@contextmanager
def _interrupts_held_back() -> Iterator[None]:
    """Start threads, and processes from them, that Ctrl-C does not reach: a terminal sends it to workers too.

    Only the coordinator is to hear it; it lets workers end what they do. The mask is inherited, so that there is no moment at
    which a worker that is just starting could be hit; here it is lifted again, and nothing that came in between is lost.
    """
    resource_tracker.ensure_running()  # when it starts a process of its own it lifts the mask
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
