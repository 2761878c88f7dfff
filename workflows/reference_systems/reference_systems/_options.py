"""Checks that reference systems share: those of `pipeline.options`, with the name of the trainer and where to read about it."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import Any

from pipeline import options
from pipeline.errors import StudyError

__all__ = ["check_choice", "check_count", "check_flag", "check_number"]


def check_flag(trainer: str, option: str, value: Any) -> bool:
    """Return a value that is true or false, nothing that merely looks like one."""
    with _named(trainer):
        return options.check_flag(option, value)


def check_count(trainer: str, option: str, value: Any, *, least: int, most: int) -> int:
    """Return a whole number within bounds."""
    with _named(trainer):
        return options.check_count(option, value, least=least, most=most)


def check_number(trainer: str, option: str, value: Any, *, least: float, most: float) -> float:
    """Return a number within bounds."""
    with _named(trainer):
        return options.check_number(option, value, least=least, most=most)


def check_choice(trainer: str, option: str, value: Any, choices: Collection[str]) -> str:
    """Return one of the words that are allowed."""
    with _named(trainer):
        return options.check_choice(option, value, choices)


@contextmanager
def _named(trainer: str) -> Iterator[None]:
    try:
        yield
    except ValueError as error:
        raise StudyError.of("P151", f"trainer '{trainer}': {error}", help="see docs/trainers.md") from error
