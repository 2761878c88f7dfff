"""The decorator of kernels. This module makes machine code of functions, by Numba."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, Literal, TypeVar, cast, overload

import numba
from numba.core.dispatcher import Dispatcher

from pipeline.compiled.disk_cache import KeptSignatures

__all__ = ["kernel"]

Function = TypeVar("Function", bound=Callable[..., Any])

ErrorModel = Literal["python", "numpy"]

_told: list[str] = []


@overload
def kernel(function: Function, /) -> Function: ...


@overload
def kernel(*, signature: str | None = None, error_model: ErrorModel = "python") -> Callable[[Function], Function]: ...


def kernel(function: Any = None, /, *, signature: str | None = None, error_model: ErrorModel = "python") -> Any:
    """Return a function as machine code that runs beside other threads, compiled once for each machine and code.

    Parameters
    ----------
    signature : str, optional
        The only types of its arguments, as Numba writes them. Others are converted as by an assignment in C: fractions are cut
        off, and integers that are too large wrap. Without it a function is compiled for each combination of types that it is
        called with, where a constant in the code of a caller is a type of its own.
    error_model : {"python", "numpy"}
        Whether a division by zero raises `ZeroDivisionError` or gives inf and nan.

    Warns
    -----
    RuntimeWarning
        If there is no place where kernels may be kept, so that every process compiles them for itself.
    """

    def compile_kernel(plain: Function) -> Function:
        compiled: Any = numba.njit(nogil=True, error_model=error_model)(plain)
        if isinstance(compiled, Dispatcher):  # plain Python under NUMBA_DISABLE_JIT
            _keep(cast(Any, compiled), signature)
        return cast(Function, compiled)

    return compile_kernel if function is None else compile_kernel(function)


def _keep(compiled: Any, signature: str | None) -> None:
    """Have a kernel kept as Numba's own ``enable_caching`` has it, and compiled for one signature only if that is wanted."""
    kept = None
    try:
        kept = compiled._cache = KeptSignatures(compiled)
    except RuntimeError as error:
        _warn_that_nothing_is_kept(str(error))
    if signature is not None:
        compiled.only_signature = signature
    compile_any = compiled.compile

    def compile_in_turn(types: Any) -> Any:  # when it is first called, not when it is imported
        try:
            return compile_any(signature or types)
        finally:
            if kept is not None:
                kept.end_turns()  # also where it failed, or was interrupted

    compiled.compile = compile_in_turn


def _warn_that_nothing_is_kept(why: str) -> None:
    if not _told:  # once, and not for each kernel
        _told.append(why)
        warnings.warn(
            f"kernels are compiled by every process for itself, for up to a minute: {why}. Where nothing may be written beside the "
            "package or in your home, set NUMBA_CACHE_DIR to a private folder: one that you may write and nobody else",
            RuntimeWarning,
            stacklevel=2,
        )
