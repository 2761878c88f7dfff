"""Check the simulation against real runs: run a study on local workers, and predict how long it should have taken."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from unittest.mock import patch

from pipeline.engine import dask as engine
from pipeline.engine.coordinator import coordinate
from pipeline.engine.dask import open_executor
from pipeline.engine.executor import Executor
from pipeline.engine.signals import StopRequest
from pipeline.plan.task import Failure, Receipt, Task
from pipeline.record.manifest import read_inventory
from pipeline.study.load import load_profile
from pipeline.tasks.run import run_task
from simulation.cluster import Job, Work, simulate
from simulation.made import Made
from simulation.rates import Measured, cluster_of, work_of

__all__ = ["Comparison", "compare"]

STAGES = ("resample", "shard", "collect", "report")


@dataclass(frozen=True)
class Comparison:
    """A real run beside two predictions.

    Parameters
    ----------
    workers : int
    load : float
        Of the machine when the run had ended.
    measured : float
        Seconds of the run, from its plan to its last receipt, without starting and closing the cluster.
    from_rates : float
        What the simulation says from rates that were measured before.
    from_tasks : float
        What it says when each task takes what its receipt says: what is left is handing out, receipts and waiting.
    processor, processor_from_rates : float
        Processor seconds of all tasks: by the workers' own clocks, and by those rates. Other processes do not enter here.
    task_share : float
        Share of the workers' time that was in tasks, by their receipts, while blocks were resampled.
    """

    workers: int
    load: float
    measured: float
    from_rates: float
    from_tasks: float
    processor: float
    processor_from_rates: float
    task_share: float


def compare(measured: Measured, made: Made, *, workers: int, folder: Path | None = None) -> Comparison:
    """Run a study of the systems that were measured on local workers, block by block of one cell."""
    with tempfile.TemporaryDirectory(dir=folder, prefix="validate-") as runs:
        run = made.write(Path(runs))
        apart: list[float] = []

        @contextmanager
        def opened(stop: StopRequest) -> Iterator[Executor]:
            begin = time.perf_counter()
            with open_executor(
                load_profile("local"), Path(runs), prefix=run.id, workers=workers, logs=run.root / "logs"
            ) as executor:
                apart.append(time.perf_counter() - begin)
                yield executor
                begin = time.perf_counter()
            apart.append(time.perf_counter() - begin)

        begin = time.perf_counter()
        with patch.object(engine, "run_task", run_timed):
            ending = coordinate(run, opened, block_cells=1, workers=workers)
        seconds = time.perf_counter() - begin - sum(apart)
        if ending.exit_code:
            raise RuntimeError(ending.message)
        receipts = [receipt for receipt in read_inventory(run).receipts.values() if receipt.kind in STAGES]
    blocks = [receipt for receipt in receipts if receipt.kind == "resample"]
    cluster = replace(cluster_of(measured, workers), start_seconds=measured.plan_seconds, variation=0.0)
    own = simulate([Work(kind, [_as_it_was(r) for r in receipts if r.kind == kind]) for kind in STAGES], cluster)
    expected = [work for work in work_of(measured, made, workers=workers) if work.name != "extract"]
    rates = simulate(expected, cluster)
    by_rates = rates.busy_seconds + workers * sum(work.warm_seconds for work in expected)
    in_tasks = sum(receipt.seconds for receipt in blocks)
    rest = seconds - sum(receipt.seconds for receipt in receipts if receipt.kind != "resample")
    return Comparison(
        workers=workers,
        load=os.getloadavg()[0],
        measured=seconds,
        from_rates=rates.seconds,
        from_tasks=own.seconds,
        processor=sum(float(receipt.worker) for receipt in receipts),
        processor_from_rates=by_rates,
        task_share=in_tasks / (workers * rest),
    )


def run_timed(task: Task, runs: str) -> Receipt | Failure:
    """Run a task on a worker, and give the processor seconds it took in place of the worker's name."""
    start = time.process_time()
    result = run_task(task, runs)
    return replace(result, worker=f"{time.process_time() - start:.4f}") if isinstance(result, Receipt) else result


def _as_it_was(receipt: Receipt) -> Job:
    return Job(receipt.seconds)
