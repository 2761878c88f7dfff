"""The values a preset sets where a study does not, and those in which a study deviates from its preset."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BeforeValidator

from pipeline.presets.registry import PRESETS
from pipeline.study.frozen import known_name
from pipeline.study.marks import Document, KeyPath, dotted, look_up

__all__ = ["PresetName", "list_deviations", "set_preset"]

PresetName = Annotated[str, BeforeValidator(known_name(PRESETS, "preset"))]
"""The name of an installed preset."""


def set_preset(document: Document) -> None:
    """Put the values of the preset that a document names where the document says nothing; an unknown name changes nothing."""
    name = document.value.get("preset") if isinstance(document.value, dict) else None
    if not isinstance(name, str) or name not in PRESETS:
        return
    for path, value in PRESETS[name].values.items():
        if _is_open(document.value, path):
            place = f"preset {name}"
            document.put(path, Document(value, {(): place}), place)


def _is_open(value: Any, path: KeyPath) -> bool:
    """Say whether nothing is written at a path; within what is not a mapping there is nothing to set."""
    for part in path:
        if value is None:
            return True
        if not isinstance(value, dict):
            return False
        if part not in value:
            return True
        value = value[part]
    return False


def list_deviations(preset: str, asked: Mapping[str, Any]) -> tuple[str, ...]:
    """List the values in which a study, as a mapping of JSON values, deviates from a preset: one on each line."""
    told = []
    for path, value in PRESETS[preset].values.items():
        own = look_up(asked, path)[1]
        if own != value:
            told.append(f"{dotted(path)} is {_plain(own)}, in {preset} {_plain(value)}")
    return tuple(told)


def _plain(value: Any) -> str:
    if isinstance(value, list):
        return " and ".join(part if isinstance(part, str) else json.dumps(part) for part in value) or "none"
    return str(value)
