"""The trainer for objects in Python. This module brings in anybody's class or function that makes a trainer."""

from __future__ import annotations

import hashlib
import importlib
import importlib.metadata
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from pipeline.errors import PluginError, StudyError
from pipeline.interfaces import TrainingItems
from pipeline.plugins import check_options, import_plugin

__all__ = ["PythonTrainer"]

_IMPORTED: dict[str, str] = {}
"""Digest of the code of each module at the time it was imported: a process goes on with that one."""


class PythonTrainer:
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
            made, code = _import_object(object, None if path is None else Path(path).absolute())
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
                help="fit(items, sample, *, seed, workdir) gives a model, predict(model, items) a mapping of columns",
            )
        self.takes: tuple[str, ...] = tuple(getattr(self._trainer, "takes", ()))
        self.gives: tuple[str, ...] = tuple(getattr(self._trainer, "gives", ()))
        self.same_bits = bool(getattr(self._trainer, "same_bits", False))
        self.signature = "|".join([self.name, object, code, str(getattr(self._trainer, "signature", ""))])

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
            raise PluginError.of("P310", f"object '{self.object}' says that it gives {', '.join(lacking)}, and does not")
        return predicted


def _import_object(path: str, folder: Path | None) -> tuple[Any, str]:
    """Give what ``module:name`` names, and a digest of its code."""
    module_name, _, name = path.partition(":")
    if not all(part.isidentifier() for part in [*module_name.split("."), *name.split(".")]):
        raise PluginError.of(
            "P309", f"{path!r} is not the path of an object", help="write module:name, for example models:Baseline"
        )
    if folder is not None:
        if not folder.is_dir():
            raise PluginError.of("P309", f"there is no folder {folder}", help="`path:` is the folder of the module")
        if str(folder) not in sys.path:
            sys.path.insert(0, str(folder))
            importlib.invalidate_caches()
    try:
        module = importlib.import_module(module_name)
        found: Any = module
        for part in name.split("."):
            found = getattr(found, part)
    except Exception as error:  # foreign code runs here: whatever it raises, the object cannot be had
        raise PluginError.of(
            "P309",
            f"object {path!r} cannot be imported: {type(error).__name__}: {error}",
            help="install its package, or name its folder as `path:`",
        ) from error
    if not callable(found):
        raise PluginError.of(
            "P309", f"{path!r} is a {type(found).__name__}", help="name a class, or a function that makes the object"
        )
    return found, _digest_code(module_name, module, folder)


def _digest_code(module_name: str, module: Any, folder: Path | None) -> str:
    file = getattr(module, "__file__", None)
    if file is None:
        raise PluginError.of("P309", f"module {module_name} has no file", help="give it one: its code is part of what is trained")
    if folder is not None and not Path(file).resolve().is_relative_to(folder.resolve()):
        raise PluginError.of(
            "P309",
            f"module {module_name} is imported from {file}, and not from {folder}",
            help="another module has this name: rename one of them",
        )
    content = hashlib.sha256()
    for source in [Path(file)] if folder is None else sorted(folder.rglob("*.py")):
        content.update((source.name if folder is None else source.relative_to(folder).as_posix()).encode() + b"\0")
        content.update(hashlib.sha256(source.read_bytes()).digest())
    digest = content.hexdigest()[:32]
    if _IMPORTED.setdefault(f"{module_name}|{folder or ''}", digest) != digest:
        raise PluginError.of(
            "P309",
            f"the code of {module_name} changed since this process imported it",
            help="start the study in a new process",
        )
    return digest + _version(module_name.split(".")[0])


def _version(package: str) -> str:
    try:
        return f"|{package}:{importlib.metadata.version(package)}"
    except importlib.metadata.PackageNotFoundError:
        return ""
