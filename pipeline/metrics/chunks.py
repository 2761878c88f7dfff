"""Chunks found whole, counted by the rules of the CoNLL-2000 shared task, for F1, recall and precision."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Literal

import numpy as np

from pipeline.dataclass import dataclass
from pipeline.errors import DataError
from pipeline.interfaces import Items, Metric, ScoreFunction, Statistics
from pipeline.metrics._columns import check_tokens, gold_columns, output_column
from pipeline.metrics.kernels import score_ratio
from pipeline.options import check_words

__all__ = ["ChunkF1", "ChunkPrecision", "ChunkRecall", "find_chunks"]

_RULES = "conlleval"

Chunk = tuple[int, int, str]
"""The first token of a chunk, the one behind its last, and its type."""


@dataclass(frozen=True)
class Gold:
    """The gold, and its chunks by item."""

    items: Items
    chunks: tuple[frozenset[Chunk], ...]


class _Chunks(Metric):
    """What the three scores share: they differ in the two sums that they divide."""

    name: str
    form: Literal["ratio", "general"] = "ratio"
    needs_of_outputs: tuple[str, ...] = ("chunk",)
    needs_of_gold: tuple[str, ...] = ("chunk",)
    denominators: Literal["unknown", "own", "shared", "items"] = "own"
    higher_is_better = True
    factor = 100.0
    statistics: tuple[str, ...]
    below: tuple[int, int]
    """How often what was found, and what the gold has, counts below the line."""

    def __init__(self, *, types: Sequence[str] | None = None) -> None:
        self.types = None if types is None else check_words("types", types)

    @property
    def signature(self) -> str:
        """Name, types and the rules of boundaries."""
        return f"{self.name}|types:{'all' if self.types is None else ','.join(self.types)}|rules:{_RULES}|unit:percent"

    def prepare(self, gold: Items | None) -> Gold:
        """Find the gold chunks once.

        Raises
        ------
        DataError
            P246, where the gold has no chunk of the types.
        """
        (column,) = gold_columns(self.name, gold, "chunk")[:1]
        assert gold is not None
        chunks = tuple(frozenset(self._find(tags)) for tags in column)
        if self.types is not None and not any(chunks):
            there = sorted({kind for tags in column for _, _, kind in find_chunks(tags)})
            raise DataError.of(
                "P246",
                f"{self.name}: the gold has no chunk of the types {', '.join(self.types)}; it has {', '.join(there) or 'none'}",
                where=gold.source,
                help="correct `types:` of the metric",
            )
        return Gold(gold, chunks)

    def extract(self, prepared: Gold, output: Items) -> Statistics:
        """Count the chunks of each item that are right, and those they are divided by; an item that lacks has found none."""
        check_tokens(self.name, prepared.items, output, "chunk")
        of_found, of_gold = self.below
        rows = []
        for tags, gold in zip(output_column(self.name, output, "chunk"), prepared.chunks, strict=True):
            found = set(self._find(tags))
            rows.append((len(found & gold), of_found * len(found) + of_gold * len(gold)))
        return Statistics(np.array(rows, dtype=np.int64).reshape(-1, 2), (0, 0))

    def scorer(self, decimals: tuple[int, ...]) -> ScoreFunction:
        """Return the score in percent of summed counts; nan where the denominators sum to 0."""
        return partial(score_ratio, decimals=decimals, factor=self.factor)

    def _find(self, tags: Sequence[str]) -> Iterator[Chunk]:
        return (chunk for chunk in find_chunks(tags) if self.types is None or chunk[2] in self.types)


class ChunkF1(_Chunks):
    """F1 of chunks in percent: 200 · right / (found + gold), by the rules of conlleval.

    A chunk is right if its first token, its last token and its type are those of a gold chunk. The score is that of the CoNLL-2000
    shared task (Tjong Kim Sang and Buchholz 2000, doi:10.3115/1117601.1117631), with β = 1.

    Parameters
    ----------
    types : list of str, optional
        Types of chunks that count, such as ``[NP]``; all by default.
    """

    name = "chunk-f1"
    factor = 200.0
    statistics = ("correct", "found_and_gold")
    below = (1, 1)


class ChunkRecall(_Chunks):
    """Share of gold chunks that are found whole, in percent, by the rules of conlleval.

    Parameters
    ----------
    types : list of str, optional
        Types of chunks that count, such as ``[NP]``; all by default.
    """

    name = "chunk-recall"
    denominators = "shared"
    statistics = ("correct", "gold")
    below = (0, 1)


class ChunkPrecision(_Chunks):
    """Share of found chunks that are right, in percent, by the rules of conlleval.

    Parameters
    ----------
    types : list of str, optional
        Types of chunks that count, such as ``[NP]``; all by default.
    """

    name = "chunk-precision"
    statistics = ("correct", "found")
    below = (1, 0)


def find_chunks(tags: Sequence[str]) -> Iterator[Chunk]:
    """Yield the chunks of a sentence from tags in IOB2 or IOB1.

    A chunk begins at B, or at I if the token before is not in a chunk of its type; it ends before the next B, O or I of another
    type.

    Examples
    --------
    >>> list(find_chunks(["B-NP", "I-NP", "B-NP", "O", "I-NP", "I-VP"]))
    [(0, 2, 'NP'), (2, 3, 'NP'), (4, 5, 'NP'), (5, 6, 'VP')]
    """
    start, kind = 0, None
    for k, tag in enumerate(tags):
        here = None if tag == "O" else tag[2:]
        if here == kind and (kind is None or tag[0] == "I"):
            continue
        if kind is not None:
            yield start, k, kind
        start, kind = k, here
    if kind is not None:
        yield start, len(tags), kind
