"""What is kept of kernels: the right code under every name, whatever else compiles, changes or breaks."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from pipeline.compiled import kernel, late_modules
from pipeline.compiled.disk_cache import KeptSignatures
from pipeline.compiled.notice import hearing_of_compilation

HEAD = "from pipeline.compiled import kernel\n"
CALLER = HEAD + "from part import change\n@kernel\ndef call(x):\n    return change(x) * 10\n"
PART = HEAD + "@kernel\ndef change(x):\n    return x + 1\n"


def kept_files(kept: Path) -> list[Path]:
    return sorted(kept.rglob("*.nbc"))


def test_a_second_process_compiles_nothing(code: Any, kept: Path) -> None:
    code.write(caller=CALLER, part=PART)
    assert code.call(4) == (50, 0)
    assert code.call(4) == (50, 1)
    assert code.call(4.0) == (50.0, 0)
    assert code.call(4) == (50, 1)
    assert code.call(4.0) == (50.0, 1)
    assert all(path.is_relative_to(kept) for path in kept_files(kept))
    assert len(kept_files(kept)) == 4


def test_the_module_of_a_kept_kernel_is_parsed_where_another_one_is_made_of_it(code: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    code.write(caller=CALLER, part=PART)
    code.call(4)
    parsed: list[int] = []
    parse = late_modules.llvm.parse_bitcode

    def look(bitcode: bytes) -> Any:
        parsed.append(len(bitcode))
        return parse(bitcode)

    monkeypatch.setattr(late_modules.llvm, "parse_bitcode", look)
    monkeypatch.setattr("numba.core.codegen.ll.parse_bitcode", look)
    assert code.call(4) == (50, 1)
    assert not parsed
    code.write(caller=CALLER.replace("* 10", "* 100"))
    assert code.call(4) == (500, 0)  # made of the other kernel, which is kept
    assert parsed
    assert code.call(4) == (500, 1)


def test_whoever_listens_is_told_of_what_is_compiled_and_not_of_what_is_kept(code: Any) -> None:
    code.write(caller=CALLER, part=PART)
    heard: list[int] = []
    with hearing_of_compilation(lambda: heard.append(1)):
        code.call(4)
        assert len(heard) == 2  # the kernel, and the one that it calls
        code.call(4)
    code.call(4.0)
    assert len(heard) == 2


def test_a_kernel_is_at_hand_once_it_was_compiled_of_the_same_source_and_types(code: Any, kept: Path) -> None:
    code.write(caller=CALLER, part=PART)
    assert not code.load().is_at_hand(4)
    first = code.load()
    first(4)
    assert first.is_at_hand(4)
    assert code.load().is_at_hand(4)
    assert not code.load().is_at_hand(4.0)
    code.write(part=PART.replace("+ 1", "+ 2"))
    assert not code.load().is_at_hand(4)


KINDS = """
import math
import numpy as np
from pipeline.compiled import kernel

@kernel
def arrays(x):
    found = np.empty(len(x))
    for i in range(len(x)):
        found[i] = math.erf(x[i]) + math.exp(x[i])
    return found

@kernel
def hashes(x):
    seen = set()
    sums = {0: 0, 1: 0}
    for each in x:
        seen.add(each)
        sums[each % 2] += each
    return len(seen), sums[0], sums[1], hash("ab"[x[0] % 2])

@kernel
def refuses(x):
    if x < 0:
        raise ValueError("negative")
    return x // 2, x ** 0.5

def refused(x):
    try:
        return refuses(x)
    except ValueError as error:
        return str(error)
