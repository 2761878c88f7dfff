"""How a command ended, in words: keep what it printed, and tell one failure from another."""

from __future__ import annotations

import errno
import os
import signal
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pipeline.errors import Problem, TaskError

__all__ = ["DISK_IS_FULL", "CommandFailed", "judge", "kept_log", "say_wrong_number", "size"]

LOG_BYTES = 1_000_000
"""What is kept of the two streams together: of each its first and its last quarter of this."""

DISK_IS_FULL = 65536
"""Bytes free, below which a disk is full."""

_ENDED_WELL = ("P412", "P413")
_TAIL_LINES, _TAIL_CHARACTERS = 12, 1500
_NO_SPACE = {
    *(os.strerror(number) for number in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)),
    *("No space left on device", "Disk quota exceeded", "File too large"),
}
_NOT_FOUND = "No such file"
"""In what Python, shells and others print of ENOENT; the shell dash says no more than this."""
_MORE_DISK = "raise `limits: {disk: …}` of the model, or set TMPDIR to a larger disk"


class CommandFailed(TaskError):
    """A command of a trainer failed; ``log`` holds what it printed.

    ``exit_status`` is that of the command where it ended by itself: its exit code, or minus the number of the signal.
    """

    log: str = ""
    exit_status: int | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        # The log travels between processes with the problems; not `__reduce_ex__`, which Dask's pickling of exceptions passes over.
        return type(self), self.problems, {"log": self.log, "exit_status": self.exit_status}

    @classmethod
    def told(cls, code: str, message: str, *, log: str, help: str | None = None) -> CommandFailed:
        """Make the error with the last lines of what was printed."""
        tail = _tail(log)
        failed = cls(Problem(code, message, None, help, f"it printed last: {tail}" if tail else "it printed nothing"))
        failed.log = log
        if code in _ENDED_WELL:
            failed.exit_status = 0
        return failed


def judge(title: str, ended: Mapping[str, Any], spec: Mapping[str, Any], log: str, *, free: int) -> CommandFailed | None:
    """Say how a command failed, and with which exit status; None where it did not.

    Parameters
    ----------
    ended : mapping
        What the supervisor tells of its end; empty where the supervisor was killed.
    spec : mapping
        What it was told to run.
    log : str
        What the command printed.
    free : int
        Bytes that are free on its disk now.
    """
    failed = _judge(title, ended, spec, log, free=free)
    if failed is not None and not ended.get("stopped", "error"):
        failed.exit_status = ended["code"] if ended["code"] is not None else -ended["signal"]
    return failed


def _judge(title: str, ended: Mapping[str, Any], spec: Mapping[str, Any], log: str, *, free: int) -> CommandFailed | None:
    if not ended:
        return CommandFailed.told("P411", f"what watches over the {title} command was killed, and the command with it", log=log)
    if "error" in ended:
        return CommandFailed.told("P417", f"the {title} command cannot be started: {ended['error']}", log=log)
    code, by_signal = ended["code"], ended["signal"]
    if code is not None and code > 128 and code - 128 in set(signal.Signals):
        by_signal = code - 128  # as the shell tells of what it ran
    failed = code != 0
    if ended["stopped"] == "time":
        return CommandFailed.told(
            "P416",
            f"the {title} command was stopped after {spec['seconds'] / 60:g} minutes",
            log=log,
            help="raise `limits: {minutes: …}` of the model if it is slow, and not stuck",
        )
    if ended["stopped"] == "memory":
        return CommandFailed.told(
            "P415",
            f"the {title} command used {size(ended['memory'])} of memory, more than {size(spec['memory'])}",
            log=log,
            help="raise `limits: {memory: …}` of the model, or give the command less to do",
        )
    full = failed and (free < DISK_IS_FULL or any(words in log for words in _NO_SPACE))
    if ended["stopped"] == "disk" or by_signal == signal.SIGXFSZ or full:
        return CommandFailed.told("P414", _disk(title, ended, spec, by_signal, log), log=log, help=_MORE_DISK)
    if code in (126, 127):
        what = "is not there" if code == 127 else "may not be executed"
        return CommandFailed.told(
            "P417",
            f"the {title} command cannot be started: a program in it {what} (exit code {code})",
            log=log,
            help="write `{path}/` before programs of the folder `path:`, name others in full, or set PATH under `environment:`",
        )
    if by_signal is not None:
        killed = by_signal == signal.SIGKILL
        return CommandFailed.told(
            "P411",
            f"the {title} command was ended by {signal.Signals(by_signal).name}",
            log=log,
            help="the system may have run out of memory: look at its log" if killed else None,
        )
    if not failed:
        return None
    return CommandFailed.told("P411", f"the {title} command ended with exit code {code}", log=log, help=_first_steps(spec, log))


