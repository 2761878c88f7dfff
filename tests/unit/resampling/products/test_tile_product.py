"""Products by the tiles of AMX: what LLVM makes of them, and processes that may use them or may not.

That the sums are right is tested with those of all other forms.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys

import numpy as np
import pytest
from support.llvm_assembly import assemble

from pipeline.compiled import tile_permission
from pipeline.compiled.tile_dot import write_tile_dot
from pipeline.resampling.products import byte_product, tile_product
from pipeline.resampling.products.byte_kernels import FORMS
from pipeline.resampling.products.byte_product import forms, has_form, lay_out, multiply_bytes, pack_counts
from pipeline.resampling.products.contract import FORM_VARIABLE
from pipeline.resampling.products.tile_product import lay_tiles

needs_tiles = pytest.mark.skipif("amx" not in forms(), reason="no tiles here")


@pytest.mark.parametrize("panels", [1, 2])
def test_a_step_is_two_instructions_a_panel_and_no_tile_is_stored_before_the_end(panels: int) -> None:
    """LLVM knows tiles as variables too, and would write shapes of its own and move tiles to memory for those."""
    lines = assemble(
        lambda builder, given: write_tile_dot(builder, given, panels), 9, triple="x86_64-unknown-linux-gnu", cpu="sapphirerapids"
    )
    made = [line.split()[0] for line in lines if re.match(r"\s+(tile|tdp|ldtile)", line)]
    step = ["tileloadd"] * 2 + (["tileloadd"] + ["tdpbsud"] * 2) * panels
    assert made == ["ldtilecfg", *["tilezero"] * (2 * panels), *step, *["tilestored"] * (2 * panels), "tilerelease"]


@pytest.mark.parametrize("quads", [1, 2, 15, 16, 17, 31, 32, 33, 48])
def test_digits_lie_in_tiles_and_no_unit_is_in_two_of_them(quads: int) -> None:
    """Wherever a step begins in the counts, its digits are those of these units, or 0 where the step before had them."""
    columns = 35
    rows = np.random.default_rng(quads).integers(-128, 128, (columns, 4 * quads)).astype(np.int8)
    laid = np.zeros((3, -(-quads // 16), 16, 64), np.int8)
    lay_tiles(rows, laid)
    found = np.zeros((48, 4 * quads), np.int64)
    high = 4 * min(quads, 16)
    for step in range(laid.shape[1]):
        start = min(64 * step, 4 * quads - high)
        found[:, start : start + high] += laid[:, step, :, :high].reshape(48, high)
        assert not laid[:, step, :, high:].any()
    np.testing.assert_array_equal(found[:columns], rows)
    assert not found[columns:].any()


def test_where_the_tiles_are_not_granted_the_next_form_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(byte_product, "may_use_tiles", lambda: False)
    monkeypatch.setattr(tile_product, "may_use_tiles", lambda: False)
    monkeypatch.setattr("pipeline.resampling.products.byte_product.can_compile", lambda *features: True)
    assert not has_form("amx")
    assert has_form(FORMS[1])
    counts = pack_counts(np.ones((32, 4), np.float32))
    with pytest.raises(RuntimeError, match="the tiles of AMX are not granted to this process"):
        multiply_bytes(counts, lay_out(np.ones((1, 4), np.int64), "amx"))


@pytest.mark.parametrize(
    ("where", "value"), [("sys.platform", "darwin"), ("platform.machine", lambda: "aarch64"), ("sys.maxsize", 2**31 - 1)]
)
def test_other_systems_are_not_asked(where: str, value: object, monkeypatch: pytest.MonkeyPatch) -> None:
    """Their system call of that number is another one."""
    asked = []
    monkeypatch.setattr(tile_permission.ctypes, "CDLL", lambda name: asked.append(name))
    monkeypatch.setattr(f"pipeline.compiled.tile_permission.{where}", value)
    assert not tile_permission.may_use_tiles.__wrapped__()
    assert not asked


def run(code: str) -> str:
    """Return what a new process prints."""
    given = {name: value for name, value in os.environ.items() if name != FORM_VARIABLE}
    done = subprocess.run([sys.executable, "-c", code], env=given, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


SUM = """
import numpy as np
from pipeline.resampling.products.byte_product import forms, lay_out, multiply_bytes, pack_counts
def is_right():
    rng = np.random.default_rng(1)
    counts, columns = rng.integers(0, 256, (64, 200)), rng.integers(-128, 128, (40, 200))
    return np.array_equal(multiply_bytes(pack_counts(counts), lay_out(columns, "amx")), columns @ counts.T)
"""


@needs_tiles
def test_a_process_that_has_not_asked_which_forms_there_are_may_multiply() -> None:
    assert run(f"{SUM}\nprint(is_right())") == "True\n"


@needs_tiles
def test_threads_and_forked_processes_may_use_the_tiles_that_were_granted() -> None:
    code = f"""{SUM}
import os
from concurrent.futures import ThreadPoolExecutor
assert "amx" in forms()
child = os.fork()
if child == 0:
    os._exit(0 if is_right() else 1)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
with ThreadPoolExecutor(4) as pool:
    print(all(pool.map(lambda _: is_right(), range(40))))
"""
    assert run(code) == "0\nTrue\n"


@needs_tiles
def test_a_process_whose_filter_refuses_the_call_takes_the_next_form() -> None:
    """As a container's may: system call 158 fails with EPERM. The process would end at its first tile instruction."""
    code = f"""{SUM}
import ctypes
class Step(ctypes.Structure):
    _fields_ = [("code", ctypes.c_uint16), ("yes", ctypes.c_uint8), ("no", ctypes.c_uint8), ("value", ctypes.c_uint32)]
class Filter(ctypes.Structure):
    _fields_ = [("length", ctypes.c_uint16), ("steps", ctypes.POINTER(Step))]
steps = (Step * 4)(Step(0x20, 0, 0, 0), Step(0x15, 0, 1, 158), Step(0x06, 0, 0, 0x00050001), Step(0x06, 0, 0, 0x7FFF0000))
given = Filter(4, steps)
prctl = ctypes.CDLL(None).prctl
prctl.argtypes = [ctypes.c_int] + [ctypes.c_ulong] * 4
if prctl(38, 1, 0, 0, 0) or prctl(22, 2, ctypes.addressof(given), 0, 0):
    print("no filters here")
else:
    print(*forms())
"""
    found = run(code)
    if found == "no filters here\n":
        pytest.skip("this system has no filters of calls")
    assert found.split() == [form for form in forms() if form != "amx"]
