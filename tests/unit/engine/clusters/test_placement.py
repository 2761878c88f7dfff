"""What a training asks of its worker is met, or refused with what there is; nothing waits for ever."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pipeline.engine import dask as engine
from pipeline.engine.clusters import cluster
from pipeline.engine.clusters.cluster import make_cluster
from pipeline.engine.clusters.placement import expected_workers, lacking, offer_of_machine
from pipeline.engine.dask import open_executor
from pipeline.errors import ClusterError
from pipeline.plan.task import Failure, ReportSpec, Task
from pipeline.study.profile import LOCAL, ClusterProfile

TASK = Task("report", "0" * 32, "train big/seed/0", ReportSpec("no such run"))


def test_one_worker_must_have_all_that_is_asked() -> None:
    apart = [{"cores": 4.0, "memory": 1e9}, {"cores": 1.0, "memory": 8e9}]
    assert lacking({"cores": 4, "memory": 1e9}, apart) is None
    assert lacking({"cores": 4, "memory": 8e9}, apart) == "no worker has both cores: 4 and memory: 8 GB"
    assert lacking({"cores": 5}, apart) == "no worker has cores: 5; the most is 4"
    assert lacking({"gpu": 1}, apart) == "no worker has gpu: 1"
    assert lacking({}, apart) is None


def test_workers_of_this_machine_share_its_memory_and_cores() -> None:
    one, two = offer_of_machine(1), offer_of_machine(2)
    assert two["memory"] == pytest.approx(one["memory"] / 2, abs=1)
    assert one["cores"] == len(os.sched_getaffinity(0))
    assert offer_of_machine(10**6)["cores"] == 1


def test_a_run_elsewhere_is_planned_for_the_workers_that_its_profile_asks_for() -> None:
    slurm = ClusterProfile(name="slurm", cluster="dask_jobqueue.SLURMCluster")
    many = ClusterProfile(name="slurm", cluster="dask_jobqueue.SLURMCluster", workers=20)
    assert [expected_workers(profile, None) for profile in (slurm, many)] == [1, 20]
    assert expected_workers(many, 3) == 3


class Made:
    """In place of a cluster class: keeps what it was made with."""

    scheduler_address = "tls://127.0.0.1:1"
    job_cls = object

    def __init__(self, **options: Any) -> None:
        self.options = options

    def scale(self, workers: int) -> None:
        self.options["n"] = workers


def _made(monkeypatch: pytest.MonkeyPatch, path: str, options: dict[str, Any], workers: int | None = 2) -> dict[str, Any]:
    monkeypatch.setattr(cluster, "find_class", lambda profile: (Made, "local" if "Local" in path else "batch"))
    made = make_cluster(ClusterProfile(name="p", cluster=path, options=options), workers, Path("logs"))
    return made.options  # type: ignore[no-any-return]


def test_jobs_declare_what_each_of_their_workers_has(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    slurm = "dask_jobqueue.SLURMCluster"
    job = {"cores": 4, "processes": 2, "memory": "8GB", "worker_extra_args": ["--lifetime", "55m"]}
    assert _made(monkeypatch, slurm, job)["worker_extra_args"] == [
        "--lifetime", "55m", "--no-dashboard", "--resources", "cores=2,memory=4000000000",
    ]  # fmt: skip
    told = {**job, "worker_extra_args": ["--resources", "gpu=1"]}
    assert _made(monkeypatch, slurm, told)["worker_extra_args"] == ["--resources", "gpu=1", "--no-dashboard"]
    assert _made(monkeypatch, slurm, {})["worker_extra_args"] == ["--no-dashboard"]
    with pytest.raises(ClusterError, match="not '8 apples'"):
        _made(monkeypatch, slurm, {"memory": "8 apples"})


def test_a_profile_says_what_local_workers_have_besides(monkeypatch: pytest.MonkeyPatch) -> None:
    had = _made(monkeypatch, "distributed.LocalCluster", {"resources": {"gpu": 1, "memory": 1.0}, "threads_per_worker": 3})
    assert had["resources"] == {"gpu": 1, "memory": 1.0, "cores": 3.0}


def test_no_more_workers_are_started_here_than_there_are_cores_that_this_process_may_use(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: {3}, raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: 64)
    made = _made(monkeypatch, "distributed.LocalCluster", {}, workers=None)
    assert (made["n_workers"], made["resources"]["cores"]) == (1, 1.0)
    assert [expected_workers(LOCAL, asked) for asked in (None, 5)] == [1, 5]


def test_what_no_worker_has_is_refused_and_what_one_has_runs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(engine, "PLACING_SECONDS", 0.0)
    profile = ClusterProfile(name="tagged", cluster="distributed.LocalCluster", options={"resources": {"gpu": 1}})
    with open_executor(profile, tmp_path, prefix="test", workers=1, logs=tmp_path / "logs") as executor:
        executor.submit(replace(TASK, key="1" * 32, resources={"tpu": 1.0}), "1")
        executor.submit(replace(TASK, key="2" * 32, resources={"gpu": 1.0, "cores": 1.0}), "1")
        ended: dict[str, Failure] = {}
        for _ in range(60):
            for outcome in executor.wait(1.0):
                assert isinstance(outcome.result, Failure)
                ended[outcome.task.key[0]] = outcome.result
            if len(ended) == 2:
                break
    assert (ended["1"].exit_code, ended["1"].problems[0].code) == (4, "P605")
    assert "no worker has tpu: 1" in ended["1"].reason
    # What the help says of a profile is what this one says of the other task.
    assert str(ended["1"].problems[0].help).endswith("let the profile say what its workers have: `options: {resources: …}`")
    # It ran, and failed for a reason of its own: there is no such run.
    assert ended["2"].problems[0].code != "P605"
