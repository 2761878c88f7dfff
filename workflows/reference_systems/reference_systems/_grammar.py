"""Probabilistic context-free grammars, read off binary trees, with their unary rules closed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from reference_systems._trees import ROOT, Tree

__all__ = ["Grammar", "count_rules", "estimate"]


@dataclass(frozen=True)
class Grammar:
    """Rules by relative frequency, laid out for parsing from the bottom up.

    Parameters
    ----------
    symbols : tuple of str
        Sorted; `ROOT` is among them, above every tree.
    first, parent, right, binary : 1-d arrays
        Binary rules by their left part: where those of each symbol begin, what they make, their right part, their
        log-probability.
    chain_first, chain_parent, chain : 1-d arrays
        The most probable chain of unary rules from each symbol up to each other, in the same form.
    paths : tuple of tuple of int
        Of each chain, the symbols from its top to the one before its bottom.
    """

    symbols: tuple[str, ...]
    first: NDArray[np.int64]
    parent: NDArray[np.int64]
    right: NDArray[np.int64]
    binary: NDArray[np.float64]
    chain_first: NDArray[np.int64]
    chain_parent: NDArray[np.int64]
    chain: NDArray[np.float64]
    paths: tuple[tuple[int, ...], ...]


Rules = Counter[tuple[str, ...]]


def count_rules(trees: Iterable[Tree]) -> Rules:
    """Count the rules of binary trees, a label and the labels of its parts; words are not among them."""
    rules: Rules = Counter()
    for tree in trees:
        rules[ROOT, tree.label] += 1
        waiting = [tree]
        while waiting:
            node = waiting.pop()
            if node.word is None:
                rules[(node.label, *(part.label for part in node.parts))] += 1
                waiting.extend(node.parts)
    return rules


def estimate(rules: Rules) -> Grammar:
    """Return the grammar in which a rule has the share of its left side that it has in the counts."""
    symbols = tuple(sorted({symbol for rule in rules for symbol in rule}))
    number = {symbol: k for k, symbol in enumerate(symbols)}
    made: Counter[str] = Counter()
    for rule, count in rules.items():
        made[rule[0]] += count
    binary, unary = [], []
    for rule, count in rules.items():
        share = np.log(count / made[rule[0]])
        numbers = tuple(number[symbol] for symbol in rule)
        if len(rule) == 3:
            binary.append((numbers[1], numbers[2], numbers[0], share))
        else:
            unary.append((numbers[1], numbers[0], share))
    binary.sort()
    chains = _close(sorted(unary))
    return Grammar(
        symbols,
        _begins([rule[0] for rule in binary], len(symbols)),
        np.array([rule[2] for rule in binary], dtype=np.int64),
        np.array([rule[1] for rule in binary], dtype=np.int64),
        np.array([rule[3] for rule in binary], dtype=np.float64),
        _begins([bottom for bottom, _ in chains], len(symbols)),
        np.array([top for _, top in chains], dtype=np.int64),
        np.array([share for share, _ in chains.values()], dtype=np.float64),
        tuple(path for _, path in chains.values()),
    )


def _begins(sorted_symbols: list[int], n_symbols: int) -> NDArray[np.int64]:
    return np.searchsorted(sorted_symbols, np.arange(n_symbols + 1)).astype(np.int64)


def _close(unary: list[tuple[int, int, float]]) -> dict[tuple[int, int], tuple[float, tuple[int, ...]]]:
    """Return the best chain from each symbol to each that can be above it, by adding a rule on top until nothing gets better."""
    above: dict[int, list[tuple[int, float]]] = {}
    for bottom, top, share in unary:
        above.setdefault(bottom, []).append((top, float(share)))
    best: dict[tuple[int, int], tuple[float, tuple[int, ...]]] = {}
    for start in sorted(above):
        fresh: dict[int, tuple[float, tuple[int, ...]]] = {start: (0.0, ())}
        while fresh:
            grown: dict[int, tuple[float, tuple[int, ...]]] = {}
            for symbol, (score, path) in fresh.items():
                for top, share in above.get(symbol, ()):
                    known = max(best.get((start, top), (-np.inf, ()))[0], grown.get(top, (-np.inf, ()))[0])
                    if top != start and score + share > known:
                        grown[top] = (score + share, (top, *path))
            best.update({(start, top): found for top, found in grown.items()})
            fresh = grown
    return dict(sorted(best.items()))
