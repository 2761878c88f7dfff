"""Damage to files: of the run, the store, the cubes, the report, and inputs."""

from __future__ import annotations

import random
import signal
from collections.abc import Callable
from pathlib import Path

from faults.episode import Episode
from faults.processes import send
from faults.steps import running, settle

__all__ = ["change_input", "damage", "damage_part", "victims"]


_RUN_FILES = (
    "plan.json",
    "launch.json",
    "state.json",
    "ledger.jsonl",
    "events.jsonl",
    "study.yaml",
    "origin.json",
)


def damage(path: Path, rng: random.Random) -> str:
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


def victims(episode: Episode, part: str) -> list[Path]:
    roots = {
        "run": [episode.run / name for name in _RUN_FILES] + sorted(episode.run.glob("lease.*")),
        "store": sorted((episode.runs / ".store").rglob("*")),
        "cube": sorted((episode.run / "cubes.zarr").rglob("*")),
        "report": sorted((episode.run / "report").rglob("*")),
    }
    return [path for path in roots[part] if path.is_file() and not path.is_symlink()]


def damage_part(part: str) -> Callable[[Episode], None]:
    """Damage a file of a run that was killed or is complete, then ask for it to be resumed."""

    def strike(episode: Episode) -> None:
        if part in {"run", "store"} and episode.rng.random() < 0.5:
            command = episode.start_run()
            episode.wait_for_tasks(episode.rng.uniform(0.1, 0.9))
            send(command.pid, signal.SIGKILL, group=True)
            episode.end(command, {0, -signal.SIGKILL})
        else:
            episode.copy_complete()
        found = victims(episode, part)
        if found:
            episode.history.append(damage(episode.rng.choice(found), episode.rng))
        resumed = episode.start("resume", episode.run.name, "-q")
        settle(episode, resumed, {0, 3, 73})

    return strike


def change_input(episode: Episode) -> None:
    """Change an input while the study runs, put it back when a message names it."""
    command = running(episode)
    victim = episode.study.parent / ("scores.csv" if episode.study.parent.joinpath("scores.csv").exists() else "test.labels")
    before = victim.read_bytes()
    victim.write_bytes(before + b"x,1,1,1,1,1,1\n" if victim.suffix == ".csv" else before + b"a\n")
    code = episode.end(command, {0, 3, 4})
    if code in {3, 4} and victim.name not in command.said and "input" not in command.said:
        episode.complain(f"no message names {victim.name}")
    victim.write_bytes(before)
    if code != 0:
        episode.follow_advice(command.said)
