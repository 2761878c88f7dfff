"""Every profile of the package loads, and `submit --dry-run` shows what it would start; nothing is started."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
import yaml
from support.studies import run_cli, write_scores, write_study

from pipeline.engine.clusters.cluster import find_class
from pipeline.engine.dask import preview_start
from pipeline.errors import ClusterError
from pipeline.study.load import load_profile
from pipeline.study.profile import COORDINATOR, PROFILES

CLUSTER = Path(__file__).resolve().parents[3] / "cluster"
BATCH = {"slurm": "#SBATCH -n 1", "pbs": "#PBS -l walltime=01:00:00", "sge": "#$ -l h_rt=01:00:00", "lsf": "#BSUB -n 1"}


def shown(name: str, **more: Any) -> str:
    return preview_start(load_profile(str(PROFILES / f"{name}.yaml"), **more), None, Path("/runs/r/logs"))


def test_no_profile_is_without_a_test() -> None:
    known = {*BATCH, "htcondor", "local", "scheduler", "ssh", "kubernetes", "gateway"}
    assert {path.stem for path in PROFILES.glob("*.yaml")} == known


@pytest.mark.parametrize(("name", "line"), BATCH.items())
def test_the_script_of_a_batch_system_is_shown_with_tls_a_private_folder_and_a_lifetime(
    name: str, line: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("dask_jobqueue")
    monkeypatch.setattr("dask_jobqueue.lsf.lsf_detect_units", lambda: "mb")  # which it would ask LSF itself
    script = shown(name).splitlines()
    assert line in script
    (command,) = (each for each in script if "dask_worker" in each)
    for word in (
        "tls://SCHEDULER:PORT",
        "--tls-key /runs/r/logs/PRIVATE/KEY.pem",
        "--lifetime 55m",
        "--local-directory $PIPELINE_SC",
    ):
        assert word in command
    assert any("/runs/r/logs" in each and "tls" not in each for each in script) or name == "lsf"  # its output goes there
    assert any("mktemp -d" in each for each in script)
    assert "export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1 NUMBA_NUM_THREADS=1" in script


def test_the_description_of_an_htcondor_job_is_shown() -> None:
    pytest.importorskip("dask_jobqueue")
    text = shown("htcondor")
    assert "RequestDisk" in text
    assert "tls://SCHEDULER:PORT" in text


def test_the_configuration_of_the_site_fills_in_what_a_profile_leaves_out() -> None:
    pytest.importorskip("dask_jobqueue")
    import dask.config

    with dask.config.set({"jobqueue.pbs.queue": "night", "jobqueue.pbs.account": "grant-7", "jobqueue.pbs.interface": "ib7"}):
        assert "--interface ib7" in shown("pbs")
        assert "#PBS -q night\n#PBS -A grant-7" in shown("pbs")
        assert "#PBS -q day" in shown("pbs", overrides=["options.queue=day"])


def test_what_has_no_script_is_shown_as_class_and_options_without_secrets() -> None:
    assert shown("local").splitlines()[0] == "cluster local: distributed.LocalCluster, workers: one a core"
    ssh = shown("ssh", overrides=["options.connect_options={username: me, password: hunter2}"])
    assert "cluster ssh: distributed.SSHCluster, workers: 1" in ssh
    assert ("hosts: ['localhost', 'localhost']" in ssh, "hunter2" in ssh, "(not shown)" in ssh) == (True, False, True)
    assert shown("kubernetes").startswith("cluster kubernetes: the scheduler at tls://pipeline-scheduler.default.svc")
    assert shown("scheduler").endswith("profiles/scheduler.json; nothing is started")


def test_submit_shows_the_plan_and_the_job_and_starts_nothing(tmp_path: Path) -> None:
    pytest.importorskip("dask_jobqueue")
    write_scores(tmp_path / "scores.csv", ["a", "b"])
    study = write_study(tmp_path / "s.yaml", metrics=["mean"], test_sets={"n": {"format": "scores", "outputs": "scores.csv"}})
    done = run_cli("submit", study, "--cluster", "pbs", "--workers", "7", "--dry-run", "--runs", tmp_path / "runs")
    assert done.returncode == 0, done.stderr
    assert "stage" in done.stdout
    assert "cluster pbs: dask_jobqueue.PBSCluster, workers: 7; each job is" in done.stdout
    assert "#PBS" in done.stdout
    assert " on 7 workers (" in done.stdout
    assert not (tmp_path / "runs").exists()


def test_the_plan_that_submit_shows_is_that_of_the_cluster_it_names(tmp_path: Path) -> None:
    # The study itself is one of this machine, where so little is done without workers.
    pytest.importorskip("dask_jobqueue")
    write_scores(tmp_path / "scores.csv", ["a", "b"])
    study = write_study(tmp_path / "s.yaml", metrics=["mean"], test_sets={"n": {"format": "scores", "outputs": "scores.csv"}})
    shown = [run_cli("submit", study, *where, "--dry-run", cwd=tmp_path).stdout for where in ((), ("--cluster", "pbs"))]
    assert ["in one process, without workers" in text for text in shown] == [True, False]
    assert " on 2 workers (" in shown[1]


def test_a_profile_names_cluster_classes_only(tmp_path: Path) -> None:
    planted = tmp_path / "planted"
    for name in ("subprocess.Popen", "os.system", "shutil.rmtree", "builtins.eval", "distributed.Client", "distributed.Scheduler"):
        (tmp_path / "p.yaml").write_text(f"cluster: {name}\noptions: {{args: [touch, {planted}]}}\n")
        with pytest.raises(ClusterError, match="is not a cluster class"):
            find_class(load_profile(str(tmp_path / "p.yaml")))
    assert not planted.exists()


def test_the_gateway_is_a_cluster_class_although_it_inherits_from_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    import types

    module = types.ModuleType("dask_gateway")
    made = type("GatewayCluster", (), {"__module__": "dask_gateway.client"})
    module.GatewayCluster = made  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "dask_gateway", module)
    assert find_class(load_profile("gateway")) == (made, "other")


def test_the_manifests_for_kubernetes_agree_with_the_profile() -> None:
    cluster, job = (yaml.safe_load((CLUSTER / "kubernetes" / name).read_text()) for name in ("daskcluster.yaml", "job.yaml"))
    profile = load_profile("kubernetes")
    assert profile.address == f"tls://{cluster['metadata']['name']}-scheduler.default.svc.cluster.local:8786"
    scheduler, worker = (cluster["spec"][role]["spec"] for role in ("scheduler", "worker"))
    pods = [scheduler, worker, job["spec"]["template"]["spec"]]
    assert {pod["containers"][0]["image"] for pod in pods} == {"registry.example.org/pipeline:1"}
    for pod in pods:
        (container,) = pod["containers"]
        mounted = {each["name"]: each["mountPath"] for each in container["volumeMounts"]}
        assert mounted["certificates"] == "/certificates"
        assert {"name": "certificates", "secret": {"secretName": "pipeline-tls", "defaultMode": 0o444}} in pod["volumes"]
    for role, pod in (("SCHEDULER", scheduler), ("WORKER", worker)):
        given = {each["name"]: each["value"] for each in pod["containers"][0]["env"]}
        # As Dask's own rule for variables has it, these are the keys of the profile, for this role.
        assert given["DASK_DISTRIBUTED__COMM__REQUIRE_ENCRYPTION"] == "true"
        assert given[f"DASK_DISTRIBUTED__COMM__TLS__{role}__KEY"] == profile.config["distributed.comm.tls.client.key"]
        assert "--no-dashboard" in pod["containers"][0]["args"]
    assert job["spec"]["template"]["spec"]["containers"][0]["args"][:4] == [
        "submit",
        "/study/study.yaml",
        "--cluster",
        "/study/kubernetes.yaml",
    ]


@pytest.mark.parametrize("stopped_by", ["walltime", "cancel"])
def test_the_coordinator_that_is_a_job_hands_itself_in_again_where_its_time_is_up_and_not_where_it_is_cancelled(
    tmp_path: Path, stopped_by: str
) -> None:
    write_scores(tmp_path / "scores.csv", [f"s{n}" for n in range(40)], items=400)
    study = write_study(
        tmp_path / "s.yaml",
        metrics=["mean"],
        resampling={"replicates": 30_000_000, "method": "monte-carlo", "test_sizes": ["full"]},
        test_sets={"n": {"format": "scores", "outputs": "scores.csv"}},
    )
    tools = tmp_path / "bin"
    tools.mkdir()
    (tools / "scontrol").write_text(f'#!/bin/sh\necho "$@" > {tmp_path}/asked\n')
    (tools / "pipeline").write_text(f'#!/bin/sh\nexec {sys.executable} -m pipeline "$@"\n')
    for tool in tools.iterdir():
        tool.chmod(0o755)
    environment = os.environ | {"PATH": f"{tools}:{os.environ['PATH']}", "SLURM_JOB_ID": "42"}
    bash = shutil.which("bash")
    assert bash
    runs = tmp_path / "runs"
    command = [bash, COORDINATOR, study, "--cluster", "local", "--workers", "1", "--runs", runs]
    job = subprocess.Popen(command, env=environment, cwd=tmp_path, stdout=subprocess.PIPE, text=True)
    try:
        deadline = time.monotonic() + 90
        while not list(runs.glob("*/events.jsonl")) and time.monotonic() < deadline:
            time.sleep(0.1)
        time.sleep(1)
        if stopped_by == "walltime":
            job.send_signal(signal.SIGTERM)
        else:
            run_cli("cancel", next(runs.glob("*/events.jsonl")).parent)
        told, _ = job.communicate(timeout=90)
    finally:
        job.kill()
    assert job.returncode == 75, told
    asked = tmp_path / "asked"
    assert (asked.read_text() if asked.exists() else "") == ("requeue 42\n" if stopped_by == "walltime" else "")
    assert "CANCELLED" in told
