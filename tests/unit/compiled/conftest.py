"""Kernels in modules that a test writes, imported as another process would."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from pipeline.compiled import disk_cache
from pipeline.compiled.sources import forget_sources


class Code:
    """Modules in a folder, of which ``caller`` has the kernel ``call``."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.names: set[str] = set()

    def write(self, **modules: str) -> None:
        """Write modules; one that was there keeps its time, as some ways of copying have it."""
        for name, text in modules.items():
            path = self.folder / f"{name}.py"
            before = path.stat() if path.exists() else None
            path.write_text(text)
            if before is not None:
                os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
            self.names.add(name)

    def load(self) -> Callable[..., Any]:
        """Import ``call`` as another process does."""
        self.forget()
        return importlib.import_module("caller").call

    def call(self, *arguments: Any) -> tuple[Any, int]:
        """Return what another process gets, and how often it found ``call`` on disk."""
        function: Any = self.load()
        return function(*arguments), sum(function.stats.cache_hits.values())

    def forget(self) -> None:
        forget_sources()
        for name in self.names:
            sys.modules.pop(name, None)


@pytest.fixture(autouse=True)
def nothing_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every test is warned anew."""
    monkeypatch.setattr(disk_cache, "_told", set())


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder where kernels are kept."""
    folder = tmp_path / "kept"
    folder.mkdir()
    monkeypatch.setattr("numba.core.config.CACHE_DIR", str(folder))
    return folder


@pytest.fixture
def code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Code]:
    """An empty folder of modules."""
    folder = tmp_path / "code"
    folder.mkdir()
    monkeypatch.syspath_prepend(folder)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)  # a module changed within a second would be taken for the former one
    made = Code(folder)
    yield made
    made.forget()
