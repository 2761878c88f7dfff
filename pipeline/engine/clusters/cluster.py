"""Start the cluster that a profile names, whatever its class: encrypted, and with workers that Ctrl-C does not reach."""

from __future__ import annotations

import importlib
import inspect
import logging
import os
import signal
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from copy import copy
from multiprocessing import resource_tracker
from pathlib import Path
from typing import Any, Literal

from pipeline.engine.clusters.batch import batch_options
from pipeline.engine.clusters.jobs import Jobs, refuse_odd_path
from pipeline.engine.clusters.placement import cores_here, offer_of_machine
from pipeline.errors import ClusterError, PipelineError
from pipeline.store.files import make_directory
from pipeline.study.profile import ClusterProfile

__all__ = ["CONFIG", "Kind", "close_all", "cluster_config", "end_workers", "fewest_workers", "find_class", "make_cluster"]

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
    # Nor is the last thousand messages to each worker, with the tasks in them, or of changes of state, which nobody looks at.
    "distributed.admin.low-level-log-length": 0,
    # Pages for whoever asks, without a password: there are none unless the profile wants a dashboard.
    "distributed.scheduler.http.routes": [],
    "distributed.worker.http.routes": [],
}
"""How clusters are set here, in place of what Dask does by itself; a profile's own settings come after."""


START_ATTEMPTS = 3
"""How often the workers of this machine are started before the run gives up: one may be killed before it is watched."""


PLAIN = ("tcp://", "ws://", "ucx://", "ucxx://")
"""Ways to talk that are open to anybody who reaches the port."""


def cluster_config(profile: ClusterProfile) -> dict[str, Any]:
    """Return the Dask configuration of a profile's coordinator: our settings, overridden by the profile's."""
    wants_pages = any(
        "dashboard_address" in options for options in (profile.options, profile.options.get("scheduler_options") or {})
    )
    # Copies: Dask appends to the lists that it is given.
    ours = {key: copy(value) for key, value in CONFIG.items() if not (wants_pages and key.endswith(".http.routes"))}
    return ours | dict(profile.config)


CLUSTERS = {"distributed.deploy.cluster.Cluster", "dask_gateway.client.GatewayCluster"}
"""What makes a class a cluster class. That of Dask Gateway inherits from nothing; it encrypts by itself."""

Kind = Literal["local", "batch", "other"]
"""Workers of this machine, jobs of a batch system, or what else there is."""


def make_cluster(
    profile: ClusterProfile,
    workers: int | None,
    logs: Path,
    jobs: Jobs | None = None,
    *,
    security: Any = None,
    configured: Callable[[str, Any], Any] = lambda name, default: default,
) -> Any:
    """Make the cluster of a profile with a number of workers; None where the profile names a scheduler that runs already.

    Parameters
    ----------
    profile : ClusterProfile
        Which class, with which options.
    workers : int, optional
        How many; by default the cores of this machine for a local cluster, and 1 for others.
    logs : Path
        A folder for the logs of workers.
    jobs : Jobs, optional
        Learns what a batch system says to the jobs of workers.
    security : distributed.Security
        What everybody of this cluster shows, and wants to be shown.
    configured : callable
        Gives what the configuration of Dask has under a name, or else the second argument.

    Raises
    ------
    ClusterError
        P601 it cannot be started; P604 its class cannot be imported, or is none; P606 it would not be encrypted; P611 its jobs
        cannot write logs there; P612 its workers die while they start.
    """
    if profile.cluster is None:
        return None
    factory, kind = find_class(profile)
    _refuse_plain(profile)
    options = dict(profile.options)
    if kind == "local":
        options = _local_options(profile, workers)
    elif kind == "batch":
        if "log_directory" not in options:
            refuse_odd_path(logs, profile.name)
        make_directory(logs)
    try:
        if kind == "batch":
            options = batch_options(factory, options, profile.environment, logs, configured)
            if jobs is not None:
                options["job_cls"] = jobs.watch(options.get("job_cls") or factory.job_cls)
        if kind != "other" or _takes_security(factory):
            options["security"] = security
        cluster = _start_local(factory, options, profile) if kind == "local" else _start(factory, options)
    except (OSError, TypeError, ValueError, RuntimeError, TimeoutError) as error:
        raise _not_started(profile, error) from error
    try:
        _refuse_open(profile, cluster)
        if kind != "local":
            if profile.adapt:
                cluster.adapt(**profile.adapt)
            else:
                cluster.scale(workers or fewest_workers(profile))
    except BaseException as error:
        with suppress(Exception):  # what is wrong is known
            cluster.close()
        if isinstance(error, (OSError, TypeError, ValueError, RuntimeError, TimeoutError)):
            raise _not_started(profile, error) from error
        raise
    return cluster


def _takes_security(factory: Any) -> bool:
    """Say whether a class, or a function that makes clusters, takes certificates: other arguments may be for anything."""
    takes = inspect.signature(factory).parameters
    families = {f"{base.__module__}.{base.__name__}" for base in getattr(factory, "__mro__", ())}
    passes_on = inspect.isfunction(factory) or "distributed.deploy.spec.SpecCluster" in families
    return "security" in takes or ("kwargs" in takes and passes_on)


def fewest_workers(profile: ClusterProfile) -> int | None:
    """Return the default number of workers; None where that is left to the cluster's class."""
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


