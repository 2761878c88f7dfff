"""Blocks stay within their bounds on any machine, and the cost of a study is linear in what is asked."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.plan.blocks import FASTEST, LONGEST_BLOCK, SHORTEST_BLOCK, TASKS_A_SECOND, choose_block_cells
from pipeline.plan.costs import TaskCosts, resampling_seconds
from pipeline.plan.inputs import Inputs, MetricInputs, OutputInputs, TestSetInputs
from pipeline.plan.inventory import Inventory
from pipeline.plan.open_tasks import plan_study
from pipeline.plan.rates import OutputRates, PassRates, Rates
from pipeline.plan.task import Failure, Receipt, ResampleSpec
from pipeline.resampling.address import CELL
from pipeline.study.schema import Study

PROCEDURE = "paired-bootstrap"


def rates_of(**changes: float) -> Rates:
    return Rates(passes={PROCEDURE: {"mean": PassRates(**changes)}}, outputs={"news": {"mean": OutputRates(0.01, 1e-5, 0.1)}})


def study_of(systems: int = 6, *, units: int = 500, replicates: int = 1_000_000, **resampling: Any) -> tuple[Study, Inputs]:
    value = {
        "schema": 1,
        "study": "small",
        "metrics": ["mean"],
        "test_sets": {"news": {"format": "scores", "outputs": "s.csv"}},
        "resampling": {"replicates": replicates, "keep_replicates": 0, **resampling},
    }
    outputs = tuple(OutputInputs(f"s{i}", f"digest {i}", output={}) for i in range(systems))
    test_set = TestSetInputs("news", "frame", "gold", units, units, outputs)
    return Study.model_validate(value), Inputs("/", (test_set,), (MetricInputs("mean", {}, "mean", True),), {})


def seconds_of(rates: Rates, cells: int, *, n_units: int, systems: int) -> float:
    own, pairs = rates.of_pass(PROCEDURE, "mean"), systems * (systems - 1) // 2
    replicate = own.draw * n_units + own.replicate(n_units, systems, pairs)
    return own.task(n_units, systems, pairs) + cells * CELL * replicate


@settings(max_examples=500)
@given(
    speed=st.floats(0.01, 100.0),
    n_units=st.integers(2, 20_000),
    systems=st.integers(2, 1000),
    cells=st.integers(1, 2000),
    workers=st.integers(1, 2000),
)
def test_blocks_take_half_a_second_to_five_and_never_a_hundred_a_second(
    speed: float, n_units: int, systems: int, cells: int, workers: int
) -> None:
    slow = PassRates()
    rates = rates_of(**{name: value * speed for name, value in vars(slow).items()})
    shape = {"n_units": n_units, "systems": systems}
    block = choose_block_cells(rates, procedure=PROCEDURE, metrics=["mean"], cells=cells, workers=workers, **shape)
    seconds, one_less = (seconds_of(rates, number, **shape) for number in (block, block - 1))
    assert 1 <= block <= cells
    least = max(SHORTEST_BLOCK, workers / TASKS_A_SECOND)
    assert seconds >= least * (1 - 1e-9) or block == cells
    # Longer only where the scheduler asks for it, or where a cell is.
    assert seconds <= LONGEST_BLOCK * (1 + 1e-9) or one_less < least or block == 1
    assert workers / seconds <= TASKS_A_SECOND * (1 + 1e-9) or block == cells


@settings(max_examples=500)
@given(
    faster=st.floats(1.0, FASTEST),
    n_units=st.integers(2, 20_000),
    systems=st.integers(2, 1000),
    cells=st.integers(1, 2000),
    workers=st.integers(1, 500),
)
def test_blocks_that_nothing_was_measured_for_are_as_long_on_slow_machines_and_on_those_four_times_as_fast(
    faster: float, n_units: int, systems: int, cells: int, workers: int
) -> None:
    shape = {"n_units": n_units, "systems": systems}
    block = choose_block_cells(Rates(), procedure=PROCEDURE, metrics=["mean"], cells=cells, workers=workers, **shape)
    seconds, one_less = (seconds_of(Rates(), number, **shape) for number in (block, block - 1))
    least = max(FASTEST * SHORTEST_BLOCK, workers / TASKS_A_SECOND)
    assert seconds / faster >= SHORTEST_BLOCK * (1 - 1e-9) or block == cells
    assert seconds / faster <= LONGEST_BLOCK * (1 + 1e-9) or one_less < least or block == 1


def test_a_thousand_workers_get_longer_blocks_rather_than_more_than_a_hundred_a_second() -> None:
    rates, shape = rates_of(), {"n_units": 2000, "systems": 30}
    block = choose_block_cells(rates, procedure=PROCEDURE, metrics=["mean"], cells=100_000, workers=1000, **shape)
    assert seconds_of(rates, block, **shape) == pytest.approx(10.0, rel=0.1)


def test_metrics_of_a_task_share_their_draws() -> None:
    shape: dict[str, Any] = {"n_units": 5000, "systems": 2, "cells": 10_000, "workers": 1}
    draws_only = PassRates(draw=1e-8, product=0.0, score=0.0, pair=0.0)
    rates = Rates(passes={PROCEDURE: {"a": draws_only, "b": draws_only}})
    one = choose_block_cells(rates, procedure=PROCEDURE, metrics=["a"], **shape)
    assert choose_block_cells(rates, procedure=PROCEDURE, metrics=["a", "b"], **shape) == one


def test_the_grid_does_not_know_what_is_done_or_who_failed() -> None:
    study, inputs = study_of(40, units=2000)
    whole = plan_study(study, inputs, Inventory(), run="r", rates=rates_of())
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
    left = plan_study(study, inputs, done, run="r", rates=rates_of())
    assert [task.key for task in left.tasks if task.kind == "resample"] == [b.key for b in blocks if b is not blocks[1]]

    # Half of the systems fail: the cells of the blocks stay as they were.
    failed = Inventory()
    for task in [task for task in whole.tasks if task.kind == "extract"][:20]:
        failed.fail(Failure(task.key, task.label, 3, ()))
    fewer = plan_study(study, inputs, failed, run="r", rates=rates_of())
    cells = [(t.spec.first_cell, t.spec.stop_cell) for t in fewer.tasks if isinstance(t.spec, ResampleSpec)]
    assert len(fewer.absent) == 20
    assert cells == [(b.spec.first_cell, b.spec.stop_cell) for b in blocks]


def test_a_plan_is_a_function_of_its_arguments() -> None:
    study, inputs = study_of()
    first, again = (plan_study(study, inputs, Inventory(), run="r", rates=rates_of()) for _ in range(2))
    assert first == again
    assert plan_study(study, inputs, Inventory(), run="r") == plan_study(study, inputs, Inventory(), run="r", rates=Rates())


@pytest.mark.parametrize("factor", [2, 10])
def test_resampling_costs_in_proportion_to_replicates(factor: int) -> None:
    rates = rates_of(setup=0.0, setup_system=0.0, setup_pair=0.0)
    few, many = (study_of(replicates=16_384 * n) for n in (20, 20 * factor))
    assert resampling_seconds(*many, rates) == pytest.approx(factor * resampling_seconds(*few, rates))
    total = []
    for study, inputs in (few, many):
        costs = TaskCosts(study, inputs, rates)
        tasks = plan_study(study, inputs, Inventory(), run="r", rates=rates).tasks
        total.append(sum(costs.seconds(task) or 0.0 for task in tasks if task.kind == "resample"))
    assert total[1] == pytest.approx(factor * total[0])


def test_blocks_of_a_size_make_its_whole() -> None:
    rates = rates_of(setup=0.0, setup_system=0.0, setup_pair=0.0)
    study, inputs = study_of(replicates=1_000_000, test_sizes=[100, "full"])
    costs = TaskCosts(study, inputs, replace(rates, machine=0.0))  # without what is only written
    tasks = [t for t in plan_study(study, inputs, Inventory(), run="r", rates=rates).tasks if t.kind == "resample"]
    assert sum(costs.seconds(task) or 0.0 for task in tasks) == pytest.approx(resampling_seconds(study, inputs, rates))


def test_rates_come_back_from_json_and_other_versions_do_not() -> None:
    rates = replace(rates_of(draw=1.25e-9), trainings={"m": {"0.5": 2.0}}, unknown={"x": "y"}, machine=1.5)
    # A grid needs no more than the passes: what else is measured is told by a plan and kept by nobody.
    assert Rates.from_json(rates.to_json()) == Rates(passes=rates.passes)
    assert Rates.from_json({**rates.to_json(), "schema_version": 0}) is None


def test_a_training_is_known_by_its_own_fraction_or_in_proportion_to_the_largest() -> None:
    rates = Rates(trainings={"m": {"0.25": 1.0, "0.5": 3.0}})
    assert [rates.training("m", fraction) for fraction in (0.25, 0.5, 1.0)] == [1.0, 3.0, 6.0]
    assert rates.training("other", 1.0) is None


def test_the_time_of_a_cube_counts_its_tails() -> None:
    """Tails of a leaderboard of decimal scores take seconds: "1 s left" must not be said of them."""
    study, inputs = study_of(52, units=805, replicates=100_000)
    plan = plan_study(study, inputs, Inventory(), run="r")
    (collect,) = (task for task in plan.tasks if task.kind == "collect")
    without = study_of(52, units=805, replicates=100_000, tails="none")[0]
    general = replace(inputs, metrics=(replace(inputs.metrics[0], form="general"),))
    plain = TaskCosts(without, inputs, Rates()).seconds(collect)
    counted = TaskCosts(study, inputs, Rates()).seconds(collect)
    assert plain is not None
    assert counted is not None
    assert counted == pytest.approx(plain + Rates().machine * 2.0, abs=0.1)
    assert TaskCosts(study, general, Rates()).seconds(collect) == plain
