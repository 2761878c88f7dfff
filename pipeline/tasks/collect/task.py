"""The collecting task: stored cells folded into the cube of a test set, the same whatever blocks made them.

Where items stand together, in units or in documents, the cube also has each pair's design effect, from the statistics of items:
how much items that stand together move together (`measure_clusters`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.cubes.cube import CubeWriter
from pipeline.cubes.layout import CubeLayout, MetricInfo
from pipeline.cubes.variables import CHUNKS, UNIT_EFFECTS
from pipeline.inference.bootstrap_t import BOOTSTRAP_T
from pipeline.inference.direct.scores import count_right, gain_of_a_win
from pipeline.inference.p_values import CONVENTIONS
from pipeline.inference.units import UnitEffects, effective_units, unit_effects
from pipeline.items.stored import load_frame, load_grouping, number_groups
from pipeline.metrics.registry import load_metric
from pipeline.plan.comparisons import Comparison, list_comparisons, list_sizes
from pipeline.plan.inputs import MetricInputs, OutputInputs, TestSetInputs
from pipeline.plan.methods import Method, list_methods
from pipeline.plan.open_tasks import present_outputs
from pipeline.plan.task import CollectSpec, Receipt, Task, triangle
from pipeline.procedures.direct import direct_tests
from pipeline.procedures.registry import PROCEDURES
from pipeline.record.manifest import Manifest, read_inventory, read_manifest
from pipeline.resampling.influence import leave_one_out
from pipeline.resampling.leverage import pair_leverage
from pipeline.resampling.measures import BINS
from pipeline.resampling.studentise_budget import replicates_again, replicates_within
from pipeline.store.runs import RunDirectory, Store
from pipeline.study.grouping import DOCUMENT, ITEM
from pipeline.study.schema import Study
from pipeline.tasks.collect.cube_slice import Part, make_part
from pipeline.tasks.collect.kept_scores import Kept
from pipeline.tasks.collect.presets import Tool, own_presets, preset_facts, write_tool_p
from pipeline.tasks.collect.tables import (
    ADJUSTMENTS,
    EXACT,
    INTERVAL_P,
    MAX_T,
    MAX_T_WITHIN,
    stored_cells,
    write_computed,
    write_counts,
)
from pipeline.tasks.extract import load_statistics
from pipeline.tasks.resample import unit_statistics

__all__ = ["Clusters", "collect", "groups_of_items", "load_clusters", "measure_clusters", "strata_facts"]


@dataclass(frozen=True, eq=False)
class Clusters:
    """Items that stand together: the units, or the documents where items are drawn although these are known.

    Parameters
    ----------
    column : str
        Of the units, or ``document``.
    of_item : (item,) int64
        The cluster of each item.
    unit_of_item : (item,) int64
    """

    column: str
    of_item: NDArray[np.int64]
    unit_of_item: NDArray[np.int64]

    def facts(self) -> dict[str, Any]:
        """Return what a cube says of them."""
        sizes = np.bincount(self.of_item)
        return {"clusters": {"column": self.column, "count": len(sizes), "effective": effective_units(sizes)}}


def load_clusters(store: Store, test_set: TestSetInputs) -> Clusters | None:
    """Return the clusters of a test set; None where items are drawn and nobody knows their documents."""
    unit_of_item = np.asarray(load_frame(store, test_set.frame).unit_of_item, np.int64)
    if test_set.unit != ITEM:
        return Clusters(test_set.unit, unit_of_item, unit_of_item)
    if test_set.documents:
        return Clusters(DOCUMENT, load_grouping(store, test_set.documents), unit_of_item)
    return None


def groups_of_items(store: Store, test_set: TestSetInputs, unit_of_item: NDArray[np.int64]) -> dict[str, list[int]]:
    """Return the stratum of each item's unit and the document of each item, as far as they are known."""
    groups: dict[str, list[int]] = {}
    if test_set.strata:
        groups["stratum"] = load_grouping(store, test_set.strata)[unit_of_item].tolist()
    if test_set.documents:
        groups["document"] = load_grouping(store, test_set.documents).tolist()
    return groups


