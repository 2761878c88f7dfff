"""Statistics of a few items of a few outputs, and how long they took. This module gives a calibration something real to count."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.errors import DataError
from pipeline.interfaces import Items, Metric, Reader, Statistics
from pipeline.items.frame import Frame, Output
from pipeline.items.gold import load_gold, read_gold
from pipeline.items.outputs import load_output
from pipeline.items.readers.registry import load_reader
from pipeline.items.stored import load_frame, store_frame
from pipeline.items.training import output_columns
from pipeline.metrics.registry import load_metric
from pipeline.plan.inputs import Inputs, MetricInputs, OutputInputs, TestSetInputs
from pipeline.plan.rates import OutputRates
from pipeline.store.addresses import digest
from pipeline.store.files import write_arrays
from pipeline.store.runs import Store
from pipeline.study.schema import Study, TestSet

__all__ = ["Sample", "sample_outputs", "store_sample"]

OUTPUTS = 4
"""Outputs that are looked at."""

FIRST_ITEMS = 16
"""Items that are looked at before it is known how long they take."""

WRONG = 0.2
"""Share of wrong labels of a system that is still to be trained."""


@dataclass(frozen=True)
class Sample:
    """Statistics of a few outputs on the same items, and what it took to get them."""

    name: str
    statistics: tuple[Statistics, ...]
    rates: OutputRates

    def spread(self, systems: int, units: int) -> Iterator[Statistics]:
        """Yield statistics for so many systems on so many units, made of those that are here.

        Items are repeated; further systems have another one's items in turned order. A column that all outputs share, such as
        the length of the reference, stays in its place, so that as much is shared as in the study.
        """
        values = [each.values for each in self.statistics]
        shared = np.all([value == values[0] for value in values], axis=(0, 1))
        items = len(values[0])
        for number in range(systems):
            source, turn = number % len(values), number // len(values)
            own = np.where(shared, values[source], np.roll(values[source], turn, axis=0))
            yield replace(self.statistics[source], values=np.resize(own, (units, own.shape[1])) if items else own)


def sample_outputs(
    study: Study, inputs: Inputs, test_set: TestSetInputs, metric: MetricInputs, store: Store, *, seconds: float, most: int
) -> Sample:
    """Count a metric on evenly spaced items of a few outputs, in about so many seconds, and on no more than ``most`` items.

    Raises
    ------
    PipelineError
        Where files have changed or gone, or the metric refuses what it reads.
    """
    spec = study.as_read(test_set.name)
    frame = load_frame(store, test_set.frame)
    definition = load_metric(metric.name, dict(metric.options))
    start = time.perf_counter()
    base = Path(inputs.base)
    gold = load_gold(spec, base=base, frame=frame, gold=read_gold(spec, base))
    reading = time.perf_counter() - start
    start = time.perf_counter()
    outputs = _outputs(spec, base, frame, test_set.outputs, gold, seconds=seconds)
    load = (time.perf_counter() - start) / len(outputs)
    few, least = _positions(len(frame.ids), FIRST_ITEMS), FIRST_ITEMS
    try:
        _count(definition, gold, outputs[:1], few)  # imports
    except DataError:
        # A few items may lack what a metric asks of the gold, such as a rare label: if all do, it is refused again.
        few = _positions(len(frame.ids), len(frame.ids))
        least = most = len(few)
    _, preparing, counting = _count(definition, gold, outputs[:1], few)
    each = max(counting / len(few), 1e-9)
    wanted = int(seconds / (each + preparing / len(few) / len(outputs)) / len(outputs))
    positions = _positions(len(frame.ids), min(max(wanted, least), most))
    statistics, preparing, counting = _count(definition, gold, outputs, positions)
    rates = OutputRates(
        load=load,
        extract=counting / len(positions) / len(outputs),
        prepare=reading + preparing / len(positions) * len(frame.ids),
    )
    return Sample(f"{metric.signature} {test_set.name}", tuple(statistics), rates)


def store_sample(sample: Sample, systems: int, units: int, store: Store) -> tuple[str, tuple[str, ...]]:
    """Store statistics of so many systems on so many units, and their frame, as tasks read them; give the keys of both."""
    numbers = tuple(str(number) for number in range(units))
    key = store_frame(Frame("calibration", numbers, tuple(range(units)), numbers), store)
    keys = tuple(digest(["calibration", sample.name, number]) for number in range(systems))
    for name, statistics in zip(keys, sample.spread(systems, units), strict=True):
        arrays = {
            "values": statistics.values.astype(np.int64),
            "decimals": np.array(statistics.decimals, np.int64),
            "rounding_error": np.array([statistics.rounding_error]),
        }
        write_arrays(store.path("statistics", name, ".arrays"), arrays)
    return key, keys


def _count(
    metric: Metric, gold: Items | None, outputs: list[Items], positions: NDArray[np.int64]
) -> tuple[list[Statistics], float, float]:
    """Return statistics, and the processor's seconds of preparing and of counting."""
    chosen = [_take(output, positions) for output in outputs]
    asked = None if gold is None else _take(gold, positions)
    start = time.process_time()
    prepared = metric.prepare(asked)
    between = time.process_time()
    statistics = [metric.extract(prepared, output) for output in chosen]
    return statistics, between - start, time.process_time() - between


def _positions(items: int, wanted: int) -> NDArray[np.int64]:
    return np.unique(np.linspace(0, items - 1, min(wanted, items)).astype(np.int64))


def _take(items: Items, positions: NDArray[np.int64]) -> Items:
    at = positions.tolist()
    return replace(
        items,
        ids=tuple(items.ids[i] for i in at),
        columns={name: [values[i] for i in at] for name, values in items.columns.items()},
        lines=tuple(items.lines[i] for i in at),
    )


def _outputs(
    spec: TestSet, base: Path, frame: Frame, outputs: tuple[OutputInputs, ...], gold: Items | None, *, seconds: float
) -> list[Items]:
    """Read a few outputs, fewer where that takes long; those that are still to be made are the gold with mistakes."""
    found: list[Items] = []
    start = time.perf_counter()
    for number, output in enumerate(outputs[:OUTPUTS]):
        if len(found) > 1 and time.perf_counter() - start > seconds:
            break
        if output.output is not None:
            found.append(load_output(spec, Output(**output.output), frame=frame, base=base))
        elif gold is not None:
            found.append(_with_mistakes(gold, load_reader(spec.format), np.random.default_rng(number)))
    return found


def _with_mistakes(gold: Items, reader: Reader, rng: np.random.Generator) -> Items:
    """Return the gold as a system's output that is to be trained: some labels are another item's, some tokens their neighbour's."""
    columns: dict[str, list[Any]] = {name: list(values) for name, values in gold.columns.items() if name not in reader.targets}
    of_tokens = any(isinstance(value, tuple) for values in gold.columns.values() for value in values[:1])
    for name in output_columns(reader):
        source = next((known for known in (name, *reader.targets, "reference.0") if known in gold.columns), None)
        values = list(gold.columns[source]) if source is not None else [""] * len(gold)
        others = rng.permutation(len(values)).tolist()
        for k in np.flatnonzero(rng.random(len(values)) < WRONG).tolist():
            if of_tokens and not isinstance(values[k], tuple):
                continue  # a tree stands over the words of its own item, and no other's
            # A tuple keeps its length: its entries belong to the tokens of the item.
            values[k] = (*values[k][1:], *values[k][:1]) if isinstance(values[k], tuple) else values[others[k]]
        columns[name] = values
    return replace(gold, columns=columns)
