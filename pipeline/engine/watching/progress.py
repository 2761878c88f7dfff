"""Show the progress of a run and the time left: bars on a terminal, an occasional line elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

__all__ = ["format_line", "format_seconds", "show_progress"]

LINE_SECONDS = 30.0


def format_seconds(seconds: float | None) -> str:
    """Return a duration for people.

    Examples
    --------
    >>> [format_seconds(s) for s in (None, 4.2, 75, 7300)]
    ['–', '4 s', '1 min 15 s', '2 h 1 min']
    """
    if seconds is None:
        return "–"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


def format_line(facts: Mapping[str, Any]) -> str:
    """Return the state of a run as one line."""
    stages = "  ".join(f"{name} {count['done']}/{count['total']}" for name, count in facts.get("stages", {}).items())
    left, failed = _left(facts.get("eta_seconds"), "left"), facts.get("failed")
    lost = f"{failed} failed" if failed else ""
    since = facts.get("engine", {}).get("no_workers_since") if facts["state"] in {"RUNNING", "DRAINING"} else None
    idle = f"no workers since {since}" if since else ""
    parts = (facts["run"], facts["state"].lower(), stages, lost, idle or left)
    return "  ".join(part for part in parts if part)


def _left(seconds: float | None, words: str) -> str:
    """Return the time that is left; nothing where that is not known, or less than can be told."""
    return f"about {format_seconds(seconds)} {words}" if seconds and round(seconds) else ""


@contextmanager
def show_progress(*, quiet: bool = False, patience: float = 0.0) -> Iterator[Callable[[Any], None]]:
    """Yield what the coordinator calls with its state: bars where stderr is a terminal, else a line every half minute.

    Nothing is printed in the first ``patience`` seconds where there is no terminal: a quick command has no progress.
    """
    if quiet:
        yield lambda state: None
    elif sys.stderr.isatty():
        with _bars() as update:
            yield update
    else:
        yield _lines(time.monotonic() + patience)


def _lines(start: float) -> Callable[[Any], None]:
    printed, stage = 0.0, ""

    def update(state: Any) -> None:
        nonlocal printed, stage
        here = f"{state.facts['phase']} {state.facts['state']}"
        now = time.monotonic()
        # A line at each new stage, at the end, and every half minute between.
        if now >= start and (here != stage or now - printed > LINE_SECONDS):
            printed, stage = now, here
            print(format_line(state.facts), file=sys.stderr, flush=True)

    return update


@contextmanager
def _bars() -> Iterator[Callable[[Any], None]]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    console = Console(stderr=True)
    columns = (
        TextColumn("{task.description:<10}"),
        BarColumn(max(8, min(40, console.width - 52))),  # the longest text beside it, with the time that is left, takes 52 columns
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.fields[left]}"),
    )
    with Progress(*columns, console=console) as progress:
        bars: dict[str, Any] = {}

        def update(state: Any) -> None:
            for name, count in state.facts["stages"].items():
                if name not in bars:
                    bars[name] = progress.add_task(name, total=count["total"], left="")
                here = name == state.facts["phase"]
                left = _left(state.facts["eta_seconds"], "left in all") if here else ""
                progress.update(bars[name], completed=count["done"], total=count["total"], left=left)
                if count["done"] == count["total"]:
                    progress.stop_task(bars[name])

        yield update
