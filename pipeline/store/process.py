"""Is that process still there? This module names a process so that it is not mistaken for a later one."""

from __future__ import annotations

import os
import socket
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Process", "machine_name", "name_process", "process_is_gone", "this_process"]


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
    if process.started:
        return _started(process.pid) != process.started
    try:
        os.kill(process.pid, 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        return False
    return False


def machine_name() -> str:
    """Tell this machine, since it was started, and this space of process numbers from all others; empty where it is not told."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        # Process numbers mean something only within one number space: containers on one machine have their own.
        return f"{boot}/{os.readlink('/proc/self/ns/pid')}"
    except OSError:
        return ""


def _started(pid: int) -> str | None:
    """Return field 22 of the process's status, None where it has ended or was killed and not yet collected."""
    try:
        status = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return None
    fields = status.rpartition(")")[2].split()  # the second field is the program's name and may hold anything
    return None if fields[0] in {"Z", "X", "x"} else fields[19]
