"""The trainer for scikit-learn: any estimator that an import path names, fitted on one core and seeded."""

from __future__ import annotations

import importlib
import threading
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline
from threadpoolctl import threadpool_limits

from pipeline.dataclass import dataclass
from pipeline.errors import PipelineError, PluginError, Problem, StudyError
from pipeline.foreign_code import refuse_foreign_code
from pipeline.interfaces import Trainer, TrainingItems
from pipeline.options import meant, suggest

__all__ = ["FittedEstimator", "SklearnTrainer"]

# The filters of `warnings` and the thread limits of BLAS belong to the process: two trainings at once would restore each
# other's. Trainings run beside one another in processes.
_PROCESS_STATE = threading.Lock()


@dataclass(frozen=True)
class FittedEstimator:
    """A fitted estimator and what it warned of while it was fitted.

    Parameters
    ----------
    estimator : object
        The estimator.
    notes : tuple of str
        Warnings in the order they came, each once: a solver that did not converge, a class too rare.
    """

    estimator: Any
    notes: tuple[str, ...] = ()


class SklearnTrainer(Trainer):
    """Fits an estimator of scikit-learn, or one of anybody's that derives from its ``BaseEstimator``.

    It learns ``label`` from the features of the items, or from their ``text`` where they have none: then the first step turns
    texts into features. BLAS and OpenMP are held to one thread, so that a model does not depend on the machine's number of cores.

    Parameters
    ----------
    estimator : str, optional
        Import path of the class, for example ``sklearn.linear_model.LogisticRegression``.
    options : mapping, optional
        Parameters of the estimator. ``random_state`` is not among them: it is derived from the study's seed, and given to every
        step that takes it.
    steps : list of {estimator, options}, optional
        Instead of one estimator: transformers, and an estimator at the end.

    Examples
    --------
    >>> trainer = SklearnTrainer(estimator="sklearn.neighbors.KNeighborsClassifier", options={"n_neighbors": 1})
    >>> items = TrainingItems(ids=("1", "2"), columns={"label": ("no", "yes")}, features=np.array([[0.0], [1.0]]))
    >>> model = trainer.fit(items, np.array([0, 1, 1]), seed=1, workdir=Path())
    >>> trainer.predict(model, items)
    {'label': ('no', 'yes')}
    """

    name: ClassVar[str] = "sklearn"
    takes: tuple[str, ...] = ("label",)
    gives: tuple[str, ...] = ("label",)
    same_bits: bool = True

    def __init__(
        self, *, estimator: str | None = None, options: Mapping[str, Any] | None = None, steps: Sequence[Any] | None = None
    ) -> None:
        wanted = _wanted(estimator, options, steps)
        self.steps = tuple(
            _Step(path, given, last=position == len(wanted)) for position, (path, given) in enumerate(wanted, start=1)
        )

    @property
    def signature(self) -> str:
        """The name, and each step with the version of its package: another version is another model."""
        return "|".join([self.name, *(step.signature for step in self.steps)])

    def fit(self, items: TrainingItems, sample: NDArray[np.int64], *, seed: int, workdir: Path) -> FittedEstimator:
        """Fit new estimators to the items at the positions ``sample``; nothing is written to ``workdir``."""
        made = [step.make(seed) for step in self.steps]
        model = made[0] if len(made) == 1 else Pipeline([(str(position), step) for position, step in enumerate(made, start=1)])
        rows, labels = _rows(items), np.asarray(items.columns["label"])[sample]
        drawn = rows[sample] if isinstance(rows, np.ndarray) else [rows[k] for k in sample.tolist()]
        with _PROCESS_STATE, threadpool_limits(limits=1), warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model.fit(drawn, labels)
        return FittedEstimator(model, tuple(dict.fromkeys(_one_line(warning) for warning in caught)))

    def predict(self, model: FittedEstimator, items: TrainingItems) -> dict[str, tuple[str, ...]]:
        """Predict one label an item."""
        with _PROCESS_STATE, threadpool_limits(limits=1):
            predicted = model.estimator.predict(_rows(items))
        return {"label": tuple(str(label) for label in predicted)}


class _Step:
    """One estimator by its import path, with checked parameters."""

    def __init__(self, path: str, options: Mapping[str, Any], *, last: bool) -> None:
        self._class = _import_estimator(path, ("fit", "predict") if last else ("fit", "transform"))
        self.options = _with_tuples(self._class, options)
        known = _parameters(path, self._class)
        _check_names(path, known, self.options)
        _check_values(path, self._class, self.options)
        self._takes_seed = "random_state" in known
        package = self._class.__module__.split(".")[0]
        self.signature = f"{path}|{package}:{getattr(importlib.import_module(package), '__version__', '')}"

    def make(self, seed: int) -> Any:
        return self._class(**self.options, **({"random_state": seed} if self._takes_seed else {}))


