"""Digests of the parts of a run, its inputs and its settings, which show where two runs of a study differ."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from pipeline.record.manifest import Manifest
from pipeline.store.addresses import digest

__all__ = ["digest_inputs", "digest_settings"]


def digest_inputs(manifest: Manifest) -> dict[str, str]:
    """Return digests of each test set and of each output on it, by their names as JSON."""
    found = {}
    for test_set in manifest.inputs.test_sets:
        found[json.dumps([test_set.name])] = digest([test_set.frame, test_set.gold_digest, test_set.groupings])[:16]
        found |= {json.dumps([test_set.name, one.system]): one.identity[:16] for one in test_set.outputs}
    return found


def digest_settings(manifest: Manifest) -> dict[str, str]:
    """Return digests of the parts of a study, without its inputs: of those that are mappings, by their keys."""
    asked: Mapping[str, Any] = manifest.identity()["study"]
    parts: dict[str, str] = {}
    for key, value in asked.items():
        inner = value.items() if isinstance(value, Mapping) and key in {"resampling", "report"} else ()
        parts |= {f"{key}.{name}": digest([one])[:16] for name, one in inner} or {key: digest([value])[:16]}
    return parts
