"""The kernels of products in bytes, one for each form: numbers in, sums of 32 bits out.

Numba does not choose these instructions by itself: the innermost loop of each form is from `pipeline.compiled.loops`. Each form
has a kernel of its own, so that the compiled code of one form, kept on disk, is never taken for another's. The kernel of AMX
is in `pipeline.resampling.products.tile_product`, because it needs another layout of columns.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from pipeline.compiled.bare import bare_kernel
from pipeline.compiled.loops import byte_dot
from pipeline.compiled.small_work import is_at_hand
from pipeline.resampling.products.contract import largest_magnitude
from pipeline.resampling.products.tile_product import fill_by_tiles, multiply_tiles

__all__ = ["FORMS", "KERNELS", "is_kernel_at_hand"]

FORMS = ("amx", "vnni-512", "vnni-256", "arm-i8mm", "avx2")
"""By preference: none is tried where a processor has an earlier one."""

Counts = NDArray[np.uint8]

# Columns at a time: as many as leave registers for the counts and a column, 32 of 512 bits, 16 of 256, 32 of 128.
_FULL_512, _FOUR_512, _ONE_512 = (byte_dot("vnni-512", 16, columns) for columns in (12, 4, 1))
_FULL_256, _ONE_256 = (byte_dot("vnni-256", 8, columns) for columns in (6, 1))
_FULL_ARM, _ONE_ARM = (byte_dot("arm-i8mm", 4, columns) for columns in (12, 1))
_SIX_AVX2, _ONE_AVX2 = (byte_dot("avx2", 8, columns) for columns in (6, 1))


@bare_kernel
def _multiply_512(counts: Counts, digits: NDArray[np.int8], out: NDArray[np.int32]) -> None:
    quads, block = counts.shape[1], counts.shape[1] * 64
    width, across, column = digits.shape[1], 4 * out.shape[1], 0
    while column < len(digits):
        left = len(digits) - column
        step = 12 if left >= 12 else (4 if left >= 4 else 1)
        for first in range(0, counts.shape[0], 2):
            p, s = counts.ctypes.data + first * block, digits.ctypes.data + column * width
            o = out.ctypes.data + column * across + 64 * first
            if step == 12:
                _FULL_512(p, block, 64, s, width, quads, o, across)
            elif step == 4:
                _FOUR_512(p, block, 64, s, width, quads, o, across)
            else:
                _ONE_512(p, block, 64, s, width, quads, o, across)
        column += step


@bare_kernel
def _multiply_256(counts: Counts, digits: NDArray[np.int8], out: NDArray[np.int32]) -> None:
    quads, block = counts.shape[1], counts.shape[1] * 64
    width, across, column = digits.shape[1], 4 * out.shape[1], 0
    while column < len(digits):
        step = 6 if len(digits) - column >= 6 else 1
        for first in range(counts.shape[0]):
            p, s = counts.ctypes.data + first * block, digits.ctypes.data + column * width
            o = out.ctypes.data + column * across + 64 * first
            if step == 6:
                _FULL_256(p, 32, 64, s, width, quads, o, across)
            else:
                _ONE_256(p, 32, 64, s, width, quads, o, across)
        column += step


@bare_kernel
def _multiply_arm(counts: Counts, digits: NDArray[np.int8], out: NDArray[np.int32]) -> None:
    quads, block = counts.shape[1], counts.shape[1] * 64
    width, across, column = digits.shape[1], 4 * out.shape[1], 0
    while column < len(digits):
        step = 12 if len(digits) - column >= 12 else 1
        for half in range(2 * counts.shape[0]):
            p, s = counts.ctypes.data + half // 2 * block + half % 2 * 32, digits.ctypes.data + column * width
            o = out.ctypes.data + column * across + 32 * half
            if step == 12:
                _FULL_ARM(p, 16, 64, s, width, quads, o, across)
            else:
                _ONE_ARM(p, 16, 64, s, width, quads, o, across)
        column += step


_MOST_IN_16 = 2**15 - 1
_SURE = 2**6  # where this many quads fit even with counts of 255, finding the largest count costs more than it saves


def _multiply_avx2(counts: Counts, digits: NDArray[np.int8], out: NDArray[np.int32]) -> None:
    """Multiply by two instructions in place of one: products are added in 16 bits as long as these hold them, then in 32."""
    size = max(largest_magnitude(digits), 1)
    quads = _MOST_IN_16 // (2 * 255 * size)
    if quads < _SURE:
        most = max(int(counts.max()), 1)
        quads = _MOST_IN_16 // (2 * most * size)
    if quads:
        out[: len(digits)] = 0
        _add_avx2(counts, digits, out, quads)
        return
    # Pairs of products would be cut off at the largest of 16 bits: counts above 127 are halved.
    _multiply_avx2(np.right_shift(counts, 1, dtype=np.uint8), digits, out)
    out[: len(digits)] *= 2
    _add_avx2(np.bitwise_and(counts, 1, dtype=np.uint8), digits, out, _MOST_IN_16 // (2 * size))


@bare_kernel
def _add_avx2(counts: Counts, digits: NDArray[np.int8], out: NDArray[np.int32], most: int) -> None:
    quads, block = counts.shape[1], counts.shape[1] * 64
    width, across = digits.shape[1], 4 * out.shape[1]
    for first in range(counts.shape[0]):
        for quad in range(0, quads, most):
            few = min(most, quads - quad)
            p, column = counts.ctypes.data + first * block + 64 * quad, 0
            while column < len(digits):
                step = 6 if len(digits) - column >= 6 else 1
                s = digits.ctypes.data + column * width + 4 * quad
                o = out.ctypes.data + column * across + 64 * first
                if step == 6:
                    _SIX_AVX2(p, 32, 64, s, width, few, o, across)
                else:
                    _ONE_AVX2(p, 32, 64, s, width, few, o, across)
                column += step


KERNELS: dict[str, Callable[[Counts, NDArray[np.int8], NDArray[np.int32]], None]] = {
    "amx": multiply_tiles,
    "vnni-512": _multiply_512,
    "vnni-256": _multiply_256,
    "arm-i8mm": _multiply_arm,
    "avx2": _multiply_avx2,
}


def is_kernel_at_hand(form: str, counts: Counts, digits: NDArray[np.int8], out: NDArray[np.int32]) -> bool:
    """Tell whether the kernel of a form is compiled, here or on disk, for arrays like these."""
    if form == "avx2":
        return is_at_hand(_add_avx2, counts, digits, out, 1)
    return is_at_hand(fill_by_tiles if form == "amx" else KERNELS[form], counts, digits, out)
