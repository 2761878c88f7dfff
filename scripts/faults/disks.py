"""Disks that are full or read-only, and clocks that jump."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from contextlib import suppress

from faults.episode import Episode
from faults.processes import send
from faults.steps import running, settle

__all__ = ["clock", "full_disk", "read_only"]


def full_disk(episode: Episode) -> None:
    """Let the disk of the runs become full amid a run, then make room, as the message says."""
    episode.runs.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64m", "none", str(episode.runs)], check=True)
    try:
        command = running(episode)
        filler = episode.runs / "filler"
        # Without a buffer: closing would write what is left in it, which the disk has no room for either.
        with open(filler, "wb", buffering=0) as file, suppress(OSError):
            while True:
                file.write(bytes(1 << 16))
        code = episode.end(command, {0, 73})
        filler.unlink()
        if code != 0:
            episode.follow_advice(command.said)
        _unmount_keeping(episode)
    finally:
        subprocess.run(["umount", "-l", str(episode.runs)], check=False, stderr=subprocess.DEVNULL)


def read_only(episode: Episode) -> None:
    """Let the disk of the runs become read-only amid a run, then writable again."""
    episode.runs.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=256m", "none", str(episode.runs)], check=True)
    try:
        command = running(episode)
        # Files that are open for writing keep a file system from changing; it is tried until a moment without one.
        deadline = time.monotonic() + 10
        turned = whole = False
        while not turned and time.monotonic() < deadline and command.process.poll() is None:
            turned = not subprocess.run(
                ["mount", "-o", "remount,ro", str(episode.runs)], check=False, stderr=subprocess.DEVNULL
            ).returncode
        if not turned:
            send(command.pid, signal.SIGKILL, group=True)
            whole = episode.end(command, {0, -signal.SIGKILL}) == 0
            subprocess.run(["mount", "-o", "remount,ro", str(episode.runs)], check=False, stderr=subprocess.DEVNULL)
            command = episode.start("resume", episode.run.name, "-q")
        code = episode.end(command, {0, 3, 73})
        subprocess.run(["mount", "-o", "remount,rw", str(episode.runs)], check=True)
        if code and whole:  # the run was complete before the disk turned: the advice was to make it writable, which it is now
            episode.end(episode.start("resume", episode.run.name, "-q"), {0})
        elif code:
            episode.follow_advice(command.said)
        _unmount_keeping(episode)
    finally:
        subprocess.run(["umount", "-l", str(episode.runs)], check=False, stderr=subprocess.DEVNULL)


def _unmount_keeping(episode: Episode) -> None:
    """Keep what is on a mounted folder of runs below the place where it was mounted."""
    kept = episode.folder / "kept"
    shutil.copytree(episode.runs, kept, symlinks=True)
    subprocess.run(["umount", "-l", str(episode.runs)], check=True)
    episode.runs.rmdir()
    kept.rename(episode.runs)


_CLOCK = """
import os, time
_shift = float(os.environ.get("CHAOS_CLOCK", "0"))
_time, _time_ns = time.time, time.time_ns
time.time = lambda: _time() + _shift
time.time_ns = lambda: _time_ns() + int(_shift * 10**9)
"""


def clock(episode: Episode) -> None:
    """Kill a run whose clock is days ahead, then resume it with one that is a year behind."""
    (episode.folder / "clock").mkdir()
    (episode.folder / "clock" / "sitecustomize.py").write_text(_CLOCK, encoding="utf-8")
    paths = [str(episode.folder / "clock"), *filter(None, [episode.environment.get("PYTHONPATH")])]
    episode.environment["PYTHONPATH"] = os.pathsep.join(paths)
    episode.environment["CHAOS_CLOCK"] = str(episode.rng.uniform(0, 5) * 86400)
    command = running(episode)
    send(command.pid, signal.SIGKILL, group=True)
    episode.end(command, {0, -signal.SIGKILL})
    episode.environment["CHAOS_CLOCK"] = str(-episode.rng.uniform(0, 400) * 86400)
    if not episode.run.is_dir():
        settle(episode, episode.start_run(), {0})
        return
    settle(episode, episode.start("resume", episode.run.name, "-q"), {0})
