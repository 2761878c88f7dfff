"""Looks at runs from outside. This module reads state, events and leases, waits for a run's end, and asks one to stop."""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from pipeline.store.files import write_bytes
from pipeline.store.lease import read_holder
from pipeline.store.process import process_is_gone, this_process
from pipeline.store.runs import RunDirectory

__all__ = ["cancel_run", "follow_events", "follow_run", "read_status"]

LIVE = {"RUNNING", "DRAINING", "PENDING"}


def read_status(run: RunDirectory) -> dict[str, Any]:
    """Give a run's state; LOST where it says it runs and nobody runs it."""
    facts = run.read_state()
    holder = read_holder(run.root)
    held = holder is not None and holder.in_force
    if facts["state"] in {"RUNNING", "DRAINING"} and not held:
        facts = {**facts, "state": "LOST", "advice": f"its coordinator is gone; `pipeline resume {run.id}` goes on"}
    elif facts["state"] in {"FAILED", "INTERRUPTED", "CANCELLED", "INCOMPLETE"}:
        facts = {**facts, "advice": f"`pipeline resume {run.id}` goes on"}
    return {**facts, "directory": str(run.root)}


def follow_events(run: RunDirectory, *, follow: bool) -> Iterator[str]:
    """Give what happened, a line each; with ``follow`` until the run ends."""
    position = 0
    while True:
        live = read_status(run)["state"] in LIVE
        position, lines = _read_from(run.events, position)
        yield from lines
        if not follow or not live:
            break
        time.sleep(0.5)
    if run.log.is_file() and not follow:
        yield from run.log.read_text(encoding="utf-8", errors="replace").splitlines()


def _read_from(path: Path, position: int) -> tuple[int, list[str]]:
    if not path.is_file():
        return position, []
    with open(path, "rb") as file:
        file.seek(position)
        data = file.read()
    whole = data[: data.rfind(b"\n") + 1]
    lines = []
    for line in whole.split(b"\n"):
        if line:
            event = json.loads(line)
            label = f" {event['label']}:" if event.get("label") else ""
            lines.append(f"{event['time']}  {event['event']:<9}{label} {event['text']}")
            if event.get("traceback"):
                lines.append(event["traceback"].rstrip())
    return position + len(whole), lines


def follow_run(run: RunDirectory, pid: int, progress: Callable[[Any], None]) -> dict[str, Any]:
    """Wait until the run of a coordinator that this process started has ended, and give its last state."""
    while True:
        facts = run.read_state()
        if "stages" in facts:
            progress(SimpleNamespace(facts=facts))
        if facts.get("exit_code") is not None and facts.get("pid") == pid:
            return facts
        try:
            ended, code = os.waitpid(pid, os.WNOHANG)
        except ChildProcessError:
            ended, code = pid, 0
        if ended:
            facts = run.read_state()
            if facts.get("exit_code") is not None and facts.get("pid") == pid:
                return facts
            message = f"the coordinator is gone; see {run.log}"
            return {**facts, "state": "LOST", "message": message, "exit_code": os.waitstatus_to_exitcode(code) or 70}
        time.sleep(0.2)


def cancel_run(run: RunDirectory) -> str:
    """Ask a run's coordinator to stop, wherever it is, and say what was done."""
    holder = read_holder(run.root)
    if holder is None or not holder.in_force:
        return f"{run.id} is not running"
    write_bytes(run.cancel, b"")
    if holder.process.host == this_process().host and process_is_gone(holder.process) is False:
        os.kill(holder.process.pid, signal.SIGTERM)
    return f"{run.id} is asked to stop; tasks that run may end first"
