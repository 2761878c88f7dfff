"""Trainers by name. This module makes them and checks the options a study gives them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pipeline.interfaces import Trainer
from pipeline.plugins import check_options, import_plugin

__all__ = ["load_trainer"]


def load_trainer(name: str, options: Mapping[str, Any]) -> Trainer:
    """Make the trainer of this name with these options.

    Raises
    ------
    PluginError
        P301 where no trainer has this name, P302 where it is there but cannot be imported.
    StudyError
        P150 for every option that the trainer does not take, P151 for those it lacks.
    """
    made = import_plugin("trainers", name)
    check_options("trainer", name, made, options)
    trainer: Trainer = made(**options)
    return trainer
