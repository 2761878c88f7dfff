"""Sentences of a small grammar: from one tree its words, tags, base phrases, heads and brackets, and its translation."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple, TypeAlias

from pipeline.items.readers._files import write_lines
from pipeline.items.readers.bitext import BitextReader
from pipeline.items.readers.columns import ColumnsReader
from pipeline.items.readers.conllu import ConlluReader
from pipeline.items.readers.tagged import TaggedReader

Tree: TypeAlias = "tuple[str, str | tuple[Tree, ...]]"
"""A label over its parts; a part of speech is over its word."""

WORDS = {
    "DT": ("the", "a", "this"), "JJ": ("old", "red", "small", "light"), "NN": ("cat", "house", "river", "light", "stone", "saw"),
    "PRP": ("she", "it"), "VBG": ("light", "running", "stone"), "VBD": ("saw", "ran", "stood", "stone"),
    "IN": ("in", "over", "near"),
}  # fmt: skip
RULES = {
    "S": (("NP", "VP"),),
    "NP": (("DT", "NN"), ("DT", "JJ", "NN"), ("PRP",), ("NP", "PP"), ("VBG", "NN"), ("NN",), ("NN",)),
    "VP": (("VBD", "NP"), ("VBD", "NP", "PP"), ("VBD",), ("VBG", "NP"), ("VBG", "NP"), ("VBG", "NP")),
    "PP": (("IN", "NP"),),
}
HEADS = {"S": ("VP",), "NP": ("NP", "NN", "PRP"), "VP": ("VBD", "VBG"), "PP": ("NP",)}
"""The part of a phrase that its other parts hang on."""

DEEPEST = 4


class Sentence(NamedTuple):
    """One sentence in all the ways it may be annotated; words hang on the word of this number, the first is 1, the root 0."""

    words: tuple[str, ...]
    tags: tuple[str, ...]
    chunks: tuple[str, ...]
    heads: tuple[int, ...]
    relations: tuple[str, ...]
    brackets: str
    translation: tuple[str, ...]
    links: tuple[tuple[int, int], ...]
    """Words and their translations, both counted from 1."""


def make_sentences(count: int, *, seed: int) -> list[Sentence]:
    """Return so many sentences of the grammar."""
    rng = random.Random(seed)
    return [_annotate(_grow("S", rng, 0)) for _ in range(count)]


def _grow(label: str, rng: random.Random, depth: int) -> Tree:
    if label in WORDS:
        return label, rng.choice(WORDS[label])
    rules = RULES[label] if depth < DEEPEST else [rule for rule in RULES[label] if not {"NP", "PP"} & {*rule}] or RULES[label]
    return label, tuple(_grow(part, rng, depth + 1) for part in rng.choice(rules))


def _annotate(tree: Tree) -> Sentence:
    leaves: list[tuple[str, str]] = []
    heads: dict[int, tuple[int, str]] = {}
    chunks: dict[int, str] = {}
    order: list[int] = []

    def walk(node: Tree) -> int:
        """Number the leaves under a node and give its head; whoever is under it is told what it hangs on."""
        label, parts = node
        if isinstance(parts, str):
            leaves.append((parts, label))
            return len(leaves)
        first = len(leaves) + 1
        found = [(part[0], walk(part)) for part in parts]
        if label == "NP" and not any(part[0] in RULES for part in parts):
            chunks.update({k: "B-NP" if k == first else "I-NP" for k in range(first, len(leaves) + 1)})
        head = next(number for part, number in found if part in HEADS[label])
        heads.update({number: (head, part.lower()) for part, number in found if number != head})
        return head

    def read(node: Tree) -> None:
        """Take the leaves in the order of the translation, where a quality follows what has it."""
        _, parts = node
        if isinstance(parts, str):
            order.append(next(numbers))
        elif [part[0] for part in parts] == ["DT", "JJ", "NN"]:
            article, quality, noun = (next(numbers) for _ in parts)
            order.extend((article, noun, quality))
        else:
            for part in parts:
                read(part)

    heads[walk(tree)] = (0, "root")
    numbers = iter(range(1, len(leaves) + 1))
    read(tree)
    words, tags = zip(*leaves, strict=True)
    where, relations = zip(*(heads[k] for k in range(1, len(leaves) + 1)), strict=True)
    phrases = tuple(chunks.get(k, "O") for k in range(1, len(leaves) + 1))
    translation = tuple(f"{words[k - 1]}-{tags[k - 1]}".lower()[::-1] for k in order)
    links = tuple((k, place) for place, k in enumerate(order, 1))
    return Sentence(words, tags, phrases, where, relations, _write(tree), translation, links)


def _write(tree: Tree) -> str:
    label, parts = tree
    return f"({label} {parts if isinstance(parts, str) else ' '.join(_write(part) for part in parts)})"


def write_tagged(path: Path, sentences: Sequence[Sentence]) -> None:
    """Write words with their tags."""
    TaggedReader().write(_ready(path), _columns(sentences, word="words", tag="tags"), _ids(sentences))


def write_chunks(path: Path, sentences: Sequence[Sentence]) -> None:
    """Write words, tags and base noun phrases in columns."""
    ColumnsReader().write(_ready(path), _columns(sentences, word="words", tag="tags", chunk="chunks"), _ids(sentences))


def write_heads(path: Path, sentences: Sequence[Sentence]) -> None:
    """Write words with what they hang on."""
    columns = _columns(sentences, word="words", upos="tags", tag="tags", head="heads", relation="relations")
    ConlluReader().write(_ready(path), columns, _ids(sentences))


def write_brackets(path: Path, sentences: Sequence[Sentence]) -> None:
    """Write one tree a line."""
    write_lines(_ready(path), (sentence.brackets for sentence in sentences))


def write_bitext(path: Path, sentences: Sequence[Sentence]) -> None:
    """Write sentences beside their translations."""
    BitextReader().write(_ready(path), _columns(sentences, source="words", target="translation"), _ids(sentences))


def write_links(path: Path, sentences: Sequence[Sentence]) -> None:
    """Write which word is translated by which, counted from 1."""
    write_lines(_ready(path), (" ".join(f"{source}-{target}" for source, target in sentence.links) for sentence in sentences))


def _columns(sentences: Sequence[Sentence], **names: str) -> dict[str, tuple[tuple[object, ...], ...]]:
    return {column: tuple(getattr(sentence, name) for sentence in sentences) for column, name in names.items()}


def _ids(sentences: Sequence[Sentence]) -> tuple[str, ...]:
    return tuple(str(k) for k in range(1, len(sentences) + 1))


def _ready(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    return path
