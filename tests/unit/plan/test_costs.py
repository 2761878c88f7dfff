"""Blocks stay within their bounds, and the cost of a study is linear in what is asked."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pipeline.plan.blocks import LONGEST_BLOCK, SHORTEST_BLOCK, TASKS_A_SECOND, choose_block_cells
from pipeline.plan.costs import KERNELS, METRICS, TaskCosts, block_seconds
from pipeline.plan.inputs import Inputs, MetricInputs, OutputInputs, TestSetInputs
from pipeline.plan.inventory import Inventory
from pipeline.plan.open_tasks import plan_study
from pipeline.plan.task import ExtractSpec, Failure, Receipt, ResampleSpec, Task, TrainSpec
from pipeline.procedures.registry import PROCEDURES
from pipeline.resampling.address import CELL
from pipeline.resampling.standard_errors import studentise_budget
from pipeline.study.schema import Study

ROOT = Path(__file__).resolve().parents[3]
PROCEDURE = "paired-bootstrap"
SIDES = ("approximate-randomization", PROCEDURE)


def metric_of(name: str, **changes: Any) -> MetricInputs:
    return MetricInputs(name, {}, name, True, **changes)


def study_of(
    systems: int = 6, *, units: int = 500, replicates: int = 1_000_000, metrics: tuple[str, ...] = ("mean",), **resampling: Any
) -> tuple[Study, Inputs]:
    value = {
        "schema": 1,
        "study": "small",
        "metrics": list(metrics),
        "test_sets": {"news": {"format": "scores", "outputs": "s.csv"}},
        "resampling": {"replicates": replicates, "keep_replicates": 0, **resampling},
    }
    outputs = tuple(OutputInputs(f"s{i}", f"digest {i}", output={}) for i in range(systems))
    test_set = TestSetInputs("news", "frame", "gold", units, units, outputs)
    return Study.model_validate(value), Inputs("/", (test_set,), tuple(map(metric_of, metrics)), {})


def seconds_of(cells: int, *, n_units: int, systems: int) -> float:
    pairs = systems * (systems - 1) // 2
    setup, each = block_seconds(PROCEDURE, [metric_of("mean")], units=n_units, systems=systems, pairs=pairs)
    return setup + cells * CELL * each


@settings(max_examples=500, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    n_units=st.integers(2, 20_000),
    systems=st.integers(2, 1000),
    cells=st.integers(1, 2000),
    workers=st.integers(1, 2000),
)
def test_blocks_take_half_a_second_to_five_and_never_a_hundred_a_second(
    n_units: int, systems: int, cells: int, workers: int
) -> None:
    shape = {"n_units": n_units, "systems": systems}
    block = choose_block_cells(procedure=PROCEDURE, metrics=[metric_of("mean")], cells=cells, workers=workers, **shape)
    seconds, one_less = (seconds_of(number, **shape) for number in (block, block - 1))
    assert 1 <= block <= cells
    least = max(SHORTEST_BLOCK, workers / TASKS_A_SECOND)
    assert seconds >= least * (1 - 1e-9) or block == cells
    # Longer only where the scheduler asks for it, or where a cell is.
    assert seconds <= LONGEST_BLOCK * (1 + 1e-9) or one_less < least or block == 1
    assert workers / seconds <= TASKS_A_SECOND * (1 + 1e-9) or block == cells


def test_a_thousand_workers_get_longer_blocks_rather_than_more_than_a_hundred_a_second() -> None:
    shape = {"n_units": 2000, "systems": 30}
    block = choose_block_cells(procedure=PROCEDURE, metrics=[metric_of("mean")], cells=100_000, workers=1000, **shape)
    assert seconds_of(block, **shape) == pytest.approx(10.0, rel=0.1)


def test_metrics_of_a_task_share_their_draws() -> None:
    one, two = (block_seconds(PROCEDURE, [metric_of("mean")] * number, units=10**6, systems=2, pairs=1)[1] for number in (1, 2))
    assert two - one == pytest.approx(one - KERNELS["systems", "decimals"].draw * 10**6)


def test_the_grid_does_not_know_what_is_done_or_who_failed() -> None:
    study, inputs = study_of(40, units=2000)
    whole = plan_study(study, inputs, Inventory(), run="r")
    blocks = [task for task in whole.tasks if task.kind == "resample"]
    assert len(blocks) > 3
    spec = blocks[1].spec
    covers = {
        "replicates": study.resampling.replicates,
        "first_cell": spec.first_cell,
        "stop_cell": spec.stop_cell,
        "columns": [{"column": c.column, "systems": list(c.systems), "pairs": c.pairs, "kept": c.kept} for c in spec.columns],
    }
    done = Inventory.of([Receipt("resample", blocks[1].key, "", "", "", 1.0, "", covers)])
    left = plan_study(study, inputs, done, run="r")
    assert [task.key for task in left.tasks if task.kind == "resample"] == [b.key for b in blocks if b is not blocks[1]]

    # Half of the systems fail: the cells of the blocks stay as they were.
    failed = Inventory()
    for task in [task for task in whole.tasks if task.kind == "extract"][:20]:
        failed.fail(Failure(task.key, task.label, 3, ()))
    fewer = plan_study(study, inputs, failed, run="r")
    cells = [(t.spec.first_cell, t.spec.stop_cell) for t in fewer.tasks if isinstance(t.spec, ResampleSpec)]
    assert len(fewer.absent) == 20
    assert cells == [(b.spec.first_cell, b.spec.stop_cell) for b in blocks]


def test_a_plan_is_a_function_of_its_arguments() -> None:
    study, inputs = study_of()
    first, again = (plan_study(study, inputs, Inventory(), run="r") for _ in range(2))
    assert first == again


def resampling_seconds(study: Study, inputs: Inputs, **options: Any) -> float:
    costs = TaskCosts(study, inputs, **options)
    tasks = plan_study(study, inputs, Inventory(), run="r").tasks
    return sum(costs.seconds(task) or 0.0 for task in tasks if task.kind == "resample")


def test_resampling_costs_in_proportion_to_replicates_and_to_the_machine() -> None:
    few, many = (resampling_seconds(*study_of(31, units=2000, replicates=16_384 * number)) for number in (60, 600))
    assert many == pytest.approx(10 * few, rel=0.05)  # what comes before the first replicate of a block
    assert resampling_seconds(*study_of(31, units=2000, replicates=16_384 * 60), machine=2.0) == pytest.approx(2 * few)


def test_of_trainings_and_metrics_of_ones_own_nothing_is_foretold() -> None:
    study, inputs = study_of()
    costs = TaskCosts(study, inputs)
    extract = ExtractSpec("news", "f", "g", {}, "/", "mean", {}, "mean", {}, None)
    known, renamed, own = (
        costs.seconds(Task("extract", "e", "", replace(extract, metric=name, options=options)))
        for name, options in (("mean", {}), ("quality", {"metric": "mean"}), ("answers:ExactMatch", {}))
    )
    assert known is not None
    assert known > 0.0
    assert renamed == known
    assert own is None
    training = TrainSpec.__new__(TrainSpec)
    assert costs.seconds(Task("train", "t", "", training)) is None


def test_an_unknown_metric_is_resampled_as_its_form_is() -> None:
    shape: dict[str, Any] = {"units": 100, "systems": 5, "pairs": 10}
    assert block_seconds(PROCEDURE, [metric_of("a:b")], **shape) == block_seconds(PROCEDURE, [metric_of("ter")], **shape)
    general = [metric_of("a:b", form="general")]
    assert block_seconds(PROCEDURE, general, **shape) == block_seconds(PROCEDURE, [metric_of("meteor")], **shape)


def test_every_kind_of_metric_has_constants_under_every_procedure_that_draws() -> None:
    scored = {"systems" if found.keeps_scores else "pairs" for found in PROCEDURES.values() if found.draws}
    assert scored == {"systems", "pairs"}
    assert set(KERNELS) == {(what, kind) for what in scored for kind, _ in METRICS.values()}


def test_blocks_of_the_measured_jobs_take_what_is_foretold_within_a_factor_of_two() -> None:
    """By AMX and by VNNI alike: a grid of blocks is one for all machines."""
    records = json.loads((ROOT / "docs" / "performance.json").read_text("utf-8"))["records"]
    factors = {}
    for job in (record for record in records if record["kind"] == "job" and record["product_form"] in ("amx", "vnni-512")):
        procedure = PROCEDURE if job["procedure"] == "bootstrap" else SIDES[0]
        shape = {"units": job["items"], "systems": job["systems"], "pairs": job["pairs"]}
        _, each = block_seconds(procedure, [metric_of(job["metric"])], **shape)
        named = job["job"], job["systems"], job["product_form"]
        factors[named] = each * job["replicates"] / job["ours"]["blocks_s"]["median"]
    assert factors
    assert {named: factor for named, factor in factors.items() if not 0.5 <= factor <= 2} == {}


def test_the_cubes_of_the_measured_runs_take_what_is_foretold_within_a_factor_of_two() -> None:
    records = json.loads((ROOT / "docs" / "performance.json").read_text("utf-8"))["records"]
    factors = {}
    for run in (record for record in records if record["kind"] == "fixed"):
        asked: dict[str, Any] = {"replicates": run["replicates"], "keep_replicates": run["replicates"], "metrics": (run["metric"],)}
        study, inputs = study_of(run["systems"], units=run["items"], **asked)
        (task,) = (task for task in plan_study(study, inputs, Inventory(), run="r").tasks if task.kind == "collect")
        seconds = TaskCosts(study, inputs).seconds(task)
        assert seconds is not None
        factors[run["metric"], run["systems"]] = round(seconds / run["tasks_s"]["collect"], 2)
    assert len(factors) >= 4
    assert {named: factor for named, factor in factors.items() if not 0.5 <= factor <= 2} == {}


def test_swaps_cost_each_pair_more_and_each_unit_less() -> None:
    shape: dict[str, Any] = {"units": 1000, "systems": 5}
    swapped, resampled = (
        [block_seconds(name, [metric_of("bleu")], pairs=pairs, **shape)[1] for pairs in (0, 10)] for name in SIDES
    )
    assert swapped[0] < resampled[0]
    assert swapped[1] - swapped[0] > resampled[1] - resampled[0]


def test_the_time_of_a_cube_counts_its_tails() -> None:
    """Tails of a leaderboard of decimal scores took seconds, which "1 s left" did not know."""
    study, inputs = study_of(52, units=805, replicates=100_000)
    plan = plan_study(study, inputs, Inventory(), run="r")
    (collect,) = (task for task in plan.tasks if task.kind == "collect")
    without = study_of(52, units=805, replicates=100_000, tails="none")[0]
    general = replace(inputs, metrics=(replace(inputs.metrics[0], form="general"),))
    plain = TaskCosts(without, inputs).seconds(collect)
    counted = TaskCosts(study, inputs).seconds(collect)
    assert plain is not None
    assert counted is not None
    assert counted == pytest.approx(plain + 0.25, abs=0.01)
    assert TaskCosts(study, general).seconds(collect) == plain


def test_the_time_of_a_cube_counts_max_t_at_the_full_size_by_kind_of_metric_and_not_beyond_the_budget(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def collecting(*metrics: str, units: int = 2000, **resampling: Any) -> float:
        # A replicate that is kept and not drawn again costs next to nothing: what is left is max-T.
        asked = {"replicates": 10_000, "tails": "none", "intervals": ["symmetric"], **resampling}
        study, inputs = study_of(150, units=units, metrics=metrics, **asked)
        (task,) = (task for task in plan_study(study, inputs, Inventory(), run="r").tasks if task.kind == "collect")
        seconds = TaskCosts(study, inputs).seconds(task)
        assert seconds is not None
        return seconds

    # 11,175 pairs of 2000 units, most t* counted from bits: measured .8 s, and what is read of kept replicates is some .3 s.
    assert 0.8 < collecting("accuracy", keep_replicates=9999) - collecting("accuracy") < 2.5
    in_strata = collecting("accuracy", keep_replicates=9999, strata="domain")
    assert in_strata > 5 * collecting("accuracy", keep_replicates=9999)
    assert collecting("f1", keep_replicates=9999) > 2 * collecting("accuracy", keep_replicates=9999)
    half, whole = (collecting("f1", keep_replicates=kept) for kept in (4999, 9999))
    assert whole == pytest.approx(2 * half, rel=0.1)
    smaller = collecting("f1", keep_replicates=9999, test_sizes=[1000]) - whole
    assert 0 < smaller < whole / 10
    monkeypatch.setattr(studentise_budget, "MOST_PRODUCTS", 10**6)
    assert collecting("f1", keep_replicates=9999) < whole / 10
