"""Trainers by name. This module makes them and checks the options a study gives them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pipeline.errors import PluginError, StudyError
from pipeline.interfaces import Trainer
from pipeline.plugins import check_options, import_plugin

__all__ = ["load_trainer", "make_trainer"]

_MEMBERS = ("takes", "gives", "same_bits", "signature", "fit", "predict")


def load_trainer(name: str, options: Mapping[str, Any]) -> Trainer:
    """Make the trainer of this name with these options.

    Raises
    ------
    PluginError
        P301 where no trainer has this name, P302 where it is there but cannot be imported, P308 where it is none.
    StudyError
        P150 for every option that the trainer does not take, P151 for those it lacks and values it refuses.
    """
    made = import_plugin("trainers", name)
    check_options("trainer", name, made, options)
    try:
        trainer: Trainer = made(**options)
    except (TypeError, ValueError) as error:
        raise StudyError.of("P151", f"trainer '{name}': {error}") from error
    lacking = [member for member in _MEMBERS if not hasattr(trainer, member)]
    if lacking:
        raise PluginError.of(
            "P308",
            f"the trainer '{name}' has no {', '.join(lacking)}",
            where=f"{made.__module__}:{made.__qualname__}",
            help="see pipeline.interfaces.Trainer; pipeline.testing.TrainerContract tries one",
        )
    return trainer


def make_trainer(name: str, options: Mapping[str, Any], base: Path) -> Trainer:
    """Make a trainer whose folder ``path`` is that of the study."""
    path = options.get("path")
    return load_trainer(name, {**options, "path": str(base / path)} if isinstance(path, str) else options)
