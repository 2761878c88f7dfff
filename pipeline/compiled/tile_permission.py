"""Whether this process may use the tile registers of AMX: Linux grants them only to processes that ask."""

from __future__ import annotations

import ctypes
import functools
import platform
import sys

__all__ = ["may_use_tiles"]

_ARCH_PRCTL, _ASK, _TILE_DATA = 158, 0x1023, 18
"""Linux's numbers, on x86 with 64 bits, of the system call, of ARCH_REQ_XCOMP_PERM and of the state that is asked for."""


@functools.cache
def may_use_tiles() -> bool:
    """Ask for the tile registers and tell whether they are granted; without them, the first tile instruction ends the process.

    The answer holds for all threads, and for processes that are forked from this one; any other process asks for itself. It is
    no where the processor or the kernel has no AMX, where the filter of a container refuses the call, and where some thread has a
    stack for signals that is too small for the registers.
    """
    if sys.platform != "linux" or platform.machine() != "x86_64" or sys.maxsize < 2**32:  # elsewhere 158 is another call
        return False
    try:
        call = ctypes.CDLL(None).syscall
    except (OSError, AttributeError):
        return False
    call.restype, call.argtypes = ctypes.c_long, [ctypes.c_long] * 3
    return bool(call(_ARCH_PRCTL, _ASK, _TILE_DATA) == 0)
