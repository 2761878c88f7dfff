"""Look at runs from outside: read state, events and leases, wait for a run's end, ask one to stop."""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from pipeline.errors import Interrupted, StoreError
from pipeline.store.files import store_error, write_bytes
from pipeline.store.lease import Holder, read_holder
from pipeline.store.process import Process, process_is_gone, this_process
from pipeline.store.runs import RunDirectory

__all__ = ["await_end", "cancel_run", "follow_events", "follow_run", "read_status", "watch_status"]

LIVE = {"RUNNING", "DRAINING", "PENDING"}

START_SECONDS = 300.0
"""How long a coordinator that cannot be seen from here may take to begin."""

END_SECONDS = 30.0
"""How long one that is asked to stop, or has written how its run ended, is waited for: it takes a few at most."""


def read_status(run: RunDirectory) -> dict[str, Any]:
    """Return a run's state, with advice where somebody should do something.

    LOST is a run that should be running and that nobody runs; UNKNOWN is one whose `state.json` or lease cannot be read.
    """
    facts, page = _judge(run)[0], run.page
    # While it runs again, what is there is the report of an earlier time.
    told = {"report": str(page)} if page is not None and facts["state"] not in LIVE else {}
    return {**facts, "directory": str(run.root), **told}


def watch_status(run: RunDirectory, seconds: float) -> Iterator[dict[str, Any]]:
    """Yield a run's state, again after so many seconds, until nothing changes any more unless somebody does something."""
    while True:
        facts = read_status(run)
        yield facts
        if not _judge(run)[1]:
            last = read_status(run)  # it may have ended between the two looks
            if last["state"] != facts["state"]:
                yield last
            return
        time.sleep(seconds)


def await_end(run: RunDirectory, *, seconds: float = END_SECONDS) -> None:
    """Wait until a coordinator that is about to end has released the run, but no longer than ``seconds``.

    It writes how the run ended before it gives back its lease. Whoever resumes a run as soon as it is told to be cancelled, or as
    soon as it has been asked to stop, would otherwise be refused. A run that goes on is not waited for.
    """
    deadline = time.monotonic() + seconds
    while (holder := _holder_of(run)) is not None and _is_ending(run, holder) and time.monotonic() < deadline:
        time.sleep(0.05)


def _is_ending(run: RunDirectory, holder: Holder) -> bool:
    facts = run.read_state()
    if facts.get("attempt") != holder.fence:  # what an earlier attempt wrote, or nothing that can be read
        return False
    return facts["state"] not in {"RUNNING", "PENDING"} or run.cancel.exists()


def _judge(run: RunDirectory) -> tuple[dict[str, Any], bool]:
    """Return a run's state and advice, and whether it may still change without anybody doing something."""
    try:
        holder = _holder_of(run)
        facts = run.read_state()
        if holder is None and facts["state"] in {"RUNNING", "DRAINING"}:
            holder = _holder_of(run)  # it may have begun between the two looks
    except StoreError as error:
        return {
            **run.read_state(),
            "state": "UNKNOWN",
            "advice": "; ".join(f"{p.message}: {p.help}" for p in error.problems),
        }, False
    state, advice = _judge_free(run, facts) if holder is None else _judge_held(facts)
    if holder is not None and holder.process is None:
        advice = f"its lease is damaged; if no process writes the run, `pipeline resume {run.id}` takes it over in a minute"
    live = state in LIVE and (holder is not None or not advice)
    return {**facts, "state": state, **({"advice": advice} if advice else {})}, live


def _judge_held(facts: dict[str, Any]) -> tuple[str, str]:
    if facts["state"] == "UNKNOWN":
        return "RUNNING", "its state.json cannot be read; its coordinator will write it again"
    if facts["state"] == "RUNNING":
        return facts["state"], _advise_idle(facts.get("engine"))
    return facts["state"], ""


def _advise_idle(engine: object) -> str:
    """Say what to do about a run that waits for workers, or nothing."""
    if not isinstance(engine, dict):
        return ""
    refused = f"the batch system refuses jobs: {engine['refused']}" if engine.get("refused") else ""
    if not engine.get("no_workers_since"):
        return refused
    return refused or "jobs of workers wait in the queue, or were cancelled: look at it with squeue, qstat or the like"


