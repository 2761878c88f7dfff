"""Made-up studies for tests of plans: inputs without files, and the receipts that tasks would leave."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from pipeline.plan.inputs import Inputs, MetricInputs, OutputInputs, TestSetInputs
from pipeline.plan.inventory import Inventory
from pipeline.plan.open_tasks import plan_study
from pipeline.plan.task import Receipt, ResampleSpec, Task
from pipeline.study.load import study_from_value
from pipeline.study.schema import Study

NAMES = ("a", "b", "c", "d", "e")


def made_study(
    *, systems: Sequence[str] = NAMES, sizes: Sequence[int] = (), contents: dict[str, str] | None = None, **resampling: Any
) -> tuple[Study, Inputs]:
    """Return a study of one metric on one test set of 1000 items; the content of an output is its system's name."""
    value: dict[str, Any] = {"schema": 1, "study": "made", "seed": 7, "metrics": ["mean"]}
    value["test_sets"] = {"news": {"format": "scores", "outputs": "{system}.csv"}}
    value["resampling"] = {"replicates": 40_000, "keep_replicates": 0, "test_sizes": [*sizes, "full"], **resampling}
    outputs = tuple(OutputInputs(name, (contents or {}).get(name, name)) for name in systems)
    test_set = TestSetInputs("news", "frame", "gold", 1000, 1000, outputs)
    metric = MetricInputs("mean", {}, "mean", higher_is_better=True)
    return study_from_value(value, base=Path("/base")).study, Inputs("/base", (test_set,), (metric,), {})


def plan_tasks(asked: tuple[Study, Inputs], done: Iterable[Receipt] | Inventory = (), **options: Any) -> tuple[Task, ...]:
    """Return the open tasks."""
    inventory = done if isinstance(done, Inventory) else Inventory.of(done)
    return plan_study(*asked, inventory, run="run", **options).tasks


def receipt_of(task: Task) -> Receipt:
    """Return what a task would leave, as its function writes it."""
    covers: dict[str, Any] = {}
    if isinstance(task.spec, ResampleSpec):
        spec = task.spec
        covers = {"replicates": spec.replicates, "first_cell": spec.first_cell, "stop_cell": spec.stop_cell}
        covers["columns"] = [
            {"column": c.column, "systems": list(c.systems), "pairs": c.pairs, "kept": c.kept} for c in spec.columns
        ]
    elif task.kind == "collect":
        covers = {"test_set": "news"}
    return Receipt(task.kind, task.key, task.label, f"{task.kind}/{task.key}", "c" * 64, 0.5, "worker", covers, 2**20)


def all_done(asked: tuple[Study, Inputs], **options: Any) -> list[Receipt]:
    """Return the receipts of a whole study, but for its cube and report."""
    return [receipt_of(task) for task in plan_tasks(asked, **options) if task.kind in {"extract", "resample"}]
