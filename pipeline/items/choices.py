"""What of a test set is scored and drawn: the items a study names by ranges or by what they are grouped by, and the unit."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import replace

from pipeline.dataclass import dataclass
from pipeline.errors import DataError, StudyError
from pipeline.interfaces import Items
from pipeline.items.documents import Grouping, Sources, documents_are_told, read_documents, read_group
from pipeline.options import suggest
from pipeline.study.grouping import DOCUMENT, ITEM, SPEAKER
from pipeline.study.marks import dotted
from pipeline.study.sets import ItemChoice

__all__ = ["ChosenUnit", "choose_by_groups", "choose_unit", "item_positions", "select_items"]

_MOST_DIGITS = 12


def item_positions(ranges: str, n_items: int, *, where: str) -> list[int]:
    """Return the positions from 0 of items that are named by ranges of numbers from 1, both ends included.

    Raises
    ------
    StudyError
        P124 where a range is turned round, goes past the items, or overlaps another.

    Examples
    --------
    >>> item_positions("1-3, 5", 5, where="items")
    [0, 1, 2, 4]
    """
    positions: list[int] = []
    for part in ranges.split(","):
        match = re.fullmatch(r"\s*([0-9]+)\s*(?:-\s*([0-9]+)\s*)?", part)
        if match is None:
            raise StudyError.of(
                "P124",
                f"{part.strip()!r} is not a range of items",
                where=where,
                help="write 1-3500, or several with commas between them",
            )
        # Python refuses to read thousands of digits, and no file has as many items as these.
        first, last = (int(digits[:_MOST_DIGITS]) for digits in (match[1], match[2] or match[1]))
        if not 1 <= first <= last <= n_items:
            raise StudyError.of(
                "P124",
                f"there is no range {part.strip()} of {n_items} items",
                where=where,
                help=f"items are numbered from 1 to {n_items}, and a range goes from the lower number to the higher",
            )
        positions.extend(range(first - 1, last))
    if len(set(positions)) < len(positions):
        raise StudyError.of("P124", f"the ranges {ranges} name an item twice", where=where, help="let no two ranges overlap")
    return sorted(positions)


def select_items(items: Items, ranges: str, *, where: str) -> Items:
    """Return the items in some ranges, in the order of the file, with the identifiers they have in it.

    Examples
    --------
    >>> select_items(Items(("1", "2", "3"), {"label": ("x", "y", "z")}, "f", (1, 2, 3)), "2-3", where="items").columns
    {'label': ('y', 'z')}
    """
    chosen = item_positions(ranges, len(items), where=where)
    return Items(
        ids=tuple(items.ids[k] for k in chosen),
        columns={name: tuple(values[k] for k in chosen) for name, values in items.columns.items()},
        source=items.source,
        lines=tuple(items.lines[k] for k in chosen),
        numbered=items.numbered and len(chosen) == len(items),
    )


def choose_by_groups(choice: ItemChoice, sources: Sources) -> tuple[tuple[str, ...], list[str]]:
    """Return the items that are scored, in order, and how many each column leaves out.

    Raises
    ------
    DataError
        P223 where nothing has such a column, P222 where an item has no group in it that no other column leaves out, P218 where
        no item is in a group that is named: a misspelt name would leave out nothing.
    """
    key = dotted(("test_sets", sources.test_set, "items"))
    asked = [(True, *column) for column in choice.include.items()] + [(False, *column) for column in choice.exclude.items()]
    # What one column leaves out need not be in the others.
    without: list[set[str]] = []
    for wanted, column, groups in asked:
        found, _ = read_group(column, replace(sources, scored=frozenset()), key=key)
        _refuse_unknown(column, groups, found, sources, key)
        pairs = zip(sources.ids, found, strict=True)
        without.append({name for name, group in pairs if group and (group in groups) is not wanted})
    told: list[str] = []
    for place, (wanted, column, groups) in enumerate(asked):
        others = set().union(*without[:place], *without[place + 1 :])
        told.extend(read_group(column, replace(sources, scored=set(sources.ids) - others))[1])
        told.append(
            f"{len(without[place])} of {len(sources.ids)} items are left out by {column}: {'not ' * wanted}{', '.join(groups)}"
        )
    left_out = set().union(*without)
    return tuple(name for name in sources.ids if name not in left_out), told


def _refuse_unknown(column: str, groups: tuple[str, ...], found: tuple[str, ...], sources: Sources, key: str) -> None:
    there = [group for group in dict.fromkeys(found) if group]
    for group in groups:
        if group not in there:
            shown = ", ".join(map(repr, there[:10])) + (", …" if len(there) > 10 else "")
            raise DataError.of(
                "P218",
                f"no item of test set '{sources.test_set}' has the {column} '{group}'; there are: {shown}",
                where=key,
                help=suggest(group, there, otherwise="see `items:` of the test set"),
            )


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
    """Return the unit that a study asks for; where it leaves that open, documents if they are known and there is more than one.

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
        groups, notes = read_group(asked, sources, key="resampling.unit")
        return ChosenUnit(asked, groups, notes=tuple(notes))
    if not sources.ids or not documents_are_told(sources):
        return ChosenUnit(ITEM, reason=f"no documents are known{_speakers_instead(sources, kept)}")
    return _by_documents(sources, kept, stratum)


def _speakers_instead(sources: Sources, kept: Collection[str]) -> str:
    """Point to the speakers of a gold without documents, where there are several and some of them say more than one item.

    They are not drawn unasked: a transcript's names are only presumed to begin with a speaker.
    """
    gold = sources.gold
    if gold is None or SPEAKER not in gold.columns:
        return ""
    said_by = [speaker for name, speaker in zip(gold.ids, gold.columns[SPEAKER], strict=True) if name in kept]
    count = len(set(said_by))
    return f", but {count:,} speakers are; the unit `{SPEAKER}` draws them" if 1 < count < len(said_by) else ""


def _by_documents(sources: Sources, kept: Collection[str], stratum: Grouping | None) -> ChosenUnit:
    spec = sources.spec
    try:
        groups, notes = read_group(DOCUMENT, sources)
    except DataError as exc:
        if spec.documents is not None or DOCUMENT in spec.columns:
            help_ = "give every item a document, or draw items anyway: `unit: item`"
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
