"""Commands in messages, made whole: what is advised works where it is typed, with the runs and the study that were named."""

from __future__ import annotations

import re
import shlex
from typing import Any

import click
from click.core import ParameterSource

__all__ = ["complete_advice", "forget_named", "remember_named"]

_ADVISED = re.compile(r"`pipeline ([a-z]+)([^`\n]*)`")

_OF_RUNS = frozenset({"cancel", "gc", "list", "logs", "report", "resume", "run", "status"})
_OF_STUDIES = frozenset({"check", "run"})

_named: dict[str, str] = {}
"""Values that the command line of this process names; not those of the environment, which the next command has as well."""


def remember_named(context: click.Context, parameter: click.Parameter, value: Any) -> Any:
    """Keep what was typed for an option or argument: the callback of those that advised commands need too."""
    if parameter.name and value is not None and context.get_parameter_source(parameter.name) is ParameterSource.COMMANDLINE:
        _named[parameter.name] = str(value)
    return value


def forget_named() -> None:
    """Begin another command line."""
    _named.clear()


def complete_advice(text: str) -> str:
    """Return a message whose commands name the folder of runs, and the study, that this command was given.

    Examples
    --------
    >>> _named["runs"] = "my runs"
    >>> complete_advice("`pipeline resume` continues it")
    "`pipeline resume --runs 'my runs'` continues it"
    >>> forget_named()
    """
    return _ADVISED.sub(_whole, text)


def _whole(advised: re.Match[str]) -> str:
    command, rest = advised[1], advised[2]
    words = rest.split()
    if command in _OF_STUDIES and "study" in _named and all(word.startswith("-") for word in words):
        rest = f" {shlex.quote(_named['study'])}{rest}"
    if command in _OF_RUNS and "runs" in _named and "--runs" not in words and "--help" not in words:
        rest += f" --runs {shlex.quote(_named['runs'])}"
    return f"`pipeline {command}{rest}`"
