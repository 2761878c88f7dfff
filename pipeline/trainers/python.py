"""The trainer for user-defined Python objects: a class or function that makes a trainer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from pipeline.errors import PluginError, StudyError
from pipeline.interfaces import Trainer, TrainingItems
from pipeline.options import check_options
from pipeline.own_code import import_object
from pipeline.plugins import import_plugin

__all__ = ["PythonTrainer"]


class PythonTrainer(Trainer):
    """Trains by an object that has ``fit`` and ``predict`` as `Trainer` says.

    What it lacks besides is taken as follows: ``takes`` and ``gives`` as unknown before it runs, ``same_bits`` as false,
    ``signature`` as nothing beside the digest of its code.

    Parameters
    ----------
    object : str
        ``module:name`` of a class, or of a function that makes the object; or the name of an installed trainer.
    options : mapping, optional
        Its keyword arguments.
    path : str, optional
        Folder of the module. All Python files below it are part of the trainer's signature, otherwise the module's file.

    Examples
    --------
    >>> PythonTrainer(object="pipeline.trainers.sklearn:SklearnTrainer", options={"estimator": "sklearn.svm.SVC"}).gives
    ('label',)
    """

    name: ClassVar[str] = "python"

    def __init__(self, *, object: str, options: Mapping[str, Any] | None = None, path: str | None = None) -> None:
        if not isinstance(object, str) or not object.strip():
            raise StudyError.of("P151", f"trainer 'python': option 'object' is module:name, not {object!r}")
        if options is not None and not isinstance(options, Mapping):
            raise StudyError.of("P151", f"trainer 'python': option 'options' is a mapping, not {options!r}")
        self.object = object
        given = {str(name): value for name, value in (options or {}).items()}
        code = ""
        if ":" in object:
            made, code = import_object(object, None if path is None else Path(path).absolute())
        else:
            made = import_plugin("trainers", object)
        check_options("object", object, made, given)
        try:
            self._trainer = made(**given)
        except (TypeError, ValueError) as error:
            raise StudyError.of("P151", f"object '{object}': {error}", help="see `options:` of the model") from error
        lacking = [method for method in ("fit", "predict") if not callable(getattr(self._trainer, method, None))]
        if lacking:
            raise PluginError.of(
                "P308",
                f"object '{object}' is not a trainer: it has no {' and no '.join(lacking)}",
                help="fit(items, sample, *, seed, workdir) returns a model, predict(model, items) a mapping of columns",
            )
        self.takes: tuple[str, ...] = tuple(getattr(self._trainer, "takes", ()))
        self.gives: tuple[str, ...] = tuple(getattr(self._trainer, "gives", ()))
        self.same_bits = bool(getattr(self._trainer, "same_bits", False))
        self._code = code

    @property
    def signature(self) -> str:
        """The name, the object with the digest of its code, and the object's own signature."""
        return "|".join([self.name, self.object, self._code, str(getattr(self._trainer, "signature", ""))])

    def fit(self, items: TrainingItems, sample: NDArray[np.int64], *, seed: int, workdir: Path) -> Any:
        """Fit as the object does."""
        return self._trainer.fit(items, sample, seed=seed, workdir=workdir)

    def predict(self, model: Any, items: TrainingItems) -> Mapping[str, Sequence[Any]]:
        """Predict as the object does, and hold what it predicts against the items."""
        predicted = self._trainer.predict(model, items)
        if not isinstance(predicted, Mapping):
            raise PluginError.of(
                "P310", f"object '{self.object}' predicts a {type(predicted).__name__}", help="a mapping of column names to values"
            )
        for name, values in predicted.items():
            # What has no length is told where it is packed, as of every trainer.
            if hasattr(values, "__len__") and len(values) != len(items):
                raise PluginError.of(
                    "P310", f"object '{self.object}' predicts {len(values)} of '{name}' for {len(items)} items", help="one an item"
                )
        lacking = [name for name in self.gives if name not in predicted]
        if lacking:
            raise PluginError.of("P310", f"object '{self.object}' says that it returns {', '.join(lacking)}, but does not")
        return predicted
