"""One episode: a run that is struck, then everything its messages say, then what must hold."""

from __future__ import annotations

import hashlib
import json
import os
import random
import re
import shutil
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from faults.processes import MARK, Command, command_line, end, living
from pipeline.tasks.kept_models import KEPT

__all__ = ["Episode", "Reference", "digest_results"]

_COMMAND = re.compile(r"`pipeline ((?:run|resume|report|status)[^`]*)`")
_AGAIN = "give the same command again"
_REMOVE = re.compile(r"(?:remove|delete) (?:it|[^`]*`([^`]+)`)")
_WAIT = re.compile(r"in the last (\d+) s\b.*\bwait that long", re.DOTALL)
_LONGEST = 240.0
"""Seconds after which a command hangs."""

_LEFTOVERS = re.compile(r"\.tmp-|^pipeline-|^dask-(?!worker-\d+\.(?:out|err)$)")
"""What is only there while a run is; the logs of jobs are for whoever asks what happened."""


class Ended(Protocol):
    """What can be waited for, a process or a job, and tells what it printed."""

    def wait(self, seconds: float) -> int | None: ...

    @property
    def said(self) -> str: ...


@dataclass(frozen=True)
class Reference:
    """What an undisturbed run of a study gives, and where it lies to be copied."""

    study: Path
    runs: Path
    run: str
    digests: dict[str, str]
    """SHA-256 of every file of the cubes and of report.json."""


_MEASURED = {"seconds", "peak_memory_bytes", "attempts"}
"""What a report says of its trainings that is measured, and never the same twice, and how often a fault made one begin anew."""


def digest_results(run: Path) -> dict[str, str]:
    """Return SHA-256 of every file of a run's cubes, and of its report without what trainings took, and a note on that."""
    cubes = {path: path.read_bytes() for path in (run / "cubes.zarr").rglob("*") if path.is_file()}
    report = run / "report" / "report.json"
    if report.is_file():
        told = _without(json.loads(report.read_bytes()), _MEASURED)
        for training in told.get("trainings", ()):
            # A worker that was killed between a model and its receipt leaves the model to the next attempt, which says so.
            training["notes"] = [note for note in training.get("notes", ()) if note != KEPT]
        cubes[report] = json.dumps(told).encode()
    return {path.relative_to(run).as_posix(): hashlib.sha256(data).hexdigest() for path, data in cubes.items()}


def _without(value: Any, keys: set[str]) -> Any:
    if isinstance(value, dict):
        return {key: _without(part, keys) for key, part in value.items() if key not in keys}
    return [_without(part, keys) for part in value] if isinstance(value, list) else value


