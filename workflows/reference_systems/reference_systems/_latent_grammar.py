"""Grammars whose symbols are split into hidden kinds: lay out a treebank for them, and estimate them by EM.

A symbol ``A`` has ``k`` kinds; a rule ``A → B C`` has ``k³`` probabilities, which for each kind of A sum to 1 with those of its
other rules. A chain of unary rules is one rule here, and no other chain follows it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from reference_systems._latent_kernels import expect
from reference_systems._trees import Tree

__all__ = ["Bank", "Counts", "Layout", "Parameters", "climb", "double", "lay_out", "one_kind", "smooth"]


class Layout(NamedTuple):
    """The rules of a treebank, by their left side.

    Parameters
    ----------
    symbols : tuple of str
        Sorted.
    first, left, right : 1-d int64
        Binary rules: where those of each symbol begin, and their parts.
    chain_first, bottom : 1-d int64
        Chains: where those of each symbol begin, and what is at the lower end.
    paths : tuple of tuple of str
        Of each chain the labels from its top to the one before its bottom.
    entries : mapping
        Row of ``(tag, class of words)`` among the lexical parameters.
    entry_tag, entry_count : (entry,) int64
        Symbol of the tag, and occurrences.
    """

    symbols: tuple[str, ...]
    first: NDArray[np.int64]
    left: NDArray[np.int64]
    right: NDArray[np.int64]
    chain_first: NDArray[np.int64]
    bottom: NDArray[np.int64]
    paths: tuple[tuple[str, ...], ...]
    entries: Mapping[tuple[str, str], int]
    entry_tag: NDArray[np.int64]
    entry_count: NDArray[np.int64]


class Bank(NamedTuple):
    """Binary trees as nodes, parts before wholes, one tree after the other.

    Parameters
    ----------
    ends : (tree,) int64
        The node after the last of each tree; the last is the top.
    symbol, rule, one, other : (node,) int64
        Label; its rule, chain or lexical entry; its parts, where ``other`` is −1 for a chain and both are −1 for a word.
    """

    ends: NDArray[np.int64]
    symbol: NDArray[np.int64]
    rule: NDArray[np.int64]
    one: NDArray[np.int64]
    other: NDArray[np.int64]


@dataclass(frozen=True)
class Parameters:
    """Probabilities of the kinds.

    Parameters
    ----------
    top : (symbol, k) float64
        Of the label of a whole sentence.
    binary : (rule, k, k, k) float64
        ``P(A_x → B_y C_z | A_x)``.
    chain : (chain, k, k) float64
        ``P(A_x → … → C_z | A_x)``.
    word : (entry, k) float64
        ``P(class | tag_x) / P(class | tag)``.
    """

    top: NDArray[np.float64]
    binary: NDArray[np.float64]
    chain: NDArray[np.float64]
    word: NDArray[np.float64]


Counts = Parameters
"""Expected occurrences have the shapes of the parameters."""


def lay_out(trees: Sequence[Tree], classes: Mapping[str, str]) -> tuple[Layout, Bank]:
    """Lay out binary trees; ``classes`` gives the class of each word."""
    binary: set[Any] = set()
    chains: set[Any] = set()
    entries: dict[Any, int] = {}
    nodes: list[list[tuple[str, tuple[Any, ...], int, int]]] = []
    for tree in trees:
        nodes.append(_nodes(tree, classes))
        for _, rule, _, other in nodes[-1]:
            if len(rule) == 2:
                entries[rule] = entries.get(rule, 0) + 1
            elif other < 0:
                chains.add(rule)
            else:
                binary.add(rule)
    symbols = tuple(sorted({symbol for own in nodes for symbol, _, _, _ in own}))
    number = {symbol: k for k, symbol in enumerate(symbols)}
    pairs, links, lexical = sorted(binary), sorted(chains), sorted(entries)
    row: dict[Any, int] = {rule: k for rules in (pairs, links, lexical) for k, rule in enumerate(rules)}
    layout = Layout(
        symbols,
        _begins([number[rule[0]] for rule in pairs], len(symbols)),
        np.array([number[rule[1]] for rule in pairs], dtype=np.int64),
        np.array([number[rule[2]] for rule in pairs], dtype=np.int64),
        _begins([number[rule[0]] for rule in links], len(symbols)),
        np.array([number[rule[1]] for rule in links], dtype=np.int64),
        tuple(rule[2] for rule in links),
        {entry: k for k, entry in enumerate(lexical)},
        np.array([number[tag] for tag, _ in lexical], dtype=np.int64),
        np.array([entries[entry] for entry in lexical], dtype=np.int64),
    )
    starts = np.concatenate(([0], np.cumsum([len(own) for own in nodes])))
    rows = [
        (number[symbol], row[rule], one + start if one >= 0 else -1, other + start if other >= 0 else -1)
        for own, start in zip(nodes, starts[:-1].tolist(), strict=True)
        for symbol, rule, one, other in own
    ]
    table = np.array(rows, dtype=np.int64).reshape(-1, 4).T.copy()
    return layout, Bank(starts[1:].astype(np.int64), *table)


def _nodes(tree: Tree, classes: Mapping[str, str]) -> list[tuple[str, tuple[Any, ...], int, int]]:
    """Return (label, rule, one part, other part) of each node, parts before wholes."""
    found: list[tuple[str, tuple[Any, ...], int, int]] = []

    def add(node: Tree) -> int:
        if node.word is not None:
            found.append((node.label, (node.label, classes[node.word]), -1, -1))
        elif len(node.parts) == 1:
            path, bottom = [node.label], node.parts[0]
            while len(bottom.parts) == 1:
                path.append(bottom.label)
                bottom = bottom.parts[0]
            part = add(bottom)
            found.append((node.label, (node.label, bottom.label, tuple(path)), part, -1))
        else:
            one, other = add(node.parts[0]), add(node.parts[1])
            found.append((node.label, (node.label, node.parts[0].label, node.parts[1].label), one, other))
        return len(found) - 1

    add(tree)
    return found


def _begins(sorted_symbols: list[int], n_symbols: int) -> NDArray[np.int64]:
    return np.searchsorted(sorted_symbols, np.arange(n_symbols + 1)).astype(np.int64)


def one_kind(layout: Layout, bank: Bank) -> Parameters:
    """Return the grammar in which every symbol has one kind: relative frequencies."""
    flat = Parameters(
        np.ones((len(layout.symbols), 1)),
        np.ones((len(layout.left), 1, 1, 1)),
        np.ones((len(layout.bottom), 1, 1)),
        np.ones((len(layout.entry_tag), 1)),
    )
    return climb(layout, bank, flat)[0]


def double(parameters: Parameters, generator: np.random.Generator, *, noise: float = 0.01) -> Parameters:
    """Split every kind into two that are alike but for some noise, without which EM could not tell them apart."""

    def shaken(values: NDArray[np.float64], axes: Iterable[int], share: float) -> NDArray[np.float64]:
        for axis in axes:
            values = np.repeat(values, 2, axis=axis)
        return np.asarray(values * share * (1.0 + noise * (2.0 * generator.random(values.shape) - 1.0)))

    return Parameters(
        shaken(parameters.top, (1,), 0.5),
        shaken(parameters.binary, (1, 2, 3), 0.25),
        shaken(parameters.chain, (1, 2), 0.5),
        shaken(parameters.word, (1,), 1.0),
    )


def climb(layout: Layout, bank: Bank, parameters: Parameters) -> tuple[Parameters, float]:
    """Do one step of EM: return the parameters of the expected counts, and the log-likelihood of the trees before the step."""
    counts = Counts(*(np.zeros_like(values) for values in (parameters.top, parameters.binary, parameters.chain, parameters.word)))
    likelihood = expect(
        *bank,
        parameters.top,
        parameters.binary,
        parameters.chain,
        parameters.word,
        counts.top,
        counts.binary,
        counts.chain,
        counts.word,
    )
    n_symbols, kinds = counts.top.shape
    of_binary = np.repeat(np.arange(n_symbols), np.diff(layout.first))
    of_chain = np.repeat(np.arange(n_symbols), np.diff(layout.chain_first))
    used = np.zeros((n_symbols, kinds))
    np.add.at(used, of_binary, counts.binary.sum(axis=(2, 3)))
    np.add.at(used, of_chain, counts.chain.sum(axis=2))
    spoken, occurrences = np.zeros((n_symbols, kinds)), np.zeros(n_symbols)
    np.add.at(spoken, layout.entry_tag, counts.word)
    np.add.at(occurrences, layout.entry_tag, layout.entry_count)
    expected = spoken[layout.entry_tag] * (layout.entry_count / occurrences[layout.entry_tag])[:, None]
    return (
        Parameters(
            counts.top / counts.top.sum(),
            _ratio(counts.binary, used[of_binary][:, :, None, None]),
            _ratio(counts.chain, used[of_chain][:, :, None]),
            _ratio(counts.word, expected),
        ),
        float(likelihood),
    )


def _ratio(counts: NDArray[np.float64], of: NDArray[np.float64]) -> NDArray[np.float64]:
    # A kind that has died out has probabilities 0 everywhere.
    return np.divide(counts, of, out=np.zeros_like(counts), where=of > 0)


def smooth(parameters: Parameters, *, rules: float, words: float) -> Parameters:
    """Draw the kinds of a symbol towards their mean, by these shares."""

    def drawn(values: NDArray[np.float64], share: float) -> NDArray[np.float64]:
        return np.asarray((1.0 - share) * values + share * values.mean(axis=1, keepdims=True))

    return Parameters(
        parameters.top, drawn(parameters.binary, rules), drawn(parameters.chain, rules), drawn(parameters.word, words)
    )
