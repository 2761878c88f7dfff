"""Run one command of a trainer: hold it to its limits, keep what it prints, and say how it failed."""

from __future__ import annotations

import contextlib
import marshal
import math
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pipeline.dataclass import dataclass
from pipeline.foreign_code import refuse_foreign_code
from pipeline.trainers._outcome import DISK_IS_FULL, judge, kept_log, size

__all__ = ["Finished", "Limits", "run_command"]

_SHARE_OF_FREE = 0.9
_UNITS = {
    "": 1,
    "B": 1,
    "KB": 10**3,
    "MB": 10**6,
    "GB": 10**9,
    "TB": 10**12,
    "KIB": 2**10,
    "MIB": 2**20,
    "GIB": 2**30,
    "TIB": 2**40,
}
_LEAST_MEMORY = 64_000_000  # what starts the command has some of it already
_SUPERVISOR = Path(__file__).with_name("_supervisor.py")
ONE_THREAD = {
    name: "1"
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")
}
"""Environment of every command, unless the study says otherwise: sums over threads depend on their number."""


@dataclass(frozen=True)
class Limits:
    """What a command may use.

    Parameters
    ----------
    minutes : float
        Wall time; a day by default.
    memory : int, optional
        Bytes of resident memory of all its processes together.
    disk : int, optional
        Bytes of the work directory, and of any one file; by default nine tenths of what is free when the command starts.
    grace_seconds : float
        Between being asked to end and being killed.
    """

    minutes: float = 1440.0
    memory: int | None = None
    disk: int | None = None
    grace_seconds: float = 5.0

    @classmethod
    def read(cls, option: Any) -> Limits:
        """Read ``{minutes: 30, memory: 4 GB, disk: 1 GB}``; a ValueError says what is wrong.

        Examples
        --------
        >>> Limits.read({"minutes": 30, "memory": "4 GB"})
        Limits(minutes=30.0, memory=4000000000, disk=None, grace_seconds=5.0)
        """
        if not isinstance(option, Mapping):
            raise ValueError(f"option 'limits' is a mapping of minutes, memory and disk, not {option!r}")
        unknown = [str(name) for name in option if name not in ("minutes", "memory", "disk")]
        if unknown:
            raise ValueError(f"option 'limits' has no {', '.join(map(repr, unknown))} (there are: minutes, memory, disk)")
        minutes = option.get("minutes", cls.minutes)
        if isinstance(minutes, bool) or not isinstance(minutes, (int, float)) or not 0 < minutes < math.inf:
            raise ValueError(f"limit 'minutes' is a number above 0, not {minutes!r}")
        memory = _bytes("memory", option["memory"], _LEAST_MEMORY) if "memory" in option else None
        disk = _bytes("disk", option["disk"], 1) if "disk" in option else None
        return cls(float(minutes), memory, disk)


@dataclass(frozen=True)
class Finished:
    """A command that ended well.

    Parameters
    ----------
    seconds : float
    memory_bytes : int
        The largest resident memory seen.
    log : str
        What it printed.
    notes : tuple of str
        What a reader of the report should know.
    """

    seconds: float
    memory_bytes: int
    log: str
    notes: tuple[str, ...] = ()


def run_command(
    command: str,
    *,
    title: str,
    cwd: Path,
    watch: Path,
    logs: Path,
    environment: Mapping[str, str],
    limits: Limits,
    given: Path | None = None,
) -> Finished:
    """Run a command of the shell to its end, in a session of its own; nothing of it is left whatever happens.

    Parameters
    ----------
    command : str
        For ``/bin/sh -ec``: a command of several lines ends at the first that fails.
    title : str
        ``fit`` or ``predict``, for messages.
    cwd, watch, logs : Path
        Where it runs; the folder whose size is limited; where ``<title>.out`` and ``<title>.err`` are kept.
    environment : mapping
        Added to that of this process.
    given : Path, optional
        The file of items that it works on, to be looked at where it fails.

    Raises
    ------
    CommandFailed
        P411 it failed, P414 the disk, P415 the memory, P416 the time, P417 it could not be started.
    PluginError
        P315 where code of a study is not to be run.
    """
    refuse_foreign_code(f"the command of {title}")
    free = shutil.disk_usage(watch).free
    spec = {
        "command": command,
        "cwd": str(cwd),
        "watch": str(watch),
        "stdout": str(logs / f"{title}.out"),
        "stderr": str(logs / f"{title}.err"),
        "env": {**os.environ, **ONE_THREAD, **environment},
        "seconds": limits.minutes * 60,
        "memory": limits.memory,
        "disk": limits.disk if limits.disk is not None else max(DISK_IS_FULL, int(free * _SHARE_OF_FREE)),
        "file_size": limits.disk,
        "grace": limits.grace_seconds,
        **({} if given is None else {"given": str(given)}),
    }
    ended = _supervise(spec)
    log = kept_log(logs, title)
    failed = judge(title, ended, spec, log, free=shutil.disk_usage(watch).free)
    if failed is not None:
        raise failed
    left = int(ended["left"])
    notes = (f"{title} left {left} process{'es' if left > 1 else ''} running, which {'were' if left > 1 else 'was'} ended",)
    return Finished(float(ended["seconds"]), int(ended["memory"]), log, notes if left else ())


def _supervise(spec: dict[str, Any]) -> dict[str, Any]:
    """Have the supervisor run it; empty where the supervisor itself was killed."""
    supervisor = subprocess.Popen(
        [sys.executable, "-I", "-S", str(_SUPERVISOR)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,  # an interrupt from the terminal comes to us alone
        cwd="/",
    )
    assert supervisor.stdin is not None
    assert supervisor.stdout is not None
    group, ended = 0, dict[str, Any]()
    try:
        with contextlib.suppress(BrokenPipeError):
            supervisor.stdin.write(marshal.dumps(spec))
            supervisor.stdin.flush()
        with contextlib.suppress(EOFError):
            while not ended:
                said = marshal.load(supervisor.stdout)
                group, ended = (said["pid"], ended) if "pid" in said else (group, said)
    finally:
        # Whatever brought us here, an interrupt too: when the pipe closes the supervisor ends what still runs.
        with contextlib.suppress(BrokenPipeError):
            supervisor.stdin.close()
        try:
            supervisor.wait(timeout=float(spec["grace"]) + 15.0)
        except subprocess.TimeoutExpired:
            supervisor.kill()
            supervisor.wait()
        supervisor.stdout.close()
        if group and not ended:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(group, signal.SIGKILL)
    return ended


def _bytes(limit: str, value: Any, least: int) -> int:
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([A-Za-z]*)\s*", str(value)) if not isinstance(value, bool) else None
    unit = _UNITS.get(found[2].upper()) if found else None
    if found is None or unit is None:
        raise ValueError(f"limit '{limit}' is a size such as '4 GB' or '500 MB', not {value!r}")
    number = int(float(found[1]) * unit)
    if number < least:
        raise ValueError(f"limit '{limit}' is at least {size(least)}, not {value!r}")
    return number
