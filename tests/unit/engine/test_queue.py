"""The queue opens tasks in the plan's order, each when what it needs is done."""

from __future__ import annotations

from pipeline.engine.queue import TaskQueue
from pipeline.plan.task import ReportSpec, Task


def task(key: str, *needs: str) -> Task:
    return Task("report", key, key, ReportSpec("run"), needs)


def take_all(queue: TaskQueue) -> list[str]:
    taken = []
    while (found := queue.take()) is not None:
        taken.append(found.key)
    return taken


def test_a_task_waits_for_all_it_needs() -> None:
    queue = TaskQueue([task("c", "a", "b"), task("a"), task("b")], done=())
    assert take_all(queue) == ["a", "b"]
    queue.finish("a")
    assert take_all(queue) == []
    queue.finish("b")
    assert take_all(queue) == ["c"]


def test_what_is_done_before_is_not_waited_for() -> None:
    assert take_all(TaskQueue([task("c", "a")], done={"a"})) == ["c"]


def test_ready_tasks_start_in_the_order_of_the_plan() -> None:
    queue = TaskQueue([task("z", "x"), task("m"), task("a")], done=())
    first = queue.take()
    assert first is not None
    assert first.key == "m"
    queue.finish("x")
    assert take_all(queue) == ["z", "a"]


def test_a_task_given_back_is_taken_again_in_its_place() -> None:
    queue = TaskQueue([task("a"), task("b")], done=())
    first = queue.take()
    assert first is not None
    queue.give_back(first)
    assert take_all(queue) == ["a", "b"]


def test_running_tasks_are_left_out() -> None:
    queue = TaskQueue([task("a"), task("b")], done=(), running={"a"})
    assert take_all(queue) == ["b"]
    assert len(queue) == 0


def test_tasks_that_wait_for_the_same_start_together_and_others_do_not() -> None:
    waiting = [task("x", "a", "b"), task("y", "a", "b"), task("z", "b"), task("last", "x", "y", "z")]
    queue = TaskQueue([task("a"), *waiting], done=(), running={"b"})
    assert take_all(queue) == ["a"]
    queue.finish("b")
    assert take_all(queue) == ["z"]
    queue.finish("a")
    assert take_all(queue) == ["x", "y"]
    for key in ("x", "y", "z"):
        assert take_all(queue) == []
        queue.finish(key)
    assert take_all(queue) == ["last"]
