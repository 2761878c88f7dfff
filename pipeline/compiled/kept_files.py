"""Files of machine code: digests of their content and of the source that it was compiled from, then the code.

Only read where nobody else may have written them.
"""

from __future__ import annotations

import hashlib
import os
import sys
from pathlib import Path
from types import FunctionType

from pipeline.compiled.private import open_private, replacing_private

__all__ = ["is_current", "name_of", "read_kept", "write_kept"]

_DIGEST = hashlib.sha256().digest_size


def name_of(function: FunctionType) -> str:
    """Return what the names of all files of a kernel begin with."""
    name = function.__qualname__.replace("<", "").replace(">", "")  # which Windows has not in names
    version = f"py{sys.version_info[0]}{sys.version_info[1]}{getattr(sys, 'abiflags', '')}"
    return f"{Path(function.__code__.co_filename).stem}.{name}.{version}"


def write_kept(path: str, stamp: bytes, code: bytes) -> None:
    """Write a file, in one step; PermissionError where its folder is not private."""
    body = stamp + code
    with replacing_private(path) as file:
        file.write(hashlib.sha256(body).digest() + body)


def read_kept(path: str, stamp: bytes) -> bytes | None:
    """Return the code of a file; None where there is none, it is not whole, or was made from other source.

    Others may have written it: PermissionError.
    """
    if not os.path.exists(path):
        return None
    with open_private(path) as file:
        content = file.read()
    body = content[_DIGEST:]
    if hashlib.sha256(body).digest() != content[:_DIGEST] or not body.startswith(stamp):
        return None
    return body[len(stamp) :]


def is_current(path: str, stamp: bytes) -> bool:
    """Tell whether a file was made from the source as it is."""
    try:
        with open_private(path) as file:
            return file.read(_DIGEST + len(stamp))[_DIGEST:] == stamp
    except OSError:
        return False
