"""The time left follows what was predicted, until what was observed knows better."""

from __future__ import annotations

import pytest

from pipeline.engine.forecast import Outlook
from pipeline.plan.task import CollectSpec, Receipt, ReportSpec, Task


def task(name: str, kind: str = "collect") -> Task:
    spec = ReportSpec("r") if kind == "report" else CollectSpec("r", name)
    return Task(kind, name, name, spec)  # type: ignore[arg-type]  # a kind by its name


def took(done: Task, seconds: float) -> Receipt:
    return Receipt(done.kind, done.key, done.label, "", "", seconds, "")


def test_before_anything_has_ended_the_prediction_holds() -> None:
    outlook = Outlook(lambda task: 10.0)
    outlook.plan([task("a"), task("b"), task("c", "report")])
    assert outlook.seconds(1) == pytest.approx(30.0)
    assert outlook.seconds(2) == pytest.approx(20.0)
    assert outlook.seconds(50) == pytest.approx(20.0)  # one report, one worker
    assert outlook.open == {"collect": 2, "report": 1}


def test_tasks_that_take_twice_as_long_make_the_rest_take_twice_as_long() -> None:
    tasks = [task(str(number)) for number in range(100)]
    outlook = Outlook(lambda task: 10.0)
    outlook.plan(tasks)
    for done in tasks[:50]:
        outlook.finish(done, took(done, 20.0))
    assert outlook.seconds(1) == pytest.approx(1000.0, rel=0.01)
    outlook.plan(tasks[80:])  # planned again: what was seen stays
    assert outlook.seconds(1) == pytest.approx(400.0, rel=0.01)


def test_a_first_task_that_imports_does_not_frighten() -> None:
    tasks = [task(str(number)) for number in range(100)]
    outlook = Outlook(lambda task: 0.05)
    outlook.plan(tasks)
    outlook.finish(tasks[0], took(tasks[0], 1.5))
    left = outlook.seconds(1)
    assert left is not None
    assert left < 10.0


def test_what_is_unknown_is_none_until_one_of_it_has_ended() -> None:
    tasks = [task(str(number)) for number in range(4)]
    outlook = Outlook(lambda task: None)
    outlook.plan(tasks)
    assert outlook.seconds(1) is None
    outlook.finish(tasks[0], took(tasks[0], 7.0))
    assert outlook.seconds(1) == pytest.approx(21.0)
    for done in tasks[1:]:
        outlook.finish(done, took(done, 7.0))
    assert outlook.seconds(1) == 0.0


def test_the_busiest_worker_decides() -> None:
    outlook = Outlook(lambda task: 10.0)
    outlook.plan([task(str(number)) for number in range(3)])
    assert outlook.seconds(2) == pytest.approx(20.0)


def test_what_was_done_before_tells_of_what_nothing_is_known() -> None:
    outlook = Outlook(lambda task: None)
    outlook.learn(task("before"), took(task("before"), 4.0))
    outlook.plan([task("a"), task("b")])
    assert outlook.stage("collect") == (8.0, True)
    assert outlook.seconds(1) == pytest.approx(8.0)
