"""Members of a family by name. This module finds readers, metrics, trainers and analyses among the installed entry points.

Addresses, cells, comparisons, digests and exit codes are never plugins: a study means the same everywhere.
"""

from __future__ import annotations

import difflib
import inspect
import sys
from collections.abc import Callable, Collection, Iterable, Mapping
from functools import lru_cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from pipeline.errors import PluginError, Problem, StudyError

__all__ = ["check_options", "import_plugin", "list_plugins", "suggest"]


def list_plugins(family: str) -> dict[str, EntryPoint]:
    """Give the installed members of a family (``readers``, ``metrics``, …) by name, sorted; nothing is imported."""
    return dict(_find(family, tuple(sys.path), entry_points))


@lru_cache(maxsize=32)
def _find(family: str, path: tuple[str, ...], ask: Callable[..., Iterable[EntryPoint]]) -> Mapping[str, EntryPoint]:
    """Look once a process and path: it reads a file of every installed package, and each task asks twice."""
    return {point.name: point for point in sorted(ask(group=f"pipeline.{family}"), key=lambda point: point.name)}


def import_plugin(family: str, name: str) -> Any:
    """Import the class of a member.

    Raises
    ------
    PluginError
        P301 where the family has no member of this name, P302 where it is there but cannot be imported.
    """
    known = list_plugins(family)
    kind = {"analyses": "analysis"}.get(family, family.removesuffix("s"))
    if name not in known:
        raise PluginError.of("P301", f"there is no {kind} '{name}'", help=suggest(name, known))
    try:
        return known[name].load()
    except Exception as error:  # foreign code runs on import: whatever it raises, the plugin cannot be had
        raise PluginError.of(
            "P302",
            f"the {kind} '{name}' cannot be loaded: {error}",
            where=known[name].value,
            help="install what it needs, or leave it out of the study",
        ) from error


def check_options(kind: str, name: str, made: Any, options: Mapping[str, Any]) -> None:
    """Hold options against the parameters of the class that is to be made with them.

    Raises
    ------
    StudyError
        P150 for each option the class does not take, P151 for each one it lacks; all at once.
    """
    parameters = inspect.signature(made).parameters
    if any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters.values()):
        return  # the class says itself what it takes
    problems = [
        Problem("P150", f"{kind} '{name}' has no option '{option}'", help=suggest(str(option), parameters))
        for option in options
        if option not in parameters
    ]
    problems += [
        Problem("P151", f"{kind} '{name}' needs the option '{option}'", help="write it beside the name")
        for option, parameter in parameters.items()
        if parameter.default is parameter.empty and option not in options
    ]
    if problems:
        raise StudyError(*problems)


def suggest(word: str, known: Collection[str]) -> str:
    """Give the nearest known word, and all of them.

    Examples
    --------
    >>> suggest("blue", ["bleu", "chrf"])
    "did you mean 'bleu'? (there are: bleu, chrf)"
    """
    close = difflib.get_close_matches(word, known, n=1)
    there_are = f"there are: {', '.join(known)}" if known else "there are none"
    return f"did you mean '{close[0]}'? ({there_are})" if close else there_are