def measure_clusters(store: Store, test_set: TestSetInputs, clusters: Clusters, column: Comparison, part: Part) -> UnitEffects:
    """Return intra-cluster correlation and design effect of all pairs on one test size, from leave-one-item-out scores."""
    chosen = np.flatnonzero(clusters.unit_of_item < part.size.n_units)
    decimals = unit_statistics(store, test_set.frame, column.systems)[1]
    scores = np.empty((len(column.systems), len(chosen)))
    for row, key in enumerate(column.systems):  # one at a time: items of all systems together may not fit where units do
        statistics = load_statistics(store, key)
        factor = np.array([10 ** (d - own) for d, own in zip(decimals, statistics.decimals, strict=True)], np.int64)
        scores[row] = leave_one_out((statistics.values[chosen] * factor)[:, None], part.measure.score)[0]
    return unit_effects(scores, part.measure.pairs, unit=number_groups(clusters.of_item[chosen]))


def strata_facts(store: Store, study: Study, test_set: TestSetInputs) -> dict[str, Any]:
    """Return what a cube says of the strata at the full size; nothing where there are none."""
    if not test_set.strata:
        return {}
    sizes = np.bincount(load_grouping(store, test_set.strata))
    facts = {"count": len(sizes), "smallest": int(sizes.min()), "largest": int(sizes.max()), "alone": int(np.sum(sizes == 1))}
    return {"strata": {"column": study.resampling.strata, **facts}}


def max_t_facts(study: Study, test_set: TestSetInputs) -> dict[str, Any]:
    """Return how many kept replicates would bring max-T within its budget; nothing where it is within.

    It goes by the systems that were asked for, as the plan does: which ones were trained changes nothing.
    """
    systems, kept = len(test_set.outputs), study.resampling.scores_kept
    fitting = replicates_within(systems=systems, units=test_set.n_units, kept=kept)
    return {} if fitting is None else {MAX_T_WITHIN: fitting}


def collect(task: Task, runs: Path) -> Receipt:
    """Write the cube of one test set from the cells that the run's ledger names."""
    spec = task.spec
    assert isinstance(spec, CollectSpec)
    run = RunDirectory(runs / spec.run)
    manifest, inventory = read_manifest(run), read_inventory(run)
    test_set = next(t for t in manifest.inputs.test_sets if t.name == spec.test_set)
    present, _ = present_outputs(manifest.study, manifest.inputs, test_set, inventory)
    clusters = load_clusters(run.store, test_set)
    facts = _effective_units(run.store, manifest, test_set)
    facts |= {**(clusters.facts() if clusters else {}), **strata_facts(run.store, manifest.study, test_set)}
    facts |= max_t_facts(manifest.study, test_set)
    without = [*([] if clusters else [v.name for v in UNIT_EFFECTS]), *([] if _asks_bootstrap_t(manifest) else [INTERVAL_P])]
    layout = _layout(manifest, test_set, present, facts, without=without)
    with CubeWriter(run.cubes, layout) as cube:
        for size in list_sizes(manifest.study, test_set):
            columns = list_comparisons(manifest.study, manifest.inputs, test_set, size, present)
            for metric in manifest.inputs.metrics:
                own = tuple(column for column in columns if column.metric.name == metric.name)
                part = make_part(run.store, test_set, layout, own[0], size)  # procedures have systems and statistics in common
                _write_observed(cube, part)
                _write_influence(cube, part)
                if clusters is not None:
                    effects = measure_clusters(run.store, test_set, clusters, own[0], part)
                    cube.write_unit_effects(metric.name, size.label, **vars(effects))
                counted: dict[str, Kept] = {}
                for column in own:
                    if PROCEDURES[column.procedure].draws:
                        cells = stored_cells(part, column, inventory)
                        asked = manifest.study.resampling
                        read = {"tails": asked.tails, "rule": asked.test_sizes.draw}
                        counted[column.procedure] = write_counts(cube, part, cells, run.store, **read)
                computed = direct_tests(manifest.study.resampling.computed, part.measure, part.observed)
                for procedure, found in computed.items():
                    write_computed(cube, part, procedure, found)
                if layout.presets and size.n_units == test_set.n_units:
                    write_tool_p(cube, part, own[0], counted, run.store, _tool(manifest, test_set, layout.presets[0]))
        for metric in manifest.inputs.metrics:
            _write_statistics(cube, run.store, test_set, metric.name, dict(metric.options), manifest, present)
    return Receipt("collect", task.key, task.label, run.cubes.name, "", 0.0, "", {"test_set": test_set.name})


def _asks_bootstrap_t(manifest: Manifest) -> bool:
    return not set(BOOTSTRAP_T).isdisjoint(manifest.study.resampling.intervals)


