"""Watches over one command. This script starts it, holds it to its limits, and lets none of its processes outlive it.

It is run by path with ``python -I -S``, on the standard library alone, so that it starts in some hundredths of a second. A
process of its own is needed for three things that a worker with threads cannot do safely:

- Code between fork and exec (limits, a signal on the parent's death) may lock up in a process with threads; here is one thread.
- A worker killed with -9 runs no cleanup. Its end of the pipe to this script's standard input closes whoever killed it, and
  on whatever system; this script then ends the command. (PR_SET_PDEATHSIG alone would follow the thread that started it.)
- As "child subreaper" it becomes the parent of everything that the command leaves behind, also of what moved to a session of
  its own, so that all of it can be found and ended.

Memory is watched, as the resident memory of all processes of the command together, and not limited by RLIMIT_AS: Java, Go and
CUDA reserve many times the address space that they use, and the limit would hold for each process alone. What grows and ends
between two looks is seen afterwards, by the largest resident size that the kernel kept of any one process.

Standard input says what to run; standard output tells the process number of the command, and how it ended. They are written by
`marshal`, which takes no time to load and is the same at both ends: this script runs on its parent's own Python.
"""

from __future__ import annotations

import contextlib
import ctypes
import marshal
import os
import resource
import select
import signal
import sys
import time

TYPE_CHECKING = False  # `typing` takes as long to load as all the rest
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36
_QUICKEST_LOOK, _SLOWEST_LOOK = 0.1, 2.0
_SHARE_OF_TIME = 0.02  # of a core, for looking
_LAST_WAIT = 10.0  # seconds for the kernel to end what was killed


class Supervisor:
    """One command from its start to the end of its last process."""

    def __init__(self, spec: dict[str, Any]) -> None:
        self.spec = spec
        self.started = time.monotonic()
        self.status: int | None = None
        self.memory = 0
        self.disk = 0
        self.pid = 0

    def run(self) -> dict[str, Any]:
        """Run it and tell how it ended."""
        wake_read, wake_write = os.pipe()
        os.set_blocking(wake_read, False)
        os.set_blocking(wake_write, False)
        signal.set_wakeup_fd(wake_write)
        for number in (signal.SIGCHLD, signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, lambda *_: None)  # handlers are not inherited by the command, ignoring would be
        _prctl(_PR_SET_CHILD_SUBREAPER, 1)
        if why := self._start():
            return {"error": why}
        _say({"pid": self.pid})
        stopped = self._watch(wake_read)
        seconds = time.monotonic() - self.started
        grace = min(1.0, self.spec["grace"]) if stopped == "parent" else self.spec["grace"]
        left, remain = self._end_all(grace)
        if stopped is None and self.spec["memory"] is not None and self.memory > self.spec["memory"]:
            stopped = "memory"
        code = None if self.status is None else os.waitstatus_to_exitcode(self.status)
        return {
            "code": code if code is not None and code >= 0 else None,
            "signal": -code if code is not None and code < 0 else None,
            "stopped": stopped,
            "seconds": seconds,
            "memory": self.memory,
            "disk": self.disk,
            "left": 0 if stopped else left,
            "remain": remain,
        }

    def _start(self) -> str:
        """Start the command; say why it cannot be."""
        told, tell = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            try:
                self._become_command()
            except OSError as error:
                os.write(tell, str(error.strerror).encode())
            finally:
                os._exit(127)
        os.close(tell)  # its other end closes when the command begins
        why = os.read(told, 4096).decode()
        os.close(told)
        return why

    def _become_command(self) -> None:
        spec = self.spec
        os.setsid()
        _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        for number in (signal.SIGPIPE, signal.SIGXFSZ):  # which Python ignores
            signal.signal(number, signal.SIG_DFL)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        if spec["file_size"] is not None:
            hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
            most = spec["file_size"] if hard == resource.RLIM_INFINITY else min(hard, spec["file_size"])
            resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
        os.chdir(spec["cwd"])
        streams = (
            (os.devnull, os.O_RDONLY),
            *((spec[name], os.O_WRONLY | os.O_CREAT | os.O_TRUNC) for name in ("stdout", "stderr")),
        )
        for stream, (path, flags) in enumerate(streams):
            os.dup2(os.open(path, flags, 0o600), stream)
        os.execve("/bin/sh", ["/bin/sh", "-ec", spec["command"]], spec["env"])

    def _watch(self, wake: int) -> str | None:
        """Wait for the command; say why it must be stopped, or None where it ended by itself."""
        deadline = self.started + self.spec["seconds"]
        next_look = self.started + _QUICKEST_LOOK
        while True:
            self._reap()
            if self.status is not None:
                return None
            now = time.monotonic()
            if now >= deadline:
                return "time"
            if now >= next_look:
                if excess := self._look():
                    return excess
                cost = time.monotonic() - now
                next_look = now + min(_SLOWEST_LOOK, max(_QUICKEST_LOOK, cost / _SHARE_OF_TIME))
            ready, _, _ = select.select([0, wake], [], [], max(0.0, min(deadline, next_look) - time.monotonic()))
            if 0 in ready and not os.read(0, 4096):
                return "parent"
            if wake in ready:
                os.read(wake, 4096)

    def _look(self) -> str | None:
        """Measure memory and disk; name the limit that is passed."""
        processes = dict(_descendants())
        resident = sum(processes.values())
        most = self.spec["memory"]
        if most is not None and resident > most:
            # Pages that forked processes share are counted in each of them: divide them before judging.
            resident = sum(_proportional(pid, size) for pid, size in processes.items())
        self.memory = max(self.memory, resident)
        if most is not None and resident > most:
            return "memory"
        self.disk = _folder_bytes(self.spec["watch"])
        return "disk" if self.disk > self.spec["disk"] else None

    def _reap(self) -> None:
        """Collect what has ended: the command, and orphans that came to this process."""
        while True:
            try:
                pid, status, usage = os.wait4(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            self.memory = max(self.memory, usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024))
            if pid == self.pid:
                self.status = status

    def _end_all(self, grace: float) -> tuple[int, int]:
        """End every process: ask, wait, kill. Give how many there were, and how many the kernel could not end."""
        self._reap()
        first = self._alive()
        asked = time.monotonic()
        if first:
            self._signal_all(signal.SIGTERM)
        while self._alive() and time.monotonic() < asked + grace:
            time.sleep(0.01)
            self._reap()
        killed = time.monotonic()
        while (remain := self._alive()) and time.monotonic() < killed + _LAST_WAIT:
            self._signal_all(signal.SIGKILL)
            time.sleep(0.005)
            self._reap()
        return first, remain

    def _alive(self) -> int:
        found = len(dict(_descendants()))
        if found or _HAS_PROC:
            return found
        try:
            os.killpg(self.pid, 0)
        except (ProcessLookupError, PermissionError):
            return 0
        return 1

    def _signal_all(self, number: int) -> None:
        for pid, _ in _descendants():
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, number)
        with contextlib.suppress(ProcessLookupError, PermissionError):
            if self.status is None or not _HAS_PROC:
                os.killpg(self.pid, number)


