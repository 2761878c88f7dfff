"""Measure on this machine what the simulation is made from: the package's own tasks, ledger and scheduler."""

from __future__ import annotations

import os
import pickle
import platform
import tempfile
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import mean, median, stdev
from unittest.mock import patch

import numpy as np

from pipeline.engine import dask as engine
from pipeline.engine.coordinator import coordinate
from pipeline.engine.executor import Outcome
from pipeline.engine.serial import SerialExecutor
from pipeline.engine.signals import StopRequest
from pipeline.interfaces import Items
from pipeline.metrics.registry import load_metric
from pipeline.plan.footprint import STORED_BYTES
from pipeline.plan.inventory import Inventory
from pipeline.plan.open_tasks import plan_study
from pipeline.plan.task import Receipt, ResampleSpec, Task
from pipeline.record.manifest import ReceiptWriter
from pipeline.report.build import build_report
from pipeline.report.layout.tables import make_tables
from pipeline.resampling.address import CELL
from pipeline.store.files import write_bytes
from pipeline.store.lease import hold_lease
from pipeline.store.ledger import Ledger
from pipeline.store.runs import STORE_NAME, RunDirectory
from pipeline.study.load import load_profile
from pipeline.tasks.report import gather
from simulation.made import Made
from simulation.rates import Measured

__all__ = ["Timed", "Timing", "measure", "processor_name", "receipt_of"]

FEW_SYSTEMS, FEW_UNITS, MANY_CELLS = 150, 100, 32
"""The study from which it is measured how blocks vary and what a cube costs for each cell."""

MANY_TASKS = 1000
WIDE_WINDOW = 100
"""Tasks in flight while the scheduler is measured: as if there were many workers."""


@dataclass(frozen=True)
class Timing:
    """One task that was run: processor seconds, what it left, and how many bytes of it are in the store."""

    task: Task
    seconds: float
    receipt: Receipt
    stored_bytes: int


class Timed(SerialExecutor):
    """Runs tasks here, one after the other, and notes what each took of the processor."""

    def __init__(self, runs: Path) -> None:
        super().__init__(runs)
        self._store = runs / STORE_NAME
        self.timings: list[Timing] = []

    def wait(self, seconds: float) -> Sequence[Outcome]:
        """Run what is queued."""
        start = time.process_time()
        outcomes = super().wait(seconds)
        took = time.process_time() - start
        for outcome in outcomes:
            if not isinstance(outcome.result, Receipt):
                raise RuntimeError(f"{outcome.task.label}: {outcome.result.reason}")
            file = self._store / outcome.result.file
            self.timings.append(Timing(outcome.task, took, outcome.result, file.stat().st_size if file.is_file() else 0))
        return outcomes


def run_serially(made: Made, runs: Path) -> list[Timing]:
    """Run a made-up study in this process, block by block of one cell, from its plan to its report."""
    executor = Timed(runs)

    @contextmanager
    def opened(stop: StopRequest) -> Iterator[Timed]:
        yield executor

    ending = coordinate(made.write(runs), opened, block_cells=1)
    if ending.exit_code:
        raise RuntimeError(ending.message)
    return executor.timings


