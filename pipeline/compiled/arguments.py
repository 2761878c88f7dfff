"""Arguments of kernels as C takes them, told apart by their types as Numba tells them apart, without Numba.

Of an array C is given its owner and parent, for which nothing is passed, then size, bytes of an item, address, shape and strides;
of a tuple what it holds, one after the other.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

__all__ = ["can_be_passed", "describe_kinds", "kind_of", "passing"]

_C, _F, _ALIGNED, _WRITEABLE = 1, 2, 0x100, 0x400  # of NumPy's flags as one number
_KINDS = "biufc"  # of items; those with fields are described by more than their letters
_ARRAYS = (np.ndarray, np.memmap)
_SIGNED, _UNSIGNED = range(-(2**63), 2**63), range(2**64)

_SCALARS: dict[Any, tuple[Any, Callable[[Any], Any]]] = {
    bool: (ctypes.c_bool, bool),
    np.bool_: (ctypes.c_bool, bool),
    int: (ctypes.c_int64, int),
    _UNSIGNED: (ctypes.c_uint64, int),
    np.int64: (ctypes.c_int64, int),
    np.uint64: (ctypes.c_uint64, int),
    float: (ctypes.c_double, float),
    np.float32: (ctypes.c_float, float),
    np.float64: (ctypes.c_double, float),
}


def kind_of(value: Any) -> Any:
    """Return what distinguishes the machine code that takes an argument; it can be a key.

    Two arguments that Numba compiles apart are of two kinds. Of an array these are its type, its axes, and whether its items lie
    side by side, are aligned and may be written.
    """
    if type(value) in _ARRAYS:  # others may hold more, such as a mask
        flags = value.flags.num & (_C | _F | _ALIGNED | _WRITEABLE)
        return value.dtype, value.ndim, flags & ~_F if flags & _C else flags
    kind = type(value)
    if kind is int and value not in _SIGNED:
        return _UNSIGNED if value in _UNSIGNED else object
    return (kind, *map(kind_of, value)) if issubclass(kind, tuple) else kind


def describe_kinds(kinds: Sequence[Any]) -> str:
    """Return a text for kinds of arguments that is the same in every process.

    Examples
    --------
    >>> describe_kinds([kind_of(each) for each in (np.zeros((2, 3)), 1, (1.5, True))])
    '<f8 2 1281, int, tuple(float, bool)'
    """
    return ", ".join(map(_describe, kinds))


def can_be_passed(kinds: Sequence[Any]) -> bool:
    """Tell whether all kinds are of arrays, tuples and numbers that C takes."""
    return all(can_be_passed(kind[1:]) if _is_tuple(kind) else _is_array(kind) or kind in _SCALARS for kind in kinds)


def passing(kinds: Sequence[Any]) -> tuple[list[Any], Callable[[Sequence[Any], list[Any]], None]]:
    """Return what C is told of arguments of these kinds, and a function that appends them to a list as C takes them."""
    types: list[Any] = []
    steps: list[Callable[[Any, list[Any]], None]] = []
    for kind in kinds:
        own, step = _passing_one(kind)
        types += own
        steps.append(step)

    def append(arguments: Sequence[Any], passed: list[Any]) -> None:
        for step, value in zip(steps, arguments, strict=True):
            step(value, passed)

    return types, append


def _passing_one(kind: Any) -> tuple[list[Any], Callable[[Any, list[Any]], None]]:
    if _is_tuple(kind):
        return passing(kind[1:])
    if _is_array(kind):
        return [*[ctypes.c_void_p] * 2, *[ctypes.c_int64] * 2, ctypes.c_void_p, *[ctypes.c_int64] * (2 * kind[1])], _append_array
    of_c, plain = _SCALARS[kind]
    return [of_c], lambda value, passed: passed.append(plain(value))


def _append_array(array: Any, passed: list[Any]) -> None:
    passed += (None, None, array.size, array.itemsize, array.ctypes.data, *array.shape, *array.strides)


def _is_tuple(kind: Any) -> bool:
    return isinstance(kind, tuple) and isinstance(kind[0], type)


def _is_array(kind: Any) -> bool:
    return isinstance(kind, tuple) and isinstance(kind[0], np.dtype) and kind[0].kind in _KINDS


def _describe(kind: Any) -> str:
    return "".join(_words(kind))


def _words(kind: Any) -> Iterator[str]:
    if _is_tuple(kind):
        own = kind[0]
        # Numba names these by their class alone, whose fields may be others in another process.
        yield own.__name__ if own is tuple else f"{own.__module__}.{own.__qualname__}{getattr(own, '_fields', ())}"
        yield f"({describe_kinds(kind[1:])})"
    elif _is_array(kind):
        yield f"{kind[0].str} {kind[1]} {kind[2]}"
    else:
        yield kind.__name__ if isinstance(kind, type) else "uint64"
