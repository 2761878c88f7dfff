"""What is measured on a machine, and the tasks that follow from it. Knows no clock and no worker."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, fields
from pathlib import Path

from pipeline.plan.task import ResampleSpec, ShardSpec
from pipeline.resampling.address import count_cells
from simulation.cluster import Cluster, Job, Work
from simulation.made import Made

__all__ = ["Measured", "cluster_of", "read_measured", "work_of"]


@dataclass(frozen=True)
class Measured:
    """Rates of one machine. Seconds of tasks are those of a processor; moving bytes is apart.

    Parameters
    ----------
    processor : str
        Its name.
    load : float
        Processes that wanted a core while it was measured, on average, beside the cores there are.
    systems : int
        With which blocks, cube and report were measured; each pair and cell costs as much as there.
    cell_seconds, cell_unit_seconds : float
        One cell of all pairs: whatever the test size, and more for each unit of it.
    cell_bytes : float
        What it stores.
    warm_seconds : float
        What the first block of a worker takes longer than the second.
    variation : float
        Standard deviation of the time of equal blocks, as a share of it.
    extract_seconds : float
        The statistics of one output, of the largest size.
    shard_row_seconds, shard_cell_seconds : float
        A shard of the cube, for each pair on each test size; more for each cell of it.
    shard_row_bytes : float
        What it stores of each.
    collect_row_seconds : float
        What one task does after the shards, for each pair on each test size.
    report_seconds, report_row_seconds : float
        The report of one test size; more for each pair on each further size.
    block_memory_bytes, report_memory_bytes : float
        The most that the process held when all its blocks were done, and when it had written the report.
    task_seconds, task_bytes : float
        Coordinator and scheduler with one task; what is sent of it.
    receipt_seconds, receipt_bytes : float
        A receipt, from the check of the lease to its sync; what the ledger grows by.
    plan_seconds : float
        One plan of the study of the table.
    start_seconds : float
        Until a local cluster has a worker.
    store_bandwidth : float
        Bytes a second, written and synced.
    """

    processor: str
    load: float
    systems: int
    cell_seconds: float
    cell_unit_seconds: float
    cell_bytes: float
    warm_seconds: float
    variation: float
    extract_seconds: float
    shard_row_seconds: float
    shard_cell_seconds: float
    shard_row_bytes: float
    collect_row_seconds: float
    report_seconds: float
    report_row_seconds: float
    block_memory_bytes: float
    report_memory_bytes: float
    task_seconds: float
    task_bytes: float
    receipt_seconds: float
    receipt_bytes: float
    plan_seconds: float
    start_seconds: float
    store_bandwidth: float

    def cell(self, units: int) -> float:
        """Return the seconds of one cell on a test size."""
        return self.cell_seconds + self.cell_unit_seconds * units

    def to_json(self) -> str:
        """Return a text for a file."""
        return json.dumps(asdict(self), indent=2) + "\n"


def read_measured(path: Path) -> Measured:
    """Read what `Measured.to_json` gave."""
    value = json.loads(path.read_text("utf-8"))
    return Measured(**{field.name: value[field.name] for field in fields(Measured)})


def cluster_of(measured: Measured, workers: int, *, store_bandwidth: float | None = None) -> Cluster:
    """Return so many workers like the one that was measured, on its file system or on a faster one."""
    return Cluster(
        workers=workers,
        task_seconds=measured.task_seconds,
        receipt_seconds=measured.receipt_seconds,
        store_bandwidth=store_bandwidth or measured.store_bandwidth,
        worker_bandwidth=min(measured.store_bandwidth, store_bandwidth or measured.store_bandwidth),
        start_seconds=measured.plan_seconds + measured.start_seconds,
        variation=measured.variation,
    )


def work_of(measured: Measured, made: Made, *, workers: int, with_report: bool = True) -> list[Work]:
    """Return the stages of a study, its blocks as a plan cuts them.

    Raises
    ------
    ValueError
        The study has another number of systems than the one that was measured.
    """
    if made.systems != measured.systems:
        raise ValueError(f"rates were measured with {measured.systems} systems, the study has {made.systems}: measure it")
    tasks = made.plan(workers=workers)
    blocks = [task.spec for task in tasks if isinstance(task.spec, ResampleSpec)]
    extracts = sum(task.kind == "extract" for task in tasks)
    cells = count_cells(made.replicates)
    pairs = made.systems * (made.systems - 1) // 2
    rows = len(made.sizes) * pairs
    shards = [_shard(measured, task.spec, cells, pairs) for task in tasks if isinstance(task.spec, ShardSpec)]
    collect = Job(rows * measured.collect_row_seconds, 2 * rows * measured.shard_row_bytes)  # read from shards, written to the cube
    if not shards:  # one task does it all
        whole = rows * (measured.shard_row_seconds + cells * measured.shard_cell_seconds + measured.collect_row_seconds)
        collect = Job(whole, len(made.sizes) * cells * measured.cell_bytes + rows * measured.shard_row_bytes)
    stages = [
        Work("extract", [Job(measured.extract_seconds)] * extracts),
        Work("resample", [_block(measured, spec) for spec in blocks], measured.warm_seconds),
        Work("shards", shards),
        Work("collect", [collect]),
        Work("report", [Job(measured.report_seconds + (rows - pairs) * measured.report_row_seconds)]),
    ]
    return stages if with_report else stages[:-1]


def _shard(measured: Measured, spec: ShardSpec, cells: int, pairs: int) -> Job:
    rows = spec.stop_pair - spec.first_pair
    read = cells * measured.cell_bytes * rows / pairs
    return Job(rows * (measured.shard_row_seconds + cells * measured.shard_cell_seconds), read + rows * measured.shard_row_bytes)


def _block(measured: Measured, spec: ResampleSpec) -> Job:
    cells = spec.stop_cell - spec.first_cell
    return Job(cells * measured.cell(spec.n_units), cells * measured.cell_bytes)
