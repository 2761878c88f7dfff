"""What LLVM makes of a loop for a processor that need not be at hand."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import llvmlite.binding as llvm
import pytest
from llvmlite import ir


def assemble(
    write: Callable[[Any, Sequence[Any]], None], arguments: int, *, triple: str, cpu: str, features: str = ""
) -> list[str]:
    """Return the lines of assembly of a function of so many whole numbers whose body is written by the first argument."""
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    try:
        target = llvm.Target.from_triple(triple)
    except RuntimeError:
        pytest.skip(f"this LLVM does not know {triple}")
    module = ir.Module()
    module.triple = triple
    function = ir.Function(module, ir.FunctionType(ir.VoidType(), [ir.IntType(64)] * arguments), "loop")
    builder = ir.IRBuilder(function.append_basic_block())
    write(builder, function.args)
    builder.ret_void()
    machine = target.create_target_machine(cpu=cpu, features=features, opt=3)
    lines: list[str] = machine.emit_assembly(llvm.parse_assembly(str(module))).splitlines()
    return lines
