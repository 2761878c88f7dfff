"""Kernels that run without Numba: the same as others, and only what needs nothing but its arguments."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pipeline.compiled.bare import _Kept
from pipeline.compiled.disk_cache import KeptSignatures
from pipeline.compiled.notice import hearing_of_compilation

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere they are kernels as any other")

ADD = """
import numpy as np
from pipeline.compiled.bare import bare_kernel
@bare_kernel("int64, float64, uint8[:, ::1], int64[::1]")
def call(times, by, table, out):
    for row in range(table.shape[0]):
        out[row] = 0
        for place in range(table.shape[1]):
            out[row] += times * table[row, place] + np.int64(by)
"""


def added(function: Any) -> list[int]:
    out = np.full(2, -1)
    function(np.int64(2), 1.5, np.array([[1, 2, 255], [0, 0, 4]], np.uint8), out)
    return out.tolist()  # type: ignore[no-any-return]


def compilations(function: Any) -> int:
    """Return how often code is compiled by a call whose result is as it was."""
    heard: list[int] = []
    with hearing_of_compilation(lambda: heard.append(1)):
        assert added(function) == [519, 11]
    return len(heard)


def test_code_that_is_kept_is_run_without_numba(code: Any, kept: Path) -> None:
    code.write(caller=ADD)
    assert compilations(code.load()) == 1
    assert [path.name.partition(".py")[0] for path in kept.rglob("*.nbc")] == ["caller.call"]
    program = (
        "import sys, numpy as np, caller\n"
        "out = np.zeros(1, np.int64)\n"
        "assert caller.call.is_at_hand()\n"
        "caller.call(3, 0.0, np.array([[5]], np.uint8), out)\n"
        "assert out.tolist() == [15] and 'llvmlite' in sys.modules and 'numba' not in sys.modules\n"
    )
    path = os.pathsep.join([str(code.folder), *sys.path])
    subprocess.run(
        [sys.executable, "-c", program], check=True, env={**os.environ, "NUMBA_CACHE_DIR": str(kept), "PYTHONPATH": path}
    )


@pytest.mark.usefixtures("kept")
def test_it_is_compiled_once_and_anew_where_its_source_has_changed(code: Any) -> None:
    code.write(caller=ADD)
    assert not code.load().is_at_hand()
    assert [compilations(code.load()) for _ in range(2)] == [1, 0]
    code.write(caller=ADD.replace("+ np.int64(by)", "- np.int64(by)"))
    assert not code.load().is_at_hand()
    assert added(code.load()) == [513, 5]


def test_what_is_damaged_or_may_be_written_by_others_is_not_run(code: Any, kept: Path) -> None:
    code.write(caller=ADD)
    added(code.load())
    (file,) = kept.rglob("*.nbc")
    whole = file.read_bytes()
    file.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
    assert compilations(code.load()) == 1
    assert compilations(code.load()) == 0
    file.chmod(0o666)
    assert compilations(code.load()) == 1


@pytest.mark.usefixtures("kept")
def test_what_allocates_is_a_kernel_as_any_other(code: Any) -> None:
    code.write(caller=f"{ADD.partition('    for')[0]}    room = np.empty(len(out))\n    out[0] = len(room)\n")
    function = code.load()
    assert added(function) == [2, -1]
    assert function._run is None


@pytest.mark.usefixtures("kept")
def test_what_raises_is_an_error(code: Any) -> None:
    code.write(caller=f"{ADD}    raise ValueError\n")
    with pytest.raises(RuntimeError, match="ended with status 1"):
        added(code.load())


@pytest.mark.usefixtures("kept")
def test_arrays_of_another_type_or_layout_are_refused(code: Any) -> None:
    code.write(caller=ADD)
    function, table, out = code.load(), np.zeros((2, 4), np.uint8), np.zeros(2, np.int64)
    for wrong in (table.astype(np.int8), table[:, ::2], table[0], table.tolist(), np.broadcast_to(table[:1], (2, 4))):
        with pytest.raises(TypeError, match="a kernel takes uint8 on 2 axes"):
            function(1, 1.0, wrong, out)
    with pytest.raises(ValueError):
        function(1, 1.0, table)


@pytest.mark.parametrize("where", ["beside", "home", "given", "shared"])
def test_it_is_looked_for_where_numba_keeps_it(code: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str) -> None:
    given = tmp_path / "given"
    given.mkdir()
    given.chmod(0o1777 if where == "shared" else 0o700)
    monkeypatch.setattr("numba.core.config.CACHE_DIR", str(given) if where in ("given", "shared") else "")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    if where == "home":
        monkeypatch.setattr("numba.core.caching.InTreeCacheLocator.from_function", lambda *_: None)
    code.write(caller=ADD)
    function = code.load()
    assert compilations(function) == 1
    place, kept = function._compiled._cache, _Kept.of(function._plain, function._signature)
    assert isinstance(place, KeptSignatures)
    assert kept is not None
    assert kept.path_in(place._cache_path) in list(kept.paths())
    assert Path(kept.path_in(place._cache_path)).is_file()
    assert compilations(code.load()) == 0
