"""Loops over whole gains that fit in a byte: their distances from the observed gain, and how many lie below each of some cuts.

They are written in LLVM's own language, as those of `pipeline.compiled.gain_loops`: Numba computes with whole numbers of 64 bits,
where bytes let a processor compare 64 gains at a time. All of it is exact, so that no order of additions matters.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from llvmlite import ir

from pipeline.compiled.sizes import BLOCK, CUTS
from pipeline.compiled.vectors import add_lanes, all_lanes, call, load, repeat, store

__all__ = ["write_below", "write_distances"]

_LOWEST, _HIGHEST = -128, 127

_I8, _I16, _I32, _I64 = (ir.IntType(bits) for bits in (8, 16, 32, 64))
_BYTES, _SHORTS, _INTS = ir.VectorType(_I8, BLOCK), ir.VectorType(_I16, BLOCK // 2), ir.VectorType(_I32, BLOCK // 2)


def _shorts(value: int) -> Any:
    return ir.Constant(_SHORTS, [value] * (BLOCK // 2))


def _of_shorts(builder: Any, name: str, *given: Any) -> Any:
    return call(builder, f"llvm.{name}.v{BLOCK // 2}i16", _SHORTS, *given)


def write_distances(builder: Any, given: Sequence[Any]) -> None:
    """Write the loop of `pipeline.compiled.loops.take_distances` where a builder stands; ``given`` are its arguments."""
    a, b, blocks, center, distances, found = given
    middle = all_lanes(builder, builder.trunc(center, _I16), _SHORTS)
    zero_gain = builder.sub(_shorts(0), middle)

    def step(number: Any, carried: Sequence[Any]) -> Sequence[Any]:
        total, squares, negative, lowest, highest = carried
        halves, squared = [], []
        for half in range(2):
            at = builder.add(builder.mul(number, _I64(2 * BLOCK)), _I64(half * BLOCK))
            gain = builder.sub(load(builder, a, at, _SHORTS, 2), load(builder, b, at, _SHORTS, 2))
            far = _of_shorts(builder, "ssub.sat", gain, middle)
            near = _of_shorts(builder, "smin", _of_shorts(builder, "smax", far, _shorts(_LOWEST)), _shorts(_HIGHEST))
            total = builder.add(total, near)
            negative = builder.add(negative, _of_shorts(builder, "smin", builder.sub(near, zero_gain), _shorts(0)))
            lowest, highest = _of_shorts(builder, "smin", lowest, near), _of_shorts(builder, "smax", highest, near)
            squared.append(builder.mul(near, near))
            halves.append(builder.trunc(near, ir.VectorType(_I8, BLOCK // 2)))
        # Two squares are at most 2¹⁵, which is a number of 16 bits without a sign.
        squares = builder.add(squares, builder.zext(builder.add(*squared), _INTS))
        for half, some in enumerate(halves):
            store(builder, some, distances, builder.add(builder.mul(number, _I64(BLOCK)), _I64(half * BLOCK // 2)), 1)
        return [total, squares, negative, lowest, highest]

    none = _shorts(0)
    start = [none, ir.Constant(_INTS, [0] * (BLOCK // 2)), none, _shorts(_HIGHEST), _shorts(_LOWEST)]
    total, squares, negative, lowest, highest = repeat(builder, blocks, start, step)
    sums = [builder.sext(total, _INTS), squares, builder.sext(negative, _INTS)]
    ends = [
        call(builder, f"llvm.vector.reduce.{name}.v{BLOCK // 2}i16", _I16, end)
        for name, end in (("smin", lowest), ("smax", highest))
    ]
    numbers = [builder.sext(add_lanes(builder, each), _I64) for each in sums] + [builder.sext(end, _I64) for end in ends]
    for place, value in enumerate(numbers):
        store(builder, value, found, _I64(8 * place), 8)


def write_below(builder: Any, given: Sequence[Any]) -> None:
    """Write the loop of `pipeline.compiled.loops.count_below`."""
    distances, blocks, cuts, fours, below = given
    # Half a block at a time: a comparison of 256 bits gives bytes, one of 512 bits gives bits, which cost another step.
    some_bytes = ir.VectorType(_I8, BLOCK // 2)

    def four(number: Any, _: Sequence[Any]) -> Sequence[Any]:
        place = builder.mul(number, _I64(CUTS))
        each = [builder.add(place, _I64(cut)) for cut in range(CUTS)]
        names = [all_lanes(builder, load(builder, cuts, at, _I8, 1), some_bytes) for at in each]

        def block(number: Any, counts: Sequence[Any]) -> Sequence[Any]:
            counts = list(counts)
            for half in range(2):
                at = builder.add(builder.mul(number, _I64(BLOCK)), _I64(half * BLOCK // 2))
                some = load(builder, distances, at, some_bytes, 1)
                less = [builder.sext(builder.icmp_signed("<", some, name), some_bytes) for name in names]
                counts = [builder.sub(count, minus) for count, minus in zip(counts, less, strict=True)]
            return counts

        counts = repeat(builder, blocks, [ir.Constant(some_bytes, [0] * (BLOCK // 2))] * CUTS, block)
        for at, count in zip(each, counts, strict=True):
            total = add_lanes(builder, builder.zext(count, _SHORTS))
            place = builder.mul(at, _I64(2))
            store(builder, builder.add(load(builder, below, place, _I16, 2), total), below, place, 2)
        return []

    repeat(builder, fours, [], four)
