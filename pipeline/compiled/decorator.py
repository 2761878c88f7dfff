"""The decorator of kernels: functions that Numba makes machine code of."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast, overload

import numba
from numba.core.dispatcher import Dispatcher

from pipeline.compiled.disk_cache import KeptSignatures, warn_once
from pipeline.compiled.sources import digest_sources

__all__ = ["kernel"]

Function = TypeVar("Function", bound=Callable[..., Any])


@overload
def kernel(function: Function, /) -> Function: ...


@overload
def kernel(*, signature: str | None = None, **options: Any) -> Callable[[Function], Function]: ...


def kernel(function: Any = None, /, *, signature: str | None = None, **options: Any) -> Any:
    """Return a function as machine code that runs beside other threads, compiled once for each machine and code.

    Parameters
    ----------
    signature : str, optional
        The only types of its arguments, as Numba writes them. Others are converted as by an assignment in C: fractions are cut
        off, and integers that are too large wrap. Without it a function is compiled for each combination of types that it is
        called with, where a constant in the code of a caller is a type of its own.
    **options
        What `numba.njit` takes beside, such as ``error_model="numpy"``, by which a division by zero gives inf and nan in place of
        `ZeroDivisionError`, or ``inline="always"``.

    Warns
    -----
    RuntimeWarning
        If there is no place where kernels may be kept, or one cannot be kept or loaded, so that every process compiles for itself.
    """

    def compile_kernel(plain: Function) -> Function:
        compiled: Any = numba.njit(nogil=True, **options)(plain)
        if isinstance(compiled, Dispatcher):  # plain Python under NUMBA_DISABLE_JIT
            _keep(cast(Any, compiled), signature)
        return cast(Function, compiled)

    return compile_kernel if function is None else compile_kernel(function)


def _keep(compiled: Any, signature: str | None) -> None:
    """Have a kernel kept as Numba's own ``enable_caching`` has it, and compiled for one signature only if that is wanted."""
    kept = _place_of(compiled)
    if kept is not None:
        compiled._cache = kept
    compile_any = compiled.compile

    def compile_in_turn(types: Any) -> Any:  # when it is first called, not when it is imported
        try:
            return compile_any(signature or types)
        finally:
            if kept is not None:
                kept.end_turns()  # also where it failed, or was interrupted

    compiled.compile = compile_in_turn


def _place_of(compiled: Any) -> KeptSignatures | None:
    """Return where a kernel is kept; None for a closure, which may be of any values, and where its source cannot be read."""
    plain = compiled.py_func
    sources = None if plain.__closure__ else digest_sources(plain.__module__, plain.__code__.co_filename)
    try:
        return None if sources is None else KeptSignatures(compiled, sources)
    except RuntimeError as error:
        warn_once("there is no place to keep them", error)
        return None
