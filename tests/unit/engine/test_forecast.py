"""What a plan tells of time: every stage, what is unknown and why, and nothing once all is done; a run begun long ago goes on."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.studies import ledger, text_study, write_study

from pipeline.engine import forecast
from pipeline.engine.forecast import machine_factor
from pipeline.engine.launch import Launch, execute, prepare
from pipeline.engine.preview import format_preview, preview_study
from pipeline.plan import footprint
from pipeline.plan.footprint import estimate_footprint
from pipeline.plan.inventory import Inventory
from pipeline.plan.open_tasks import plan_study
from pipeline.record.manifest import read_manifest
from pipeline.resampling.measures import TABLE_WIDTH, TABLES_BYTES
from pipeline.study.load import load_study

SERIAL = Launch("serial")


def test_a_preview_tells_every_stage_and_nothing_once_all_is_done(tmp_path: Path) -> None:
    loaded = load_study(text_study(tmp_path, ["a", "b", "c"]), [])
    fresh = preview_study(loaded, tmp_path / "runs", workers=1)
    assert list(fresh["time"]["stages"]) == ["extract", "resample", "collect", "report"]
    assert all(seconds >= 0 for seconds in fresh["time"]["stages"].values())
    assert fresh["time"]["seconds"] == pytest.approx(fresh["time"]["start"] + sum(fresh["time"]["stages"].values()))
    assert fresh["time"]["at_least"] == fresh["time"]["seconds"]
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


def far_apart(folder: Path, **resampling: object) -> Path:
    """Write a study of two systems, of which one is better on every item."""
    (folder / "scores.csv").write_text("item,a,b\n" + "".join(f"q{k},{k % 7},{k % 7 + k % 3 + 1}\n" for k in range(80)))
    test_sets = {"t": {"format": "scores", "outputs": "scores.csv"}}
    drawn = {"replicates": 20_000, **resampling}
    return write_study(folder / "study.yaml", test_sets=test_sets, metrics=["mean"], resampling=drawn)


def test_the_smallest_p_of_a_preview_is_that_of_the_run(tmp_path: Path) -> None:
    loaded = load_study(far_apart(tmp_path), [])
    told = preview_study(loaded, tmp_path / "runs", workers=1)
    assert told["replicates_of_max_t"] == 9999
    assert told["monte_carlo_error"] == pytest.approx((0.05 * 0.95 / 9999) ** 0.5)
    assert "counted by max-T on the first 9,999 replicates, whatever b is" in format_preview(told)
    run = prepare(loaded, tmp_path / "runs", SERIAL)
    execute(run, SERIAL)
    (pair,) = json.loads((run.root / "report" / "report.json").read_text())["pairs"]
    assert pair["p"] == pair["p_adjusted"] == told["smallest_p"]
    assert "smallest p that can be counted: 0.0001" in format_preview(told)


def test_a_preview_says_that_p_of_models_is_not_counted(tmp_path: Path) -> None:
    for model in "ab":
        for run in (1, 2):
            (tmp_path / f"{model}.{run}.txt").write_text("".join(f"{model} {(k * run) % 7} said\n" for k in range(80)))
    (tmp_path / "ref.txt").write_text("".join(f"a {k % 7} said\n" for k in range(80)))
    outputs = {"t": {"references": ["ref.txt"], "outputs": "{system}.{replica}.txt"}}
    study = write_study(tmp_path / "study.yaml", test_sets=outputs, metrics=["bleu"], resampling={"replicates": 20_000})
    told = preview_study(load_study(study, []), tmp_path / "runs", workers=1)
    assert told["several_runs"]
    text = format_preview(told)
    assert "p of single runs: counted by max-T on the first 9,999 replicates" in text
    assert "p of models, which decides: computed from their runs, not counted" in text
    alone = preview_study(load_study(far_apart(tmp_path), []), tmp_path / "runs", workers=1)
    assert (alone["several_runs"], "of models" in format_preview(alone)) == (False, False)


@pytest.mark.parametrize(
    "resampling", [{"procedures": ["approximate-randomization"]}, {"keep_replicates": 0}, {"alpha": 0.001, "keep_replicates": 500}]
)
def test_a_preview_counts_on_all_replicates_where_max_t_does_not_decide(tmp_path: Path, resampling: dict[str, object]) -> None:
    told = preview_study(load_study(far_apart(tmp_path, **resampling), []), tmp_path / "runs", workers=1)
    assert (told["replicates_of_max_t"], told["smallest_p"]) == (None, 1 / 20_000)
    assert "max-T" not in format_preview(told)


def test_what_a_metric_takes_that_has_no_constants_is_unknown_until_it_has_been_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pipeline.plan.costs.METRICS", {})
    study = text_study(tmp_path, ["a", "b"])
    told = preview_study(load_study(study, []), tmp_path / "runs", workers=2)
    assert told["time"]["seconds"] is None
    assert told["time"]["stages"]["extract"] is None
    assert told["time"]["at_least"] > told["time"]["stages"]["resample"] > 0
    text = format_preview(told)
    assert "time: at least" in text
    assert "extract unknown" in text
    assert "extract: unknown until the first is done" in text
    execute(prepare(load_study(study, []), tmp_path / "runs", SERIAL), SERIAL)
    text_study(tmp_path, ["a", "b", "c"])
    more = preview_study(load_study(study, []), tmp_path / "runs", workers=2)
    assert more["time"]["stages"]["extract"] > 0  # as long as the two that are done


def test_a_clock_that_stands_still_makes_no_machine_infinitely_fast(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forecast, "_yardstick_seconds", lambda: 0.0)
    assert machine_factor() == 1.0


def test_the_yardstick_is_short_and_scales_what_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert 0.01 < machine_factor() < 100
    loaded = load_study(text_study(tmp_path, ["a", "b", "c"]), [])
    told = []
    for factor in (1.0, 2.0):
        monkeypatch.setattr(forecast, "machine_factor", lambda factor=factor: factor)
        told.append(preview_study(loaded, tmp_path / "runs", workers=1)["time"])
    assert told[1]["cpu_seconds"] == pytest.approx(2 * told[0]["cpu_seconds"])
    assert told[1]["stages"] == pytest.approx({kind: 2 * seconds for kind, seconds in told[0]["stages"].items()})


def test_a_run_that_kept_rates_as_older_versions_did_is_resumed(tmp_path: Path) -> None:
    loaded = load_study(text_study(tmp_path, ["a", "b", "c"]), ["resampling.replicates=100000"])
    run = prepare(loaded, tmp_path / "runs", SERIAL)
    (run.root / "rates.json").write_text('{"schema_version": 2, "passes": {"paired-bootstrap": {"bleu": {"draw": 1e-9}}}}')
    assert execute(run, SERIAL).state == "COMPLETED"
    blocks = [entry for entry in ledger(run.root) if entry["event"] == "done" and entry["receipt"]["kind"] == "resample"]
    assert blocks


def test_the_memory_that_a_plan_tells_has_room_for_tables_of_gains(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told = {}
    for metric in ("bleu", "ter"):  # of which the second may be counted in them
        loaded = load_study(text_study(tmp_path / metric, ["a", "b", "c"], metrics=[metric]), [])
        manifest = read_manifest(prepare(loaded, tmp_path / "runs", SERIAL))
        tasks = plan_study(manifest.study, manifest.inputs, Inventory(), run="r").tasks
        for most in (TABLES_BYTES, 10_000, 0):
            monkeypatch.setattr(footprint, "TABLES_BYTES", most)
            told[metric, most] = estimate_footprint(manifest.study, manifest.inputs, tasks).memory
    assert told["ter", TABLES_BYTES] - told["ter", 0] == 3 * 2 * TABLE_WIDTH
    assert told["ter", 10_000] - told["ter", 0] == 10_000
    assert told["bleu", TABLES_BYTES] == told["bleu", 0]


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
