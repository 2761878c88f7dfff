"""Plan the open tasks of a study from its inputs and the existing results. Pure.

``resume``, ``status``, ``plan`` and adding a system are this one function asked again with another inventory.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import chain

from pipeline.dataclass import dataclass
from pipeline.plan.blocks import plan_resamples
from pipeline.plan.comparisons import Comparison, list_comparisons, list_sizes, statistics_key
from pipeline.plan.inputs import Inputs, OutputInputs, TestSetInputs
from pipeline.plan.inventory import Inventory
from pipeline.plan.shards import plan_shards
from pipeline.plan.task import CollectSpec, ExtractSpec, ReportSpec, Task
from pipeline.plan.trainings import make_trainings, predicted_test_sets
from pipeline.store.addresses import digest
from pipeline.study.schema import Study

__all__ = ["Absence", "Plan", "plan_study", "plan_trainings", "present_outputs", "wanted_addresses"]

COLLECT_VERSION = 16
"""Raised when cubes change; part of the address of every cube."""


@dataclass(frozen=True)
class Absence:
    """A system without outputs, and why it has none."""

    system: str
    test_set: str
    reason: str


@dataclass(frozen=True)
class Plan:
    """The open tasks, in the order they should start; the absent systems; the key of the final report, if any."""

    tasks: tuple[Task, ...]
    absent: tuple[Absence, ...]
    report: str | None


def plan_study(
    study: Study,
    inputs: Inputs,
    inventory: Inventory,
    *,
    run: str,
    block_cells: int | None = None,
    workers: int = 1,
) -> Plan:
    """Return the tasks that are still open.

    Parameters
    ----------
    study, inputs
        What is asked, and what was found.
    inventory : Inventory
        What exists, and what failed for good.
    run : str
        The run's id: cubes and report belong to a run.
    block_cells : int, optional
        Cells of a resample task; by default what `choose_block_cells` gives. Never part of an address.
    workers : int
        For spreading small studies over all workers.

    Returns
    -------
    Plan
        Tasks in the order they should start: trainings, extractions, then resamples and what follows them.
    """
    by_key = {task.key: task for task in plan_trainings(study, inputs).values()}
    tasks: list[Task] = [task for task in by_key.values() if _is_open(task, inventory)]
    absent: list[Absence] = []
    tail: list[Task] = []
    collects: list[Task] = []
    shards: list[Task] = []
    for test_set in inputs.test_sets:
        present, missing = present_outputs(study, inputs, test_set, inventory)
        absent.extend(missing)
        extractions = _extractions(study, inputs, test_set, present)
        tasks.extend(task for task in extractions.values() if _is_open(task, inventory))
        if len(present) < 2:
            continue
        sizes = list_sizes(study, test_set)
        columns = {size: list_comparisons(study, inputs, test_set, size, present) for size in sizes}
        blocks = {size: plan_resamples(study, test_set, size, columns[size], inventory, block_cells, workers) for size in sizes}
        resamples = list(chain(*blocks.values()))
        tail.extend(task for task in resamples if _is_open(task, inventory))
        collect = _collect(study, test_set, list(chain(*columns.values())), run, needs=tuple(task.key for task in resamples))
        if any(task.key in inventory.failures for task in resamples):
            absent.append(Absence("", test_set.name, "some resample tasks failed for good"))
            continue
        if _is_open(collect, inventory):  # shards are of use until then, and no longer there
            extracted = tuple(extractions)
            needs = {size: (*(task.key for task in blocks[size]), *extracted) for size in sizes}
            made = plan_shards(study, inputs, test_set, len(present), needs, collect)
            shards.extend(made)
            keys = tuple(task.key for task in made)
            collect = replace(collect, spec=CollectSpec(run, test_set.name, keys), needs=(*collect.needs, *keys))
        collects.append(collect)
    tail.extend(task for task in shards if _is_open(task, inventory))
    tail.extend(c for c in collects if _is_open(c, inventory) and not any(need in inventory.failures for need in c.needs))
    report_key = digest(["report", run, [c.key for c in collects], sorted([a.system, a.test_set] for a in absent)])
    report = Task("report", report_key, "report", ReportSpec(run), needs=tuple(c.key for c in collects))
    if collects and not any(task.key in inventory.failures for task in (*shards, *collects)) and _is_open(report, inventory):
        tail.append(report)
    tasks.extend(tail)
    return Plan(tuple(tasks), tuple(absent), report_key if collects else None)


def present_outputs(
    study: Study, inputs: Inputs, test_set: TestSetInputs, inventory: Inventory
) -> tuple[tuple[OutputInputs, ...], list[Absence]]:
    """Return the outputs of a test set for which nothing failed for good, and the absent systems with the reason."""
    present, absent = [], []
    missing = study.test_sets[test_set.name].missing
    for output in test_set.outputs:
        keys = [statistics_key(test_set, missing, metric, output) for metric in inputs.metrics]
        keys.extend([output.training] if output.training else [])
        failure = next((inventory.failures[key] for key in keys if key in inventory.failures), None)
        if failure is None:
            present.append(output)
        else:
            absent.append(Absence(output.system, test_set.name, f"{failure.label}: {failure.reason}"))
    return tuple(present), absent


def wanted_addresses(study: Study, inputs: Inputs) -> tuple[set[str], set[str]]:
    """Return the keys of all trainings and statistics, and the addresses of all columns, that a study can use."""
    keys = {task.key for task in plan_trainings(study, inputs).values()}
    columns: set[str] = set()
    for test_set in inputs.test_sets:
        for size in list_sizes(study, test_set):
            for column in list_comparisons(study, inputs, test_set, size, test_set.outputs):
                keys.update(column.systems)
                columns.add(column.address)
    return keys, columns


def _is_open(task: Task, inventory: Inventory) -> bool:
    return task.key not in inventory.receipts and task.key not in inventory.failures


def plan_trainings(study: Study, inputs: Inputs) -> dict[str, Task]:
    """Return the training tasks of a study by the names of the systems, whether they are done or not."""
    predicted = predicted_test_sets(study, {test_set.name: test_set.gold_digest for test_set in inputs.test_sets})
    return make_trainings(study, inputs.training_data or "", inputs.trainers, predicted, base=inputs.base)


def _extractions(study: Study, inputs: Inputs, test_set: TestSetInputs, present: tuple[OutputInputs, ...]) -> dict[str, Task]:
    spec = study.as_read(test_set.name)
    tasks: dict[str, Task] = {}
    for output in present:
        for metric in inputs.metrics:
            key = statistics_key(test_set, spec.missing, metric, output)
            extract = ExtractSpec(
                test_set=test_set.name,
                frame=test_set.frame,
                gold_digest=test_set.gold_digest,
                test_set_spec=spec.model_dump(),
                base=inputs.base,
                metric=metric.name,
                options=metric.options,
                signature=metric.signature,
                output=output.output,
                training=output.training,
            )
            needs = (output.training,) if output.training else ()
            # Identical outputs share an address: the first names the task.
            tasks.setdefault(key, Task("extract", key, f"{metric.name} of {output.system} on {test_set.name}", extract, needs))
    return tasks


def _collect(study: Study, test_set: TestSetInputs, columns: Sequence[Comparison], run: str, *, needs: tuple[str, ...]) -> Task:
    keys = [[column.address, sorted(column.key_of.items())] for column in columns]
    resampling = study.resampling
    counted = [resampling.replicates, resampling.keep_replicates, resampling.alpha, test_set.groupings]
    read = [resampling.intervals, resampling.tails, resampling.family, resampling.baseline, study.preset]
    exact = sorted({(column.procedure, column.metric.name) for column in columns if column.exact})
    key = digest(["collect", COLLECT_VERSION, run, test_set.name, keys, *counted, *read, *([exact] if exact else [])])
    statistics = {key for column in columns for key in column.systems}
    return Task("collect", key, f"collect {test_set.name}", CollectSpec(run, test_set.name), (*needs, *sorted(statistics)))
