"""Folds stored cells into a cube. This module is the collecting task: whatever blocks made the cells, the cube is the same."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.cubes.cube import CubeWriter
from pipeline.cubes.layout import CubeLayout, MetricInfo
from pipeline.cubes.variables import METHODS
from pipeline.inference.multiplicity import benjamini_hochberg, holm
from pipeline.inference.p_values import CONVENTIONS, PValues, p_values
from pipeline.metrics.registry import load_metric
from pipeline.resampling.address import CELL, cell_bounds, count_cells
from pipeline.resampling.measures import BINS, COUNTS, SUMS, Observed
from pipeline.resampling.observe import observe
from pipeline.store.files import read_arrays
from pipeline.store.runs import RunDirectory, Store
from pipeline.study.columns import Column, Size, columns_of, sizes_of
from pipeline.study.inputs import OutputInputs, TestSetInputs
from pipeline.study.inventory import Coverage, Inventory
from pipeline.study.plan import present_outputs
from pipeline.study.task import CollectSpec, Receipt, Task, triangle
from pipeline.tasks.extract import load_frame, load_statistics
from pipeline.tasks.manifest import Manifest, read_inventory, read_manifest
from pipeline.tasks.resample import measure_of

__all__ = ["collect"]

CHUNK_PAIRS = 4096
"""Pairs folded at a time: memory does not grow with the number of pairs."""

_MONTE_CARLO, _DEFINITION = METHODS.index("monte-carlo"), METHODS.index("definition")

ADJUSTMENTS = {"holm": holm, "benjamini-hochberg": benjamini_hochberg}


@dataclass(frozen=True)
class Slice:
    """One metric on one test size, as the cube indexes it: pairs of systems in the study's order."""

    column: Column
    size: Size
    flat: NDArray[np.int64]  # position of each pair among the sorted distinct statistics; -1 where both are the same
    turned: NDArray[np.bool_]  # the statistics are sorted the other way round than the pair
    observed: Observed
    coverage: list[Coverage]


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
            for column in columns_of(manifest.study, manifest.inputs, test_set, size, present):
                part = _slice(run.store, test_set, layout, column, size, inventory, manifest.study.resampling.replicates)
                _write_slice(cube, layout, part, run.store, manifest.study.resampling.replicates)
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
        kept=study.resampling.keep_replicates,
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


def _slice(
    store: Store, test_set: TestSetInputs, layout: CubeLayout, column: Column, size: Size, inventory: Inventory, replicates: int
) -> Slice:
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
        margin=column.margin,
        pairs=np.stack([low, high], axis=1),
        keep=np.zeros(n, np.bool_),
    )
    return Slice(column, size, flat, a > b, observe(measure), inventory.coverage(column.address, column.systems, replicates))


def _write_slice(cube: CubeWriter, layout: CubeLayout, part: Slice, store: Store, replicates: int) -> None:
    metric, size = part.column.metric.name, part.size.label
    observed = part.observed
    place = {key: i for i, key in enumerate(part.column.systems)}
    position = [place[part.column.key_of[system]] for system in layout.systems]
    cube.write_observed(
        metric,
        size,
        score=observed.score[position],
        # + 0.0: a turned pair without a gain has 0, not −0.
        delta=np.where(part.turned, -observed.delta, observed.delta) + 0.0,
        se=observed.se,
        discordant=observed.discordant,
        identical=observed.identical,
    )
    pairs, cells = len(layout.pairs), count_cells(replicates)
    totals = np.zeros((pairs, len(COUNTS)), np.int64)
    sums = np.zeros((pairs, len(SUMS)))
    empty = np.zeros(pairs, np.int64)
    for first in range(0, pairs, CHUNK_PAIRS):
        rows = slice(first, min(first + CHUNK_PAIRS, pairs))
        block = _fold(part, rows, store, cells, replicates)
        cube.write_cells(metric, size, 0, counts=block.counts, empty=block.empty, sums=block.sums, first_pair=first)
        cube.write_histogram(metric, size, block.histogram, first_pair=first)
        totals[rows] = block.counts.sum(1, dtype=np.int64)
        empty[rows] = block.empty.sum(1, dtype=np.int64)
        for cell in range(cells):  # in cell order: a float sum must not depend on how it was cut
            sums[rows] += block.sums[:, cell]
    found = p_values(totals, replicates - empty, delta=observed.delta, identical=observed.identical, sums=sums)
    cube.write_table(metric, size, _table(found, layout.alpha))
    _write_scores(cube, layout, part, store, position)


@dataclass(frozen=True)
class Block:
    """Folded cells of a range of pairs."""

    counts: NDArray[np.int32]
    sums: NDArray[np.float64]
    empty: NDArray[np.int32]
    histogram: NDArray[np.int64]


