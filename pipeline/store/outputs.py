"""Files that a user asks for by name: a page, a table, a study. They are like those of other programs, not the owner's alone."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable
from pathlib import Path

from pipeline.errors import Problem, StoreError
from pipeline.store.files import exchanging, free_space

__all__ = ["refuse_unwritable", "write_output"]

_FULL = {errno.ENOSPC, errno.EDQUOT}


def write_output(path: Path | str, data: bytes) -> None:
    """Write bytes where a user asked for them: through a link, and into a pipe or a device; atomically into an ordinary file.

    The umask says who may read a new file.
    """
    final = Path(path)
    try:
        if not final.is_symlink() and (final.is_file() or final.is_dir() or not final.exists()):
            with exchanging(final, private=False) as file:
                file.write(data)
            return
        with open(final, "wb") as file:  # another file in its place would be read by nobody
            file.write(data)
    except OSError as error:
        raise StoreError(_explain(error, final)) from error


def refuse_unwritable(paths: Iterable[Path | str | None]) -> None:
    """Raise for files that cannot be written, before anything is computed for them; None stands for a file not asked for.

    Raises
    ------
    StoreError
        P702, for each of them.
    """
    found = []
    for path in paths:
        if path is None or os.access(path, os.W_OK):
            continue
        folder = Path(path).absolute().parent
        while not folder.exists() and folder != folder.parent:
            folder = folder.parent
        reason = None
        if not folder.is_dir():
            reason = errno.ENOTDIR
        elif not os.access(folder, os.W_OK | os.X_OK):
            reason = errno.EROFS if os.statvfs(folder).f_flag & os.ST_RDONLY else errno.EACCES
        if reason is not None:
            found.append(_explain(OSError(reason, os.strerror(reason)), path))
    if found:
        raise StoreError(*found)


def _explain(error: OSError, path: Path | str) -> Problem:
    """Say why a file could not be written, and what to do about it: it belongs to no run, and `resume` would not write it."""
    where = str(path)
    if error.errno in _FULL:
        help = "free some space, or name a file on another disk; then give the command again"
        return Problem("P701", f"the disk is full, or the quota is used up: {free_space(path)}", where, help)
    if error.errno == errno.EROFS:
        cause = "the file system is read-only"
    else:
        cause = "no permission" if isinstance(error, PermissionError) else (error.strerror or str(error)).lower()
    return Problem(
        "P702", f"the file cannot be written: {cause}", where, "name a file in another folder, or make this one writable"
    )
