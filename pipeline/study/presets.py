"""What a preset sets where a study does not say otherwise. This module puts it there and tells what a study changes.

What the number of a preset is, and where it misleads, is in `pipeline.presets`; a test holds that both know the same names.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

from pipeline.study.marks import Document, KeyPath, dotted, look_up

if TYPE_CHECKING:
    from pipeline.study.schema import Study

__all__ = ["COMPARES_WITH_BASELINE", "PRESET_VALUES", "PresetName", "list_deviations", "set_preset"]

PresetName = Literal["koehn-2004", "berg-kirkpatrick-2012", "riezler-maxwell-2005", "sacrebleu-bs", "sacrebleu-ar", "multeval"]

_PROCEDURES, _REPLICATES = ("resampling", "procedures"), ("resampling", "replicates")
_UNIT, _INTERVALS = ("resampling", "unit"), ("resampling", "intervals")


def _values(replicates: int, *procedures: str, more: Mapping[KeyPath, Any] | None = None) -> Mapping[KeyPath, Any]:
    # All of them draw sentences: none knows of documents.
    common = {_PROCEDURES: list(procedures), _REPLICATES: replicates, _UNIT: "item"}
    return MappingProxyType({**common, **(more or {})})


# The interval that belongs to the p of verdicts comes first, beside it the one that the preset's own p inverts.
_PERCENTILE: Mapping[KeyPath, Any] = {_INTERVALS: ["symmetric", "percentile"]}
_BASIC: Mapping[KeyPath, Any] = {_INTERVALS: ["symmetric", "basic"]}
_SACREBLEU_SEED: Mapping[KeyPath, Any] = {("seed",): 12345}
# Its own shuffle of runs, and beside it the nulls that hold their level.
_NULLS = ["multeval", "segment-block", "whole-run", "crossed"]
_MULTEVAL: Mapping[KeyPath, Any] = {("analyses",): [{"name": "replicas", "options": {"nulls": _NULLS, "replicates": 10_000}}]}

PRESET_VALUES: Mapping[str, Mapping[KeyPath, Any]] = MappingProxyType(
    {
        "koehn-2004": _values(1_000, "paired-bootstrap", more=_PERCENTILE),
        "berg-kirkpatrick-2012": _values(1_000_000, "paired-bootstrap", more=_BASIC),
        "riezler-maxwell-2005": _values(
            10_000, "paired-bootstrap", "approximate-randomization", more={("resampling", "keep_replicates"): 10_000}
        ),
        "sacrebleu-bs": _values(1_000, "paired-bootstrap", more={**_SACREBLEU_SEED, **_PERCENTILE}),
        "sacrebleu-ar": _values(10_000, "approximate-randomization", more=_SACREBLEU_SEED),
        "multeval": _values(10_000, "approximate-randomization", more=_MULTEVAL),
    }
)
"""By name: the values that a preset sets, by their places in a study."""


COMPARES_WITH_BASELINE = frozenset({"sacrebleu-bs", "sacrebleu-ar"})
"""Presets whose tool compares all systems with one: with `resampling.baseline`, or else with the first output."""


def set_preset(document: Document) -> None:
    """Put the values of the preset that a document names where the document says nothing; an unknown name changes nothing."""
    name = document.value.get("preset") if isinstance(document.value, dict) else None
    if not isinstance(name, str):
        return
    for path, value in PRESET_VALUES.get(name, {}).items():
        if _is_open(document.value, path):
            place = f"preset {name}"
            document.put(path, Document(value, {(): place}), place)


def _is_open(value: Any, path: KeyPath) -> bool:
    """Say whether nothing is written at a path; within what is no mapping there is nothing to set."""
    for part in path:
        if value is None:
            return True
        if not isinstance(value, dict):
            return False
        if part not in value:
            return True
        value = value[part]
    return False


def list_deviations(study: Study) -> tuple[str, ...]:
    """Say what a study has otherwise than its preset, one value a line; nothing without a preset."""
    if study.preset is None:
        return ()
    asked = study.model_dump(mode="json", by_alias=True)
    told = []
    for path, value in PRESET_VALUES[study.preset].items():
        own = look_up(asked, path)[1]
        if own != value:
            told.append(f"{dotted(path)} is {_plain(own)}, in {study.preset} {_plain(value)}")
    return tuple(told)


def _plain(value: Any) -> str:
    if isinstance(value, list):
        return " and ".join(part if isinstance(part, str) else json.dumps(part) for part in value) or "none"
    return str(value)