def _descendants() -> Iterator[tuple[int, int]]:
    """Yield every living process below this one with its resident bytes; none where there is no /proc."""
    children: dict[int, list[tuple[int, int]]] = {}
    try:
        names = os.listdir("/proc")
    except OSError:
        return
    page = os.sysconf("SC_PAGE_SIZE")
    for name in names:
        if name.isdigit():
            try:
                with open(f"/proc/{name}/stat", "rb") as file:
                    fields = file.read().rpartition(b")")[2].split()
            except OSError:
                continue
            # A zombie holds nothing, but may have children.
            resident = -1 if fields[0] in (b"Z", b"X") else int(fields[21]) * page
            children.setdefault(int(fields[1]), []).append((int(name), resident))
    waiting = [os.getpid()]
    while waiting:
        for pid, resident in children.get(waiting.pop(), ()):
            waiting.append(pid)
            if resident >= 0:
                yield pid, resident


def _proportional(pid: int, resident: int) -> int:
    try:
        with open(f"/proc/{pid}/smaps_rollup", "rb") as file:
            return next(int(line.split()[1]) * 1024 for line in file if line.startswith(b"Pss:"))
    except (OSError, StopIteration):
        return resident


def _folder_bytes(folder: str) -> int:
    """Return the bytes that a folder takes on disk; what vanishes meanwhile counts nothing."""
    total, waiting = 0, [folder]
    while waiting:
        try:
            with os.scandir(waiting.pop()) as entries:
                for entry in entries:
                    with contextlib.suppress(OSError):
                        total += entry.stat(follow_symlinks=False).st_blocks * 512
                        if entry.is_dir(follow_symlinks=False):
                            waiting.append(entry.path)
        except OSError:
            continue
    return total


def _prctl(option: int, value: int) -> None:
    if _LIBC is not None:
        _LIBC.prctl(option, value, 0, 0, 0)


def _say(message: dict[str, Any]) -> None:
    # The parent may be gone: then no one reads this.
    with contextlib.suppress(BrokenPipeError):
        os.write(1, marshal.dumps(message))


_HAS_PROC = os.path.exists("/proc/self/stat")
_LIBC = ctypes.CDLL(None, use_errno=True) if sys.platform == "linux" else None

if __name__ == "__main__":
    try:
        wanted = marshal.load(sys.stdin.buffer)
    except EOFError:
        sys.exit(0)  # it died before it said what to run
    _say(Supervisor(wanted).run())
