"""Machine code of one kernel that needs nothing but C and its arguments: made by Numba, placed in memory by LLVM alone.

It is called as Numba's kernels call each other: a place for what it returns, one for what it raises, then the arguments.
"""

from __future__ import annotations

import ctypes
import functools
import pickle
import re
import threading
from collections.abc import Callable, Sequence
from types import FunctionType
from typing import Any, cast

from pipeline.compiled.arguments import passing

__all__ = ["NOT_BARE", "compile_bare", "load_bare"]

NOT_BARE = b""
"""In place of code that would need more."""

_MEMORY = ("memset", "memcpy", "memmove", "malloc", "free")
_NUMERIC = (
    "sqrt",
    "exp",
    "expm1",
    "log",
    "log1p",
    "log2",
    "log10",
    "pow",
    "hypot",
    "frexp",
    "ldexp",
    "floor",
    "ceil",
    "rint",
    "fmod",
)
_ALLOWED = frozenset((*_MEMORY, *_NUMERIC))
"""What machine code may call: functions of C, which every process has. LLVM would end the process where it misses another."""

_NUMBERS: dict[str, Any] = {"int64": ctypes.c_int64, "float64": ctypes.c_double, "bool": ctypes.c_bool}
_DONE = (0, -2)  # nothing was raised: something was returned, or None

# Arrays that a kernel makes for itself begin with a header, in which Numba's code counts who holds them and finds their items.
# Numba's own functions for these come with Numba. Here is what they do for an array that is never returned.
_OF_NUMBA = {
    "NRT_MemInfo_alloc_aligned": """
define ptr @NRT_MemInfo_alloc_aligned(i64 %size, i32 %align) {
  %wide = zext i32 %align to i64
  %room = add i64 %size, 40
  %all = add i64 %room, %wide
  %block = call ptr @malloc(i64 %all)
  %none = icmp eq ptr %block, null
  br i1 %none, label %out, label %fill
fill:
  %start = ptrtoint ptr %block to i64
  %beyond = add i64 %start, 40
  %last = add i64 %beyond, %wide
  %most = sub i64 %last, 1
  %over = urem i64 %most, %wide
  %place = sub i64 %most, %over
  %items = inttoptr i64 %place to ptr
  %null = insertvalue {i64, ptr, ptr, ptr, i64} {i64 1, ptr null, ptr null, ptr null, i64 0}, ptr %items, 3
  %header = insertvalue {i64, ptr, ptr, ptr, i64} %null, i64 %size, 4
  store {i64, ptr, ptr, ptr, i64} %header, ptr %block
  br label %out
out:
  ret ptr %block
}
declare ptr @malloc(i64)""",
    "NRT_MemInfo_call_dtor": """
define void @NRT_MemInfo_call_dtor(ptr %block) {
  call void @free(ptr %block)
  ret void
}
declare void @free(ptr)""",
    "numba_frexp": """
define double @numba_frexp(double %x, ptr %exponent) {
  %away = fsub double %x, %x
  %finite = fcmp oeq double %away, 0.0
  %other = fcmp one double %x, 0.0
  %both = and i1 %finite, %other
  br i1 %both, label %take, label %leave
take:
  %found = call double @frexp(double %x, ptr %exponent)
  ret double %found
leave:
  store i32 0, ptr %exponent
  ret double %x
}
declare double @frexp(double, ptr)""",
    "numba_ldexp": """
define double @numba_ldexp(double %x, i32 %exponent) {
  %found = call double @ldexp(double %x, i32 %exponent)
  ret double %found
}
declare double @ldexp(double, i32)""",
}

_placing = threading.Lock()


def compile_bare(plain: FunctionType, arguments: Sequence[Any], options: dict[str, Any]) -> bytes:
    """Return the machine code of a kernel for the types of some arguments, with what `load_bare` is to know of it.

    `NOT_BARE` where it returns an array, or calls more than functions of C and what Numba has for arrays.
    """
    import llvmlite.binding as llvm
    import numba

    asked: dict[str, Any] = {"nogil": True, "no_cpython_wrapper": True, "no_cfunc_wrapper": True, **options}
    compiled: Any = numba.njit(**asked)(plain)
    types = tuple(map(compiled.typeof_pyval, arguments))
    compiled.compile(types)
    made = compiled.overloads[types]
    returned = str(made.signature.return_type)
    if _read_returned(returned) is None or not _has_known_header():
        return NOT_BARE
    text, entry = made.library.get_llvm_str(), made.fndesc.llvm_func_name
    module = llvm.parse_assembly(text)
    needed = sorted(_OF_NUMBA.keys() & set(_missing(module)))
    if needed and "i8*" in text:  # an LLVM before 16, which writes pointers by what they point to
        return NOT_BARE
    for name in needed:
        module.link_in(llvm.parse_assembly(_OF_NUMBA[name]))
    if not _ALLOWED.issuperset(_missing(module)):
        return NOT_BARE
    for function in module.functions:
        if not function.is_declaration and function.name != entry:
            function.linkage = "internal"
    code: bytes = made.library.codegen._tm.emit_object(module)
    return b"\0".join([entry.encode(), returned.encode(), code])


