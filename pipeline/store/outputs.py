"""Files that a user asks for by name: a page, a table, a study. They are like those of other programs, not the owner's alone."""

from __future__ import annotations

import errno
import os
import stat
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
    found = [_explain(why, path) for path in paths if path is not None and (why := _hindrance(Path(path))) is not None]
    if found:
        raise StoreError(*found)


def _hindrance(final: Path) -> OSError | None:
    """Return the error with which `write_output` would fail, as far as that can be told without writing."""
    try:
        there, is_link = _look(final), final.is_symlink()
        if there is not None and stat.S_ISDIR(there.st_mode):
            return _error(errno.EISDIR)
        if there is not None and (is_link or not stat.S_ISREG(there.st_mode)):
            return _unless(final, os.W_OK)
        folder = (final.resolve() if is_link else final.absolute()).parent
        # Missing folders are made, but not behind a link.
        while not is_link and _look(folder) is None and folder != folder.parent:
            folder = folder.parent
        place = _look(folder)
        if place is None or not stat.S_ISDIR(place.st_mode):
            return _error(errno.ENOENT if place is None else errno.ENOTDIR)
        return _unless(folder, os.W_OK | os.X_OK)  # an ordinary file is replaced, whatever its own permissions
    except OSError as error:
        return error


def _look(path: Path) -> os.stat_result | None:
    """Return what is there, behind links; None where nothing is."""
    try:
        return os.stat(path)
    except (FileNotFoundError, NotADirectoryError):
        return None


def _unless(path: Path, mode: int) -> OSError | None:
    if os.access(path, mode):
        return None
    return _error(errno.EROFS if os.statvfs(path).f_flag & os.ST_RDONLY else errno.EACCES)


def _error(number: int) -> OSError:
    return OSError(number, os.strerror(number))


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
