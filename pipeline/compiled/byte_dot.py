"""Four unsigned times four signed bytes, added to 32 bits: the innermost loop of such products, written in LLVM's own language.

Numba makes no such instruction of a loop over bytes. An intrinsic is code of one's own in the middle of a kernel: here a loop that
keeps the sums of several columns over two vectors of counts in registers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import llvmlite.binding
from llvmlite import ir

from pipeline.compiled.sizes import VECTORS

__all__ = ["write_dot"]

_I8, _I16, _I32, _I64 = (ir.IntType(bits) for bits in (8, 16, 32, 64))


def _dot(builder: Any, form: str, lanes: int) -> Callable[[Any, Any, Any], Any]:
    """Return what adds the products of 4 × lanes unsigned and signed bytes to as many sums of 32 bits as there are lanes."""
    sums, bytes_ = ir.VectorType(_I32, lanes), ir.VectorType(_I8, 4 * lanes)
    known = builder.module.globals
    if form == "arm-i8mm":
        # What is meant is written out, and LLVM takes usdot for it.
        wide = ir.VectorType(_I32, 4 * lanes)
        name = f"llvm.vector.partial.reduce.add.v{lanes}i32.v{4 * lanes}i32"
        add = known.get(name) or ir.Function(builder.module, ir.FunctionType(sums, [sums, wide]), name)
        return lambda total, counts, digits: builder.call(
            add, [total, builder.mul(builder.zext(counts, wide), builder.sext(digits, wide))]
        )
    name = f"llvm.x86.avx512.vpdpbusd.{32 * lanes}"
    # The bytes were declared as integers of 32 bits before LLVM 22.
    given = bytes_ if llvmlite.binding.llvm_version_info[0] >= 22 else sums
    dot = known.get(name) or ir.Function(builder.module, ir.FunctionType(sums, [sums, given, given]), name)
    return lambda total, counts, digits: builder.call(
        dot, [total, *(x if given is bytes_ else builder.bitcast(x, sums) for x in (counts, digits))]
    )


def _split_dot(builder: Any) -> Callable[[Any, Any, Any], Any]:
    """Return what adds the products of 32 unsigned and signed bytes to 16 sums of 16 bits, two to a sum."""
    sums, bytes_, name = ir.VectorType(_I16, 16), ir.VectorType(_I8, 32), "llvm.x86.avx2.pmadd.ub.sw"
    dot = builder.module.globals.get(name) or ir.Function(builder.module, ir.FunctionType(sums, [bytes_, bytes_]), name)
    return lambda total, counts, digits: builder.add(total, builder.call(dot, [counts, digits]))


def _widen(builder: Any, total: Any) -> Any:
    """Return 8 sums of 32 bits of 16 sums of 16 bits, each of two neighbours."""
    halves, name = ir.VectorType(_I16, 16), "llvm.x86.avx2.pmadd.wd"
    add = builder.module.globals.get(name) or ir.Function(
        builder.module, ir.FunctionType(ir.VectorType(_I32, 8), [halves, halves]), name
    )
    return builder.call(add, [total, ir.Constant(halves, [1] * 16)])


def write_dot(builder: ir.IRBuilder, given: Sequence[Any], form: str, lanes: int, columns: int) -> None:
    """Write the loop of `pipeline.compiled.loops.byte_dot` where a builder stands; ``given`` are its arguments."""
    counts, apart, step, digits, stride, quads, out, across = given
    sums, bytes_ = ir.VectorType(_I32, lanes), ir.VectorType(_I8, 4 * lanes)
    split = form == "avx2"
    held = ir.VectorType(_I16, 2 * lanes) if split else sums
    dot, zero = _split_dot(builder) if split else _dot(builder, form, lanes), ir.Constant(sums, [0] * lanes)
    address = lambda base, by, times: builder.add(base, builder.mul(by, _I64(times)))  # noqa: E731
    entry = builder.block
    loop, done = builder.append_basic_block("quads"), builder.append_basic_block("done")
    builder.branch(loop)
    builder.position_at_end(loop)
    quad = builder.phi(_I64)
    quad.add_incoming(_I64(0), entry)
    totals = [builder.phi(held) for _ in range(VECTORS * columns)]
    for total in totals:
        total.add_incoming(ir.Constant(held, [0] * held.count), entry)
    drawn = []
    for vector in range(VECTORS):
        at = builder.add(address(counts, apart, vector), builder.mul(quad, step))
        drawn.append(builder.load(builder.inttoptr(at, bytes_.as_pointer())))
        drawn[-1].align = 1 if split else 4 * lanes
    added = []
    for column in range(columns):
        at = builder.add(address(digits, stride, column), builder.mul(quad, _I64(4)))
        four = builder.load(builder.inttoptr(at, _I32.as_pointer()))
        four.align = 4
        nothing = ir.Constant(sums, ir.Undefined)
        all_lanes = builder.shuffle_vector(builder.insert_element(nothing, four, _I32(0)), nothing, zero)
        same = builder.bitcast(all_lanes, bytes_)
        added += [dot(totals[VECTORS * column + v], drawn[v], same) for v in range(VECTORS)]
    after = builder.add(quad, _I64(1))
    quad.add_incoming(after, loop)
    for total, more in zip(totals, added, strict=True):
        total.add_incoming(more, loop)
    builder.cbranch(builder.icmp_signed("<", after, quads), loop, done)
    builder.position_at_end(done)
    for column in range(columns):
        for vector in range(VECTORS):
            at = builder.inttoptr(builder.add(address(out, across, column), _I64(4 * lanes * vector)), sums.as_pointer())
            found = added[VECTORS * column + vector]
            if split:
                before = builder.load(at)
                before.align = 4
                found = builder.add(before, _widen(builder, found))
            store = builder.store(found, at)
            store.align = 4
