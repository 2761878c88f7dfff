"""Columns that group items (documents, domains): read the group of each item, and make the frame."""

from __future__ import annotations

from collections.abc import Collection, Sequence, Set
from pathlib import Path

from pipeline.dataclass import dataclass
from pipeline.errors import DataError, Problem
from pipeline.interfaces import Items
from pipeline.items.compare import Candidate
from pipeline.items.frame import Frame
from pipeline.items.item_table import ItemTable
from pipeline.items.readers._files import read_lines
from pipeline.items.readers._tables import find_head, is_number, refuse
from pipeline.items.readers._typed_tables import read_typed
from pipeline.options import suggest
from pipeline.study.grouping import DOCUMENT, WITHOUT_DOCUMENTS, group_columns
from pipeline.study.sets import TestSet

__all__ = ["Grouping", "Sources", "documents_are_told", "groups_like_systems", "make_frame", "read_documents", "read_group"]

Grouping = Sequence[str]
"""The group of each item by name, in the order of the items."""


def make_frame(
    test_set: str,
    ids: Sequence[str],
    kept: Collection[str],
    *,
    unit: Grouping | None = None,
    stratum: Grouping | None = None,
    document: Grouping | None = None,
    names: tuple[str, str] = ("unit", "strata"),
) -> Frame:
    """Make a frame of the items that are kept; units are groups in order of their first item, else the items.

    Parameters
    ----------
    test_set : str
    ids : sequence of str
        All items.
    kept : collection of str
        Those that stay.
    unit, stratum, document : sequence of str, optional
        What each item belongs to; ``document`` where items are drawn although it is known.
    names : (str, str)
        Columns of the units and of the strata, for messages.

    Raises
    ------
    DataError
        P224, where a unit lies in several strata.
    """
    places = [k for k, name in enumerate(ids) if name in kept]
    chosen = tuple(ids[k] for k in places)
    units, unit_of_item = (chosen, tuple(range(len(chosen)))) if unit is None else _number([unit[k] for k in places])
    frame = Frame(test_set, chosen, unit_of_item, units)
    if document is not None:
        documents, document_of_item = _number([document[k] for k in places])
        if 1 < len(documents) < len(chosen):  # else there is nothing between documents, or nothing within
            frame = frame.with_documents(document_of_item)
    if stratum is None:
        return frame
    strata_of: dict[int, dict[str, str]] = {}
    for k, number in zip(places, unit_of_item, strict=True):
        strata_of.setdefault(number, {}).setdefault(stratum[k], ids[k])
    problems = []
    for number, found in strata_of.items():
        if len(found) > 1:
            several = "two" if len(found) == 2 else str(len(found))
            shown, items = (" and ".join(f"'{name}'" for name in list(of)[:2]) for of in (found, found.values()))
            message = f"the {names[0]} '{units[number]}' lies in {several} strata: its {names[1]} is {shown}"
            help_ = f"take strata that no {names[0]} crosses, or draw smaller units: `unit: item`"
            problems.append(Problem("P224", message, f"test set '{test_set}', items {items}", help_))
    refuse(problems)
    strata, stratum_of_unit = _number([next(iter(strata_of[number])) for number in range(len(units))])
    return frame.with_strata(stratum_of_unit, strata)


@dataclass(frozen=True)
class Sources:
    """What may say which group an item belongs to.

    Parameters
    ----------
    test_set : str
        Its name.
    spec : TestSet
        With the columns that units and strata are made of.
    documents : ItemTable or None
        The file that ``spec`` names, which is read once for all columns.
    ids : tuple of str
        All items.
    numbered : bool
        Whether they are line numbers.
    gold : Items or None
    candidates : sequence of Candidate
        The outputs.
    scored : set of str, optional
        The items that need a group; all where it is not given. Those that are left out are of the group '' where none is known.
    """

    test_set: str
    spec: TestSet
    documents: ItemTable | None
    ids: tuple[str, ...]
    numbered: bool
    gold: Items | None
    candidates: Sequence[Candidate]
    scored: Set[str] | None = None


