"""Kept kernels whose LLVM module is parsed when another kernel is made of it, and not when they are loaded to be called.

Numba keeps machine code of a kernel, which is what runs, and its LLVM module for kernels that call it. It parses this module
whenever it loads the kernel, only to know the names that are defined there: most of the time that loading takes, for nothing where
no kernel is compiled. Here the names are kept beside it.
"""

from __future__ import annotations

from typing import Any, Self

import llvmlite.binding as llvm
from numba.core.caching import CompileResultCacheImpl
from numba.core.codegen import JITCodeLibrary

__all__ = ["LateModules", "parse_late"]

_LATE = "object and names"
"""What is kept, beside Numba's own kinds ``object`` and ``bitcode``."""


class LateModules(CompileResultCacheImpl):
    """What Numba keeps of a kernel, with the names that its LLVM module defines."""

    def reduce(self, compiled: Any) -> tuple[Any, ...]:
        """Return the parts that are pickled."""
        (name, _, (code, module)), *rest = super().reduce(compiled)
        linked = compiled.library._get_module_for_linking()
        names = [each.name for kind in (linked.functions, linked.global_variables) for each in kind if not each.is_declaration]
        return ((name, _LATE, (code, module, tuple(names))), *rest)


class _Library(JITCodeLibrary):
    """Machine code, with an LLVM module that may be there as bytes only."""

    _bytes: bytes | None = None
    _parsed: Any = None

    @classmethod
    def _unserialize(cls, codegen: Any, state: tuple[str, str, Any]) -> Self:
        """Return what `LateModules` keeps as code that can be called."""
        name, kind, kept = state
        if kind != _LATE:
            found: Self = super()._unserialize(codegen, state)
            return found
        code, module, names = kept
        library: Self = codegen.create_library(name)
        library.enable_object_caching()
        library._set_compiled_object(code)
        library._bytes = module
        library._finalize_final_module()
        codegen._engine._defined_symbols.update(names)
        return library

    @property
    def _shared_module(self) -> Any:
        if self._bytes is not None:
            self._parsed, self._bytes = llvm.parse_bitcode(self._bytes), None
        return self._parsed

    @_shared_module.setter
    def _shared_module(self, module: Any) -> None:
        self._parsed = module


def parse_late(codegen: Any) -> None:
    """Let Numba load what `LateModules` keeps."""
    codegen._library_class = _Library
