"""Who compiles a kernel that several processes need at the same time. One does, the others wait for its file.

A lock only saves work: where locks fail, as on some network file systems, or where the wait is long, every process compiles for
itself. What a process waits for never waits for that process: kernels call each other in one direction.
"""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Callable
from typing import TypeVar

if sys.platform != "win32":  # which has no such locks
    import fcntl

__all__ = ["LONGEST_WAIT_SECONDS", "Turns"]

LONGEST_WAIT_SECONDS = 300.0
"""How long another process may take to compile one kernel with all that it calls."""

_LOOK_SECONDS = 0.05

Found = TypeVar("Found")


class Turns:
    """The locks that this process holds on files that it is about to write."""

    def __init__(self) -> None:
        self._held: dict[str, int] = {}

    def wait(self, path: str, load: Callable[[], Found | None]) -> Found | None:
        """Return what another process has written by then; None where this one is to write the file, then `end` its turn."""
        if (found := load()) is not None or path in self._held:
            return found
        deadline = time.monotonic() + LONGEST_WAIT_SECONDS
        while not self._take(path):
            # A signal is heard between two looks.
            time.sleep(_LOOK_SECONDS)
            if os.path.exists(path) and (found := load()) is not None:
                return found
            if time.monotonic() > deadline:
                return None
        # It may have been written between the look and the lock.
        if (found := load()) is not None:
            self.end(path)
        return found

    def end(self, path: str) -> None:
        """Let others have their turn; nothing where this process has none."""
        handle = self._held.pop(path, None)
        if handle is not None:
            # Removed while it is held: who waits for it then looks for the file before anything else.
            with contextlib.suppress(OSError):
                os.unlink(_lock_of(path))
            os.close(handle)

    def end_all(self) -> None:
        """Let others have every turn that this process has."""
        for path in list(self._held):
            self.end(path)

    def _take(self, path: str) -> bool:
        """Take the lock, or say that another process has it; where there can be none, every process has its turn."""
        if sys.platform == "win32":
            return True
        try:
            handle = os.open(_lock_of(path), os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        except OSError:
            return True
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(handle)
            return False
        except OSError:
            os.close(handle)
            return True
        self._held[path] = handle
        return True


def _lock_of(path: str) -> str:
    return f"{path}.lock"
