"""Columns that group the items of a test set, and which of them a study asks for."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:  # readers need the names alone, and load no schema for them
    from pipeline.study.resampling import Resampling
    from pipeline.study.sets import TestSet

__all__ = [
    "DOCUMENT",
    "ITEM",
    "ITEM_OR_SENTENCE",
    "REPLICA",
    "ROLES",
    "SPEAKER",
    "WITHOUT_DOCUMENTS",
    "asked_columns",
    "choosing_columns",
    "group_columns",
    "with_asked_columns",
]

ITEM, DOCUMENT, SPEAKER, REPLICA = "item", "document", "speaker", "replica"

ITEM_OR_SENTENCE = (ITEM, "sentence")
"""Names of the unit of training data that is one item."""

ROLES = frozenset({ITEM, "system", "label", DOCUMENT, REPLICA})
"""Names of `columns:` that readers use for something else; any other name there is a column that groups items."""

WITHOUT_DOCUMENTS = frozenset({"text", "labels", "scores"})
"""Formats whose documents a study names, in a file or a column; the files of others may say themselves where one begins."""

_PLACES = {"columns": frozenset({"word", "tag", "chunk", "gold"}), "tagged": frozenset({"separator"})}
"""Names of `columns:` by which a format finds its values in a line: they group nothing there."""


def asked_columns(resampling: Resampling) -> tuple[str, ...]:
    """Return the columns that a study uses as units and strata, each once; none where items are drawn, or the unit is left open."""
    asked = (None if resampling.unit == ITEM else resampling.unit, resampling.strata)
    return tuple(dict.fromkeys(name for name in asked if name is not None))


def group_columns(spec: TestSet) -> tuple[str, ...]:
    """Return the columns of outputs that group items: they are neither scores nor labels, nor part of an output's content."""
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
