"""Divide the pairs of a large cube into shards of whole chunks, each collected by a task of its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pipeline.plan.comparisons import Size
from pipeline.plan.costs import TaskCosts
from pipeline.plan.inputs import Inputs, TestSetInputs
from pipeline.plan.task import CollectSpec, ShardSpec, Task
from pipeline.store.addresses import digest
from pipeline.study.schema import Study

__all__ = ["plan_shards"]

CHUNK_PAIRS, CHUNK_SYSTEMS = 4096, 16
"""Of a cube: a chunk has one writer. `tests/distributed/test_cubes_by_shards.py` holds them to those of cubes."""

ONE_TASK_SECONDS = 10.0
"""What a single task can do of a test set beside max-T: with 200 systems, shards cost more than they saved."""

SHARD_SECONDS = 2.0


def plan_shards(
    study: Study, inputs: Inputs, test_set: TestSetInputs, systems: int, needs: Mapping[Size, Sequence[str]], collect: Task
) -> tuple[Task, ...]:
    """Return the shards of a cube; none where a single task can make it in some ten seconds.

    Where they are cut depends on the study alone, never on workers or on the machine, and changes no bit of the cube.

    Parameters
    ----------
    systems : int
        Those that are there.
    needs : mapping of Size to sequence of str
        The keys of the tasks that must be done before the shards of each test size.
    collect : Task
        Of the cube. Its key does not know the shards: a cube that is there is kept, however its successor would be cut.
    """
    spec = collect.spec
    assert isinstance(spec, CollectSpec)
    pairs = systems * (systems - 1) // 2
    # Numbers of presets read all counts of a metric together; papers and tools compare few systems.
    whole = TaskCosts(study, inputs).pair_seconds(test_set)
    if whole <= ONE_TASK_SECONDS or study.preset is not None:
        return ()
    asked = len(test_set.outputs) * (len(test_set.outputs) - 1) // 2
    of_a_chunk = whole / (len(needs) * len(inputs.metrics)) * CHUNK_PAIRS / asked
    step = max(1, round(SHARD_SECONDS / of_a_chunk)) * CHUNK_PAIRS
    starts = range(0, pairs, step)
    groups = -(-systems // CHUNK_SYSTEMS)
    tasks = []
    for size, keys in needs.items():
        for metric in inputs.metrics:
            for place, first in enumerate(starts):
                stop = min(first + step, pairs)
                begin, end = (min(groups * at // len(starts) * CHUNK_SYSTEMS, systems) for at in (place, place + 1))
                shard = ShardSpec(spec.run, spec.test_set, size.label, metric.name, first, stop, begin, end)
                key = digest(["shard", collect.key, size.label, metric.name, first, stop, begin, end])
                label = f"{collect.label} [{size.label}] {metric.name} pairs {first}-{stop - 1}"
                tasks.append(Task("shard", key, label, shard, tuple(keys)))
    return tuple(tasks)
