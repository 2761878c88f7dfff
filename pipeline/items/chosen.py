"""Which items a study scores, by what they are grouped by. This module chooses them and tells how many are left out."""

from __future__ import annotations

import difflib

from pipeline.errors import DataError
from pipeline.items.documents import Sources, read_group
from pipeline.study.schema import ItemChoice

__all__ = ["choose_by_groups"]


def choose_by_groups(choice: ItemChoice, sources: Sources) -> tuple[tuple[str, ...], list[str]]:
    """Give the items that are scored, in order, and how many each column leaves out.

    Raises
    ------
    DataError
        P223 where nothing has such a column, P222 where an item has no group in it, P218 where no item is in a group that is
        named: a misspelt name would leave out nothing.
    """
    kept = dict.fromkeys(sources.ids)
    told: list[str] = []
    for wanted, named in ((True, choice.include), (False, choice.exclude)):
        for column, groups in named.items():
            found, notes = read_group(column, sources)
            told.extend(notes)
            _refuse_unknown(column, groups, found, sources)
            left_out = [name for name, group in zip(sources.ids, found, strict=True) if (group in groups) is not wanted]
            for name in left_out:
                kept.pop(name, None)
            told.append(
                f"{len(left_out)} of {len(sources.ids)} items are left out by {column}: {'not ' * wanted}{', '.join(groups)}"
            )
    return tuple(kept), told


def _refuse_unknown(column: str, groups: tuple[str, ...], found: tuple[str, ...], sources: Sources) -> None:
    there = list(dict.fromkeys(found))
    for group in groups:
        if group not in there:
            close = difflib.get_close_matches(group, there, n=1)
            shown = ", ".join(map(repr, there[:10])) + (", …" if len(there) > 10 else "")
            raise DataError.of(
                "P218",
                f"no item of test set '{sources.test_set}' has the {column} '{group}'; there are: {shown}",
                where="items",
                help=f"did you mean '{close[0]}'?" if close else "see `items:` of the test set",
            )
