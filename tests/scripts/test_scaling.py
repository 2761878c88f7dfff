"""The simulation of `scripts/scaling`: what no cluster can do it does not say, and it names what holds a study up."""

from __future__ import annotations

import itertools
import json
import subprocess
import sys
from dataclasses import asdict, replace
from pathlib import Path

import pytest
from simulation.cluster import SMALLEST_WINDOW, WINDOW_PER_WORKER, Cluster, Job, Work, simulate
from simulation.made import Made
from simulation.rates import Measured, cluster_of, read_measured, work_of

ROOT = Path(__file__).resolve().parents[2]

BLOCKS = [Work("resample", [Job(2.0, 1e6)] * 600)]
FAST = Cluster(workers=1, task_seconds=0.002, receipt_seconds=0.001, store_bandwidth=1e9, worker_bandwidth=1e9, variation=0.1)


def on(workers: int, work: list[Work] = BLOCKS, seed: int = 1, **changes: float):
    return simulate(work, replace(FAST, workers=workers, **changes), seed=seed)


def test_one_worker_takes_the_sum_of_all_tasks() -> None:
    alone = on(1, [Work("resample", [Job(2.0, 1e6), Job(3.0, 2e6)], warm_seconds=0.5)], variation=0.0, start_seconds=4.0)
    # Start, the first task's way out, both tasks with their bytes, the last receipt; in between the window hides all else.
    assert alone.seconds == pytest.approx(4.0 + 0.001 + 0.5 + 5.0 + 0.003 + 0.002, abs=1e-9)
    assert alone.busy_seconds == pytest.approx(5.0)


def test_more_workers_are_never_slower_and_work_is_conserved() -> None:
    outcomes = [on(workers) for workers in (1, 2, 3, 5, 8, 20, 50, 100, 600, 1000)]
    assert all(after.seconds <= before.seconds * 1.001 for before, after in itertools.pairwise(outcomes))
    assert len({round(outcome.busy_seconds, 6) for outcome in outcomes}) == 1
    assert {stage.jobs for outcome in outcomes for stage in outcome.stages} == {600}
    assert {stage.stored_bytes for outcome in outcomes for stage in outcome.stages} == {600e6}
    assert outcomes[0].bottleneck == outcomes[3].bottleneck == "resample: workers"


@pytest.mark.parametrize("workers", [1, 7, 100, 1000])
def test_nothing_is_faster_than_any_resource_alone(workers: int) -> None:
    for changes in ({}, {"task_seconds": 0.1}, {"store_bandwidth": 1e7}, {"variation": 0.5}):
        outcome = on(workers, **changes)
        for stage in outcome.stages:
            assert stage.seconds >= max(stage.bounds.values()) - 1e-9
        assert 0 < outcome.utilisation <= 1


@pytest.mark.parametrize(
    ("workers", "changes", "held_up_by"),
    [
        (10, {}, "workers"),
        (100, {"task_seconds": 0.1}, "coordinator"),
        (100, {"receipt_seconds": 0.1}, "coordinator"),
        (100, {"store_bandwidth": 1e7, "worker_bandwidth": 1e7}, "store"),
        (1000, {}, "too few tasks"),
    ],
)
def test_what_is_short_is_named_and_decides_the_time(workers: int, changes: dict[str, float], held_up_by: str) -> None:
    outcome = on(workers, **changes)
    (stage,) = outcome.stages
    assert stage.bottleneck == held_up_by
    assert outcome.bottleneck == f"resample: {held_up_by}"
    assert stage.seconds <= 1.25 * stage.bounds[held_up_by] + 2.5  # a block more or less at the end
    if held_up_by != "workers":
        assert on(2 * workers, **changes).seconds > 0.9 * outcome.seconds  # more workers do not help


def test_stages_follow_one_another_and_the_longest_is_named() -> None:
    outcome = on(100, [*BLOCKS, Work("collect", [Job(500.0, 1e9)])], variation=0.0)
    assert outcome.seconds == pytest.approx(sum(stage.seconds for stage in outcome.stages))
    assert outcome.bottleneck == "collect: too few tasks"


