"""A study submitted to a real SLURM: workers are jobs, the coordinator is detached, the bits are those of the serial engine."""

from __future__ import annotations

import json
import os
import stat
import sys
from contextlib import suppress
from pathlib import Path

import pytest
from support.second_user import INTRUDE, as_other
from support.slurm_kit import Slurm
from support.studies import files_of, run_cli, text_study, times_done

from pipeline.engine.dask import open_executor
from pipeline.study.load import load_profile

ROOT = Path(__file__).resolve().parents[2]

SMALLER = (
    "-b",
    20_000,
    "--test-sizes",
    "100,full",
    "--set",
    "training.resamples=[{method: bootstrap, fraction: 0.5, replicas: 3}]",
)


@pytest.mark.slurm
def test_the_quickstart_runs_on_slurm_and_gives_the_bits_of_the_serial_engine(slurm: Slurm, tmp_path: Path) -> None:
    study = ROOT / "workflows" / "quickstart.yaml"
    environment = {"SLURM_CONF": str(slurm.conf), "DASK_JOBQUEUE__SLURM__INTERFACE": "lo"}
    submitted = run_cli(
        "submit",
        study,
        *SMALLER,
        "--cluster",
        "slurm",
        "--wait",
        "--runs",
        tmp_path / "slurm",
        environment=environment,
    )
    assert submitted.returncode == 0, submitted.stderr
    directory = Path(submitted.stdout.strip())
    state = json.loads((directory / "state.json").read_text())
    assert state["state"] == "COMPLETED"
    assert list((directory / "logs").glob("dask-worker-*.err"))  # the workers were jobs
    assert set(times_done(directory).values()) == {1}
    serial = run_cli("run", study, *SMALLER, "--serial", "--runs", tmp_path / "serial")
    assert serial.returncode == 0, serial.stderr
    assert files_of(directory / "cubes.zarr") == files_of(Path(serial.stdout.strip()) / "cubes.zarr")
    queue = slurm.run("squeue", "--noheader", "--states=RUNNING,PENDING").stdout
    assert queue == ""  # no job is left behind


@pytest.mark.slurm
def test_workers_that_are_jobs_are_encrypted_and_have_their_keys_from_private_files(
    slurm: Slurm, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SLURM_CONF", str(slurm.conf))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    profile = load_profile("slurm", overrides=["options.interface=lo"])
    logs = tmp_path / "run" / "logs"
    with open_executor(profile, tmp_path, prefix="t", workers=1, logs=logs) as executor:
        executor._client.wait_for_workers(1, timeout=120)
        info = executor._client.scheduler_info(n_workers=-1)
        ((worker, facts),) = info["workers"].items()
        addresses = [info["address"], worker, facts["nanny"]]
        assert [address.partition("://")[0] for address in addresses] == ["tls"] * 3
        # Workers of other runs may be on this machine, so only those of this scheduler are looked at.
        commands = [command for command in _command_lines() if info["address"] in command and "dask_worker" in command]
        assert commands
        for command in commands:
            key = Path(command.split("--tls-key ")[1].split()[0])
            assert key.is_relative_to(logs)
            assert (_mode(key), _mode(key.parent)) == (0o600, 0o700)
        assert not [command for command in _command_lines() if "PRIVATE KEY" in command]
        (place,) = tmp_path.glob("pipeline-dask-????????")
        assert _mode(place) == 0o700
        assert facts["local_directory"].startswith(str(place))
        if os.geteuid() == 0:
            assert as_other(INTRUDE, *addresses) == ["refused"] * 6
    assert not key.exists()


def _command_lines() -> list[str]:
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            found.append(path.read_bytes().replace(b"\0", b" ").decode(errors="replace"))
    return found


def _mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.slurm
def test_the_doctor_examines_slurm_end_to_end(slurm: Slurm, tmp_path: Path) -> None:
    environment = {"SLURM_CONF": str(slurm.conf), "DASK_JOBQUEUE__SLURM__INTERFACE": "lo"}
    done = run_cli("doctor", "--cluster", "slurm", "--json", "--runs", tmp_path / "runs", environment=environment)
    assert done.returncode == 0, done.stdout + done.stderr
    verdicts = {each["topic"]: each["verdict"] for each in json.loads(done.stdout)["findings"]}
    assert {verdicts[topic] for topic in ("cluster", "encryption", "versions", "shared folder")} == {"ok"}
    assert slurm.run("squeue", "--noheader", "--states=RUNNING,PENDING").stdout == ""


@pytest.mark.slurm
def test_the_coordinator_may_be_a_job_of_its_own(slurm: Slurm, tmp_path: Path) -> None:
    study = text_study(tmp_path / "s", ["a", "b"], resampling={"replicates": 20_000, "test_sizes": ["full"]})
    tools = tmp_path / "bin"
    tools.mkdir()
    (tools / "pipeline").write_text(f'#!/bin/sh\nexec {sys.executable} -m pipeline "$@"\n')
    (tools / "pipeline").chmod(0o755)
    variables = f"ALL,PATH={tools}:{os.environ['PATH']},DASK_JOBQUEUE__SLURM__INTERFACE=lo,PYTHONPATH={ROOT}"
    arguments = ("--cluster", "slurm", "--workers", "1", "--runs", str(tmp_path / "runs"))
    script = tmp_path / "coordinator.sbatch"
    script.write_text(run_cli("profiles", "--coordinator").stdout)
    slurm.run(
        "sbatch", "--wait", f"--export={variables}", "-o", str(tmp_path / "out"), str(script), str(study), *arguments, timeout=200
    )
    (run,) = (path.parent for path in (tmp_path / "runs").glob("*/state.json"))
    assert json.loads((run / "state.json").read_text())["state"] == "COMPLETED", (tmp_path / "out").read_text()
    assert list((run / "logs").glob("dask-worker-*.err"))  # the workers were jobs of their own
    assert slurm.run("squeue", "--noheader", "--states=RUNNING,PENDING").stdout == ""
