"""Which systems stand where, by the pairs that a family separates: ranks, groups, letters. This module makes no test of its own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from pipeline.inference.ranks import CLUSTERS, Separation, name_letters, separate

__all__ = ["LETTERS", "MOST_LETTERED", "letters_of", "list_clusters", "relate"]

LETTERS = "letters"
"""The one definition whose groups overlap."""

MOST_LETTERED = 60
"""Systems; the letters of more cannot be read, and may take seconds."""


def relate(
    pairs: Sequence[Mapping[str, Any]], names: Sequence[str], scores: Mapping[str, float | None], *, alpha: float
) -> Separation:
    """Read the rows of all pairs of one family as a relation of the systems ``names``.

    A difference that its row does not believe, whatever its p, separates nobody.
    """
    place = {name: position for position, name in enumerate(names)}
    ends = np.array([(place[row["system_a"]], place[row["system_b"]]) for row in pairs], np.int64).reshape(-1, 2)
    return separate(
        ends,
        score=np.array([np.nan if scores[name] is None else scores[name] for name in names], np.float64),
        delta=np.array([np.nan if row["delta"] is None else row["delta"] for row in pairs], np.float64),
        p=np.array([row["p_adjusted"] if row["separated"] else 1.0 for row in pairs], np.float64),
        identical=np.array([row["identical"] for row in pairs], np.bool_),
        alpha=alpha,
    )


def list_clusters(found: Separation, names: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Yield the groups by every definition of `pipeline.inference.ranks.CLUSTERS`, the best system first."""
    order = found.order.tolist()
    for definition, draw in CLUSTERS.items():
        groups: list[list[str]] | None = None
        reason = None
        if definition == LETTERS and len(order) > MOST_LETTERED:
            reason = f"letters of {len(order):,} systems cannot be read; see the rank intervals"
        else:
            try:
                membership = draw(found)
                groups = [[names[system] for system in order if column[system]] for column in membership.T]
            except ValueError as refusal:  # letters of very intransitive relations have no end
                reason = str(refusal)
        yield {"definition": definition, "groups": groups, "reason": reason}


def letters_of(clusters: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """Write the letters of each system, from the groups of that definition; none where it was refused.

    Examples
    --------
    >>> letters_of([{"definition": "letters", "groups": [["a", "b"], ["b", "c"]]}])
    {'a': 'a', 'b': 'ab', 'c': 'b'}
    """
    groups = next((row["groups"] for row in clusters if row["definition"] == LETTERS), None) or []
    names = list(dict.fromkeys(name for group in groups for name in group))
    membership = np.array([[name in group for group in groups] for name in names], np.bool_).reshape(len(names), len(groups))
    return dict(zip(names, name_letters(membership), strict=True))
