"""The decorator of kernels: functions that Numba makes machine code of.

Numba makes its object of a kernel when that is first called: of more than two hundred kernels a command calls twenty.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from types import FunctionType
from typing import TYPE_CHECKING, Any, TypeVar, cast, overload

from pipeline.compiled.sources import digest_sources

if TYPE_CHECKING:
    from pipeline.compiled.disk_cache import KeptSignatures

__all__ = ["Kernel", "kernel"]

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
        When it is first called, if there is no place where kernels may be kept, or one cannot be kept or loaded, so that every
        process compiles for itself.
    """

    def make_kernel(plain: Function) -> Function:
        return cast(Function, Kernel(cast(Any, plain), signature, options))

    return make_kernel if function is None else make_kernel(function)


class Kernel:
    """A function that is compiled when it is first called, or called by a kernel that is.

    Any other attribute is that of Numba's own object, or of the plain function under NUMBA_DISABLE_JIT.

    Parameters
    ----------
    plain : function
    signature : str or None
    options : dict
        Of `numba.njit`.
    """

    def __init__(self, plain: FunctionType, signature: str | None, options: dict[str, Any]) -> None:
        functools.update_wrapper(self, plain)
        self._plain, self._signature, self._options = plain, signature, options

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        """Run it, compiled for these types."""
        return self._compiled(*arguments, **named)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # what others look for on any object is no reason to import Numba
            raise AttributeError(name)
        return getattr(self._compiled, name)

    def __reduce__(self) -> str:
        return self._plain.__qualname__

    @functools.cached_property
    def _compiled(self) -> Any:
        import numba
        from numba.core.dispatcher import Dispatcher

        compiled: Any = numba.njit(nogil=True, **self._options)(self._plain)
        if isinstance(compiled, Dispatcher):  # plain Python under NUMBA_DISABLE_JIT
            _keep(cast(Any, compiled), self._signature)
        return compiled

    def is_at_hand(self, *arguments: Any) -> bool:
        """Tell whether it is compiled for the types of these arguments, here or on disk: a call takes milliseconds, not seconds.

        Nothing is at hand where no kernel was called yet: importing Numba takes longer than loading ten.
        """
        if "numba" not in sys.modules or not hasattr(self._compiled, "overloads"):
            return False
        from pipeline.compiled.disk_cache import KeptSignatures

        types, kept = tuple(map(self._compiled.typeof_pyval, arguments)), self._compiled._cache
        return types in self._compiled.overloads or (
            isinstance(kept, KeptSignatures) and kept.has(self._signature or types, self._compiled.targetctx)
        )

    @property
    def folder(self) -> str | None:
        """The folder where it is kept on disk; None where every process compiles it for itself."""
        return getattr(getattr(self._compiled, "_cache", None), "_cache_path", None)

    @property
    def _numba_type_(self) -> Any:
        """What Numba takes it for where another kernel calls it."""
        return self._compiled._numba_type_


def _keep(compiled: Any, signature: str | None) -> None:
    """Have a kernel kept as Numba's own ``enable_caching`` has it, and compiled for one signature only if that is wanted."""
    kept = _place_of(compiled)
    if kept is not None:
        compiled._cache = kept
    compile_any = compiled.compile

    def compile_in_turn(types: Any) -> Any:  # when it is called, not when it is made
        try:
            return compile_any(signature or types)
        finally:
            if kept is not None:
                kept.end_turns()  # also where it failed, or was interrupted

    compiled.compile = compile_in_turn


def _place_of(compiled: Any) -> KeptSignatures | None:
    """Return where a kernel is kept; None for a closure, which may be of any values, and where its source cannot be read."""
    from pipeline.compiled.disk_cache import KeptSignatures, warn_once

    plain = compiled.py_func
    sources = None if plain.__closure__ else digest_sources(plain.__module__, plain.__code__.co_filename)
    try:
        return None if sources is None else KeptSignatures(compiled, sources)
    except RuntimeError as error:
        warn_once("there is no place to keep them", error)
        return None
