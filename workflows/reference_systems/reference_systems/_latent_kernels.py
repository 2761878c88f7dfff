"""Sums over hidden kinds: inside and outside values on known trees, and the counts expected from them."""

from __future__ import annotations

from typing import Any

import numpy as np

from pipeline.compiled import kernel

__all__ = ["expect"]


@kernel
def expect(
    ends: Any,
    symbol: Any,
    rule: Any,
    one: Any,
    other: Any,
    top: Any,
    binary: Any,
    chain: Any,
    word: Any,
    top_count: Any,
    binary_count: Any,
    chain_count: Any,
    word_count: Any,
) -> float:
    """Add the expected counts of all trees, and return the log-likelihood.

    Inside and outside values of a node are kept to a factor of the node, which cancels: what happens at a node sums to 1.
    """
    kinds = top.shape[1]
    inside = np.empty((len(symbol), kinds))
    outside = np.zeros((len(symbol), kinds))
    likelihood = 0.0
    begin = 0
    for end in ends:
        for node in range(begin, end):
            values = inside[node]
            if one[node] < 0:
                values[:] = word[rule[node]]
            elif other[node] < 0:
                below = inside[one[node]]
                for x in range(kinds):
                    total = 0.0
                    for z in range(kinds):
                        total += chain[rule[node], x, z] * below[z]
                    values[x] = total
            else:
                left, right = inside[one[node]], inside[other[node]]
                for x in range(kinds):
                    total = 0.0
                    for y in range(kinds):
                        for z in range(kinds):
                            total += binary[rule[node], x, y, z] * left[y] * right[z]
                    values[x] = total
            likelihood += np.log(_scaled(values))
        tree = (top[symbol[end - 1]] * inside[end - 1]).sum()
        likelihood += np.log(tree)
        outside[end - 1] = top[symbol[end - 1]]
        top_count[symbol[end - 1]] += top[symbol[end - 1]] * inside[end - 1] / tree
        for node in range(end - 1, begin - 1, -1):
            above = outside[node]
            _scaled(above)
            if one[node] < 0:
                word_count[rule[node]] += above * inside[node] / (above * inside[node]).sum()
            elif other[node] < 0:
                below = inside[one[node]]
                share = 0.0
                for x in range(kinds):
                    for z in range(kinds):
                        part = above[x] * chain[rule[node], x, z]
                        share += part * below[z]
                        outside[one[node], z] += part
                for x in range(kinds):
                    for z in range(kinds):
                        chain_count[rule[node], x, z] += above[x] * chain[rule[node], x, z] * below[z] / share
            else:
                left, right = inside[one[node]], inside[other[node]]
                share = 0.0
                for x in range(kinds):
                    for y in range(kinds):
                        for z in range(kinds):
                            part = above[x] * binary[rule[node], x, y, z]
                            share += part * left[y] * right[z]
                            outside[one[node], y] += part * right[z]
                            outside[other[node], z] += part * left[y]
                for x in range(kinds):
                    for y in range(kinds):
                        for z in range(kinds):
                            part = above[x] * binary[rule[node], x, y, z] * left[y] * right[z]
                            binary_count[rule[node], x, y, z] += part / share
        begin = end
    return likelihood


@kernel
def _scaled(values: Any) -> float:
    """Divide by the largest value, in place, and return it."""
    largest: float = values.max()
    if largest > 0:
        values /= largest
    return largest
