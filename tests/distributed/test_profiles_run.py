"""Profiles of a batch system with stand-in commands, and of ssh on this machine: the bits are those of the serial engine."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import pytest
import yaml
from support.batch_stand_in import end_jobs, install_pbs, jobs_of
from support.private_sshd import run_sshd
from support.studies import files_of, run_cli, times_done, write_scores, write_study

from pipeline.study.profile import PROFILES


def a_study(folder: Path) -> Path:
    write_scores(folder / "scores.csv", ["a", "b", "c"])
    return write_study(
        folder / "study.yaml",
        metrics=["mean"],
        analyses=["thresholds"],
        resampling={"replicates": 40_000, "keep_replicates": 1000, "method": "monte-carlo", "test_sizes": ["full"]},
        test_sets={"news": {"format": "scores", "outputs": "scores.csv"}},
    )


def profile_of(folder: Path, name: str, **options: object) -> Path:
    profile = yaml.safe_load((PROFILES / f"{name}.yaml").read_text())
    profile["options"] |= options
    (folder / "profile.yaml").write_text(yaml.safe_dump(profile))
    return folder / "profile.yaml"


def holds_the_bits_of_serial(study: Path, profile: Path, folder: Path, environment: dict[str, str]) -> Path:
    command = ("submit", study, "--cluster", profile, "--workers", "1", "--wait", "--runs", folder / "there", "-q")
    there = run_cli(*command, environment=environment)
    assert there.returncode == 0, there.stderr
    here = run_cli("run", study, "--serial", "-q", "--runs", folder / "here")
    assert here.returncode == 0, here.stderr
    run = Path(there.stdout.strip())
    assert files_of(run / "cubes.zarr") == files_of(Path(here.stdout.strip()) / "cubes.zarr")
    assert set(times_done(run).values()) == {1}
    assert json.loads((run / "state.json").read_text())["engine"]["engine"] == "dask"
    return run


@pytest.mark.slow
def test_a_study_runs_on_pbs_with_commands_that_stand_in_and_leaves_no_job(tmp_path: Path) -> None:
    pytest.importorskip("dask_jobqueue")
    environment = install_pbs(tmp_path / "pbs")
    try:
        run = holds_the_bits_of_serial(a_study(tmp_path), profile_of(tmp_path, "pbs", interface="lo"), tmp_path, environment)
        groups = jobs_of(tmp_path / "pbs")
        assert groups, "workers were no jobs"
        deadline = time.monotonic() + 20
        while any(_lives(group) for group in groups) and time.monotonic() < deadline:
            time.sleep(0.1)
        assert not any(_lives(group) for group in groups)
        assert not list((run / "logs").glob(".tmp-*"))  # the certificates are gone
    finally:
        end_jobs(tmp_path / "pbs")


def _lives(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.slow
def test_a_study_runs_on_machines_that_are_reached_by_ssh(tmp_path: Path) -> None:
    (tmp_path / "sshd").mkdir()
    with run_sshd(tmp_path / "sshd") as connect:
        options = {
            "hosts": ["127.0.0.1", "127.0.0.1"],
            "connect_options": connect,
            "scheduler_options": {"port": 0, "dashboard": False, "host": "127.0.0.1"},
            "worker_options": {"nthreads": 1, "host": "127.0.0.1"},
        }
        profile = profile_of(tmp_path, "ssh", **options)
        run = holds_the_bits_of_serial(a_study(tmp_path), profile, tmp_path, {})
        assert not list((run / "logs").glob(".tmp-*"))
        found = run_cli("doctor", "--cluster", profile, "--json", "--runs", tmp_path / "there", own_process=True)
        assert found.returncode == 0, found.stdout + found.stderr
        verdicts = {each["topic"]: each["verdict"] for each in json.loads(found.stdout)["findings"]}
        assert (verdicts["encryption"], verdicts["shared folder"], verdicts["versions"]) == ("ok", "ok", "ok")