def _fold(part: Slice, rows: slice, store: Store, cells: int, replicates: int) -> Block:
    flat = part.flat[rows]
    block = Block(
        np.zeros((flat.size, cells, len(COUNTS)), np.int32),
        np.zeros((flat.size, cells, len(SUMS))),
        np.zeros((flat.size, cells), np.int32),
        np.zeros((flat.size, BINS), np.int64),
    )
    filled = np.zeros((flat.size, cells), np.bool_)
    _fill_identical(block, filled, flat < 0, part.column.margin is not None, replicates)
    n = len(part.column.systems)
    for covered in part.coverage:
        # Where each pair of the triangle stands in this file; several pairs of the cube may share one.
        there = np.full(n * (n - 1) // 2, -1, np.int64)
        there[covered.pairs] = covered.source_pairs
        source = np.where(flat >= 0, there[flat], -1)
        if not (source >= 0).any():
            continue
        arrays = _open_cells(store, covered.receipt)
        first_cell = int(covered.receipt.covers["first_cell"])
        for cell in covered.cells:
            new = np.flatnonzero((source >= 0) & ~filled[:, cell])
            if not new.size:
                continue
            at, local = source[new], cell - first_cell
            block.counts[new, cell] = arrays[f"{covered.slot}/counts"][at, local]
            block.sums[new, cell] = arrays[f"{covered.slot}/sums"][at, local]
            block.empty[new, cell] = arrays[f"{covered.slot}/empty"][at, local]
            block.histogram[new] += arrays[f"{covered.slot}/histogram"][at, local]
            filled[new, cell] = True
    if not filled.all():
        raise RuntimeError(
            f"{int((~filled).sum())} of {filled.size} cells of {part.column.metric.name} [{part.size.label}] are not there"
        )
    return block


@lru_cache(maxsize=2**16)
def _is_sound(path: Path, checksum: str, modified: int) -> bool:
    """Read a file whole, once, and raise where its bytes are not those that were written."""
    read_arrays(path, checksum)
    return True


def _open_cells(store: Store, receipt: Receipt) -> dict[str, NDArray[Any]]:
    """Map a file of cells: pages are read as they are needed, but only after all of it was found sound."""
    path = store.root / receipt.file
    if path.is_file():
        _is_sound(path, receipt.checksum, path.stat().st_mtime_ns)
    return read_arrays(path, memory_map=True)


def _fill_identical(block: Block, filled: NDArray[np.bool_], same: NDArray[np.bool_], margin: bool, replicates: int) -> None:
    """Count pairs whose statistics are one and the same: every δ* is 0, on every replicate."""
    for cell in range(filled.shape[1]):
        first, stop = cell_bounds(cell, replicates)
        ties = [0, stop - first, 0, stop - first, stop - first, 0, *([0, 0] if margin else [-1, -1])]
        block.counts[same, cell] = ties
        block.histogram[same, BINS // 2] += stop - first
    filled[same] = True


def _table(found: PValues, alpha: float) -> dict[str, NDArray[Any]]:
    adjusted = np.stack([[adjust(row) for adjust in ADJUSTMENTS.values()] for row in found.p])
    return {
        "p_value": found.p,
        "log10_p": found.log10_p,
        "p_error": found.p_error,
        "method": np.where(np.isnan(found.p), -1, np.where(found.by_definition, _DEFINITION, _MONTE_CARLO)).astype(np.int8),
        "stable": found.stable(alpha, found.p.shape[1]),
        "bias": found.bias,
        "p_adjusted": adjusted,
    }


def _write_scores(cube: CubeWriter, layout: CubeLayout, part: Slice, store: Store, position: list[int]) -> None:
    kept = layout.sizes["replicate"]
    for cell in range(-(-kept // CELL)):
        first, stop = cell * CELL, min((cell + 1) * CELL, kept)
        scores = np.full((len(part.column.systems), stop - first), np.nan)
        missing = np.ones(len(part.column.systems), np.bool_)
        for covered, offset, arrays in _kept_sources(part, store, cell):
            scores[covered.kept] = arrays[f"{covered.slot}/score"][covered.source_kept, offset : offset + stop - first]
            missing[covered.kept] = False
        if missing.any():
            raise RuntimeError(f"kept scores of cell {cell} of {part.column.metric.name} [{part.size.label}] are not there")
        cube.write_scores(part.column.metric.name, part.size.label, first, scores[position])


def _kept_sources(part: Slice, store: Store, cell: int) -> Iterator[tuple[Coverage, int, dict[str, NDArray[Any]]]]:
    for covered in part.coverage:
        if cell in covered.cells and covered.kept.size:
            offset = (cell - int(covered.receipt.covers["first_cell"])) * CELL
            yield covered, offset, _open_cells(store, covered.receipt)


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
