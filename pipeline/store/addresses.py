"""Content addresses: values, bytes and files become digests, and the same value has the same name everywhere."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

__all__ = ["canonical_json", "digest", "digest_bytes", "digest_file"]

_DIGITS = 32  # 128 bits: no collision by accident, and short enough for a path
_ENCODER = json.JSONEncoder(sort_keys=True, separators=(",", ":"), allow_nan=False, ensure_ascii=True)


def canonical_json(value: Any) -> bytes:
    r"""Return the one JSON text of a value: sorted keys, no blanks, ASCII only.

    Mappings and sequences of any kind become objects and arrays. Anything that JSON has no single text for (NaN, keys
    that are not strings, objects) raises TypeError or ValueError, so that two different values never share an address.

    Examples
    --------
    >>> canonical_json({"b": (1, 2.5), "a": "é"})
    b'{"a":"\\u00e9","b":[1,2.5]}'
    """
    return _ENCODER.encode(_plain(value)).encode("ascii")


def digest(value: Any) -> str:
    """Return 32 hexadecimal digits of the SHA-256 of a value's canonical JSON.

    Examples
    --------
    >>> digest({"a": 1, "b": 2}) == digest({"b": 2, "a": 1})
    True
    """
    return digest_bytes(canonical_json(value))


def digest_bytes(data: bytes | memoryview) -> str:
    """Return 32 hexadecimal digits of the SHA-256 of bytes."""
    return hashlib.sha256(data).hexdigest()[:_DIGITS]


def digest_file(path: Path | str) -> str:
    """Return the digest of a file's bytes, read in pieces; OSError where it cannot be read."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()[:_DIGITS]


_LEAVES = frozenset({str, int, float, bool, type(None)})
"""Types of values that JSON has as they are: nearly all that is given an address, so they are told without a call."""


def _plain(value: Any) -> Any:
    kind = type(value)
    if kind in _LEAVES:
        return value
    if kind is list or kind is tuple:  # before all questions to abstract classes
        return [item if type(item) in _LEAVES else _plain(item) for item in value]
    if isinstance(value, str):
        return value
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        return float(value)
    if isinstance(value, Mapping):
        for key in value:
            if not isinstance(key, str):
                # JSON would write 1 and "1" alike.
                raise TypeError(f"an address needs text keys, not {key!r}")
        return {str(key): item if type(item) in _LEAVES else _plain(item) for key, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, (bytes, bytearray, memoryview)):
        return [item if type(item) in _LEAVES else _plain(item) for item in value]
    raise TypeError(f"an address cannot hold a {type(value).__name__}")
