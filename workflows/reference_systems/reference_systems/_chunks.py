"""Chunks of one type as spans and as IOB2 tags, for all chunkers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.errors import StudyError
from pipeline.interfaces import TrainingItems

__all__ = ["Sentence", "check_type", "chunk_spans", "chunk_tags", "count_sentences"]


@dataclass(frozen=True)
class Sentence:
    """A sentence of a sample and the number of times it was drawn.

    Parameters
    ----------
    tags : tuple of str
        Part-of-speech tags.
    spans : tuple of (int, int)
        First token of each chunk and the one after its last, in the order of the text.
    times : int
    """

    tags: tuple[str, ...]
    spans: tuple[tuple[int, int], ...]
    times: int


def chunk_spans(tags: Iterable[str], kind: str) -> tuple[tuple[int, int], ...]:
    """Return the chunks of one type as (first token, token after the last); other types count as outside.

    An ``I`` that continues nothing begins a chunk, as conlleval has it.

    Examples
    --------
    >>> chunk_spans(("B-NP", "I-NP", "B-NP", "B-VP", "I-NP"), "NP")
    ((0, 2), (2, 3), (4, 5))
    """
    inside, begin = f"I-{kind}", f"B-{kind}"
    spans: list[tuple[int, int]] = []
    start = -1
    for end, tag in enumerate((*tags, "O")):
        if start >= 0 and tag != inside:
            spans.append((start, end))
            start = -1
        if start < 0 and tag in (begin, inside):
            start = end
    return tuple(spans)


def chunk_tags(length: int, spans: Iterable[tuple[int, int]], kind: str) -> tuple[str, ...]:
    """Return the IOB2 tags of a sentence with these chunks.

    Examples
    --------
    >>> chunk_tags(4, [(0, 2), (2, 3)], "NP")
    ('B-NP', 'I-NP', 'B-NP', 'O')
    """
    tags = ["O"] * length
    for start, end in spans:
        tags[start:end] = [f"B-{kind}"] + [f"I-{kind}"] * (end - start - 1)
    return tuple(tags)


def count_sentences(items: TrainingItems, sample: NDArray[np.int64], kind: str) -> list[Sentence]:
    """Return the sentences of a sample, each once with its count, in the order of the training set."""
    positions, counts = np.unique(sample, return_counts=True)
    tags: Sequence[tuple[str, ...]] = items.columns["tag"]
    chunks: Sequence[tuple[str, ...]] = items.columns["chunk"]
    return [
        Sentence(tags[position], chunk_spans(chunks[position], kind), int(times))
        for position, times in zip(positions.tolist(), counts.tolist(), strict=True)
    ]


def check_type(trainer: str, value: Any) -> str:
    """Return the type of the chunks to be learnt, a word as in ``B-NP`` after the hyphen."""
    if not isinstance(value, str) or not value or value.split() != [value]:
        raise StudyError.of(
            "P151",
            f"trainer '{trainer}': option 'type' is a type of chunk, not {value!r}",
            help="write what stands after the hyphen, such as NP",
        )
    return value