def _wanted(estimator: Any, options: Any, steps: Any) -> list[tuple[str, Mapping[str, Any]]]:
    """Return the import path and the parameters of each step that a study asks for."""

    def refuse(message: str) -> PipelineError:
        help_ = "write `estimator:` with `options:`, or `steps:` as a list of them"
        return StudyError.of("P151", f"trainer 'sklearn': {message}", help=help_)

    if (estimator is None) == (steps is None):
        raise refuse("it needs the option 'estimator' or the option 'steps', and not both")
    if steps is None:
        steps = [{"estimator": estimator, "options": options}]
    elif options is not None:
        raise refuse("options belong to each of the steps")
    if isinstance(steps, (str, Mapping)) or not isinstance(steps, Sequence) or not steps:
        raise refuse(f"option 'steps' is a list, not {steps!r}")
    wanted = []
    for position, step in enumerate(steps, start=1):
        if not isinstance(step, Mapping) or not {"estimator"} <= set(step) <= {"estimator", "options"}:
            raise refuse(f"step {position} is {step!r}, and has an estimator and its options")
        given = step.get("options") or {}
        if not isinstance(step["estimator"], str) or not isinstance(given, Mapping):
            raise refuse(f"step {position} is {step!r}: an import path, and a mapping of options")
        wanted.append((step["estimator"], given))
    return wanted


def _rows(items: TrainingItems) -> NDArray[Any] | Sequence[str]:
    if items.features is not None:
        return items.features.reshape(len(items), -1)
    if "text" in items.columns:
        texts: Sequence[str] = items.columns["text"]
        return texts
    raise StudyError.of(
        "P307",
        f"the trainer 'sklearn' learns from features or from the column 'text', and there are {', '.join(items.columns) or 'none'}",
        help="name the column: `columns: {text: …}` of the training data and of the test set",
    )


def _one_line(warning: warnings.WarningMessage) -> str:
    return f"{warning.category.__name__}: {' '.join(str(warning.message).split())}"


def _import_estimator(path: str, methods: tuple[str, str]) -> Any:
    module, _, name = path.rpartition(".")
    if not module or not all(part.isidentifier() for part in path.split(".")):
        raise PluginError.of(
            "P306",
            f"{path!r} is not an import path of an estimator",
            help="write it in full, for example sklearn.linear_model.LogisticRegression",
        )
    if module.partition(".")[0] != "sklearn":
        refuse_foreign_code(f"the estimator {path!r}")
    try:
        family = importlib.import_module(module)
    except Exception as exc:  # foreign code runs here: whatever it raises, the estimator cannot be had
        raise PluginError.of("P306", f"estimator {path!r} cannot be imported: {exc}", help="is its package installed?") from exc
    found = getattr(family, name, None)
    if found is None:
        raise PluginError.of("P306", f"{module} has no {name!r}", help=meant(name, dir(family)))
    lacking = [method for method in methods if not callable(getattr(found, method, None))]
    if not isinstance(found, type) or lacking:
        raise PluginError.of(
            "P306",
            f"{path!r} is not an estimator: it has no {', '.join(lacking) or 'class'}",
            help=f"name a class with the methods {' and '.join(methods)}",
        )
    return found


def _parameters(path: str, estimator: Any) -> frozenset[str]:
    # scikit-learn reads the names of parameters from the signature of __init__; where it does so it has this method.
    names = getattr(estimator, "_get_param_names", None)
    if not callable(names):
        raise PluginError.of(
            "P306", f"{path!r} is not an estimator of scikit-learn", help="derive it from sklearn.base.BaseEstimator"
        )
    return frozenset(names())


def _with_tuples(estimator: Any, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return lists as tuples where the estimator takes tuples only: a study file has lists alone."""
    constraints = getattr(estimator, "_parameter_constraints", {})
    wants = {
        name for name, allowed in constraints.items() if isinstance(allowed, list) and tuple in allowed and list not in allowed
    }
    return {name: tuple(value) if name in wants and isinstance(value, list) else value for name, value in options.items()}


def _check_names(path: str, known: frozenset[str], options: Mapping[str, Any]) -> None:
    problems = []
    for option in options:
        if option not in known:
            hint = suggest(str(option), sorted(known))
            problems.append(Problem("P132", f"{path} has no parameter {option!r}", help=hint))
        elif option == "random_state":
            problems.append(Problem("P132", f"{path}: random_state comes from the study's seed", help="leave it out"))
    if problems:
        raise StudyError(*problems)


def _check_values(path: str, estimator: Any, options: Mapping[str, Any]) -> None:
    """Refuse values now that scikit-learn would refuse in every one of the trainings."""
    try:
        model = estimator(**options)
        # What `fit` of scikit-learn's own classes calls first. Others inherit it without the constraints that it reads.
        if hasattr(model, "_validate_params") and hasattr(model, "_parameter_constraints"):
            model._validate_params()
    except Exception as exc:  # foreign code runs here: whatever it raises, these options are what it refuses
        raise StudyError.of("P132", f"{path}: {type(exc).__name__}: {exc}", help="see `options:` of the model") from exc
