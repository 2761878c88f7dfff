"""The tree whose rules are most expected, parsed with hidden kinds where an unsplit grammar finds it worth while."""

from __future__ import annotations

from typing import Any

import numpy as np

from pipeline.compiled import kernel

__all__ = ["likely_spans", "most_expected_tree"]


@kernel
def likely_spans(
    n: int, spoken: Any, first: Any, left: Any, right: Any, chain_first: Any, bottom: Any, parameters: Any, least: float
) -> Any:
    """Return which symbols over which spans have a posterior of at least ``least``: (begin, end, symbol) bool.

    ``spoken`` (word, symbol, kind) is P(word | symbol), 0 for symbols that are no tags; ``parameters`` are those of a grammar:
    top, binary, chain.
    """
    n_symbols = len(first) - 1
    kept = np.zeros((n, n + 1, n_symbols), dtype=np.bool_)
    for i in range(n):
        kept[i, i + 1 :] = True
    place, items, spans = _arrange(n, kept)
    low, up, alive = _inside(place, items, spans, spoken, first, left, right, chain_first, bottom, parameters)
    under, over = _outside(n, place, items, spans, up, alive, first, left, right, chain_first, bottom, parameters)
    total = 0.0
    for symbol in range(n_symbols):
        total += (parameters[0][symbol] * up[place[0, n, symbol]]).sum()
    for item in range(len(items)):
        likely = max((low[item] * under[item]).sum(), (up[item] * over[item]).sum())
        kept[items[item, 0], items[item, 1], items[item, 2]] = total > 0 and likely >= least * total
    return kept


@kernel
def most_expected_tree(
    n: int, kept: Any, spoken: Any, first: Any, left: Any, right: Any, chain_first: Any, bottom: Any, parameters: Any
) -> Any:
    """Return the tree with the largest product of the posteriors of its rules, among the spans that were kept.

    Returns
    -------
    (node, 3) int64
        Symbol at the lower end of the node's chain, chain or −1, split or −1; from the top, left before right.
        Empty without a tree.
    """
    place, items, spans = _arrange(n, kept)
    low, up, alive = _inside(place, items, spans, spoken, first, left, right, chain_first, bottom, parameters)
    under, over = _outside(n, place, items, spans, up, alive, first, left, right, chain_first, bottom, parameters)
    top, binary, chain = parameters
    kinds = top.shape[1]
    total, n_symbols = 0.0, len(first) - 1
    for symbol in range(n_symbols):
        if place[0, n, symbol] >= 0:
            total += (top[symbol] * up[place[0, n, symbol]]).sum()
    best_low = np.full(len(items), -np.inf)
    best_up = np.full(len(items), -np.inf)
    how = np.full((len(items), 3), -1, dtype=np.int64)  # binary rule, split, chain
    for span in range(len(spans) - 1):
        for item in range(spans[span], spans[span + 1]):
            i, j, symbol = items[item]
            if j == i + 1:
                share = (under[item] * spoken[i, symbol]).sum() / total
                if share > 0:
                    best_low[item] = np.log(share)
            for rule in range(first[symbol], first[symbol + 1]):
                for k in range(i + 1, j):
                    one, other = place[i, k, left[rule]], place[k, j, right[rule]]
                    if one < 0 or other < 0:
                        continue
                    below = best_up[one] + best_up[other]
                    if below <= best_low[item]:
                        continue  # a posterior is at most 1
                    share = 0.0
                    for x in range(kinds):
                        for y in range(kinds):
                            for z in range(kinds):
                                share += under[item, x] * binary[rule, x, y, z] * up[one, y] * up[other, z]
                    if share > 0 and np.log(share / total) + below > best_low[item]:
                        best_low[item] = np.log(share / total) + below
                        how[item, 0], how[item, 1] = rule, k
        for item in range(spans[span], spans[span + 1]):
            i, j, symbol = items[item]
            share = (over[item] * low[item]).sum() / total
            if share > 0:
                best_up[item] = best_low[item] + np.log(share)
            for link in range(chain_first[symbol], chain_first[symbol + 1]):
                under_it = place[i, j, bottom[link]]
                if under_it < 0 or best_low[under_it] <= best_up[item]:
                    continue
                share = 0.0
                for x in range(kinds):
                    for z in range(kinds):
                        share += over[item, x] * chain[link, x, z] * low[under_it, z]
                if share > 0 and np.log(share / total) + best_low[under_it] > best_up[item]:
                    best_up[item] = np.log(share / total) + best_low[under_it]
                    how[item, 2] = link
    nodes = np.empty((2 * n, 3), dtype=np.int64)
    start, best = -1, -np.inf
    for symbol in range(n_symbols):
        item = place[0, n, symbol]
        if item >= 0:
            share = (top[symbol] * up[item]).sum() / total
            if share > 0 and best_up[item] + np.log(share) > best:
                start, best = item, best_up[item] + np.log(share)
    if start < 0:
        return nodes[:0]
    waiting = np.empty(2 * n + 2, dtype=np.int64)
    waiting[0], n_waiting, n_nodes = start, 1, 0
    while n_waiting:
        n_waiting -= 1
        item = waiting[n_waiting]
        link = how[item, 2]
        if link >= 0:
            item = place[items[item, 0], items[item, 1], bottom[link]]
        i, j, symbol = items[item]
        rule, k = how[item, 0], how[item, 1]
        nodes[n_nodes, 0], nodes[n_nodes, 1], nodes[n_nodes, 2] = symbol, link, k
        n_nodes += 1
        if k >= 0:
            waiting[n_waiting], waiting[n_waiting + 1] = place[k, j, right[rule]], place[i, k, left[rule]]
            n_waiting += 2
    return nodes[:n_nodes]


