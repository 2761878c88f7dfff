"""The number of a study's preset in the words of a report: its column, what it says, where it misleads. No verdict uses it."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

from pipeline.interfaces import Check, Method
from pipeline.presets.registry import PRESETS
from pipeline.report.document import Report
from pipeline.report.facts import PresetFacts
from pipeline.report.input import ReportInput
from pipeline.report.pairs.columns import coded, numbers
from pipeline.report.pairs.cube_facts import read_variable
from pipeline.report.pairs.pair_set import PairSet
from pipeline.report.pairs.pairs import Pairs
from pipeline.report.values import MISSING, format_p, plain

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["add_tool_column", "add_tool_p", "describe_preset", "preset_methods", "tell_preset", "trust_preset"]

WORDS = {
    "not-with-the-baseline": "the tool compares with the baseline only",
    "not-a-metric-of-the-tool": "the tool has no such metric",
    "not-a-seed-of-the-tool": "the tool takes the seed 0 for no seed, and draws other samples every time",
    "too-many-draws": "the tool draws all replicates at once, and these are more than 1 GiB",
    "no-kept-replicates": "it is read off kept replicates, and none were kept",
    "no-replicate": "no replicate gives both a score",
}
"""Why a pair has no number of the tool's own, by the code in the cube."""


def describe_preset(report: ReportInput) -> PresetFacts | None:
    """Return what a report says of its preset: None without one, or where no cube has it."""
    study = report.study
    facts = next((cube.attrs["preset"] for cube in report.cubes.values() if cube.attrs.get("preset")), None)
    if facts is None or study.preset is None or study.preset != facts["name"]:
        return None
    used = set(study.resampling.procedures)
    lacking = [procedure for procedure, _ in facts["rules"] if procedure not in used]
    missing = [f"no number of its own: it goes with {procedure}, which the study does not ask for" for procedure in lacking]
    if not facts["rules"]:
        missing = [
            f"its number is of models with several runs each: the column {rule.procedure} of the analysis {rule.analysis}"
            for rule in PRESETS[study.preset].rules
        ]
    named = {test_set: (cube.attrs.get("preset") or {}).get("baseline") for test_set, cube in report.cubes.items()}
    told = {name: plain(facts[name]) for name in ("name", "null", "prints", "misleads", "reference")}
    return PresetFacts(
        **told,
        procedures=[procedure for procedure, _ in facts["rules"]],
        baselines={test_set: str(baseline) for test_set, baseline in named.items() if baseline},
        missing=missing,
        deviations=list(study.deviations),
    )


def add_tool_p(pairs: PairSet, cube: xr.Dataset, *, metric: str, procedure: str) -> PairSet:
    """Add ``tool_p`` to the pairs of one family: the number under the preset's name, or the reason why not; nothing without one."""
    if "tool_p" not in cube:
        return pairs
    (name,) = cube["preset"].values.tolist()
    where = {"preset": name, "metric": metric, "procedure": procedure}
    codes = dict(enumerate(str(cube["tool_reason"].attrs["flag_meanings"]).split()))
    words: dict[str, str | None] = {
        word: WORDS.get(word, f"{name} has no number of {procedure}") for word in (*codes.values(), "other")
    }
    words[codes.get(0, "")] = WORDS.get(codes.get(0, ""))
    p, found = (np.asarray(read_variable(cube, variable, **where)) for variable in ("tool_p", "tool_reason"))
    known = np.isin(found, list(codes))
    reason = coded(np.where(known, found, len(codes)), [*(words[word] for word in codes.values()), words["other"]])
    return pairs.with_columns({f"tool_p.{name}": numbers(p, len(p)), "tool_p.reason": reason})


def add_tool_column(
    report: Report, pairs: Pairs, columns: Sequence[str], cells: Sequence[tuple[str, ...]]
) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]:
    """Put the tool's own numbers behind the last column of a table of these pairs, where any of them has one."""
    preset = report.preset
    own = pairs.values(f"tool_p.{preset.name}").tolist() if preset else []
    if not preset or all(p is None for p in own):
        return tuple(columns), tuple(cells)
    told = tuple((*row, _format(p)) for row, p in zip(cells, own, strict=True))
    return (*columns, preset.name), told


def tell_preset(report: Report) -> list[str]:
    """Say what the column is, where it misleads, and what the study has otherwise; nothing without a preset."""
    preset = report.preset
    if not preset:
        return []
    name = preset.name
    own = [f"{name}: the p that the tool or paper has; no verdict uses it. {preset.misleads}"] if preset.procedures else []
    why = dict.fromkeys(chain.from_iterable(pairs.values("tool_p.reason").tolist() for pairs in report.pairs_of.values()))
    reasons = [f"{MISSING} under {name}: {reason}." for reason in why if reason]
    return [*own, *_tell_baselines(preset), *reasons, *(f"{name}: {line}." for line in preset.missing), *_deviations(preset)]


def trust_preset(report: Report) -> list[Check]:
    """Return the checks that a preset adds."""
    preset = report.preset
    if not preset:
        return []
    name = preset.name
    says = " ".join([preset.misleads, *(f"{line}." for line in preset.missing)]).strip()
    return [
        Check(f"What {name} says", "check", says),
        Check(f"Settings of {name}", *(("check", " ".join(_deviations(preset))) if preset.deviations else ("ok", _SAME))),
    ]


def preset_methods(report: Report) -> list[Method]:
    """Return the method behind the preset's own number."""
    preset = report.preset
    if not preset or not preset.procedures:
        return []
    words = " ".join(
        [
            f"The column {preset.name}; null: {preset.null}. No verdict uses it.",
            *_tell_baselines(preset),
            preset.misleads,
        ]
    )
    return [Method(f"Preset {preset.name}", preset.prints, words, preset.reference)]


def _tell_baselines(preset: PresetFacts) -> list[str]:
    """Say with which system the tool compares the others."""
    baselines = preset.baselines
    if not baselines:
        return []
    if len(set(baselines.values())) == 1:
        return [f"{preset.name} compares with {next(iter(baselines.values()))}."]
    return [f"{preset.name} compares with {'; '.join(f'{name} on {test_set}' for test_set, name in baselines.items())}."]


def _format(p: float | None) -> str:
    """Return a p with four decimals, as tools print it; smaller ones as everywhere in a report.

    Examples
    --------
    >>> _format(1 / 1001), _format(1 / 10_001), _format(0.0), _format(None)
    ('0.0010', '1.0e-04', '0', '–')
    """
    return f"{p:.4f}" if p is not None and p >= 0.00095 else format_p(p)


_SAME = "The study has all values that the preset sets."


def _deviations(preset: PresetFacts) -> list[str]:
    if not preset.deviations:
        return []
    return [f"Not as {preset.name} sets it: {'; '.join(preset.deviations)}."]
