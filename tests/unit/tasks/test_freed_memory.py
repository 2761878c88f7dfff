"""Memory between tasks: what a large process has freed goes back to the system."""

from __future__ import annotations

import ctypes
import subprocess
import sys
from pathlib import Path

import pytest

from pipeline.tasks import freed_memory

HAS_TRIM = sys.platform == "linux" and hasattr(ctypes.CDLL(None), "malloc_trim")
PROGRAM = """
import sys
from pathlib import Path
from pipeline.tasks import freed_memory
freed_memory.LEAST = int(sys.argv[1])
def resident():
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096 // 2**20
pieces = [bytes(2**16) for _ in range(3200)]  # 200 MiB, each too small to be mapped for itself
last, full = pieces[-1], resident()
del pieces
print(full - resident(), freed_memory.give_back(), full - resident())
"""


@pytest.mark.skipif(not HAS_TRIM, reason="the C library cannot give memory back")
@pytest.mark.parametrize("least", [2**20, 2**40])
def test_a_large_process_gives_back_what_it_has_freed(least: int) -> None:
    """The last piece keeps the heap from shrinking by itself."""
    done = subprocess.run([sys.executable, "-c", PROGRAM, str(least)], capture_output=True, text=True, check=True)
    before, tried, after = done.stdout.split()
    assert int(before) < 20
    assert (tried, int(after) > 100) == (("True", True) if least == 2**20 else ("False", False))


def test_where_there_is_no_such_file_nothing_is_tried(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(freed_memory, "_RESIDENT", tmp_path / "statm")
    assert not freed_memory.give_back()
