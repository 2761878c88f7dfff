"""Loops over the gains of a pair that Numba would not write as well: sums in registers, bins told apart as bytes.

They are written in LLVM's own language with vectors as long as the accumulators of a sum; LLVM makes of them what a processor has.
Nothing is reordered: each operation is the one that a loop over single numbers would do, so that no bit depends on them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from pipeline.compiled.vectors import add_lanes, all_lanes, call, load, repeat, store

__all__ = ["FINER", "GROUP", "LANES", "count_bins", "lowest_bit", "walk_gains"]

LANES = 32
"""Replicates at a time, each with an accumulator of its own."""

FINER = 256
"""Parts of a bin that thresholds are compared by."""

GROUP = 256
"""Replicates that `count_bins` takes at a time; it counts in bytes, and so at most 255 groups of `LANES` of them."""

_TOGETHER = 4  # bins that are counted while their replicates are in registers

_BIT, _I8, _I16, _I32, _I64, _F64 = (*(ir.IntType(bits) for bits in (1, 8, 16, 32, 64)), ir.DoubleType())
_BITS, _BYTES, _SHORTS, _INTS, _DOUBLES = (ir.VectorType(each, LANES) for each in (_BIT, _I8, _I16, _I32, _F64))


def _write_walk(builder: Any, given: Sequence[Any]) -> Any:
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


def _walk_gains(
    typing: Any, a: Any, b: Any, times: Any, lanes: Any, center: Any, scale: Any, middle: Any, last: Any,
    limit_0: Any, limit_1: Any, limit_2: Any, width: Any, bins: Any, doubts: Any, found: Any,
) -> Any:  # fmt: skip
    """Sum the gains a − b of some replicates, find their bins, and count those that are surely below three limits.

    A gain x has the part trunc(min(max((x − center) · scale + middle, 0), last)), of which `FINER` are a bin. It is below a limit
    where its part is, and doubtful where it is less than ``width`` + 1 parts above. A nan stays in the sums: nothing is then added.

    Parameters
    ----------
    a, b : address of float64
    times : int
        `LANES` of replicates, ≥ 1.
    lanes : address of (3, LANES) float64
        Σ (x − center), Σ (x − center)² and Σ |x| so far.
    center, scale, middle, last : float
        ``last`` is below 2¹⁵.
    limit_0, limit_1, limit_2, width : int
        Parts.
    bins : address of (replicate,) uint8
        Filled.
    doubts : address of (times,) uint32
        Filled: a bit for each replicate that is doubtful.
    found : address of (5,) int64
        Filled: how many are below each limit, and the lowest and the highest bin.

    Returns
    -------
    int
        How many are doubtful; −1 where a gain is nan, and nothing holds.
    """

    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        return _write_walk(builder, given)

    whole, real = types.int64, types.float64
    return whole(*[whole] * 4, *[real] * 4, *[whole] * 7), generate


def _write_bins(builder: Any, given: Sequence[Any]) -> None:
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


def _count_bins(typing: Any, bins: Any, groups: Any, first: Any, fours: Any, histogram: Any) -> Any:
    """Add to a histogram how often some bins occur: quicker than looking every replicate's place up, as most bins are few.

    Parameters
    ----------
    bins : address of (groups · GROUP,) uint8
    groups : int
        1 … 31.
    first, fours : int
        The first bin, and how many fours of bins; others do not occur.
    histogram : address of uint16
        Of bin 0.
    """

    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        _write_bins(builder, given)
        return context.get_dummy_value()

    return types.void(*[types.int64] * 5), generate


def _lowest_bit(typing: Any, bits: Any) -> Any:
    """Return the place of the lowest bit that is set, of a number of 64 bits that is not 0."""

    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        return call(builder, "llvm.cttz.i64", _I64, given[0], _BIT(1))

    return types.int64(types.uint64), generate


walk_gains: Any = intrinsic(_walk_gains)
count_bins: Any = intrinsic(_count_bins)
lowest_bit: Any = intrinsic(_lowest_bit)
