"""The trainer for scikit-learn. This module fits any estimator that an import path names, on one core and seeded."""

from __future__ import annotations

import difflib
import importlib
import threading
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from pipeline.errors import PluginError, Problem, StudyError
from pipeline.interfaces import TrainingItems

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


class SklearnTrainer:
    """Fits an estimator of scikit-learn, or one of anybody's that derives from its ``BaseEstimator``.

    BLAS and OpenMP are held to one thread, so that a model does not depend on the machine's number of cores.

    Parameters
    ----------
    estimator : str
        Import path of the class, for example ``sklearn.linear_model.LogisticRegression``.
    options : mapping, optional
        Parameters of the estimator. ``random_state`` is not among them: it is derived from the study's seed.

    Examples
    --------
    >>> trainer = SklearnTrainer(estimator="sklearn.neighbors.KNeighborsClassifier", options={"n_neighbors": 1})
    >>> items = TrainingItems(features=np.array([[0.0], [1.0]]), labels=("no", "yes"), ids=("1", "2"))
    >>> model = trainer.fit(items, np.array([0, 1, 1]), seed=1, workdir=Path())
    >>> trainer.predict(model, items)
    ('no', 'yes')
    """

    name: ClassVar[str] = "sklearn"

    def __init__(self, *, estimator: str, options: Mapping[str, Any] | None = None) -> None:
        self.estimator = estimator
        self.options = dict(options or {})
        self._class = _import_estimator(estimator)
        known = _parameters(estimator, self._class)
        _check_names(estimator, known, self.options)
        _check_values(estimator, self._class, self.options)
        self._takes_seed = "random_state" in known
        # What a fitted model depends on besides its options: another version is another model.
        package = self._class.__module__.split(".")[0]
        self.signature = f"{self.name}|{estimator}|{package}:{getattr(importlib.import_module(package), '__version__', '')}"

    def fit(self, items: TrainingItems, sample: NDArray[np.int64], *, seed: int, workdir: Path) -> FittedEstimator:
        """Fit a new estimator to the items at the positions ``sample``; nothing is written to ``workdir``."""
        seeded = {"random_state": seed} if self._takes_seed else {}
        model = self._class(**self.options, **seeded)
        features, labels = _rows(items)[sample], np.asarray(items.labels)[sample]
        with _PROCESS_STATE, threadpool_limits(limits=1), warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model.fit(features, labels)
        return FittedEstimator(model, tuple(dict.fromkeys(_one_line(warning) for warning in caught)))

    def predict(self, model: FittedEstimator, items: TrainingItems) -> tuple[str, ...]:
        """Predict one label an item."""
        with _PROCESS_STATE, threadpool_limits(limits=1):
            predicted = model.estimator.predict(_rows(items))
        return tuple(str(label) for label in predicted)


def _rows(items: TrainingItems) -> NDArray[Any]:
    return items.features.reshape(len(items.labels), -1)


def _one_line(warning: warnings.WarningMessage) -> str:
    return f"{warning.category.__name__}: {' '.join(str(warning.message).split())}"


def _import_estimator(path: str) -> Any:
    module, _, name = path.rpartition(".")
    if not module or not all(part.isidentifier() for part in path.split(".")):
        raise PluginError.of(
            "P306",
            f"{path!r} is not an import path of an estimator",
            help="write it in full, for example sklearn.linear_model.LogisticRegression",
        )
    try:
        family = importlib.import_module(module)
    except Exception as exc:  # foreign code runs here: whatever it raises, the estimator cannot be had
        raise PluginError.of("P306", f"estimator {path!r} cannot be imported: {exc}", help="is its package installed?") from exc
    found = getattr(family, name, None)
    if found is None:
        close = difflib.get_close_matches(name, dir(family), n=1)
        raise PluginError.of("P306", f"{module} has no {name!r}", help=f"did you mean {close[0]!r}?" if close else None)
    lacking = [method for method in ("fit", "predict") if not callable(getattr(found, method, None))]
    if not isinstance(found, type) or lacking:
        raise PluginError.of(
            "P306",
            f"{path!r} is not an estimator: it has no {', '.join(lacking) or 'class'}",
            help="name a class that fits and predicts",
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


def _check_names(path: str, known: frozenset[str], options: Mapping[str, Any]) -> None:
    problems = []
    for option in options:
        if option not in known:
            close = difflib.get_close_matches(str(option), known, n=1)
            hint = f"did you mean {close[0]!r}?" if close else f"it takes: {', '.join(sorted(known))}"
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