"""
CALLS = """
import json, sys
import kinds as k
from pipeline.compiled.decorator import Kernel
hits = lambda: sum(sum(each.stats.cache_hits.values()) for each in vars(k).values() if isinstance(each, Kernel))
x = k.np.array([3, 1, 1, 2])
*counted, hashed = k.hashes(x)
found = [k.arrays(x / 2).tolist(), counted, hashed == hash("b"), k.refuses(5), k.refused(-5)]
told = {"found": found, "hits": hits(), "compiles": "numba.np.npyimpl" in sys.modules}
told["another"] = k.arrays(x.astype(sys.argv[1])).round(2).tolist()
print(json.dumps(told))
"""


def test_kernels_of_every_kind_are_loaded_without_what_compiles(code: Any, kept: Path) -> None:
    code.write(kinds=KINDS)
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(kept)}

    def run(another: str) -> dict[str, Any]:
        command = [sys.executable, "-W", "error", "-c", CALLS, another]
        done = subprocess.run(command, capture_output=True, text=True, cwd=code.folder, env=environment)
        assert done.returncode == 0, done.stderr
        told: dict[str, Any] = json.loads(done.stdout)
        return told

    first, second = run("int32"), run("float32")  # each asks last for what has to be compiled
    assert (first["hits"], first["compiles"], second["hits"], second["compiles"]) == (0, True, 3, False)
    assert first["found"] == second["found"]
    assert first["found"][1:3] == [[3, 2, 5], True]  # texts have another hash in every process
    assert first["another"] == second["another"]


def test_files_of_former_code_are_written_over(code: Any, kept: Path) -> None:
    code.write(caller=CALLER, part=PART)
    code.call(4)
    files = kept_files(kept)
    for caller, part, result in ((CALLER, PART.replace("+ 1", "+ 3"), 70), ("\n" + CALLER.replace("* 10", "- x"), PART, 1)):
        code.write(caller=caller, part=part)
        assert code.call(4) == (result, 0)
    assert kept_files(kept) == files


@pytest.mark.usefixtures("kept")
def test_a_caller_is_compiled_anew_where_an_inlined_kernel_has_changed(code: Any) -> None:
    inlined = PART.replace("@kernel", '@kernel(inline="always")')
    code.write(caller=CALLER, part=inlined)
    assert [code.call(4), code.call(4)] == [(50, 0), (50, 1)]
    code.write(caller=CALLER, part=inlined.replace("+ 1", "+ 3"))
    assert code.call(4) == (70, 0)


@pytest.mark.usefixtures("kept")
def test_code_that_changes_after_it_was_imported_is_kept_as_what_was_compiled(code: Any) -> None:
    code.write(caller=CALLER, part=PART)
    call = code.load()
    code.write(caller=CALLER.replace("* 10", "* 20"), part=PART.replace("+ 1", "+ 2"))
    assert call(4) == 50  # as it was imported
    assert code.call(4) == (120, 0)
    assert code.call(4) == (120, 1)


@pytest.mark.parametrize("damage", ["cut", "flipped", "empty"])
def test_a_damaged_file_is_compiled_again(code: Any, kept: Path, damage: str) -> None:
    code.write(caller=CALLER, part=PART)
    code.call(4)
    for path in kept_files(kept):
        content = path.read_bytes()
        middle = len(content) // 2
        flipped = content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :]
        path.write_bytes({"cut": content[:middle], "flipped": flipped, "empty": b""}[damage])
    assert code.call(4) == (50, 0)
    assert code.call(4) == (50, 1)


@pytest.mark.parametrize("obstacle", ["folder", "unreadable"])
def test_a_file_that_cannot_be_read_is_compiled_again(
    code: Any, kept: Path, monkeypatch: pytest.MonkeyPatch, obstacle: str
) -> None:
    code.write(caller=CALLER, part=PART)
    code.call(4)
    if obstacle == "unreadable":  # by mode it would be for this test, which may be run by root

        def refuse(path: str) -> None:
            raise PermissionError(path)

        monkeypatch.setattr("pipeline.compiled.kept_files.open_private", refuse)
    else:
        for path in kept_files(kept):
            path.unlink()
            path.mkdir()
    with pytest.warns(RuntimeWarning, match="cannot be (loaded|kept)") as told:
        assert code.call(4) == (50, 0)
    assert sum("cannot be loaded" in str(each.message) for each in told) == 1  # of two files


def test_a_class_that_is_elsewhere_by_now_is_no_error(code: Any, kept: Path) -> None:
    shape = "from typing import NamedTuple\nclass Pair(NamedTuple):\n    a: int\n    b: int\n"
    caller = HEAD + "from shape import Pair\n@kernel\ndef call(x):\n    return Pair(x, 1)\n"
    code.write(caller=caller, shape=shape)
    assert code.call(4) == ((4, 1), 0)
    (code.folder / "shape.py").unlink()
    code.write(caller=caller.replace("shape", "form"), form=shape)
    assert code.call(4) == ((4, 1), 0)
    (path,) = kept_files(kept)
    assert path.stat().st_size


def fill(path: Path) -> None:
    with path.open("wb", buffering=0) as file:
        while True:
            file.write(bytes(4096))


def test_a_disk_that_fills_costs_time_only(code: Any, small_disk: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("numba.core.config.CACHE_DIR", str(small_disk))
    code.write(caller=CALLER, part=PART)
    call = code.load()
    with pytest.raises(OSError, match="No space"):
        fill(small_disk / "filler")
    with pytest.warns(RuntimeWarning, match="cannot be kept.*No space"):
        assert call(4) == 50
    assert not kept_files(small_disk)
    assert not list(small_disk.rglob("*.tmp.*"))


def anything(x: int) -> int:
    return x


@pytest.mark.usefixtures("kept")
def test_processes_that_compile_together_keep_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    # Two caches of one kernel as two processes have them; neither puts its first file in place before the other would.
    caches = [KeptSignatures(kernel(anything), b"") for _ in range(2)]  # type: ignore[arg-type]
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
        caches[place]._cache_file.save((f"signature {place}", "machine"), f"code {place}")

    threads = [threading.Thread(target=save, args=(place,)) for place in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(met) == 2
    for cache in caches:
        assert [cache._cache_file.load((f"signature {place}", "machine")) for place in range(2)] == ["code 0", "code 1"]
        assert cache._cache_file.load(("signature 2", "machine")) is None
        assert cache._cache_file.load(("signature 1", "another machine")) is None


def test_flushing_removes_what_is_kept_of_one_kernel(kept: Path) -> None:
    @kernel
    def double(x: float) -> float:
        return x * 2

    @kernel
    def triple(x: float) -> float:
        return x * 3

    assert (double(2), double(2.0), triple(2)) == (4, 4.0, 6)
    first = kept_files(kept)[0]
    first.with_name(f"{first.name}.tmp.0123456789abcdef").write_bytes(b"of a writer that was killed")
    assert len(kept_files(kept)) == 3
    double._cache.flush()  # type: ignore[attr-defined]
    assert ["triple" in path.name for path in kept.rglob("*.nbc*")] == [True]
