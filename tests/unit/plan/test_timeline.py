"""A plan that is played through ends when its workers end."""

from __future__ import annotations

import pytest

from pipeline.plan.costs import TaskCosts
from pipeline.plan.inputs import Inputs, TestSetInputs
from pipeline.plan.rates import OutputRates, PassRates, Rates
from pipeline.plan.task import CollectSpec, ComparisonSpec, ExtractSpec, ReportSpec, ResampleSpec, Task, pack_mask
from pipeline.plan.timeline import estimate_time
from pipeline.study.schema import Study

STUDY = Study.model_validate(
    {"schema": 1, "study": "s", "metrics": ["mean"], "test_sets": {"news": {"format": "scores", "outputs": "s.csv"}}}
)
INPUTS = Inputs("/", (TestSetInputs("news", "f", "g", 100, 100, ()),), (), {})
A_SECOND_A_TASK = PassRates(draw=1 / 100 / 16_384, product=0, score=0, pair=0, setup=0, setup_system=0, setup_pair=0)


def resample(cell: int) -> Task:
    column = ComparisonSpec("c", "mean", {}, None, ("a",), pack_mask_of_none(), pack_mask_of_none())
    spec = ResampleSpec("news", "f", "full", 100, 1, "prefix", "paired-bootstrap", 10**9, cell, cell + 1, (column,))
    return Task("resample", f"r{cell}", "", spec)


def pack_mask_of_none() -> str:
    import numpy as np

    return pack_mask(np.zeros(0, np.bool_))


def extract(number: int) -> Task:
    return Task("extract", f"e{number}", "", ExtractSpec("news", "f", "g", {}, "/", "mean", {}, "mean", {}, None))


def costs_of(*, with_outputs: bool = True, machine: float = 0.0) -> TaskCosts:
    outputs = {"news": {"mean": OutputRates(load=0.5, extract=0.0, prepare=3.0)}} if with_outputs else {}
    return TaskCosts(STUDY, INPUTS, Rates({"paired-bootstrap": {"mean": A_SECOND_A_TASK}}, outputs, machine=machine))


def test_nothing_to_do_takes_no_time() -> None:
    assert estimate_time([], costs_of(), workers=2).seconds == 0.0


@pytest.mark.parametrize(("workers", "seconds"), [(1, 12.0), (2, 6.0), (5, 3.0), (12, 1.0), (100, 1.0)])
def test_tasks_are_shared_among_workers(workers: int, seconds: float) -> None:
    found = estimate_time([resample(cell) for cell in range(12)], costs_of(), workers=workers)
    assert found.seconds == pytest.approx(seconds)
    assert found.cpu_seconds == pytest.approx(12.0)
    assert found.tasks_a_second["resample"] == pytest.approx(12 / seconds)


def test_cells_wait_for_statistics_and_a_worker_prepares_references_once() -> None:
    found = estimate_time([*(extract(n) for n in range(4)), resample(0)], costs_of(), workers=2, start=10.0)
    assert found.stages == pytest.approx({"extract": 4.0, "resample": 1.0})
    assert found.seconds == pytest.approx(15.0)


def test_a_stage_that_is_unknown_is_null_with_a_reason_and_the_rest_is_told() -> None:
    found = estimate_time([extract(0), resample(0)], costs_of(with_outputs=False), workers=1)
    assert found.seconds is None
    assert found.stages["extract"] is None
    assert "mean on news" in found.unknown["extract"]
    assert found.at_least == pytest.approx(1.0)


def test_starting_costs_as_much_more_as_the_machine_is_slower() -> None:
    tail = [Task("collect", "c", "", CollectSpec("r", "news")), Task("report", "r", "", ReportSpec("r"))]
    one, two = (estimate_time(tail, costs_of(machine=machine), workers=1).seconds for machine in (1.0, 2.0))
    assert one is not None
    assert one > 0
    assert two == pytest.approx(2 * one)
    alone = estimate_time(tail, costs_of(machine=1.0), workers=1, cluster=False).seconds
    assert alone is not None
    assert alone < one


def test_receipts_are_written_one_after_the_other() -> None:
    costs = costs_of(machine=1.0)
    many = estimate_time([extract(number) for number in range(3000)], costs, workers=3000)
    assert max(many.tasks_a_second.values()) < 1000
