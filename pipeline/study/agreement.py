"""Refuse parts of a study that contradict one another; each rule takes the parts that it compares."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from pipeline.presets.registry import PRESETS
from pipeline.procedures.registry import PROCEDURES, usable_procedures
from pipeline.study.grouping import DOCUMENT, ITEM, ROLES, WITHOUT_DOCUMENTS, choosing_columns
from pipeline.study.resampling import Resampling
from pipeline.study.sets import TestSet
from pipeline.study.training_schema import Training, doubled_systems

__all__ = ["Disagreement", "Disagreements", "check_family", "check_groups", "check_margins", "check_metrics", "check_trainings"]

Disagreement = tuple[tuple[str | int, ...], str] | tuple[tuple[str | int, ...], str, str]
"""Where two parts of a study do not go together, why, and what to do about it."""


class Disagreements(ValueError):
    """Parts of a study that do not go together: the path of each, and why.

    Parameters
    ----------
    found : sequence of (path, str) or (path, str, help)
        All of them, not the first.
    """

    def __init__(self, found: Sequence[Disagreement]) -> None:
        self.found = tuple(found)
        super().__init__("; ".join(f"{'.'.join(map(str, path))}: {text}" for path, text, *_ in found))


def check_metrics(names: Sequence[str]) -> Iterator[Disagreement]:
    """Yield the metrics that are named twice."""
    for position, name in enumerate(names):
        if name in names[:position]:
            help_ = f"give one another name: {{name: {name}-2, metric: {name}, …}}"
            yield ("metrics", position), f"the metric {name!r} is named twice", help_


def check_margins(resampling: Resampling, metrics: Sequence[str]) -> Iterator[Disagreement]:
    """Yield the margins that belong to no metric, or that no procedure can test."""
    for name in resampling.margin:
        if name not in metrics:
            yield ("resampling", "margin", name), f"the study has no such metric; it has {', '.join(metrics)}"
    if resampling.margin and not any(PROCEDURES[name].tests_margin for name in resampling.procedures):
        able = " or ".join(known.name for known in usable_procedures() if known.tests_margin)
        yield ("resampling", "margin"), f"none of the study's procedures can test a margin; add {able}"


def check_family(resampling: Resampling, preset: str | None) -> Iterator[Disagreement]:
    """Yield a baseline without a family to use it, and such a family without a baseline."""
    alone = resampling.baseline is not None and resampling.family != "against-baseline"
    if alone and (preset is None or not PRESETS[preset].compares_with_baseline):
        yield ("resampling", "baseline"), "all pairs have no baseline; add `family: against-baseline`"
    if resampling.baseline is None and resampling.family == "against-baseline":
        yield ("resampling", "family"), "against which system? add `baseline: NAME`"


def check_trainings(test_sets: Mapping[str, TestSet], training: Training | None) -> Iterator[Disagreement]:
    """Yield the test sets that nothing gives outputs for, and the resamples that make the same systems."""
    for name, test_set in test_sets.items():
        if training is None and test_set.outputs is None:
            yield ("test_sets", name), "there are no outputs, and no training to make them"
        elif training is None and test_set.predicted:
            yield ("test_sets", name, "predicted"), "nothing is trained that could predict it", "add `training:`, or drop the key"
        elif test_set.outputs is None and test_set.predicted is False:
            message = "there are no outputs, and it is not to be predicted"
            yield ("test_sets", name, "predicted"), message, "give its `outputs:`, or drop the key"
    for position, earlier, label in doubled_systems(training) if training else ():
        yield ("training", "resamples", position), f"{label} is there already, as resamples[{earlier}]: it makes the same systems"


def check_groups(test_sets: Mapping[str, TestSet], resampling: Resampling, preset: str | None) -> Iterator[Disagreement]:
    """Yield the columns that cannot group items, and the strata that cannot be drawn from."""
    unit, strata = resampling.unit, resampling.strata
    if unit in ROLES - {ITEM, DOCUMENT, "label"}:
        yield ("resampling", "unit"), f"the column of the {unit}s groups no items"
    for name, test_set in test_sets.items():
        for column in choosing_columns(test_set):
            if column in {ITEM, "system"}:
                yield ("test_sets", name, "items"), f"the column of the {column}s groups no items"
        told = test_set.documents is not None or DOCUMENT in test_set.columns or test_set.format.name not in WITHOUT_DOCUMENTS
        if unit == DOCUMENT and not told:
            yield (
                ("test_sets", name),
                "resampling.unit is document, but documents are not given",
                "add `documents: FILE`, a table or a file with one name per line, or name a column, `columns: {document: …}`",
            )
    if strata is None:
        return
    place = ("resampling", "strata")
    if strata in {ITEM, "system"}:
        yield place, f"the column of the {strata}s makes no strata"
    elif strata == unit:
        yield place, f"every stratum would be one {unit}, which is drawn once in every replicate"
    if preset is not None:
        yield place, f"{preset} draws from all units alike: leave out the strata or the preset"
    for position, procedure in enumerate(resampling.procedures):
        if PROCEDURES[procedure].strata == "refused":
            able = ", ".join(known.name for known in usable_procedures() if known.strata != "refused")
            yield (
                ("resampling", "procedures", position),
                f"{procedure} does not know strata: it is about units that are drawn all alike; there are {able}",
            )
