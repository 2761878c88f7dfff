"""Report every few seconds while this thread is busy: a task in the coordinator's own process may take an hour."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from pipeline.errors import PipelineError

__all__ = ["beating"]

BEAT_SECONDS = 2.0


@contextmanager
def beating(beat: Callable[[float], None]) -> Iterator[None]:
    """Call ``beat`` every other second while the block lasts, with the seconds since it began, from a thread of its own.

    None is under way any more when the block has ended. One that fails is the last: what it met is for the thread of the block,
    which comes to it as well, and can tell.
    """
    ended, begun = threading.Event(), time.monotonic()

    def tell() -> None:
        while not ended.wait(BEAT_SECONDS):
            try:
                beat(time.monotonic() - begun)
            except (PipelineError, OSError):
                return

    thread = threading.Thread(target=tell, name="heartbeat", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
