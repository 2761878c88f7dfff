"""Kernels that run without Numba: the same as others, and only what needs nothing but C and its arguments."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pytest

from pipeline.compiled.arguments import can_be_passed, kind_of
from pipeline.compiled.bare import _Kept
from pipeline.compiled.disk_cache import KeptSignatures
from pipeline.compiled.notice import hearing_of_compilation

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere they are kernels as any other")

ADD = """
import numpy as np
from pipeline.compiled.bare import bare_kernel
@bare_kernel
def call(times, by, table, out):
    for row in range(table.shape[0]):
        out[row] = 0
        for place in range(table.shape[1]):
            out[row] += times * table[row, place] + np.int64(by)
"""


GIVEN = np.int64(2), 1.5, np.array([[1, 2, 255], [0, 0, 4]], np.uint8), np.full(2, -1)


def added(function: Any) -> list[int]:
    out = GIVEN[-1].copy()
    function(*GIVEN[:-1], out)
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
        "table = np.array([[5, 6, 7]], np.uint8)\n"
        "assert caller.call.is_at_hand(np.int64(3), 0.0, table, out) and not caller.call.is_at_hand(3, 0.0, out, out)\n"
        "caller.call(np.int64(3), 0.0, table, out)\n"
        "assert out.tolist() == [54] and 'llvmlite' in sys.modules and 'numba' not in sys.modules\n"
    )
    path = os.pathsep.join([str(code.folder), *sys.path])
    subprocess.run(
        [sys.executable, "-c", program], check=True, env={**os.environ, "NUMBA_CACHE_DIR": str(kept), "PYTHONPATH": path}
    )


@pytest.mark.usefixtures("kept")
def test_it_is_compiled_once_and_anew_where_its_source_has_changed(code: Any) -> None:
    code.write(caller=ADD)
    assert not code.load().is_at_hand(*GIVEN)
    assert [compilations(code.load()) for _ in range(2)] == [1, 0]
    code.write(caller=ADD.replace("+ np.int64(by)", "- np.int64(by)"))
    assert not code.load().is_at_hand(*GIVEN)
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


@pytest.mark.parametrize(
    ("body", "bare"),
    [
        ("room = np.ones(len(out) + times)\n    out[0] = 7 + int(room[1:].sum())", True),
        ("out[0] = 7 + int(np.log(np.exp(3.0)) + 0.5)", True),
        ("out[0] = 7 + math.frexp(by)[1] + int(math.ldexp(by, 1)) - 1", True),
        ("out[0] = 7 + len(sorted([3, 2, 1]))", False),
    ],
)
def test_what_needs_more_than_c_is_a_kernel_as_any_other(code: Any, kept: Path, body: str, bare: bool) -> None:
    code.write(caller=f"import math\n{ADD.partition('    for')[0]}    {body}\n")
    assert added(code.load())[0] == 10
    program = (
        "import sys, caller, numpy as np\n"
        "caller.call(np.int64(2), 1.5, np.zeros((2, 3), np.uint8), np.zeros(2, int))\n"
        "print('numba' in sys.modules)\n"
    )
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(kept), "PYTHONPATH": os.pathsep.join([str(code.folder), *sys.path])}
    done = subprocess.run([sys.executable, "-c", program], check=True, env=environment, capture_output=True, text=True)
    assert done.stdout == f"{not bare}\n"


@pytest.mark.parametrize(
    ("returned", "expected"),
    [("times", 2), ("by * 2", 3.0), ("by > 1", True), ("(times, table.shape[1])", (2, 3)), ("out + times", None)],
)
@pytest.mark.usefixtures("kept")
def test_a_number_or_some_are_returned_and_an_array_by_numba_alone(code: Any, returned: str, expected: Any) -> None:
    code.write(caller=f"{ADD}    return {returned}\n")
    for _ in range(2):
        found = code.load()(*GIVEN)
        if expected is None:
            assert found.tolist() == [521, 13]
        else:
            assert (type(found), found) == (type(expected), expected)


@pytest.mark.usefixtures("kept")
def test_what_it_is_given_decides_what_is_compiled(code: Any) -> None:
    """Types, layouts, what may be written, and tuples within tuples: whatever Numba compiles apart."""
    code.write(
        caller="""
import numpy as np
from typing import NamedTuple
from pipeline.compiled.bare import bare_kernel
class Two(NamedTuple):
    a: np.ndarray
    b: tuple[int, float]
@bare_kernel(error_model="numpy")
def call(two, table, out):
    out[0] = two.a.sum() + two.b[0] + two.b[1]
    for row in range(table.shape[0]):
        for place in range(table.shape[1]):
            out[0] += (10 * row + place) * table[row, place]
    return 1.0 / two.b[1]
