"""Faults of a batch system: jobs of workers and coordinators that are cancelled or run out of time, on the SLURM of the kit."""

from __future__ import annotations

import atexit
import functools
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from faults.episode import Episode
from faults.processes import send
from faults.steps import settle

__all__ = ["cancel_coordinator_job", "cancel_worker_jobs", "end_walltime", "has_slurm"]

_ROOT = Path(__file__).resolve().parents[2]
_KIT = _ROOT / "cluster" / "slurm-test"
_PROFILE = "slurm"
_PROGRAMS = ("slurmctld", "slurmd", "munged", "sbatch")
_OPEN = {"PENDING", "RUNNING", "COMPLETING", "CONFIGURING"}
_START_SECONDS = 60.0
_UNHEARD = (-signal.SIGTERM, -signal.SIGKILL)
"""Exit codes of a job that was ended before it could listen, or that took longer to end than SLURM waits."""


def has_slurm() -> bool:
    """Say whether a SLURM can be started here."""
    places = os.pathsep.join([os.environ.get("PATH", ""), "/usr/sbin", "/sbin"])
    return all(shutil.which(program, path=places) for program in _PROGRAMS)


@functools.cache
def _configuration() -> str:
    """Start SLURM once for this process, to be stopped with it, and return the path of its configuration."""
    state = tempfile.mkdtemp(prefix="chaos-slurm-")
    atexit.register(_stop, state)
    subprocess.run([_KIT / "up", state, "4"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, check=True, timeout=90)
    return str(Path(state) / "slurm.conf")


def _stop(state: str) -> None:
    subprocess.run([_KIT / "down", state], stdin=subprocess.DEVNULL, check=False, timeout=90)
    shutil.rmtree(state, ignore_errors=True)


def _join_slurm(episode: Episode) -> list[object]:
    """Let the commands of an episode reach SLURM, and return the options of a run whose workers are jobs."""
    episode.environment |= {"SLURM_CONF": _configuration(), "DASK_JOBQUEUE__SLURM__INTERFACE": "lo"}
    return ["--cluster", _PROFILE, "--workers", 2, "--block-cells", 1, "-q"]


def _worker_jobs(episode: Episode) -> list[str]:
    """Return the jobs of workers that have begun."""
    listed = _ask(episode, "squeue", "--noheader", "--states=RUNNING", "--format=%i %j").splitlines()
    return [line.split()[0] for line in listed if "dask" in line]


def _start_coordinator(episode: Episode, *arguments: object, limits: Sequence[str] = ()) -> BatchJob:
    """Hand in a command of the package as a job, and wait until it has begun."""
    episode.history.append(f"sbatch {' '.join(limits)} pipeline {' '.join(map(str, arguments))}")
    return BatchJob(episode, [str(argument) for argument in arguments], limits)


class BatchJob:
    """A command of the package that is a job of its own."""

    def __init__(self, episode: Episode, arguments: Sequence[str], limits: Sequence[str]) -> None:
        self._episode = episode
        self._err = episode.folder / f"job-{time.monotonic_ns()}.txt"
        command = "exec " + shlex.join([sys.executable, "-m", "pipeline", *arguments])
        files = ["--output", str(episode.folder / "job-out.txt"), "--error", str(self._err), "--chdir", str(episode.folder)]
        self.number = _ask(episode, "sbatch", "--parsable", "--job-name=coordinator", *files, *limits, "--wrap", command).strip()
        deadline = time.monotonic() + _START_SECONDS
        while self._facts()["JobState"] == "PENDING" and time.monotonic() < deadline:
            time.sleep(0.2)

    def wait(self, seconds: float) -> int | None:
        """Return the exit code, negative where a signal ended it, or None where it has not ended in time; it is then cancelled."""
        deadline = time.monotonic() + seconds
        while (facts := self._facts())["JobState"] in _OPEN:
            if time.monotonic() > deadline:
                self.cancel()
                return None
            time.sleep(0.3)
        code, _, number = facts["ExitCode"].partition(":")
        return -int(number) if int(number) else int(code)

    def cancel(self) -> None:
        """Cancel the job, as its owner would."""
        _ask(self._episode, "scancel", self.number)

    @property
    def said(self) -> str:
        """What it printed on standard error."""
        return self._err.read_text(encoding="utf-8", errors="replace") if self._err.exists() else ""

    def _facts(self) -> dict[str, str]:
        shown = _ask(self._episode, "scontrol", "--oneliner", "show", "job", self.number)
        return dict(re.findall(r"(\w+)=(\S*)", shown))


def _ask(episode: Episode, *command: str) -> str:
    done = subprocess.run(command, env=episode.environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)
    if done.returncode:
        raise RuntimeError(f"{command[0]} ended with {done.returncode}: {done.stderr.strip()}")
    return done.stdout


def cancel_worker_jobs(episode: Episode) -> None:
    """Cancel one job of a worker, or all of them: others are asked for."""
    command = episode.start("submit", episode.study, *_join_slurm(episode), "--wait")
    episode.wait_for_tasks(episode.rng.uniform(0.02, 0.9))
    jobs = _worker_jobs(episode)
    for job in jobs if episode.rng.random() < 0.5 else jobs[:1]:
        _ask(episode, "scancel", job)
    settle(episode, command, {0})


def cancel_coordinator_job(episode: Episode) -> None:
    """Cancel the job of a coordinator, whose workers are jobs: SLURM ends it, and kills it where that takes more than 3 s."""
    job = _go_on_as_job(episode)
    episode.wait_for_tasks(episode.rng.uniform(0.1, 0.9))
    job.cancel()
    settle(episode, job, {0, 75, *_UNHEARD})


def end_walltime(episode: Episode) -> None:
    """Let the time of a coordinator's job be up: it is told some seconds before, drains, and is to be resumed."""
    job = _go_on_as_job(episode, "--time=1", f"--signal=B:TERM@{episode.rng.randint(20, 45)}")
    settle(episode, job, {0, 75, *_UNHEARD})


def _go_on_as_job(episode: Episode, *limits: str) -> BatchJob:
    """Kill a run that has begun on this machine, and let it go on as a job whose workers are jobs."""
    options = _join_slurm(episode)
    command = episode.start_run()
    episode.wait_for_tasks(0.01)
    send(command.pid, signal.SIGKILL, group=True)
    episode.end(command, {0, -signal.SIGKILL})
    return _start_coordinator(episode, "resume", episode.run.name, *options, limits=limits)
