"""Compiled signatures on disk. This module keeps each in a file that is named and sealed by what it holds.

Numba's own way numbers the files of a function through an index that every process rewrites. Processes that compile at the same
time, as the workers of a cluster do on their first day, can so come to hold the code of one signature under the name of another,
for good. Here there is no index, and a file says what it was made from.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import pickle
import sys
from pathlib import Path
from typing import Any

import numba
import numba.core.config
from numba.core.caching import FunctionCache, IndexDataCacheFile
from numba.core.dispatcher import Dispatcher

from pipeline.compiled.described import NotDescribed, describe_kernel, describe_types

__all__ = ["KeptSignatures"]

_SEAL = hashlib.sha256().digest_size


class KeptSignatures(FunctionCache):
    """What is kept of one kernel."""

    def __init__(self, kernel: Dispatcher[Any]) -> None:
        super().__init__(kernel.py_func)
        self._cache_file = _NamedByContent(kernel, self._cache_path)

    def save_overload(self, signature: object, compiled: object) -> None:
        """Keep what was compiled; a disk that is full or may not be written costs the next process time and nothing else."""
        with contextlib.suppress(OSError):
            super().save_overload(signature, compiled)


class _NamedByContent(IndexDataCacheFile):
    """One file a signature, machine and options of Numba: digests of itself and of the code it was made from, then that code."""

    def __init__(self, kernel: Dispatcher[Any], folder: str) -> None:
        function = kernel.py_func
        name = function.__qualname__.replace("<", "").replace(">", "")  # which Windows has not in names
        base = f"{Path(function.__code__.co_filename).stem}.{name}.py{sys.version_info[0]}{sys.version_info[1]}{sys.abiflags}"
        super().__init__(cache_path=folder, filename_base=base, source_stamp=None)
        self._kernel = kernel
        self._base = base

    def save(self, key: tuple[Any, ...], data: object) -> None:
        """Write the file of a key, in one step; nothing where the code cannot be described."""
        with contextlib.suppress(NotDescribed):
            path, code = self._path(key), describe_kernel(self._kernel)
            body = code + self._dump(data)
            with self._open_for_write(path) as file:
                file.write(hashlib.sha256(body).digest() + body)

    def load(self, key: tuple[Any, ...]) -> object:
        """Give what was kept under a key, or None if that is nothing, not whole, or made from other code."""
        try:
            path, code = self._path(key), describe_kernel(self._kernel)
            content = Path(path).read_bytes()
        except (NotDescribed, OSError):
            return None
        seal, body = content[:_SEAL], content[_SEAL:]
        if hashlib.sha256(body).digest() != seal or not body.startswith(code):
            return None
        return pickle.loads(body[len(code) :])

    def flush(self) -> None:
        """Remove the files of this kernel, and what writers that were killed left of them."""
        for path in Path(self._cache_path).iterdir():
            if path.name.startswith(f"{self._base}.") and ".nbc" in path.name:
                path.unlink(missing_ok=True)

    def _path(self, key: tuple[Any, ...]) -> str:
        config: Any = numba.core.config
        signature, machine = key[:2]  # the rest of Numba's key is in the description of the code
        options = (config.BOUNDSCHECK, config.OPT, config.DEBUGINFO_DEFAULT)
        name = hashlib.sha256(repr((describe_types(signature), machine, options)).encode()).hexdigest()[:24]
        return os.path.join(self._cache_path, f"{self._base}.{name}.nbc")
