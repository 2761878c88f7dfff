"""The layout of a test set's cube, fixed before any cell is read: every task that writes a part of the cube follows it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from pipeline.cubes.declarations import UNIT_EFFECTS
from pipeline.cubes.layout import CubeLayout, MetricInfo
from pipeline.dataclass import dataclass
from pipeline.inference.intervals.bootstrap_t import BOOTSTRAP_T
from pipeline.inference.p_values import CONVENTIONS
from pipeline.inference.unit_diagnostics.units import effective_units
from pipeline.items.stored import load_frame
from pipeline.plan.comparisons import list_sizes
from pipeline.plan.inputs import MetricInputs, OutputInputs, TestSetInputs
from pipeline.plan.inventory import Inventory
from pipeline.plan.methods import Method, list_methods
from pipeline.plan.open_tasks import present_outputs
from pipeline.plan.task import triangle
from pipeline.procedures.registry import PROCEDURES
from pipeline.record.known_runs import read_run
from pipeline.record.manifest import Manifest
from pipeline.resampling.measures import BINS
from pipeline.resampling.standard_errors.studentise_budget import replicates_again, replicates_within
from pipeline.store.runs import RunDirectory, Store
from pipeline.study.schema import Study
from pipeline.tasks.collect.clusters import Clusters, load_clusters, strata_facts
from pipeline.tasks.collect.pairs import INTERVAL_P, MAX_T_WITHIN
from pipeline.tasks.collect.presets import Tool, own_presets, preset_facts
from pipeline.tasks.collect.tables import ADJUSTMENTS, EXACT, MAX_T

__all__ = ["Collected", "make_tool", "read_collected"]


@dataclass(frozen=True, eq=False)
class Collected:
    """A test set of a run, its finished tasks, and the cube to be written."""

    run: RunDirectory
    manifest: Manifest
    inventory: Inventory
    test_set: TestSetInputs
    present: tuple[OutputInputs, ...]
    clusters: Clusters | None
    layout: CubeLayout


def read_collected(run: RunDirectory, name: str) -> Collected:
    """Read what a cube is made from."""
    manifest, inventory = read_run(run)
    test_set = next(t for t in manifest.inputs.test_sets if t.name == name)
    present, _ = present_outputs(manifest.study, manifest.inputs, test_set, inventory)
    clusters = load_clusters(run.store, test_set)
    facts = _effective_units(run.store, manifest, test_set)
    facts |= {**(clusters.facts() if clusters else {}), **strata_facts(run.store, manifest.study, test_set)}
    facts |= _max_t_facts(manifest.study, test_set)
    without = [*([] if clusters else [v.name for v in UNIT_EFFECTS]), *([] if _asks_bootstrap_t(manifest) else [INTERVAL_P])]
    layout = _layout(manifest, test_set, present, facts, without=without)
    return Collected(run, manifest, inventory, test_set, present, clusters, layout)


def _max_t_facts(study: Study, test_set: TestSetInputs) -> dict[str, Any]:
    """Return how many kept replicates would bring max-T within its budget; nothing if it is within it.

    This depends on the systems that the study names, as the plan does, and not on which of them could be trained.
    """
    systems, kept = len(test_set.outputs), study.resampling.scores_kept
    fitting = replicates_within(systems=systems, units=test_set.n_units, kept=kept)
    return {} if fitting is None else {MAX_T_WITHIN: fitting}


def _asks_bootstrap_t(manifest: Manifest) -> bool:
    return not set(BOOTSTRAP_T).isdisjoint(manifest.study.resampling.intervals)


def make_tool(manifest: Manifest, test_set: TestSetInputs, preset: str) -> Tool:
    """Return the input for a preset's tool."""
    study = manifest.study
    # The first system is the baseline unless the study names one, as in the tools that have a baseline.
    baseline = study.resampling.baseline or test_set.outputs[0].system
    return Tool(preset, baseline, study.seed, study.resampling.replicates, len(study.test_sets[test_set.name].references))


def _effective_units(store: Store, manifest: Manifest, test_set: TestSetInputs) -> dict[str, Any]:
    """Return (Σ n_g)² / Σ n_g², the number of equal units that would be worth as much: for all units, and for each test size."""
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
        # For procedures that draw nothing a cube has always held what the study asks.
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
            **preset_facts(study.preset, make_tool(manifest, test_set, study.preset) if study.preset is not None else None),
        },
        without=without,
    )


def _exact_facts(methods: Sequence[tuple[MetricInputs, str, Method]]) -> dict[str, Any]:
    """Return how many replicates were drawn beside exact p-values, by procedure and metric; nothing if all are counted."""
    exact: dict[str, dict[str, int]] = {}
    for metric, procedure, method in methods:
        if method.exact:
            exact.setdefault(procedure, {})[metric.name] = method.replicates
    return {EXACT: exact} if exact else {}
