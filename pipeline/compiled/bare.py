"""Kernels that run without Numba: a small comparison needs one, and takes less time than importing Numba does.

Numba compiles them, once. Where their machine code needs nothing but what it is given, it is kept as it is, and loaded by LLVM
alone. It is called as Numba's kernels call each other: a place for what it returns, one for what it raises, then the arguments,
and of an array its owner, parent, size, bytes of an item, address, shape and strides.
"""

from __future__ import annotations

import ctypes
import functools
import hashlib
import os
import re
import sys
from collections.abc import Callable, Iterator
from types import FunctionType
from typing import Any, TypeVar, cast

import numpy as np

from pipeline.compiled.decorator import Kernel
from pipeline.compiled.kept_files import is_current, name_of, read_kept, write_kept
from pipeline.compiled.sources import digest_sources

__all__ = ["BareKernel", "bare_kernel"]

Function = TypeVar("Function", bound=Callable[..., Any])

_ALLOWED = frozenset({"memset", "memcpy", "memmove"})
"""What machine code may call: functions of C, which every process has. LLVM would end the process where it misses another."""

_DONE = (0, -2)  # nothing was raised: something was returned, or None
_SCALARS = {"int64": ctypes.c_int64, "uint64": ctypes.c_uint64, "float64": ctypes.c_double}


def bare_kernel(signature: str) -> Callable[[Function], Function]:
    """Return a function as machine code that is loaded without Numba where it is on disk, and called for one signature only.

    Parameters
    ----------
    signature : str
        The types of its arguments as Numba writes them: ``int64``, ``uint64``, ``float64``, and arrays that are contiguous, such
        as ``float32[:, ::1]``. It returns and raises nothing. Where it allocates, or calls what is not inlined, and where this is
        not Linux, it is a kernel as any other.
    """

    def make_kernel(plain: Function) -> Function:
        return cast(Function, BareKernel(cast(Any, plain), f"void({signature})", {}))

    return make_kernel


class BareKernel(Kernel):
    """A kernel that is called through its address. Any other attribute is that of Numba's own object, as of `Kernel`."""

    def __call__(self, *arguments: Any) -> Any:
        """Run it, for the types of its signature alone; TypeError for others."""
        run = self._run
        return self._compiled(*arguments) if run is None else run(*arguments)

    def is_at_hand(self, *arguments: Any) -> bool:
        """Tell whether it is loaded or on disk."""
        if _is_another_kernel():
            return super().is_at_hand(*arguments)
        if "_run" in vars(self):
            return True
        kept = _Kept.of(self._plain, str(self._signature))
        return kept is not None and any(is_current(path, kept.stamp) for path in kept.paths())

    @functools.cached_property
    def _run(self) -> Callable[..., None] | None:
        if _is_another_kernel():
            return None
        kept = _Kept.of(self._plain, str(self._signature))
        code = None if kept is None else kept.read(kept.paths())
        if code is None:
            code = self._compile(kept)
        return None if code is None else _load(code, _parameters(str(self._signature)))

    def _compile(self, kept: _Kept | None) -> bytes | None:
        """Return the name and the machine code, kept where Numba keeps its own; None where that needs more than it is given."""
        from pipeline.compiled.disk_cache import KeptSignatures, warn_once
        from pipeline.compiled.turns import Turns

        place = getattr(self._compiled, "_cache", None)  # which has warned where there is none
        if kept is None or not isinstance(place, KeptSignatures):
            return _compile(self._plain, str(self._signature))
        path, turns = kept.path_in(place._cache_path), Turns()
        try:
            code = turns.wait(path, lambda: kept.read([path]))
            if code is None:
                code = _compile(self._plain, str(self._signature))
                if code is not None:
                    write_kept(path, kept.stamp, code)
        except OSError as error:
            warn_once("what was compiled cannot be kept", f"{type(error).__name__}: {error}")
        finally:
            turns.end_all()
        return code


class _Kept:
    """Where the code of one kernel is kept, and what it must be made from."""

    def __init__(self, plain: FunctionType, signature: str, sources: bytes) -> None:
        self._file = os.path.abspath(plain.__code__.co_filename)
        made_of = f"{plain.__code__.co_firstlineno} {signature}"
        self.stamp = hashlib.sha256(sources + made_of.encode()).digest()
        self._name = f"{name_of(plain)}.{hashlib.sha256(repr((signature, _machine())).encode()).hexdigest()[:24]}.nbc"

    @classmethod
    def of(cls, plain: FunctionType, signature: str) -> _Kept | None:
        """Return nothing where it cannot be kept: its source cannot be read."""
        sources = None if plain.__closure__ else digest_sources(plain.__module__, plain.__code__.co_filename)
        return None if sources is None else cls(plain, signature, sources)

    def path_in(self, folder: str) -> str:
        """Return where it is in a folder."""
        return os.path.join(folder, self._name)

    def paths(self) -> Iterator[str]:
        """Go through the places where Numba would keep it, in Numba's order, unless its settings name other ones."""
        folder = os.path.dirname(self._file)
        inner = f"{os.path.basename(folder)}_{hashlib.sha1(folder.encode(), usedforsecurity=False).hexdigest()}"
        given = _setting("CACHE_DIR")
        if given:
            places = [os.path.join(given, inner), os.path.join(given, f"user-{os.getuid()}", inner)]
        else:
            home = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
            places = [os.path.join(folder, "__pycache__"), os.path.join(home, "numba", inner)]
        return map(self.path_in, map(os.path.realpath, places))

    def read(self, paths: Iterator[str] | list[str]) -> bytes | None:
        """Return the first code that is whole, made from the source as it is, and in a file that nobody else may write."""
        for path in paths:
            try:
                code = read_kept(path, self.stamp)
            except OSError:
                continue
            if code is not None:
                return code
        return None


