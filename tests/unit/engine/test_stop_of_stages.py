"""A real run stops within five seconds wherever it is, with 75, and goes on from there."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from support.studies import run_cli, text_study

pytestmark = [pytest.mark.slow, pytest.mark.alone]

LIMIT = 5.0
"""Seconds, of a machine with a core for each process that wants one."""

ENDLESS = '''
"""Do the task of one kind again and again, for real, in whichever process does it."""
import os
import pipeline.tasks.run as run

def endless(task, runs):
    kind = os.environ["ENDLESS"]
    module, name = WHOLE[kind].split(":")
    function = getattr(__import__(module, fromlist=[name]), name)
    while True:
        function(task, runs)
        (runs / "again").touch()

def plan_endlessly(*given, **options):
    (RUNS / "again").touch()
    while True:
        survey(*given, **options)

WHOLE = dict(run.FUNCTIONS)
if os.environ["ENDLESS"] in WHOLE:
    run.FUNCTIONS[os.environ["ENDLESS"]] = "endless:endless"
elif __name__ == "endless" and os.environ["ENDLESS"] == "planning":
    from pathlib import Path
    import pipeline.engine.launch as launch
    survey, launch.survey_study = launch.survey_study, plan_endlessly
    RUNS = Path(os.environ["ENDLESS_RUNS"])
    RUNS.mkdir(exist_ok=True)
'''

COMMAND = "import endless; from pipeline.cli.main import main; main()"


@pytest.mark.parametrize("engine", [["--serial"], ["--workers", "1"]], ids=["serial", "workers"])
@pytest.mark.parametrize("stage", ["planning", "extract", "resample", "collect", "report"])
def test_a_stop_is_heard_in(stage: str, engine: list[str], tmp_path: Path) -> None:
    study, runs = str(text_study(tmp_path, ["a", "b"])), tmp_path / "runs"
    (tmp_path / "endless.py").write_text(ENDLESS)
    environment = {**os.environ, "ENDLESS": stage, "ENDLESS_RUNS": str(runs), "DASK_DISTRIBUTED__WORKER__PRELOAD": "endless"}
    environment["PYTHONPATH"] = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
    command = [sys.executable, "-c", COMMAND, "run", study, "-q", "--runs", str(runs), *engine]
    process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    try:
        await_stage(process, stage, runs)
        asked = time.monotonic()
        process.send_signal(signal.SIGTERM)
        _, told = process.communicate(timeout=60)
    finally:
        process.kill()
    took, busy = time.monotonic() - asked, max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))
    assert process.returncode == 75, told
    assert took < LIMIT * busy
    if stage != "planning":  # before it there is no run yet
        run = next(path.parent for path in runs.glob("*/state.json"))
        assert json.loads((run / "state.json").read_text())["state"] == "INTERRUPTED"
        assert run_cli("resume", run.name, "--runs", str(runs), "-q").returncode == 0
        assert json.loads((run / "state.json").read_text())["state"] == "COMPLETED"


def await_stage(process: subprocess.Popen[bytes], stage: str, runs: Path) -> None:
    """Wait until the stage has been gone through once, as the run's own state says too."""
    deadline = time.monotonic() + 120
    while not (runs / "again").exists():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.02)
    if stage == "planning":
        return
    while phase(runs) != stage:
        assert time.monotonic() < deadline
        time.sleep(0.02)


def phase(runs: Path) -> str:
    for path in runs.glob("*/state.json"):
        return str(json.loads(path.read_text())["phase"])
    return ""
