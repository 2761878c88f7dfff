"""Ranks implied by the verdicts of a family of pairs: intervals, lines, ties and letters.

Everything is read off adjusted p-values; nothing is tested here: `pipeline.inference.decision` decides which pairs are separated
and `pipeline.report.families.verdicts` words it. Letters are the compact letter display: two systems share one exactly if they are
not separated.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from string import ascii_letters

import numpy as np
from numpy.typing import NDArray

from pipeline.dataclass import dataclass

__all__ = ["CLUSTERS", "RankIntervals", "Separation", "compact_letters", "name_letters", "rank_intervals", "separate"]

_MOST = 1000  # columns on the way; those of real families are fewer than systems


def compact_letters(differ: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return letters such that two systems share one exactly if they do not differ.

    Insert and absorb, then a sweep (Piepho 2004, doi:10.1198/1061860043515): all systems begin with one letter; each pair that
    differs splits every letter that it shares; letters within others are absorbed. The sweep removes entries that are not needed,
    beginning with the last letter and the worst system, until without any one of the others two systems would lose their only
    common letter. Another display may have fewer letters, but none of these can be left out.

    Parameters
    ----------
    differ : (system, system) bool
        Symmetric; the best system first.

    Returns
    -------
    (system, letter) bool
        Letters, ordered by the best system that has each.

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
    # System by system, there are never many more letters than the systems so far need.
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
    """Split the columns that hold both systems; a set of systems is the bits of an integer."""
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


@dataclass(frozen=True, eq=False)
class Separation:
    """Which systems are ahead of which, and which significantly so.

    Parameters
    ----------
    ranked : (system,) bool
        Its score is defined; other systems are left out.
    ahead : (system, system) bool
        The row's score is the better one.
    beats : (system, system) bool
        And significantly.
    identical : (system, system) bool
        All unit statistics are equal.
    """

    ranked: NDArray[np.bool_]
    ahead: NDArray[np.bool_]
    beats: NDArray[np.bool_]
    identical: NDArray[np.bool_]

    @property
    def rank(self) -> NDArray[np.int64]:
        """(system,): 1 + number of systems ahead, so that equal scores share a rank; 0 where there is no score."""
        return np.where(self.ranked, 1 + self.ahead.sum(axis=0), 0)

    @property
    def order(self) -> NDArray[np.int64]:
        """(ranked,): the best first; equal ones in their original order."""
        there = np.flatnonzero(self.ranked)
        return there[np.argsort(self.rank[there], kind="stable")]


@dataclass(frozen=True, eq=False)
class RankIntervals:
    """Ranks that remain possible; 0 where a system has no score.

    Parameters
    ----------
    rank : (system,) int64
        As observed; equal scores share the better rank.
    low : (system,) int64
        1 + systems significantly better.
    high : (system,) int64
        S − systems significantly worse, S those with a score.
    """

    rank: NDArray[np.int64]
    low: NDArray[np.int64]
    high: NDArray[np.int64]


def separate(
    pairs: NDArray[np.integer],
    *,
    score: NDArray[np.float64],
    delta: NDArray[np.float64],
    p: NDArray[np.float64],
    identical: NDArray[np.bool_],
    alpha: float,
    family: str = "all-pairs",
) -> Separation:
    """Turn the adjusted p-values of all pairs into a relation between systems.

    Parameters
    ----------
    pairs : (pair, 2) int
        Rows of ``score``.
    score : (system,) float64
        nan where undefined: the system has no rank, and S does not count it.
    delta : (pair,) float64
        Signed gain, > 0 where the first is better.
    p : (pair,) float64
        Adjusted within one family of all pairs, two-sided; nan never separates. Give 1 for a difference that is not to be believed
        for another reason.
    identical : (pair,) bool
    alpha : float
    family : str, optional
        The family of the p-values. ``against-baseline`` gives no ranks.
    """
    pairs = np.asarray(pairs, np.int64)
    if family != "all-pairs":
        raise ValueError(f"a family {family!r} gives no ranks: it says nothing of two systems that are not the baseline")
    if not delta.shape == p.shape == identical.shape == (len(pairs),):
        raise ValueError(f"delta {delta.shape}, p {p.shape} and identical {identical.shape} are not of {len(pairs)} pairs")
    systems, ranked = len(score), np.isfinite(score)
    first, second = pairs.reshape(-1, 2).T
    known = np.eye(systems, dtype=np.bool_)
    known[first, second] = known[second, first] = True
    lacking = int((~known & ranked & ranked[:, None]).sum()) // 2
    if lacking:
        raise ValueError(f"ranks need all pairs of the {int(ranked.sum())} systems with a score: {lacking} are not in the family")
    with np.errstate(invalid="ignore"):  # nan is not rejected
        rejected = p <= alpha
    signs = np.zeros((systems, systems), np.int8)
    tested = np.zeros((systems, systems), np.bool_)
    same = np.eye(systems, dtype=np.bool_)
    sign = np.nan_to_num(np.sign(delta)).astype(np.int8)
    signs[first, second], signs[second, first] = sign, -sign
    tested[first, second] = tested[second, first] = rejected
    same[first, second] = same[second, first] = identical
    here = ranked & ranked[:, None]
    ahead = (signs > 0) & here & ~same
    return Separation(ranked=ranked, ahead=ahead, beats=ahead & tested, identical=same & here)


def rank_intervals(found: Separation) -> RankIntervals:
    """Return [1 + #(significantly better), S − #(significantly worse)] of every system.

    If the p-values control the family-wise error at α, all S intervals hold together with probability 1 − α (Mogstad, Romano,
    Shaikh and Wilhelm 2024, doi:10.1093/restud/rdad006). Percentiles of bootstrapped ranks do not: they fail near ties.

    Examples
    --------
    Three systems, of which only the first and the last are separated.

    >>> pairs, delta = np.array([[0, 1], [0, 2], [1, 2]]), np.array([1.0, 3.0, 2.0])
    >>> p, score = np.array([0.4, 0.01, 0.06]), np.array([3.0, 2.0, 0.0])
    >>> found = rank_intervals(separate(pairs, score=score, delta=delta, p=p, identical=p > 1, alpha=0.05))
    >>> found.rank.tolist(), found.low.tolist(), found.high.tolist()
    ([1, 2, 3], [1, 1, 2], [2, 3, 3])
    """
    low = np.where(found.ranked, 1 + found.beats.sum(axis=0), 0)
    high = np.where(found.ranked, int(found.ranked.sum()) - found.beats.sum(axis=1), 0)
    return RankIntervals(rank=found.rank, low=low, high=high)


def _lines(found: Separation, *, all_of_them: bool) -> NDArray[np.bool_]:
    """Draw a line below a rank if its systems, or all above it too, beat those of the next rank, or all below too."""
    rank, groups = found.rank, []
    ranks = np.unique(rank[found.ranked]).tolist()
    for place, here in enumerate(ranks):
        if place:
            above = found.ranked & (rank < here) if all_of_them else rank == ranks[place - 1]
            below = rank >= here if all_of_them else rank == here
            if found.beats[np.ix_(above, below)].all():
                groups.append(rank == here)
                continue
            groups[-1] |= rank == here
        else:
            groups.append(rank == here)
    return np.stack(groups, axis=1) if groups else np.zeros((len(rank), 0), np.bool_)


def _ties_with_the_best(found: Separation) -> NDArray[np.bool_]:
    best = found.rank == 1
    tied: NDArray[np.bool_] = found.ranked & ~found.beats[best].any(axis=0)
    return tied[:, None]


def _letters(found: Separation) -> NDArray[np.bool_]:
    order = found.order
    # Identical systems count as one: they share all their letters.
    leaders = [system for system in order.tolist() if system == order[found.identical[system, order]][0]]
    differ = found.beats | found.beats.T
    membership = compact_letters(differ[np.ix_(leaders, leaders)])
    result = np.zeros((len(found.ranked), membership.shape[1]), np.bool_)
    for row, leader in enumerate(leaders):
        result[found.identical[leader]] = membership[row]
    return result


CLUSTERS: Mapping[str, Callable[[Separation], NDArray[np.bool_]]] = {
    "lines-between-neighbours": lambda found: _lines(found, all_of_them=False),
    "lines-all-above-all-below": lambda found: _lines(found, all_of_them=True),
    "ties-with-the-best": _ties_with_the_best,
    "letters": _letters,
}
"""Definitions by name, each (system, cluster) bool, the cluster of the best first; a system without a score is in none.

A line between neighbours: the two beat one another, whatever the rest does. Between all above and all below: every system above
beats every one below, as in WMT's tables. Ties with the best: one cluster, those that the best does not beat. Letters: systems
share one exactly where neither beats the other, `pipeline.inference.multiple_comparisons.ranks`."""