def _setting(name: str) -> Any:
    """Return a setting of Numba: of its own configuration where it is imported, else of the environment."""
    numba: Any = sys.modules.get("numba")
    return os.environ.get(f"NUMBA_{name}", "") if numba is None else getattr(numba.core.config, name)


def _is_another_kernel() -> bool:
    """Tell whether it is to be a kernel as any other: under Numba's own switch, and on systems where this was not tried."""
    return sys.platform != "linux" or str(_setting("DISABLE_JIT")) not in ("", "0", "False")


@functools.cache
def _machine() -> tuple[Any, ...]:
    """Return what machine code is for: the processor, and settings that Numba takes from the environment."""
    import llvmlite
    import llvmlite.binding as llvm

    chosen = sorted(each for each in os.environ.items() if each[0].startswith("NUMBA_") and each[0] != "NUMBA_CACHE_DIR")
    processor = llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten()
    return llvmlite.__version__, llvm.get_process_triple(), *processor, chosen


@functools.cache
def _engine() -> Any:
    """Return what places machine code in memory, once a process."""
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    machine = llvm.Target.from_default_triple().create_target_machine(jit=True)
    return llvm.create_mcjit_compiler(llvm.parse_assembly(""), machine)


def _compile(plain: FunctionType, signature: str) -> bytes | None:
    """Return the name and the machine code of a kernel; None where that needs more than it is given."""
    import llvmlite.binding as llvm
    import numba
    from numba.core.sigutils import normalize_signature

    from pipeline.compiled.notice import tell_of_compilation

    tell_of_compilation()
    options: dict[str, Any] = {"nogil": True, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
    compiled: Any = numba.njit(**options)(plain)
    types = normalize_signature(signature)[0]
    compiled.compile(types)
    made = compiled.overloads[types]
    module = llvm.parse_assembly(made.library.get_llvm_str())
    functions = [each.name for each in module.functions if each.is_declaration and not each.name.startswith("llvm.")]
    values = [each.name for each in module.global_variables if each.is_declaration]
    if not _ALLOWED.issuperset([*functions, *values]):
        return None
    _, _, (code, _) = made.library.serialize_using_object_code()
    return cast(str, made.fndesc.llvm_func_name).encode() + b"\0" + bytes(code)


def _load(code: bytes, parameters: list[tuple[str, int]]) -> Callable[..., None]:
    """Return what runs machine code, beside other threads."""
    import llvmlite.binding as llvm

    name, _, machine_code = code.partition(b"\0")
    engine = _engine()
    engine.add_object_file(llvm.ObjectFileRef.from_data(machine_code))
    engine.finalize_object()
    kinds = [kind for parameter in parameters for kind in _kinds(*parameter)]
    address = engine.get_function_address(name.decode())
    function = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p, *kinds)(address)

    def run(*arguments: Any) -> None:
        passed = [value for parameter, given in zip(parameters, arguments, strict=True) for value in _passed(*parameter, given)]
        returned, raised = ctypes.c_void_p(), ctypes.c_void_p()
        status = function(ctypes.addressof(returned), ctypes.addressof(raised), *passed)
        if status not in _DONE:
            raise RuntimeError(f"a kernel ended with status {status}")

    return run


def _parameters(signature: str) -> list[tuple[str, int]]:
    """Return type and number of axes of each argument, 0 for a number.

    Examples
    --------
    >>> _parameters("void(uint64, float32[:, ::1])")
    [('uint64', 0), ('float32', 2)]
    """
    found = re.findall(r"(\w+)(\[[^\]]*\])?(?:, |\))", signature.partition("(")[2])
    return [(name, axes.count(":") - 1 if axes else 0) for name, axes in found]


def _kinds(name: str, axes: int) -> list[Any]:
    if not axes:
        return [_SCALARS[name]]
    return [*[ctypes.c_void_p] * 2, *[ctypes.c_int64] * 2, ctypes.c_void_p, *[ctypes.c_int64] * (2 * axes)]


def _passed(name: str, axes: int, value: Any) -> list[Any]:
    """Return an argument as C takes it; TypeError where it is of another type, is to be copied, or may not be written."""
    if not axes:
        return [float(value) if name == "float64" else int(value)]
    if not isinstance(value, np.ndarray) or value.dtype != name or value.ndim != axes or not value.flags.carray:
        raise TypeError(f"a kernel takes {name} on {axes} axes, side by side and writable, not {getattr(value, 'dtype', value)!r}")
    return [None, None, value.size, value.itemsize, value.ctypes.data, *value.shape, *value.strides]
