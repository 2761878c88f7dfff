"""Phrase structure trees. This module reads Penn brackets, one tree a line or over several lines, and writes one a line."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Literal

from pipeline.errors import DataError
from pipeline.interfaces import FileSample, Items, Reader, Recognised
from pipeline.items.readers._files import read_lines, write_lines
from pipeline.items.readers._join import join_items, need_system
from pipeline.items.readers._trees import read_trees
from pipeline.items.readers._warnings import with_warnings

__all__ = ["BracketReader"]


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
        trees = list(read_trees(lines))
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
