"""Trainers by name. This module finds them among the entry points and checks the options a study gives them."""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Mapping
from importlib.metadata import EntryPoint, entry_points
from typing import Any, cast

from pipeline.errors import PluginError, Problem, StudyError
from pipeline.interfaces import Trainer

__all__ = ["GROUP", "list_trainers", "load_trainer"]

GROUP = "pipeline.trainers"


def list_trainers() -> tuple[str, ...]:
    """Give the names of the trainers that are installed."""
    return tuple(sorted({entry.name for entry in entry_points(group=GROUP)}))


def load_trainer(name: str, options: Mapping[str, Any]) -> Trainer:
    """Make the trainer of this name with these options.

    Raises
    ------
    PluginError
        P305, where no trainer has this name, or what the entry point names cannot be imported.
    StudyError
        P131, listing every option that the trainer does not take or that it lacks.
    """
    trainer = _import(_find(name))
    _check_options(name, trainer, options)
    return cast("Trainer", trainer(**options))


def _find(name: str) -> EntryPoint:
    found = {entry.name: entry for entry in entry_points(group=GROUP)}
    if name in found:
        return found[name]
    close = difflib.get_close_matches(name, found, n=1)
    hint = f"did you mean {close[0]!r}? " if close else ""
    raise PluginError.of("P305", f"there is no trainer {name!r}", help=f"{hint}there are: {', '.join(sorted(found))}")


def _import(entry: EntryPoint) -> Any:
    try:
        return entry.load()
    except Exception as exc:  # foreign code runs here: whatever it raises, the trainer cannot be had
        raise PluginError.of(
            "P305", f"trainer {entry.name!r} cannot be loaded from {entry.value}: {exc}", help="is its package installed whole?"
        ) from exc


def _check_options(name: str, trainer: Any, options: Mapping[str, Any]) -> None:
    parameters = inspect.signature(trainer).parameters
    if any(p.kind is p.VAR_KEYWORD for p in parameters.values()):
        return  # the trainer says itself what it takes
    problems = []
    for option in options:
        if option not in parameters:
            close = difflib.get_close_matches(str(option), parameters, n=1)
            hint = f"did you mean {close[0]!r}?" if close else f"it takes: {', '.join(parameters) or 'none'}"
            problems.append(Problem("P131", f"trainer {name!r} has no option {option!r}", help=hint))
    problems += [
        Problem("P131", f"trainer {name!r} needs the option {option!r}", help="add it beside `trainer:`")
        for option, p in parameters.items()
        if p.default is p.empty and option not in options
    ]
    if problems:
        raise StudyError(*problems)
