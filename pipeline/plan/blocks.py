"""Find the cells still to be counted, and divide them into blocks.

What is asked of a comparison is compared with what receipts cover, cell by cell. Most cells miss the same: a pattern is worked out
once for all cells that the same groups of receipts cover, so that a plan costs patterns × pairs, and cells × pairs never.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from math import ceil, floor

import numpy as np
from numpy.typing import NDArray

from pipeline.dataclass import dataclass
from pipeline.plan.comparisons import Comparison, Size, strata_drawn
from pipeline.plan.costs import block_seconds
from pipeline.plan.inputs import MetricInputs, TestSetInputs
from pipeline.plan.inventory import Coverage, Inventory
from pipeline.plan.task import ComparisonSpec, ResampleSpec, Task, pack_mask
from pipeline.procedures.registry import PROCEDURES
from pipeline.resampling.address import CELL, count_cells
from pipeline.store.addresses import digest
from pipeline.study.schema import Study

__all__ = [
    "LONGEST_BLOCK",
    "SHORTEST_BLOCK",
    "TASKS_A_SECOND",
    "Missing",
    "Pattern",
    "choose_block_cells",
    "comparison_spec",
    "find_missing",
    "plan_resamples",
    "runs_of_equal_cells",
]

BLOCK_SECONDS = 2.0
"""What a resample task should take where the constants of costs were measured: long against 2 ms of scheduling, short against a
lost worker. It is half a second to five on machines of four times to two fifths of that speed."""

SHORTEST_BLOCK, LONGEST_BLOCK = 0.5, 5.0
"""Seconds between which a resample task stays, unless one cell takes longer or the whole test size less."""

TASKS_A_SECOND = 100.0
"""The most that a study asks of a scheduler: beyond 500 workers blocks grow past `LONGEST_BLOCK`."""


def plan_resamples(
    study: Study,
    test_set: TestSetInputs,
    size: Size,
    columns: tuple[Comparison, ...],
    inventory: Inventory,
    block_cells: int | None,
    workers: int,
) -> list[Task]:
    """Return a task for each procedure and block of cells of one test size that lacks anything, whatever its metric.

    Cells that lack the same pairs and scores stand together; a block never spans two such ranges.
    """
    tasks = []
    for procedure in study.resampling.drawn:
        own = tuple(column for column in columns if column.procedure == procedure)
        tasks += _of_procedure(study, test_set, size, procedure, own, inventory, block_cells, workers)
    return tasks


def _of_procedure(
    study: Study,
    test_set: TestSetInputs,
    size: Size,
    procedure: str,
    columns: tuple[Comparison, ...],
    inventory: Inventory,
    block_cells: int | None,
    workers: int,
) -> list[Task]:
    resampling = study.resampling
    replicates = max(column.replicates for column in columns)  # beside exact p-values fewer are drawn, in whole cells
    cells = count_cells(replicates)
    if not cells:
        return []
    kept_cells = min(cells, -(-resampling.keep_replicates // CELL)) if PROCEDURES[procedure].keeps_scores else 0
    named = f", {procedure}" if len(resampling.procedures) > 1 else ""
    # By all outputs, present or not: a system that fails must not change the grid under tasks that run.
    block = block_cells or choose_block_cells(
        procedure=procedure,
        metrics=[column.metric for column in columns],
        n_units=size.n_units,
        systems=len(test_set.outputs),
        cells=cells,
        workers=workers,
    )
    strata = strata_drawn(procedure, test_set)
    missing = [find_missing(column, inventory, cells=cells, kept_cells=kept_cells, replicates=replicates) for column in columns]
    tasks = []
    for first, stop in runs_of_equal_cells(missing, cells):
        specs = [comparison_spec(column, lacking.at(first)) for column, lacking in zip(columns, missing, strict=True)]
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
                replicates=replicates,
                first_cell=start,
                stop_cell=min((start // block + 1) * block, stop),
                columns=wanted,
                strata=strata,
            )
            key = digest(["resample", spec.replicates, spec.first_cell, spec.stop_cell, content])
            label = f"resample {test_set.name} [{size.label}{named}] cells {spec.first_cell}-{spec.stop_cell - 1}"
            tasks.append(Task("resample", key, label, spec, needs))
    return tasks


def choose_block_cells(
    *, procedure: str, metrics: Sequence[MetricInputs], n_units: int, systems: int, cells: int, workers: int
) -> int:
    """Return the number of cells of a resample task.

    They should take about `BLOCK_SECONDS`, less where workers would stand idle, but not below `SHORTEST_BLOCK` nor above
    `LONGEST_BLOCK`; with very many workers as long as keeps the study at `TASKS_A_SECOND`. A cell is the smallest piece and the
    test size the largest, whatever they take. Neither the machine nor what is done already plays a part: a study has one grid.

    Examples
    --------
    >>> bleu = MetricInputs("bleu", {}, "bleu", True)
    >>> job = dict(procedure="paired-bootstrap", metrics=[bleu], n_units=2000, systems=30, cells=62)
    >>> [choose_block_cells(workers=workers, **job) for workers in (1, 16, 1000)]
    [21, 8, 62]
    """
    pairs = systems * (systems - 1) // 2
    setup, replicate = block_seconds(procedure, metrics, units=n_units, systems=systems, pairs=pairs)
    cell = CELL * replicate
    most = max(1, floor((LONGEST_BLOCK - setup) / cell), ceil(min(setup, LONGEST_BLOCK) / cell) if setup > BLOCK_SECONDS else 1)
    least = max(1, ceil((max(SHORTEST_BLOCK, workers / TASKS_A_SECOND) - setup) / cell))
    # The work before the first replicate is never most of a block.
    wanted = max(1, round((BLOCK_SECONDS - setup) / cell), ceil(min(setup, LONGEST_BLOCK) / cell))
    if workers > 1:
        wanted = min(wanted, ceil(cells / (2 * workers)))
    wanted = max(least, min(wanted, most))
    # Even blocks, since what were left over at the end would be a short one; one fewer where they would all be short.
    even = ceil(cells / ceil(cells / wanted))
    if even < least:
        even = ceil(cells / max(1, cells // least))
    return even if even <= max(least, most) else wanted


@dataclass(frozen=True, eq=False)
class Pattern:
    """Pairs ``i < j`` in row order, and systems whose replicate scores are wanted, that a cell lacks."""

    pairs: NDArray[np.bool_]
    kept: NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Missing:
    """What the cells of a column lack: the distinct patterns that occur, and which of them each cell has."""

    patterns: tuple[Pattern, ...]
    of_cell: NDArray[np.int64]

    def at(self, cell: int) -> Pattern:
        """Return what one cell lacks."""
        return self.patterns[int(self.of_cell[cell])]


def find_missing(column: Comparison, inventory: Inventory, *, cells: int, kept_cells: int, replicates: int) -> Missing:
    """Return what receipts do not cover of a column.

    Parameters
    ----------
    column : Comparison
        Whose pairs are all asked.
    inventory : Inventory
        What exists.
    cells, kept_cells : int
        Cells of the study, and how many of them, from the first, are to keep replicate scores.
    replicates : int
        Of all columns of the procedure: a cell that another study cut short is not covered.
    """
    needed = count_cells(column.replicates)
    example: dict[int, Coverage] = {}
    covering: list[set[int]] = [set() for _ in range(cells)]
    for covered in inventory.coverage(column.address, column.systems, replicates):
        example.setdefault(covered.group, covered)
        for cell in covered.cells:
            covering[cell].add(covered.group)
    number_of: dict[tuple[bool, frozenset[int]] | None, int] = {}
    number_of_content: dict[bytes, int] = {}
    patterns: list[Pattern] = []
    of_cell = np.empty(cells, np.int64)
    nobody: frozenset[int] = frozenset()
    for cell, groups in enumerate(covering):
        cause = (cell < kept_cells, frozenset(groups) if groups else nobody) if cell < needed else None
        if cause not in number_of:
            systems = len(column.systems)
            there = [example[group] for group in groups]
            pattern = _nothing(systems) if cause is None else _pattern(systems, keep=cause[0], covered=there)
            # Different groups may leave the same gaps: cells that lack the same things are kept together, whatever the cause.
            content = np.packbits(np.concatenate([pattern.pairs, pattern.kept])).tobytes()
            number_of[cause] = number_of_content.setdefault(content, len(patterns))
            if number_of[cause] == len(patterns):
                patterns.append(pattern)
        of_cell[cell] = number_of[cause]
    return Missing(tuple(patterns), of_cell)


def _pattern(systems: int, *, keep: bool, covered: Sequence[Coverage]) -> Pattern:
    pairs = np.ones(systems * (systems - 1) // 2, np.bool_)
    kept = np.full(systems, keep)
    for there in covered:
        pairs[there.pairs] = False
        kept[there.kept] = False
    return Pattern(pairs, kept)


def _nothing(systems: int) -> Pattern:
    """Return what a cell lacks that a column does not need."""
    return Pattern(np.zeros(systems * (systems - 1) // 2, np.bool_), np.zeros(systems, np.bool_))


def runs_of_equal_cells(missing: Sequence[Missing], cells: int) -> Iterator[tuple[int, int]]:
    """Yield ranges of neighbouring cells that lack the same things in every column."""
    changes = np.zeros(cells + 1, np.bool_)
    changes[[0, cells]] = True
    for column in missing:
        changes[1:cells] |= column.of_cell[1:] != column.of_cell[:-1]
    yield from pairwise(np.flatnonzero(changes).tolist())


def comparison_spec(column: Comparison, pattern: Pattern) -> ComparisonSpec | None:
    """Return the comparison to compute for one pattern, with only the systems it needs; None if there is nothing to compute."""
    n = len(column.systems)
    upper = np.triu(np.ones((n, n), np.bool_), 1)
    asked = np.zeros((n, n), np.bool_)
    asked[upper] = pattern.pairs
    used = pattern.kept | asked.any(0) | asked.any(1)
    if not used.any():
        return None
    inner = pattern.pairs if used.all() else asked[np.ix_(used, used)][upper[np.ix_(used, used)]]
    return ComparisonSpec(
        column=column.address,
        metric=column.metric.name,
        options=column.metric.options,
        margin=column.margin,
        systems=tuple(key for key, use in zip(column.systems, used, strict=True) if use),
        pairs=pack_mask(inner),
        kept=pack_mask(pattern.kept[used]),
    )
