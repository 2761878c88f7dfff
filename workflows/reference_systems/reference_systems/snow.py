"""A sparse network of Winnows: the chunker that learns where chunks open and close from tags in a window."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from pipeline.interfaces import TrainingItems
from reference_systems._chunks import Sentence, check_type, chunk_tags, count_sentences
from reference_systems._kept_models import PlainModels
from reference_systems._options import check_count, check_number
from reference_systems._sequences import Text, find_sequences, lay_out, number_sequences, number_tags
from reference_systems._winnow import WinnowRule, close_brackets, train_winnow

__all__ = ["SnowModel", "SnowTrainer"]

_REACH = 3  # words looked at on either side
_LONGEST = 4  # consecutive tags in a feature
_BATCH = 1000  # sentences predicted at once: some ten megabytes


@dataclass(frozen=True)
class SnowModel:
    """What a training has learnt.

    Parameters
    ----------
    numbers : mapping of str to int
        Number of each tag.
    keys : tuple of (sequence,) int64
        For each length from 1, keys of the tag sequences of the sample.
    weights : (2, feature) float64
        Evidence for an opening and a closing bracket: weights of the target less those of its opposite. The last feature stands for
        all that the sample has not; its weight is 0.
    notes : tuple of str
        Says so where the sample had no chunk.
    """

    numbers: dict[str, int]
    keys: tuple[NDArray[np.int64], ...]
    weights: NDArray[np.float64]
    notes: tuple[str, ...] = ()


class SnowTrainer(PlainModels):
    """Finds chunks by two pairs of Winnows, opens or not and closes or not, whose brackets are then made to match.

    The features of a word are the sequences of one to four tags from three words before it to three after, each with its place: 22
    of them. A target's activation is the sum of the weights of the active features it is linked to; the evidence for a bracket is
    the activation of its target less that of the opposite one. The chunks of a sentence are those with the greatest sum of
    evidence over their brackets. Words are examples in the order of the sample, sentence by sentence: Winnow learns on-line, and
    another order gives another model. The seed is not used.

    Parameters
    ----------
    cycles : int
        Passes over the sample.
    promotion, demotion : float
        What the weights of active features are multiplied by where a target fails to fire, and where it fires and should not.
    initial : float
        Weight of a feature new to a target, as a share of the threshold at which targets fire.
    type : str
        Type of the chunks; others count as outside.

    Notes
    -----
    M. Muñoz, V. Punyakanok, D. Roth and D. Zimak (1999), A learning approach to shallow parsing, EMNLP and VLC,
    https://aclanthology.org/W99-0621. N. Littlestone (1988), Learning quickly when irrelevant attributes abound, Machine
    Learning 2, doi:10.1007/BF00116827. Features: Y. Krymolowski (2001), Using the distribution of performance for studying
    statistical NLP systems and corpora, https://aclanthology.org/W01-0908.

    Examples
    --------
    >>> columns = {"tag": (("DT", "NN", "VB"), ("VB", "NN")), "chunk": (("B-NP", "I-NP", "O"), ("O", "B-NP"))}
    >>> items = TrainingItems(ids=("1", "2"), columns=columns)
    >>> trainer = SnowTrainer()
    >>> model = trainer.fit(items, np.array([0, 1, 1]), seed=1, workdir=Path())
    >>> trainer.predict(model, TrainingItems(ids=("1",), columns={"tag": (("DT", "NN"),)}))
    {'chunk': (('B-NP', 'I-NP'),)}
    """

    name: ClassVar[str] = "snow"
    takes: tuple[str, ...] = ("tag", "chunk")
    gives: tuple[str, ...] = ("chunk",)
    same_bits: bool = True

    def __init__(
        self, *, cycles: int = 2, promotion: float = 1.5, demotion: float = 0.8, initial: float = 1.0, type: str = "NP"
    ) -> None:
        self.rule = WinnowRule(
            check_count(self.name, "cycles", cycles, least=1, most=1000),
            check_number(self.name, "promotion", promotion, least=1.0, most=100.0),
            check_number(self.name, "demotion", demotion, least=0.01, most=1.0),
            check_number(self.name, "initial", initial, least=1e-6, most=1e6),
        )
        self.type = check_type(self.name, type)

    @property
    def signature(self) -> str:
        """Name and version of the algorithm."""
        return "snow|v1"

    def fit(self, items: TrainingItems, sample: NDArray[np.int64], *, seed: int, workdir: Path) -> SnowModel:
        """Learn from the sampled sentences in the order of the sample."""
        sentences = count_sentences(items, sample, self.type)
        numbers = number_tags(sentence.tags for sentence in sentences)
        text = lay_out((sentence.tags for sentence in sentences), numbers, boundaries=_REACH)
        numbered = list(number_sequences(text, _LONGEST))
        keys = tuple(keys for keys, _ in numbered)
        features = _list_features((sequences for _, sequences in numbered), keys)
        targets = _mark_brackets(sentences, text)
        targets = np.concatenate([targets, ~targets])
        order = np.searchsorted(np.unique(sample), sample)
        weights = train_winnow(
            features, targets, text.starts + _REACH, text.ends - _REACH, order, _count_features(keys) + 1, self.rule
        )
        notes = () if targets[:2].any() else (f"the sample has no chunk of type {self.type}: none is found",)
        return SnowModel(numbers, keys, weights[:2] - weights[2:], notes)

    def predict(self, model: SnowModel, items: TrainingItems) -> Mapping[str, Sequence[Any]]:
        """Predict the IOB2 tags of each sentence from its part-of-speech tags."""
        tags: Sequence[tuple[str, ...]] = items.columns["tag"]
        chunks: list[tuple[str, ...]] = []
        for begin in range(0, len(tags), _BATCH):
            chunks += self._bracket(model, tags[begin : begin + _BATCH])
        return {"chunk": tuple(chunks)}

    def _bracket(self, model: SnowModel, sentences: Sequence[tuple[str, ...]]) -> list[tuple[str, ...]]:
        text = lay_out(sentences, model.numbers, boundaries=_REACH)
        features = _list_features(find_sequences(text, model.keys), model.keys)
        evidence = np.zeros((2, len(features)))
        for active in features.T:  # slot by slot: a sum in a fixed order
            evidence += model.weights[:, active]
        chunks = []
        for tags, start in zip(sentences, (text.starts + _REACH).tolist(), strict=True):
            opens, closes = evidence[:, start : start + len(tags)]
            chunks.append(chunk_tags(len(tags), close_brackets(opens, closes).tolist(), self.type))
        return chunks


def _mark_brackets(sentences: Sequence[Sentence], text: Text) -> NDArray[np.bool_]:
    """Return the words that open chunks and those that close them, by position in the text."""
    marks = np.zeros((2, len(text.symbols)), dtype=np.bool_)
    for sentence, start in zip(sentences, (text.starts + _REACH).tolist(), strict=True):
        for first, after in sentence.spans:
            marks[0, start + first] = True
            marks[1, start + after - 1] = True
    return marks


def _begins(length: int) -> range:
    """Return where sequences of a length can begin in the window, the word itself being at 0."""
    return range(-_REACH, _REACH + 2 - length)


def _count_features(keys: Sequence[NDArray[np.int64]]) -> int:
    return sum(len(known) * len(_begins(length)) for length, known in enumerate(keys, start=1))


def _list_features(sequences: Iterable[NDArray[np.int64]], keys: Sequence[NDArray[np.int64]]) -> NDArray[np.int32]:
    """Return the active features of each position as (position, slot); what the sample has not is the feature after the last.

    Rows of boundaries wrap round into other sentences; only those of words, which have their window whole, are ever used.
    """
    none, offset = _count_features(keys), 0
    slots = []
    for length, (numbers, known) in enumerate(zip(sequences, keys, strict=True), start=1):
        for begin in _begins(length):
            here = np.roll(numbers, -begin)
            slots.append(np.where(here >= 0, here + offset, none).astype(np.int32))
            offset += len(known)
    return np.stack(slots, axis=1) if slots else np.empty((0, 0), dtype=np.int32)
