"""The settings that a report may change without computing; all others are refused, since the run has no numbers for them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pipeline.errors import Problem, StudyError
from pipeline.study.load import resolve
from pipeline.study.marks import KeyPath, dotted
from pipeline.study.schema import Study

__all__ = ["refuse_other_numbers"]

_ANEW: tuple[KeyPath, ...] = (
    ("resampling", "alpha"),
    ("resampling", "family"),
    ("resampling", "baseline"),
    ("resampling", "across_families"),
    ("analyses",),
    ("systems", "relation"),
    ("report",),
    ("expect",),
)
_INTERVALS: KeyPath = ("resampling", "intervals")
_HELP = (
    "a report can be asked for another resampling.alpha, .family, .baseline, .across_families or .intervals (of those "
    "computed), analyses, systems.relation, report and expect"
)


def refuse_other_numbers(own: Study, asked: Study) -> None:
    """Raise if a study differs from a run's own in anything on which its numbers depend.

    Raises
    ------
    StudyError
        P111, one for each value that is another.
    """
    problems = []
    for path in _differences(resolve(own), resolve(asked)):
        if any(path[: len(free)] == free for free in _ANEW):
            continue
        if path == _INTERVALS:
            there = own.resampling.intervals if own.resampling.scores_kept else ()
            lacking = [name for name in asked.resampling.intervals if name not in there]
            if lacking:
                message = f"the run has no {' or '.join(lacking)} intervals: that needs `pipeline run STUDY`"
                problems.append(Problem("P111", message, dotted(path), f"it has: {', '.join(there) or 'none'}"))
            continue
        message = f"{dotted(path)} is what the run's numbers are made of: another value needs `pipeline run STUDY`"
        problems.append(Problem("P111", message, dotted(path), _HELP))
    if problems:
        raise StudyError(*problems)


def _differences(own: Any, asked: Any, path: KeyPath = ()) -> Iterator[KeyPath]:
    """Yield the paths of values that are not the same."""
    if isinstance(own, Mapping) and isinstance(asked, Mapping):
        for key in dict.fromkeys((*own, *asked)):
            yield from _differences(own.get(key), asked.get(key), (*path, key))
    elif own != asked:
        yield path
