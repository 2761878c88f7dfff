"""Folds stored cells into a cube. This module is the collecting task: whatever blocks made the cells, the cube is the same."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.cubes.cube import CubeWriter
from pipeline.cubes.layout import CubeLayout, MetricInfo
from pipeline.cubes.variables import CHUNKS, METHODS
from pipeline.inference.multiplicity import benjamini_hochberg, holm
from pipeline.inference.p_values import CONVENTIONS, PValues, p_values
from pipeline.inference.readings import READINGS
from pipeline.metrics.registry import load_metric
from pipeline.resampling.measures import BINS, COUNTS, SUMS, Observed
from pipeline.resampling.observe import observe
from pipeline.store.runs import RunDirectory, Store
from pipeline.study.columns import Column, Size, columns_of, sizes_of
from pipeline.study.inputs import OutputInputs, TestSetInputs
from pipeline.study.inventory import Inventory
from pipeline.study.plan import present_outputs
from pipeline.study.procedures import PROCEDURES
from pipeline.study.task import CollectSpec, Receipt, Task, triangle
from pipeline.tasks.extract import load_frame, load_statistics
from pipeline.tasks.fold import Cells, fold, kept_scores
from pipeline.tasks.manifest import Manifest, read_inventory, read_manifest
from pipeline.tasks.resample import measure_of

__all__ = ["collect"]

CHUNK_PAIRS = CHUNKS["pair"]
"""Pairs folded at a time: their cells are never all held at once."""

_MONTE_CARLO, _DEFINITION = METHODS.index("monte-carlo"), METHODS.index("definition")

ADJUSTMENTS = {"holm": holm, "benjamini-hochberg": benjamini_hochberg}


@dataclass(frozen=True, eq=False)
class Part:
    """One metric on one test size, as the cube indexes it: pairs of systems in the study's order."""

    metric: str
    size: Size
    position: NDArray[np.int64]  # of each system's statistics among the sorted distinct ones
    flat: NDArray[np.int64]  # of each pair among their pairs; -1 where both are the same
    turned: NDArray[np.bool_]  # the statistics are sorted the other way round than the pair
    observed: Observed


def collect(task: Task, runs: Path) -> Receipt:
    """Write the cube of one test set from the cells that the run's ledger names."""
    spec = task.spec
    assert isinstance(spec, CollectSpec)
    run = RunDirectory(runs / spec.run)
    manifest, inventory = read_manifest(run), read_inventory(run)
    test_set = next(t for t in manifest.inputs.test_sets if t.name == spec.test_set)
    present, _ = present_outputs(manifest.study, manifest.inputs, test_set, inventory)
    layout = _layout(manifest, test_set, present, effective_units=_effective_units(run.store, test_set.frame))
    with CubeWriter(run.cubes, layout) as cube:
        for size in sizes_of(manifest.study, test_set):
            columns = columns_of(manifest.study, manifest.inputs, test_set, size, present)
            for metric in manifest.inputs.metrics:
                own = tuple(column for column in columns if column.metric.name == metric.name)
                part = _part(run.store, test_set, layout, own[0], size)  # procedures have systems and statistics in common
                _write_observed(cube, part)
                for column in own:
                    _write_counts(cube, layout, part, column, inventory, run.store)
        for metric in manifest.inputs.metrics:
            _write_statistics(cube, run.store, test_set, metric.name, dict(metric.options), manifest, present)
    return Receipt("collect", task.key, task.label, run.cubes.name, "", 0.0, "", {"test_set": test_set.name})


def _effective_units(store: Store, frame: str) -> float:
    """Give (Σ n_g)² / Σ n_g², the number of equal units that would be worth as much as these."""
    sizes = [int(size) for size in np.bincount(load_frame(store, frame).unit_of_item)]
    return sum(sizes) ** 2 / sum(size * size for size in sizes)


def _layout(
    manifest: Manifest, test_set: TestSetInputs, present: tuple[OutputInputs, ...], *, effective_units: float
) -> CubeLayout:
    study, systems = manifest.study, [output.system for output in present]
    known = [manifest.inputs.coordinates.get(system, {}) for system in systems]
    names = sorted({name for coordinates in known for name in coordinates})
    first, second = triangle(len(systems))
    return CubeLayout(
        study=study.study,
        test_set=test_set.name,
        metrics=[MetricInfo(m.name, m.signature, m.higher_is_better) for m in manifest.inputs.metrics],
        test_sizes=[(size.label, size.n_units) for size in sizes_of(study, test_set)],
        systems=systems,
        pairs=np.stack([first, second], axis=1),
        replicates=study.resampling.replicates,
        kept=study.resampling.scores_kept,
        bins=BINS,
        seed=study.seed,
        alpha=study.resampling.alpha,
        procedures=study.resampling.procedures,
        conventions=CONVENTIONS,
        adjustments=tuple(ADJUSTMENTS),
        coordinates={name: [coordinates.get(name) for coordinates in known] for name in names},
        attrs={
            "unit": study.resampling.unit,
            "n_items": test_set.n_items,
            "effective_units": effective_units,
            "relation": study.systems.relation or "",
            "margin": dict(study.resampling.margin),
        },
    )


