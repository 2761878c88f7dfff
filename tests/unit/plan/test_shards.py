"""Where a cube is cut into shards, and what a plan makes of those that are done or have failed."""

from __future__ import annotations

import pytest
from support.plans import all_done, made_study, plan_tasks, receipt_of

from pipeline.plan.inventory import Inventory
from pipeline.plan.task import CollectSpec, Failure, ShardSpec, Task

MANY = [f"system {number:03}" for number in range(300)]


def shards_of(tasks: tuple[Task, ...]) -> list[Task]:
    return [task for task in tasks if task.kind == "shard"]


def test_a_small_study_has_one_task_for_its_cube() -> None:
    tasks = plan_tasks(made_study(sizes=[200]))
    assert [task.kind for task in tasks if task.kind in {"shard", "collect"}] == ["collect"]


@pytest.mark.parametrize("workers", [1, 500])
def test_shards_hold_every_pair_and_system_once_in_whole_chunks_of_seconds(workers: int) -> None:
    asked = made_study(systems=MANY, sizes=[200], replicates=2**20, keep_replicates=2**14)
    tasks = plan_tasks(asked, workers=workers)
    shards = shards_of(tasks)
    for size in ("200", "full"):
        own = [task.spec for task in shards if isinstance(task.spec, ShardSpec) and task.spec.size == size]
        assert len(own) > 1
        assert [spec.first_pair for spec in own] == [0, *(spec.stop_pair for spec in own[:-1])]
        assert [spec.first_system for spec in own] == [0, *(spec.stop_system for spec in own[:-1])]
        assert (own[-1].stop_pair, own[-1].stop_system) == (300 * 299 // 2, 300)
        assert all(spec.first_pair % 4096 == spec.first_system % 16 == 0 for spec in own)
    (collect,) = [task for task in tasks if task.kind == "collect"]
    assert isinstance(collect.spec, CollectSpec)
    assert collect.spec.shards == tuple(task.key for task in shards)
    assert set(collect.spec.shards) <= set(collect.needs)
    resamples = {task.key: task.spec.size for task in tasks if task.kind == "resample"}  # type: ignore[union-attr]
    for shard in shards:
        assert {resamples[key] for key in shard.needs if key in resamples} == {shard.spec.size}  # type: ignore[union-attr]


def test_shards_that_are_done_are_not_planned_again_and_none_once_there_is_a_cube() -> None:
    asked = made_study(systems=MANY, replicates=2**20, keep_replicates=2**14)
    done = all_done(asked)
    first, *others = shards_of(plan_tasks(asked, done))
    done.append(receipt_of(first))
    left = plan_tasks(asked, done)
    assert [task.key for task in shards_of(left)] == [task.key for task in others]
    (collect,) = [task for task in left if task.kind == "collect"]
    assert [task.kind for task in plan_tasks(asked, [*done, receipt_of(collect)])] == ["report"]


def test_without_a_shard_there_is_neither_cube_nor_report() -> None:
    asked = made_study(systems=MANY, replicates=2**20, keep_replicates=2**14)
    inventory = Inventory.of(all_done(asked))
    failed, *others = shards_of(plan_tasks(asked, inventory))
    inventory.fail(Failure(failed.key, failed.label, 4, ()))
    assert [task.key for task in plan_tasks(asked, inventory)] == [task.key for task in others]
