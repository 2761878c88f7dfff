"""The number of workers of a run, the resources they offer (memory, cores, tags) and those tasks need. Dask places tasks.

A worker declares what it has, and Dask starts no task there that asks for more than is left of it. A task that no worker could ever
run would wait for ever in the scheduler: that is noticed here.
"""

from __future__ import annotations

import math
import os
import traceback
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path

from pipeline.errors import Problem
from pipeline.plan.task import Failure, Task
from pipeline.study.profile import ClusterProfile

__all__ = ["cores_here", "declare", "expected_workers", "lacking", "offer_of_machine", "unplaceable", "unrunnable"]

Amounts = Mapping[str, float]

_CGROUP_LIMIT = Path("/sys/fs/cgroup/memory.max")


def lacking(asked: Amounts, offers: Iterable[Amounts]) -> str | None:
    """Say which resource of a task no worker has; None where one worker has all of them.

    Examples
    --------
    >>> lacking({"gpu": 1}, [{"cores": 1}, {"cores": 1, "gpu": 1}]) is None
    True
    >>> lacking({"cores": 2, "gpu": 1}, [{"cores": 2}, {"cores": 1, "gpu": 1}])
    'no worker has both cores: 2 and gpu: 1'
    >>> lacking({"memory": 8e9}, [{"memory": 4e9}])
    'no worker has memory: 8 GB; the most is 4 GB'
    """
    offered = list(offers)
    if any(all(offer.get(name, 0.0) >= amount for name, amount in asked.items()) for offer in offered):
        return None
    for name, amount in asked.items():
        most = max((offer.get(name, 0.0) for offer in offered), default=0.0)
        if most < amount:
            return f"no worker has {name}: {_show(name, amount)}" + (f"; the most is {_show(name, most)}" if most else "")
    return f"no worker has both {' and '.join(f'{name}: {_show(name, amount)}' for name, amount in asked.items())}"


def unplaceable(task: Task, lack: str) -> Failure:
    """Return the failure of a task that no worker can run."""
    help = "ask for less under `resources:` of the model, or let the profile say what its workers have: `options: {resources: …}`"
    return Failure(task.key, task.label, 4, (Problem("P605", lack, where=task.label, help=help),))


def unrunnable(task: Task, error: Exception) -> Failure:
    """Return the failure of a task that its worker could not even begin, or whose result did not arrive."""
    problem = Problem(
        "P401",
        f"the worker could not run it: {type(error).__name__}: {error}",
        where=task.label,
        help="workers need the same versions of Python, this package and its dependencies: `pipeline doctor --cluster PROFILE` "
        "compares them",
    )
    return Failure(task.key, task.label, 70, (problem,), "".join(traceback.format_exception(error)))


def offer_of_machine(workers: int) -> dict[str, float]:
    """Return the share of this machine that each worker gets: an even part of its memory, and whole cores, at least one."""
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    with suppress(OSError, ValueError):  # no such file, or "max"
        memory = min(memory, int(_CGROUP_LIMIT.read_text()))
    return {"memory": float(memory // workers), "cores": float(max(1, cores_here() // workers))}


def cores_here() -> int:
    """Return how many cores this process may use: a job, a container or `taskset` may leave it fewer than the machine has."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def expected_workers(profile: ClusterProfile, asked: int | None) -> int:
    """Return the number of workers a run is planned for: as asked, else the profile's, else one per core here or one elsewhere."""
    is_local = (profile.cluster or "").endswith(".LocalCluster")
    return asked or profile.workers or (cores_here() if is_local else 1)


def declare(offer: Amounts) -> str:
    """Return an offer in the form of the option ``--resources`` of a Dask worker.

    Examples
    --------
    >>> declare({"cores": 2, "memory": 4e9})
    'cores=2,memory=4000000000'
    """
    return ",".join(f"{name}={amount:.12g}" for name, amount in offer.items())


def _show(name: str, amount: float) -> str:
    return f"{amount / 1e9:.3g} GB" if name == "memory" and math.isfinite(amount) else f"{amount:g}"
