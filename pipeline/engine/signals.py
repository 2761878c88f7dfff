"""How a run is asked to stop. This module turns signals and a cancel file into one answer the coordinator can look at."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

__all__ = ["StopAsked", "StopRequest", "listen"]


class StopAsked(BaseException):
    """A stop was asked amid work that is of no use by halves; no ``except Exception`` on its way may keep it."""


class StopRequest:
    """Whether, why and how urgently a run should stop."""

    def __init__(self, cancel: Path) -> None:
        self._cancel = cancel
        self._signals: list[int] = []
        self._interrupts = False

    def note(self, number: int) -> None:
        """Remember a signal; while `interrupting`, the first one ends what is done.

        Raises
        ------
        StopAsked
        """
        self._signals.append(number)
        if self._interrupts:
            self._interrupts = False
            raise StopAsked

    def check(self) -> None:
        """Raise `StopAsked` if the run should stop: an exception from a signal's handler may be lost in foreign code."""
        if self.wanted:
            raise StopAsked

    @contextmanager
    def interrupting(self) -> Iterator[None]:
        """Let a signal raise `StopAsked` wherever the block is, be it in an import or in a compiler."""
        self.check()
        self._interrupts = True
        try:
            yield
        finally:
            self._interrupts = False

    @property
    def cancelled(self) -> bool:
        """Somebody asked to stop for good."""
        return self._cancel.exists()

    @property
    def interrupted(self) -> bool:
        """Ctrl-C was pressed."""
        return signal.SIGINT in self._signals

    @property
    def wanted(self) -> bool:
        """The run should stop: nothing new is started, what runs may end."""
        return bool(self._signals) or self.cancelled

    @property
    def urgent(self) -> bool:
        """Asked twice: what runs is abandoned; it will be done again."""
        return len(self._signals) > 1


@contextmanager
def listen(request: StopRequest) -> Iterator[None]:
    """Note SIGINT, SIGTERM and SIGUSR1 while the block lasts; outside the main thread there are no signals to hear."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def handler(number: int, frame: FrameType | None) -> None:
        request.note(number)

    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGUSR1)
    before = {number: signal.signal(number, handler) for number in numbers}
    try:
        yield
    finally:
        for number, old in before.items():
            signal.signal(number, old)
