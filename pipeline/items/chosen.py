"""Which items a study scores, by what they are grouped by. This module chooses them and tells how many are left out."""

from __future__ import annotations

import difflib
from dataclasses import replace

from pipeline.errors import DataError
from pipeline.items.documents import Sources, read_group
from pipeline.study.schema import ItemChoice

__all__ = ["choose_by_groups"]


def choose_by_groups(choice: ItemChoice, sources: Sources) -> tuple[tuple[str, ...], list[str]]:
    """Give the items that are scored, in order, and how many each column leaves out.

    Raises
    ------
    DataError
        P223 where nothing has such a column, P222 where an item has no group in it that no other column leaves out, P218 where
        no item is in a group that is named: a misspelt name would leave out nothing.
    """
    asked = [(True, *column) for column in choice.include.items()] + [(False, *column) for column in choice.exclude.items()]
    # What one column leaves out need not be in the others.
    without: list[set[str]] = []
    for wanted, column, groups in asked:
        found, _ = read_group(column, replace(sources, scored=frozenset()))
        _refuse_unknown(column, groups, found, sources)
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


def _refuse_unknown(column: str, groups: tuple[str, ...], found: tuple[str, ...], sources: Sources) -> None:
    there = [group for group in dict.fromkeys(found) if group]
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
