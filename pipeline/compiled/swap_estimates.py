"""The loops that estimate gains after swaps: sums of sixteen replicates go from memory to two scores without being stored between.

Written in LLVM's own language, as too many arrays meet in it for a compiler to see that none is another. Each operation is one that
rounds, in a fixed order and never joined to the next, so that an estimate has the same bits on every machine.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from llvmlite import ir

from pipeline.compiled.sizes import ESTIMATES, STATISTICS
from pipeline.compiled.vectors import all_lanes, call, load, repeat, store

__all__ = ["write_estimates", "write_gains"]

_ORDERS = 4

_LEAST_RATIO = 2.0**-100
_SERIES = (1 / 40320, 1 / 5040, 1 / 720, 1 / 120, 1 / 24, 1 / 6, 1 / 2)  # of (e^t − 1 − t) / t², the highest power first

_F32, _I16, _I64 = ir.FloatType(), ir.IntType(16), ir.IntType(64)
_FLOATS, _DOUBLES = ir.VectorType(_F32, ESTIMATES), ir.VectorType(ir.DoubleType(), ESTIMATES)


def _all(value: float) -> Any:
    return ir.Constant(_FLOATS, [ir.Constant(_F32, value)] * ESTIMATES)


def _multiply(builder: Any, sums: Sequence[Any], added: Any) -> Any:
    first, *others = sums
    if added is not None:
        others = [builder.fadd(each, added) for each in others]
    return builder.fmul(builder.fmul(first, others[0]), builder.fmul(others[1], others[2]))


def _score(builder: Any, sums: Sequence[Any], added: Any) -> Any:
    """Write the estimate of `pipeline.metrics._bleu_estimate` from two lengths, four matches and four totals."""
    length, reference = sums[:2]
    matched, counted = (_multiply(builder, sums[at : at + _ORDERS], added) for at in (2, 2 + _ORDERS))
    unknown = _all(float("nan"))
    # One division for the precisions and the brevity penalty.
    inverse = builder.fdiv(_all(1.0), builder.fmul(counted, length))
    ratio = builder.fmul(builder.fmul(matched, length), inverse)
    ratio = builder.select(builder.fcmp_ordered(">=", ratio, _all(_LEAST_RATIO)), ratio, unknown)
    x = builder.fmul(builder.fmul(builder.fsub(length, reference), counted), inverse)
    x = builder.select(builder.fcmp_ordered(">=", x, _all(-1.0)), x, unknown)
    t = builder.fmul(_all(0.5), builder.select(builder.fcmp_ordered(">", x, _all(0.0)), _all(0.0), x))
    tail = _all(_SERIES[0])
    for term in _SERIES[1:]:
        tail = builder.fadd(builder.fmul(tail, t), _all(term))
    root = builder.fadd(_all(1.0), builder.fadd(t, builder.fmul(builder.fmul(t, t), tail)))
    for _ in range(2):
        ratio = call(builder, f"llvm.sqrt.v{ESTIMATES}f32", _FLOATS, ratio)
    return builder.fmul(builder.fmul(_all(100.0), ratio), builder.fmul(root, root))


def write_estimates(builder: Any, given: Sequence[Any]) -> None:
    """Write the loop of `pipeline.compiled.loops.estimate_plain`, or `estimate_added`, where a builder stands."""
    total_a, total_b, a, b, row, out, line, blocks, *added = given
    more = all_lanes(builder, added[0], _FLOATS) if added else None
    totals = [
        [all_lanes(builder, load(builder, base, _I64(4 * k), _F32, 4), _FLOATS) for k in range(STATISTICS)]
        for base in (total_a, total_b)
    ]
    rows = [builder.mul(row, _I64(k)) for k in range(STATISTICS)]

    def block(number: Any, _: Sequence[Any]) -> Sequence[Any]:
        at = builder.mul(number, _I64(4 * ESTIMATES))
        moves = []
        for each in rows:
            place = builder.add(each, at)
            moves.append(builder.fsub(load(builder, b, place, _FLOATS, 4), load(builder, a, place, _FLOATS, 4)))
        one = [builder.fadd(total, move) for total, move in zip(totals[0], moves, strict=True)]
        other = [builder.fsub(total, move) for total, move in zip(totals[1], moves, strict=True)]
        store(builder, _score(builder, one, more), out, at, 4)
        store(builder, _score(builder, other, more), out, builder.add(at, line), 4)
        return []

    repeat(builder, blocks, [], block)


def write_gains(builder: Any, given: Sequence[Any]) -> Any:
    """Write the loop of `pipeline.compiled.loops.subtract_estimates` where a builder stands; ``given`` are its arguments."""
    a, b, blocks, error, *limits, gains, doubts = given
    share, *ends = [all_lanes(builder, value, _DOUBLES) for value in (error, *limits)]

    def block(number: Any, carried: Sequence[Any]) -> Sequence[Any]:
        at = builder.mul(number, _I64(4 * ESTIMATES))
        one, other = (builder.fpext(load(builder, base, at, _FLOATS, 4), _DOUBLES) for base in (a, b))
        gain = builder.fsub(one, other)
        store(builder, gain, gains, builder.mul(number, _I64(8 * ESTIMATES)), 8)
        size = builder.fadd(*(call(builder, f"llvm.fabs.v{ESTIMATES}f64", _DOUBLES, each) for each in (one, other)))
        reach = builder.fmul(share, size)
        least, most = builder.fsub(gain, reach), builder.fadd(gain, reach)
        sure = [
            builder.or_(builder.fcmp_ordered("<", most, low), builder.fcmp_ordered(">", least, high))
            for low, high in zip(ends[:3], ends[3:], strict=True)
        ]
        doubt = builder.not_(builder.bitcast(builder.and_(builder.and_(sure[0], sure[1]), sure[2]), _I16))
        store(builder, doubt, doubts, builder.mul(number, _I64(2)), 2)
        return [builder.or_(carried[0], doubt)]

    (found,) = repeat(builder, blocks, [_I16(0)], block)
    return builder.zext(found, _I64)
