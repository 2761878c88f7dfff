"""Trees of constituents: read from brackets, written, and made binary and back."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

__all__ = ["ROOT", "Tree", "binarise", "flat_tree", "leaves", "read_tree", "restore", "retag", "write_tree"]

ROOT = "ROOT"
"""The symbol above the whole sentence; it is not written."""

_PART = re.compile(r"[()]|[^\s()]+")
_MADE = " |"  # part of every symbol that binarising makes; labels have no spaces


@dataclass(frozen=True)
class Tree:
    """A constituent: its label and its parts, or the word that a part of speech stands over."""

    label: str
    parts: tuple[Tree, ...] = ()
    word: str | None = None


def read_tree(brackets: str) -> Tree:
    """Read a tree; brackets without a label around the whole are left out.

    Examples
    --------
    >>> write_tree(read_tree("( (S (NP (PRP She)) (VP (VBZ sings))))"))
    '(S (NP (PRP She)) (VP (VBZ sings)))'
    """
    parts = _PART.findall(brackets)
    open_labels: list[str] = []
    found: list[list[Tree]] = [[]]
    position = 0
    while position < len(parts):
        part, position = parts[position], position + 1
        if part == "(":
            label = ""
            if position < len(parts) and parts[position] not in "()":
                label, position = parts[position], position + 1
            open_labels.append(label)
            found.append([])
        elif part == ")":
            if not open_labels:
                raise ValueError(f"brackets do not match: {brackets[:60]!r}")
            inside, label = found.pop(), open_labels.pop()
            if len(inside) == 1 and not inside[0].label:
                found[-1].append(Tree(label, word=inside[0].word))
            else:
                found[-1].append(Tree(label, tuple(inside)))
        else:
            found[-1].append(Tree("", word=part))
    if open_labels or len(found[0]) != 1:
        raise ValueError(f"not one tree in brackets: {brackets[:60]!r}")
    tree = found[0][0]
    while tree.label in ("", ROOT) and len(tree.parts) == 1:
        tree = tree.parts[0]
    return tree


def write_tree(tree: Tree) -> str:
    """Write a tree as brackets on one line."""
    written: list[str] = []
    waiting: list[Tree | str] = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, str):
            written.append(node)
        elif node.word is not None:
            written.append(f" ({node.label} {node.word})")
        else:
            written.append(f" ({node.label}")
            waiting.append(")")
            waiting.extend(reversed(node.parts))
    return "".join(written)[1:]


def flat_tree(label: str, tags: Sequence[str], words: Sequence[str]) -> Tree:
    """Return the tree that says nothing but the parts of speech."""
    return Tree(label, tuple(Tree(tag, word=word) for tag, word in zip(tags, words, strict=True)))


def leaves(tree: Tree) -> Iterator[tuple[str, str]]:
    """Yield each word and its part of speech, in order."""
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        if node.word is not None:
            yield node.word, node.label
        waiting.extend(reversed(node.parts))


def retag(tree: Tree, tags: Sequence[str]) -> Tree:
    """Return the tree with other parts of speech."""
    remaining = iter(tags)

    def changed(node: Tree) -> Tree:
        if node.word is not None:
            return Tree(next(remaining), word=node.word)
        return Tree(node.label, tuple(changed(part) for part in node.parts))

    return changed(tree)


def binarise(tree: Tree, *, vertical: int, horizontal: int | None) -> Tree:
    """Return a tree with one or two parts everywhere, its labels refined by what is above and beside them.

    A label takes the labels of ``vertical − 1`` ancestors; parts of speech take none. A constituent of more than two parts is
    made of its first and a made-up one for the others, which knows the constituent and the last ``horizontal`` parts before
    (None: all of them, so that probabilities are those of whole rules). A constituent whose only part has its own label is
    left out (Klein and Manning 2003, Accurate unlexicalized parsing, doi:10.3115/1075096.1075150; there parts are taken from
    the head outwards).

    Examples
    --------
    >>> tree = read_tree("(NP (DT the) (JJ old) (JJ grey) (NN dog))")
    >>> write_tree(binarise(tree, vertical=2, horizontal=1))
    '(NP ROOT (DT the) (NP ROOT |DT (JJ old) (NP ROOT |..JJ (JJ grey) (NN dog))))'
    """
    return _binarised(tree, (ROOT,), vertical, horizontal)


def _binarised(tree: Tree, above: tuple[str, ...], vertical: int, horizontal: int | None) -> Tree:
    while len(tree.parts) == 1 and tree.parts[0].label == tree.label:
        tree = tree.parts[0]
    if tree.word is not None:
        return tree
    label = " ".join((tree.label, *above[: vertical - 1]))
    parts = [_binarised(part, (tree.label, *above), vertical, horizontal) for part in tree.parts]
    if len(parts) <= 2:
        return Tree(label, tuple(parts))
    names = [part.label for part in tree.parts]
    rest = parts[-1]
    for position in range(len(parts) - 2, 0, -1):
        rest = Tree(_made(label, names[:position], horizontal), (parts[position], rest))
    return Tree(label, (parts[0], rest))


def _made(label: str, before: Sequence[str], horizontal: int | None) -> str:
    seen = before if horizontal is None else before[max(0, len(before) - horizontal) :]
    return f"{label}{_MADE}{'' if len(seen) == len(before) else '..'}{','.join(seen)}"


def restore(tree: Tree) -> Tree:
    """Return the tree without what `binarise` made; labels are cut where the refinement begins."""
    if tree.word is not None:
        return tree
    return Tree(tree.label.split(" ")[0], tuple(restore(part) for part in _real_parts(tree)))


def _real_parts(tree: Tree) -> Iterator[Tree]:
    for part in tree.parts:
        while _MADE in part.label:
            yield part.parts[0]
            part = part.parts[1]
        yield part
