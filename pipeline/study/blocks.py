"""Which cells are still to be counted, and in which blocks. This module cuts what is missing into resample tasks."""

from __future__ import annotations

from pipeline.resampling.address import CELL, count_cells
from pipeline.store.addresses import digest
from pipeline.study.columns import Column, Size
from pipeline.study.costs import choose_block_cells
from pipeline.study.inputs import TestSetInputs
from pipeline.study.inventory import Inventory
from pipeline.study.missing import column_spec, missing_of, runs_of_equal_cells
from pipeline.study.procedures import PROCEDURES
from pipeline.study.rates import Rates
from pipeline.study.schema import Study
from pipeline.study.task import ResampleSpec, Task

__all__ = ["resamples_of"]


def resamples_of(
    study: Study,
    test_set: TestSetInputs,
    size: Size,
    columns: tuple[Column, ...],
    inventory: Inventory,
    block_cells: int | None,
    workers: int,
    rates: Rates,
) -> list[Task]:
    """Give a task for each procedure and block of cells of one test size that lacks anything, whatever its metric.

    Cells that lack the same pairs and scores stand together; a block never spans two such ranges.
    """
    tasks = []
    for procedure in study.resampling.procedures:
        own = tuple(column for column in columns if column.procedure == procedure)
        tasks += _of_procedure(study, test_set, size, procedure, own, inventory, block_cells, workers, rates)
    return tasks


def _of_procedure(
    study: Study,
    test_set: TestSetInputs,
    size: Size,
    procedure: str,
    columns: tuple[Column, ...],
    inventory: Inventory,
    block_cells: int | None,
    workers: int,
    rates: Rates,
) -> list[Task]:
    resampling = study.resampling
    cells = count_cells(resampling.replicates)
    kept_cells = min(cells, -(-resampling.keep_replicates // CELL)) if PROCEDURES[procedure].keeps_scores else 0
    named = f", {procedure}" if len(resampling.procedures) > 1 else ""
    # By all outputs, present or not: a system that fails must not change the grid under tasks that run.
    block = block_cells or choose_block_cells(
        rates,
        procedure=procedure,
        metrics=[column.metric.name for column in columns],
        n_units=size.n_units,
        systems=len(test_set.outputs),
        cells=cells,
        workers=workers,
    )
    missing = [
        missing_of(column, inventory, cells=cells, kept_cells=kept_cells, replicates=resampling.replicates) for column in columns
    ]
    tasks = []
    for first, stop in runs_of_equal_cells(missing, cells):
        specs = [column_spec(column, lacking.at(first)) for column, lacking in zip(columns, missing, strict=True)]
        wanted = tuple(spec for spec in specs if spec is not None)
        if not wanted:
            continue
        # Once for all blocks of the range: they name the same thousand systems, in the same words and in the same tuple.
        content = digest([[c.column, c.systems, c.pairs, c.kept] for c in wanted])
        needs = tuple(sorted({key for column in wanted for key in column.systems}))
        # On a grid from cell 0, whatever is missing: a task that runs has the same cells when the plan is made again.
        for start in [first, *range((first // block + 1) * block, stop, block)]:
            spec = ResampleSpec(
                test_set=test_set.name,
                frame=test_set.frame,
                size=size.label,
                n_units=size.n_units,
                seed=study.seed,
                rule=resampling.test_sizes.draw,
                procedure=procedure,
                replicates=resampling.replicates,
                first_cell=start,
                stop_cell=min((start // block + 1) * block, stop),
                columns=wanted,
            )
            key = digest(["resample", spec.replicates, spec.first_cell, spec.stop_cell, content])
            label = f"resample {test_set.name} [{size.label}{named}] cells {spec.first_cell}-{spec.stop_cell - 1}"
            tasks.append(Task("resample", key, label, spec, needs))
    return tasks
