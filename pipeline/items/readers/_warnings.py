"""What is odd about a file becomes part of what was read of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import wraps
from typing import Any, ParamSpec, TypeVar, cast

from pipeline.interfaces import Items

__all__ = ["with_warnings"]

P = ParamSpec("P")
R = TypeVar("R")


def with_warnings(read: Callable[P, R]) -> Callable[P, R]:
    """Let a method of a reader put what it notes in ``self._told`` into the items it returns, the first of several.

    The list lives as long as one call: a reader remembers nothing of the files it has read.
    """

    @wraps(read)
    def reading(*args: P.args, **kwargs: P.kwargs) -> R:
        reader: Any = args[0]
        reader._told = []
        try:
            return cast(R, _attach(read(*args, **kwargs), tuple(reader._told)))
        finally:
            reader._told = []

    return reading


def _attach(found: Any, told: tuple[str, ...]) -> Any:
    if isinstance(found, Items):
        return replace(found, warnings=(*found.warnings, *told))
    if found:
        first = next(iter(found))
        return {**found, first: _attach(found[first], told)}
    return found
