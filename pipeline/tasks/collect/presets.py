"""The p that a preset's own tool or paper would give for a pair, computed when a cube is collected; no verdict uses it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.cubes.cube import CubeWriter
from pipeline.cubes.declarations import TOOL_REASONS
from pipeline.cubes.layout import CubeLayout
from pipeline.dataclass import dataclass
from pipeline.inference.p_values import counted_p
from pipeline.interfaces import PresetData, PresetNumbers, PresetRule
from pipeline.metrics.registry import load_metric
from pipeline.plan.comparisons import Comparison
from pipeline.plugins import import_function
from pipeline.presets.registry import PRESETS
from pipeline.store.runs import Store
from pipeline.tasks.collect.cube_slice import Part
from pipeline.tasks.collect.kept_scores import Kept
from pipeline.tasks.extract import load_statistics

__all__ = ["Tool", "own_presets", "preset_facts", "write_tool_p"]


@dataclass(frozen=True)
class Tool:
    """The computation of a preset's own numbers for one test set.

    Parameters
    ----------
    preset : str
    baseline : str
        The system that a tool compares all others with.
    seed, replicates : int
        The study's: a tool is asked for as many.
    references : int
        How many each segment has.
    """

    preset: str
    baseline: str
    seed: int
    replicates: int
    references: int


def own_presets(preset: str | None) -> tuple[str, ...]:
    """Return the preset if it has a number of its own to compute here."""
    return (preset,) if preset is not None and PRESETS[preset].procedures else ()


def preset_facts(preset: str | None, tool: Tool | None = None) -> dict[str, Any]:
    """Return what a cube says about its preset, with the system that its tool compares others with, if any; nothing without one."""
    if preset is None:
        return {}
    known = PRESETS[preset]
    facts = {
        "name": known.name,
        "rules": [[rule.procedure, rule.convention] for rule in known.rules if not rule.analysis],
        "replicates": known.replicates,
        "prints": known.prints,
        "null": known.null,
        "misleads": known.misleads,
        "reference": known.reference,
        "baseline": tool.baseline if tool is not None and known.compares_with_baseline else None,
    }
    return {"preset": facts}


def write_tool_p(cube: CubeWriter, part: Part, column: Comparison, counted: Mapping[str, Kept], store: Store, tool: Tool) -> None:
    """Write the own numbers of a preset for all pairs of one metric at the full size.

    Parameters
    ----------
    cube : CubeWriter
    part : Part
    column : Comparison
        Any column of the metric: it says which statistics are whose.
    counted : mapping of str to Kept
        By procedure. A rule whose procedure is not in the study has no number.
    store : Store
    tool : Tool
    """
    for rule in PRESETS[tool.preset].rules:
        if rule.procedure not in cube.layout.procedures:
            continue
        if rule.compute:
            found = _computed(rule, _data(column, cube.layout, store, tool))
        else:
            found = _counted(rule, part, counted[rule.procedure])
        reason = np.where(np.isnan(found.p), TOOL_REASONS.index(found.why_none), 0).astype(np.int8)
        values: dict[str, NDArray[Any]] = {"tool_p": found.p[None], "tool_reason": reason[None]}
        cube.write_table(part.metric, part.size.label, values, procedure=rule.procedure)


def _counted(rule: PresetRule, part: Part, kept: Kept) -> PresetNumbers:
    """Return the numbers from counts, or from kept scores."""
    if rule.counts:
        return PresetNumbers(counted_p(rule.counts, kept.counts, kept.defined, plus_one=rule.plus_one), "no-replicate")
    if not kept.scores.size:
        return PresetNumbers(np.full(len(kept.counts), np.nan), "no-kept-replicates")
    observed = part.observed
    found = import_function(rule.kept)(
        kept.scores, part.measure.pairs, score=observed.score, delta=observed.delta, identical=observed.identical
    )
    return PresetNumbers(found.own, "no-replicate")


def _computed(rule: PresetRule, data: PresetData) -> PresetNumbers:
    found = import_function(rule.compute)(data)
    if not isinstance(found, PresetNumbers) or found.p.shape != (len(data.pairs),) or found.why_none not in TOOL_REASONS:
        raise ValueError(f"{rule.compute} returned no PresetNumbers of {len(data.pairs)} pairs with one of {TOOL_REASONS}")
    return found


def _data(column: Comparison, layout: CubeLayout, store: Store, tool: Tool) -> PresetData:
    systems = list(layout.systems)

    def load(places: Sequence[int]) -> NDArray[np.int64]:
        return np.stack([load_statistics(store, column.key_of[systems[place]]).values for place in places], axis=1)

    return PresetData(
        metric=load_metric(column.metric.name, dict(column.metric.options)),
        systems=len(systems),
        pairs=layout.pairs,
        load=load,
        baseline=systems.index(tool.baseline) if tool.baseline in systems else None,
        seed=tool.seed,
        replicates=tool.replicates,
        references=tool.references,
    )
