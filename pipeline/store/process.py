"""Is that process still there? Name a process so that it is not mistaken for a later one."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import psutil

from pipeline.dataclass import dataclass

__all__ = ["Process", "machine_name", "name_process", "process_is_gone", "this_process"]

_TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK") if psutil.LINUX else 0


@dataclass(frozen=True)
class Process:
    """A process: where it runs, its number, and when it started.

    ``machine`` tells machines (and restarts of one, and containers) apart, which host names do not; ``started`` is in
    clock ticks since the machine started. Both are empty where the system does not tell.
    """

    host: str
    machine: str
    pid: int
    started: str


def this_process() -> Process:
    """Name the running process."""
    return name_process(os.getpid())


def name_process(pid: int) -> Process:
    """Name a process of this machine."""
    return Process(socket.gethostname(), machine_name(), pid, _started(pid) or "")


def process_is_gone(process: Process) -> bool | None:
    """Tell whether a process has ended; None where it cannot be seen from here."""
    if (process.host, process.machine) != (socket.gethostname(), machine_name()):
        return None
    found = _started(process.pid)
    if found is None:
        return True
    if psutil.LINUX and not found:
        return None
    return bool(process.started) and found != process.started


def machine_name() -> str:
    """Identify this boot of this machine and this space of process numbers; empty where the system does not tell."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        # Process numbers mean something only within one number space: containers on one machine have their own.
        return f"{boot}/{os.readlink('/proc/self/ns/pid')}"
    except OSError:
        return ""


def _started(pid: int) -> str | None:
    """Return when a process started; None where it has ended, or was killed and not yet collected, empty where it is not told."""
    if not psutil.LINUX:
        return "" if psutil.pid_exists(pid) else None
    try:
        while True:
            # psutil adds the time at which the machine started, which moves when its clock is set: a process that goes on would
            # then look like another. Without it what is left is what the system counts in, whole ticks, and never moves.
            boot = psutil.boot_time()
            process = psutil.Process(pid)
            ticks = round((process.create_time() - boot) * _TICKS_PER_SECOND)
            if process.status() in {psutil.STATUS_ZOMBIE, psutil.STATUS_DEAD}:
                return None
            if psutil.boot_time() == boot:  # the clock was not set in between
                return str(ticks)
    except psutil.NoSuchProcess:
        return None
    except (psutil.AccessDenied, OSError, RuntimeError, ValueError):  # without /proc, where it is closed, or no number of a process
        return ""
