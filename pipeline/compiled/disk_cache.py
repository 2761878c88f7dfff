"""Compiled signatures on disk. This module keeps each in a file that is named and sealed by what it holds.

Numba's own way numbers the files of a function through an index that every process rewrites. Processes that compile at the same
time, as the workers of a cluster do on their first day, can so come to hold the code of one signature under the name of another,
for good. Here there is no index, and a file says what it was made from.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import pickle
import sys
from pathlib import Path
from typing import Any

import numba
import numba.core.config
from numba.core.caching import CompileResultCacheImpl, FunctionCache, IndexDataCacheFile
from numba.core.dispatcher import Dispatcher
from numba.core.sigutils import normalize_signature

from pipeline.compiled.fingerprint import describe_kernel, describe_types
from pipeline.compiled.private import make_private_folder, may_be_written_by_others, open_private, replacing_private
from pipeline.compiled.turns import Turns

__all__ = ["KeptSignatures"]

_SEAL = hashlib.sha256().digest_size


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


class _KeptInPrivate(CompileResultCacheImpl):
    """What Numba keeps, in a folder that nobody else may write: loading it is running it."""

    @property
    def _locator_classes(self) -> list[Any]:  # type: ignore[override]
        return [_in_private(place) for place in super()._locator_classes]


class KeptSignatures(FunctionCache):
    """What is kept of one kernel."""

    _impl_class = _KeptInPrivate

    def __init__(self, kernel: Dispatcher[Any]) -> None:
        super().__init__(kernel.py_func)
        try:
            # Once more: there are classes that do not look, and others may be named in Numba's environment.
            self._cache_path = make_private_folder(self._cache_path)
        except OSError as error:
            raise RuntimeError(str(error)) from error
        self._files = self._cache_file = _NamedByContent(kernel, self._cache_path)
        self._turns = Turns()

    # Whatever goes wrong with what is kept, or would be, compiling is right: nothing of it reaches who calls a kernel.

    def load_overload(self, signature: Any, target_context: Any) -> Any:
        """Return the code kept for these types, waiting while another process compiles it; None where this one is to compile."""
        with contextlib.suppress(Exception):
            path = self._files.path_of(self._index_key(signature, target_context.codegen()))
            return self._turns.wait(path, lambda: self._load(signature, target_context))
        return None

    def _load(self, signature: Any, target_context: Any) -> Any:
        """Return the code kept for these types; None where there is none, or its types only look alike."""
        with contextlib.suppress(Exception):
            found: Any = super().load_overload(signature, target_context)
            if found is not None and found.signature.args == tuple(normalize_signature(signature)[0]):
                return found
        return None

    def save_overload(self, signature: object, compiled: object) -> None:
        """Keep what was compiled; a disk that is full or may not be written costs the next process time and nothing else."""
        with contextlib.suppress(Exception):
            super().save_overload(signature, compiled)

    def end_turns(self) -> None:
        """Let other processes compile what this one has not."""
        self._turns.end_all()

    def _index_key(self, signature: object, codegen: Any) -> tuple[object, object]:
        # Without the rest of Numba's key, which the description of the code has: it cannot be made of every closure.
        return signature, codegen.magic_tuple()


class _NamedByContent(IndexDataCacheFile):
    """One file a signature, machine and options of Numba: digests of itself and of the code it was made from, then that code."""

    def __init__(self, kernel: Dispatcher[Any], folder: str) -> None:
        function = kernel.py_func
        name = function.__qualname__.replace("<", "").replace(">", "")  # which Windows has not in names
        version = f"py{sys.version_info[0]}{sys.version_info[1]}{getattr(sys, 'abiflags', '')}"
        base = f"{Path(function.__code__.co_filename).stem}.{name}.{version}"
        super().__init__(cache_path=folder, filename_base=base, source_stamp=None)
        self._kernel = kernel
        self._base = base

    def save(self, key: tuple[Any, ...], data: object) -> None:
        """Write the file of a key, in one step."""
        path, code = self.path_of(key), describe_kernel(self._kernel)
        body = code + self._dump(data)
        with replacing_private(path) as file:
            file.write(hashlib.sha256(body).digest() + body)

    def load(self, key: tuple[Any, ...]) -> object:
        """Return what was kept under a key, or None if that is nothing, not whole, or made from other code.

        Others may have written it: PermissionError.
        """
        path, code = self.path_of(key), describe_kernel(self._kernel)
        if not os.path.exists(path):
            return None
        with open_private(path) as file:
            content = file.read()
        seal, body = content[:_SEAL], content[_SEAL:]
        if hashlib.sha256(body).digest() != seal or not body.startswith(code):
            return None
        return pickle.loads(body[len(code) :])

    def flush(self) -> None:
        """Remove the files of this kernel, and what writers that were killed left of them."""
        for path in Path(self._cache_path).iterdir():
            if path.name.startswith(f"{self._base}.") and ".nbc" in path.name:
                path.unlink(missing_ok=True)

    def path_of(self, key: tuple[Any, ...]) -> str:
        """Return the path of the file of a key."""
        config: Any = numba.core.config
        signature, machine = key
        options = (config.BOUNDSCHECK, config.OPT, config.DEBUGINFO_DEFAULT)
        name = hashlib.sha256(repr((describe_types(signature), machine, options)).encode()).hexdigest()[:24]
        return os.path.join(self._cache_path, f"{self._base}.{name}.nbc")