def test_a_seed_is_one_outcome_and_another_seed_another() -> None:
    assert on(7) == on(7)
    assert on(7) != on(7, seed=2)


def test_the_window_is_that_of_the_engine() -> None:
    from pipeline.engine import dask

    executor = dask.DaskExecutor.__new__(dask.DaskExecutor)
    executor._threads, executor._running, executor._looked = 5, {}, float("inf")  # so that it asks nobody
    assert executor.free() == max(SMALLEST_WINDOW, WINDOW_PER_WORKER * 5)
    executor._threads = 0
    assert executor.free() == SMALLEST_WINDOW


RATES = Measured(
    **{field: 0.0 for field in Measured.__dataclass_fields__ if field not in {"processor", "systems"}}, processor="x", systems=20
)


def test_the_work_is_what_the_plan_has() -> None:
    rates = replace(
        RATES,
        cell_seconds=1.0,
        cell_unit_seconds=0.01,
        cell_bytes=100.0,
        report_seconds=7.0,
        report_row_seconds=0.5,
        store_bandwidth=1e6,
    )
    work = {stage.name: stage.jobs for stage in work_of(rates, Made(20, 100_000, [100, 200]), workers=1)}
    assert list(work) == ["extract", "resample", "shards", "collect", "report"]
    assert len(work["extract"]) == 20
    assert sum(job.seconds for job in work["resample"]) == pytest.approx(7 * (2.0 + 3.0))  # 7 cells on 100 and on 200 units
    assert not work["shards"]  # one task makes the cube of so few
    assert sum(job.stored_bytes for job in work["resample"]) == work["collect"][0].stored_bytes == 14 * 100.0
    assert work["report"][0].seconds == 7.0 + 190 * 0.5
    with pytest.raises(ValueError, match="20 systems, the study has 21"):
        work_of(rates, Made(21, 1000, [100]), workers=1)


def test_shards_share_the_work_on_all_pairs() -> None:
    rates = replace(RATES, systems=1000, cell_bytes=499_500.0, store_bandwidth=1e6)
    rates = replace(rates, shard_row_seconds=3.0, shard_cell_seconds=0.5, shard_row_bytes=20.0, collect_row_seconds=0.25)
    work = {stage.name: stage.jobs for stage in work_of(rates, Made(1000, 100_000, [100, 200]), workers=1)}
    rows, cells = 2 * 499_500, 7
    assert len(work["shards"]) > 10
    assert sum(job.seconds for job in work["shards"]) == pytest.approx(rows * (3.0 + cells * 0.5))
    assert sum(job.stored_bytes for job in work["shards"]) == pytest.approx(rows * (cells * 1.0 + 20.0))  # read, and written
    (collect,) = work["collect"]
    assert (collect.seconds, collect.stored_bytes) == (rows * 0.25, 2 * rows * 20.0)


def test_rates_are_read_as_they_were_written(tmp_path: Path) -> None:
    (tmp_path / "rates.json").write_text(RATES.to_json(), encoding="utf-8")
    assert read_measured(tmp_path / "rates.json") == RATES
    assert cluster_of(replace(RATES, store_bandwidth=5.0), 3, store_bandwidth=2.0).worker_bandwidth == 2.0


def test_the_command_prints_a_line_for_each_number_of_workers() -> None:
    command = [sys.executable, "-m", "simulation", "--workers", "10", "1000", "--task-rate", "5", "--sizes", "2"]
    command += ["--cell-seconds", "2", "--store-bandwidth", "1e12"]
    done = subprocess.run(command, cwd=ROOT / "scripts", capture_output=True, text=True, check=True)
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in done.stdout.splitlines() if line.startswith("|")]
    (ten, thousand) = [row for row in rows if row[0] in {"10", "1,000"}]
    assert ten[-1] == "workers"
    assert thousand[-1] == "coordinator"
    assert ten[1] == thousand[1]  # tasks


def test_the_rates_of_the_document_are_whole() -> None:
    stored = json.loads((ROOT / "docs" / "scaling.json").read_text("utf-8"))
    assert set(stored) == set(asdict(RATES))
    assert all(value > 0 for name, value in stored.items() if name not in {"processor", "load"})
