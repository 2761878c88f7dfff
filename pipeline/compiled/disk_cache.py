"""Compiled signatures on disk, each in a file of its own that says what it was made from.

Numba's own way numbers the files of a function through an index that every process rewrites. Processes that compile at the same
time, as the workers of a cluster do on their first day, can so come to hold the code of one signature under the name of another,
for good. Here there is no index: a file is named by types, machine and options, and begins with digests of its content and of the
source that it was compiled from.
"""

from __future__ import annotations

import functools
import hashlib
import os
import pickle
import warnings
from pathlib import Path
from typing import Any

import numba
import numba.core.config
import numba.cpython.hashing
import numpy as np
from numba import types
from numba.core.caching import FunctionCache, IndexDataCacheFile
from numba.core.dispatcher import Dispatcher
from numba.core.runtime.nrt import rtsys
from numba.core.sigutils import normalize_signature

from pipeline.compiled.kept_files import is_current, name_of, read_kept, write_kept
from pipeline.compiled.late_modules import LateModules, parse_late
from pipeline.compiled.notice import tell_of_compilation
from pipeline.compiled.private import make_private_folder, may_be_written_by_others
from pipeline.compiled.turns import Turns

__all__ = ["KeptSignatures", "warn_once"]

_told: set[str] = set()


def warn_once(what: str, why: object) -> None:
    """Say why every process compiles kernels for itself: once, and not for each kernel."""
    if what not in _told:
        _told.add(what)
        warnings.warn(
            f"kernels are compiled by every process for itself, for up to a minute: {what}: {why}. Where nothing may be written "
            "beside the package or in your home, set NUMBA_CACHE_DIR to a private folder: one that you may write and nobody else",
            RuntimeWarning,
            stacklevel=3,
        )


@functools.cache
def _in_private(place: Any) -> Any:
    """Return one of Numba's classes that choose a folder, held to private ones: where it has none, Numba asks the next class."""

    class Private(place):  # type: ignore[misc]
        def get_cache_path(self) -> str:
            path: str = super().get_cache_path()
            config: Any = numba.core.config
            shared = config.CACHE_DIR
            if hasattr(os, "getuid") and shared and path.startswith(shared) and may_be_written_by_others(shared):
                return os.path.join(shared, f"user-{os.getuid()}", os.path.relpath(path, shared))
            return path

        def ensure_cache_path(self) -> None:
            make_private_folder(self.get_cache_path())
            super().ensure_cache_path()

    return Private


class _KeptInPrivate(LateModules):
    """What Numba keeps, in a folder that nobody else may write: loading it is running it."""

    @property
    def _locator_classes(self) -> list[Any]:  # type: ignore[override]
        return [_in_private(place) for place in super()._locator_classes]


class KeptSignatures(FunctionCache):
    """What is kept of one kernel. Whatever goes wrong with it, compiling is right: a caller gets a warning and no error."""

    _impl_class = _KeptInPrivate

    def __init__(self, kernel: Dispatcher[Any], sources: bytes) -> None:
        super().__init__(kernel.py_func)
        try:
            # Once more: there are classes that do not look, and others may be named in Numba's environment.
            self._cache_path = make_private_folder(self._cache_path)
        except OSError as error:
            raise RuntimeError(str(error)) from error
        self._files = self._cache_file = _OneFileEach(kernel, self._cache_path, sources)
        self._turns = Turns()

    def load_overload(self, signature: Any, target_context: Any) -> Any:
        """Return the code kept for these types, waiting while another process compiles it; None where this one is to compile."""
        path = self._files.path_of(self._index_key(signature, target_context.codegen()))
        found = None if path is None else self._turns.wait(path, lambda: self._load(signature, target_context))
        if found is None:
            tell_of_compilation()
        return found

    def has(self, signature: Any, target_context: Any) -> bool:
        """Tell whether code is kept for these types, made from the source as it is; what is damaged is found when it is loaded."""
        path = self._files.path_of(self._index_key(signature, target_context.codegen()))
        return path is not None and self._files.is_current(path)

    def _load(self, signature: Any, target_context: Any) -> Any:
        """Return the code kept for these types; None where there is none, or its types only look alike."""
        try:
            found: Any = self._read(signature, target_context)
        except Exception as error:  # of any kind: what is unpickled may name what is elsewhere by now
            warn_once("what was kept cannot be loaded", f"{type(error).__name__}: {error}")
            return None
        is_asked = found is not None and found.signature.args == tuple(normalize_signature(signature)[0])
        return found if is_asked else None

    def _read(self, signature: Any, target_context: Any) -> Any:
        """Do what Numba's own method does, but load nothing that is needed to compile, which takes a fifth of a second.

        Numba loads that itself before it compiles. What machine code calls is known without it: functions of C, Python and Numba,
        those that manage memory, and the numbers that hashes begin with, of which importing `numba.cpython.hashing` tells LLVM.
        """
        rtsys.initialize(target_context)
        parse_late(target_context.codegen())
        with self._guard_against_spurious_io_errors():
            return self._load_overload(signature, target_context)

    def save_overload(self, signature: object, compiled: object) -> None:
        """Keep what was compiled; a disk that is full or may not be written costs the next process time and nothing else."""
        try:
            super().save_overload(signature, compiled)
        except Exception as error:  # Numba and pickle have their own for what cannot be kept
            warn_once("what was compiled cannot be kept", f"{type(error).__name__}: {error}")

    def end_turns(self) -> None:
        """Let other processes compile what this one has not."""
        self._turns.end_all()

    def _index_key(self, signature: object, codegen: Any) -> tuple[object, object]:
        return signature, codegen.magic_tuple()  # the rest of Numba's key is in the digest of the source


