"""Sync files to disk before anything relies on them, so that they survive a power cut."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

__all__ = ["sync_directory", "sync_file", "without_sync"]

_not_synced: list[str] = []


@contextmanager
def without_sync(folder: Path | str) -> Iterator[None]:
    """Do not sync anything that this process writes in a folder, because the folder is removed in any case.

    A comparison that is not kept writes some sixty files, and a disk may take 10 ms to sync each.
    """
    prefix = _as_folder(folder)
    _not_synced.append(prefix)
    try:
        yield
    finally:
        _not_synced.remove(prefix)


def sync_file(handle: int, path: Path | str) -> None:
    """Sync an open file to disk."""
    if _is_kept(path):
        os.fsync(handle)


def sync_directory(path: Path | str) -> None:
    """Sync a directory's entries to disk, so that a rename survives a power cut."""
    if not _is_kept(path):
        return
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    except OSError as error:
        if error.errno not in {errno.EINVAL, errno.ENOTSUP}:  # some network file systems cannot sync directories
            raise
    finally:
        os.close(handle)


def _is_kept(path: Path | str) -> bool:
    return not any(_as_folder(path).startswith(prefix) for prefix in _not_synced)


def _as_folder(path: Path | str) -> str:
    return os.path.join(os.path.abspath(path), "")  # so that ``..`` leads out of a folder
