"""A job's record follows from its runs; `scripts/bench` measures a small one from end to end."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from benchmarks.jobs import BEYOND_KEPT, JOBS, Job, Reference, Replicates, Settings, measure_job, select_jobs
from benchmarks.measure import Cost
from benchmarks.profiles import group_by_module
from benchmarks.studies import Bench, Question, Run

from pipeline.study.resampling import Resampling

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"


class MadeBench(Bench):
    """Runs that cost 5 s and 8 µs a replicate, 7 of them in blocks."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, {})
        self.log: list[int] = []

    def run(self, question: Question, replicates: int, *, workers: int = 1) -> Run:
        self.log.append(replicates)
        seconds = {"resample": 1 + 7e-6 * replicates, "collect": 1 + 0.5e-6 * replicates, "report": 1.0}
        return Run(Cost(5 + 8e-6 * replicates, 5 + 9e-6 * replicates, 2**28), seconds, {"resample": 3}, 2**28)


class MadeReference(Reference):
    """A reference that grows slower with every call."""

    seconds: Iterator[float] = iter(())

    def run(self, job: Job, items: int) -> dict[str, Any]:
        return {"reference_cpu_s": next(self.seconds), "product_cpu_s": 10.0, "parts": {"draw": 1.0}, "replicates": 1000}


def made_settings(seconds: list[float]) -> Settings:
    reference = MadeReference(Path("x.py"), 1.0)
    object.__setattr__(reference, "seconds", iter(seconds))
    return Settings(Replicates(100_000, 1_000_000), 2034, 3, side_by_side=False, reference=reference)


def test_a_record_has_the_marginal_cost_and_the_median_of_the_ratios(tmp_path: Path) -> None:
    record = measure_job(MadeBench(tmp_path), JOBS[0], made_settings([16.0, 20.0, 40.0]))
    assert record["ours"]["cpu_s"]["median"] == pytest.approx(8.0)
    assert record["ours"]["wall_s"]["median"] == pytest.approx(9.0)
    assert record["ours"]["fixed_cpu_s"]["median"] == pytest.approx(5.0)
    assert record["ours"]["outside_blocks"]["median"] == pytest.approx(1 / 7, abs=1e-3)
    assert record["ours"]["outside_tasks"]["median"] == pytest.approx(0.5 / 7, abs=1e-3)
    assert record["ratio_to_reference"] == {"median": 0.4, "min": 0.2, "max": 0.5}
    assert record["ratio_to_product"]["median"] == pytest.approx(0.8)
    assert record["targets"] == {"ratio_to_reference": {"at_most": 0.4, "met": True}}
    assert not record["limits"]["outside_blocks"]["met"]


def test_a_ratio_beyond_its_target_is_not_met(tmp_path: Path) -> None:
    record = measure_job(MadeBench(tmp_path), JOBS[0], made_settings([15.0, 15.0, 40.0]))
    assert not record["targets"]["ratio_to_reference"]["met"]


def test_both_runs_have_more_replicates_than_scores_are_kept_of() -> None:
    assert Resampling().keep_replicates < BEYOND_KEPT.few < BEYOND_KEPT.many


def test_jobs_are_chosen_by_name_and_lose_their_targets_on_other_systems() -> None:
    assert [(job.name, job.systems) for job in select_jobs(["J3", "J1"], None)] == [("J1", 31), ("J3", 31), ("J3", 150)]
    (small,) = select_jobs(["J3"], 5)
    assert small == replace(small, systems=5, to_reference=None, to_product=None, without_dot=None)
    with pytest.raises(ValueError, match="J7"):
        select_jobs(["J7"], None)


def test_another_reference_is_run_with_the_same_arguments(tmp_path: Path) -> None:
    program = tmp_path / "other.py"
    program.write_text(
        "import json, sys; print('starting'); print(json.dumps({'reference_cpu_s': 1, 'product_cpu_s': 1, 'said': sys.argv[1:]}))"
    )
    assert Reference(program, 1.0).run(JOBS[0], 99)["said"] == ["bleu", "bootstrap", "31", "40000", "99"]


def test_a_profile_counts_built_in_functions_for_their_callers() -> None:
    ours, theirs = ("/x/pipeline/resampling/draws.py", 1, "draw"), ("/x/site-packages/zarr/core.py", 1, "write")
    stats = {
        ours: (1, 1, 2.0, 5.0, {}),
        theirs: (1, 1, 1.0, 1.0, {ours: (1, 1, 1.0, 1.0)}),
        ("~", 0, "<sorted>"): (3, 3, 1.5, 1.5, {ours: (2, 2, 1.0, 1.0), theirs: (1, 1, 0.5, 0.5)}),
    }
    assert dict(group_by_module(stats)) == {"resampling/draws.py": 3.0, "zarr": 1.5}


@pytest.mark.slow
def test_a_small_measurement_prints_a_line_for_each_job(tmp_path: Path) -> None:
    out = tmp_path / "records.json"
    arguments = ["--jobs", "J4,J5", "--systems", "4", "--items", "60", "--replicates", "16384,65536", "--repeat", "1"]
    done = subprocess.run(
        [SCRIPTS / "bench", *arguments, "--budget", "0.05", "--out", out],
        env={**os.environ, "BENCH_PYTHON": sys.executable},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    records = [json.loads(line) for line in done.stdout.splitlines()]
    assert [(r["kind"], r.get("job")) for r in records] == [("job", "J4"), ("job", "J5"), ("exact", None)]
    assert records == json.loads(out.read_text(encoding="utf-8"))["records"]
    assert all(r["ours"]["blocks"] >= 1 and r["processor"] for r in records if r["kind"] == "job")
    assert "| J4: accuracy, 4 systems, bootstrap |" in done.stderr


def test_products_in_bytes_have_targets_of_their_own(tmp_path: Path) -> None:
    settings = replace(made_settings([20.0, 20.0, 20.0]), product="vnni-512")
    record = measure_job(MadeBench(tmp_path), JOBS[0], settings)
    assert record["product_form"] == "vnni-512"
    assert record["targets"] == {
        "ratio_to_reference": {"at_most": JOBS[0].to_reference, "met": False},
        "ratio_to_product": {"at_most": JOBS[0].to_product, "met": False},
    }
