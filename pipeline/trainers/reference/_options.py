"""Checks that reference systems share. This module refuses option values in the words of the study file."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from pipeline.errors import StudyError

__all__ = ["check_choice", "check_count", "check_flag", "check_number"]


def check_flag(trainer: str, option: str, value: Any) -> bool:
    """Give a true or false, nothing that merely looks like one."""
    if not isinstance(value, bool):
        raise _refused(trainer, option, "true or false", value)
    return value


def check_count(trainer: str, option: str, value: Any, *, least: int, most: int) -> int:
    """Give a whole number within bounds."""
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise _refused(trainer, option, f"a whole number from {least} to {most}", value)
    return value


def check_number(trainer: str, option: str, value: Any, *, least: float, most: float) -> float:
    """Give a number within bounds."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not least <= value <= most:
        raise _refused(trainer, option, f"a number from {least:g} to {most:g}", value)
    return float(value)


def check_choice(trainer: str, option: str, value: Any, choices: Collection[str]) -> str:
    """Give one of the words that are allowed."""
    if value not in choices:
        raise _refused(trainer, option, f"one of {', '.join(choices)}", value)
    return str(value)


def _refused(trainer: str, option: str, wanted: str, value: Any) -> StudyError:
    error = StudyError.of("P151", f"trainer '{trainer}': option '{option}' is {wanted}, not {value!r}", help="see docs/trainers.md")
    assert isinstance(error, StudyError)
    return error
