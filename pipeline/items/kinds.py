"""What kind of values a file holds, in counts: the labels it uses, how its texts are written, where its links begin.

A gold and an output that differ in kind compare two ways of annotating or writing, and not two systems.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

from pipeline.interfaces import Items

__all__ = ["TRAITS", "Kind", "describe_kind"]

_MOST_TEXTS = 200
"""Texts that are looked at, evenly spread over a file: traits are shares, and reading stays as fast as it is."""

_PHRASE = re.compile(r"\((\S+) (?=\()")
_PUNCTUATION = re.compile(r"[.,;:!?。，、；：！？]")
_SPACED = re.compile(r"\S [.,](?: |$)")

TRAITS: Mapping[str, Callable[[str], object]] = {
    "upper-case letters": lambda text: text != text.lower(),
    "lower-case letters": lambda text: text != text.upper(),
    "punctuation": _PUNCTUATION.search,
    "spaces before commas and full stops": _SPACED.search,
}
"""What a text may have, by how it is called in messages."""


@dataclass(frozen=True)
class Kind:
    """What the values of a file are like.

    Parameters
    ----------
    labels : mapping of str to Counter
        How often each label occurs, by column: ``label``, ``tag``, ``relation``, ``chunk`` (types) and ``tree`` (phrases).
    n_texts : int
        Texts that were looked at; those of all references of a gold.
    traits : mapping of str to float
        Share of these texts that have each of `TRAITS`.
    n_linked : int
        Pairs of sentences with a link.
    n_first : int
        Those of them with a link of a first word.
    """

    labels: Mapping[str, Counter[str]] = field(default_factory=dict)
    n_texts: int = 0
    traits: Mapping[str, float] = field(default_factory=dict)
    n_linked: int = 0
    n_first: int = 0


def describe_kind(items: Items) -> Kind:
    """Count what a gold or an output holds.

    Examples
    --------
    >>> items = Items(("1", "2"), {"label": ("yes", "no")}, "gold.txt", (1, 2))
    >>> describe_kind(items).labels["label"]["yes"]
    1
    """
    columns = items.columns
    labels = {name: Counter(_labels_of(name, columns[name])) for name in _LABELLED if name in columns}
    for counts in labels.values():
        del counts[""]  # an item without a label
    texts = [text for name, values in columns.items() if name == "text" or name.startswith("reference.") for text in _some(values)]
    shares = {trait: sum(has(text) not in {None, False} for text in texts) / len(texts) for trait, has in TRAITS.items() if texts}
    links = [found for found in columns.get("link", columns.get("possible", ())) if found]
    first = sum(any(0 in link for link in found) for found in links)
    return Kind(labels, len(texts), shares, len(links), first)


_LABELLED = ("label", "tag", "relation", "chunk", "tree")


def _labels_of(name: str, values: Sequence[Any]) -> Iterator[str]:
    if name == "label":
        return iter(values)
    if name == "tree":
        return chain.from_iterable(map(_PHRASE.findall, values))
    tokens: Iterator[str] = chain.from_iterable(values)
    return (tag[2:] for tag in tokens if tag != "O") if name == "chunk" else tokens


def _some(values: Sequence[Any]) -> list[str]:
    step = max(1, len(values) // _MOST_TEXTS)
    return [text for text in values[::step] if isinstance(text, str) and text]
