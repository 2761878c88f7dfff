"""Makes a system: sampled training items → model → outputs. This module is the training task."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from pipeline.errors import PipelineError, TaskError
from pipeline.interfaces import TrainingItems
from pipeline.items.training import count_instances, lend_items, load_training_items, number_units
from pipeline.plan.task import Receipt, Task, TrainSpec
from pipeline.store.bundle import write_bundle
from pipeline.store.runs import STORE_NAME, Store
from pipeline.tasks.predicted import load_predicted, pack_member
from pipeline.tasks.training_record import (
    forget_peak,
    keep_failure,
    keep_log,
    log_of,
    peak_memory,
    printable,
    told_by_model,
    work_directory,
)
from pipeline.trainers.registry import make_trainer
from pipeline.trainers.sampling import Rule, Sample, TrainingSet, draw_sample, training_seed

__all__ = ["rule_of", "train", "training_set"]


def train(task: Task, runs: Path) -> Receipt:
    """Fit a model to its sample, predict every test set and store the outputs.

    Raises
    ------
    TaskError
        P404 this worker has other versions than the study was planned with; P410 the training failed, P420 to P425 its outputs are
        not what was asked: the other systems go on.
    """
    spec = task.spec
    assert isinstance(spec, TrainSpec)
    store = Store(runs / STORE_NAME)
    data = load_training_items(spec.data, spec.base, spec.data_digest)
    rule = rule_of(spec)
    drawn_from = training_set(spec.data, data, spec.data_digest, rule)
    sample = draw_sample(rule, drawn_from, seed=spec.seed, replica=spec.replica)
    seed = training_seed(rule, seed=spec.seed, data=drawn_from.data, model=spec.model, replica=spec.replica)
    test_sets = {gold: load_predicted(test_set, spec.base, gold) for gold, test_set in spec.test_sets.items()}
    trainer = make_trainer(spec.trainer, spec.options, Path(spec.base))
    signature = trainer.signature
    if spec.signature and signature != spec.signature:
        raise TaskError.of(
            "P404",
            f"this worker trains with {signature}, the study was planned with {spec.signature}",
            where=task.label,
            help="install the same versions on every worker, then `pipeline resume`",
        )
    members: dict[str, bytes] = {}
    model: Any = None
    forget_peak()
    try:
        with work_directory() as workdir:
            model = trainer.fit(lend_items(data), sample.items, seed=seed, workdir=workdir)
            for gold, test_set in test_sets.items():
                outputs = trainer.predict(model, lend_items(test_set.items))
                name = str(spec.test_sets[gold]["name"])
                members[gold] = pack_member(test_set, outputs, name=name, where=task.label)
            said = told_by_model(model)
    except PipelineError as error:
        keep_failure(error, store, task, printed=log_of(model))
        raise
    except (Exception, SystemExit) as error:  # a trainer is foreign code: whatever it raises is the failure of this system alone
        failed = TaskError.of(
            "P410",
            f"the training failed: {printable(error)}",
            where=task.label,
            help="the rest of the study goes on without this system; `retries:` of the model tries again",
        )
        status = error.code if isinstance(error, SystemExit) and isinstance(error.code, int) else None
        keep_failure(failed, store, task, printed=log_of(model), status=status)
        raise failed from error
    log = keep_log(store, task, log_of(model))
    path = store.path("outputs", task.key, ".zip")
    checksum = write_bundle(path, members)
    covers = {"model": spec.model, **_told(rule, sample), "memory_bytes": peak_memory(), **said, "log": log}
    return Receipt("train", task.key, task.label, store.relative(path), checksum, 0.0, "", covers)


def rule_of(spec: TrainSpec) -> Rule:
    """Return how the training set of a task is drawn."""
    # Only a bootstrap is drawn by its fraction; that of other methods is for people and coordinates.
    fraction = spec.fraction if spec.method == "bootstrap" else 1.0
    return Rule(spec.method, fraction, **spec.rule)


def training_set(data: Mapping[str, Any], items: TrainingItems, digest: str, rule: Rule) -> TrainingSet:
    """Return what samples are drawn from: an embedded data set is called by its name, others by what they hold."""
    name = str(data.get("dataset") or digest)
    return _training_set(name, rule.unit, rule.instances, _Kept(items))


class _Kept:
    """Items that are equal where they are the same object: what hangs on them is counted once a process."""

    def __init__(self, items: TrainingItems) -> None:
        self.items = items

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Kept) and other.items is self.items

    def __hash__(self) -> int:
        return id(self.items)


@lru_cache(maxsize=4)
def _training_set(name: str, unit: str, instances: str, kept: _Kept) -> TrainingSet:
    return TrainingSet(name, number_units(kept.items, unit), count_instances(kept.items, instances))


def _told(rule: Rule, sample: Sample) -> dict[str, Any]:
    """Return what is told of a sample."""
    return {"items": len(sample.items), "unit": rule.unit, "counted": rule.instances, **sample.counts}
