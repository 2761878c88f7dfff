"""Trees from the votes of parsers: count the arcs that members propose, and find the tree with the most votes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from pipeline.compiled import kernel
from reference_systems._spanning_trees import best_projective_tree, best_tree

__all__ = ["reparse", "vote_relations"]


@kernel
def reparse(starts: NDArray[np.int64], proposed: NDArray[np.int32], projective: bool) -> NDArray[np.int32]:
    """Return the heads of the tree whose arcs have the most votes (Sagae and Lavie 2006, https://aclanthology.org/N06-2033).

    Every member has one vote for each arc of its tree. Between trees with as many votes, an arc of an earlier member counts a
    little more.

    Parameters
    ----------
    starts : (sentence + 1,) int64
    proposed : (member, entry) int32
        Heads, laid out like ``Treebank.heads``.
    projective : bool
        Whether arcs of the result may not cross.
    """
    members = len(proposed)
    heads = np.full(proposed.shape[1], -1, np.int32)
    for index in range(len(starts) - 1):
        start = starts[index]
        n = starts[index + 1] - start - 3
        scores = np.zeros((n + 1, n + 1), np.int64)
        # What earlier members have more is, over a whole sentence, less than one vote.
        vote = np.int64(members * members * (n + 1))
        for member in range(members):
            for word in range(1, n + 1):
                scores[proposed[member, start + 1 + word], word] += vote + members - 1 - member
        found = best_projective_tree(scores) if projective else best_tree(scores)
        for word in range(1, n + 1):
            heads[start + 1 + word] = found[word]
    return heads


def vote_relations(
    heads: NDArray[np.int32], proposed: Sequence[tuple[NDArray[np.int32], NDArray[np.int32]]], fallback: NDArray[np.int32]
) -> NDArray[np.int32]:
    """Return the relation that most members with this very arc give it, of equals the earliest member's.

    Where no member has the arc, which trees of votes seldom need, it is the ``fallback``.
    """
    given = np.array([np.where(own == heads, relations, -1) for own, relations in proposed])
    votes = (given[:, None, :] == given[None, :, :]).sum(axis=1)
    votes[given < 0] = 0
    first = votes.argmax(axis=0)  # the first of equals
    relations: NDArray[np.int32] = np.where(
        votes.max(axis=0) > 0, np.take_along_axis(given, first[None, :], axis=0)[0], fallback
    ).astype(np.int32)
    return relations