def measure(systems: int, units: int, *, table: Made, folder: Path | None = None, say: Callable[[str], None] = print) -> Measured:
    """Measure everything on this machine.

    Parameters
    ----------
    systems, units : int
        Of the study that is measured: two cells on a tenth and on all of the units.
    table : Made
        The study of the table, which is planned and whose tasks are sent.
    folder : Path, optional
        Where the store is to be measured; by default that of temporary files.
    say : callable
        Told what is being measured.
    """
    load = os.getloadavg()[0]
    with tempfile.TemporaryDirectory(dir=folder, prefix="scaling-") as there:
        place = Path(there)
        say("blocks, cube and report")
        timings = run_serially(Made(systems, 2 * CELL, [units // 10, units]), place / "large")
        size_seconds = _measure_smaller_size(place / "large")
        say("many cells")
        few = run_serially(Made(FEW_SYSTEMS, 2 * CELL, [FEW_UNITS]), place / "few")
        many = run_serially(Made(FEW_SYSTEMS, MANY_CELLS * CELL, [FEW_UNITS]), place / "many")
        say("plan, receipts, store, extraction")
        plan_seconds, tasks = _measure_plan(table)
        receipt_seconds, receipt_bytes = _measure_receipts(tasks, place)
        store_bandwidth = _measure_store(place)
        say("scheduler")
        start_seconds, task_seconds = _measure_scheduler(tasks, place)
    blocks = [t for t in timings if isinstance(t.task.spec, ResampleSpec)]
    cold, *_ = blocks
    by_size = {t.task.spec.n_units: t.seconds for t in blocks if isinstance(t.task.spec, ResampleSpec)}  # the second of each
    (low, fast), (high, slow) = by_size.items()
    slope = (slow - fast) / (high - low)
    pairs = systems * (systems - 1) // 2
    equal = [t.seconds for t in many if t.task.kind == "resample"][2:]
    shards, collect, report = _of_kind(timings, "shard"), _of_kind(timings, "collect")[0], _of_kind(timings, "report")[0]
    # What no other pair has a say in, which one task does where systems are few.
    apart, last = (sum(t.seconds for t in shards), collect.seconds) if shards else (collect.seconds, 0.0)
    few_pairs = FEW_SYSTEMS * (FEW_SYSTEMS - 1) // 2
    more_cells = _of_kind(many, "collect")[0].seconds - _of_kind(few, "collect")[0].seconds
    shard_cell_seconds = more_cells / (MANY_CELLS - 2) / few_pairs
    cell_bytes = pairs * STORED_BYTES
    return Measured(
        processor=processor_name(),
        load=round((load + os.getloadavg()[0]) / 2, 1),
        systems=systems,
        cell_seconds=fast - slope * low,
        cell_unit_seconds=slope,
        cell_bytes=cell_bytes,
        warm_seconds=max(cold.seconds - fast, 0.0),
        variation=stdev(equal) / mean(equal),
        extract_seconds=_measure_extraction(units),
        shard_row_seconds=apart / (2 * pairs) - 2 * shard_cell_seconds,
        shard_cell_seconds=shard_cell_seconds,
        shard_row_bytes=sum(shard.stored_bytes for shard in shards) / (2 * pairs),
        collect_row_seconds=last / (2 * pairs),
        report_seconds=report.seconds - size_seconds,
        report_row_seconds=size_seconds / pairs,
        block_memory_bytes=max(t.receipt.peak_memory_bytes for t in blocks),
        report_memory_bytes=report.receipt.peak_memory_bytes,
        task_seconds=task_seconds,
        task_bytes=len(pickle.dumps(replace(tasks[0], needs=()))),
        receipt_seconds=receipt_seconds,
        receipt_bytes=receipt_bytes,
        plan_seconds=plan_seconds,
        start_seconds=start_seconds,
        store_bandwidth=store_bandwidth,
    )


def _of_kind(timings: Sequence[Timing], kind: str) -> list[Timing]:
    return [timing for timing in timings if timing.task.kind == kind]


def _measure_smaller_size(runs: Path) -> float:
    """Return the seconds of what a report says of all pairs on the smaller of two test sizes."""
    (root,) = (path.parent for path in runs.glob("*/plan.json"))
    given = gather(RunDirectory(root))
    files = make_tables(build_report(given), given.cubes, given.findings)
    start = time.process_time()
    deque(files.stream("pair_sizes.csv"), maxlen=0)
    return time.process_time() - start


def _measure_plan(table: Made) -> tuple[float, list[Task]]:
    asked, seconds = table.asked(), []
    for _ in range(3):
        start = time.process_time()
        plan = plan_study(*asked, Inventory(), run="run", block_cells=1)
        seconds.append(time.process_time() - start)
    return median(seconds), [task for task in plan.tasks if task.kind == "resample"]


def receipt_of(task: Task) -> Receipt:
    """Return a receipt as large as the one that a block leaves."""
    spec = task.spec
    assert isinstance(spec, ResampleSpec)
    columns = [{"column": c.column, "systems": list(c.systems), "pairs": c.pairs, "kept": c.kept} for c in spec.columns]
    covers = {"replicates": spec.replicates, "first_cell": spec.first_cell, "stop_cell": spec.stop_cell, "columns": columns}
    return Receipt("resample", task.key, task.label, f"cells/{task.key[:2]}/{task.key}.arrays", "0" * 64, 2.0, "w:1", covers, 2**30)


def idle_task(task: Task, runs: str) -> Receipt:
    """Do nothing, and say so in as many words as a block would: what workers run while the scheduler is measured."""
    return receipt_of(task)


def _measure_receipts(tasks: Sequence[Task], place: Path) -> tuple[float, float]:
    receipts = [receipt_of(task) for task in tasks[:300]]
    seconds = []
    with hold_lease(place / "leased") as lease, Ledger(place / "leased" / "ledger.jsonl", fence=1) as ledger:
        writer, inventory = ReceiptWriter(ledger), Inventory()
        for receipt in receipts:
            start = time.perf_counter()
            lease.check()
            writer.append("done", receipt)
            inventory.add(receipt)
            seconds.append(time.perf_counter() - start)
    return median(seconds), ledger.path.stat().st_size / len(receipts)


def _measure_store(place: Path, size: int = 2**27) -> float:
    data, seconds = np.random.default_rng(1).bytes(size), []
    for number in range(5):
        start = time.perf_counter()
        write_bytes(place / f"bytes-{number}", data)
        seconds.append(time.perf_counter() - start)
        (place / f"bytes-{number}").unlink()
    return size / median(seconds)


def _measure_extraction(units: int) -> float:
    generator = np.random.default_rng(1)
    words = np.array([f"word{i}" for i in range(5000)])
    reference = [" ".join(words[generator.integers(0, 5000, n)]) for n in generator.integers(5, 45, units)]
    items = tuple(map(str, range(units)))
    metric = load_metric("bleu", {})
    prepared = metric.prepare(Items(items, {"reference": reference}, "reference", tuple(range(units))))
    output = Items(items, {"text": reference[:1] + [line + " more" for line in reference[1:]]}, "output", tuple(range(units)))
    seconds = []
    for _ in range(3):
        start = time.process_time()
        metric.extract(prepared, output)
        seconds.append(time.process_time() - start)
    return median(seconds)


def _measure_scheduler(tasks: Sequence[Task], place: Path) -> tuple[float, float]:
    """Return the seconds until there is a worker, and those of this process (coordinator and scheduler) for each task."""
    many = [replace(tasks[i % len(tasks)], key=f"{i:032d}") for i in range(MANY_TASKS)]
    start = time.perf_counter()
    with (
        patch.object(engine, "run_task", idle_task),
        patch.object(engine, "WINDOW_PER_THREAD", WIDE_WINDOW),
        engine.open_executor(load_profile("local"), place, prefix="idle", workers=1, logs=place / "logs") as executor,
    ):
        opened = time.perf_counter() - start
        _drain(executor, many[:100])
        begin = time.process_time()
        _drain(executor, many[100:])
        return opened, (time.process_time() - begin) / (MANY_TASKS - 100)


def _drain(executor: engine.DaskExecutor, tasks: Sequence[Task]) -> None:
    waiting, left = iter(tasks), len(tasks)
    while left:
        for _, task in zip(range(executor.free()), waiting, strict=False):
            executor.submit(task, "1.0")
        left -= len(executor.wait(0.5))


def processor_name() -> str:
    """Return the processor's name, as the system has it."""
    try:
        lines = Path("/proc/cpuinfo").read_text("utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), platform.machine())
