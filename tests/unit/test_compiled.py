"""Holds how kernels are kept on disk: the right code under every name, whatever else compiles, changes or breaks."""

from __future__ import annotations

import importlib
import os
import re
import sys
import threading
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numba.core.caching import NullCache

from pipeline import compiled
from pipeline.compiled import kernel

HELPER = "from pipeline.compiled import kernel\n@kernel\ndef change(x):\n    return x + 1\n"
CONSTANT = "import numpy as np\nFACTOR = 10\nTABLE = np.array([7, 0])\n"
SHAPE = "from typing import NamedTuple\nclass Pair(NamedTuple):\n    a: int\n    b: int\n"
CALLER = (
    "from constant import FACTOR, TABLE\n"
    "from helper import change\n"
    "from pipeline.compiled import kernel\n"
    "from shape import Pair\n"
    "@kernel\n"
    "def call(x):\n"
    "    return change(x) * FACTOR + TABLE[1] + Pair(0, 1).a\n"
)
MODULES = {"helper": HELPER, "constant": CONSTANT, "shape": SHAPE, "caller": CALLER}


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder where kernels are kept."""
    folder = tmp_path / "kept"
    monkeypatch.setattr("numba.core.config.CACHE_DIR", str(folder))
    return folder


@pytest.fixture
def code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A kernel whose helper and constant stand in modules of their own."""
    folder = tmp_path / "code"
    folder.mkdir()
    for name, text in MODULES.items():
        (folder / f"{name}.py").write_text(text)
    monkeypatch.syspath_prepend(folder)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)  # else a module changed within a second would be the former one
    yield folder
    forget()


def forget() -> None:
    """Know no more of the modules and of digests than another process does."""
    for name in MODULES:
        sys.modules.pop(name, None)
    compiled._describe_code.cache_clear()
    compiled._digest_file.cache_clear()


def call(value: float) -> tuple[float, int]:
    """Import the kernel as another process does; give what it returns and how often it was found on disk."""
    forget()
    function = importlib.import_module("caller").call
    return function(value), sum(function.stats.cache_hits.values())


def fill(path: Path) -> None:
    with path.open("wb", buffering=0) as file:
        while True:
            file.write(bytes(4096))


def kept_files(kept: Path) -> list[Path]:
    return sorted(kept.rglob("*.nbc"))


@pytest.mark.usefixtures("code", "kept")
def test_a_second_process_compiles_nothing() -> None:
    assert call(4) == (50, 0)
    assert call(4) == (50, 1)
    assert call(4.0) == (50.0, 0)
    assert call(4) == (50, 1)


@pytest.mark.parametrize(
    ("module", "old", "new", "result"),
    [
        ("helper", "+ 1", "+ 2", 60),
        ("constant", "10", "20", 100),
        ("constant", "0])", "3])", 53),
        ("shape", "b: int", "a: int", 51),
        ("caller", "* F", "- F", -5),
    ],
)
def test_a_kernel_is_compiled_anew_when_anything_in_it_has_changed(
    code: Path, kept: Path, module: str, old: str, new: str, result: str
) -> None:
    assert call(4) == (50, 0)
    path = code / f"{module}.py"
    before = path.stat()
    swapped = {old: new, new: old}
    path.write_text(re.sub(f"{re.escape(old)}|{re.escape(new)}", lambda found: swapped[found[0]], path.read_text()))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))  # as a copy that keeps its times
    assert call(4) == (result, 0)
    assert call(4) == (result, 1)


def test_files_of_former_code_are_written_over(code: Path, kept: Path) -> None:
    call(4)
    files = kept_files(kept)
    (code / "helper.py").write_text(HELPER.replace("+ 1", "+ 3"))
    call(4)
    assert kept_files(kept) == files


