"""A calibration runs no foreign code, keeps nothing incomplete and tells no guess as knowledge; a plan tells the disk used."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from support.studies import text_study

from pipeline.engine import calibration
from pipeline.engine.launch import Launch, execute, prepare
from pipeline.engine.preview import preview_study
from pipeline.metrics.bleu import Bleu
from pipeline.plan.blocks import choose_block_cells
from pipeline.plan.costs import estimate_footprint
from pipeline.plan.inventory import Inventory
from pipeline.plan.open_tasks import plan_study
from pipeline.plan.rates import PassRates, Rates
from pipeline.record.manifest import read_manifest
from pipeline.store.runs import RunDirectory
from pipeline.study.load import load_study

pytestmark = pytest.mark.alone  # holds what is done to the time it takes

SERIAL = Launch("serial")


class Foreign(Bleu):
    """A metric of another package: it may wait for a device, a network or a process."""

    def extract(self, prepared: object, output: object) -> None:
        raise AssertionError("a calibration ran foreign code")


def prepared(tmp_path: Path) -> RunDirectory:
    return prepare(load_study(text_study(tmp_path, ["a", "b", "c"]), []), tmp_path / "runs", SERIAL)


def test_a_metric_of_another_package_is_not_run_and_its_time_is_unknown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = prepared(tmp_path)
    for module in ("pipeline.tasks.calibrate", "pipeline.tasks.sample_outputs"):
        monkeypatch.setattr(f"{module}.load_metric", lambda name, options: Foreign())
    rates = calibration.measure_rates(read_manifest(run), run.store, tmp_path / "scratch")
    assert rates.outputs == {}
    assert rates.passes == {}
    (why,) = rates.unknown.values()
    assert "another package" in why


def test_a_pass_that_fails_is_unknown_and_ends_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> PassRates:
        raise ValueError("sums are not exact")

    run = prepared(tmp_path)
    monkeypatch.setattr("pipeline.tasks.calibrate._measure_pass", fail)
    rates = calibration.measure_rates(read_manifest(run), run.store, tmp_path / "scratch")
    assert list(rates.unknown.values()) == ["sums are not exact"]


def test_rates_that_are_not_complete_are_not_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = prepared(tmp_path)
    manifest = read_manifest(run)
    monkeypatch.setattr(calibration, "SHORT_SECONDS", 0.0)
    found = [Rates(unknown={"calibration": "a file has gone"}), Rates(passes={"paired-bootstrap": {"bleu": PassRates(draw=7e-9)}})]
    monkeypatch.setattr(calibration, "measure_rates", lambda *_, **__: found.pop(0))
    assert calibration.settle_rates(run, manifest).unknown
    assert calibration.settle_rates(run, manifest).of_pass("paired-bootstrap", "bleu").draw == 7e-9
    assert calibration.settle_rates(run, manifest).of_pass("paired-bootstrap", "bleu").draw == 7e-9
    assert found == []


def test_what_was_not_measured_is_not_told_as_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pipeline.engine.forecast.measure_rates", lambda *_, **__: Rates(unknown={"calibration": "disk full"}))
    told = preview_study(load_study(text_study(tmp_path, ["a", "b"]), []), tmp_path / "runs", workers=1)
    assert told["time"]["stages"]["resample"] is None
    assert told["time"]["unknown"] == {"extract": "disk full", "resample": "disk full"}


def test_a_run_without_open_cells_does_not_calibrate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    study, times = text_study(tmp_path, ["a", "b", "c"]), []

    def measure(*_: object, **__: object) -> Rates:
        times.append(1)
        return Rates()

    monkeypatch.setattr(calibration, "SHORT_SECONDS", 0.0)
    monkeypatch.setattr(calibration, "measure_rates", measure)
    for overrides in ([], ["resampling.alpha=0.01"]):  # the second one only collects and reports
        execute(prepare(load_study(study, overrides), tmp_path / "runs", SERIAL), SERIAL)
    assert len(times) == 1


def test_the_disk_that_a_plan_tells_is_what_a_run_writes(tmp_path: Path) -> None:
    loaded = load_study(text_study(tmp_path, ["a", "b", "c", "d", "e", "f"]), [])
    run = prepare(loaded, tmp_path / "runs", SERIAL)
    manifest = read_manifest(run)
    tasks = plan_study(manifest.study, manifest.inputs, Inventory(), run=run.id).tasks
    told = estimate_footprint(manifest.study, manifest.inputs, tasks).disk
    execute(run, SERIAL)
    places = [run.cubes, run.store.root / "cells", run.store.root / "statistics"]
    written = sum(path.stat().st_size for place in places for path in place.rglob("*") if path.is_file())
    assert 0.6 < told / written < 1.6  # scores that are kept stand in the cells as well as in the cube


@pytest.mark.parametrize("setup", [2.5, 6.0])
def test_what_a_task_takes_before_its_first_replicate_makes_blocks_longer_not_shorter(setup: float) -> None:
    each = [
        choose_block_cells(
            Rates(passes={"p": {"m": PassRates(setup=seconds)}}), procedure="p", metrics=["m"], n_units=1000, systems=20, cells=620,
            workers=1,
        )
        for seconds in (0.0, setup)
    ]  # fmt: skip
    assert np.diff(each) >= 0
