"""What a kernel is made of. This module describes code, the values it names and the types it is called with, in full or not at all.

Numba looks at the kernel's own file and at the names of types: it would go on with the old code of a helper that stands in another
file, and take two named tuples for one whose fields changed places. What is described here is what is in memory, which is what is
compiled, and not the files, which somebody may have changed since.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType
from typing import Any

import numba
import numpy as np
from numba import types
from numba.core.dispatcher import Dispatcher
from numba.core.extending import _Intrinsic
from numba.core.typing.templates import Signature

__all__ = ["NotDescribed", "describe_kernel", "describe_types"]

_FOREIGN = frozenset({"builtins", "cmath", "llvmlite", "math", "numba", "numpy", "operator"})
"""Packages whose functions and classes are the same wherever their versions are: a name says all."""

_PLAIN = frozenset({bool, int, str, bytes, type(None), type(Ellipsis), slice})
"""Types whose values say all of themselves when they are printed; what is derived from them may print anything."""

_SCALARS = (types.Number, types.Boolean, types.NoneType, types.UnicodeType)


class NotDescribed(Exception):
    """Something is of a kind whose content nobody here knows."""


def describe_kernel(kernel: Dispatcher[Any]) -> bytes:
    """Return 32 bytes that stand for all that is compiled into a kernel: its code, that of what it calls, and the values they name.

    Raises
    ------
    NotDescribed
        If it names an object of some other kind.
    """
    versions = f"{numba.__version__} {np.__version__}"
    digest = hashlib.sha256(versions.encode())
    for part in _of_value(kernel, {}):
        digest.update(b"%d:%s" % (len(part), part.encode(errors="surrogatepass")))
    return digest.digest()


def describe_types(signature: Any) -> str:
    """Return a text that is the same for the same types of arguments alone, in every process.

    Raises
    ------
    NotDescribed
        If there are types of other kinds than numbers, texts, arrays of numbers, and tuples of such.
    """
    if isinstance(signature, str):
        return repr(signature)
    if isinstance(signature, Signature):
        return f"{describe_types(signature.args)} -> {describe_types(signature.return_type)}"
    if isinstance(signature, tuple):
        return f"({', '.join(map(describe_types, signature))})"
    known: Any = signature
    if isinstance(signature, types.BaseNamedTuple):
        return f"{_of_fields(known.instance_class)}{describe_types(tuple(known.types))}"
    if isinstance(signature, types.BaseTuple):
        return f"{type(signature).__name__}{describe_types(tuple(known.types))}"
    if isinstance(signature, types.Omitted):
        return f"omitted {''.join(_of_value(signature.value, {}))}"
    if isinstance(signature, types.Optional):
        return f"optional {describe_types(signature.type)}"
    element = signature.dtype if isinstance(signature, types.Array) else signature
    if isinstance(element, _SCALARS):
        return repr(signature)
    raise NotDescribed(repr(signature))


def _of_value(value: Any, seen: dict[int, int]) -> Iterator[str]:
    """Yield the parts of a description; ``seen`` has the functions that were described before, by their order."""
    kind = f"{type(value).__module__}.{type(value).__qualname__}"
    if isinstance(value, Dispatcher):
        options = sorted((name, repr(option)) for name, option in value.targetoptions.items())
        yield f"kernel {options} {getattr(value, 'locals', None)} {getattr(value, 'only_signature', None)}"
        yield from _of_function(value.py_func, seen)
    elif isinstance(value, np.ndarray) and not value.dtype.hasobject:
        yield f"array {value.dtype!r} {value.shape} {value.strides} {hashlib.sha256(value.tobytes()).hexdigest()}"
    elif type(value) in (float, complex) or (isinstance(value, np.generic) and type(value).__module__ == "numpy"):
        whole = np.asarray(value)  # its bits: a nan has a sign, and long records are printed in part
        yield f"{kind} {whole.dtype!r} {whole.tobytes().hex()}"
    elif isinstance(value, tuple | frozenset):
        yield f"{kind} {len(value)} {getattr(value, '_fields', '')}"
        if isinstance(value, frozenset):  # in no order: that of the descriptions
            yield from sorted(" ".join(_of_value(element, {})) for element in value)
        else:
            for element in value:
                yield from _of_value(element, seen)
    elif type(value) in _PLAIN or isinstance(value, np.dtype):
        yield f"{kind} {value!r}"
    elif isinstance(value, type) and issubclass(value, tuple) and hasattr(value, "_fields"):
        yield _of_fields(value)
        yield from _of_value(tuple(getattr(value, "_field_defaults", {}).items()), seen)
    elif isinstance(value, _Intrinsic):
        yield f"intrinsic {value._prefer_literal}"
        yield from _of_function(value._defn, seen)
    elif isinstance(value, ModuleType) and value.__name__.partition(".")[0] in _FOREIGN:
        yield f"module {value.__name__}"
    elif isinstance(value, FunctionType | BuiltinFunctionType | type | np.ufunc | types.Type):
        yield from _of_named(value, kind)
    else:
        raise NotDescribed(f"{kind}: {value!r}")


def _of_named(value: Any, kind: str) -> Iterator[str]:
    """Describe what goes by a name and is the same wherever its version is.

    A plain function of somebody's own is not followed: Numba may have been told to compile something else in its place.
    """
    if isinstance(value, types.Type):
        yield f"type {describe_types(value)}"
        return
    if isinstance(value, FunctionType):
        home = value.__globals__.get("__name__")  # `functools.wraps` changes what it says of itself
    else:
        home = "numpy" if isinstance(value, np.ufunc) else getattr(value, "__module__", None)
    if str(home or "").partition(".")[0] not in _FOREIGN:
        raise NotDescribed(f"{kind}: {value!r}")
    yield f"{kind} {home} {getattr(value, '__qualname__', value.__name__)}"


def _of_function(function: Any, seen: dict[int, int]) -> Iterator[str]:
    """Describe a function of Python, and all that it names."""
    if id(function) in seen:
        yield f"again {seen[id(function)]}"
        return
    seen[id(function)] = len(seen)
    yield from _of_code(function.__code__, function.__globals__, seen)
    for cell in function.__closure__ or ():
        yield from _of_value(cell.cell_contents, seen)
    yield from _of_value(function.__defaults__ or (), seen)
    yield from _of_value(tuple((function.__kwdefaults__ or {}).items()), seen)


def _of_code(code: CodeType, known: dict[str, Any], seen: dict[int, int]) -> Iterator[str]:
    yield repr((code.co_code, code.co_exceptiontable, code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars))
    yield repr((code.co_flags, code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount))
    for constant in code.co_consts:  # codes among them are those of functions and comprehensions within
        yield from _of_code(constant, known, seen) if isinstance(constant, CodeType) else _of_value(constant, seen)
    for name in code.co_names:
        if name in known:
            yield name
            yield from _of_value(known[name], seen)


def _of_fields(kind: Any) -> str:
    return f"{kind.__module__}.{kind.__qualname__}{kind._fields}"
