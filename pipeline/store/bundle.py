"""Several files as one, the same bytes for the same content: the outputs of a training.

A bundle is a zip file whose members stand in sorted order, with one time stamp and one level of compression.
"""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path

from pipeline.errors import Problem, StoreError
from pipeline.store.addresses import digest_bytes
from pipeline.store.files import RECOMPUTE, store_error, write_bytes

__all__ = ["pack_bundle", "read_bundle", "write_bundle"]

_EPOCH = (1980, 1, 1, 0, 0, 0)  # the first that zip can say
_LEVEL = 1  # written hundreds of times and read once or twice: level 6 takes five times as long for a quarter less
_UNIX, _MODE = 3, 0o600 << 16


def pack_bundle(members: Mapping[str, bytes]) -> bytes:
    """Return the bytes of named members; their order does not matter.

    Examples
    --------
    >>> pack_bundle({"a": b"1", "b": b"2"}) == pack_bundle({"b": b"2", "a": b"1"})
    True
    """
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as bundle:
        for name in sorted(members):
            entry = zipfile.ZipInfo(name, _EPOCH)
            # As one system writes it: else the bytes would tell which one did.
            entry.create_system, entry.external_attr, entry.compress_type = _UNIX, _MODE, zipfile.ZIP_DEFLATED
            bundle.writestr(entry, members[name], compresslevel=_LEVEL)
    return packed.getvalue()


def write_bundle(path: Path, members: Mapping[str, bytes]) -> str:
    """Write named members atomically and return the digest of the file, as `pipeline.store.addresses.digest_file` does."""
    data = pack_bundle(members)
    write_bytes(path, data)
    return digest_bytes(data)


def read_bundle(path: Path, name: str) -> bytes | None:
    """Return one member; None where the bundle does not have it.

    Raises
    ------
    StoreError
        The file is absent (P704) or damaged (P705).
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise store_error(error, path) from error
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as bundle:
            return bundle.read(name) if name in bundle.namelist() else None
    except (zipfile.BadZipFile, zlib.error, struct.error, OSError, EOFError, RuntimeError, ValueError) as error:
        raise StoreError(Problem("P705", f"a stored file is damaged: {error}", str(path), RECOMPUTE)) from error