class _OneFileEach(IndexDataCacheFile):
    """One file a signature, machine and options of Numba: digests of itself and of the source it was made from, then the code."""

    def __init__(self, kernel: Dispatcher[Any], folder: str, sources: bytes) -> None:
        function = kernel.py_func
        self._base = name_of(function)
        super().__init__(cache_path=folder, filename_base=self._base, source_stamp=None)
        # The line tells functions of one name apart, of which a file chooses one.
        made_of = f"{numba.__version__} {np.__version__} {function.__code__.co_firstlineno} {sorted(kernel.targetoptions.items())}"
        self._stamp = hashlib.sha256(sources + made_of.encode()).digest()

    def save(self, key: tuple[Any, ...], data: object) -> None:
        """Write the file of a key, in one step; nothing for types that have none."""
        if (path := self.path_of(key)) is not None:
            write_kept(path, self._stamp, self._dump(data))

    def load(self, key: tuple[Any, ...]) -> object:
        """Return what was kept under a key, or None if that is nothing, not whole, or made from other source.

        Others may have written it: PermissionError.
        """
        path = self.path_of(key)
        code = None if path is None else read_kept(path, self._stamp)
        return None if code is None else pickle.loads(code)

    def is_current(self, path: str) -> bool:
        """Tell whether a file was made from the source as it is."""
        return is_current(path, self._stamp)

    def flush(self) -> None:
        """Remove the files of this kernel, and what writers that were killed left of them."""
        for path in Path(self._cache_path).iterdir():
            if path.name.startswith(f"{self._base}.") and ".nbc" in path.name:
                path.unlink(missing_ok=True)

    def path_of(self, key: tuple[Any, ...]) -> str | None:
        """Return the path of the file of a key; None for types that are known to this process alone, such as another kernel."""
        config: Any = numba.core.config
        signature, machine = key
        asked = _describe(signature)
        if " at 0x" in asked:
            return None
        options = (config.BOUNDSCHECK, config.OPT, config.DEBUGINFO_DEFAULT)
        name = hashlib.sha256(repr((asked, machine, options)).encode()).hexdigest()[:24]
        return os.path.join(self._cache_path, f"{self._base}.{name}.nbc")


def _describe(asked: Any) -> str:
    """Return a text for types of arguments, with the fields of named tuples: Numba names these by their class alone."""
    inner = asked if isinstance(asked, tuple) else tuple(getattr(asked, "types", ())) if isinstance(asked, types.BaseTuple) else ()
    kind = getattr(asked, "instance_class", None)
    fields = f"{kind.__module__}.{kind.__qualname__}{kind._fields}" if isinstance(asked, types.BaseNamedTuple) and kind else ""
    return f"{asked!r}{fields}{''.join(map(_describe, inner))}"
