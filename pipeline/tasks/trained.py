"""The trainings of a run, one row each. This module lists for the report what each took and how it ended."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pipeline.plan.inventory import Inventory
from pipeline.plan.open_tasks import plan_trainings
from pipeline.plan.task import Failure, Receipt, TrainSpec
from pipeline.tasks.manifest import Manifest

__all__ = ["list_trainings"]


def list_trainings(manifest: Manifest, inventory: Inventory) -> Iterator[dict[str, Any]]:
    """Give a row for each training of a study, in its order: what it is, what it took, how it ended.

    ``status`` is ``done``, ``failed``, or ``open`` where a run was stopped before it.
    """
    for system, task in plan_trainings(manifest.study, manifest.inputs).items():
        spec = task.spec
        assert isinstance(spec, TrainSpec)
        row: dict[str, Any] = {
            "system": system,
            "model": spec.model,
            "sample": spec.method,
            "fraction": round(spec.fraction, 6),
            "replica": spec.replica,
        }
        ended = inventory.receipts.get(task.key) or inventory.failures.get(task.key)
        yield {**row, **(_ended(ended) if ended is not None else _NOTHING)}


_NOTHING: Mapping[str, Any] = dict.fromkeys(
    ("seconds", "peak_memory_bytes", "items", "units", "distinct", "exit_status", "reason", "log")
) | {"status": "open", "attempts": 0, "notes": []}


def _ended(ended: Receipt | Failure) -> dict[str, Any]:
    covers = ended.covers if isinstance(ended, Receipt) else {}
    facts = ended.facts if isinstance(ended, Failure) else covers
    # A command holds its memory itself; of a worker the mark of this training, or else of all until then.
    known = (facts.get(name) for name in ("fit_memory_bytes", "memory_bytes"))
    done = isinstance(ended, Receipt)
    return {
        **{name: covers.get(name) for name in ("items", "units", "distinct")},
        "seconds": ended.seconds or None,
        "peak_memory_bytes": next((int(found) for found in known if found), ended.peak_memory_bytes) or None,
        "status": "done" if done else "failed",
        "exit_status": 0 if done else facts.get("exit_status"),
        "attempts": ended.attempts,
        "reason": ended.reason if isinstance(ended, Failure) else None,
        "notes": [str(note) for note in covers.get("notes", ())],
        "log": facts.get("log") or None,
    }