def load_bare(code: bytes, kinds: Sequence[Any], plain: FunctionType) -> Callable[[Sequence[Any]], Any]:
    """Return what runs machine code on arguments of the kinds that it was compiled for, beside other threads.

    Profiles and tracebacks name the ``plain`` function that it was made from.
    """
    import llvmlite.binding as llvm

    name, returned, machine_code = code.split(b"\0", 2)
    make_room, read = cast(Any, _read_returned(returned.decode()))
    types, append = passing(kinds)
    with _placing:
        engine = _engine()
        engine.add_object_file(llvm.ObjectFileRef.from_data(machine_code))
        engine.finalize_object()
        address = engine.get_function_address(name.decode())
    function = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p, *types)(address)
    address_of, pointer = ctypes.addressof, ctypes.c_void_p

    def run(arguments: Sequence[Any]) -> Any:
        result, raised = make_room(), pointer()
        passed: list[Any] = [address_of(result), address_of(raised)]
        append(arguments, passed)
        status = function(*passed)
        if status not in _DONE:
            raise _read_raised(status, raised)
        return read(result)

    made_of = plain.__code__
    run.__code__ = run.__code__.replace(
        co_filename=made_of.co_filename, co_name=made_of.co_name, co_firstlineno=made_of.co_firstlineno
    )
    return run


def _read_returned(kind: str) -> tuple[Callable[[], Any], Callable[[Any], Any]] | None:
    """Return what makes room for what a kernel returns, named as Numba does, and what reads it; None where this is no number."""
    if kind == "none":
        return ctypes.c_void_p, lambda room: None
    if kind in _NUMBERS:
        return _NUMBERS[kind], lambda room: room.value
    numbers = re.fullmatch(r"UniTuple\((\w+) x (\d+)\)", kind)
    if numbers is None or numbers[1] not in _NUMBERS:
        return None
    return _NUMBERS[numbers[1]] * int(numbers[2]), tuple


class _Raised(ctypes.Structure):
    """What Numba tells of an exception: its class and arguments pickled, of those that are made as it is raised something else."""

    _fields_ = (
        ("pickled", ctypes.c_void_p),
        ("size", ctypes.c_int32),
        ("_digest", ctypes.c_void_p),
        ("_make", ctypes.c_void_p),
        ("made", ctypes.c_int32),
    )


def _read_raised(status: int, place: ctypes.c_void_p) -> Exception:
    """Return what a kernel has raised, as Numba itself would: memory that lacks must be told from a fault."""
    if status > 0 and place.value:
        raised = _Raised.from_address(place.value)
        if not raised.made:
            kind, given, _ = pickle.loads(ctypes.string_at(raised.pickled, raised.size))  # it came with the code
            return cast(Exception, kind(*(given or ())))
    return RuntimeError(f"a kernel ended with status {status}")


def _missing(module: Any) -> list[str]:
    """Return the names that a module needs and has not, but those that LLVM replaces."""
    functions = [each.name for each in module.functions if each.is_declaration and not each.name.startswith("llvm.")]
    return functions + [each.name for each in module.global_variables if each.is_declaration]


def _has_known_header() -> bool:
    """Tell whether this Numba's arrays begin with the header that is made here."""
    from numba.core.runtime import nrtdynmod

    parts = [str(each) for each in cast(Any, nrtdynmod)._meminfo_struct_type.elements]
    return [part.replace("i8*", "ptr") for part in parts] == ["i64", "ptr", "ptr", "ptr", "i64"]


@functools.cache
def _engine() -> Any:
    """Return what places machine code in memory, once a process."""
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    machine = llvm.Target.from_default_triple().create_target_machine(jit=True)
    return llvm.create_mcjit_compiler(llvm.parse_assembly(""), machine)
