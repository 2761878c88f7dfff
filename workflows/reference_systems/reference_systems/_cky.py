"""The most probable tree, found by filling in spans from the bottom up (CKY), in log-probabilities."""

from __future__ import annotations

from typing import Any

import numpy as np

from pipeline.compiled import kernel
from reference_systems._grammar import Grammar
from reference_systems._trees import ROOT, Tree

__all__ = ["best_tree"]


def best_tree(grammar: Grammar, words: tuple[str, ...], tags: tuple[Any, Any, Any]) -> tuple[float, Tree | None]:
    """Return the log-probability of the best tree of a sentence and the tree; −∞ and None where the grammar has none.

    Parameters
    ----------
    grammar : Grammar
        Its rules.
    words : tuple of str
        The sentence.
    tags : (first, symbol, score)
        For each word, from ``first[word]`` on, the symbols it may be and log P(word | symbol).
    """
    root = grammar.symbols.index(ROOT)
    score, symbols, chains, splits = _parse(
        len(words),
        *tags,
        grammar.first,
        grammar.parent,
        grammar.right,
        grammar.binary,
        grammar.chain_first,
        grammar.chain_parent,
        grammar.chain,
        root,
    )
    if not len(symbols):
        return -np.inf, None
    # The nodes come in the order right to left from the last word up: parts of a node are complete before it.
    done: list[Tree] = []
    position = len(words)
    for symbol, chain, split in zip(symbols[::-1], chains[::-1], splits[::-1], strict=True):
        if split < 0:
            position -= 1
            tree = Tree(grammar.symbols[symbol], word=words[position])
        else:
            tree = Tree(grammar.symbols[symbol], (done.pop(), done.pop()))
        if chain >= 0:
            for above in reversed(grammar.paths[chain]):
                tree = Tree(grammar.symbols[above], (tree,))
        done.append(tree)
    return float(score), done[0].parts[0]