@pytest.mark.parametrize("damage", ["cut", "flipped", "empty"])
@pytest.mark.usefixtures("code")
def test_a_damaged_file_is_compiled_again(kept: Path, damage: str) -> None:
    call(4)
    for path in kept_files(kept):
        content = path.read_bytes()
        middle = len(content) // 2
        flipped = content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :]
        path.write_bytes({"cut": content[:middle], "flipped": flipped, "empty": b""}[damage])
    assert call(4) == (50, 0)
    assert call(4) == (50, 1)


@pytest.mark.usefixtures("code")
def test_a_disk_that_fills_costs_time_only(small_disk: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("numba.core.config.CACHE_DIR", str(small_disk))
    forget()
    function = importlib.import_module("caller").call
    with pytest.raises(OSError, match="No space"):
        fill(small_disk / "filler")
    assert function(4) == 50
    assert not kept_files(small_disk)
    assert not list(small_disk.rglob("*.tmp.*"))


@pytest.mark.usefixtures("kept")
def test_processes_that_compile_together_keep_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    # Two caches of one function as two processes have them; neither puts its first file in place before the other would.

    def anything(x: int) -> int:
        return x

    caches = [compiled._KernelCache(anything) for _ in range(2)]
    meet = threading.Barrier(2)
    met: set[int] = set()
    replace = os.replace

    def replace_together(source: str, target: str) -> None:
        if threading.get_ident() not in met:
            met.add(threading.get_ident())
            meet.wait(10)
        replace(source, target)

    monkeypatch.setattr(os, "replace", replace_together)

    def save(place: int) -> None:
        caches[place]._cache_file.save((f"signature {place}",), f"code {place}")

    threads = [threading.Thread(target=save, args=(place,)) for place in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(met) == 2
    for cache in caches:
        assert [cache._cache_file.load((f"signature {place}",)) for place in range(2)] == ["code 0", "code 1"]
        assert cache._cache_file.load(("signature 2",)) is None


def test_flushing_removes_what_is_kept(kept: Path) -> None:

    @kernel
    def double(x: int) -> int:
        return x * 2

    assert double(2) == 4
    assert len(kept_files(kept)) == 1
    double._cache.flush()  # type: ignore[attr-defined]
    assert not kept_files(kept)


@pytest.fixture
def nowhere(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Neither the package's folder nor the home may be written."""
    monkeypatch.setattr("numba.core.caching.CacheImpl._locator_classes", [])
    compiled._warn_that_nothing_is_kept.cache_clear()
    yield
    compiled._warn_that_nothing_is_kept.cache_clear()


@pytest.mark.usefixtures("nowhere")
def test_without_a_place_to_keep_them_kernels_work_and_say_so_once() -> None:
    def triple(x: int) -> int:
        return x * 3

    with pytest.warns(RuntimeWarning, match="NUMBA_CACHE_DIR"):
        first: Any = kernel(triple)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        second = kernel(triple)
    assert isinstance(first._cache, NullCache)
    assert first(2) == second(2) == 6


def test_a_signature_is_compiled_once_for_every_integer() -> None:
    @kernel(signature="int64(int64, int64)")
    def subtract(a: int, b: int) -> int:
        return a - b

    @kernel
    def call_it(small: np.int32) -> int:
        return subtract(5, small) + subtract(7, small)

    assert call_it(np.int32(2)) == 8
    assert len(subtract.signatures) == 1  # type: ignore[attr-defined]
    with pytest.raises(TypeError):
        subtract("a", 2)  # type: ignore[arg-type]


def test_a_division_by_zero_is_as_was_asked_for() -> None:
    def divide(a: float, b: float) -> float:
        return a / b

    with pytest.raises(ZeroDivisionError):
        kernel(divide)(1.0, 0.0)
    assert kernel(error_model="numpy")(divide)(1.0, 0.0) == float("inf")  # not what was kept of the other


def test_kernels_run_beside_other_threads() -> None:
    @kernel
    def same(x: int) -> int:
        return x

    assert same.targetoptions["nogil"] is True  # type: ignore[attr-defined]