def _tool(manifest: Manifest, test_set: TestSetInputs, preset: str) -> Tool:
    study = manifest.study
    # The first system is the baseline where nobody says, as of the tools that have one.
    baseline = study.resampling.baseline or test_set.outputs[0].system
    return Tool(preset, baseline, study.seed, study.resampling.replicates, len(study.test_sets[test_set.name].references))


def _effective_units(store: Store, manifest: Manifest, test_set: TestSetInputs) -> dict[str, Any]:
    """Return (Σ n_g)² / Σ n_g², the number of equal units that would be worth as much as these, of all and of each test size."""
    items = np.bincount(load_frame(store, test_set.frame).unit_of_item)
    worth = {size.label: effective_units(items[: size.n_units]) for size in list_sizes(manifest.study, test_set)}
    return {"effective_units": effective_units(items), "effective_units_by_size": worth}


def _layout(
    manifest: Manifest,
    test_set: TestSetInputs,
    present: tuple[OutputInputs, ...],
    facts: Mapping[str, Any],
    *,
    without: Sequence[str],
) -> CubeLayout:
    study, systems = manifest.study, [output.system for output in present]
    known = [manifest.inputs.coordinates.get(system, {}) for system in systems]
    names = sorted({name for coordinates in known for name in coordinates})
    first, second = triangle(len(systems))
    methods = list_methods(study, test_set, manifest.inputs.metrics)
    drawn = max(method.replicates for _, _, method in methods)
    return CubeLayout(
        study=study.study,
        test_set=test_set.name,
        metrics=[MetricInfo(m.name, m.signature, m.higher_is_better) for m in manifest.inputs.metrics],
        test_sizes=[(size.label, size.n_units) for size in list_sizes(study, test_set)],
        systems=systems,
        pairs=np.stack([first, second], axis=1),
        # Of procedures that draw nothing a cube has always said what the study asks.
        replicates=drawn if any(PROCEDURES[name].draws for name in study.resampling.procedures) else study.resampling.replicates,
        kept=study.resampling.scores_kept,
        again=replicates_again(study.resampling.scores_kept),
        bins=BINS,
        seed=study.seed,
        alpha=study.resampling.alpha,
        procedures=study.resampling.procedures,
        conventions=CONVENTIONS,
        adjustments=(*ADJUSTMENTS, MAX_T),
        intervals=study.resampling.intervals if study.resampling.scores_kept else (),
        presets=own_presets(study.preset),
        coordinates={name: [coordinates.get(name) for coordinates in known] for name in names},
        attrs={
            "unit": test_set.unit,
            "n_items": test_set.n_items,
            **facts,
            **_exact_facts(methods),
            "relation": study.systems.relation or "",
            "family": study.resampling.family,
            "baseline": study.resampling.family_baseline or "",
            "margin": dict(study.resampling.margin),
            **preset_facts(study.preset, _tool(manifest, test_set, study.preset) if study.preset is not None else None),
        },
        without=without,
    )


def _exact_facts(methods: Sequence[tuple[MetricInputs, str, Method]]) -> dict[str, Any]:
    """Return how many replicates were drawn beside exact p-values, by procedure and metric; nothing where all are counted."""
    exact: dict[str, dict[str, int]] = {}
    for metric, procedure, method in methods:
        if method.exact:
            exact.setdefault(procedure, {})[metric.name] = method.replicates
    return {EXACT: exact} if exact else {}


def _write_observed(cube: CubeWriter, part: Part) -> None:
    observed = part.observed
    cube.write_observed(
        part.metric,
        part.size.label,
        score=observed.score[part.position],
        delta=part.turn(observed.delta),
        se=observed.se,
        discordant=observed.discordant,
        identical=observed.identical,
        acceleration=part.turn(part.moments.acceleration) * (1 if part.measure.higher_is_better else -1),  # of gains
        kurtosis=part.moments.kurtosis,
        p_sign_flip=part.p_sign_flip,
        units_right=count_right(part.measure)[part.position],
    )


def _write_influence(cube: CubeWriter, part: Part) -> None:
    """Write the unit that each pair hangs on most, and what a win is worth where units score one of two values."""
    measure = part.measure
    found = pair_leverage(leave_one_out(measure.statistics, measure.score), measure.pairs, stratum=measure.stratum)
    without = part.turn(found.without if measure.higher_is_better else -found.without)
    win = gain_of_a_win(measure)
    cube.write_influence(part.metric, part.size.label, share=found.share, unit=found.unit, without=without, win=win)


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
