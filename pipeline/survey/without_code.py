"""A study without the code that it would run: the part that this package alone can check against its files."""

from __future__ import annotations

from pipeline.dataclass import dataclass
from pipeline.metrics.registry import is_own
from pipeline.study.schema import MetricSpec, Study
from pipeline.study.training_schema import ModelSpec
from pipeline.survey.code import is_foreign, list_formats, metric_kind
from pipeline.trainers.named_code import list_named_code

__all__ = ["WithoutCode", "set_code_aside"]

_SAYS_NOTHING = ModelSpec.model_validate({"trainer": "command", "predict": "{input} {output}"})
"""In place of a model whose trainer is code: what it takes and gives is not known before it runs, and nothing is run."""


@dataclass(frozen=True)
class WithoutCode:
    """The part of a study that is left, and what was left out.

    Parameters
    ----------
    study : Study
        To be held against its files; no study that could be run.
    unchecked : tuple of str
        What was set aside, in words.
    """

    study: Study
    unchecked: tuple[str, ...]


def set_code_aside(study: Study) -> WithoutCode:
    """Leave out of a study whatever cannot be checked without running code that is not this package's own."""
    unchecked: list[str] = []
    study = _models_aside(study, unchecked)
    study = _formats_aside(study, unchecked)
    metrics = [each for each in study.metrics if not _is_code(each)]
    unchecked += [f"the metric {metric.name}" for metric in study.metrics if metric not in metrics]
    analyses = [each for each in study.analyses if not is_foreign("analyses", each.name)]
    unchecked += [f"the analysis {each.name}" for each in study.analyses if each not in analyses]
    return WithoutCode(study.model_copy(update={"metrics": tuple(metrics), "analyses": tuple(analyses)}), tuple(unchecked))


def _is_code(metric: MetricSpec) -> bool:
    return is_own(metric.name) or is_foreign("metrics", metric_kind(metric.name, metric.options))


def _models_aside(study: Study, unchecked: list[str]) -> Study:
    if study.training is None:
        return study
    kept = dict(study.training.models)
    for name, model in study.training.models.items():
        if _is_opaque(model):
            unchecked.append(f"the model {name}")
            kept[name] = _SAYS_NOTHING
        elif model.trainer == "command" and "version_command" in model.options:
            unchecked.append(f"the version of the model {name}")
            kept[name] = ModelSpec.model_validate({k: v for k, v in model.model_dump().items() if k != "version_command"})
    return study.model_copy(update={"training": study.training.model_copy(update={"models": kept})})


def _is_opaque(model: ModelSpec) -> bool:
    """Tell whether even making the trainer of a model would run code: one of another package, an object, a class by its path."""
    if is_foreign("trainers", model.trainer) or model.trainer == "python":
        return True
    return any(code.kind == "module" for code in list_named_code(model.trainer, model.options))


def _formats_aside(study: Study, unchecked: list[str]) -> Study:
    """Leave out test sets whose reader is another package's; all of them where training data are, or trained systems need them."""
    foreign = {where: form.name for where, form in list_formats(study) if is_foreign("readers", form.name)}
    if not foreign:
        return study
    unchecked += [f"{where} ({reader})" for where, reader in foreign.items()]
    kept = {
        name: spec for name, spec in study.test_sets.items() if study.training is None and f"test_sets.{name}.format" not in foreign
    }
    unchecked += [f"test_sets.{name}" for name in study.test_sets if name not in kept and f"test_sets.{name}.format" not in foreign]
    # A table of systems has rows of those that are left out, and options of an analysis may name a test set that is.
    systems = study.systems.model_copy(update={"table": None, "relation": None})
    analyses = tuple(each for each in study.analyses if not each.options)
    unchecked += [f"the options of the analysis {each.name}" for each in study.analyses if each.options]
    return study.model_copy(update={"test_sets": kept, "training": None, "systems": systems, "analyses": analyses})
