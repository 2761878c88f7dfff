"""Processes of an episode, found by a mark in their environment: those started directly, and all that came of them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import psutil

__all__ = ["MARK", "Command", "command_line", "end", "living", "send", "workers_of"]

MARK = "PIPELINE_CHAOS_EPISODE"
"""The variable that all processes of an episode inherit."""


class Command:
    """A command of the package that runs in a process group of its own, as one that a shell starts."""

    def __init__(
        self, arguments: Sequence[str], *, folder: Path, environment: Mapping[str, str], within: Sequence[str] = ()
    ) -> None:
        self.arguments = list(arguments)
        self.out, self.err = (folder / f"{name}-{time.monotonic_ns()}.txt" for name in ("out", "err"))
        with open(self.out, "wb") as out, open(self.err, "wb") as err:
            self.process = subprocess.Popen(
                [*within, sys.executable, "-m", "pipeline", *arguments],
                cwd=folder,
                env=dict(environment),
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                start_new_session=True,
            )

    @property
    def pid(self) -> int:
        """The process, which leads its group."""
        return self.process.pid

    def wait(self, seconds: float) -> int | None:
        """Return the exit code, or None where it has not ended in time; it is then killed with its group."""
        try:
            return self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            send(self.pid, signal.SIGKILL, group=True)
            self.process.wait()
            return None

    @property
    def said(self) -> str:
        """What it printed on standard error."""
        return self.err.read_text(encoding="utf-8", errors="replace")


def living(mark: str) -> list[psutil.Process]:
    """Return the processes that have the mark of an episode; those that have ended and wait to be collected are none."""
    found = []
    for process in psutil.process_iter():
        try:
            if process.environ().get(MARK) == mark and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
        except psutil.Error:
            continue
    return found


def command_line(process: psutil.Process) -> str:
    """Return the command of a process, nothing of one that has just ended."""
    try:
        return " ".join(process.cmdline())
    except psutil.Error:
        return ""


def end(process: psutil.Process) -> None:
    """Kill a process that may have ended meanwhile."""
    with suppress(psutil.Error):
        process.kill()


def workers_of(pid: int) -> list[int]:
    """Return the worker processes of a local cluster whose coordinator is ``pid``."""
    try:
        children = psutil.Process(pid).children(recursive=True)
        return [child.pid for child in children if "spawn_main" in " ".join(child.cmdline())]
    except psutil.Error:
        return []


def send(pid: int, number: signal.Signals, *, group: bool = False) -> bool:
    """Send a signal and say whether there was anybody to get it."""
    try:
        if group:
            os.killpg(pid, number)
        else:
            os.kill(pid, number)
    except ProcessLookupError:
        return False
    return True
