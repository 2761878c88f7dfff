"""Read sizes as people write them: 2 GB, 512 MiB."""

from __future__ import annotations

import re

__all__ = ["parse_bytes"]

_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12, "ki": 2**10, "mi": 2**20, "gi": 2**30, "ti": 2**40}
_SIZE = re.compile(r"\s*([0-9]+(?:\.[0-9]+)?)\s*([kmgt]?i?)b?\s*", re.IGNORECASE)


def parse_bytes(size: str) -> float:
    """Return the bytes of a size; ValueError where it is none.

    Examples
    --------
    >>> parse_bytes("2 GB"), parse_bytes("512MiB"), parse_bytes("1000")
    (2000000000.0, 536870912.0, 1000.0)
    """
    match = _SIZE.fullmatch(size)
    if match is None or match[2].lower() not in _UNITS:
        raise ValueError(f"a size is written as 2 GB or 512 MiB, not {size!r}")
    return float(match[1]) * _UNITS[match[2].lower()]
