"""What loops written in LLVM's own language are made of: numbers side by side, memory by address, and a loop.

Vectors may be longer than any that a processor has: LLVM takes several.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from llvmlite import ir

__all__ = ["add_lanes", "all_lanes", "call", "load", "repeat", "store"]

_I32, _I64 = ir.IntType(32), ir.IntType(64)

Pass = Callable[[Any, Sequence[Any]], Sequence[Any]]


def all_lanes(builder: Any, value: Any, vector: Any) -> Any:
    """Return a vector that has one number in every lane."""
    nothing = ir.Constant(vector, ir.Undefined)
    first = ir.Constant(ir.VectorType(_I32, vector.count), [0] * vector.count)
    return builder.shuffle_vector(builder.insert_element(nothing, value, _I32(0)), nothing, first)


def add_lanes(builder: Any, vector: Any) -> Any:
    """Return the sum of the whole numbers of a vector."""
    number = vector.type.element
    return call(builder, f"llvm.vector.reduce.add.v{vector.type.count}i{number.width}", number, vector)


def call(builder: Any, name: str, result: Any, *given: Any) -> Any:
    """Call an intrinsic of LLVM that gives a ``result``."""
    function = ir.FunctionType(result, [each.type for each in given])
    return builder.call(builder.module.globals.get(name) or ir.Function(builder.module, function, name), given)


def load(builder: Any, base: Any, offset: Any, kind: Any, align: int) -> Any:
    """Read a number or a vector at an address plus an offset in bytes."""
    found = builder.load(builder.inttoptr(builder.add(base, offset), kind.as_pointer()))
    found.align = align
    return found


def store(builder: Any, value: Any, base: Any, offset: Any, align: int) -> None:
    """Write a number or a vector at an address plus an offset in bytes."""
    builder.store(value, builder.inttoptr(builder.add(base, offset), value.type.as_pointer())).align = align


def repeat(builder: Any, times: Any, carried: Sequence[Any], body: Pass) -> list[Any]:
    """Write a loop that runs once at least; ``body(number, carried)`` gives what the next pass carries, and at last the result."""
    entry, loop, done = builder.block, builder.append_basic_block("pass"), builder.append_basic_block("done")
    builder.branch(loop)
    builder.position_at_end(loop)
    number, held = builder.phi(_I64), [builder.phi(value.type) for value in carried]
    found = list(body(number, held))
    after = builder.add(number, _I64(1))
    for phi, before, next_ in zip([number, *held], [_I64(0), *carried], [after, *found], strict=True):
        phi.add_incoming(before, entry)
        phi.add_incoming(next_, builder.block)
    builder.cbranch(builder.icmp_unsigned("<", after, times), loop, done)
    builder.position_at_end(done)
    return found
