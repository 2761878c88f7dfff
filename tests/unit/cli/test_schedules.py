"""The examples of `cluster/schedules` can be read by what they are for, and their command runs as it stands."""

from __future__ import annotations

import configparser
import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml
from support.studies import run_cli, write_scores, write_study

SCHEDULES = Path(__file__).resolve().parents[3] / "cluster" / "schedules"


def read_unit(name: str) -> configparser.ConfigParser:
    unit = configparser.ConfigParser(interpolation=None, delimiters=("=",))
    unit.optionxform = str  # type: ignore[assignment,method-assign]
    unit.read(SCHEDULES / name)
    return unit


def read_table(name: str) -> tuple[list[str], str]:
    """Return the five fields of time and the command of the one line of a table that is neither comment nor variable."""
    lines = [line for line in (SCHEDULES / name).read_text().splitlines() if line and not re.match(r"#|[A-Z]+=", line)]
    (line,) = lines
    *times, command = line.split(None, 5)
    return times, command


def container() -> dict[str, Any]:
    job = yaml.safe_load((SCHEDULES / "cronjob.yaml").read_text())
    found: dict[str, Any] = job["spec"]["jobTemplate"]["spec"]["template"]["spec"]["containers"][0]
    return found


def steps() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = yaml.safe_load((SCHEDULES / "github.yml").read_text())["jobs"]["reanalyse"]["steps"]
    return found


def analysis() -> str:
    """Return the script of the step that analyses."""
    (script,) = [step["run"] for step in steps() if "reanalyse" in step.get("run", "")]
    return str(script)


def commands() -> dict[str, list[str]]:
    return {
        "crontab": shlex.split(read_table("crontab")[1].split("&&")[1]),
        "scrontab": shlex.split(read_table("scrontab")[1]),
        "service": shlex.split(read_unit("pipeline-reanalyse.service")["Service"]["ExecStart"]),
        "cronjob": container()["command"],
        "github": shlex.split(analysis().split("\n")[1].partition("||")[0]),
    }


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("schedules")
    write_scores(made / "scores.csv", ["release", "build"], items=40)
    test_sets = {"news": {"format": "scores", "outputs": "scores.csv"}}
    resampling = {"procedures": ["paired-t"], "replicates": 500}
    write_study(made / "nightly.yaml", test_sets=test_sets, metrics=["mean"], resampling=resampling, analyses=[])
    return made


@pytest.mark.parametrize("name", sorted(commands()))
def test_the_command_of_each_example_runs(folder: Path, name: str) -> None:
    program, *words = commands()[name]
    assert Path(program.replace("$PIPELINE", "pipeline")).name == "pipeline"
    # In this process: what is tried here is the words, and a cluster of workers would be the same in all of them.
    done = run_cli(*(word for word in [*words, "--serial"]), cwd=folder)
    assert (done.returncode, "of 30" in done.stdout) == (0, True), done.stderr


@pytest.mark.parametrize("name", ["crontab", "scrontab"])
def test_tables_have_five_fields_of_time(name: str) -> None:
    times, command = read_table(name)
    assert times == ["30", "2", "*", "*", "*"]
    assert "reanalyse" in command
    assert "%" not in command  # cron would end the command there


def test_a_night_without_data_fails_no_unit_and_a_loss_does() -> None:
    service = read_unit("pipeline-reanalyse.service")["Service"]
    fine, never = (set(map(int, service[key].split())) for key in ("SuccessExitStatus", "RestartPreventExitStatus"))
    assert fine == {3, 4, 5}
    assert {1, 2} <= never
    assert not {74, 75} & (fine | never)  # these are tried again
    assert not fine & never
    timer = read_unit("pipeline-reanalyse.timer")
    assert (timer["Timer"]["Persistent"], timer["Install"]["WantedBy"]) == ("true", "timers.target")


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd-analyze is not here")
def test_systemd_finds_nothing_wrong(tmp_path: Path) -> None:
    program = tmp_path / "pipeline"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    for name in ("pipeline-reanalyse.service", "pipeline-reanalyse.timer"):
        text = (SCHEDULES / name).read_text().replace("/opt/pipeline/bin/pipeline", str(program))
        (tmp_path / name).write_text(text)
    done = subprocess.run(
        ["systemd-analyze", "verify", *map(str, sorted(tmp_path.glob("*.[st]*")))], capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_a_cron_job_never_runs_twice_at_a_time_and_tries_no_loss_again() -> None:
    job = yaml.safe_load((SCHEDULES / "cronjob.yaml").read_text())
    assert (job["apiVersion"], job["kind"], job["spec"]["concurrencyPolicy"]) == ("batch/v1", "CronJob", "Forbid")
    template = job["spec"]["jobTemplate"]["spec"]
    assert template["template"]["spec"]["restartPolicy"] == "Never"  # what a failure policy asks for
    (rule,) = template["podFailurePolicy"]["rules"]
    assert (rule["action"], rule["onExitCodes"]["containerName"]) == ("FailJob", container()["name"])
    assert {1, 2, 3, 4, 5} <= set(rule["onExitCodes"]["values"])
    mounts = {mount["name"] for mount in container()["volumeMounts"]}
    assert mounts == {volume["name"] for volume in template["template"]["spec"]["volumes"]}


def test_the_workflow_keeps_the_runs_between_nights_also_of_one_that_fails() -> None:
    (fetched,) = [step for step in steps() if step.get("uses", "").startswith("actions/cache/restore@")]
    (kept,) = [step for step in steps() if step.get("uses", "").startswith("actions/cache/save@")]
    assert steps()[-1] == kept
    assert (kept["if"], kept["with"]["path"], fetched["with"]["path"]) == ("always()", "runs", "runs")
    assert kept["with"]["key"] == fetched["with"]["key"]
    assert kept["with"]["key"].startswith(fetched["with"]["restore-keys"])
    workflow = yaml.safe_load((SCHEDULES / "github.yml").read_text())
    assert workflow[True]["schedule"] == [{"cron": "30 2 * * *"}]  # `on` is true in YAML 1.1


@pytest.mark.parametrize(("code", "job"), [(0, 0), (1, 1), (2, 2), (3, 0), (4, 0), (5, 0), (70, 70), (74, 74)])
def test_a_night_without_data_fails_no_workflow_and_a_loss_does(tmp_path: Path, code: int, job: int) -> None:
    (tmp_path / "pipeline").write_text(f"#!/bin/sh\nexit {code}\n")
    (tmp_path / "pipeline").chmod(0o755)
    shell = shutil.which("bash")
    assert shell
    path = {"PATH": f"{tmp_path}:{os.environ['PATH']}"}
    assert subprocess.run([shell, "-e", "-c", analysis()], env=path, check=False).returncode == job
