"""Two directional alignments made one, by the heuristics of phrase-based translation."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.compiled import kernel

__all__ = ["HEURISTICS", "Links", "symmetrise", "to_links"]

HEURISTICS = ("forward", "reverse", "intersection", "union", "grow-diag", "grow-diag-final", "grow-diag-final-and")

Links = tuple[tuple[int, int], ...]


def symmetrise(forward: NDArray[np.bool_], reverse: NDArray[np.bool_], heuristic: str) -> NDArray[np.bool_]:
    """Return the links chosen from two directional alignments of a sentence pair.

    ``grow-diag`` begins with the intersection and adds links of the union beside links it has, diagonals included, while they
    link a word that has no link yet. ``final`` then adds directional links, first the forward ones, of which one word has no link
    yet; ``final-and`` those of which both have none (P. Koehn, F. J. Och and D. Marcu 2003, Statistical phrase-based translation,
    doi:10.3115/1073445.1073462; P. Koehn et al. 2005, Edinburgh system description, https://aclanthology.org/2005.iwslt-1.8).

    Parameters
    ----------
    forward, reverse : (source, target) bool
        The links of each direction.
    heuristic : str
        One of `HEURISTICS`.

    Examples
    --------
    >>> forward, reverse = np.array([[1, 0], [1, 0]], bool), np.array([[1, 1], [0, 0]], bool)
    >>> to_links(symmetrise(forward, reverse, "intersection")), to_links(symmetrise(forward, reverse, "grow-diag"))
    (((0, 0),), ((0, 0), (0, 1), (1, 0)))
    """
    if heuristic == "forward":
        return forward.copy()
    if heuristic == "reverse":
        return reverse.copy()
    if heuristic == "union":
        return forward | reverse
    links = forward & reverse
    if heuristic == "intersection":
        return links
    _grow(links, forward | reverse)
    if heuristic != "grow-diag":
        both = heuristic == "grow-diag-final-and"
        _finish(links, forward, both)
        _finish(links, reverse, both)
    return links


def to_links(matrix: NDArray[np.bool_]) -> Links:
    """Return the links of a matrix as sorted pairs (source, target), from 0."""
    found: Collection[list[int]] = np.argwhere(matrix).tolist()
    return tuple((i, j) for i, j in found)


@kernel
def _grow(links: Any, union: Any) -> None:
    # Links are gone through by source, then target; one added just now already has neighbours and already links its words.
    n_source, n_target = links.shape
    source_linked = np.zeros(n_source, dtype=np.bool_)
    target_linked = np.zeros(n_target, dtype=np.bool_)
    for i in range(n_source):
        for j in range(n_target):
            if links[i, j]:
                source_linked[i] = True
                target_linked[j] = True
    steps = ((-1, 0), (0, -1), (1, 0), (0, 1), (-1, -1), (-1, 1), (1, -1), (1, 1))
    added = True
    while added:
        added = False
        for i in range(n_source):
            for j in range(n_target):
                if not links[i, j]:
                    continue
                for down, right in steps:
                    a, b = i + down, j + right
                    if not (0 <= a < n_source and 0 <= b < n_target):
                        continue
                    if union[a, b] and not links[a, b] and not (source_linked[a] and target_linked[b]):
                        links[a, b] = True
                        source_linked[a] = True
                        target_linked[b] = True
                        added = True


@kernel
def _finish(links: Any, directional: Any, both: bool) -> None:
    n_source, n_target = links.shape
    for i in range(n_source):
        for j in range(n_target):
            if not directional[i, j]:
                continue
            source_linked, target_linked = links[i, :].any(), links[:, j].any()
            if (not source_linked and not target_linked) if both else (not source_linked or not target_linked):
                links[i, j] = True
