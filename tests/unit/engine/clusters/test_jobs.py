"""A batch system that refuses jobs, or keeps them waiting: said at once, in its own words."""

from __future__ import annotations

import json
import re
import time
from pathlib import Path

import distributed
import pytest
from support.following_advice import help_of
from support.studies import run_cli, text_study

from pipeline.engine.clusters.cluster import make_cluster
from pipeline.engine.clusters.job_script import describe_start
from pipeline.engine.dask import DaskExecutor, open_executor
from pipeline.errors import ClusterError
from pipeline.plan.task import ReportSpec, Task
from pipeline.study.profile import ClusterProfile

OPTIONS = {"cores": 1, "memory": "1GB", "interface": "lo", "queue": "nosuch"}
SLURM = ClusterProfile(name="slurm", cluster="dask_jobqueue.SLURMCluster", options=OPTIONS, start_seconds=600)
TASK = Task("report", "0" * 32, "report", ReportSpec("run"))

REFUSES = (
    'echo "sbatch: error: invalid partition specified: nosuch" >&2\necho "sbatch: error: Batch job submission failed" >&2\nexit 1'
)
TAKES_ONE = """
test -e "$0.taken" && { echo "sbatch: error: QOSMaxSubmitJobPerUserLimit" >&2; exit 1; }
: > "$0.taken"
echo "Submitted batch job 7"
"""


@pytest.fixture
def batch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder on PATH whose ``sbatch`` a test writes, as dask-jobqueue calls it."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))  # no other: the machine may have a real one
    write_program(folder / "scancel", "exit 0")
    return folder


def write_program(path: Path, body: str) -> None:
    """Write a program, also in place of one that is running just then."""
    written = path.with_suffix(".new")
    written.write_text(f"#!/bin/sh\n{body}\n")
    written.chmod(0o755)
    written.replace(path)


def wait_for_workers(executor: DaskExecutor, seconds: float) -> None:
    executor.submit(TASK, "1.0")
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        executor.free()
        executor.wait(0.2)


def test_a_batch_system_that_refuses_every_job_is_told_at_once_and_in_its_own_words(batch: Path, tmp_path: Path) -> None:
    write_program(batch / "sbatch", REFUSES)
    with (
        pytest.raises(ClusterError, match=r"P610.*invalid partition specified: nosuch; sbatch: error: Batch job") as raised,
        open_executor(SLURM, tmp_path, prefix="t", workers=2, logs=tmp_path / "logs") as executor,
    ):
        wait_for_workers(executor, 30)
    assert raised.value.exit_code == 69


def test_a_batch_system_whose_command_is_missing_is_told(batch: Path, tmp_path: Path) -> None:
    with (
        pytest.raises(ClusterError, match=r"P610.*there is no command `sbatch` here"),
        open_executor(SLURM, tmp_path, prefix="t", workers=1, logs=tmp_path / "logs") as executor,
    ):
        wait_for_workers(executor, 30)


def test_a_run_goes_on_with_the_jobs_that_were_accepted_and_says_what_was_refused(batch: Path, tmp_path: Path) -> None:
    write_program(batch / "sbatch", TAKES_ONE)
    with open_executor(SLURM, tmp_path, prefix="t", workers=2, logs=tmp_path / "logs") as executor:
        wait_for_workers(executor, 3)
        facts = executor.describe()
    assert facts["workers"] == 0
    assert str(facts["no_workers_since"]).startswith("20")
    assert facts["refused"] == "sbatch: error: QOSMaxSubmitJobPerUserLimit"


def test_a_refused_job_is_handed_in_again_with_the_next_look(batch: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pipeline.engine.dask.RESCALE_SECONDS", 1.0)
    write_program(batch / "sbatch", TAKES_ONE)
    with open_executor(SLURM, tmp_path, prefix="t", workers=2, logs=tmp_path / "logs") as executor:
        wait_for_workers(executor, 2)
        assert executor.describe()["refused"]
        write_program(batch / "sbatch", 'echo "Submitted batch job 8"')
        wait_for_workers(executor, 4)
        assert "refused" not in executor.describe()


@pytest.mark.parametrize("odd", ["it's", "two words", "50%", "a;b", "line\nbreak", "$HOME"])
def test_a_path_that_a_job_script_would_take_for_something_else_is_refused(batch: Path, tmp_path: Path, odd: str) -> None:
    with pytest.raises(ClusterError, match=r"P611"):
        make_cluster(SLURM, 1, tmp_path / odd / "logs")


def test_a_safe_path_for_logs_is_named_in_either_of_the_ways_that_are_told(tmp_path: Path) -> None:
    def script(profile: ClusterProfile, logs: Path) -> str:
        return describe_start(profile, 1, logs, lambda name, default: default)

    odd = tmp_path / "two words" / "logs"
    said = help_of(
        lambda: script(SLURM, odd), "name another folder with --runs, or say `options: {log_directory: …}` in the profile"
    )
    (named,) = re.findall(r"options: \{(\w+): …\}", said)
    told = SLURM.model_copy(update={"options": {**OPTIONS, named: str(tmp_path / "elsewhere")}})
    assert f"{tmp_path}/elsewhere/" in script(told, odd)
    assert f"{tmp_path}/logs/" in script(SLURM, tmp_path / "logs")


def test_a_profile_whose_class_is_no_cluster_is_refused_and_the_class_not_called(tmp_path: Path) -> None:
    profile = ClusterProfile(name="odd", cluster="subprocess.Popen", options={"args": ["touch", str(tmp_path / "called")]})
    with pytest.raises(ClusterError, match=r"P604.*is not a cluster class"):
        make_cluster(profile, 1, tmp_path)
    assert not (tmp_path / "called").exists()


class DiesAtFirst(distributed.LocalCluster):  # type: ignore[misc]
    """A cluster of this machine, the first of whose workers are killed before they are watched."""

    left = 0
    scheduler_address = "tls://127.0.0.1:1"

    def __init__(self, **options: object) -> None:
        if DiesAtFirst.left:
            DiesAtFirst.left -= 1
            raise RuntimeError("Nanny failed to start.")

    def scale(self, n: int) -> None: ...


def test_workers_that_die_while_they_start_are_started_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("distributed.LocalCluster", DiesAtFirst)
    local = ClusterProfile(name="local", cluster="distributed.LocalCluster")
    DiesAtFirst.left = 2
    assert isinstance(make_cluster(local, 1, tmp_path), DiesAtFirst)
    DiesAtFirst.left = 3
    with pytest.raises(ClusterError, match=r"P612.*Nanny failed to start"):
        make_cluster(local, 1, tmp_path)


@pytest.mark.slow
def test_a_submitted_run_that_is_refused_ends_soon_with_69_and_its_status_says_why(batch: Path, tmp_path: Path) -> None:
    write_program(batch / "sbatch", REFUSES)
    (tmp_path / "slurm.yaml").write_text(f"cluster: {SLURM.cluster}\noptions: {json.dumps(OPTIONS)}\nstart_seconds: 600\n")
    study = text_study(tmp_path / "s", ("a", "b"))
    told = run_cli(
        "submit", study, "--cluster", tmp_path / "slurm.yaml", "--runs", tmp_path / "runs", "--wait", own_process=True, timeout=60
    )
    assert told.returncode == 69, told.stderr
    assert "invalid partition specified: nosuch" in told.stderr
    status = run_cli("status", "--runs", tmp_path / "runs")
    assert "failed" in status.stdout
    assert "invalid partition specified: nosuch" in status.stdout
