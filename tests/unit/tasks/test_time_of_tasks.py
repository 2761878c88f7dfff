"""A receipt tells the time of processors beside the time by the clock: its own, and that of programs that it ran."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

from pipeline.plan.task import Receipt, ReportSpec, Task
from pipeline.tasks import run

BURN = "import time\nwhile time.process_time() < {}: pass"


def test_processors_are_told_apart_from_the_clock_and_programs_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    def work(task: Task, runs: Path) -> Receipt:
        time.sleep(0.5)
        end = time.process_time() + 0.1
        while time.process_time() < end:
            pass
        subprocess.run([sys.executable, "-S", "-c", BURN.format(0.1)], check=True)
        return Receipt("report", task.key, task.label, "", "", 0.0, "")

    monkeypatch.setattr(run, "_function", lambda kind: work)
    receipt = run.run_task(Task("report", "k", "l", ReportSpec("r")), "runs")
    assert isinstance(receipt, Receipt)
    assert 0.19 < receipt.cpu_seconds < 0.45
    assert receipt.seconds > 0.5 + receipt.cpu_seconds / 2
