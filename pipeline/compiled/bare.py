"""Kernels that run without Numba: importing it takes longer than most of what a small study computes.

Numba compiles them, once for the types of their arguments. Where their machine code needs nothing but C (`machine_code`), it is
kept as it is, and loaded by LLVM alone.
"""

from __future__ import annotations

import functools
import hashlib
import os
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from types import FunctionType
from typing import Any, TypeVar, cast, overload

from pipeline.compiled.arguments import can_be_passed, describe_kinds, kind_of
from pipeline.compiled.decorator import Kernel
from pipeline.compiled.kept_files import name_of, read_kept, write_kept
from pipeline.compiled.machine_code import NOT_BARE, compile_bare, load_bare
from pipeline.compiled.sources import digest_sources
from pipeline.compiled.target import has_settings

__all__ = ["BareKernel", "bare_kernel"]

Function = TypeVar("Function", bound=Callable[..., Any])


@overload
def bare_kernel(function: Function, /) -> Function: ...


@overload
def bare_kernel(**options: Any) -> Callable[[Function], Function]: ...


def bare_kernel(function: Any = None, /, **options: Any) -> Any:
    """Return a function as machine code that is loaded without Numba where it is on disk.

    It takes arrays, numbers and tuples of these, and returns nothing, a number, or numbers of one type. Where it returns an array,
    or calls what is neither a kernel nor in C, and where this is not Linux, it is a kernel as any other.

    Parameters
    ----------
    **options
        What `numba.njit` takes, such as ``error_model="numpy"``.
    """

    def make_kernel(plain: Function) -> Function:
        return cast(Function, BareKernel(cast(Any, plain), None, options))

    return make_kernel if function is None else make_kernel(function)


class BareKernel(Kernel):
    """A kernel that is called through its address. Any other attribute is that of Numba's own object, as of `Kernel`."""

    def __init__(self, plain: FunctionType, signature: str | None, options: dict[str, Any]) -> None:
        super().__init__(plain, signature, options)
        self._runs: dict[tuple[Any, ...], Callable[[Sequence[Any]], Any]] = {}
        self._finding = threading.Lock()

    def __call__(self, *arguments: Any) -> Any:
        """Run it, compiled for these types."""
        kinds = tuple(map(kind_of, arguments))
        run = self._runs.get(kinds)
        return (self._find(kinds, arguments) if run is None else run)(arguments)

    def is_at_hand(self, *arguments: Any) -> bool:
        """Tell whether it is loaded or on disk."""
        kinds = tuple(map(kind_of, arguments))
        if kinds in self._runs:
            return True
        kept = _Kept.of(self._plain, kinds, self._options) if _may_be_bare(kinds) else None
        code = NOT_BARE if kept is None else kept.read(kept.paths())
        return super().is_at_hand(*arguments) if code == NOT_BARE else code is not None

    def _find(self, kinds: tuple[Any, ...], arguments: Sequence[Any]) -> Callable[[Sequence[Any]], Any]:
        with self._finding:
            if kinds not in self._runs:
                code = self._read_or_compile(kinds, arguments) if _may_be_bare(kinds) else NOT_BARE
                self._runs[kinds] = (
                    load_bare(code, kinds, self._plain) if code != NOT_BARE else lambda given: self._compiled(*given)
                )
            return self._runs[kinds]

    def _read_or_compile(self, kinds: tuple[Any, ...], arguments: Sequence[Any]) -> bytes:
        kept = _Kept.of(self._plain, kinds, self._options)
        code = None if kept is None else kept.read(kept.paths())
        return self._compile(kept, arguments) if code is None else code

    def _compile(self, kept: _Kept | None, arguments: Sequence[Any]) -> bytes:
        """Return machine code, kept where Numba keeps its own."""
        from pipeline.compiled.disk_cache import KeptSignatures, warn_once
        from pipeline.compiled.notice import tell_of_compilation
        from pipeline.compiled.turns import Turns

        def make() -> bytes:
            tell_of_compilation()
            return compile_bare(self._plain, arguments, self._options)

        place = getattr(self._compiled, "_cache", None)  # which has warned where there is none
        if kept is None or not isinstance(place, KeptSignatures):
            return make()
        path, turns = kept.path_in(place._cache_path), Turns()
        code: bytes | None = None
        try:
            code = turns.wait(path, lambda: kept.read([path]))
            if code is None:
                code = make()
                write_kept(path, kept.stamp, code)
        except OSError as error:
            warn_once("what was compiled cannot be kept", f"{type(error).__name__}: {error}")
        finally:
            turns.end_all()
        return make() if code is None else code


class _Kept:
    """Where the code of one kernel for some kinds of arguments is kept, and what it must be made from."""

    def __init__(self, plain: FunctionType, kinds: Sequence[Any], options: dict[str, Any], sources: bytes) -> None:
        self._file = os.path.abspath(plain.__code__.co_filename)
        asked = describe_kinds(kinds)
        made_of = f"{plain.__code__.co_firstlineno} {asked} {sorted(options.items())}"
        self.stamp = hashlib.sha256(sources + made_of.encode()).digest()
        self._name = f"{name_of(plain)}.{hashlib.sha256(repr((asked, _machine())).encode()).hexdigest()[:24]}.nbc"

    @classmethod
    def of(cls, plain: FunctionType, kinds: Sequence[Any], options: dict[str, Any]) -> _Kept | None:
        """Return nothing where it cannot be kept: its source cannot be read."""
        sources = None if plain.__closure__ else digest_sources(plain.__module__, plain.__code__.co_filename)
        return None if sources is None else cls(plain, kinds, options, sources)

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


def _may_be_bare(kinds: Sequence[Any]) -> bool:
    """Tell whether it is no kernel as any other: as it is under Numba's own settings, and on systems where this was not tried."""
    is_compiled = sys.platform == "linux" and str(_setting("DISABLE_JIT")) in ("", "0", "False")
    return is_compiled and not has_settings() and can_be_passed(kinds)


@functools.cache
def _machine() -> tuple[Any, ...]:
    """Return what machine code is for: the processor, and settings that Numba takes from the environment."""
    import llvmlite
    import llvmlite.binding as llvm

    chosen = sorted(each for each in os.environ.items() if each[0].startswith("NUMBA_") and each[0] != "NUMBA_CACHE_DIR")
    processor = llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten()
    return llvmlite.__version__, llvm.get_process_triple(), *processor, chosen
