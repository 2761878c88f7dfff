"""Make trainers by name, and check the options a study gives them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pipeline.errors import StudyError
from pipeline.interfaces import Trainer
from pipeline.options import check_options
from pipeline.plugins import check_members, complete_class, import_plugin

__all__ = ["load_trainer", "make_trainer"]


def load_trainer(name: str, options: Mapping[str, Any]) -> Trainer:
    """Make the trainer of this name with these options.

    Raises
    ------
    PluginError
        P301 where no trainer has this name, P302 where it is there but cannot be imported, P308 where it is none.
    StudyError
        P150 for every option that the trainer does not take, P151 for those it lacks and values it refuses.
    """
    made = complete_class(import_plugin("trainers", name), Trainer)
    check_options("trainer", name, made, options)
    try:
        trainer: Trainer = made(**options)
    except (TypeError, ValueError) as error:
        raise StudyError.of("P151", f"trainer '{name}': {error}") from error
    check_members("trainer", name, trainer, Trainer)
    return trainer


def make_trainer(name: str, options: Mapping[str, Any], base: Path) -> Trainer:
    """Make a trainer whose folder ``path`` is that of the study."""
    path = options.get("path")
    return load_trainer(name, {**options, "path": str(base / path)} if isinstance(path, str) else options)
