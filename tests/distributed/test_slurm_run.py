"""A study submitted to a real SLURM: workers are jobs, the coordinator is detached, the bits are those of the serial engine."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from slurm_kit import Slurm
from studies import files_of, run_cli, times_done

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
        ROOT / "cluster" / "slurm.yaml",
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