def _part(store: Store, test_set: TestSetInputs, layout: CubeLayout, column: Column, size: Size) -> Part:
    n = len(column.systems)
    place = {key: i for i, key in enumerate(column.systems)}
    position = np.array([place[column.key_of[system]] for system in layout.systems], np.int64)
    a, b = position[layout.pairs[:, 0]], position[layout.pairs[:, 1]]
    low, high = np.minimum(a, b), np.maximum(a, b)
    flat = np.where(a == b, -1, low * n - low * (low + 1) // 2 + (high - low - 1))
    measure = measure_of(
        store,
        frame=test_set.frame,
        n_units=size.n_units,
        systems=column.systems,
        metric=column.metric.name,
        options=dict(column.metric.options),
        margin=None,
        pairs=np.stack([low, high], axis=1),
        keep=np.zeros(n, np.bool_),
    )
    return Part(column.metric.name, size, position, flat, a > b, observe(measure))


def _write_observed(cube: CubeWriter, part: Part) -> None:
    observed = part.observed
    cube.write_observed(
        part.metric,
        part.size.label,
        score=observed.score[part.position],
        # + 0.0: a turned pair without a gain has 0, not −0.
        delta=np.where(part.turned, -observed.delta, observed.delta) + 0.0,
        se=observed.se,
        discordant=observed.discordant,
        identical=observed.identical,
    )


def _write_counts(cube: CubeWriter, layout: CubeLayout, part: Part, column: Column, inventory: Inventory, store: Store) -> None:
    metric, size, total = column.metric.name, part.size.label, layout.replicates
    cells = Cells(column, size, part.flat, inventory.coverage(column.address, column.systems, total), total)
    pairs = len(layout.pairs)
    p = np.full((len(CONVENTIONS), pairs), np.nan)
    for first in range(0, pairs, CHUNK_PAIRS):
        rows = slice(first, min(first + CHUNK_PAIRS, pairs))
        found = _write_rows(cube, part, cells, rows, store)
        p[:, rows] = found.p
        values = _table(found, layout.alpha, pairs)
        cube.write_table(metric, size, values, pairs=rows, procedure=column.procedure)
    # A family is all pairs of one test set, metric, test size and procedure: corrected when all of them are there.
    adjusted = np.stack([[adjust(row) for adjust in ADJUSTMENTS.values()] for row in p])
    cube.write_table(metric, size, {"p_adjusted": adjusted}, procedure=column.procedure)
    if PROCEDURES[column.procedure].keeps_scores:
        for first_system, first, scores in kept_scores(cells, layout.sizes["replicate"], part.position, store):
            cube.write_scores(metric, size, first, scores, first_system=first_system)


def _write_rows(cube: CubeWriter, part: Part, cells: Cells, rows: slice, store: Store) -> PValues:
    """Write the counts of a range of pairs, and give what is read off them."""
    metric, size, procedure = cells.column.metric.name, cells.label, cells.column.procedure
    observed, reading = part.observed, READINGS[procedure]
    pairs = rows.stop - rows.start
    totals = np.zeros((pairs, len(COUNTS)), np.int64)
    sums = np.zeros((pairs, len(SUMS)))
    empty = np.zeros(pairs, np.int64)
    histogram = np.zeros((pairs, BINS), np.int64)
    for block in fold(cells, rows, store):
        cube.write_cells(
            metric,
            size,
            block.first_cell,
            counts=block.counts,
            empty=block.empty,
            sums=block.sums,
            first_pair=rows.start,
            procedure=procedure,
        )
        totals += block.counts.sum(1, dtype=np.int64)
        empty += block.empty.sum(1, dtype=np.int64)
        histogram += block.histogram
        for cell in range(block.sums.shape[1]):  # in cell order: a float sum must not depend on how it was cut
            sums += block.sums[:, cell]
    cube.write_histogram(metric, size, histogram, first_pair=rows.start, procedure=procedure)
    return p_values(
        totals,
        cells.replicates - empty,
        delta=observed.delta[rows],
        identical=observed.identical[rows],
        sums=sums,
        conventions=reading.conventions,
        bias=reading.bias,
    )


def _table(found: PValues, alpha: float, pairs: int) -> dict[str, NDArray[Any]]:
    return {
        "p_value": found.p,
        "log10_p": found.log10_p,
        "p_error": found.p_error,
        "method": np.where(np.isnan(found.p), -1, np.where(found.by_definition, _DEFINITION, _MONTE_CARLO)).astype(np.int8),
        "stable": found.stable(alpha, pairs),
        "bias": found.bias,
    }


def _write_statistics(
    cube: CubeWriter,
    store: Store,
    test_set: TestSetInputs,
    metric: str,
    options: dict[str, Any],
    manifest: Manifest,
    present: tuple[OutputInputs, ...],
) -> None:
    full = sizes_of(manifest.study, test_set)[-1]
    columns = columns_of(manifest.study, manifest.inputs, test_set, full, present)
    column = next(c for c in columns if c.metric.name == metric)
    loaded = [load_statistics(store, column.key_of[output.system]) for output in present]
    decimals = tuple(int(d) for d in np.max([s.decimals for s in loaded], axis=0))
    ids = load_frame(store, test_set.frame).ids
    names = load_metric(metric, options).statistics
    for position, statistics in enumerate(loaded):
        factor = np.array([10 ** (d - own) for d, own in zip(decimals, statistics.decimals, strict=True)], np.int64)
        cube.write_statistics(
            metric, (statistics.values * factor)[None], ids=ids, statistics=names, decimals=decimals, first_system=position
        )
