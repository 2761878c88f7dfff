"""Folders and files that nobody else may change: machine code that is loaded is run, so it has to be our own.

A folder is *private* where this user or root owns it and neither its group nor others may write it, and where nobody else may put
another in its place: every folder above it is such a one too, or has the sticky bit, as ``/tmp`` has. What was made readable for
others stays so; what is made here is for its owner alone. Systems without user ids (Windows) have no such bits, and homes there
belong to their users: everything is taken for private.
"""

from __future__ import annotations

import functools
import glob
import os
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

__all__ = ["forget_folders", "make_private_folder", "may_be_written_by_others", "open_private", "replacing_private"]

ABANDONED_SECONDS = 10.0
"""Age at which a file that is being written has lost its writer. Should one have slept for so long, it only compiles again."""

_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH
_OPEN = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)


@functools.cache
def make_private_folder(path: str) -> str:
    """Make a folder that is missing, and give its real path; PermissionError where it is not private."""
    real = os.path.realpath(path)  # a link could be turned elsewhere after it was checked: it is never followed again
    if not os.path.isdir(real):
        missing = [Path(real)]
        while not missing[-1].parent.is_dir():
            missing.append(missing[-1].parent)
        for folder in reversed(missing):
            # Not Path.mkdir(parents=True), which makes the parents for everybody.
            folder.mkdir(0o700, exist_ok=True)
    _require_private(real)
    return real


def may_be_written_by_others(path: str) -> bool:
    """Say whether a folder is there in which somebody else may make files."""
    try:
        found = os.stat(path)
    except OSError:
        return False
    return not _is_ours(found)


@contextmanager
def open_private(path: str) -> Iterator[BinaryIO]:
    """Open a file for reading; PermissionError where somebody else may have written it, or put it there."""
    _require_private(os.path.dirname(path))
    with open(os.open(path, os.O_RDONLY | _OPEN), "rb") as file:
        found = os.fstat(file.fileno())  # of what is open, whatever its name is by now
        if not stat.S_ISREG(found.st_mode) or not _is_ours(found):
            raise PermissionError(f"{path} can be written by others")
        yield file


@contextmanager
def replacing_private(path: str) -> Iterator[BinaryIO]:
    """Open a file that appears under its name, for this user alone, when the block ends well, and not at all otherwise."""
    _require_private(os.path.dirname(path))
    _remove_abandoned(path)
    temporary = f"{path}.tmp.{os.urandom(8).hex()}"
    try:
        with open(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _OPEN, 0o600), "wb") as file:
            yield file
        os.replace(temporary, path)
    except BaseException:
        if os.path.lexists(temporary):
            os.unlink(temporary)
        raise


def _remove_abandoned(path: str) -> None:
    """Remove what writers of a file left that were killed: a living one takes milliseconds."""
    for left in Path(path).parent.glob(f"{glob.escape(os.path.basename(path))}.tmp.*"):
        with suppress(OSError):  # its writer, or another process that looks, was here first
            if time.time() - left.stat().st_mtime > ABANDONED_SECONDS:
                left.unlink()


@functools.cache  # only its owner can open a private folder to others, so that once is enough for a process
def _require_private(folder: str) -> None:
    if not hasattr(os, "geteuid"):
        return
    above = False
    for path in (Path(folder), *Path(folder).parents):
        found = os.lstat(path)
        owned = _is_owned(found.st_uid) or (above and found.st_uid == _unmapped())
        writable = found.st_mode & _OTHERS_WRITE and not (above and found.st_mode & stat.S_ISVTX)
        if not stat.S_ISDIR(found.st_mode) or not owned or writable:
            raise PermissionError(f"{folder} is no private folder: others may write {path}")
        above = True


def forget_folders() -> None:
    """Look at every folder again: what was private may have been opened since."""
    _require_private.cache_clear()
    make_private_folder.cache_clear()


def _is_ours(found: os.stat_result) -> bool:
    return not hasattr(os, "geteuid") or (_is_owned(found.st_uid) and not found.st_mode & _OTHERS_WRITE)


def _is_owned(owner: int) -> bool:
    """Say whether it is this user's, or root's, who may do everything anyway."""
    return owner in (os.geteuid(), 0)


@functools.cache
def _unmapped() -> int | None:
    """Return the owner that the files of root seem to have in a container that does not know root; None outside of one."""
    try:
        known = Path("/proc/self/uid_map").read_text().split()
        return None if known == ["0", "0", "4294967295"] else int(Path("/proc/sys/kernel/overflowuid").read_text())
    except (OSError, ValueError):
        return None
