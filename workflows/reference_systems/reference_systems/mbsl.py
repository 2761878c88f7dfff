"""Memory-based sequence learning: the chunker that tiles a sentence with sub-sequences it remembers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from pipeline.interfaces import TrainingItems
from reference_systems._chunks import check_type, chunk_tags, count_sentences
from reference_systems._covers import choose_candidates, score_candidates
from reference_systems._kept_models import PlainModels
from reference_systems._options import check_count, check_number
from reference_systems._sequences import lay_out
from reference_systems._tiles import TileMemory, learn_tiles

__all__ = ["MbslModel", "MbslTrainer"]

_BATCH = 1000  # sentences whose tiles are looked up at once: some ten megabytes
_MOST_CONTEXT = 6  # brackets of whole tiles are (context + 1)² bits of 64


@dataclass(frozen=True)
class MbslModel:
    """What a training remembers.

    Parameters
    ----------
    memory : TileMemory
    notes : tuple of str
        Says so where the sample had no chunk.
    """

    memory: TileMemory
    notes: tuple[str, ...] = ()


class MbslTrainer(PlainModels):
    """Finds chunks by tiling them with remembered tag sequences that hold a bracket.

    A *tile* is a part of a chunk of the sample, with up to ``context`` tags on either side, that holds a bracket and a tag of the
    chunk; boundaries of sentences are tags. It matches where, in more than a share ``threshold`` of the places where its tags
    stand in the sample, they stand with its brackets. A sub-sequence of a sentence is a candidate where matching tiles *cover*
    it, brackets and all. Candidates are taken by the number of their covers, then by the size of the smallest cover (one tile is
    best), the most context in a cover and the largest overlap of two tiles, then from the left; each bars those that overlap it.
    Neither the seed nor the order of the sample matters.

    Parameters
    ----------
    context : int
        Tags before and after a chunk that tiles may hold: Krymolowski's c.
    threshold : float
        Share of its places that a tile must exceed to match. At the default it has the brackets more often than not.
    type : str
        Type of the chunks; others count as outside.

    Notes
    -----
    S. Argamon, I. Dagan and Y. Krymolowski (1999), A memory-based approach to learning shallow natural language patterns, Journal
    of Experimental and Theoretical Artificial Intelligence 11(3), 369–390, https://arxiv.org/abs/cmp-lg/9806011.
    Y. Krymolowski (2001), Using the distribution of performance for studying statistical NLP systems and corpora,
    https://aclanthology.org/W01-0908.

    Examples
    --------
    >>> columns = {"tag": (("DT", "NN", "VB"), ("VB", "NN")), "chunk": (("B-NP", "I-NP", "O"), ("O", "B-NP"))}
    >>> items = TrainingItems(ids=("1", "2"), columns=columns)
    >>> trainer = MbslTrainer(context=1)
    >>> model = trainer.fit(items, np.array([0, 1, 1]), seed=1, workdir=Path())
    >>> trainer.predict(model, TrainingItems(ids=("1",), columns={"tag": (("DT", "NN"),)}))
    {'chunk': (('B-NP', 'I-NP'),)}
    """

    name: ClassVar[str] = "mbsl"
    takes: tuple[str, ...] = ("tag", "chunk")
    gives: tuple[str, ...] = ("chunk",)
    same_bits: bool = True

    def __init__(self, *, context: int = 1, threshold: float = 0.5, type: str = "NP") -> None:
        self.context = check_count(self.name, "context", context, least=0, most=_MOST_CONTEXT)
        self.threshold = check_number(self.name, "threshold", threshold, least=0.0, most=0.999)
        self.type = check_type(self.name, type)

    @property
    def signature(self) -> str:
        """Name and version of the algorithm."""
        return "mbsl|v1"

    def fit(self, items: TrainingItems, sample: NDArray[np.int64], *, seed: int, workdir: Path) -> MbslModel:
        """Remember the tiles of the sampled sentences."""
        sentences = count_sentences(items, sample, self.type)
        memory = learn_tiles(sentences, context=self.context, threshold=self.threshold)
        notes = () if memory.longest else (f"the sample has no chunk of type {self.type}: none is found",)
        return MbslModel(memory, notes)

    def predict(self, model: MbslModel, items: TrainingItems) -> Mapping[str, Sequence[Any]]:
        """Predict the IOB2 tags of each sentence from its part-of-speech tags."""
        tags: Sequence[tuple[str, ...]] = items.columns["tag"]
        chunks: list[tuple[str, ...]] = []
        for begin in range(0, len(tags), _BATCH):
            chunks += self._tile(model.memory, tags[begin : begin + _BATCH])
        return {"chunk": tuple(chunks)}

    def _tile(self, memory: TileMemory, sentences: Sequence[tuple[str, ...]]) -> list[tuple[str, ...]]:
        text = lay_out(sentences, memory.numbers)
        found = memory.look_up(text)
        chunks = []
        for tags, start, end in zip(sentences, text.starts.tolist(), text.ends.tolist(), strict=True):
            spans, numbers = score_candidates(found, start, end, memory.context, memory.longest)
            smallest, most_context, overlap, covers = numbers.T
            # The last key comes first for lexsort.
            order = np.lexsort((spans[:, 0], -overlap, -most_context, smallest, -covers))
            taken = spans[choose_candidates(spans, order)] - (start + 1)
            chunks.append(chunk_tags(len(tags), taken.tolist(), self.type))
        return chunks
