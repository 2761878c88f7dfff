"""How a run is asked to stop. This module turns signals and a cancel file into one answer the coordinator can look at."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

__all__ = ["StopRequest", "listen"]


class StopRequest:
    """Whether, why and how urgently a run should stop."""

    def __init__(self, cancel: Path) -> None:
        self._cancel = cancel
        self._signals: list[int] = []

    def note(self, number: int) -> None:
        """Remember a signal."""
        self._signals.append(number)

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
