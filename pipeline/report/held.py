"""Hand the report made in this process to a caller that would otherwise read it back from the file just written."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path

from pipeline.report.document import Report

__all__ = ["hand_over", "hold_reports"]

_held: dict[Path, list[Report]] = {}
"""By the directory that files are in."""


@contextmanager
def hold_reports(path: Path) -> Iterator[list[Report]]:
    """Yield a list that collects each report written below a directory until the block ends."""
    held: list[Report] = []
    _held[path.absolute()] = held
    try:
        yield held
    finally:
        if _held.get(path.absolute()) is held:  # and not the list of another thread, which came later
            del _held[path.absolute()]


def hand_over(report: Report, path: Path) -> None:
    """Add a report to the list held for its directory, if there is one, without what its document does not have."""
    held = _held.get(path.absolute())
    if held is not None:
        held.append(Report(**{field.name: getattr(report, field.name) for field in fields(Report)}))
