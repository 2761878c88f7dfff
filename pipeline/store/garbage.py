"""Find stored results that no run refers to, oldest first, and remove them safely while studies are running.

A result is named by its address: it is needed wherever that stands in the ledger or in the plan of a run, be the rest of such a
file sound or not. A result is written before its receipt, and frames before the plan, so what is younger than an hour, or than
the start of a study that runs, is never removed. Should a result be missed after all, the run that needs it computes it again.
"""

from __future__ import annotations

import os
import re
import shutil
import time
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

from pipeline.dataclass import dataclass
from pipeline.errors import StoreError
from pipeline.store.addresses import digest_bytes
from pipeline.store.brought import FOLDER, MARK, Brought, find_brought
from pipeline.store.files import make_directory, store_error, sweep_temporaries, temporary_name, write_bytes
from pipeline.store.lease import read_holder
from pipeline.store.runs import STORE_NAME, Store

__all__ = ["Garbage", "StoredFile", "find_garbage", "note_linked_store", "remove_garbage"]

_USERS = "linked-from"
"""The folder of a store that has the path of every other folder of runs with a link to it, each in a file."""

YOUNG_SECONDS = 3600.0
"""A file that is younger may be about to be named. A coordinator takes the lease minutes after its plan is written."""

_NAME = re.compile(rb"(?<![0-9a-f])[0-9a-f]{32}(?![0-9a-f])|(?<=%s/)%s(?=/)" % (re.escape(FOLDER).encode(), MARK.pattern.encode()))
_FILE = re.compile(r"([0-9a-f]{32})\.[a-z]+")
_NAMED_IN = ("ledger.jsonl", "plan.json")


@dataclass(frozen=True)
class StoredFile:
    """A result in the store: ``kind`` is the folder that holds all of its kind. Of kind ``objects``, a folder that was brought."""

    path: Path
    kind: str
    address: str
    bytes: int
    modified: float


@dataclass(frozen=True)
class Garbage:
    """Files that may be removed.

    Parameters
    ----------
    files : tuple of StoredFile
        What is to be removed, oldest first.
    unnamed_bytes : int
        Of all that no run names, those that are too young to be removed not included.
    young_bytes : int
        What no run names yet.
    store_bytes : int
        Of the whole store.
    runs : int
        How many runs were asked what they need.
    missing : tuple of tuple
        Notes of folders of runs that are not there, and their paths: what was brought for them stays.
    """

    files: tuple[StoredFile, ...]
    unnamed_bytes: int
    young_bytes: int
    store_bytes: int
    runs: int
    missing: tuple[tuple[Path, Path], ...] = ()

    @property
    def bytes(self) -> int:
        """Bytes freed by removing the files."""
        return sum(file.bytes for file in self.files)


def note_linked_store(runs: Path) -> None:
    """Let a store know that a folder of runs uses it by a link, so that clearing up from elsewhere spares what these runs need."""
    store = runs / STORE_NAME
    if store.is_symlink():
        path = os.fsencode(runs.resolve())
        write_bytes(make_directory(store / _USERS) / digest_bytes(path), path)


def _users(runs: Path) -> list[Path]:
    """Return the folders of runs that use a store, or what was brought for it: this one, that of the store, those with a link."""
    found, store = [runs], (runs / STORE_NAME).resolve()
    if store.name == STORE_NAME and store.parent != runs.resolve() and store.parent.is_dir():
        found.append(store.parent)
    try:
        for note in sorted((runs / STORE_NAME / _USERS).iterdir()):
            user = Path(os.fsdecode(note.read_bytes()))
            if not user.is_dir():
                raise StoreError.of(
                    "P721",
                    f"the runs in {user} use this store by a link, and the folder is not there",
                    where=str(note),
                    help="bring it back, or remove this note if it is gone for good",
                )
            if user.resolve() != runs.resolve() and (user / STORE_NAME).resolve() == store:
                found.append(user)
    except FileNotFoundError:
        pass
    except OSError as error:
        raise store_error(error, runs / STORE_NAME / _USERS) from error
    known = {user.resolve() for user in found}
    return [*found, *sorted({user for one in _brought(runs) for user in one.users} - known)]


def _brought(runs: Path) -> list[Brought]:
    try:
        return find_brought(runs / STORE_NAME)
    except OSError as error:
        raise store_error(error, error.filename or runs / STORE_NAME) from error