"""
    )
    function = code.load()
    two, out = sys.modules["caller"].Two, np.zeros(1)
    whole = np.arange(24, dtype=np.float32).reshape(4, 6)
    for table in (whole, whole[::2, ::3], whole.T, whole.astype(np.int16), whole > 3, np.broadcast_to(whole[:1], (3, 6))):
        for a, b in (
            (np.arange(3), (5, 0.25)),
            (np.arange(6.0)[::2], (np.int64(5), 4.0)),
            (np.ones(2), (2**63, 0.0)),
            (np.ones(1), (True, np.float32(0.5))),
        ):
            ratio = function(two(a, b), table, out)
            rows, places = np.indices(table.shape)
            expected = float(np.sum(a)) + b[0] + b[1] + float(np.sum((10 * rows + places) * table))
            assert out[0] == pytest.approx(expected, rel=1e-15)
            assert ratio == (1.0 / b[1] if b[1] else np.inf)


@pytest.mark.parametrize(
    ("body", "error", "told"),
    [
        ("raise ValueError('no such table')", ValueError, "no such table"),
        ("out[0] = np.empty(times << 50).sum()", MemoryError, "Allocation failed"),
        ("out[0] = times // (times - 2)", ZeroDivisionError, "division by zero"),
    ],
)
@pytest.mark.usefixtures("kept")
def test_what_it_raises_is_what_numba_raises(code: Any, body: str, error: type[Exception], told: str) -> None:
    code.write(caller=f"{ADD}    {body}\n")
    function = code.load()
    for run in (function, function._compiled):
        with pytest.raises(error, match=told) as raised:
            run(*GIVEN)
        named = [entry.name for entry in raised.traceback if Path(entry.path).name == "caller.py"]
        assert named == ["call"] or run is not function


@pytest.mark.usefixtures("kept")
def test_arrays_of_its_own_are_given_back(code: Any) -> None:
    code.write(caller=f"{ADD}    room = np.ones(1 << 20)\n    out[1] = room[table.shape[0] :].sum()\n")
    function, process = code.load(), psutil.Process()
    function(*GIVEN)
    before = process.memory_info().rss
    for _ in range(100):
        function(*GIVEN)
    assert process.memory_info().rss - before < 100 * 8 * 2**20 / 4


@pytest.mark.usefixtures("kept")
def test_integers_are_passed_whole_or_refused(code: Any) -> None:
    code.write(caller=ADD.partition("    for")[0] + "    out[0] = times > 2.0**62\n    out[1] = times / 2.0**40\n")
    function, out = code.load(), np.zeros(2, np.int64)
    for times in (5, 2**63 + 5, -(2**63), 2**64 - 1, 7):
        function(times, 1.5, GIVEN[2], out)
        assert out.tolist() == [times > 2**62, int(times / 2.0**40)]
    for times in (2**64, -(2**63) - 1):
        with pytest.raises(Exception, match="Int value is too large"):
            function(times, 1.5, GIVEN[2], out)


def test_what_may_not_be_written_or_hides_a_mask_is_of_another_kind() -> None:
    table = np.zeros((2, 3))
    fixed, masked = table.view(), np.ma.masked_array(table)
    fixed.flags.writeable = False
    kinds = [kind_of(each) for each in (table, fixed, table.T, table.astype(np.float32), masked, table.astype([("a", float)]))]
    assert len({*kinds}) == len(kinds)
    assert [can_be_passed([kind]) for kind in kinds] == [True, True, True, True, False, False]


def test_a_file_of_numba_s_settings_makes_it_a_kernel_as_any_other(code: Any, tmp_path: Path) -> None:
    code.write(caller=ADD)
    program = (
        "import sys, numpy as np, caller\n"
        "out = np.zeros(2, np.int64)\n"
        "caller.call(np.int64(3), 0.0, np.array([[5], [2]], np.uint8), out)\n"
        "print(out.tolist(), 'numba' in sys.modules)\n"
    )
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path), "PYTHONPATH": os.pathsep.join([str(code.folder), *sys.path])}
    for settings, needs_numba in (("", True), ("", False), ("boundscheck: 1", True), ("disable_jit: 1", True)):
        if settings:
            (tmp_path / ".numba_config.yaml").write_text(f"{settings}\n")
        asked: dict[str, Any] = {"env": environment, "cwd": tmp_path, "capture_output": True, "text": True, "check": True}
        assert subprocess.run([sys.executable, "-c", program], **asked).stdout == f"[15, 6] {needs_numba}\n"


@pytest.mark.usefixtures("kept")
def test_a_kernel_that_only_numba_loads_is_at_hand_where_numba_has_it(code: Any, kept: Path) -> None:
    code.write(caller=f"{ADD}    return out + times\n")
    code.load()(*GIVEN)
    assert code.load().is_at_hand(*GIVEN)
    largest = max(kept.rglob("*.nbc"), key=lambda path: path.stat().st_size)
    largest.unlink()
    assert not code.load().is_at_hand(*GIVEN)


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
    place, kept = function._compiled._cache, _Kept.of(function._plain, [], {})
    assert isinstance(place, KeptSignatures)
    assert kept is not None
    assert kept.path_in(place._cache_path) in list(kept.paths())
    assert list(Path(kept.path_in(place._cache_path)).parent.glob("caller.call.*.nbc"))
    assert compilations(code.load()) == 0
