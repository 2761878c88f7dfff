"""Write the state of a run for anyone who looks: `state.json` and `events.jsonl`. Neither is needed to resume."""

from __future__ import annotations

import json
import os
import socket
import time
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, BinaryIO

from pipeline.store.files import open_private, store_error
from pipeline.store.process import Process
from pipeline.store.runs import RunDirectory
from pipeline.store.seals import write_sealed

__all__ = ["STAGES", "RunState", "now", "write_pending"]

STAGES = ("train", "extract", "resample", "shard", "collect", "report")

WRITE_SECONDS = 1.0


def now() -> str:
    """Return the time in UTC, to the second."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


def write_pending(run: RunDirectory, *, study: str, coordinator: Process | None = None) -> None:
    """Write the state of a run before its coordinator does: prepared, or, with ``coordinator``, about to be run by that process.

    Nothing is written where that coordinator was quicker and wrote its own.
    """
    if coordinator is not None:
        facts = run.read_state()
        if (facts.get("host"), facts.get("pid")) == (coordinator.host, coordinator.pid):
            return
    pending: dict[str, Any] = {
        "schema_version": 1,
        "run": run.id,
        "study": study,
        "state": "PENDING",
        "phase": "planned" if coordinator is None else "starting",
        "done": 0,
        "total": 0,
        "updated": now(),
    }
    write_sealed(run.state, pending if coordinator is None else {**pending, "coordinator": asdict(coordinator)})


class RunState:
    """The state of a run while its coordinator lives."""

    def __init__(self, run: RunDirectory, *, study: str, fence: int) -> None:
        self._run = run
        self._start = time.monotonic()
        self._written, self._phase = 0.0, ""
        self.facts: dict[str, Any] = {
            "schema_version": 1,
            "run": run.id,
            "study": study,
            "state": "RUNNING",
            "phase": "starting",
            "stages": {},
            "done": 0,
            "total": 0,
            "eta_seconds": None,
            "started": now(),
            "updated": now(),
            "host": socket.gethostname(),
            "pid": os.getpid(),
            "attempt": fence,
            "exit_code": None,
            "message": "",
            "engine": {},
        }

    def event(self, kind: str, text: str, **more: Any) -> None:
        """Append to `events.jsonl`: what happened, when.

        Raises
        ------
        StoreError
            The disk is full, or not writable.
        """
        line = json.dumps({"time": now(), "event": kind, "text": text, **more}, ensure_ascii=False)
        try:
            with open(self._run.events, "a+b", opener=open_private) as file:
                # A crash or a full disk may have torn the line before: it must not take this one along.
                start = b"\n" if _is_torn(file) else b""
                file.write(start + line.encode("utf-8", "backslashreplace") + b"\n")
        except OSError as error:
            raise store_error(error, self._run.events) from error

    def count(self, done: Mapping[str, int], open_: Mapping[str, int], seconds_left: float | None) -> None:
        """Set how much is done and open in each stage, and the time that is left."""
        stages = {k: {"done": done.get(k, 0), "total": done.get(k, 0) + open_.get(k, 0)} for k in STAGES}
        self.facts["stages"] = {k: v for k, v in stages.items() if v["total"]}
        self.facts["done"] = sum(v["done"] for v in stages.values())
        self.facts["total"] = sum(v["total"] for v in stages.values())
        self.facts["phase"] = next((k for k in STAGES if open_.get(k)), "report")
        self.facts["eta_seconds"] = None if seconds_left is None else round(seconds_left, 1)

    def write(self, *, at_once: bool = False) -> None:
        """Write `state.json`, at most once a second but for a new phase: each is seen, however short."""
        if not at_once and self.facts["phase"] == self._phase and time.monotonic() - self._written < WRITE_SECONDS:
            return
        self._written, self._phase = time.monotonic(), self.facts["phase"]
        self.facts["updated"] = now()
        self.facts["elapsed_seconds"] = round(time.monotonic() - self._start, 1)
        write_sealed(self._run.state, self.facts)

    def end(self, state: str, exit_code: int, message: str) -> None:
        """Write how the run ended."""
        self.facts.update(state=state, exit_code=exit_code, message=message, eta_seconds=None)
        if state == "COMPLETED":
            self.facts["phase"] = "done"
        self.event("ended", f"{state}: {message}" if message else state, exit_code=exit_code)
        self.write(at_once=True)


def _is_torn(file: BinaryIO) -> bool:
    if file.seek(0, os.SEEK_END) == 0:
        return False
    file.seek(-1, os.SEEK_END)
    return file.read(1) != b"\n"
