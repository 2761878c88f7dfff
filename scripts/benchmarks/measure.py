"""Measure what a command costs with everything it starts, including processes that outlive their parents.

    python -m benchmarks.measure RESULT.json COMMAND …

runs the command and writes CPU seconds of the whole tree of processes, wall seconds and the most memory that one of them held.
A process of its own does this: the figures of `getrusage` are then those of this command alone.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import psutil

__all__ = ["CHOOSES_KERNELS", "Cost", "run_measured", "start_measured"]

CHOOSES_KERNELS = ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE")
"""What may have a BLAS take a kernel for an older processor, at half the speed: neither side is measured so."""

_SUBREAPER = 36  # PR_SET_CHILD_SUBREAPER of Linux: orphans become children of this process, which waits for them


@dataclass(frozen=True)
class Cost:
    """What one command cost.

    Parameters
    ----------
    cpu_s, wall_s : float
        User and system time of all processes; time from start to end of the command.
    peak_memory_bytes : int
        Of the largest process.
    """

    cpu_s: float
    wall_s: float
    peak_memory_bytes: int


class Measured:
    """A command that runs and is measured."""

    def __init__(self, command: Sequence[str | os.PathLike[str]], *, cwd: Path | None = None) -> None:
        self.command = [os.fspath(part) for part in command]
        self._folder = tempfile.TemporaryDirectory(prefix="measured-")
        self._file = Path(self._folder.name) / "cost.json"
        environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join([str(Path(__file__).parents[1]), os.environ.get("PYTHONPATH", "")]),
        }
        for name in CHOOSES_KERNELS:
            environment.pop(name, None)
        for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
            environment[name] = "1"
        self._process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.measure", str(self._file), *self.command],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=environment,
            cwd=cwd,
        )

    def is_running(self) -> bool:
        """Say whether it has not ended yet."""
        return self._process.poll() is None

    def cpu_s(self) -> float:
        """Return the CPU seconds so far of all its processes that live, and of those they have waited for."""
        processes = [psutil.Process(self._process.pid)]
        processes += processes[0].children(recursive=True)
        total = 0.0
        for process in processes:
            with contextlib.suppress(psutil.NoSuchProcess):
                total += sum(process.cpu_times()[:4])
        return total

    def finish(self) -> tuple[Cost, str]:
        """Wait for it; give its cost and what it printed.

        Raises
        ------
        RuntimeError
            Where it failed, with what it said.
        """
        printed, said = self._process.communicate()
        with self._folder:
            if self._process.returncode:
                raise RuntimeError(f"{' '.join(self.command)} ended with exit code {self._process.returncode}:\n{said[-3000:]}")
            return Cost(**json.loads(self._file.read_text(encoding="utf-8"))), printed


def start_measured(command: Sequence[str | os.PathLike[str]], *, cwd: Path | None = None) -> Measured:
    """Start a command."""
    return Measured(command, cwd=cwd)


def run_measured(command: Sequence[str | os.PathLike[str]], *, cwd: Path | None = None) -> tuple[Cost, str]:
    """Run a command; give its cost and what it printed."""
    return Measured(command, cwd=cwd).finish()


def main() -> int:
    """Run the command of the command line and write its cost."""
    result, *command = sys.argv[1:]
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_SUBREAPER, 1, 0, 0, 0)
    start = time.perf_counter()
    process = subprocess.Popen(command)
    code = process.wait()
    wall = time.perf_counter() - start
    try:
        while True:  # whatever is left over: its time counts once it has ended
            os.wait()
    except ChildProcessError:
        pass
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    cost = {"cpu_s": used.ru_utime + used.ru_stime, "wall_s": wall, "peak_memory_bytes": used.ru_maxrss * 1024}
    Path(result).write_text(json.dumps(cost), encoding="utf-8")
    return code


if __name__ == "__main__":
    sys.exit(main())
