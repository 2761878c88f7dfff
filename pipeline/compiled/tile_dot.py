"""Products of bytes by the tiles of AMX: 16 columns times 16 replicates over 64 units in one instruction.

A tile is a register of up to 16 rows of 64 bytes. `tdpbsud` adds to a tile of sums the products of a tile of signed and one of
unsigned bytes, four of each to a sum. How many rows and bytes each tile has is set by `ldtilecfg`, which every thread does for
itself before its first tile instruction; `tilerelease` gives the registers back. All of that is in one loop here, so that nothing
else runs in between.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from llvmlite import ir

from pipeline.compiled.sizes import TILE, VECTORS
from pipeline.compiled.vectors import repeat

__all__ = ["write_tile_dot"]

_I8, _I64 = ir.IntType(8), ir.IntType(64)
_BYTES = _I8.as_pointer()

_ROW = 64  # bytes


def _call(builder: Any, name: str, *given: Any) -> None:
    """Call an intrinsic of LLVM that gives nothing; numbers of tiles are constants."""
    name, arguments = f"llvm.x86.{name}", [_I8(each) if isinstance(each, int) else each for each in given]
    function = ir.FunctionType(ir.VoidType(), [each.type for each in arguments])
    builder.call(builder.module.globals.get(name) or ir.Function(builder.module, function, name), arguments)


def write_tile_dot(builder: ir.IRBuilder, given: Sequence[Any], panels: int) -> None:
    """Write the loop of `pipeline.compiled.loops.tile_dot` where a builder stands; ``given`` are its arguments."""
    shapes, digits, steps, counts, last, block, times, out, across = given
    at = lambda base, *more: builder.inttoptr(_sum(builder, base, *more), _BYTES)  # noqa: E731
    drawn = [VECTORS * panels + panels + vector for vector in range(VECTORS)]  # tiles: sums first, then digits, then counts
    columns = [VECTORS * panels + panel for panel in range(panels)]
    _call(builder, "ldtilecfg", at(shapes))

    def multiply(number: Any, _: Sequence[Any]) -> Sequence[Any]:
        first = builder.mul(number, _I64(VECTORS))
        start = builder.add(counts, builder.mul(first, block))
        for sums in range(VECTORS * panels):
            _call(builder, "tilezero", sums)

        def step(number: Any, _: Sequence[Any]) -> Sequence[Any]:
            tile = builder.mul(number, _I64(TILE * _ROW))
            # The last step ends with the block, and has some units again: those digits are 0.
            row = builder.select(builder.icmp_unsigned("<", tile, last), tile, last)
            for vector, target in enumerate(drawn):
                _call(builder, "tileloadd64", target, at(start, row, builder.mul(block, _I64(vector))), _I64(_ROW))
            for panel, target in enumerate(columns):
                before = builder.mul(steps, _I64(panel * TILE * _ROW))
                _call(builder, "tileloadd64", target, at(digits, tile, before), _I64(_ROW))
                for vector, other in enumerate(drawn):
                    _call(builder, "tdpbsud", VECTORS * panel + vector, target, other)
            return []

        repeat(builder, steps, [], step)
        for panel in range(panels):
            row = builder.mul(across, _I64(panel * TILE))
            for vector in range(VECTORS):
                place = builder.mul(builder.add(first, _I64(vector)), _I64(_ROW))
                _call(builder, "tilestored64", VECTORS * panel + vector, at(out, row, place), across)
        return []

    repeat(builder, times, [], multiply)
    _call(builder, "tilerelease")


def _sum(builder: Any, first: Any, *more: Any) -> Any:
    for each in more:
        first = builder.add(first, each)
    return first
