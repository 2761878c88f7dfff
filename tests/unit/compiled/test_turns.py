"""Of processes that need the same kernel one compiles it, and nobody waits for ever."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from pipeline.compiled import turns
from pipeline.compiled.turns import Turns


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "kernel.nbc"


def load(path: Path) -> str | None:
    return path.read_text() if path.exists() else None


def wait(own: Turns, path: Path) -> str | None:
    return own.wait(str(path), lambda: load(path))


def test_the_first_compiles_and_the_second_waits_for_its_file(path: Path) -> None:
    first, second = Turns(), Turns()
    assert wait(first, path) is None
    found: list[str | None] = []
    other = threading.Thread(target=lambda: found.append(wait(second, path)))
    other.start()
    time.sleep(0.2)
    assert found == []  # it waits
    path.write_text("code")
    first.end(str(path))
    other.join(10)
    assert found == ["code"]
    assert [entry.name for entry in path.parent.iterdir()] == ["kernel.nbc"]
    assert wait(second, path) == "code"


def test_who_waits_goes_on_where_the_first_failed(path: Path) -> None:
    first, second = Turns(), Turns()
    assert wait(first, path) is None
    assert wait(first, path) is None  # it does not wait for itself
    first.end_all()  # without a file
    assert wait(second, path) is None
    assert list(second._held) == [str(path)]
    second.end_all()


def test_a_process_that_was_killed_holds_nothing(path: Path) -> None:
    script = (
        "import sys, time\nfrom pipeline.compiled.turns import Turns\n"
        "Turns().wait(sys.argv[1], lambda: None)\nprint('mine', flush=True)\ntime.sleep(600)"
    )
    process = subprocess.Popen([sys.executable, "-c", script, str(path)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "mine\n"
    assert Path(f"{path}.lock").exists()
    process.kill()
    process.wait()
    process.stdout.close()
    own = Turns()
    assert wait(own, path) is None
    assert list(own._held) == [str(path)]
    own.end_all()


def test_nobody_waits_longer_than_a_while(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turns, "LONGEST_WAIT_SECONDS", 0.1)
    first, second = Turns(), Turns()
    assert wait(first, path) is None
    assert wait(second, path) is None
    assert second._held == {}
    first.end_all()


@pytest.mark.parametrize("code", [errno.ENOLCK, errno.EOPNOTSUPP])
def test_where_locks_fail_everybody_compiles(path: Path, monkeypatch: pytest.MonkeyPatch, code: int) -> None:
    def refuse(handle: int, operation: int) -> None:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(turns.fcntl, "flock", refuse)
    own = Turns()
    assert wait(own, path) is None
    assert own._held == {}


def test_where_nothing_may_be_written_everybody_compiles(tmp_path: Path) -> None:
    own = Turns()
    assert wait(own, tmp_path / "is not there" / "kernel.nbc") is None
    assert own._held == {}


def test_a_signal_ends_the_wait(path: Path) -> None:
    first, second = Turns(), Turns()
    assert wait(first, path) is None

    class Asked(BaseException):
        pass

    def ask(number: int, frame: object) -> None:
        raise Asked

    before = signal.signal(signal.SIGUSR1, ask)
    try:
        threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGUSR1)).start()
        with pytest.raises(Asked):
            wait(second, path)
    finally:
        signal.signal(signal.SIGUSR1, before)
        first.end_all()


HEAD = "from pipeline.compiled import kernel\n"


def test_a_kernel_that_does_not_compile_keeps_nobody_waiting(code: Any, kept: Path) -> None:
    code.write(caller=HEAD + "@kernel\ndef call(x):\n    return x.nothing_like_it\n")
    call = code.load()
    with pytest.raises(Exception, match="nothing_like_it"):
        call(4)
    assert list(kept.rglob("*.lock")) == []


def test_processes_that_start_together_compile_once(code: Any, kept: Path) -> None:
    slow = "\n".join(f"    y{i} = np.zeros(x)\n    y{i}[:] = {i}" for i in range(3))
    code.write(caller=HEAD + f"import numpy as np\n@kernel\ndef call(x):\n{slow}\n    return y2[0]\n")
    script = "from caller import call\nprint(call(3), sum(call.stats.cache_misses.values()))"
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(kept), "PYTHONPATH": str(code.folder), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-c", script]
    processes = [subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    said = [process.communicate(timeout=120)[0].split() for process in processes]
    assert sorted(said) == [["2.0", "0"], ["2.0", "1"]]
    assert list(kept.rglob("*.lock")) == []
