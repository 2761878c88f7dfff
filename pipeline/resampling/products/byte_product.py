"""Counts times statistics in bytes: exact sums in 32 bits, four multiply-adds an instruction and lane.

Processors since 2019 multiply four unsigned bytes by four signed ones and add the products to an integer of 32 bits, in one
instruction: `vpdpbusd` of AVX-512 VNNI and AVX-VNNI, `usdot` of ARM's i8mm. That is four to five times as fast as single
precision, and exact whatever the order: a sum of n_draws counts times a digit stays below 2³¹ up to 2²⁴ draws. Older ones with
AVX2 add two products to an integer of 16 bits (`vpmaddubsw`), two to four times as fast as single precision: counts and digits tell
how many such sums fit before they are added to those of 32 bits.

`pipeline.resampling.products.byte_kernels` has a kernel for each of these forms. `forms` finds out, once in each process, which of
them the processor has and whether they give the right sums.

Counts are laid out as the instruction needs them: (block, quad, lane, 4), four units of sixteen replicates side by side. The tiles
of AMX hold them in the same way; their one instruction, `tdpbsud`, multiplies sixteen columns by sixteen quads and replicates.
"""

from __future__ import annotations

import functools
import os
import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.compiled.bare import bare_kernel
from pipeline.compiled.sizes import TILE, VECTORS
from pipeline.compiled.small_work import FewSoFar
from pipeline.compiled.target import can_compile, knows_partial_sums
from pipeline.compiled.tile_permission import may_use_tiles
from pipeline.dataclass import dataclass
from pipeline.resampling.products.byte_kernels import FORMS, KERNELS, Counts, is_kernel_at_hand
from pipeline.resampling.products.contract import FORM_VARIABLE
from pipeline.resampling.products.tile_product import lay_tiles

__all__ = [
    "LANES",
    "MOST_DRAWS",
    "ByteColumns",
    "blocks_of",
    "forms",
    "is_usable",
    "lay_out",
    "multiply_bytes",
    "pack_counts",
    "quads_of",
    "take_units",
    "times_digits",
    "unpack_counts",
]

LANES = 16
"""Replicates side by side in a block."""

MOST_DRAWS = 2**24
"""Draws of a replicate up to which sums of digits stay below 2³¹: nothing is multiplied in bytes where there are more."""

_TYPES: tuple[np.dtype[Any], ...] = np.dtype(np.uint8), np.dtype(np.int8), np.dtype(np.int32)
_TILES = "amx"  # the form for which columns lie in tiles


