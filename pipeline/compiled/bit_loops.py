"""Bits of several replicates side by side: how many of two systems differ, and what turns rows of bits into columns.

LLVM counts the bits of whole vectors in one instruction where the processor has it, and by a table of halves of bytes where not.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from llvmlite import ir

from pipeline.compiled.sizes import BITS_SIDE_BY_SIDE
from pipeline.compiled.vectors import all_lanes, call, load, repeat, store

__all__ = ["write_differing", "write_exchange"]

_I16, _I64 = ir.IntType(16), ir.IntType(64)
_WORDS = ir.VectorType(_I64, BITS_SIDE_BY_SIDE)
_STEP = 8 * BITS_SIDE_BY_SIDE  # bytes from a word to the next


def write_differing(builder: Any, given: Sequence[Any]) -> None:
    """Write the loop of `pipeline.compiled.loops.count_differing` where a builder stands; ``given`` are its arguments."""
    one, words, others, out = given[0], given[4], given[1:4], given[5:]
    nothing = ir.Constant(_WORDS, [0] * _WORDS.count)

    def add(number: Any, carried: Sequence[Any]) -> Sequence[Any]:
        at = builder.mul(number, _I64(_STEP))
        bits = load(builder, one, at, _WORDS, 8)  # once for all it is compared with
        differing = [builder.xor(bits, load(builder, other, at, _WORDS, 8)) for other in others]
        counts = [call(builder, f"llvm.ctpop.v{_WORDS.count}i64", _WORDS, each) for each in differing]
        return [builder.add(before, count) for before, count in zip(carried, counts, strict=True)]

    for place, found in zip(out, repeat(builder, words, [nothing] * len(others), add), strict=True):
        store(builder, builder.trunc(found, ir.VectorType(_I16, _WORDS.count)), place, _I64(0), 2)


def write_exchange(builder: Any, given: Sequence[Any]) -> None:
    """Write what `pipeline.compiled.loops.exchange_bits` does where a builder stands; ``given`` are its arguments."""
    low, high, by, mask = given
    by, mask = (all_lanes(builder, value, _WORDS) for value in (by, mask))
    first, second = (load(builder, base, _I64(0), _WORDS, 8) for base in (low, high))
    moved = builder.and_(builder.xor(builder.lshr(first, by), second), mask)
    store(builder, builder.xor(second, moved), high, _I64(0), 8)
    store(builder, builder.xor(first, builder.shl(moved, by)), low, _I64(0), 8)
