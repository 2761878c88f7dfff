"""The compact letter display: systems that share a letter are not separated. This module finds letters by insert and absorb."""

from __future__ import annotations

from string import ascii_letters

import numpy as np
from numpy.typing import NDArray

__all__ = ["compact_letters", "name_letters"]

_MOST = 1000  # columns on the way; those of real families are fewer than systems


def compact_letters(differ: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return letters such that two systems share one exactly where they do not differ.

    Insert and absorb, then a sweep (Piepho 2004, doi:10.1198/1061860043515): all systems begin with one letter; each pair that
    differs splits every letter that it shares; letters within others are absorbed. The sweep takes away what is not needed,
    from the last letter and the worst system on: without any one entry that is left two systems would lose their only common
    letter. Fewer letters may exist, no smaller part of these does.

    Parameters
    ----------
    differ : (system, system) bool
        Symmetric; the best system first.

    Returns
    -------
    (system, letter) bool
        Letters in the order of the best systems that have them.

    Examples
    --------
    The first differs from the last, and nobody else does: a, ab, b.

    >>> differ = np.zeros((3, 3), bool)
    >>> differ[0, 2] = differ[2, 0] = True
    >>> compact_letters(differ).astype(int).tolist()
    [[1, 0], [1, 1], [0, 1]]
    """
    systems = len(differ)
    if differ.shape != (systems, systems) or not np.array_equal(differ, differ.T) or differ.diagonal().any():
        raise ValueError(f"a relation {differ.shape} of systems that differ is square, symmetric and false on its diagonal")
    if not systems:
        return np.zeros((0, 0), np.bool_)
    columns = [(1 << systems) - 1]
    # System by system: on the way there are about as many letters as those before it need, whatever follows.
    for second, first in np.argwhere(np.tril(differ, -1)).tolist():
        columns = _insert(columns, 1 << first, 1 << second)
        if len(columns) > _MOST:
            raise ValueError(f"more than {_MOST} letters for {systems} systems: show lines, or rank intervals")
    columns = sorted(columns, key=lambda column: _members(column, systems))
    columns = sorted(filter(None, _sweep(columns, systems)), key=lambda column: _members(column, systems))
    return np.array([[bool(column >> system & 1) for column in columns] for system in range(systems)])


def name_letters(membership: NDArray[np.bool_]) -> list[str]:
    """Write the letters of each system: a … z, A … Z, then numbers in brackets.

    Examples
    --------
    >>> name_letters(np.array([[True, False], [True, True]]))
    ['a', 'ab']
    """
    names = [*ascii_letters, *(f"({number})" for number in range(len(ascii_letters) + 1, membership.shape[1] + 1))]
    return ["".join(names[letter] for letter in np.flatnonzero(row)) for row in membership]


def _insert(columns: list[int], first: int, second: int) -> list[int]:
    """Split the columns that hold both; sets of systems are the bits of an integer."""
    both = first | second
    kept = [column for column in columns if column & both != both]
    split = {column & ~one for column in columns if column & both == both for one in (first, second)}
    # What is kept lies within none of the new ones: it would have lain within the column that was split.
    for new in sorted(split, key=lambda column: (-column.bit_count(), column)):
        if not any(new & ~column == 0 for column in kept):
            kept.append(new)
    return kept


def _sweep(columns: list[int], systems: int) -> list[int]:
    for place in range(len(columns) - 1, -1, -1):
        others = columns[:place] + columns[place + 1 :]
        for system in range(systems - 1, -1, -1):
            bit = 1 << system
            if columns[place] & bit:
                elsewhere = 0
                for column in others:
                    elsewhere |= column if column & bit else 0
                if columns[place] & ~elsewhere == 0:
                    columns[place] &= ~bit
    return columns


def _members(column: int, systems: int) -> list[int]:
    return [system for system in range(systems) if column >> system & 1]
