"""Bracketed trees as nested lists. This module parses them without recursion, and leaves out traces and functions."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from pipeline.errors import DataError
from pipeline.items.readers._files import Lines

__all__ = ["Leaf", "Tree", "normalise", "read_trees"]

_TOKEN = re.compile(r"[()]|[^\s()]+")
_ROOTS = frozenset({"", "TOP", "ROOT", "S1", "VROOT"})
_FUNCTION = re.compile("[-=]")
_TRACE = "-NONE-"
_HELP = "a phrase is `(LABEL …)`, a word `(TAG word)`; a bracket that is a word is `-LRB-` or `-RRB-`"


class Leaf(NamedTuple):
    """A word and its tag."""

    word: str
    tag: str


@dataclass(frozen=True)
class Tree:
    """A tree in one line, its leaves, where it begins and what document it is in (``""`` before the first)."""

    text: str
    leaves: tuple[Leaf, ...]
    line: int
    document: str


def read_trees(lines: Lines) -> Iterator[Tree]:
    """Yield the trees of a file, on one line or over several; a line ``# doc NAME`` between trees begins a document.

    Raises
    ------
    DataError
        P256 where brackets do not close, or stand where none can.
    """
    open_tokens: list[str] = []
    depth = begun = 0
    document = ""
    for number, line in enumerate(lines.values, start=1):
        if depth == 0 and line.startswith("#"):
            words = line[1:].split()
            if words[:1] == ["doc"] and len(words) > 1:
                document = " ".join(words[1:])
            continue
        for token in _TOKEN.findall(line):
            if depth == 0:
                if token != "(":
                    wrong = "a bracket is closed that was not opened" if token == ")" else f"{token!r} stands outside a tree"
                    raise DataError.of("P256", wrong, where=f"{lines.source}:{number}", help=_HELP)
                begun = number
            open_tokens.append(token)
            depth += (token == "(") - (token == ")")
            if depth == 0:
                text, leaves = _normalise(open_tokens, f"{lines.source}:{begun}")
                yield Tree(text, leaves, begun, document)
                open_tokens = []
    if depth:
        raise DataError.of(
            "P256",
            f"the file ends within a tree: {depth} bracket{'s are' if depth > 1 else ' is'} not closed",
            where=f"{lines.source}:{begun}",
            help="the tree that begins there, or one after it, lacks a bracket",
        )


def normalise(text: str) -> str:
    """Return a tree in one line without traces, functions and a root that says nothing.

    Examples
    --------
    >>> normalise("( (S (NP-SBJ (-NONE- *-1)) (VP=2 (VB sail) (NP-TMP (NN home)))))")
    '(S (VP (VB sail) (NP (NN home))))'
    """
    return _normalise(_TOKEN.findall(text), "the tree")[0]


def _normalise(tokens: Sequence[str], where: str) -> tuple[str, tuple[Leaf, ...]]:
    """Return the text and the leaves of one tree, from pieces; those of a phrase that turns out to be empty are taken back."""
    pieces: list[str] = []
    opened: list[_Open] = [_Open("", 0)]
    parts: dict[int, int] = {}
    leaves: list[Leaf] = []
    place, end = 0, len(tokens)
    while place < end:
        token = tokens[place]
        if token == "(":
            label = tokens[place + 1]
            place += 2
            if label in "()":
                label = ""
                place -= 1
            if tokens[place] in "()":
                opened.append(_Open(label, len(pieces)))
                pieces.append(f" ({label if label[:1] == '-' else _FUNCTION.split(label, maxsplit=1)[0]}")
                continue
            if place + 1 >= end or tokens[place + 1] != ")":
                raise DataError.of("P256", f"'({label} {tokens[place]} …' is neither a word nor a phrase", where=where, help=_HELP)
            if label != _TRACE:
                leaves.append(Leaf(tokens[place], label))
                pieces.append(f" ({label} {tokens[place]})")
                opened[-1].parts += 1
            place += 2
        elif token == ")":
            phrase = opened.pop()
            if phrase.parts:
                if not phrase.label and len(opened) > 1:
                    raise DataError.of("P256", "a phrase within the tree has no label", where=where, help=_HELP)
                parts[phrase.begin] = phrase.parts
                pieces.append(")")
                opened[-1].parts += 1
            else:
                del pieces[phrase.begin :]
            place += 1
        else:
            raise DataError.of("P256", f"the word {token!r} stands beside phrases, without a tag", where=where, help=_HELP)
    return "".join(_without_roots(pieces, parts)).lstrip(), tuple(leaves)


def _without_roots(pieces: Sequence[str], parts: Mapping[int, int]) -> Sequence[str]:
    """Leave out roots that say nothing; one that has several parts is ``TOP``. ``parts`` is of the phrase that a piece begins."""
    first = 0
    while first in parts and pieces[first][2:] in _ROOTS:
        if parts[first] > 1:
            return [" (TOP", *pieces[first + 1 : len(pieces) - first]]
        first += 1
    return pieces[first : len(pieces) - first]


@dataclass
class _Open:
    """A phrase that is not closed yet: its label, its first piece and how many parts it has so far."""

    label: str
    begin: int
    parts: int = 0