@dataclass
class Episode:
    """A study in a folder of its own, with what was done to it and what was wrong afterwards."""

    folder: Path
    reference: Reference
    rng: random.Random
    patience: float = 20.0
    """Seconds in which processes may end once a run has ended."""
    rounds: int = 5
    """How often messages are followed before they lead nowhere."""
    environment: dict[str, str] = field(default_factory=dict)
    complaints: list[str] = field(default_factory=list)
    history: list[str] = field(default_factory=list)
    last: list[str] = field(default_factory=list)
    """The arguments of the command that was started last."""

    def __post_init__(self) -> None:
        shutil.copytree(self.reference.study.parent, self.study.parent)
        self.temporary.mkdir()
        self.mark = f"{os.getpid()}-{self.folder.name}"
        base = {key: value for key, value in os.environ.items() if not key.startswith("PIPELINE_")}
        self.environment = {**base, MARK: self.mark, "PIPELINE_RUNS": str(self.runs), "TMPDIR": str(self.temporary)}

    @property
    def study(self) -> Path:
        """The study's file, beside its data."""
        return self.folder / "study" / self.reference.study.name

    @property
    def runs(self) -> Path:
        """The folder of runs."""
        return self.folder / "runs"

    @property
    def run(self) -> Path:
        """The run's directory, whether it is there yet or not: a study and its data have one name wherever they lie."""
        return self.runs / self.reference.run

    @property
    def temporary(self) -> Path:
        """The folder of temporary files of all commands."""
        return self.folder / "tmp"

    def start(self, *arguments: object, within: Sequence[str] = ()) -> Command:
        """Start a command of the package, or a command that starts it within something."""
        self.history.append("pipeline " + " ".join(map(str, arguments)))
        self.last = given = [str(argument) for argument in arguments]
        return Command(given, folder=self.folder, environment=self.environment, within=within)

    def start_run(self) -> Command:
        """Start the study on two workers, one cell a task."""
        return self.start("run", self.study, "--workers", 2, "--block-cells", 1, "-q")

    def copy_complete(self) -> None:
        """Put the undisturbed run in place, as if it had been made here."""
        shutil.copytree(self.reference.runs, self.runs, symlinks=True)

    def end(self, command: Ended, allowed: set[int], *, unbegun: set[int] | None = None) -> int | None:
        """Wait for a command, and complain of an exit code that its fault does not explain; others may where no run has begun."""
        code = command.wait(_LONGEST)
        if unbegun is not None and not self.run.is_dir():
            allowed = unbegun
        self.history[-1] += f"  -> {code}"
        if code is None:
            self.complain(f"hung for {_LONGEST:.0f} s")
        elif code not in allowed:
            self.complain(f"exit code {code}, not {sorted(allowed)}: {_last_words(command.said)}")
        if code == 70 or "P999" in command.said:
            self.complain(f"took the fault for one of its own: {_last_words(command.said)}")
        return code

    def complain(self, text: str) -> None:
        """Note something that must not happen."""
        self.complaints.append(text)

    def wait_for_tasks(self, share: float) -> None:
        """Wait until a share of the tasks of the undisturbed run are done, or nothing changes that any more."""
        wanted = share * sum(_times_done(self.reference.runs / self.reference.run).values())
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and sum(_times_done(self.run).values()) < wanted:
            if not living(self.mark):
                return
            time.sleep(0.02)

    def follow_advice(self, said: str) -> None:
        """Do what messages say until a command ends well: commands in backticks, files that are to be removed, and nothing else."""
        for _ in range(self.rounds):
            advice = self.last if _AGAIN in said else self._advice(said)
            if advice is None:
                self.complain(f"nothing says what to do: {_last_words(said)}")
                return
            if told := _WAIT.search(said):
                self.history.append(f"waited {told[1]} s")
                time.sleep(float(told[1]) + 1)
            command = self.start(*advice)
            code = self.end(command, {0, 3, 4, 69, 73, 74, 75})
            if code == 0 or code is None:
                return
            said = command.said
        self.complain(f"still no result after {self.rounds} rounds of advice: {_last_words(said)}")

    def _advice(self, said: str) -> list[str] | None:
        remove = next((match[1] for match in _REMOVE.finditer(said) if match[1]), None)
        if remove is not None:
            path = Path(remove) if Path(remove).is_absolute() else self.folder / remove
            if self.folder in path.parents and path.exists():
                self.history.append(f"rm {path.name}")
                shutil.rmtree(path) if path.is_dir() else path.unlink()
        commands = [match[1] for match in _COMMAND.finditer(said) if not match[1].startswith("status")]
        if not commands:
            status = self.start("status")
            status.wait(_LONGEST)
            shown = status.out.read_text(encoding="utf-8", errors="replace") + status.said
            commands = [match[1] for match in _COMMAND.finditer(shown)]
        return commands[0].replace("RUN", self.run.name).split() if commands else None

    def finish(self, *, counted_once: bool) -> None:
        """Hold the run against the undisturbed one, and look for what was left behind."""
        found = digest_results(self.run)
        wanted = self.reference.digests
        other = sorted(name for name in wanted.keys() | found.keys() if wanted.get(name) != found.get(name))
        if other:
            self.complain(f"{len(other)} of {len(wanted)} files differ from the undisturbed run, {other[0]} first")
        twice = [key for key, times in _times_done(self.run).items() if times > 1]
        if counted_once and twice:
            self.complain(f"{len(twice)} tasks were done twice, {twice[0]} first")
        deadline = time.monotonic() + self.patience
        while (orphans := living(self.mark)) and time.monotonic() < deadline:
            time.sleep(0.1)
        for process in orphans:
            self.complain(f"process {process.pid} is left: {command_line(process)[:120]}")
            end(process)
        for left in self._leftovers():
            self.complain(f"left behind: {left}")

    def _leftovers(self) -> Iterator[Path]:
        yield from (path for path in self.temporary.iterdir() if _LEFTOVERS.search(path.name))
        yield from (path for path in self.runs.rglob("*") if _LEFTOVERS.search(path.name))


def _times_done(run: Path) -> Counter[str]:
    """Return how often each task was done, of the whole lines of a ledger; lines that were damaged say nothing."""
    done: Counter[str] = Counter()
    try:
        lines = (run / "ledger.jsonl").read_bytes().split(b"\n")[:-1]
    except OSError:
        return done
    for line in lines:
        try:
            entry: dict[str, Any] = json.loads(line)
            if entry["event"] == "done":
                done[entry["receipt"]["key"]] += 1
        except (ValueError, KeyError, TypeError):
            continue
    return done


def _last_words(said: str) -> str:
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    return " | ".join(lines[-3:])[:400] or "it said nothing"
