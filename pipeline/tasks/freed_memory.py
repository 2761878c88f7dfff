"""Give memory that is free within the process back to the system.

The C library keeps pages that lie between others for itself. After blocks of a thousand systems that is 100 MiB and more, which
each further task would need beside its own.
"""

from __future__ import annotations

import ctypes
import mmap
from pathlib import Path

__all__ = ["give_back"]

LEAST = 2**28
"""Bytes of a process for which it is worth while: what is given back has to be fetched again, 0.1 ms a MiB."""

_RESIDENT = Path("/proc/self/statm")


def give_back() -> bool:
    """Return what is free to the system if the process is large; tell whether that was tried.

    Only where the C library has a way, which is on Linux with glibc.
    """
    try:
        pages = int(_RESIDENT.read_text().split()[1])
        trim = ctypes.CDLL(None).malloc_trim
    except (OSError, AttributeError):
        return False
    if pages * mmap.PAGESIZE < LEAST:
        return False
    trim(ctypes.c_size_t(0))
    return True
