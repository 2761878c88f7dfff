"""Columns that group the items of a test set: which of them a study asks for, and what cannot be grouped by."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from pipeline.procedures.registry import PROCEDURES, usable_procedures

if TYPE_CHECKING:
    from pipeline.study.schema import Resampling, Study, TestSet

__all__ = [
    "DOCUMENT",
    "ITEM",
    "ROLES",
    "WITHOUT_DOCUMENTS",
    "Disagreement",
    "asked_columns",
    "choosing_columns",
    "disagreements",
    "group_columns",
    "with_asked_columns",
]

ITEM, DOCUMENT = "item", "document"

Disagreement = tuple[tuple[str | int, ...], str] | tuple[tuple[str | int, ...], str, str]
"""Where two parts of a study do not go together, why, and what to do about it."""

ROLES = frozenset({ITEM, "system", "label", DOCUMENT})
"""Names of `columns:` that a reader has another use for; any other name there is a column that groups items."""

WITHOUT_DOCUMENTS = frozenset({"text", "labels", "scores"})
"""Formats whose documents a study names, in a file or a column; the files of others may say themselves where one begins."""

_PLACES = {"columns": frozenset({"word", "tag", "chunk", "gold"}), "tagged": frozenset({"separator"})}
"""Names of `columns:` by which a format finds its values in a line: they group nothing there."""


def asked_columns(resampling: Resampling) -> tuple[str, ...]:
    """Return the columns that a study makes units and strata of, each once; none where items are drawn, or where that is open."""
    asked = (None if resampling.unit == ITEM else resampling.unit, resampling.strata)
    return tuple(dict.fromkeys(name for name in asked if name is not None))


def group_columns(spec: TestSet) -> tuple[str, ...]:
    """Return the columns of outputs that group items: they are no scores or labels, and no part of an output's content."""
    return (DOCUMENT, *sorted(set(spec.columns) - ROLES - _PLACES.get(spec.format.name, frozenset())))


def with_asked_columns(spec: TestSet, resampling: Resampling) -> TestSet:
    """Return a test set whose readers take the columns that are asked for as groups, where a table has them.

    They are those of units and strata, and those by which items are chosen.
    """
    asked = {name: name for name in (*asked_columns(resampling), *choosing_columns(spec)) if name not in ROLES}
    if not set(asked) - set(spec.columns):
        return spec
    return spec.model_copy(update={"columns": {**asked, **spec.columns}})


def choosing_columns(spec: TestSet) -> tuple[str, ...]:
    """Return the columns by which items are chosen."""
    chosen = spec.items
    return () if chosen is None or isinstance(chosen, str) else (*chosen.include, *chosen.exclude)


def disagreements(study: Study) -> Iterator[Disagreement]:
    """Yield what of units and strata does not go together, with its place in the study."""
    unit, strata = study.resampling.unit, study.resampling.strata
    if unit in ROLES - {ITEM, DOCUMENT, "label"}:
        yield ("resampling", "unit"), f"the column of the {unit}s groups no items"
    for name, test_set in study.test_sets.items():
        for column in choosing_columns(test_set):
            if column in {ITEM, "system"}:
                yield ("test_sets", name, "items"), f"the column of the {column}s groups no items"
        told = test_set.documents is not None or DOCUMENT in test_set.columns or test_set.format.name not in WITHOUT_DOCUMENTS
        if unit == DOCUMENT and not told:
            yield (
                ("test_sets", name),
                "resampling.unit is document, but documents are not given",
                "add `documents: FILE`, a document name a line or a table; or `columns: {document: …}`, a column of the outputs",
            )
    if strata is None:
        return
    place = ("resampling", "strata")
    if strata in {ITEM, "system"}:
        yield place, f"the column of the {strata}s makes no strata"
    elif strata == unit:
        yield place, f"every stratum would be one {unit}, which is drawn once in every replicate"
    if study.preset is not None:
        yield place, f"{study.preset} draws from all units alike: leave out the strata or the preset"
    for position, procedure in enumerate(study.resampling.procedures):
        if PROCEDURES[procedure].strata == "refused":
            able = ", ".join(known.name for known in usable_procedures() if known.strata != "refused")
            yield (
                ("resampling", "procedures", position),
                f"{procedure} does not know strata: it is about units that are drawn all alike; there are {able}",
            )
