"""Read from a run's directory when it began, how to run it again, and the digests of its inputs."""

from __future__ import annotations

import json
from collections.abc import Iterator

from pipeline.errors import StoreError
from pipeline.record.manifest import Manifest
from pipeline.report.provenance import InputDigest, Provenance
from pipeline.store.runs import RunDirectory
from pipeline.store.seals import read_sealed

__all__ = ["read_provenance"]

_SHOWN = 16
"""Digits of a digest: two inputs that differ share them once in 10¹⁹ pairs."""


def read_provenance(run: RunDirectory, manifest: Manifest) -> Provenance:
    """Return when a run began, how to run its study again, and the digests of its inputs."""
    return Provenance(started=_first_event(run), command=_asked_by(run), inputs=tuple(_list_inputs(manifest)))


def _asked_by(run: RunDirectory) -> str:
    """Return the command that asked the run; nothing where it cannot be read, and for runs of versions that did not keep it."""
    try:
        command = read_sealed(run.origin).get("command", "")
    except (StoreError, AttributeError):
        return ""
    return command if isinstance(command, str) else ""


def _first_event(run: RunDirectory) -> str:
    """Return the time of a run's first event; nothing where it cannot be read, as no number depends on it."""
    try:
        with run.events.open(encoding="utf-8") as lines:
            time = json.loads(next(lines, "{}")).get("time", "")
    except (OSError, ValueError, AttributeError):
        return ""
    return time if isinstance(time, str) else ""


def _list_inputs(manifest: Manifest) -> Iterator[InputDigest]:
    for test_set in manifest.inputs.test_sets:
        if test_set.gold_digest:
            yield InputDigest(test_set.name, "gold", test_set.gold_digest[:_SHOWN])
        for output in test_set.outputs:
            yield InputDigest(test_set.name, output.system, output.identity[:_SHOWN])
