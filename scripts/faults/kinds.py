"""The kinds of faults: what each does to an episode, and the exit codes that it explains."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from faults.episode import Episode
from faults.processes import Command, send, workers_of

__all__ = ["KINDS", "Kind", "missing"]

_UNHEARD = {-number for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)}
"""Exit codes of a process that was ended by a signal before it could listen."""

_SETTLE = 1.5
"""Seconds for which a process is stopped, or two coordinators are left alone."""


@dataclass(frozen=True)
class Kind:
    """A kind of fault."""

    strike: Callable[[Episode], None]
    counted_once: bool = True
    """Whether no task may be done twice; damaged results are computed again."""
    needs: str = ""
    """What the machine must have: "root" to mount a file system."""


def missing(kind: Kind) -> str | None:
    """Say what this machine lacks for a kind, None where it has all."""
    if kind.needs == "root" and (os.geteuid() != 0 or shutil.which("mount") is None):
        return "needs root, to mount a small file system"
    return None


# --- signals and deaths while the study runs ---


def _running(episode: Episode) -> Command:
    """Start the run and let it come somewhere: now and then while it still starts, else amid its tasks."""
    command = episode.start_run()
    if episode.rng.random() < 0.2:
        time.sleep(episode.rng.uniform(1.5, 4.0))
    else:
        episode.wait_for_tasks(episode.rng.uniform(0.02, 0.95))
    return command


def _settle(episode: Episode, command: Command, allowed: set[int]) -> None:
    """Wait for a command that was struck, and do what it says unless it ended well.

    A signal that comes while Python still imports ends it by that signal. There is no run yet, nothing to lose and nobody to
    give advice: the study is started once more.
    """
    code = episode.end(command, allowed, unbegun=allowed | _UNHEARD)
    if code in _UNHEARD and not episode.run.is_dir():
        episode.end(episode.start_run(), {0})
    elif code != 0:
        episode.follow_advice(command.said)


def _kill_worker(episode: Episode) -> None:
    command = _running(episode)
    workers = workers_of(command.pid)
    if workers:
        send(episode.rng.choice(workers), signal.SIGKILL)
    _settle(episode, command, {0})


def _kill_all_workers(episode: Episode) -> None:
    command = _running(episode)
    for worker in workers_of(command.pid):
        send(worker, signal.SIGKILL)
    _settle(episode, command, {0})


def _stop_worker(episode: Episode) -> None:
    command = _running(episode)
    workers = workers_of(command.pid)
    if workers:
        worker = episode.rng.choice(workers)
        send(worker, signal.SIGSTOP)
        time.sleep(_SETTLE)
        send(worker, signal.SIGCONT)
    _settle(episode, command, {0})


def _stop_coordinator(episode: Episode) -> None:
    command = _running(episode)
    send(command.pid, signal.SIGSTOP)
    time.sleep(_SETTLE)
    send(command.pid, signal.SIGCONT)
    _settle(episode, command, {0})


def _send(number: signal.Signals, allowed: set[int], *, group: bool = False, times: int = 1) -> Callable[[Episode], None]:
    def strike(episode: Episode) -> None:
        command = _running(episode)
        for _ in range(times):
            send(command.pid, number, group=group)
            time.sleep(0.3)
        _settle(episode, command, allowed)

    return strike


def _terminate_worker(episode: Episode) -> None:
    command = _running(episode)
    workers = workers_of(command.pid)
    if workers:
        send(episode.rng.choice(workers), signal.SIGTERM)
    _settle(episode, command, {0})


def _cancel(episode: Episode) -> None:
    command = _running(episode)
    asked = episode.start("cancel", episode.run.name)
    # Before the run has a folder there is nothing to cancel, and it is not one that is running.
    if episode.end(asked, {0, 2, 3}) == 0:
        _settle(episode, command, {0, 75})
    else:
        _settle(episode, command, {0})


def _second(command_line: tuple[str, ...]) -> Callable[[Episode], None]:
    """Start a second coordinator while the first one runs: one of the two does the work, the other says so."""

    def strike(episode: Episode) -> None:
        first = _running(episode)
        if not episode.run.is_dir():
            _settle(episode, first, {0})
            return
        second = episode.start(*command_line, episode.study if command_line[0] == "run" else episode.run.name, "-q")
        codes = {episode.end(second, {0, 74, 75}), episode.end(first, {0, 74, 75})}
        if 0 not in codes:
            episode.follow_advice(first.said)

    return strike


# --- damage to files ---

_RUN_FILES = (
    "plan.json",
    "launch.json",
    "state.json",
    "ledger.jsonl",
    "events.jsonl",
    "study.yaml",
    "origin.json",
    "versions.json",
)


def _damage(path: Path, rng: random.Random) -> str:
    """Delete, cut, empty or alter a file, or put a folder in its place; say which."""
    how = rng.choice(["deleted", "cut", "emptied", "flipped", "zeroed", "a folder"])
    data = path.read_bytes()
    if how in {"deleted", "a folder"}:
        path.unlink()
        if how == "a folder":
            path.mkdir()
    elif how == "cut":
        path.write_bytes(data[: len(data) // 2])
    elif how == "emptied":
        path.write_bytes(b"")
    elif how == "flipped" and data:
        place = rng.randrange(len(data))
        path.write_bytes(data[:place] + bytes([data[place] ^ (1 << rng.randrange(8))]) + data[place + 1 :])
    else:
        path.write_bytes(bytes(len(data)))
    return f"{path.name} {how}"


def _victims(episode: Episode, part: str) -> list[Path]:
    roots = {
        "run": [episode.run / name for name in _RUN_FILES] + sorted(episode.run.glob("lease.*")),
        "store": sorted((episode.runs / ".store").rglob("*")),
        "cube": sorted((episode.run / "cubes.zarr").rglob("*")),
        "report": sorted((episode.run / "report").rglob("*")),
    }
    return [path for path in roots[part] if path.is_file() and not path.is_symlink()]


def _damage_part(part: str) -> Callable[[Episode], None]:
    """Damage a file of a run that was killed or is complete, then ask for it to be resumed."""

    def strike(episode: Episode) -> None:
        if part in {"run", "store"} and episode.rng.random() < 0.5:
            command = episode.start_run()
            episode.wait_for_tasks(episode.rng.uniform(0.1, 0.9))
            send(command.pid, signal.SIGKILL, group=True)
            episode.end(command, {0, -signal.SIGKILL})
        else:
            episode.copy_complete()
        victims = _victims(episode, part)
        if victims:
            episode.history.append(_damage(episode.rng.choice(victims), episode.rng))
        resumed = episode.start("resume", episode.run.name, "-q")
        _settle(episode, resumed, {0, 3, 73})

    return strike


def _change_input(episode: Episode) -> None:
    """Change an input while the study runs, put it back when a message names it."""
    command = _running(episode)
    victim = episode.study.parent / ("scores.csv" if episode.study.parent.joinpath("scores.csv").exists() else "test.labels")
    before = victim.read_bytes()
    victim.write_bytes(before + b"x,1,1,1,1,1,1\n" if victim.suffix == ".csv" else before + b"a\n")
    code = episode.end(command, {0, 3, 4})
    if code in {3, 4} and victim.name not in command.said and "input" not in command.said:
        episode.complain(f"no message names {victim.name}")
    victim.write_bytes(before)
    if code != 0:
        episode.follow_advice(command.said)


# --- disks and clocks ---


def _full_disk(episode: Episode) -> None:
    """Let the disk of the runs become full amid a run, then make room, as the message says."""
    episode.runs.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64m", "none", str(episode.runs)], check=True)
    try:
        command = _running(episode)
        filler = episode.runs / "filler"
        with open(filler, "wb") as file:
            try:
                while True:
                    file.write(bytes(1 << 16))
                    file.flush()
            except OSError:
                pass
        code = episode.end(command, {0, 73})
        filler.unlink()
        if code != 0:
            episode.follow_advice(command.said)
        _unmount_keeping(episode)
    finally:
        subprocess.run(["umount", "-l", str(episode.runs)], check=False, stderr=subprocess.DEVNULL)


def _read_only(episode: Episode) -> None:
    """Let the disk of the runs become read-only amid a run, then writable again."""
    episode.runs.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=256m", "none", str(episode.runs)], check=True)
    try:
        command = _running(episode)
        # Files that are open for writing keep a file system from changing; it is tried until a moment without one.
        deadline = time.monotonic() + 10
        turned = False
        while not turned and time.monotonic() < deadline and command.process.poll() is None:
            turned = not subprocess.run(
                ["mount", "-o", "remount,ro", str(episode.runs)], check=False, stderr=subprocess.DEVNULL
            ).returncode
        if not turned:
            send(command.pid, signal.SIGKILL, group=True)
            episode.end(command, {0, -signal.SIGKILL})
            subprocess.run(["mount", "-o", "remount,ro", str(episode.runs)], check=False, stderr=subprocess.DEVNULL)
            command = episode.start("resume", episode.run.name, "-q")
        code = episode.end(command, {0, 3, 73})
        subprocess.run(["mount", "-o", "remount,rw", str(episode.runs)], check=True)
        if code != 0:
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


def _clock(episode: Episode) -> None:
    """Kill a run whose clock is days ahead, then resume it with one that is a year behind."""
    (episode.folder / "clock").mkdir()
    (episode.folder / "clock" / "sitecustomize.py").write_text(_CLOCK, encoding="utf-8")
    paths = [str(episode.folder / "clock"), *filter(None, [episode.environment.get("PYTHONPATH")])]
    episode.environment["PYTHONPATH"] = os.pathsep.join(paths)
    episode.environment["CHAOS_CLOCK"] = str(episode.rng.uniform(0, 5) * 86400)
    command = _running(episode)
    send(command.pid, signal.SIGKILL, group=True)
    episode.end(command, {0, -signal.SIGKILL})
    episode.environment["CHAOS_CLOCK"] = str(-episode.rng.uniform(0, 400) * 86400)
    if not episode.run.is_dir():
        _settle(episode, episode.start_run(), {0})
        return
    _settle(episode, episode.start("resume", episode.run.name, "-q"), {0})


KINDS: dict[str, Kind] = {
    "kill-worker": Kind(_kill_worker),
    "kill-all-workers": Kind(_kill_all_workers),
    "terminate-worker": Kind(_terminate_worker),
    "stop-worker": Kind(_stop_worker),
    "stop-coordinator": Kind(_stop_coordinator),
    "kill-coordinator": Kind(_send(signal.SIGKILL, {0, -signal.SIGKILL})),
    "kill-group": Kind(_send(signal.SIGKILL, {0, -signal.SIGKILL}, group=True)),
    "terminate": Kind(_send(signal.SIGTERM, {0, 75})),
    "terminate-group": Kind(_send(signal.SIGTERM, {0, 75}, group=True)),
    "interrupt": Kind(_send(signal.SIGINT, {0, 130}, group=True)),
    "interrupt-twice": Kind(_send(signal.SIGINT, {0, 130}, group=True, times=2)),
    "hang-up": Kind(_send(signal.SIGHUP, {0, 75})),
    "cancel": Kind(_cancel),
    "second-run": Kind(_second(("run",))),
    "second-resume": Kind(_second(("resume",))),
    "damage-run": Kind(_damage_part("run"), counted_once=False),
    "damage-store": Kind(_damage_part("store"), counted_once=False),
    "damage-cube": Kind(_damage_part("cube"), counted_once=False),
    "damage-report": Kind(_damage_part("report"), counted_once=False),
    "change-input": Kind(_change_input),
    "full-disk": Kind(_full_disk, needs="root"),
    "read-only-disk": Kind(_read_only, needs="root"),
    "clock": Kind(_clock),
}
