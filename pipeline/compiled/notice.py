"""Who wants to know that a kernel is being compiled: a command that lets somebody wait for it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

__all__ = ["hearing_of_compilation", "tell_of_compilation"]

_listeners: list[Callable[[], None]] = []


@contextmanager
def hearing_of_compilation(listener: Callable[[], None]) -> Iterator[None]:
    """Call a function whenever this process begins to compile a kernel, which is then kept on disk."""
    _listeners.append(listener)
    try:
        yield
    finally:
        _listeners.remove(listener)


def tell_of_compilation() -> None:
    """Tell everybody who listens that a kernel is compiled now."""
    for listener in tuple(_listeners):  # another thread may come or go
        listener()