def _how_to_get(module: str) -> str:
    package = module.partition(".")[0]
    known = package in {"dask_jobqueue", "dask_gateway"}
    return f"`pip install {package.replace('_', '-')}`" if known else "install the package that has it"


def find_class(profile: ClusterProfile) -> tuple[Any, Kind]:
    """Import the class that a profile names, and say what kind of cluster it makes.

    Raises
    ------
    ClusterError
        P604 it cannot be imported, or is not a cluster class.
    """
    module, _, name = str(profile.cluster).rpartition(".")
    try:
        found = getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError, ValueError) as error:
        raise ClusterError.of(
            "P604",
            f"the cluster class {profile.cluster!r} cannot be imported: {error}",
            where=profile.name,
            help=f"{_how_to_get(module)}, or correct `cluster:` in the profile",
        ) from error
    # It is called with options of the profile: only what makes clusters may be. SSHCluster of distributed is a function.
    families = {f"{base.__module__}.{base.__name__}" for base in getattr(found, "__mro__", ())}
    if not families & CLUSTERS and not (inspect.isfunction(found) and name.endswith("Cluster")):
        raise ClusterError.of(
            "P604",
            f"{profile.cluster!r} is not a cluster class",
            where=profile.name,
            help="name a class such as distributed.LocalCluster or dask_jobqueue.SLURMCluster in `cluster:`",
        )
    if "distributed.deploy.local.LocalCluster" in families:
        return found, "local"
    return found, "batch" if "dask_jobqueue.core.JobQueueCluster" in families else "other"


def _refuse_plain(profile: ClusterProfile) -> None:
    options = profile.options
    if options.get("security", True) is not True:
        raise _not_encrypted(profile, f"its options have `security: {options['security']}`")
    for place in (options, options.get("scheduler_options") or {}):
        for key in ("protocol", "host"):
            asked = str(place.get(key) or "")
            if f"{asked.removesuffix('://')}://".startswith(PLAIN):
                raise _not_encrypted(profile, f"its options have `{key}: {asked}`")


def _refuse_open(profile: ClusterProfile, cluster: Any) -> None:
    """Refuse a cluster that is not encrypted or cannot be checked: classes of other packages may ignore our arguments."""
    address = str(getattr(cluster, "scheduler_address", ""))
    if not address or address.startswith(PLAIN):
        raise _not_encrypted(profile, f"its scheduler listens at {address.partition('://')[0] or 'an unknown address'}")


def _local_options(profile: ClusterProfile, workers: int | None) -> dict[str, Any]:
    given = profile.options
    local = {"n_workers": workers or cores_here(), "threads_per_worker": 1, "processes": True, "host": "127.0.0.1"}
    # Workers write to the terminal of the run. A task's own words come back with its outcome; that connections end, which Dask
    # logs as an error, happens whenever a cluster closes.
    local["silence_logs"] = logging.CRITICAL
    options = {**local, **given}
    options.pop("local_directory", None)  # a folder within it is the temporary one of this run
    if "dashboard_address" not in given:
        options["dashboard_address"] = "127.0.0.1:0"
        options["scheduler_kwargs"] = {"dashboard": False, **(given.get("scheduler_kwargs") or {})}
    if profile.environment:
        options["env"] = dict(profile.environment)
    if workers:
        options["n_workers"] = workers
    threads = float(options["threads_per_worker"] or 1)
    has = offer_of_machine(int(options["n_workers"] or 1))
    # What the profile says of its workers wins: it may know of an accelerator, or give less memory away.
    options["resources"] = {**has, "cores": max(threads, has["cores"]), **options.get("resources", {})}
    return options


def _not_started(profile: ClusterProfile, error: BaseException) -> PipelineError:
    message = f"the cluster cannot be started: {type(error).__name__}: {error}"
    return ClusterError.of("P601", message, where=profile.name, help="correct `options:` of the profile")


def _not_encrypted(profile: ClusterProfile, why: str) -> PipelineError:
    help = (
        "leave `protocol` and `security` out of `options:`; certificates of your own go into `config:` as "
        "distributed.comm.tls.*. A scheduler that you start yourself can be named by `address:`"
    )
    message = f"anyone who reaches this cluster could run code as you, since it is not encrypted: {why}"
    return ClusterError.of("P606", message, where=profile.name, help=help)


def end_workers(cluster: Any) -> None:
    """Kill the worker processes that this process watches, whatever they are doing; a batch system ends its own.

    Asked to end, they would wait seconds for their tasks. A killed worker has nothing more to write, and what it was writing has a
    temporary name that nobody reads.
    """
    for worker in getattr(cluster, "workers", {}).values():
        if getattr(worker, "pid", None):
            worker.auto_restart = False
            with suppress(ProcessLookupError):
                os.kill(worker.pid, signal.SIGKILL)


def close_all(client: Any, cluster: Any, *, seconds: float) -> None:
    """Close everything that was opened. Failures are only logged: they must neither hide an error nor spoil finished work."""
    for closable in (client, cluster):
        try:
            if closable is not None:
                closable.close(timeout=min(10.0, seconds) if closable is client else seconds)
        except Exception:
            logging.getLogger(__name__).warning("closing the cluster failed", exc_info=True)


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