def find_garbage(runs: Path, *, to: float | None = None, linked: bool = False) -> Garbage:
    """Return what no run of a folder names: all of it, or the oldest until the store is no larger than ``to`` bytes.

    Parameters
    ----------
    runs : Path
        The folder of runs.
    to : float, optional
        Bytes that the store may keep.
    linked : bool
        The store may be a link to another place: only these runs use it.

    Raises
    ------
    StoreError
        P720 what a run names cannot be read; P721 the store is a link, and other folders of runs may use it.
    """
    root = runs / STORE_NAME
    if root.is_symlink() and not linked:
        raise StoreError.of(
            "P721",
            f"the store is a link to {os.path.realpath(root)}: runs in other folders may use it too",
            where=str(root),
            help="if no other folder of runs has a link to it, say so with --linked-store",
        )
    # Files first: what is named afterwards is not among them, or is found to be named.
    stored, brought = list(_stored_files(Store(root))), _brought(runs)
    named, until, asked = _read_names(runs)
    stored += _stored_objects(brought, frozenset(named))
    unnamed = sorted((f for f in stored if f.address not in named), key=lambda f: (f.modified, f.address))
    old = [file for file in unnamed if file.modified < until]
    total = sum(file.bytes for file in stored)
    chosen, left = [], total
    for file in old:
        if to is not None and left <= to:
            break
        chosen.append(file)
        left -= file.bytes
    freeable = sum(file.bytes for file in old)
    young = sum(file.bytes for file in unnamed) - freeable
    return Garbage(tuple(chosen), freeable, young, total, asked, tuple(noted for one in brought for noted in one.missing))


def remove_garbage(runs: Path, garbage: Garbage) -> int:
    """Remove what `find_garbage` found, except what was named or written meanwhile; return the bytes freed."""
    named, _, _ = _read_names(runs)
    freed = 0
    for file in garbage.files:
        if file.address in named:
            continue
        try:
            if file.path.stat().st_mtime != file.modified:
                continue
            _remove(file.path)
        except FileNotFoundError:  # another one clears up too
            continue
        except OSError as error:
            raise store_error(error, file.path) from error
        freed += file.bytes
    sweep_temporaries(runs / STORE_NAME)
    return freed


def _remove(path: Path) -> None:
    if not path.is_dir():
        path.unlink()
        return
    # Out of the way at once: a folder that is half there would be read.
    temporary = path.rename(path.with_name(temporary_name()))
    shutil.rmtree(temporary, ignore_errors=True)


def _stored_objects(brought: list[Brought], named: frozenset[str]) -> Iterator[StoredFile]:
    """Yield the folders of objects that no run names, unless a folder of runs that reads them is not there to be asked."""
    for one in brought:
        for folder, size in () if one.missing else one.freed_bytes(named):
            yield StoredFile(folder.path, "objects", folder.path.name, size, folder.modified)


def _stored_files(store: Store) -> Iterator[StoredFile]:
    """Yield the results in the store; files whose names are not ours are not results, and stay."""
    for folder, _, names in os.walk(store.root):
        place = Path(folder)
        for name in names:
            found = _FILE.fullmatch(name)
            if found is None or store.path(place.parent.name, found[1], Path(name).suffix) != place / name:
                continue
            try:
                entry = os.lstat(place / name)
            except FileNotFoundError:
                continue
            yield StoredFile(place / name, place.parent.name, found[1], entry.st_size, entry.st_mtime)


def _read_names(runs: Path) -> tuple[set[str], float, int]:
    """Return the addresses that runs name, the time before which a file is old, and how many runs there are."""
    until, asked, named = time.time() - YOUNG_SECONDS, 0, set[str]()
    try:
        entries = [entry for user in _users(runs) for entry in os.scandir(user)]
        folders = [Path(entry) for entry in entries if entry.is_dir() and entry.name != STORE_NAME]
    except OSError as error:
        raise store_error(error, runs, lost="there is no such folder of runs; name it with --runs") from error
    for folder in folders:
        try:
            contents = [(folder / name).read_bytes() for name in _NAMED_IN if (folder / name).exists()]
            holder = read_holder(folder)
        except OSError as error:
            raise _unreadable(folder, error.strerror or str(error)) from error
        except StoreError as error:
            raise _unreadable(folder, error.problems[0].message) from error
        named.update(match.decode("ascii") for content in contents for match in _NAME.findall(content))
        asked += bool(contents)
        if holder is not None and holder.in_force:
            until = min(until, _began(holder.since))
    return named, until, asked


def _began(since: str) -> float:
    """Return when a lease was taken; where it is damaged, long ago, so that nothing is removed beside its holder."""
    try:
        return datetime.fromisoformat(since).timestamp()
    except ValueError:
        return 0.0


def _unreadable(folder: Path, why: str) -> StoreError:
    error = StoreError.of(
        "P720",
        f"it cannot be read what this run needs, so nothing is removed: {why}",
        where=str(folder),
        help="run this as a user who may read all runs of the folder, or move this one out of it",
    )
    assert isinstance(error, StoreError)
    return error
