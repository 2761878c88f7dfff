"""A few seconds of our own work are done in one process; all else, and whatever workers were asked for, by workers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import EntryPoint, EntryPoints
from pathlib import Path
from typing import Any

import pytest
from support.studies import files_of, text_study, times_done

from pipeline import plugins
from pipeline.engine import coordinator, forecast, launch
from pipeline.engine.forecast import CHAIN_SECONDS, CLUSTER_SECONDS, HERE_SECONDS, Outlook, is_small
from pipeline.engine.launch import Launch, execute, prepare
from pipeline.engine.preview import format_preview, preview_study
from pipeline.engine.serial import SerialExecutor
from pipeline.plan.task import Task
from pipeline.store.runs import RunDirectory
from pipeline.study.load import load_study
from pipeline.study.schema import Study

QUICK = {"replicates": 2000, "keep_replicates": 0}


def write(folder: Path, **changes: Any) -> Path:
    return text_study(folder, ("a", "b", "c"), **{"resampling": QUICK, **changes})


def read(folder: Path, **changes: Any) -> Study:
    return load_study(write(folder, **changes)).study


def outlook_of(kind: str, seconds: float | None, *, tasks: int = 1) -> Outlook:
    outlook = Outlook(lambda task: seconds)
    outlook.plan([Task(kind=kind, key=f"{number}", label="l", spec=None) for number in range(tasks)])
    return outlook


@pytest.fixture
def no_cluster(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Run what would go to a cluster here, and note that it would have."""
    asked: list[str] = []

    def open_cluster(run: RunDirectory, profile: object, told: Launch):
        @contextmanager
        def opened(stop) -> Iterator[SerialExecutor]:
            asked.append(run.id)
            yield SerialExecutor(run.root.parent, stop)

        return opened

    monkeypatch.setattr(launch, "_open_cluster", open_cluster)
    return asked


def begin(study: Path, runs: Path, told: Launch) -> RunDirectory:
    run = prepare(load_study(study), runs, told)
    assert execute(run, told).state == "COMPLETED"
    return run


def test_little_work_is_done_here_where_nobody_asks_for_workers(tmp_path: Path, no_cluster: list[str]) -> None:
    study = write(tmp_path / "study")
    here = begin(study, tmp_path / "here", Launch("local"))
    assert no_cluster == []
    assert here.read_state()["engine"] == {"engine": "serial", "workers": 1}
    asked = begin(study, tmp_path / "asked", Launch("local", workers=1))
    assert no_cluster == [asked.id]
    assert files_of(here.root / "cubes.zarr") == files_of(asked.root / "cubes.zarr")


def test_much_work_goes_to_workers(tmp_path: Path, no_cluster: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    # What is open is everything, also what waits for statistics that are not there yet.
    monkeypatch.setattr(coordinator, "machine_factor", lambda: 1.0)
    study = write(tmp_path / "study", resampling={"replicates": 100_000_000, "keep_replicates": 0})
    told = Launch("local")
    run = prepare(load_study(study), tmp_path / "runs", told)
    monkeypatch.setattr(coordinator.Coordinator, "_loop", lambda *_: False)  # it is not counted, only begun
    execute(run, told)
    assert no_cluster == [run.id]


def test_what_takes_longer_than_was_foretold_is_handed_over(
    tmp_path: Path, no_cluster: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    study = write(tmp_path / "study")
    here = begin(study, tmp_path / "here", Launch("local"))
    monkeypatch.setattr(coordinator, "PATIENCE", 0)
    late = begin(study, tmp_path / "late", Launch("local"))
    assert no_cluster == [late.id]
    assert times_done(late.root) == times_done(here.root)
    assert files_of(late.root / "cubes.zarr") == files_of(here.root / "cubes.zarr")


def test_the_profile_of_a_cluster_is_never_replaced(tmp_path: Path, no_cluster: list[str]) -> None:
    profile = tmp_path / "own.yaml"
    profile.write_text("name: own\naddress: tcp://127.0.0.1:9\n")
    run = begin(write(tmp_path / "study"), tmp_path / "runs", Launch(str(profile)))
    assert no_cluster == [run.id]


def test_a_preview_tells_what_a_run_will_do(tmp_path: Path) -> None:
    loaded = load_study(write(tmp_path))
    told = {workers: preview_study(loaded, tmp_path / "runs", workers=workers)["time"] for workers in (None, 1)}
    assert 0 < told[None]["start"] < told[1]["start"]  # no cluster is started
    said = format_preview(preview_study(loaded, tmp_path / "runs"))
    assert re.search(r"time: about .* in one process, without workers \(start", said)
    assert "a worker" not in said


@pytest.mark.parametrize("times", [1.0, 3.0])
def test_little_is_measured_by_the_speed_of_the_machine(tmp_path: Path, times: float) -> None:
    study = read(tmp_path)
    told = {"machine": times, "workers": 2}
    assert is_small(study, outlook_of("resample", times * HERE_SECONDS / 2, tasks=2), **told)
    assert not is_small(study, outlook_of("resample", times * HERE_SECONDS / 2 * 1.01, tasks=2), **told)


@pytest.mark.parametrize("times", [1.0, 3.0])
def test_workers_are_not_started_for_tasks_that_wait_for_one_another(tmp_path: Path, times: float) -> None:
    study = read(tmp_path)
    told = {"machine": times, "workers": 2}
    assert is_small(study, outlook_of("collect", times * CHAIN_SECONDS), **told)
    assert not is_small(study, outlook_of("collect", times * CHAIN_SECONDS * 1.01), **told)


@pytest.mark.parametrize(("share", "is_here"), [(0.99, True), (1.01, False)])
def test_workers_are_started_where_they_save_more_than_that_takes(tmp_path: Path, share: float, is_here: bool) -> None:
    outlook = Outlook(lambda task: CLUSTER_SECONDS * share if task.kind == "resample" else HERE_SECONDS)
    tasks = [("resample", "1"), ("resample", "2"), ("collect", "3")]
    outlook.plan([Task(kind=kind, key=key, label="l", spec=None) for kind, key in tasks])
    assert is_small(read(tmp_path), outlook, machine=1.0, workers=2) == is_here


def test_what_takes_an_unknown_time_is_not_little(tmp_path: Path) -> None:
    assert not is_small(read(tmp_path), outlook_of("extract", None), machine=1.0, workers=2)


def test_trainings_are_not_little(tmp_path: Path) -> None:
    assert not is_small(read(tmp_path), outlook_of("train", 0.1), machine=1.0, workers=2)


@pytest.mark.parametrize(("family", "name"), [("metrics", "bleu"), ("procedures", "paired-bootstrap"), ("analyses", "thresholds")])
def test_code_of_another_package_runs_in_a_worker(tmp_path: Path, family: str, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    study = read(tmp_path, metrics=["bleu"], analyses=["thresholds"])
    little = outlook_of("resample", 0.1)
    assert is_small(study, little, machine=1.0, workers=2)

    def is_ours(asked: str, member: str) -> bool:
        return (asked, member) != (family, name)

    monkeypatch.setattr(forecast, "in_tree", is_ours)
    assert not is_small(study, little, machine=1.0, workers=2)


def test_a_name_that_nobody_brings_is_left_to_a_worker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    study = read(tmp_path)
    monkeypatch.setattr(plugins, "entry_points", lambda: EntryPoints([EntryPoint("x", "zebra:X", "pipeline.metrics")]))
    assert not is_small(study, outlook_of("resample", 0.1), machine=1.0, workers=2)
