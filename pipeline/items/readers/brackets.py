"""Phrase structure trees in Penn brackets, one tree a line or over several lines.

They are parsed without recursion, since a tree may be nested as deeply as its file is long. Traces and functions are left out, as
evalb does; trees are written one a line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Literal, NamedTuple

from pipeline.dataclass import dataclass
from pipeline.errors import DataError
from pipeline.interfaces import FileSample, Items, Reader, Recognised
from pipeline.items.readers._files import Lines, read_lines, with_warnings, write_lines
from pipeline.items.readers._join import join_items, need_system

__all__ = ["BracketReader", "Leaf", "Tree", "normalise"]

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


def _read_trees(lines: Lines) -> Iterator[Tree]:
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


_TREE_BEGINS = re.compile(r"\s*\(\s*[^\s()]*\s*\(")


class BracketReader(Reader):
    """Trees in brackets; empty lines between them mean nothing, lines ``# doc NAME`` begin documents.

    Items have the columns ``tree``, in one line without traces, empty phrases, functions (``NP-SBJ`` is ``NP``) and a root that
    says nothing, and ``word`` and ``tag`` of its leaves, punctuation too; the gold may have ``document``. ``(())`` is a sentence
    that a parser gave up: its tree is ``""``.
    """

    name: ClassVar[str] = "brackets"
    endings: ClassVar[tuple[str, ...]] = (".txt", ".mrg", ".brackets", ".trees", ".tree", ".ptb", ".parse", ".parsed")
    targets: ClassVar[tuple[str, ...]] = ("tree",)
    compares_with: Literal["references", "gold", "nothing"] = "gold"
    usual_metric: str | None = "bracket-f1"
    blank: str = ""

    def __init__(self) -> None:
        self._told: list[str] = []

    @staticmethod
    def recognise(sample: FileSample) -> Recognised | None:
        """Take what begins with the bracket of a tree that has a bracket in it."""
        first = next((line for line in sample.lines if line.strip() and not line.startswith("#")), "")
        if _TREE_BEGINS.match(first):
            return Recognised(0.8, f"a tree in brackets: {first.strip()[:20]}…")
        return None

    @with_warnings
    def read_gold(self, paths: Sequence[Path], options: Mapping[str, Any]) -> Items | None:
        """Return the trees of one or several files; None without files."""
        if not paths:
            return None
        parts = [self._read(path, gold=True) for path in paths]
        return join_items(parts)

    @with_warnings
    def read_outputs(self, path: Path, *, system: str | None, options: Mapping[str, Any]) -> dict[str, Items]:
        """Return the trees of one system."""
        return {need_system(system, path, "trees"): self._read(path, gold=False)}

    def write(self, path: Path, columns: Mapping[str, Sequence[Any]], ids: Sequence[str]) -> None:
        """Write one tree a line; without trees the words and tags alone, side by side under ``TOP``.

        Raises
        ------
        ValueError
            Where a word or tag is empty or holds a bracket or white space: it could not be read again.
        """
        write_lines(path, _as_lines(columns, len(ids)))

    def _read(self, path: Path, *, gold: bool) -> Items:
        lines = read_lines(path, tokens=True)
        self._told.extend(lines.warnings)
        trees = list(_read_trees(lines))
        if not trees:
            raise DataError.of("P256", "the file has no tree", where=lines.source)
        empty = next((tree for tree in trees if not tree.leaves), None)
        if gold and empty is not None:
            raise DataError.of(
                "P256", "the tree has no word, and the gold has one everywhere", where=f"{lines.source}:{empty.line}"
            )
        columns: dict[str, Sequence[Any]] = {
            "tree": tuple(tree.text for tree in trees),
            "word": tuple(tuple(leaf.word for leaf in tree.leaves) for tree in trees),
            "tag": tuple(tuple(leaf.tag for leaf in tree.leaves) for tree in trees),
        }
        if gold and any(tree.document for tree in trees):
            columns["document"] = tuple(tree.document for tree in trees)
        ids = tuple(str(k + 1) for k in range(len(trees)))
        return Items(ids, columns, lines.source, tuple(tree.line for tree in trees))


def _as_lines(columns: Mapping[str, Sequence[Any]], count: int) -> Iterator[str]:
    documents = columns.get("document")
    for k in range(count):
        if documents is not None and documents[k] and (k == 0 or documents[k] != documents[k - 1]):
            yield f"# doc {documents[k]}"
        if "tree" in columns:
            yield columns["tree"][k] or "(())"
        else:
            words = columns["word"][k]
            tags = columns["tag"][k] if "tag" in columns else ("X",) * len(words)
            leaves = [f"({_atom(tag)} {_atom(word)})" for word, tag in zip(words, tags, strict=True)]
            yield f"(TOP {' '.join(leaves)})"


def _atom(value: str) -> str:
    if not value or value.split() != [value] or "(" in value or ")" in value:
        raise ValueError(f"{value!r} is empty or holds a bracket or white space")
    return value
