"""Systems made by training. This module turns models and samples into tasks, and names what they make."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pipeline.store.addresses import digest
from pipeline.study.schema import BootstrapSample, Study
from pipeline.study.task import Task, TrainSpec

__all__ = ["name_system", "trainings_of"]

TRAIN_VERSION = 1
"""Raised when trainings change what they make; part of every address."""


def name_system(model: str, method: str, fraction: float, replica: int) -> str:
    """Give the name of a system made by training.

    Examples
    --------
    >>> name_system("linear", "bootstrap", 0.5, 3)
    'linear/bootstrap-0.5/3'
    """
    return f"{model}/{method}-{fraction:g}/{replica}"


def trainings_of(
    study: Study, data_digest: str, trainers: Mapping[str, str], test_sets: Mapping[str, Mapping[str, Any]]
) -> dict[str, Task]:
    """Give one training task for each model and sample, by system name.

    Parameters
    ----------
    data_digest : str
        Digest of the training items.
    trainers : mapping
        Signature of each model's trainer: what it stands on, with versions.
    test_sets : mapping
        Gold digest of each test set to be predicted, and its embedded data set.
    """
    tasks: dict[str, Task] = {}
    if study.training is None:
        return tasks
    for model, spec in study.training.models.items():
        for sample, replica in _samples(study.training.resamples):
            options = dict(spec.model_extra or {})
            drawn = [study.seed, sample.method, sample.fraction, replica]
            identity = digest(["train", TRAIN_VERSION, data_digest, model, spec.trainer, trainers.get(model, ""), options, drawn])
            train = TrainSpec(
                identity=identity,
                model=model,
                trainer=spec.trainer,
                options=options,
                data=study.training.data.model_dump(),
                seed=study.seed,
                method=sample.method,
                fraction=sample.fraction,
                replica=replica,
                test_sets=test_sets,
            )
            key = digest([identity, sorted(test_sets)])
            name = name_system(model, sample.method, sample.fraction, replica)
            tasks[name] = Task("train", key, f"train {name}", train, retries=spec.retries)
    return tasks


def _samples(resamples: tuple[BootstrapSample, ...]) -> Iterator[tuple[BootstrapSample, int]]:
    for sample in resamples:
        for replica in range(sample.replicas):
            yield sample, replica
