"""A plan and a run say the same of what is left to do: what is gone is open, and so is what another version has counted."""

from __future__ import annotations

import shutil
from collections import Counter
from pathlib import Path

import pytest
from support.studies import ledger, text_study

from pipeline.engine.launch import Launch, execute, is_complete, prepare
from pipeline.engine.preview import preview_study
from pipeline.store.runs import RunDirectory
from pipeline.study.load import LoadedStudy, load_study

SERIAL = Launch("serial")


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> LoadedStudy:
    return load_study(text_study(tmp_path_factory.mktemp("study"), ["a", "b", "c"]), [])


@pytest.fixture(scope="module")
def finished(loaded: LoadedStudy, tmp_path_factory: pytest.TempPathFactory) -> RunDirectory:
    run = prepare(loaded, tmp_path_factory.mktemp("finished") / "runs", SERIAL)
    assert execute(run, SERIAL).state == "COMPLETED"
    return run


@pytest.fixture
def done(finished: RunDirectory, tmp_path: Path) -> RunDirectory:
    """A finished run of one's own, with its store."""
    shutil.copytree(finished.root.parent, tmp_path / "runs")
    run = RunDirectory(tmp_path / "runs" / finished.root.name)
    assert is_complete(run)
    return run


def open_in_plan(loaded: LoadedStudy, run: RunDirectory) -> Counter[str]:
    stages = preview_study(loaded, run.root.parent, workers=1)["stages"]
    return +Counter({stage["stage"]: stage["open"] for stage in stages})


def done_by(run: RunDirectory, attempt: int) -> Counter[str]:
    return Counter(e["receipt"]["kind"] for e in ledger(run.root) if e["event"] == "done" and e["fence"] == attempt)


def test_a_finished_run_is_finished_for_both(loaded: LoadedStudy, done: RunDirectory) -> None:
    assert open_in_plan(loaded, done) == {}


def a_cell(run: RunDirectory) -> None:
    next((run.store.root / "cells").rglob("*.arrays")).unlink()


def the_statistics(run: RunDirectory) -> None:
    shutil.rmtree(run.store.root / "statistics")


def the_report(run: RunDirectory) -> None:
    (run.report / "report.json").unlink()


def the_cubes(run: RunDirectory) -> None:
    shutil.rmtree(run.cubes)


@pytest.mark.parametrize(
    ("lose", "kinds"),
    [(a_cell, {"resample"}), (the_statistics, {"extract"}), (the_report, {"report"}), (the_cubes, {"collect", "report"})],
)
def test_what_is_gone_is_open_for_both(loaded: LoadedStudy, done: RunDirectory, lose, kinds: set[str]) -> None:
    before = sorted(done.root.rglob("*"))
    lose(done)
    told = open_in_plan(loaded, done)
    assert set(told) == kinds
    assert set(done.root.rglob("*")) <= set(before)  # a plan writes nothing
    assert not is_complete(done)
    run = prepare(loaded, done.root.parent, SERIAL)
    assert execute(run, SERIAL).state == "COMPLETED"
    assert done_by(run, attempt=2) == told
    assert is_complete(run)
    assert open_in_plan(loaded, run) == {}


@pytest.mark.parametrize(
    ("version", "kinds"),
    [
        ("pipeline.plan.comparisons.EXTRACT_VERSION", {"extract", "resample", "collect", "report"}),
        ("pipeline.plan.comparisons.RESAMPLE_VERSION", {"resample", "collect", "report"}),
        ("pipeline.plan.open_tasks.COLLECT_VERSION", {"collect", "report"}),
    ],
)
def test_what_an_older_version_counted_is_done_again(
    loaded: LoadedStudy, done: RunDirectory, monkeypatch: pytest.MonkeyPatch, version: str, kinds: set[str]
) -> None:
    monkeypatch.setattr(version, 1000)
    told = open_in_plan(loaded, done)
    assert set(told) == kinds
    assert not is_complete(done)
    run = prepare(loaded, done.root.parent, SERIAL)
    assert run == done
    assert execute(run, SERIAL).state == "COMPLETED"
    assert done_by(run, attempt=2) == told
    assert is_complete(run)
