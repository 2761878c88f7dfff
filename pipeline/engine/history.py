"""What trainings took in the runs beside this one. This module reads it from their ledgers, where the same was trained."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from statistics import median

from pydantic import ValidationError

from pipeline.errors import StoreError
from pipeline.store.ledger import read_ledger
from pipeline.store.runs import RunDirectory, iterate_ledgers
from pipeline.study.task import Task, TrainSpec
from pipeline.study.trainings import trainings_of
from pipeline.tasks.manifest import read_manifest
from pipeline.tasks.receipts import receipts_of

__all__ = ["past_trainings"]


def past_trainings(runs: Path, tasks: list[Task]) -> dict[str, dict[str, float]]:
    """Give the median seconds of the same model with the same options on samples of the same size, by model and fraction."""
    asked = {_what(task.spec): task.spec for task in tasks if isinstance(task.spec, TrainSpec)}
    taken: dict[str, list[float]] = {}
    if asked:
        for path in iterate_ledgers(runs):
            for what, seconds in _trainings(path):
                taken.setdefault(what, []).append(seconds)
    known: dict[str, dict[str, float]] = {}
    for what, spec in asked.items():
        if what in taken:
            known.setdefault(spec.model, {})[f"{spec.fraction:g}"] = median(taken[what])
    return known


def _trainings(ledger: Path) -> Iterator[tuple[str, float]]:
    try:
        manifest = read_manifest(RunDirectory(ledger.parent))
        receipts = receipts_of(read_ledger(ledger)[0]).values()
        made = trainings_of(manifest.study, manifest.inputs.training_data or "", manifest.inputs.trainers, {})
    except (StoreError, ValidationError, TypeError, KeyError):
        return  # a neighbour that is damaged, or of another version, only tells nothing
    for receipt in receipts:
        task = made.get(receipt.label.removeprefix("train ")) if receipt.kind == "train" else None
        if task is not None:
            assert isinstance(task.spec, TrainSpec)
            yield _what(task.spec), receipt.seconds


def _what(spec: TrainSpec) -> str:
    return repr((spec.trainer, sorted(spec.options.items()), sorted(spec.data.items()), spec.method, spec.fraction))
