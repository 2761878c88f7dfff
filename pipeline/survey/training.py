"""Check the trainings of a study: what cannot be learnt, predicted or scored is refused before anything is trained."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

from pipeline.dataclass import dataclass
from pipeline.errors import PipelineError, Problem, StudyError
from pipeline.interfaces import Items, KeepsModels, Trainer, TrainingItems
from pipeline.items.readers.registry import load_reader
from pipeline.items.training import (
    count_instances,
    items_to_predict,
    number_units,
    output_columns,
    read_training_items,
    training_digest,
)
from pipeline.options import suggest
from pipeline.plan.inputs import OutputInputs
from pipeline.plan.trainings import is_predicted, make_trainings, predicted_test_sets
from pipeline.store.addresses import digest
from pipeline.study.schema import Study
from pipeline.study.training_schema import CrossValidation, QuotaSample, Training
from pipeline.trainers.registry import make_trainer

__all__ = ["TrainingSurvey", "list_kept", "load_trainers", "refuse_without_gold", "signatures", "survey_training"]


@dataclass(frozen=True)
class TrainingSurvey:
    """The inputs of trainings, and the outputs they make for each test set.

    Parameters
    ----------
    data_digest : str or None
        Of the training items; None where nothing is trained.
    outputs : callable
        Gives the outputs that trainings make of a test set, by its name and the digest of its gold.
    """

    data_digest: str | None
    outputs: Callable[[str, str], tuple[OutputInputs, ...]]


def load_trainers(study: Study, base: Path) -> dict[str, Trainer]:
    """Make the trainer of each base model."""
    models = study.training.models if study.training else {}
    trainers: dict[str, Trainer] = {}
    for name, model in models.items():
        try:
            trainers[name] = make_trainer(model.trainer, model.options, base)
        except PipelineError as error:
            # A study may have many models with one trainer: which of them is it?
            raise type(error)(
                *(replace(problem, where=problem.where or f"training.models.{name}") for problem in error.problems)
            ) from error
    return trainers


def list_kept(study: Study, base: Path) -> set[str]:
    """Return the base models whose fitted models are kept for other test sets."""
    if study.training is None or not study.training.keep_models:
        return set()
    return {name for name, trainer in load_trainers(study, base).items() if isinstance(trainer, KeepsModels)}


def signatures(study: Study, trainers: Mapping[str, Trainer]) -> dict[str, str]:
    """Return what pins each model besides its options."""
    return {name: trainer.signature for name, trainer in trainers.items()}


def refuse_without_gold(study: Study) -> None:
    """Refuse test sets that are to be predicted and have no gold to say what their items are; trainings that predict nothing."""
    problems = [
        _without_gold(name)
        for name, spec in study.test_sets.items()
        if study.training is not None and is_predicted(spec) and spec.gold is None and not spec.references
    ]
    if study.training is not None and not any(map(is_predicted, study.test_sets.values())):
        message = "no test set is to be predicted: all have outputs, and what is trained would be for nothing"
        problems.append(
            Problem(
                "P127",
                message,
                "training",
                "leave out `training:`, or the `outputs:` of a test set, or say there `predicted: true` to have both",
            )
        )
    if problems:
        raise StudyError(*problems)


def _without_gold(name: str) -> Problem:
    message = f"test set {name!r} is to be predicted, and has no gold to say what"
    return Problem("P120", message, f"test_sets.{name}", "give its `gold:`, or the `outputs:` of systems that are there")


def survey_training(
    study: Study, base: Path, trainers: Mapping[str, Trainer], golds: Mapping[str, tuple[Items | None, str]]
) -> TrainingSurvey:
    """Read the training data and hold them, the trainers and the test sets against one another.

    Parameters
    ----------
    study : Study
    base : Path
        The folder that relative paths start from.
    trainers : mapping of str to Trainer
        By base model.
    golds : mapping of str to (Items, str)
        Gold of each test set, and its digest.

    Raises
    ------
    StudyError
        P118 to P126, all at once.
    DataError
        Where the training data cannot be read.
    """
    training = study.training
    if training is None:
        return TrainingSurvey(None, lambda name, gold: ())
    data = _read_data(training, base)
    problems = [*_refuse_resamples(training, data), *_refuse_takes(training, data, trainers)]
    for name, (gold, _) in golds.items():
        if is_predicted(study.test_sets[name]):
            problems.extend(_refuse_test_set(study, name, gold, data, trainers))
    if problems:
        raise StudyError(*dict.fromkeys(problems))
    data_digest = training_digest(training.data, data)
    predicted = predicted_test_sets(study, {name: found for name, (_, found) in golds.items()})
    trainings = make_trainings(study, data_digest, signatures(study, trainers), predicted, base=str(base))

    def outputs(name: str, gold: str) -> tuple[OutputInputs, ...]:
        if not is_predicted(study.test_sets[name]):
            return ()
        return tuple(OutputInputs(system, digest([task.key, gold]), training=task.key) for system, task in trainings.items())

    return TrainingSurvey(data_digest, outputs)


def _read_data(training: Training, base: Path) -> TrainingItems:
    try:
        return read_training_items(training.data, base)
    except PipelineError as error:
        raise type(error)(*(replace(problem, where=problem.where or "training.data") for problem in error.problems)) from error


def _refuse_resamples(training: Training, data: TrainingItems) -> list[Problem]:
    problems: list[Problem] = []
    try:
        units = int(number_units(data, training.unit).max()) + 1
    except StudyError as error:
        return list(error.problems)
    for position, sample in enumerate(training.resamples):
        where = f"training.resamples[{position}]"
        if isinstance(sample, CrossValidation) and sample.folds > units:
            message = f"{sample.folds} folds need as many units: the training data have {units} ({training.unit})"
            problems.append(Problem("P121", message, where, f"take at most {units} folds, or smaller units"))
        if isinstance(sample, QuotaSample):
            try:
                if not count_instances(data, sample.instances).any():
                    message = f"the training data have no {sample.instances}: a quota of 0 is met by nothing"
                    problems.append(Problem("P122", message, where, "count something that is there"))
            except StudyError as error:
                problems.extend(Problem(p.code, p.message, where, p.help) for p in error.problems)
    return problems


def _refuse_takes(training: Training, data: TrainingItems, trainers: Mapping[str, Trainer]) -> list[Problem]:
    problems = []
    for model, trainer in trainers.items():
        lacking = [column for column in trainer.takes if not _has(data, column)]
        if lacking:
            message = f"{training.models[model].trainer} fits to {_some(lacking)}, which the training data do not have"
            problems.append(Problem("P118", message, f"training.models.{model}", _columns_help(data, lacking)))
    return problems


def _refuse_test_set(
    study: Study, name: str, gold: Items | None, data: TrainingItems, trainers: Mapping[str, Trainer]
) -> list[Problem]:
    assert study.training is not None
    spec = study.test_sets[name]
    where = f"test_sets.{name}"
    if gold is None:
        return [_without_gold(name)]
    shown = items_to_predict(spec, gold)
    wanted = output_columns(load_reader(spec.format))
    problems = []
    for model, trainer in trainers.items():
        kind, gives, takes = (
            study.training.models[model].trainer,
            tuple(trainer.gives),
            trainer.takes,
        )
        # A command may say only when it predicts what it gives.
        missing = [column for column in wanted if column not in gives] if gives else []
        if missing:
            message = (
                f"{kind} predicts {_some(gives)}, and not the {_some(missing)} of test set {name!r} (format {spec.format.name})"
            )
            problems.append(Problem("P119", message, f"training.models.{model}", "take a trainer or a test set of the other kind"))
        targets = {*gives, *load_reader(spec.format).targets}
        lacking = [column for column in takes if column not in targets and not _has(shown, column)]
        if not missing and lacking:
            message = f"{kind} predicts from {_some(lacking)}, which test set {name!r} does not have"
            help_ = _columns_help(shown, lacking) or ("give its bitext as `references:`" if spec.format.name == "links" else None)
            problems.append(Problem("P126", message, f"training.models.{model}", help_))
        if not missing and not lacking and (data.features is None) != (shown.features is None):
            has, lacks = ("the training data have", f"test set {name!r} has none") if shown.features is None else ("", "")
            message = f"{has} features, and {lacks}" if has else f"test set {name!r} has features, and the training data have none"
            problems.append(Problem("P126", message, where, "train on and predict data of one kind"))
    return problems


def _has(items: TrainingItems, column: str) -> bool:
    return column in items.columns or (column == "features" and items.features is not None)


def _some(names: tuple[str, ...] | list[str]) -> str:
    return ", ".join(map(repr, names)) or "nothing"


def _columns_help(items: TrainingItems, lacking: list[str]) -> str | None:
    known = [*sorted(items.columns), *(["features"] if items.features is not None else [])]
    return suggest(lacking[0], known)
