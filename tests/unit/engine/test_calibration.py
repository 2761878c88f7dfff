"""A run keeps the rates it was first started with, and a small one needs none."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.studies import ledger, text_study

from pipeline.engine import calibration
from pipeline.engine.launch import Launch, execute, prepare
from pipeline.engine.preview import format_preview, preview_study
from pipeline.errors import DataError
from pipeline.plan.rates import PassRates, Rates
from pipeline.record.manifest import Manifest, read_manifest
from pipeline.store.runs import RunDirectory
from pipeline.study.load import load_study

pytestmark = pytest.mark.alone  # holds what is done to the time it takes

SERIAL = Launch("serial")


class Measuring:
    """Gives ever faster rates and counts how often it was asked."""

    def __init__(self) -> None:
        self.times = 0

    def __call__(self, manifest: Manifest, *_: object, **__: object) -> Rates:
        self.times += 1
        slow = PassRates(draw=1e-6 / self.times)
        return Rates(passes={p: {"bleu": slow} for p in manifest.study.resampling.procedures})


@pytest.fixture
def measuring(monkeypatch: pytest.MonkeyPatch) -> Measuring:
    found = Measuring()
    monkeypatch.setattr(calibration, "measure_rates", found)
    monkeypatch.setattr(calibration, "SHORT_SECONDS", 0.0)
    return found


def prepared(tmp_path: Path) -> RunDirectory:
    return prepare(load_study(text_study(tmp_path, ["a", "b", "c"]), ["resampling.replicates=100000"]), tmp_path / "runs", SERIAL)


def blocks_done(run: RunDirectory) -> list[str]:
    done = [entry["receipt"] for entry in ledger(run.root) if entry["event"] == "done"]
    return [receipt["label"] for receipt in done if receipt["kind"] == "resample"]


def test_the_grid_of_a_run_stays_when_it_is_resumed(tmp_path: Path, measuring: Measuring) -> None:
    run = prepared(tmp_path)
    assert execute(run, SERIAL).state == "COMPLETED"
    first = blocks_done(run)
    assert measuring.times == 1
    for path in (run.store.root / "cells").rglob("*.arrays"):
        path.unlink()
    assert execute(run, SERIAL, verify=True).state == "COMPLETED"
    assert measuring.times == 1
    assert blocks_done(run) == first * 2
    # The same study elsewhere, on a machine that is found to be faster, has longer blocks.
    other = prepared(tmp_path / "other")
    execute(other, SERIAL)
    assert measuring.times == 2
    assert len(blocks_done(other)) < len(first)


def with_draw(draw: str, **others: object) -> str:
    value = Rates(passes={"paired-bootstrap": {"bleu": PassRates()}}).to_json()
    value["passes"]["paired-bootstrap"]["bleu"].update(draw="HERE", **others)
    return json.dumps(value).replace('"HERE"', draw)


BROKEN = [
    "",
    "{",
    "[]",
    "[" * 100_000,
    '{"schema_version": 0}',
    '{"schema_version": 2}',
    '{"schema_version": 2, "passes": []}',
    '{"schema_version": 2, "passes": {}}',
    '{"schema_version": 2, "passes": {"paired-bootstrap": {}}}',
    '{"schema_version": 2, "passes": {"paired-bootstrap": {"bleu": 1.0}}}',
    '{"schema_version": 2, "passes": {"paired-bootstrap": {"bleu": {"draw": 1e-9}}}}',
    *(with_draw(draw) for draw in ("NaN", "Infinity", "-1e-9", '"1e-9"', "true", "null", "[1e-9]", "1" + "0" * 400, "1e300")),
    with_draw("1e-9", more=1.0),
]


@pytest.mark.parametrize("content", BROKEN, ids=range(len(BROKEN)))
def test_rates_that_cannot_be_read_are_measured_again(tmp_path: Path, measuring: Measuring, content: str) -> None:
    run = prepared(tmp_path)
    (run.root / "rates.json").write_text(content)
    rates = calibration.settle_rates(run, read_manifest(run))
    assert measuring.times == 1
    assert calibration.read_rates(run, read_manifest(run)) == rates


def test_rates_of_nothing_are_read_and_give_a_grid(tmp_path: Path, measuring: Measuring) -> None:
    run = prepared(tmp_path)
    nothing = PassRates(*[0] * 7)
    (run.root / "rates.json").write_text(json.dumps(Rates(passes={"paired-bootstrap": {"bleu": nothing}}).to_json()))
    assert execute(run, SERIAL).state == "COMPLETED"
    assert measuring.times == 0
    assert len(blocks_done(run)) == 4  # two sizes, each with the cells that keep scores apart


def test_a_small_study_and_given_blocks_are_not_measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run, asked = prepared(tmp_path), Measuring()
    monkeypatch.setattr(calibration, "measure_rates", asked)
    assert calibration.settle_rates(run, read_manifest(run)) == Rates()
    monkeypatch.setattr(calibration, "SHORT_SECONDS", 0.0)
    assert calibration.settle_rates(run, read_manifest(run), block_cells=3) == Rates()
    assert asked.times == 0
    assert not (run.root / "rates.json").exists()


def test_a_calibration_that_fails_leaves_the_rates_of_a_slow_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> Rates:
        raise DataError.of("P220", "it has gone")

    run = prepared(tmp_path)
    monkeypatch.setattr("pipeline.tasks.calibrate.calibrate", fail)
    rates = calibration.measure_rates(read_manifest(run), run.store, tmp_path)
    assert rates.passes == {}
    assert "it has gone" in rates.unknown["calibration"]


def test_a_preview_tells_every_stage_and_nothing_once_all_is_done(tmp_path: Path) -> None:
    loaded = load_study(text_study(tmp_path, ["a", "b", "c"]), [])
    fresh = preview_study(loaded, tmp_path / "runs", workers=1)
    assert set(fresh["time"]["stages"]) == {"extract", "resample", "collect", "report"}
    assert all(seconds >= 0 for seconds in fresh["time"]["stages"].values())
    assert fresh["time"]["seconds"] == pytest.approx(fresh["time"]["start"] + sum(fresh["time"]["stages"].values()))
    assert fresh["time"]["unknown"] == {}
    assert fresh["memory_bytes"] > 0
    assert fresh["disk_bytes"] > 0
    assert json.loads(json.dumps(fresh)) == fresh
    assert "time: about" in format_preview(fresh)
    assert "1 worker (start" in format_preview(fresh)
    assert not (tmp_path / "runs").exists()
    run = prepare(loaded, tmp_path / "runs", SERIAL)
    execute(run, SERIAL)
    done = preview_study(loaded, tmp_path / "runs", workers=1)
    assert done["time"]["seconds"] == 0.0
    assert done["block_seconds"] is None
    assert "nothing is left to do" in format_preview(done)


def test_a_preview_says_what_is_unknown_and_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pipeline.engine.forecast.measure_rates", lambda *_, **__: Rates(unknown={"bleu on t": "the disk is full"}))
    told = preview_study(load_study(text_study(tmp_path, ["a", "b"]), []), tmp_path / "runs", workers=2)
    assert told["time"]["seconds"] is None
    assert told["time"]["stages"]["extract"] is None
    assert told["time"]["at_least"] > 0
    assert "extract" in told["time"]["unknown"]
    text = format_preview(told)
    assert "time: at least" in text
    assert "extract unknown" in text
    assert "was not measured" in text
