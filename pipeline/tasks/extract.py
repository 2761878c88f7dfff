"""The extraction task: count the statistics of one output, and load what was extracted."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from pipeline.errors import DataError, StoreError, TaskError
from pipeline.interfaces import Items, Metric, Statistics
from pipeline.items.frame import Frame, Output, align_items
from pipeline.items.gold import load_gold, surveyed_gold
from pipeline.items.outputs import load_output
from pipeline.items.stored import load_frame
from pipeline.metrics.registry import load_metric
from pipeline.plan.task import ExtractSpec, Receipt, Task
from pipeline.store.addresses import canonical_json
from pipeline.store.array_files import read_arrays, write_arrays
from pipeline.store.bundle import read_bundle
from pipeline.store.runs import STORE_NAME, Store
from pipeline.study.sets import TestSet
from pipeline.tasks.predicted import read_member

__all__ = ["extract", "load_statistics"]


def extract(task: Task, runs: Path) -> Receipt:
    """Extract the statistics of one metric from one output and store them, one row for each item."""
    spec = task.spec
    assert isinstance(spec, ExtractSpec)
    store = Store(runs / STORE_NAME)
    frame = load_frame(store, spec.frame)
    metric, prepared = _prepared(
        store, spec.frame, spec.gold_digest, canonical_json([spec.test_set_spec, spec.base, spec.metric, spec.options])
    )
    if metric.signature != spec.signature:
        raise TaskError.of(
            "P404",
            f"this worker counts {metric.signature}, the study was planned with {spec.signature}",
            where=task.label,
            help="install the same versions on every worker, then `pipeline resume`",
        )
    output = _outputs(spec, frame, store)
    statistics = metric.extract(prepared, output)
    if statistics.values.shape != (len(frame.ids), len(metric.statistics)):
        raise ValueError(f"{metric.name} gave statistics of shape {statistics.values.shape} for {len(frame.ids)} items")
    path = store.path("statistics", task.key, ".arrays")
    checksum = write_arrays(
        path,
        {
            "values": statistics.values.astype(np.int64),
            "decimals": np.array(statistics.decimals, np.int64),
            "rounding_error": np.array([statistics.rounding_error]),
        },
    )
    covers = {"rounding_error": statistics.rounding_error, "decimals": list(statistics.decimals), "items": len(frame.ids)}
    return Receipt("extract", task.key, task.label, store.relative(path), checksum, 0.0, "", covers)


def load_statistics(store: Store, key: str) -> Statistics:
    """Read the statistics stored under a key."""
    arrays = read_arrays(store.path("statistics", key, ".arrays"))
    return Statistics(arrays["values"], tuple(arrays["decimals"].tolist()), float(arrays["rounding_error"][0]))


@lru_cache(maxsize=8)
def _prepared(store: Store, frame_key: str, gold_digest: str, what: bytes) -> tuple[Metric, Any]:
    """Process the references of one test set once in each worker, however many systems it extracts."""
    import json

    test_set_spec, base, name, options = json.loads(what)
    spec = TestSet.model_validate(test_set_spec)
    metric = load_metric(name, options)
    frame = load_frame(store, frame_key)
    whole = surveyed_gold(spec, Path(base), gold_digest, where=frame.test_set)
    gold = load_gold(spec, base=Path(base), frame=frame, gold=whole)
    return metric, metric.prepare(gold)


def _outputs(spec: ExtractSpec, frame: Frame, store: Store) -> Items:
    if spec.training is not None:
        member = read_bundle(store.path("outputs", spec.training, ".zip"), spec.gold_digest)
        if member is None:
            raise StoreError.of(
                "P710",
                "a stored training holds no outputs for this test set",
                where=spec.training,
                help="`pipeline resume` trains it again",
            )
        return align_items(read_member(spec.test_set_spec["format"], member), frame)
    if spec.output is None:
        raise DataError.of("P230", "there is neither an output nor a training", where=spec.test_set)
    return load_output(
        TestSet.model_validate(spec.test_set_spec),
        Output(**spec.output),
        frame=frame,
        base=Path(spec.base),
        gold_digest=spec.gold_digest,
    )
