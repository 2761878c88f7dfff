"""Studies of many trainings for tests: systems that are sound, and systems that fail in every way there is."""

from __future__ import annotations

import os
import time
import uuid
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from support import taggers
from support.studies import ledger, write_study

RESAMPLES = [{"method": "bootstrap", "fraction": 0.5, "replicas": 2}]


class Counted(taggers.MostFrequentTag):
    """Leaves a file at the start of each training, takes its time, and fails as it is told."""

    def __init__(self, *, seconds=0.0, fails="", depth=1):
        super().__init__(depth=depth)
        self.seconds, self.fails = seconds, fails

    def fit(self, items, sample, *, seed, workdir):
        if "STARTS" in os.environ:
            (Path(os.environ["STARTS"]) / f"{os.getpid()}-{uuid.uuid4().hex}").touch()
        time.sleep(self.seconds)
        if self.fails == "nan":
            raise FloatingPointError("the loss is not a number")
        return super().fit(items, sample, seed=seed, workdir=workdir)

    def predict(self, model, items):
        found = super().predict(model, items)
        return {"tag": [("",) * len(tags) for tags in found["tag"]]} if self.fails == "blank" else found


def counted(**options: Any) -> dict[str, Any]:
    """Return a model whose trainings leave files in the folder that the variable STARTS names."""
    return {"trainer": "python", "object": "support.many_trainings:Counted", "options": options}


def hundreds(
    folder: Path, models: Mapping[str, Any], *, resamples: Any = RESAMPLES, unit: str = "sentence", **changes: Any
) -> Path:
    """Write a study of taggers that trains these models, with its data."""
    taggers.write_tagged(folder / "train.txt", sentences=60, seed=1)
    taggers.write_tagged(folder / "test.txt", sentences=30, seed=2)
    training = {"data": {"path": "train.txt", "format": "tagged"}, "unit": unit, "resamples": resamples, "models": dict(models)}
    value: dict[str, Any] = {
        "test_sets": {"test": {"format": "tagged", "gold": "test.txt"}},
        "training": training,
        "metrics": ["tag-accuracy"],
        "resampling": {"replicates": 300, "keep_replicates": 0, "test_sizes": ["full"]},
        "analyses": [],
        "report": {"formats": ["json"], "null_laboratory": False},
        "systems": {"relation": "model"},
    }
    return write_study(folder / "study.yaml", **{**value, **changes})


def trained(run: Path) -> list[str]:
    """Return the systems that this run trained itself, in the order they were done."""
    receipts = [entry["receipt"] for entry in ledger(run) if entry["event"] == "done"]
    return [receipt["label"].removeprefix("train ") for receipt in receipts if receipt["kind"] == "train"]