@kernel
def _arrange(n: int, kept: Any) -> Any:
    """Return the kept symbols of all spans numbers, short spans first, with what they are and where each span begins."""
    n_symbols = kept.shape[2]
    place = np.full((n, n + 1, n_symbols), -1, dtype=np.int64)
    items = np.empty((kept.sum(), 3), dtype=np.int64)
    spans = np.empty(n * (n + 1) // 2 + 1, dtype=np.int64)
    size, span = 0, 0
    for width in range(1, n + 1):
        for i in range(n - width + 1):
            spans[span] = size
            span += 1
            for symbol in range(n_symbols):
                if kept[i, i + width, symbol]:
                    place[i, i + width, symbol] = size
                    items[size, 0], items[size, 1], items[size, 2] = i, i + width, symbol
                    size += 1
    spans[span] = size
    return place, items, spans


@kernel
def _inside(
    place: Any,
    items: Any,
    spans: Any,
    spoken: Any,
    first: Any,
    left: Any,
    right: Any,
    chain_first: Any,
    bottom: Any,
    parameters: Any,
) -> Any:
    """Return the inside probabilities of each item without and with a chain above it, and whether there are any."""
    _, binary, chain = parameters
    kinds = binary.shape[1]
    low = np.zeros((len(items), kinds))
    up = np.zeros((len(items), kinds))
    alive = np.zeros(len(items), dtype=np.bool_)
    for span in range(len(spans) - 1):
        for item in range(spans[span], spans[span + 1]):
            i, j, symbol = items[item]
            if j == i + 1:
                low[item] = spoken[i, symbol]
            for rule in range(first[symbol], first[symbol + 1]):
                for k in range(i + 1, j):
                    one = place[i, k, left[rule]]
                    if one < 0 or not alive[one]:
                        continue
                    other = place[k, j, right[rule]]
                    if other < 0 or not alive[other]:
                        continue
                    for x in range(kinds):
                        for y in range(kinds):
                            for z in range(kinds):
                                low[item, x] += binary[rule, x, y, z] * up[one, y] * up[other, z]
        for item in range(spans[span], spans[span + 1]):
            i, j, symbol = items[item]
            up[item] = low[item]
            for link in range(chain_first[symbol], chain_first[symbol + 1]):
                under_it = place[i, j, bottom[link]]
                if under_it >= 0:
                    for x in range(kinds):
                        for z in range(kinds):
                            up[item, x] += chain[link, x, z] * low[under_it, z]
            alive[item] = up[item].max() > 0
    return low, up, alive


@kernel
def _outside(
    n: int,
    place: Any,
    items: Any,
    spans: Any,
    up: Any,
    alive: Any,
    first: Any,
    left: Any,
    right: Any,
    chain_first: Any,
    bottom: Any,
    parameters: Any,
) -> Any:
    """Return the outside probabilities of each item, below a chain and above it."""
    top, binary, chain = parameters
    kinds = binary.shape[1]
    under = np.zeros((len(items), kinds))
    over = np.zeros((len(items), kinds))
    for symbol in range(place.shape[2]):
        if place[0, n, symbol] >= 0:
            over[place[0, n, symbol]] = top[symbol]
    for span in range(len(spans) - 2, -1, -1):
        for item in range(spans[span], spans[span + 1]):
            i, j, symbol = items[item]
            under[item] += over[item]
            if over[item].max() > 0:
                for link in range(chain_first[symbol], chain_first[symbol + 1]):
                    under_it = place[i, j, bottom[link]]
                    if under_it >= 0:
                        for x in range(kinds):
                            for z in range(kinds):
                                under[under_it, z] += over[item, x] * chain[link, x, z]
        for item in range(spans[span], spans[span + 1]):
            i, j, symbol = items[item]
            if under[item].max() <= 0:
                continue
            for rule in range(first[symbol], first[symbol + 1]):
                for k in range(i + 1, j):
                    one = place[i, k, left[rule]]
                    if one < 0 or not alive[one]:
                        continue
                    other = place[k, j, right[rule]]
                    if other < 0 or not alive[other]:
                        continue
                    for x in range(kinds):
                        for y in range(kinds):
                            for z in range(kinds):
                                part = under[item, x] * binary[rule, x, y, z]
                                over[one, y] += part * up[other, z]
                                over[other, z] += part * up[one, y]
    return under, over
