"""Inputs fetched from object stores and kept beside studies: which runs use them, and which no run uses.

.objects/<mark>/data/…      what `pipeline.survey.fetching` brought at one time; a file may be linked from several of these folders
.objects/used-from/<note>   the path of each folder of runs that reads it, as seen from here
<store>/objects-at/<note>   the path of each ``.objects`` that the runs of this store read
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from pipeline.dataclass import dataclass
from pipeline.store.addresses import digest_bytes
from pipeline.store.files import make_directory, write_bytes

__all__ = ["DATA", "FOLDER", "MARK", "Brought", "BroughtFolder", "find_brought", "note_brought"]

FOLDER, DATA = ".objects", "data"
MARK = re.compile(r"[0-9a-f]{20}")
_USERS, _PLACES = "used-from", "objects-at"


@dataclass(frozen=True)
class BroughtFolder:
    """Inputs fetched at one time: their files by inode, which several folders may share, with their sizes."""

    path: Path
    modified: float
    files: Mapping[tuple[int, int], int]


@dataclass(frozen=True)
class Brought:
    """One ``.objects``: its folders, the folders of runs that read them, and notes of such as are not there, with their paths."""

    folders: tuple[BroughtFolder, ...]
    users: tuple[Path, ...]
    missing: tuple[tuple[Path, Path], ...]

    def freed_bytes(self, named: frozenset[str]) -> Iterator[tuple[BroughtFolder, int]]:
        """Yield the folders that are not named, oldest first, with the bytes that removing them in this order frees."""
        counted: set[tuple[int, int]] = set()
        found: list[tuple[BroughtFolder, int]] = []
        # A file goes with the last folder that has it: never, if that stays, or with the newest.
        for folder in sorted(self.folders, key=lambda one: (one.path.name not in named, -one.modified)):
            own = {inode: size for inode, size in folder.files.items() if inode not in counted}
            counted.update(own)
            if folder.path.name not in named:
                found.append((folder, sum(own.values())))
        yield from reversed(found)


def note_brought(runs: Path, store: Path, study: Any) -> None:
    """Record in the store of a study's runs where its objects were fetched to, and at that place which runs read them."""
    for root in {Path(match[1]) for text in _strings(study) if (match := _PLACE.match(text))}:
        _note(make_directory(store / _PLACES), os.fsencode(root.resolve()))
        users = root / _USERS
        if os.access(users if users.is_dir() else root, os.W_OK):  # from a disk that is only read nothing is removed
            _note(make_directory(users), os.fsencode(os.path.relpath(runs.resolve(), root.resolve())))


_PLACE = re.compile(rf"(.*/{re.escape(FOLDER)})/{MARK.pattern}/{DATA}(?:/|$)", re.DOTALL)


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        yield from _strings(list(value.values()))
    elif isinstance(value, (list, tuple)):
        for one in value:
            yield from _strings(one)


def _note(folder: Path, path: bytes) -> None:
    note = folder / digest_bytes(path)
    if not note.exists():
        write_bytes(note, path)


def _notes(folder: Path) -> list[tuple[Path, Path]]:
    """Return the notes of a folder, each with the path that it holds."""
    try:
        return [(note, Path(os.fsdecode(note.read_bytes()))) for note in sorted(folder.iterdir()) if not note.name.startswith(".")]
    except FileNotFoundError:
        return []


def find_brought(store: Path) -> list[Brought]:
    """Return the inputs fetched for the runs of a store that are still there."""
    return [_read(root) for _, root in _notes(store / _PLACES) if root.is_dir()]


def _read(root: Path) -> Brought:
    users = [(note, root / path) for note, path in _notes(root / _USERS)]
    there = tuple(path.resolve() for _, path in users if path.is_dir())
    folders = tuple(_folders(entry for entry in os.scandir(root) if MARK.fullmatch(entry.name) and entry.is_dir()))
    return Brought(folders, there, tuple((note, Path(os.path.normpath(path))) for note, path in users if not path.is_dir()))


def _folders(entries: Iterable[os.DirEntry[str]]) -> Iterator[BroughtFolder]:
    for entry in entries:
        files: dict[tuple[int, int], int] = {}
        try:
            modified = entry.stat().st_mtime
            for folder, _, names in os.walk(entry.path):
                for name in names:
                    found = os.lstat(os.path.join(folder, name))
                    files[found.st_dev, found.st_ino] = found.st_size
        except FileNotFoundError:  # another one clears up too
            continue
        yield BroughtFolder(Path(entry.path), modified, files)
