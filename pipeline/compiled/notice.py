"""Who wants to know that a kernel is being compiled: a command that lets somebody wait for it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

__all__ = ["hearing_of_compilation", "tell_of_compilation"]

_listeners: list[tuple[Callable[[], None], bool]] = []


@contextmanager
def hearing_of_compilation(listener: Callable[[], None], *, elsewhere: bool = True) -> Iterator[None]:
    """Call a function whenever a kernel begins to be compiled, which is then kept on disk.

    Parameters
    ----------
    listener : callable
    elsewhere : bool, default True
        Whether to hear also of other processes. One that tells those must not: where worker and coordinator share a process, it
        would tell again what it has told.
    """
    entry = listener, elsewhere
    _listeners.append(entry)
    try:
        yield
    finally:
        _listeners.remove(entry)


def tell_of_compilation(*, elsewhere: bool = False) -> None:
    """Tell whoever listens that a kernel is compiled now, in this process or elsewhere."""
    for listener, hears_of_others in tuple(_listeners):  # another thread may come or go
        if hears_of_others or not elsewhere:
            listener()
