"""The kinds of faults, and what a machine must have for each."""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Callable
from dataclasses import dataclass

from faults.damage import change_input, damage_part
from faults.deaths import (
    cancel,
    kill_all_workers,
    kill_worker,
    send_to_run,
    start_second,
    stop_coordinator,
    stop_worker,
    terminate_worker,
)
from faults.disks import clock, full_disk, read_only
from faults.episode import Episode
from faults.network import cut_network, has_namespaces
from faults.slurm import cancel_coordinator_job, cancel_worker_jobs, end_walltime, has_slurm

__all__ = ["KINDS", "Kind", "missing"]


@dataclass(frozen=True)
class Kind:
    """A kind of fault."""

    strike: Callable[[Episode], None]
    counted_once: bool = True
    """Whether no task may be done twice; damaged results are computed again."""
    needs: str = ""
    """What the machine must have: "root" to mount a file system, "namespaces" of networks, or "slurm"."""


def missing(kind: Kind) -> str | None:
    """Say what this machine lacks for a kind, None where it has all."""
    if kind.needs == "root" and (os.geteuid() != 0 or shutil.which("mount") is None):
        return "needs root, to mount a small file system"
    if kind.needs == "namespaces" and not has_namespaces():
        return "needs root and iproute2, to make network namespaces"
    if kind.needs == "slurm" and not has_slurm():
        return "needs SLURM: apt-get install --no-install-recommends slurm-wlm munge"
    return None


KINDS: dict[str, Kind] = {
    "kill-worker": Kind(kill_worker),
    "kill-all-workers": Kind(kill_all_workers),
    "terminate-worker": Kind(terminate_worker),
    "stop-worker": Kind(stop_worker),
    "stop-coordinator": Kind(stop_coordinator),
    "kill-coordinator": Kind(send_to_run(signal.SIGKILL, {0, -signal.SIGKILL})),
    "kill-group": Kind(send_to_run(signal.SIGKILL, {0, -signal.SIGKILL}, group=True)),
    "terminate": Kind(send_to_run(signal.SIGTERM, {0, 75})),
    "terminate-group": Kind(send_to_run(signal.SIGTERM, {0, 75}, group=True)),
    "interrupt": Kind(send_to_run(signal.SIGINT, {0, 130}, group=True)),
    "interrupt-twice": Kind(send_to_run(signal.SIGINT, {0, 130}, group=True, times=2)),
    "hang-up": Kind(send_to_run(signal.SIGHUP, {0, 75})),
    "cancel": Kind(cancel),
    "second-run": Kind(start_second(("run",))),
    "second-resume": Kind(start_second(("resume",))),
    "damage-run": Kind(damage_part("run"), counted_once=False),
    "damage-store": Kind(damage_part("store"), counted_once=False),
    "damage-cube": Kind(damage_part("cube"), counted_once=False),
    "damage-report": Kind(damage_part("report"), counted_once=False),
    "change-input": Kind(change_input),
    "full-disk": Kind(full_disk, needs="root"),
    "read-only-disk": Kind(read_only, needs="root"),
    "clock": Kind(clock),
    "cut-network": Kind(cut_network, needs="namespaces"),
    "scancel-worker": Kind(cancel_worker_jobs, needs="slurm"),
    "scancel-coordinator": Kind(cancel_coordinator_job, needs="slurm"),
    "walltime": Kind(end_walltime, needs="slurm"),
}