def say_wrong_number(given: Path, found: int, expected: int) -> str:
    """Say that another number of items came back than were to be predicted, and whether lines that are not items explain it.

    Parameters
    ----------
    given : Path
        The file that the command was to predict from.
    found, expected : int
        How many items its output has, and how many it was to have.
    """
    more = found - expected
    why = f": the {more} lines of {{input}} that begin with `# ` seem to be among them" if 0 < more == _comments(given) else ""
    return f"it has {found} items, and there are {expected} to predict{why}"


def _first_steps(spec: Mapping[str, Any], log: str) -> str | None:
    """Return what a first training of one's own mostly fails by: a file that is elsewhere, or lines that are not items."""
    if _NOT_FOUND in "\n".join(log.splitlines()[-_TAIL_LINES:]):
        return (
            "a training runs in an empty folder of its own: name the folder of your programs, `path: .` for that of the study, "
            "and write `{path}/` before their names"
        )
    if "given" not in spec or not (count := _comments(Path(spec["given"]))):
        return None
    lines = "1 line" if count == 1 else f"{count:,} lines"
    begin, are, them = ("begins", "is not an item", "it") if count == 1 else ("begin", "are not items", "them")
    placeholder = Path(spec["given"]).name.partition(".")[0]
    return f"{lines} of {{{placeholder}}} {begin} with `# ` and {are}: does the program skip {them}?"


def _comments(given: Path) -> int:
    """Return how many lines of a file begin as comments do in the formats that have them."""
    with given.open("rb") as file:
        return sum(line.startswith(b"# ") for line in file)


def kept_log(logs: Path, title: str) -> str:
    """Return what a command printed on both streams, of a long one the beginning and the end."""
    parts = []
    for name, kind in (("standard output", "out"), ("standard error", "err")):
        text = _head_and_tail(logs / f"{title}.{kind}")
        if text:
            parts.append(f"--- {title}: {name} ---\n{text}")
    return "\n".join(parts)


def _disk(title: str, ended: Mapping[str, Any], spec: Mapping[str, Any], by_signal: int | None, log: str) -> str:
    may = f"and it may use {size(spec['disk'])}"
    if ended["stopped"] == "disk":
        return f"the {title} command was stopped: its files took {size(ended['disk'])}, {may}"
    if by_signal == signal.SIGXFSZ or (spec["file_size"] is not None and os.strerror(errno.EFBIG) in log):
        return f"the {title} command failed: one of its files grew too large, {may}"
    return f"the {title} command failed: the disk of {Path(spec['watch']).parent} is full"


def _head_and_tail(path: Path) -> str:
    part = LOG_BYTES // 4
    try:
        with path.open("rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(0)
            if size <= 2 * part:
                return file.read().decode("utf-8", "backslashreplace")
            head = file.read(part)
            file.seek(-part, os.SEEK_END)
            cut = f"\n… {size - 2 * part:,} bytes left out …\n"
            return head.decode("utf-8", "backslashreplace") + cut + file.read().decode("utf-8", "backslashreplace")
    except OSError:
        return ""


def _tail(log: str) -> str:
    """Return the last lines as they may be shown in a terminal."""
    lines = [line.rstrip() for line in log.splitlines() if line.strip() and not line.startswith("--- ")]
    shown = " ⏎ ".join("".join(c if c.isprintable() else " " for c in line) for line in lines[-_TAIL_LINES:])
    return shown if len(shown) <= _TAIL_CHARACTERS else "…" + shown[-_TAIL_CHARACTERS:]


def size(number: int) -> str:
    """Return bytes as a reader takes them in."""
    return f"{number / 1e9:.1f} GB" if number >= 1e9 else f"{number / 1e6:.1f} MB"