def read_group(column: str, of: Sources, *, key: str = "") -> tuple[tuple[str, ...], list[str]]:
    """Return the group of each item by one column, from the file of documents, the gold, or the outputs; and what is odd.

    Parameters
    ----------
    column : str
        Its name, or its role.
    of : Sources
        Where it is looked for.
    key : str
        The key of the study that asks for it, told where nothing has such a column.

    Raises
    ------
    DataError
        P209 where the file names an item twice; P215 where it has another number of lines than there are items; P222 where an
        item that is scored has no group, or any has two; P223 where nothing has such a column.
    """
    if of.documents is not None and of.documents.has(column):
        return of.documents.groups(column, of.ids, numbered=of.numbered, scored=of.scored)
    known: dict[str, str] = {}
    sources: list[tuple[str, Sequence[str], Sequence[str]]] = []
    gold = of.gold
    if gold is not None and column in gold.columns and not column.startswith("reference"):
        sources.append((gold.source, gold.ids, gold.columns[column]))
    sources.extend((c.source, c.ids, c.groups[column]) for c in of.candidates if column in c.groups)
    if column == DOCUMENT and of.documents is not None and not (sources and of.documents.is_table):
        of.documents.refuse_documents()
    if not sources:
        raise DataError(_unknown(column, of, key))
    problems = []
    for source, names, groups in sources:
        for name, group in zip(names, groups, strict=True):
            if known.setdefault(name, group) != group:
                message = f"item '{name}' is of {column} '{group}', and of '{known[name]}' in another file"
                problems.append(Problem("P222", message, source))
    lacking = [name for name in of.ids if not known.get(name) and (of.scored is None or name in of.scored)]
    problems.extend(Problem("P222", f"item '{name}' has no {column}") for name in lacking)
    refuse(problems)
    return tuple(known.get(name, "") for name in of.ids), []


def documents_are_told(sources: Sources) -> bool:
    """Say whether the study names documents, or a file says which one an item belongs to."""
    spec, gold = sources.spec, sources.gold
    in_gold = gold is not None and DOCUMENT in gold.columns and spec.format.name not in WITHOUT_DOCUMENTS
    named = spec.documents is not None or DOCUMENT in spec.columns
    return named or in_gold or any(DOCUMENT in candidate.groups for candidate in sources.candidates)


def read_documents(sources: Sources) -> tuple[tuple[str, ...] | None, list[str]]:
    """Return the documents that are known although items are drawn, so that what this costs can be told; or why they are not."""
    in_gold = sources.gold is not None and DOCUMENT in sources.gold.columns and sources.spec.format.name not in WITHOUT_DOCUMENTS
    if not sources.ids or (sources.documents is None and not in_gold and not any(DOCUMENT in c.groups for c in sources.candidates)):
        return None, []
    try:
        return read_group(DOCUMENT, sources)
    except DataError as exc:
        return None, [f"the documents are not known, so that nothing is said of drawing them: {exc.problems[0].message}"]


def groups_like_systems(outputs: Sequence[Items], spec: TestSet, gold: Items | None) -> tuple[str, ...]:
    """Return the columns of a table of systems side by side that hold groups, and would pass for systems."""
    if not outputs or any(items.lines != outputs[0].lines for items in outputs):
        return ()  # one row for each item and system: a column is not a system there
    labels = set(gold.columns.get("label", ())) if gold is not None else set()
    groups = {
        name: set(outputs[0].columns[name]) for name in group_columns(spec) if name in outputs[0].columns and name != DOCUMENT
    }
    return tuple(name for name, values in groups.items() if not values.isdisjoint(labels) or all(map(is_number, values)))


def _number(groups: Sequence[str]) -> tuple[tuple[str, ...], tuple[int, ...]]:
    """Return the groups in the order of their first member, and the position of each member's."""
    position: dict[str, int] = {}
    numbers = tuple(position.setdefault(group, len(position)) for group in groups)
    return tuple(position), numbers


def _unknown(column: str, of: Sources, key: str) -> Problem:
    """Say that nothing has a column, and which there are."""
    spec, candidates = of.spec, of.candidates
    there = of.documents.header if of.documents is not None else ()
    in_gold = [name for name in of.gold.columns if not name.startswith("reference")] if of.gold is not None else []
    in_outputs = [name for candidate in candidates for name in candidate.groups]
    if not spec.references and candidates and spec.format.name in WITHOUT_DOCUMENTS:
        systems = {candidate.system for candidate in candidates}
        in_outputs += [name for name in _header(Path(candidates[0].source)) if name not in systems]
    names = list(dict.fromkeys([*there, *in_gold, *in_outputs]))
    named = spec.columns.get(column, column)
    shown = ", ".join(map(repr, names[:20])) + (", …" if len(names) > 20 else "") if names else "none"
    files = str(spec.documents or spec.outputs or "")
    return Problem(
        "P223",
        f"no column '{named}' groups the items of test set '{of.test_set}'; there are: {shown}",
        where=key or files,
        help=suggest(named, names, otherwise="give it in the table that `documents:` names, or in a table of outputs"),
        note=f"the items are those of {files}" if key and files else None,
    )


def _header(path: Path) -> Sequence[str]:
    """Return the names of the columns of a file of outputs; none where it is no table."""
    typed = read_typed(path)
    if typed is not None:
        return typed.header
    head = find_head(read_lines(path).values)
    return head.names() if head.delimiter else ()
