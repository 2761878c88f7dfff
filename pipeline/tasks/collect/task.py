"""The collecting task: stored cells folded into the cube of a test set, the same whatever blocks made them.

If items belong to units or documents, the cube also has each pair's design effect, from the statistics of items: how much more
gains vary because items of one unit or document are alike (`measure_clusters`).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from pipeline.cubes.cube import CubeWriter
from pipeline.cubes.pieces import EncodedPieces
from pipeline.cubes.variables import CHUNKS
from pipeline.inference.multiple_comparisons.studentised_max_t import StudentisedMaxT
from pipeline.items.stored import load_frame
from pipeline.metrics.registry import load_metric
from pipeline.plan.comparisons import Size, list_comparisons, list_sizes
from pipeline.plan.inputs import OutputInputs, TestSetInputs
from pipeline.plan.task import CollectSpec, Receipt, Task
from pipeline.procedures.registry import PROCEDURES
from pipeline.record.manifest import Manifest
from pipeline.store.array_files import read_arrays
from pipeline.store.runs import RunDirectory, Store
from pipeline.tasks.collect.clusters import groups_of_items
from pipeline.tasks.collect.cube_layout import Collected, make_tool, read_collected
from pipeline.tasks.collect.cube_slice import Part, make_part
from pipeline.tasks.collect.fold import opening_once
from pipeline.tasks.collect.kept_scores import Kept
from pipeline.tasks.collect.pairs import PairResults, read_together, stored_cells
from pipeline.tasks.collect.presets import write_tool_p
from pipeline.tasks.collect.shard import columns_of, write_shard
from pipeline.tasks.collect.tables import read_kept_counts, read_kept_replicates, read_pairs, write_family
from pipeline.tasks.extract import load_statistics

__all__ = ["collect"]


def collect(task: Task, runs: Path) -> Receipt:
    """Write the cube of one test set from the cells that the run's ledger names, or from its shards, and what needs all pairs."""
    spec = task.spec
    assert isinstance(spec, CollectSpec)
    run = RunDirectory(runs / spec.run)
    collected = read_collected(run, spec.test_set)
    manifest, test_set, layout = collected.manifest, collected.test_set, collected.layout
    shards = [collected.inventory.receipts[key] for key in spec.shards]
    with opening_once(), CubeWriter(run.cubes, layout) as cube:
        for shard in shards:
            cube.adopt(EncodedPieces(read_arrays(run.store.root / shard.file, shard.checksum)))
        for size in list_sizes(manifest.study, test_set):
            for metric in manifest.inputs.metrics:
                _write_size(cube, collected, size, metric.name, sharded=bool(shards))
        for metric in manifest.inputs.metrics:
            _write_statistics(cube, run.store, test_set, metric.name, dict(metric.options), manifest, collected.present)
    return Receipt("collect", task.key, task.label, run.cubes.name, "", 0.0, "", {"test_set": test_set.name})


def _write_size(cube: CubeWriter, collected: Collected, size: Size, metric: str, *, sharded: bool) -> None:
    """Write one metric on one test size: what needs all pairs, and the rest unless shards have written it."""
    study, store, test_set, layout = collected.manifest.study, collected.run.store, collected.test_set, cube.layout
    own = columns_of(collected, size, metric)
    together = read_together(layout, size.label)
    found: dict[str, PairResults] = {}
    part: Part | None = None
    if not sharded or together:
        part = make_part(store, test_set, layout, own[0], size)  # procedures have systems and statistics in common
    if sharded:
        found = {name: read_pairs(cube, metric, size.label, name) for name in layout.procedures}
    elif part is not None:
        found = write_shard(cube, collected, part, own, slice(0, len(layout.systems)))
    counted: dict[str, Kept] = {}
    max_t: dict[str, StudentisedMaxT | None] = {}
    for column in own:
        procedure = column.procedure
        kept = found[procedure].kept
        if part is not None and together and PROCEDURES[procedure].keeps_scores:
            kept = kept or read_kept_counts(cube, metric, size.label, procedure, column.replicates)
            cells = stored_cells(part, column, collected.inventory)
            rule = study.resampling.test_sizes.draw
            kept, max_t[procedure] = read_kept_replicates(cube, part, cells, kept, store, rule=rule)
        if kept is not None:
            counted[procedure] = kept
    for procedure, pairs in found.items():
        write_family(cube, metric, size.label, procedure, pairs, max_t.get(procedure))
    if layout.presets and part is not None and size.n_units == test_set.n_units:  # no preset's study has shards
        write_tool_p(cube, part, own[0], counted, store, make_tool(collected.manifest, test_set, layout.presets[0]))


def _write_statistics(
    cube: CubeWriter,
    store: Store,
    test_set: TestSetInputs,
    metric: str,
    options: dict[str, Any],
    manifest: Manifest,
    present: tuple[OutputInputs, ...],
) -> None:
    full = list_sizes(manifest.study, test_set)[-1]
    columns = list_comparisons(manifest.study, manifest.inputs, test_set, full, present)
    column = next(c for c in columns if c.metric.name == metric)
    loaded = [load_statistics(store, column.key_of[output.system]) for output in present]
    decimals = tuple(int(d) for d in np.max([s.decimals for s in loaded], axis=0))
    frame = load_frame(store, test_set.frame)
    names = load_metric(metric, options).statistics
    groups = groups_of_items(store, test_set, np.asarray(frame.unit_of_item, np.int64))
    for first in range(0, len(loaded), CHUNKS["system"]):
        some = loaded[first : first + CHUNKS["system"]]
        factors = [[10 ** (d - own) for d, own in zip(decimals, statistics.decimals, strict=True)] for statistics in some]
        values = np.stack([s.values * np.array(factor, np.int64) for s, factor in zip(some, factors, strict=True)])
        cube.write_statistics(
            metric,
            values,
            ids=frame.ids,
            units=frame.unit_of_item,
            statistics=names,
            decimals=decimals,
            groups=groups,
            first_system=first,
        )