def quads_of(units: int) -> int:
    """Return how many groups of four units there are, the last one filled up.

    Examples
    --------
    >>> quads_of(8), quads_of(9)
    (2, 3)
    """
    return -(-units // 4)


def blocks_of(replicates: int) -> int:
    """Return how many blocks hold this many replicates.

    Examples
    --------
    >>> blocks_of(32), blocks_of(33)
    (2, 4)
    """
    return -(-replicates // (LANES * VECTORS)) * VECTORS


@dataclass(frozen=True, eq=False)
class ByteColumns:
    """Columns of signed bytes as a form takes them, from `lay_out`.

    Parameters
    ----------
    form : str
        One of `forms`.
    columns : int
    quads : int
        Groups of four units.
    laid : int8
        (column, 4 · quad), or (panel, step, 16, 64) for the tiles of AMX; 0 beyond the last unit.
    """

    form: str
    columns: int
    quads: int
    laid: NDArray[np.int8]


def multiply_bytes(counts: Counts, digits: ByteColumns, *, out: NDArray[np.int32] | None = None) -> NDArray[np.int32]:
    """Return (column, replicate) sums of columns over counts.

    Parameters
    ----------
    counts : (block, quad, 16, 4) uint8
        From `pack_counts` or `pipeline.resampling.draws.draw_counts`; aligned to 64 bytes.
    digits : ByteColumns
    out : (≥ column, 16 · block) int32, optional
    """
    laid = digits.laid
    types = counts.dtype, laid.dtype, _TYPES[2] if out is None else out.dtype
    if types != _TYPES:  # from here on there are only addresses
        raise ValueError(f"counts are uint8, columns int8 and sums int32, not {', '.join(map(str, types))}")
    if counts.shape[1] != digits.quads or counts.shape[0] % VECTORS or counts.shape[2:] != (LANES, 4):
        raise ValueError(f"counts {counts.shape} and columns of {digits.quads} quads are not of the same units")
    if laid.shape != _shape_of(digits.form, digits.columns, digits.quads):
        raise ValueError(f"{digits.columns} columns of {digits.quads} quads do not lie in {laid.shape} for {digits.form}")
    if (counts.size and counts.ctypes.data % 64) or not (counts.flags.c_contiguous and laid.flags.c_contiguous):
        raise ValueError("counts lie at a multiple of 64 bytes, and counts and columns without gaps")
    shape = (digits.columns, LANES * counts.shape[0])
    if out is None:
        out = np.empty(shape, np.int32)
    if out.shape[0] < shape[0] or out.shape[1] != shape[1] or not out.flags.c_contiguous:
        raise ValueError(f"out holds {out.shape} sums, {shape} are made")
    found = out[: digits.columns]
    if counts.size == 0:  # the innermost loop runs once at least
        found[:] = 0
    else:
        KERNELS[digits.form](counts, laid, found)
    return found


def zero_counts(replicates: int, units: int) -> Counts:
    """Return (block, quad, 16, 4) zeros for this many replicates, aligned to 64 bytes."""
    return _aligned((blocks_of(replicates), quads_of(units), LANES, 4), np.uint8)


def lay_out(columns: NDArray[np.integer], form: str) -> ByteColumns:
    """Return (column, unit) numbers of −128 … 127 as `multiply_bytes` takes them, with zeros up to a whole quad."""
    quads = quads_of(columns.shape[1])
    rows = np.zeros((len(columns), 4 * quads), np.int8)
    rows[:, : columns.shape[1]] = columns
    if form != _TILES:
        return ByteColumns(form, len(columns), quads, rows)
    laid = _aligned(_shape_of(form, len(columns), quads), np.int8)
    lay_tiles(rows, laid)
    return ByteColumns(form, len(columns), quads, laid)


def times_digits(columns: ByteColumns, digits: NDArray[np.int8]) -> ByteColumns:
    """Return columns of 0 and 1 times (digit, unit) numbers: all columns for the first digit, then all for the next.

    Each digit has as many columns as `ByteColumns.columns` says; in tiles, columns of 0 fill up the last tile.
    """
    form, quads, rows = columns.form, columns.quads, lay_out(digits, columns.form).laid
    if form != _TILES:
        laid = (rows[:, None] * columns.laid).reshape(-1, rows.shape[1])
        return ByteColumns(form, len(laid), quads, laid)
    panels, steps = columns.laid.shape[:2]
    of_digit = rows.transpose(0, 2, 1, 3).reshape(-1, 1, steps, 1, 4 * TILE)[: len(digits)]
    laid = np.multiply(of_digit, columns.laid, order="C").reshape(-1, *columns.laid.shape[1:])
    return ByteColumns(form, len(digits) * panels * TILE, quads, laid)


def _shape_of(form: str, columns: int, quads: int) -> tuple[int, ...]:
    """Return the shape in which this many columns are laid out."""
    return (-(-columns // TILE), -(-quads // TILE), TILE, 4 * TILE) if form == _TILES else (columns, 4 * quads)


def _aligned(shape: tuple[int, ...], kind: type[Any]) -> NDArray[Any]:
    """Return zeros of one byte each, aligned to 64 bytes."""
    size = int(np.prod(shape))
    held = np.zeros(size + 64, kind)
    start = -held.ctypes.data % 64
    return held[start : start + size].reshape(shape)


@bare_kernel
def take_units(counts: Counts, units: NDArray[np.int64], out: Counts) -> None:
    """Copy the counts of some units, in their order; the rest of the last quad stays as it is.

    Parameters
    ----------
    counts : (block, quad, 16, 4) uint8
    units : (some unit,) int64
    out : (block, quad of some units, 16, 4) uint8
    """
    for block in range(counts.shape[0]):
        for place in range(len(units)):
            unit = units[place]
            source, target = counts[block, unit // 4], out[block, place // 4]
            for lane in range(LANES):
                target[lane, place % 4] = source[lane, unit % 4]


def forms() -> tuple[str, ...]:
    """Return the forms that kernels may have here and that give the right sums, the best first; none on many processors."""
    return tuple(form for form in FORMS if is_usable(form))


@functools.cache
def is_usable(form: str) -> bool:
    """Tell whether kernels are compiled for a processor that has a form, and whether it gives the right sums of small numbers."""
    return has_form(form) and _is_right(form)


def has_form(form: str) -> bool:
    """Tell whether kernels are compiled for a processor that has a form."""
    has = {
        _TILES: can_compile("amx-int8", "amx-tile") and may_use_tiles(),
        "vnni-512": can_compile("avx512vnni", "avx512f"),
        # Without AVX-512 the same instruction has another encoding, which LLVM chooses.
        "vnni-256": can_compile("avxvnni") or can_compile("avx512vnni", "avx512vl"),
        "arm-i8mm": can_compile("i8mm") and knows_partial_sums(),
        "avx2": can_compile("avx2"),
    }
    return has[form]


_is_little = FewSoFar(2**33 - 1, 2**34, at_hand=lambda: _is_at_hand())
"""Multiply-adds of a pass, and of all that came before, for which what single precision costs is less than to have the kernels
compiled once. Where they are kept on disk, a sixteenth of that."""


def is_form_asked() -> bool:
    """Tell whether the environment names a form; ``float`` is one."""
    return bool(os.environ.get(FORM_VARIABLE, ""))


def choose_form(work: int) -> str | None:
    """Return the form to use for this many multiply-adds; None for floats.

    Raises
    ------
    ValueError
        If the environment asks for a form that this processor does not have.
    """
    asked = os.environ.get(FORM_VARIABLE, "")
    if not asked:
        return None if _is_little(work) else next(filter(is_usable, FORMS), None)
    if asked == "float":
        return None
    if asked not in forms():
        raise ValueError(f"{FORM_VARIABLE} is {asked!r}; here it may be {', '.join((*forms(), 'float'))}")
    return asked


def _is_at_hand() -> bool:
    """Tell whether the kernel of the form that this processor would take is compiled."""
    form = next(filter(has_form, FORMS), None)
    if form is None:
        return False
    counts, laid = zero_counts(1, 1), np.zeros(_shape_of(form, 1, 1), np.int8)
    return is_kernel_at_hand(form, counts, laid, np.empty((1, LANES * len(counts)), np.int32))


def _is_right(form: str) -> bool:
    rng = np.random.Generator(np.random.Philox(1))
    # More than two panels of tiles, the last one short, and more than two steps, the last one over quads of the one before.
    counts, columns = rng.integers(0, 256, (64, 133)), rng.integers(-128, 128, (45, 133))
    try:
        found = multiply_bytes(pack_counts(counts.astype(np.float32)), lay_out(columns, form))
    except Exception as error:  # other versions of LLVM may raise anything for code that they do not know
        warnings.warn(f"products in bytes by {form} are not made here: {error}", RuntimeWarning, stacklevel=3)
        return False
    return np.array_equal(found, columns @ counts.T)


def pack_counts(weights: NDArray[np.floating] | NDArray[np.uint8]) -> Counts:
    """Return (replicate, unit) counts of 0 … 255 as `multiply_bytes` takes them, with zeros up to whole blocks and quads."""
    replicates, units = weights.shape
    packed = zero_counts(replicates, units)
    rows = np.zeros((LANES * packed.shape[0], 4 * packed.shape[1]), np.uint8)
    rows[:replicates, :units] = weights
    # Four units at a time, which stay side by side.
    packed.view(np.uint32)[..., 0] = rows.view(np.uint32).reshape(packed.shape[0], LANES, packed.shape[1]).transpose(0, 2, 1)
    return packed


def unpack_counts(packed: Counts, replicates: int, units: int) -> NDArray[np.uint8]:
    """Return the (replicate, unit) counts that `pack_counts` has laid out; also those of `draw_counts`, without drawing again."""
    blocks, quads = packed.shape[:2]
    rows = np.ascontiguousarray(packed.view(np.uint32)[..., 0].transpose(0, 2, 1)).view(np.uint8)
    return np.ascontiguousarray(rows.reshape(LANES * blocks, 4 * quads)[:replicates, :units])
