"""Systems made by training: models and samples become tasks, and the names of what they make."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pipeline.plan.task import Task, TrainSpec
from pipeline.store.addresses import digest
from pipeline.study.grouping import ITEM_OR_SENTENCE
from pipeline.study.schema import Study
from pipeline.study.sets import TestSet
from pipeline.study.training_schema import CrossValidation, DatasetSpec, ModelSpec, QuotaSample, Resample

__all__ = ["is_predicted", "make_trainings", "name_system", "predicted_test_sets"]

TRAIN_VERSION = 1
"""Raised when a fitted model becomes another one; part of every address."""

OUTPUTS_VERSION = 2
"""Raised when stored outputs take another form: models are then fitted again, and are the same."""


def name_system(model: str, label: str, replica: int) -> str:
    """Return the name of a system made by training.

    Examples
    --------
    >>> name_system("linear", "bootstrap-0.5", 3)
    'linear/bootstrap-0.5/3'
    """
    return f"{model}/{label}/{replica}"


def is_predicted(test_set: TestSet) -> bool:
    """Say whether trained systems predict a test set: as it says, else if it has no outputs or is an embedded data set."""
    if test_set.predicted is not None:
        return test_set.predicted
    return test_set.outputs is None or isinstance(test_set.gold, DatasetSpec)


def predicted_test_sets(study: Study, golds: Mapping[str, str]) -> dict[str, dict[str, Any]]:
    """Return what trainings predict by the digest of its gold: its name, and the test set as its reader takes it.

    Parameters
    ----------
    study : Study
    golds : mapping
        Digest of the gold by name of the test set.
    """
    if study.training is None:
        return {}
    predicted: dict[str, dict[str, Any]] = {}
    for name, gold in golds.items():
        if is_predicted(study.test_sets[name]):
            predicted.setdefault(gold, {"name": name, "spec": study.as_read(name).model_dump()})
    return predicted


def make_trainings(
    study: Study, data_digest: str, trainers: Mapping[str, str], test_sets: Mapping[str, Mapping[str, Any]], *, base: str = ""
) -> dict[str, Task]:
    """Return one training task for each model and sample, by system name.

    Parameters
    ----------
    data_digest : str
        Digest of the training items.
    trainers : mapping
        Signature of each model's trainer: what it stands on, with versions.
    test_sets : mapping
        What is predicted, by digest of the gold.
    base : str
        The folder that relative paths start from.
    """
    tasks: dict[str, Task] = {}
    if study.training is None:
        return tasks
    for model, spec in study.training.models.items():
        for sample in study.training.resamples:
            for replica in range(sample.count):
                rule = _rule(sample, study.training.unit)
                drawn = [study.seed, sample.method, sample.fraction_of_all, replica, *([rule] if rule else [])]
                signature = trainers.get(model, "")
                options = _deciding(spec)
                identity = digest(["train", TRAIN_VERSION, data_digest, model, spec.trainer, signature, options, drawn])
                train = TrainSpec(
                    identity=identity,
                    model=model,
                    trainer=spec.trainer,
                    options=spec.options,
                    data=study.training.data.model_dump(),
                    seed=study.seed,
                    method=sample.method,
                    fraction=sample.fraction_of_all,
                    replica=replica,
                    test_sets=test_sets,
                    rule=rule,
                    data_digest=data_digest,
                    signature=signature,
                    base=base,
                    keep_models=study.training.keep_models,
                )
                key = digest([identity, OUTPUTS_VERSION, sorted(test_sets)])
                name = name_system(model, sample.label, replica)
                tasks[name] = Task("train", key, f"train {name}", train, retries=spec.retries, resources=spec.resources)
    return tasks


def _deciding(spec: ModelSpec) -> dict[str, Any]:
    """Return the options that a model depends on. What ended within the limits of a command ends within wider ones as well."""
    return {name: value for name, value in spec.options.items() if (spec.trainer, name) != ("command", "limits")}


def _rule(sample: Resample, unit: str) -> dict[str, Any]:
    """Return what of a method is neither its name nor its fraction; nothing for a bootstrap of items."""
    rule: dict[str, Any] = {} if unit in ITEM_OR_SENTENCE else {"unit": unit}
    if isinstance(sample, QuotaSample):
        rule["instances"] = sample.instances
    if isinstance(sample, CrossValidation):
        rule["folds"] = sample.folds
    return rule
