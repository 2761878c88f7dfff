"""Files of named arrays: written whole, read whole and held against a checksum, or mapped and read by rows."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.store.container import StoredArrays, pack
from pipeline.store.files import damaged_file, replacing, store_error

__all__ = ["check_arrays", "map_arrays", "read_arrays", "write_arrays"]


def write_arrays(path: Path | str, arrays: Mapping[str, NDArray[Any]]) -> str:
    """Write named arrays atomically and return the checksum of the file; equal arrays give equal bytes."""
    checksum = hashlib.sha256()
    with replacing(path) as file:
        for piece in pack(arrays):
            checksum.update(piece)
            file.write(piece)
    return checksum.hexdigest()


def read_arrays(path: Path | str, checksum: str | None = None) -> dict[str, NDArray[Any]]:
    """Read named arrays, read-only.

    Parameters
    ----------
    path : Path
        A file that `write_arrays` wrote.
    checksum : str, optional
        What `write_arrays` returned: the bytes must be these. Without it the file's own checksums are held.

    Raises
    ------
    StoreError
        The file is absent (P704) or damaged (P705).
    """
    found = _open(path, checksum)
    try:
        if checksum is None:
            found.verify()
        return found.whole()
    except ValueError as error:
        raise damaged_file(path, error) from error


def check_arrays(path: Path | str, checksum: str) -> None:
    """Read all bytes of a file, and unpack no array: StoreError as of `read_arrays`."""
    _open(path, checksum)


def _open(path: Path | str, checksum: str | None) -> StoredArrays:
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise store_error(error, path) from error
    try:
        if checksum is not None and hashlib.sha256(data).hexdigest() != checksum:
            raise ValueError("its bytes are not those that were written")
        return StoredArrays(data)
    except ValueError as error:
        raise damaged_file(path, error) from error


def map_arrays(path: Path | str) -> StoredArrays:
    """Map a file of arrays, to read some of their rows; only its head and its length are held: StoreError as of `read_arrays`."""
    try:
        data: Any = np.memmap(path, dtype=np.uint8, mode="r") if os.stat(path).st_size else b""
        return StoredArrays(data)
    except OSError as error:
        raise store_error(error, path) from error
    except ValueError as error:
        raise damaged_file(path, error) from error
