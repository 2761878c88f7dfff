"""Fitted models kept for other test sets: bundles of files, verified when they are read, within a limit of bytes.

A model is a file of the store under the address of its training. The SHA-256 of that address and of what it holds is in the file:
a damaged one, or that of another training, is removed, and the model is fitted again. When a new one needs room, those that were
used longest ago go first.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import struct
import zipfile
import zlib
from contextlib import suppress
from pathlib import Path, PurePosixPath
from typing import IO

from pipeline.store.files import replacing
from pipeline.store.runs import Store

__all__ = ["forget_model", "has_model", "keep_model", "take_model"]

_FILE, _PROGRAM, _FOLDER = "files", "programs", "folders"
"""Where members stand in the bundle: a zip says nothing portable of rights and empty folders."""

_LEVEL = 1  # written at each training and read seldom
_ARCHIVES = frozenset({".bz2", ".gz", ".npz", ".xz", ".zip", ".zst"})
"""Endings of files that are not compressed once more: mostly in vain, and always slow beside writing them."""
_PIECE = 1 << 20


def has_model(store: Store, key: str) -> bool:
    """Say whether the model of a training is there, without reading it."""
    return _path(store, key).is_file()


def forget_model(store: Store, key: str) -> None:
    """Remove a model, where this user may; else it is replaced, or found wanting again."""
    with suppress(OSError):
        _path(store, key).unlink(missing_ok=True)


def keep_model(store: Store, key: str, folder: Path, *, room: float) -> bool:
    """Keep the files of a folder as the model of a training, and say whether it was kept.

    Parameters
    ----------
    store : Store
    key : str
        The address of the fitted model.
    folder : Path
        Its files. A folder that is empty, too large, or holds anything but files and folders is not kept.
    room : float
        Bytes that all models may take together.

    Raises
    ------
    StoreError
        The store cannot be written.
    """
    parts = sorted(folder.rglob("*"))
    if not parts or not all(part.is_dir() or part.is_file() for part in parts) or any(part.is_symlink() for part in parts):
        return False
    if sum(part.stat().st_size for part in parts if part.is_file()) > room:
        return False
    path = _path(store, key)
    seal = hashlib.sha256(key.encode())
    with (
        replacing(path) as file,
        zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=_LEVEL) as bundle,
    ):
        for part in parts:
            place = _FOLDER if part.is_dir() else _PROGRAM if os.access(part, os.X_OK) else _FILE
            name = f"{place}/{part.relative_to(folder).as_posix()}"
            _seal_name(seal, name)
            bundle.compression = zipfile.ZIP_STORED if part.suffix in _ARCHIVES else zipfile.ZIP_DEFLATED
            with bundle.open(name, "w", force_zip64=True) as target:
                if part.is_file():
                    with part.open("rb") as source:
                        _copy(source, target, seal)
        bundle.comment = seal.hexdigest().encode("ascii")
    _make_room(path, room)
    return path.is_file()


def take_model(store: Store, key: str, folder: Path, *, room: float) -> bool:
    """Copy the files of a model into an empty folder, and say whether they are there and what was kept.

    A model that is damaged, or whose files are larger than ``room``, is removed, and the folder is left empty.
    """
    path = _path(store, key)
    try:
        with zipfile.ZipFile(path) as bundle:
            entries = bundle.infolist()
            # Of other kinds of compression each has errors of its own.
            ours = all(entry.compress_type in (zipfile.ZIP_DEFLATED, zipfile.ZIP_STORED) for entry in entries)
            sound = ours and sum(entry.file_size for entry in entries) <= room and _extract(bundle, folder, key)
    except FileNotFoundError:
        return False
    except (zipfile.BadZipFile, zlib.error, struct.error, OSError, EOFError, RuntimeError, ValueError):
        sound = False
    if not sound:
        forget_model(store, key)
        for part in folder.iterdir():
            shutil.rmtree(part) if part.is_dir() else part.unlink()
        return False
    with suppress(OSError):  # what is read may be another user's
        os.utime(path)
    return True


def _extract(bundle: zipfile.ZipFile, folder: Path, key: str) -> bool:
    seal = hashlib.sha256(key.encode())
    for name in bundle.namelist():
        _seal_name(seal, name)
        place, *parts = PurePosixPath(name).parts
        if place not in (_FILE, _PROGRAM, _FOLDER) or not parts or ".." in parts:
            return False  # we never wrote such a name
        part = folder.joinpath(*parts)
        if place == _FOLDER:
            part.mkdir(parents=True, exist_ok=True)
            continue
        part.parent.mkdir(parents=True, exist_ok=True)
        with bundle.open(name) as source, part.open("xb") as target:
            _copy(source, target, seal)
        part.chmod(0o700 if place == _PROGRAM else 0o600)
    return bundle.comment == seal.hexdigest().encode("ascii")


def _seal_name(seal: hashlib._Hash, name: str) -> None:
    coded = name.encode("utf-8", "surrogateescape")
    seal.update(struct.pack("<Q", len(coded)) + coded)


def _copy(source: IO[bytes], target: IO[bytes], seal: hashlib._Hash) -> None:
    length = 0
    while piece := source.read(_PIECE):
        target.write(piece)
        seal.update(piece)
        length += len(piece)
    seal.update(struct.pack("<Q", length))


def _make_room(newest: Path, room: float) -> None:
    """Remove the models that were used longest ago until all fit; the newest is the last to go."""
    found = []
    for path in newest.parent.parent.glob("*/*.zip"):
        with suppress(FileNotFoundError):  # another worker makes room too
            status = path.stat()
            found.append((path == newest, status.st_mtime_ns, path, status.st_size))
    taken = sum(size for *_, size in found)
    for *_, path, size in sorted(found):
        if taken <= room:
            return
        path.unlink(missing_ok=True)
        taken -= size


def _path(store: Store, key: str) -> Path:
    return store.path("models", key, ".zip")
