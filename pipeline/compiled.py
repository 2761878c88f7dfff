"""Kernels: functions that are compiled when they are first called, and kept on disk. This module has their decorator.

Numba's own way of keeping them numbers the files of a function through an index that every process rewrites. Processes that
compile at the same time, as the workers of a cluster do on their first day, can so come to hold the code of one signature
under the name of another, for good. Here a file is named by what it holds: whoever writes it writes the same.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import pickle
import sys
import warnings
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, Literal, TypeVar, cast, overload

import numba
import numpy as np
from numba.core.caching import FunctionCache, IndexDataCacheFile
from numba.core.dispatcher import Dispatcher

__all__ = ["kernel"]

Function = TypeVar("Function", bound=Callable[..., Any])

ErrorModel = Literal["python", "numpy"]

_DIGEST = hashlib.sha256().digest_size


@overload
def kernel(function: Function, /) -> Function: ...


@overload
def kernel(*, signature: str | None = None, error_model: ErrorModel = "python") -> Callable[[Function], Function]: ...


def kernel(function: Any = None, /, *, signature: str | None = None, error_model: ErrorModel = "python") -> Any:
    """Give a function as machine code that runs beside other threads, compiled once for each machine and code.

    Parameters
    ----------
    signature : str, optional
        The only types of its arguments, as Numba writes them; others are converted. Without it a function is compiled for
        each combination of types that it is called with.
    error_model : {"python", "numpy"}
        Whether a division by zero raises `ZeroDivisionError` or gives inf and nan.

    Warns
    -----
    RuntimeWarning
        If nothing may be written where kernels are kept, so that every process compiles them for itself.
    """

    def compile_kernel(plain: Function) -> Function:
        compiled: Any = numba.njit(nogil=True, error_model=error_model)(plain)
        if isinstance(compiled, Dispatcher):  # plain Python under NUMBA_DISABLE_JIT
            try:
                compiled._cache = _KernelCache(plain, error_model)  # type: ignore[attr-defined] # as its own enable_caching does
            except RuntimeError:
                _warn_that_nothing_is_kept()
            if signature is not None:
                compiled.compile(signature)
                compiled.disable_compile()
        return cast(Function, compiled)

    return compile_kernel if function is None else compile_kernel(function)


class _KernelCache(FunctionCache):
    """Keeps the compiled signatures of one kernel."""

    def __init__(self, function: Callable[..., Any], error_model: ErrorModel = "python") -> None:
        super().__init__(function)
        self._cache_file = _NamedByContent(function, error_model, self._cache_path, self._impl.filename_base)

    def save_overload(self, signature: object, compiled: object) -> None:
        """Keep what was compiled; a disk that is full or may not be written costs the next process time and nothing else."""
        with contextlib.suppress(OSError):
            super().save_overload(signature, compiled)


class _NamedByContent(IndexDataCacheFile):
    """One file a signature, named by it and by the machine it is for, with digests of its code and of itself. There is no index."""

    def __init__(self, function: Callable[..., Any], error_model: ErrorModel, folder: str, base: str) -> None:
        super().__init__(cache_path=folder, filename_base=base, source_stamp=None)
        self._function = function
        self._error_model = error_model

    def save(self, key: tuple[object, ...], data: object) -> None:
        """Write the file of a key, in one step."""
        body = _describe_code(self._function) + self._dump(data)
        with self._open_for_write(self._path(key)) as file:
            file.write(hashlib.sha256(body).digest() + body)

    def load(self, key: tuple[object, ...]) -> object:
        """Give what was kept under a key, or None if that is nothing, not whole, or made from other code."""
        try:
            content = Path(self._path(key)).read_bytes()
            code = _describe_code(self._function)
        except OSError:
            return None
        digest, body = content[:_DIGEST], content[_DIGEST:]
        if hashlib.sha256(body).digest() != digest or not body.startswith(code):
            return None
        return pickle.loads(body[_DIGEST:])

    def flush(self) -> None:
        """Remove the files of this kernel, of every code and signature."""
        for path in Path(self._cache_path).glob(f"{self._index_name.removesuffix('.nbi')}.*.nbc"):
            path.unlink(missing_ok=True)

    def _path(self, key: tuple[object, ...]) -> str:
        name = hashlib.sha256(repr((key, self._error_model)).encode()).hexdigest()[:24]
        return os.path.join(self._cache_path, f"{self._index_name.removesuffix('.nbi')}.{name}.nbc")


@cache
def _describe_code(function: Callable[..., Any]) -> bytes:
    """Give a digest of all that makes the code of a kernel: Numba, its module, and those of what it calls, as they are on disk.

    Numba looks at the kernel's own file alone: it would go on with the old code of a helper that stands in another.
    """
    files: set[str] = set()
    values: set[str] = set()
    seen: set[int] = set()
    open_functions = [function]
    while open_functions:
        current = open_functions.pop()
        if id(current) in seen:
            continue
        seen.add(id(current))
        files.add(_digest_file(current.__code__.co_filename))
        for name, value in _globals_of(current):
            if isinstance(value, Dispatcher):
                open_functions.append(value.py_func)
            elif isinstance(value, np.ndarray):
                values.add(f"{name} {value.dtype} {value.shape} {value.tobytes().hex()}")
            elif isinstance(value, int | float | str | tuple | np.generic):
                values.add(f"{name} {value!r}")
            elif (module := sys.modules.get(getattr(value, "__module__", ""))) and getattr(module, "__file__", None):
                files.add(_digest_file(str(module.__file__)))
    return hashlib.sha256("\n".join([numba.__version__, *sorted(files), "", *sorted(values)]).encode()).digest()


def _globals_of(function: Callable[..., Any]) -> Iterator[tuple[str, object]]:
    known: dict[str, object] = getattr(function, "__globals__", {})
    for name in function.__code__.co_names:
        if name in known:
            yield name, known[name]


@cache
def _digest_file(path: str) -> str:
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()


@cache
def _warn_that_nothing_is_kept() -> None:
    warnings.warn(
        "compiled kernels cannot be kept, since nothing may be written beside the package or in your home: every process "
        "compiles them for itself, for up to a minute. Set NUMBA_CACHE_DIR to a folder that may be written",
        RuntimeWarning,
        stacklevel=2,
    )
