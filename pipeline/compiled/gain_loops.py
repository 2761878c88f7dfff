"""Loops over the gains of a pair that Numba would not write as well: sums in registers, bins told apart as bytes.

They are written in LLVM's own language with vectors as long as the accumulators of a sum; LLVM makes of them what a processor has.
Nothing is reordered: each operation is the one that a loop over single numbers would do, so that no bit depends on them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from llvmlite import ir

from pipeline.compiled.sizes import GROUP, LANES
from pipeline.compiled.vectors import add_lanes, all_lanes, call, load, repeat, store

__all__ = ["write_bins", "write_lowest_bit", "write_walk"]

_TOGETHER = 4  # bins that are counted while their replicates are in registers

_BIT, _I8, _I16, _I32, _I64, _F64 = (*(ir.IntType(bits) for bits in (1, 8, 16, 32, 64)), ir.DoubleType())
_BITS, _BYTES, _SHORTS, _INTS, _DOUBLES = (ir.VectorType(each, LANES) for each in (_BIT, _I8, _I16, _I32, _F64))


def write_walk(builder: Any, given: Sequence[Any]) -> Any:
    """Write the loop of `pipeline.compiled.loops.walk_gains` where a builder stands; ``given`` are its arguments."""
    a, b, times, lanes, center, scale, middle, last, *limits, width, bins, doubts, less = given
    numbers = [all_lanes(builder, value, _DOUBLES) for value in (center, scale, middle, last)]
    edges = [all_lanes(builder, builder.trunc(value, _I16), _SHORTS) for value in (*limits, width)]
    zero, none = ir.Constant(_DOUBLES, [0.0] * LANES), ir.Constant(_SHORTS, [0] * LANES)
    shorts = lambda value: ir.Constant(_SHORTS, [value] * LANES)  # noqa: E731

    def step(number: Any, carried: Sequence[Any]) -> Sequence[Any]:
        shifts, squares, sizes, *below, lowest, highest, doubtful = carried
        at = builder.mul(number, _I64(8 * LANES))
        gain = builder.fsub(load(builder, a, at, _DOUBLES, 8), load(builder, b, at, _DOUBLES, 8))
        shift = builder.fsub(gain, numbers[0])
        sums = [
            builder.fadd(shifts, shift),
            builder.fadd(squares, builder.fmul(shift, shift)),
            builder.fadd(sizes, call(builder, f"llvm.fabs.v{LANES}f64", _DOUBLES, gain)),
        ]
        place = builder.fadd(builder.fmul(shift, numbers[1]), numbers[2])
        place = builder.select(builder.fcmp_ordered(">", place, zero), place, zero)
        place = builder.select(builder.fcmp_ordered("<", place, numbers[3]), place, numbers[3])
        part = builder.trunc(builder.fptosi(place, _INTS), _SHORTS)
        beyond = [builder.sub(part, edge) for edge in edges[:3]]  # of numbers below 2^15: negative ones have the highest bit
        below = [builder.add(count, builder.lshr(each, shorts(15))) for count, each in zip(below, beyond, strict=True)]
        smaller = lambda x, y: call(builder, f"llvm.umin.v{LANES}i16", _SHORTS, x, y)  # noqa: E731
        near = builder.icmp_unsigned("<=", smaller(smaller(beyond[0], beyond[1]), beyond[2]), edges[3])
        doubt = builder.bitcast(near, _I32)
        store(builder, doubt, doubts, builder.mul(number, _I64(4)), 4)
        store(builder, builder.trunc(builder.lshr(part, shorts(8)), _BYTES), bins, builder.mul(number, _I64(LANES)), 1)
        highest = call(builder, f"llvm.umax.v{LANES}i16", _SHORTS, highest, part)
        doubtful = builder.add(doubtful, call(builder, "llvm.ctpop.i32", _I32, doubt))
        return [*sums, *below, smaller(lowest, part), highest, doubtful]

    running = [load(builder, lanes, _I64(8 * LANES * each), _DOUBLES, 8) for each in range(3)]
    found = repeat(builder, times, [*running, none, none, none, shorts(2**16 - 1), none, _I32(0)], step)
    sums, below, (lowest, highest, doubtful) = found[:3], found[3:6], found[6:]
    lost = [builder.fcmp_unordered("uno", total, total) for total in sums]
    defined = builder.icmp_unsigned("==", builder.bitcast(builder.or_(builder.or_(lost[0], lost[1]), lost[2]), _I32), _I32(0))
    with builder.if_then(defined):
        for each, total in enumerate(sums):
            store(builder, total, lanes, _I64(8 * LANES * each), 8)
    for each, count in enumerate(below):
        total = add_lanes(builder, count)
        store(builder, builder.zext(total, _I64), less, _I64(8 * each), 8)
    ends = [
        call(builder, f"llvm.vector.reduce.{name}.v{LANES}i16", _I16, end) for name, end in (("umin", lowest), ("umax", highest))
    ]
    for each, end in enumerate(ends):
        store(builder, builder.zext(builder.lshr(end, _I16(8)), _I64), less, _I64(8 * (3 + each)), 8)
    return builder.select(defined, builder.zext(doubtful, _I64), _I64(-1))


def write_bins(builder: Any, given: Sequence[Any]) -> None:
    """Write the loop of `pipeline.compiled.loops.count_bins`."""
    bins, groups, first, fours, histogram = given

    def four(number: Any, _: Sequence[Any]) -> Sequence[Any]:
        own = [builder.add(builder.add(first, builder.mul(number, _I64(_TOGETHER))), _I64(each)) for each in range(_TOGETHER)]
        names = [all_lanes(builder, builder.trunc(each, _I8), _BYTES) for each in own]

        def group(number: Any, counts: Sequence[Any]) -> Sequence[Any]:
            counts = list(counts)
            for vector in range(GROUP // LANES):
                at = builder.add(builder.mul(number, _I64(GROUP)), _I64(vector * LANES))
                some = load(builder, bins, at, _BYTES, 1)
                equal = [builder.zext(builder.icmp_unsigned("==", some, name), _BYTES) for name in names]
                counts = [builder.add(count, more) for count, more in zip(counts, equal, strict=True)]
            return counts

        counts = repeat(builder, groups, [ir.Constant(_BYTES, [0] * LANES)] * _TOGETHER, group)
        for each, count in zip(own, counts, strict=True):
            total = add_lanes(builder, builder.zext(count, _SHORTS))
            at = builder.mul(each, _I64(2))
            store(builder, builder.add(load(builder, histogram, at, _I16, 2), total), histogram, at, 2)
        return []

    repeat(builder, fours, [], four)


def write_lowest_bit(builder: Any, given: Sequence[Any]) -> Any:
    """Write what `pipeline.compiled.loops.lowest_bit` gives."""
    return call(builder, "llvm.cttz.i64", _I64, given[0], _BIT(1))
