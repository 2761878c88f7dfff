"""Requests to stop a run: signals and a cancel file become one answer for the coordinator."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType

__all__ = ["GRACE_SECONDS", "StopAsked", "StopRequest", "grace_of", "listen"]

GRACE_SECONDS = 2.0
"""How long tasks that run may take to end once a stop is asked: a block of replicates takes two seconds."""

AT_ONCE = frozenset({"shard", "collect", "report"})
"""What is given up without a grace: they read what others made, and half of them is of no use."""

_AGAIN_SECONDS = 1.0
"""When an exception that got lost is raised again."""

_LOOK_SECONDS = 0.5
"""How often the file that asks for a stop is looked for while work is done in this process."""


def grace_of(kinds: Iterable[str]) -> float:
    """Return how long tasks of these kinds may take to end once a stop is asked."""
    return 0.0 if AT_ONCE.issuperset(kinds) else GRACE_SECONDS


class StopAsked(BaseException):
    """A stop was asked amid work that is of no use by halves; no ``except Exception`` on its way may keep it."""


class StopRequest:
    """Whether, why and how urgently something should stop.

    Parameters
    ----------
    cancel : Path, optional
        A file that asks for it by being there.
    """

    def __init__(self, cancel: Path | None = None) -> None:
        self._cancel = cancel
        self._signals: list[int] = []
        self._interrupts = False
        self._grace = 0.0
        self.armed = False
        """The alarm of this process is ours: `listen` has set it."""
        self.listener: int | None = None
        """The thread that hears signals, while `listen` lasts."""

    def note(self, number: int) -> None:
        """Remember a signal. While `interrupting` it ends what is done: at once, after the grace of the block, or asked twice.

        Raises
        ------
        StopAsked
        """
        self._signals.append(number)
        if self.patience == 0:
            raise StopAsked

    def insist(self) -> None:
        """Raise `StopAsked` while `interrupting`, if a stop was asked."""
        if self._interrupts and self._signals:
            raise StopAsked

    @property
    def patience(self) -> float | None:
        """Seconds that what is done may still take after a signal; None while not `interrupting`."""
        if not self._interrupts:
            return None
        return 0.0 if self.urgent else self._grace

    def check(self) -> None:
        """Raise `StopAsked` if the run should stop: an exception from a signal's handler may be lost in foreign code."""
        if self.wanted:
            raise StopAsked

    @contextmanager
    def interrupting(self, grace: float = 0.0) -> Iterator[None]:
        """Let a signal raise `StopAsked` wherever the block is, be it in an import or in a compiler, after so many seconds.

        So does the file, which may be all that somebody on another machine can do. What the block calls must come back to the
        interpreter now and then: a handler waits for the end of compiled code.
        """
        self.check()
        before = self._interrupts, self._grace
        self._interrupts, self._grace = True, grace
        try:
            with self._looking():
                yield
        finally:
            self._interrupts, self._grace = before
            if self.armed:
                signal.setitimer(signal.ITIMER_REAL, 0.0)

    @contextmanager
    def _looking(self) -> Iterator[None]:
        """Look for the file while the block lasts, and turn it into a signal."""
        if self._cancel is None or self.listener is None:
            yield
            return
        ended = threading.Event()
        looks = threading.Thread(target=self._look, args=(ended, self.listener), name="cancel", daemon=True)
        looks.start()
        try:
            yield
        finally:
            ended.set()
            looks.join()  # a signal that came once nobody listens would end the process

    def _look(self, ended: threading.Event, listener: int) -> None:
        found = False
        while not ended.wait(_LOOK_SECONDS) and not self._signals:
            if found:  # at the second look: a signal that comes with the file would otherwise be the second one, which is urgent
                signal.pthread_kill(listener, signal.SIGTERM)
                return
            with suppress(OSError):  # the next look may be luckier
                found = self.cancelled

    @property
    def cancelled(self) -> bool:
        """Somebody asked to stop for good."""
        return self._cancel is not None and self._cancel.exists()

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
def listen(
    request: StopRequest,
    numbers: tuple[signal.Signals, ...] = (signal.SIGINT, signal.SIGTERM, signal.SIGUSR1, signal.SIGHUP),
) -> Iterator[None]:
    """Note signals while the block lasts, but for a SIGHUP under nohup; outside the main thread there are none to hear."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    delay, interval = signal.getitimer(signal.ITIMER_REAL)
    begun = time.monotonic()

    def handler(number: int, frame: FrameType | None) -> None:
        if request.patience is not None:
            # Amid foreign code, such as a compiler's, an exception from here may get lost: another one follows.
            request.armed = True
            signal.setitimer(signal.ITIMER_REAL, request.patience or _AGAIN_SECONDS, _AGAIN_SECONDS)
        request.note(number)

    def remind(number: int, frame: FrameType | None) -> None:
        if request.armed:
            request.insist()
        elif callable(theirs):  # an alarm of whoever called us
            theirs(number, frame)

    heard = [number for number in numbers if number != signal.SIGHUP or signal.getsignal(number) != signal.SIG_IGN]
    before = {number: signal.signal(number, handler) for number in heard}
    theirs = signal.getsignal(signal.SIGALRM)
    # An alarm that nobody handles ends the process, and still does.
    if theirs is not signal.SIG_DFL or not delay:
        before[signal.SIGALRM] = signal.signal(signal.SIGALRM, remind)
    request.listener = threading.get_ident()
    try:
        yield
    finally:
        request.listener = None
        if request.armed:
            signal.setitimer(signal.ITIMER_REAL, 0.0)
        for number, old in before.items():
            signal.signal(number, old)
        if request.armed and delay:
            signal.setitimer(signal.ITIMER_REAL, max(delay - (time.monotonic() - begun), 0.001), interval)
        request.armed = False