def _judge_free(run: RunDirectory, facts: dict[str, Any]) -> tuple[str, str]:
    """Judge a run that no process writes."""
    state = facts["state"]
    if state == "PENDING":
        return _judge_pending(run, facts)
    if state in LIVE:
        return "LOST", f"its coordinator is gone; `pipeline resume {run.id}` continues it"
    if state == "UNKNOWN":
        return state, f"its state.json cannot be read; `pipeline resume {run.id}` writes it again"
    if state in {"FAILED", "INCOMPLETE"}:
        again = f"`pipeline resume {run.id}` tries it again; a study that had to change is run instead"
        return state, f"`pipeline logs {run.id}` shows what failed; once that is fixed, {again}"
    return state, "" if state == "COMPLETED" else f"`pipeline resume {run.id}` continues it"


def _holder_of(run: RunDirectory) -> Holder | None:
    """Return who holds the lease now."""
    holder = read_holder(run.root)
    return holder if holder is not None and holder.in_force else None


def _judge_pending(run: RunDirectory, facts: dict[str, Any]) -> tuple[str, str]:
    """Judge a run that waits for its coordinator by that process."""
    try:
        coordinator = Process(**facts["coordinator"])
        written = run.state.stat().st_mtime
    except (KeyError, TypeError, OSError):
        return "PENDING", f"no process runs it; `pipeline resume {run.id}` starts it"
    gone = process_is_gone(coordinator)
    if gone is None:
        gone = time.time() - written > START_SECONDS
    if gone:
        return "LOST", f"its coordinator ended before it started, see {run.log}; `pipeline resume {run.id}` continues it"
    return "PENDING", ""


def follow_events(run: RunDirectory, *, follow: bool) -> Iterator[str]:
    """Yield what happened, a line each; with ``follow`` until the run ends."""
    position = 0
    while True:
        _, live = _judge(run)
        position, lines = _read_from(run.events, position)
        yield from lines
        if not follow or not live:
            break
        time.sleep(0.5)
    if run.log.is_file() and not follow:
        try:
            yield from run.log.read_text(encoding="utf-8", errors="replace").splitlines()
        except OSError as error:
            raise store_error(error, run.log) from error


def _read_from(path: Path, position: int) -> tuple[int, list[str]]:
    if not path.is_file():
        return position, []
    try:
        with open(path, "rb") as file:
            file.seek(position)
            data = file.read()
    except OSError as error:
        raise store_error(error, path) from error
    whole = data[: data.rfind(b"\n") + 1]
    return position + len(whole), [shown for line in whole.split(b"\n") if line for shown in _format_event(line)]


def _format_event(line: bytes) -> list[str]:
    try:
        event = json.loads(line)
        label = f" {event['label']}:" if event.get("label") else ""
        lines = [f"{event['time']}  {event['event']:<9}{label} {event['text']}"]
        return [*lines, event["traceback"].rstrip()] if event.get("traceback") else lines
    except (ValueError, TypeError, KeyError, AttributeError):
        return []  # torn by a crash or a full disk: what it told is lost, and the others still tell theirs


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
            status = os.waitstatus_to_exitcode(code)
            # Killed by a signal it can be resumed; ended well without saying so it broke.
            return {
                **facts,
                "state": "LOST",
                "message": message,
                "exit_code": Interrupted.exit_code if status < 0 else status or 70,
            }
        time.sleep(0.2)


def cancel_run(run: RunDirectory) -> str:
    """Ask a run's coordinator to stop, wherever it is and even if it has not begun, and say what was done."""
    holder = _holder_of(run)
    facts, live = _judge(run)
    if holder is None and not live:
        return f"{run.id} is not running"
    write_bytes(run.cancel, b"")
    if holder is None:
        return f"{run.id} has not started; it will stop as soon as it does"
    # The file is enough; the signal only hurries. Before the coordinator has written its state it would kill it.
    process = holder.process
    ours = process is not None and process.host == this_process().host and process_is_gone(process) is False
    if process is not None and ours and facts.get("pid") == process.pid:
        with suppress(ProcessLookupError, PermissionError):  # it has just ended, or it is another user's
            os.kill(process.pid, signal.SIGTERM)
    return f"{run.id} was asked to stop; running tasks may finish first"
