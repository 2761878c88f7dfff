"""The p that a preset's own tool or paper has for a pair. This module computes it when a cube is collected; no verdict uses it.

Two presets draw as sacreBLEU does, from the segments and with the study's seed; the others are read off what was counted.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.cubes.cube import CubeWriter
from pipeline.cubes.layout import CubeLayout
from pipeline.cubes.variables import TOOL_REASONS
from pipeline.inference.conventions import riezler_maxwell
from pipeline.metrics.bleu import Bleu
from pipeline.metrics.chrf import Chrf
from pipeline.metrics.registry import load_metric
from pipeline.metrics.ter import Ter
from pipeline.plan.comparisons import Comparison
from pipeline.presets.sacrebleu_paired import PairedResults, paired_bootstrap, paired_randomization
from pipeline.presets.sacrebleu_scores import BleuRow, ChrfRow, RowScore, TerRow
from pipeline.presets.table import PRESETS, PresetRule, own_p
from pipeline.store.runs import Store
from pipeline.study.presets import COMPARES_WITH_BASELINE
from pipeline.tasks.collect.cube_slice import Part
from pipeline.tasks.collect.kept_scores import Kept
from pipeline.tasks.extract import load_statistics

__all__ = ["Tool", "own_presets", "preset_facts", "write_tool_p"]

DRAWN_BYTES = 2**30
"""For the draws that sacreBLEU makes at once."""

SYSTEMS = 32
"""Whose segments are held at a time, beside the baseline's."""


@dataclass(frozen=True)
class Tool:
    """What the preset of a study asks of one test set.

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


@dataclass(frozen=True, eq=False)
class _Numbers:
    p: NDArray[np.float64]
    reason: NDArray[np.int8]


def own_presets(preset: str | None) -> tuple[str, ...]:
    """Return the preset if it has a number that is computed here."""
    return (preset,) if preset is not None and not all(rule.analysis for rule in PRESETS[preset].rules) else ()


def preset_facts(preset: str | None, tool: Tool | None = None) -> dict[str, Any]:
    """Return what a cube says of its preset, with the system that its tool compares others with, if any: nothing without one."""
    if preset is None:
        return {}
    facts = asdict(PRESETS[preset]) | {"baseline": tool.baseline if tool is not None and preset in COMPARES_WITH_BASELINE else None}
    facts["rules"] = [[rule["procedure"], rule["convention"]] for rule in facts["rules"] if not rule["analysis"]]
    return {"preset": facts}


def write_tool_p(cube: CubeWriter, part: Part, column: Comparison, counted: Mapping[str, Kept], store: Store, tool: Tool) -> None:
    """Write the own numbers of a preset for all pairs of one metric at the full size.

    Parameters
    ----------
    cube : CubeWriter
    part : Part
    column : Comparison
        Any of the metric's: whose statistics are whose.
    counted : mapping of str to Kept
        By procedure. A rule of one that the study does not ask for has no number.
    store : Store
    tool : Tool
    """
    for rule in PRESETS[tool.preset].rules:
        if rule.procedure not in cube.layout.procedures:
            continue
        drawn = tool.preset in _DRAWN
        found = _drawn(column, cube.layout, store, tool) if drawn else _counted(rule, part, counted[rule.procedure])
        values: dict[str, NDArray[Any]] = {"tool_p": found.p[None], "tool_reason": found.reason[None]}
        cube.write_table(part.metric, part.size.label, values, procedure=rule.procedure)


def _counted(rule: PresetRule, part: Part, kept: Kept) -> _Numbers:
    """Read numbers off counts, those of a fold off kept scores."""
    if rule.counts:
        return _known(own_p(rule, kept.counts, kept.defined), "no-replicate")
    if not kept.scores.size:
        return _known(np.full(len(kept.counts), np.nan), "no-kept-replicates")
    observed = part.observed
    found = riezler_maxwell(
        kept.scores, part.measure.pairs, score=observed.score, delta=observed.delta, identical=observed.identical
    )
    return _known(found.own, "no-replicate")


def _known(p: NDArray[np.float64], why: str) -> _Numbers:
    return _Numbers(p, np.where(np.isnan(p), TOOL_REASONS.index(why), 0).astype(np.int8))


def _drawn(column: Comparison, layout: CubeLayout, store: Store, tool: Tool) -> _Numbers:
    """Run the tool's own test of every system against the baseline."""
    systems, pairs = list(layout.systems), layout.pairs
    why, score = _why_none(column, systems, store, tool), _row_score(column)
    if why is not None or score is None:
        return _known(np.full(len(pairs), np.nan), why or "not-a-metric-of-the-tool")
    first = systems.index(tool.baseline)
    others = [place for place in range(len(systems)) if place != first]
    p = np.full(len(systems), np.nan)
    for start in range(0, len(others), SYSTEMS):
        some = others[start : start + SYSTEMS]
        values = np.stack([load_statistics(store, column.key_of[systems[place]]).values for place in (first, *some)], axis=1)
        # Edits and lengths of TER are stored times the number of references, as integers; the tool has them divided.
        divided = values / tool.references if isinstance(score, TerRow) else values
        p[some] = _DRAWN[tool.preset].test(divided, score, tool).p[1:]
    is_first = pairs == first
    other = np.where(is_first[:, 0], pairs[:, 1], pairs[:, 0])
    return _known(np.where(is_first.any(axis=1), p[other], np.nan), "not-with-the-baseline")


def _why_none(column: Comparison, systems: list[str], store: Store, tool: Tool) -> str | None:
    """Return why no pair has a number, before anything is drawn."""
    if tool.baseline not in systems:
        return "not-with-the-baseline"
    if tool.seed < 1:
        return "not-a-seed-of-the-tool"  # sacreBLEU takes 0 for no seed
    segments = len(load_statistics(store, column.key_of[tool.baseline]).values)
    return "too-many-draws" if segments * tool.replicates * _DRAWN[tool.preset].width > DRAWN_BYTES else None


def _row_score(column: Comparison) -> RowScore | None:
    metric = load_metric(column.metric.name, dict(column.metric.options))
    if isinstance(metric, Bleu):
        return BleuRow(metric.smooth, metric.smooth_value, metric.effective_order)
    if isinstance(metric, Chrf):
        return ChrfRow(metric.beta, metric.eps_smoothing)
    return TerRow() if isinstance(metric, Ter) else None


def _bootstrap(values: NDArray[Any], score: RowScore, tool: Tool) -> PairedResults:
    return paired_bootstrap(values, score=score, replicates=tool.replicates, seed=tool.seed)


def _randomization(values: NDArray[Any], score: RowScore, tool: Tool) -> PairedResults:
    return paired_randomization(values, score=score, trials=tool.replicates, seed=tool.seed)


@dataclass(frozen=True)
class _Drawn:
    test: Callable[[NDArray[Any], RowScore, Tool], PairedResults]
    width: int  # bytes of one draw of one segment


_DRAWN = {"sacrebleu-bs": _Drawn(_bootstrap, 8), "sacrebleu-ar": _Drawn(_randomization, 1)}
