"""A shard of a cube: whole chunks of pairs of one metric on one test size, made by a task of its own if pairs are many."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pipeline.cubes.cube import CubeWriter
from pipeline.cubes.pieces import PieceWriter
from pipeline.inference.direct.scores import count_right, gain_of_a_win
from pipeline.plan.comparisons import Comparison, Size, list_comparisons, list_sizes
from pipeline.plan.task import Receipt, ShardSpec, Task
from pipeline.procedures.direct import direct_tests
from pipeline.procedures.registry import PROCEDURES
from pipeline.resampling.standard_errors.influence import left_out_of, score_errors
from pipeline.resampling.standard_errors.leverage import pair_leverage
from pipeline.store.array_files import write_arrays
from pipeline.store.runs import RunDirectory
from pipeline.tasks.collect.clusters import measure_clusters
from pipeline.tasks.collect.cube_layout import Collected, read_collected
from pipeline.tasks.collect.cube_slice import Part, make_part
from pipeline.tasks.collect.fold import opening_once
from pipeline.tasks.collect.pairs import (
    PairResults,
    hold_scores,
    stored_cells,
    write_computed_pairs,
    write_counted_pairs,
    write_scores,
)

__all__ = ["collect_shard", "columns_of", "write_shard"]


def collect_shard(task: Task, runs: Path) -> Receipt:
    """Make the chunks of a cube that hold a range of pairs, and of systems, from the cells that the run's ledger names."""
    spec = task.spec
    assert isinstance(spec, ShardSpec)
    collected = read_collected(RunDirectory(runs / spec.run), spec.test_set)
    size = next(size for size in list_sizes(collected.manifest.study, collected.test_set) if size.label == spec.size)
    own = columns_of(collected, size, spec.metric)
    # A system may have failed since: then the cube is another one, and so are its shards.
    rows, systems = slice(spec.first_pair, spec.stop_pair), slice(spec.first_system, spec.stop_system)
    store = collected.run.store
    part = make_part(store, collected.test_set, collected.layout, own[0], size, rows)
    with opening_once(), PieceWriter(collected.layout) as piece:
        write_shard(piece, collected, part, own, systems)
    path = store.path("shards", task.key, ".arrays")
    checksum = write_arrays(path, piece.chunks())
    return Receipt("shard", task.key, task.label, store.relative(path), checksum, 0.0, "", {"test_set": spec.test_set})


def columns_of(collected: Collected, size: Size, metric: str) -> tuple[Comparison, ...]:
    """Return the columns of one metric on one test size, one for each procedure that draws."""
    manifest = collected.manifest
    columns = list_comparisons(manifest.study, manifest.inputs, collected.test_set, size, collected.present)
    return tuple(column for column in columns if column.metric.name == metric)


def write_shard(
    cube: CubeWriter, collected: Collected, part: Part, own: tuple[Comparison, ...], systems: slice
) -> dict[str, PairResults]:
    """Write, for the pairs of a part, everything that depends on no other pair, and the kept scores of some systems.

    Returns
    -------
    dict of str to PairResults
        By procedure, for all that draw and all that compute.
    """
    asked, store = collected.manifest.study.resampling, collected.run.store
    _write_observed(cube, part)
    _write_influence(cube, part)
    if collected.clusters is not None:
        effects = measure_clusters(store, collected.test_set, collected.clusters, own[0], part)
        cube.write_unit_effects(part.metric, part.size.label, **vars(effects), first_pair=part.first)
    found: dict[str, PairResults] = {}
    for column in own:
        procedure = column.procedure
        if PROCEDURES[procedure].draws:
            cells = stored_cells(part, column, collected.inventory)
            scores = None
            if PROCEDURES[procedure].keeps_scores and cube.layout.sizes["replicate"]:
                # Intervals and max-T read all systems as well; where all are written, they are read only once.
                all_of_them = systems == slice(0, len(cube.layout.systems))
                scores = hold_scores(part, cells, cube.layout, store) if all_of_them else None
                write_scores(cube, part, cells, store, systems, scores)
            given: dict[str, Any] = {"tails": asked.tails, "rule": asked.test_sizes.draw, "scores": scores}
            found[procedure] = write_counted_pairs(cube, part, cells, store, **given)
    for procedure, p in direct_tests(asked.computed, part.measure, part.observed).items():
        found[procedure] = write_computed_pairs(cube, part, procedure, p)
    return found


def _write_observed(cube: CubeWriter, part: Part) -> None:
    observed = part.observed
    of_pairs = {
        "observed_delta": part.turn(observed.delta),
        "se": observed.se,
        "discordant": observed.discordant,
        "identical": observed.identical,
        "acceleration": part.turn(part.moments.acceleration) * (1 if part.measure.higher_is_better else -1),  # of gains
        "kurtosis": part.moments.kurtosis,
        "p_sign_flip": part.p_sign_flip,
    }
    cube.write_columns(part.metric, part.size.label, of_pairs, first_pair=part.first)
    if part.rows.start == 0:  # once
        of_systems = {"observed_score": observed.score[part.position], "units_right": count_right(part.measure)[part.position]}
        cube.write_columns(part.metric, part.size.label, of_systems)


def _write_influence(cube: CubeWriter, part: Part) -> None:
    """Write the unit with the largest influence on each pair, what a win is worth, and the standard errors of scores."""
    measure = part.measure
    left_out = left_out_of(measure)
    if part.rows.start == 0:  # once
        errors = score_errors(left_out, stratum=measure.stratum)
        cube.write_columns(part.metric, part.size.label, {"score_se": errors[part.position]})
    found = pair_leverage(left_out, measure.pairs, stratum=measure.stratum)
    without = part.turn(found.without if measure.higher_is_better else -found.without)
    win = gain_of_a_win(measure)
    cube.write_influence(
        part.metric, part.size.label, share=found.share, unit=found.unit, without=without, win=win, first_pair=part.first
    )
