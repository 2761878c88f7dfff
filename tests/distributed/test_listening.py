"""Nothing that a run starts on this machine listens on another interface than loopback, as the system itself tells."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import psutil
import pytest

from pipeline.engine.dask import open_executor
from pipeline.study.profile import LOCAL


def listening(pids: set[int]) -> set[str]:
    """The local addresses at which these processes listen."""
    lines = subprocess.run(["ss", "-Hlntup"], capture_output=True, text=True, check=True).stdout.splitlines()
    ours = [line for line in lines if pids & {int(pid) for pid in re.findall(r"pid=(\d+)", line)}]
    return {line.split()[4].rpartition(":")[0] for line in ours}


def processes() -> set[int]:
    here = psutil.Process()
    return {here.pid, *(child.pid for child in here.children(recursive=True))}


def test_scheduler_nannies_and_workers_listen_on_loopback_alone(tmp_path: Path) -> None:
    if shutil.which("ss") is None:
        pytest.skip("no ss here (apt-get install iproute2)")
    before = listening(processes())
    with open_executor(LOCAL, tmp_path, prefix="t", workers=2, logs=tmp_path / "logs") as executor:
        assert executor.ask(os.getpid) in processes()
        found = listening(processes())
    assert found - before <= {"127.0.0.1"}
    assert "127.0.0.1" in found, "nothing was seen"