@kernel
def _parse(
    n: int,
    tag_first: Any,
    tag_symbol: Any,
    tag_score: Any,
    first: Any,
    parent: Any,
    right: Any,
    binary: Any,
    chain_first: Any,
    chain_parent: Any,
    chain: Any,
    root: int,
) -> Any:
    """Return the score of the best tree and its nodes from the top, left before right: symbol below its chain, chain, split."""
    n_symbols = len(first) - 1
    worst = -np.inf
    # Cells are lists; those that end where the current one ends are also spread out by symbol, to be looked up as right parts.
    spread = np.full((n + 1, n_symbols), worst)
    low = np.full(n_symbols, worst)
    rule_split = np.zeros(n_symbols, dtype=np.int32)
    draw_rule = np.zeros(n_symbols, dtype=np.int32)
    chain_of = np.zeros(n_symbols, dtype=np.int32)
    met = np.empty(n_symbols, dtype=np.int32)
    begin = np.zeros((n + 1, n + 1), dtype=np.int64)
    length = np.zeros((n + 1, n + 1), dtype=np.int64)
    size, capacity = 0, 1 << 16
    cell_symbol = np.empty(capacity, dtype=np.int32)
    cell_score = np.empty(capacity, dtype=np.float64)
    cell_chain = np.empty(capacity, dtype=np.int32)
    cell_rule = np.empty(capacity, dtype=np.int32)
    cell_split = np.empty(capacity, dtype=np.int32)
    for j in range(1, n + 1):
        for i in range(j - 1, -1, -1):
            n_met = 0
            if j == i + 1:
                for k in range(tag_first[i], tag_first[i + 1]):
                    symbol = tag_symbol[k]
                    if tag_score[k] > low[symbol]:
                        met[n_met] = symbol
                        n_met += 1
                        low[symbol] = tag_score[k]
                        rule_split[symbol] = -1
            for k in range(i + 1, j):
                column = spread[k]
                for entry in range(begin[i, k], begin[i, k] + length[i, k]):
                    left, left_score = cell_symbol[entry], cell_score[entry]
                    for rule in range(first[left], first[left + 1]):
                        other = column[right[rule]]
                        if other == worst:
                            continue
                        score = left_score + other + binary[rule]
                        symbol = parent[rule]
                        if score > low[symbol]:
                            if low[symbol] == worst:
                                met[n_met] = symbol
                                n_met += 1
                            low[symbol] = score
                            draw_rule[symbol] = rule
                            rule_split[symbol] = k
            here = spread[i]
            n_low = n_met
            for k in range(n_low):
                here[met[k]] = low[met[k]]
                chain_of[met[k]] = -1
            for k in range(n_low):
                for link in range(chain_first[met[k]], chain_first[met[k] + 1]):
                    symbol = chain_parent[link]
                    score = low[met[k]] + chain[link]
                    if score > here[symbol]:
                        if here[symbol] == worst:
                            met[n_met] = symbol
                            n_met += 1
                        here[symbol] = score
                        chain_of[symbol] = link
            if size + n_met > capacity:
                capacity = 2 * capacity + n_met
                cell_symbol, cell_score = _grown(cell_symbol, capacity), _grown(cell_score, capacity)
                cell_chain, cell_rule = _grown(cell_chain, capacity), _grown(cell_rule, capacity)
                cell_split = _grown(cell_split, capacity)
            begin[i, j], length[i, j] = size, n_met
            for k in range(n_met):
                symbol = met[k]
                cell_symbol[size], cell_score[size], cell_chain[size] = symbol, here[symbol], chain_of[symbol]
                cell_rule[size], cell_split[size] = draw_rule[symbol], rule_split[symbol]
                size += 1
                low[symbol] = worst
        total = spread[0, root]
        for i in range(j):
            for entry in range(begin[i, j], begin[i, j] + length[i, j]):
                spread[i, cell_symbol[entry]] = worst
    symbols = np.empty(2 * n, dtype=np.int64)
    chains = np.empty(2 * n, dtype=np.int64)
    splits = np.empty(2 * n, dtype=np.int64)
    if n == 0 or total == worst:
        return worst, symbols[:0], chains[:0], splits[:0]
    waiting = np.empty((2 * n + 2, 3), dtype=np.int64)
    waiting[0] = np.array([root, 0, n])
    n_waiting, n_nodes = 1, 0
    while n_waiting:
        n_waiting -= 1
        symbol, i, j = waiting[n_waiting]
        entry = _find(cell_symbol, symbol, begin[i, j], length[i, j])
        link = cell_chain[entry]
        if link >= 0:
            symbol = _bottom(chain_first, link)
            entry = _find(cell_symbol, symbol, begin[i, j], length[i, j])
        symbols[n_nodes], chains[n_nodes], splits[n_nodes] = symbol, link, cell_split[entry]
        n_nodes += 1
        k = cell_split[entry]
        if k >= 0:
            rule = cell_rule[entry]
            left = _bottom(first, rule)
            waiting[n_waiting, 0], waiting[n_waiting, 1], waiting[n_waiting, 2] = right[rule], k, j
            waiting[n_waiting + 1, 0], waiting[n_waiting + 1, 1], waiting[n_waiting + 1, 2] = left, i, k
            n_waiting += 2
    return total, symbols[:n_nodes], chains[:n_nodes], splits[:n_nodes]


@kernel
def _grown(values: Any, capacity: int) -> Any:
    larger = np.empty(capacity, dtype=values.dtype)
    larger[: len(values)] = values
    return larger


@kernel
def _find(symbols: Any, wanted: int, begin: int, length: int) -> int:
    for entry in range(begin, begin + length):
        if symbols[entry] == wanted:
            return entry
    return -1


@kernel
def _bottom(first: Any, rule: int) -> Any:
    """Return the symbol whose rules, which begin at ``first[symbol]``, this one is among."""
    found: Any = np.searchsorted(first, rule, side="right") - 1
    return found
