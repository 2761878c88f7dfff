"""What is drawn of a test set: what the study names, else documents where they are known, else items."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from pipeline.errors import DataError
from pipeline.items.documents import Grouping, Sources, documents_are_told, read_documents, read_group
from pipeline.study.grouping import DOCUMENT, ITEM

__all__ = ["ChosenUnit", "choose_unit"]


@dataclass(frozen=True)
class ChosenUnit:
    """The unit of a test set.

    Parameters
    ----------
    name : str
        ``item``, ``document`` or a column.
    groups : sequence of str, optional
        The unit of each item; None where items are drawn.
    documents : sequence of str, optional
        The document of each item, where items are drawn although it is known.
    reason : str
        Why it is this one; empty where the study says it.
    notes : tuple of str
        What is odd.
    """

    name: str
    groups: Grouping | None = None
    documents: Grouping | None = None
    reason: str = ""
    notes: tuple[str, ...] = ()


def choose_unit(asked: str | None, sources: Sources, kept: Collection[str], stratum: Grouping | None = None) -> ChosenUnit:
    """Give the unit that a study asks for; where it leaves that open, documents if they are known and there is more than one.

    Documents that the study itself names must be readable: to draw items in their place would be to ignore them. Those that a
    format marks only in part are left alone, with a note.

    Parameters
    ----------
    asked : str or None
        ``resampling.unit``.
    sources : Sources
        Of the groups of items.
    kept : collection of str
        The items that are scored.
    stratum : sequence of str, optional
        The stratum of each item: items are drawn where strata are the documents themselves.

    Raises
    ------
    DataError
        As `read_group`.
    """
    if asked == ITEM:
        documents, notes = read_documents(sources)
        return ChosenUnit(ITEM, documents=documents, notes=tuple(notes))
    if asked is not None:
        groups, notes = read_group(asked, sources)
        return ChosenUnit(asked, groups, notes=tuple(notes))
    if not sources.ids or not documents_are_told(sources):
        return ChosenUnit(ITEM, reason="no documents are known")
    return _by_documents(sources, kept, stratum)


def _by_documents(sources: Sources, kept: Collection[str], stratum: Grouping | None) -> ChosenUnit:
    spec = sources.spec
    try:
        groups, notes = read_group(DOCUMENT, sources)
    except DataError as exc:
        if spec.documents is not None or DOCUMENT in spec.columns:
            help_ = "give every item a document, or draw items all the same: `unit: item`"
            raise DataError(*(replace(p, help=p.help or help_) for p in exc.problems)) from exc
        reason = f"not all documents are known ({exc.problems[0].message})"
        return ChosenUnit(ITEM, reason=reason, notes=(f"items are drawn, not documents: {reason}",))
    places = [k for k, name in enumerate(sources.ids) if name in kept]
    count = len({groups[k] for k in places})
    if count == 1 < len(places):
        reason = f"all {len(places):,} items are of one document, '{groups[places[0]]}'"
        told = f"items are drawn, since {reason}: what they find holds for this document"
        return ChosenUnit(ITEM, reason=reason, notes=(*notes, told))
    if count == len(places):
        return ChosenUnit(ITEM, reason="every item is a document of its own", notes=tuple(notes))
    if stratum is not None and _are_alike([groups[k] for k in places], [stratum[k] for k in places]):
        return ChosenUnit(ITEM, documents=groups, reason="the strata are the documents", notes=tuple(notes))
    return ChosenUnit(DOCUMENT, groups, reason="documents are known", notes=tuple(notes))


def _are_alike(one: Sequence[str], other: Sequence[str]) -> bool:
    """Say whether two groupings put the same items together, whatever they call them."""
    return len(set(one)) == len(set(other)) == len(set(zip(one, other, strict=True)))
