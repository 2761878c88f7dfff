"""A trigram tagger: a second-order hidden Markov model that tags each sentence by its most probable path."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from pipeline.interfaces import TrainingItems
from reference_systems._kept_models import PlainModels
from reference_systems._options import check_count
from reference_systems._suffixes import SuffixModel, count_suffixes
from reference_systems._trigrams import Transitions, transitions
from reference_systems._viterbi import best_tags
from reference_systems._words import flatten

__all__ = ["HmmTaggerModel", "HmmTaggerTrainer"]


@dataclass(frozen=True)
class HmmTaggerModel:
    """A fitted tagger.

    Parameters
    ----------
    tags : tuple of str
        The tags of the training set, sorted.
    lexicon : mapping of str to mapping of int to int
        How often each word had each tag.
    tag_counts : (tag,) int64
        How often each tag occurred.
    suffixes : SuffixModel
        For words that are not in the lexicon.
    transitions : Transitions
        Tags after tags.
    notes : tuple of str
        What is to be said of it.
    """

    tags: tuple[str, ...]
    lexicon: Mapping[str, Mapping[int, int]]
    tag_counts: NDArray[np.int64]
    suffixes: SuffixModel
    transitions: Transitions
    notes: tuple[str, ...] = ()

    def candidates(self, word: str) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Return the tags a word may have, ascending, and log P(word | tag); of a word never seen up to a constant."""
        seen = self.lexicon.get(word)
        if seen is not None:
            tags = np.array(sorted(seen), dtype=np.int64)
            return tags, np.log(np.array([seen[tag] for tag in tags]) / self.tag_counts[tags])
        # Bayes: P(word | tag) is P(tag | suffix) / P(tag) times something that is the same for all tags.
        likely = self.suffixes.tag_probabilities(word) / self.suffixes.prior
        tags = np.flatnonzero(likely > 0)
        return tags, np.log(likely[tags])


class HmmTaggerTrainer(PlainModels):
    """Tags by the most probable path through a trigram model of tags, words known by their counts and others by their ends.

    ``argmax ∏ P(t_i | t_(i−2), t_(i−1)) P(w_i | t_i)``, the end of the sentence among the tags; trigrams interpolated with weights
    from deleted interpolation, unknown words by the suffixes of rare ones (T. Brants 2000, TnT, a statistical part-of-speech
    tagger, doi:10.3115/974147.974178). Tags are not doubled by capitalisation as they may be there.

    Parameters
    ----------
    beam : int
        A state less probable than the best one by more than this factor is dropped; 0 keeps all.
    rare : int
        Words that occur up to this many times tell of unknown ones.

    Examples
    --------
    >>> items = TrainingItems(ids=("1", "2"), columns={"word": (("a", "dog"), ("a", "cat")), "tag": (("D", "N"), ("D", "N"))})
    >>> tagger = HmmTaggerTrainer()
    >>> model = tagger.fit(items, np.array([0, 1]), seed=1, workdir=Path())
    >>> tagger.predict(model, TrainingItems(ids=("1",), columns={"word": (("a", "cow"),)}))
    {'tag': (('D', 'N'),)}
    """

    name: ClassVar[str] = "hmm-tagger"
    takes: tuple[str, ...] = ("word", "tag")
    gives: tuple[str, ...] = ("tag",)
    same_bits = True

    def __init__(self, *, beam: int = 1000, rare: int = 10) -> None:
        self.beam = check_count(self.name, "beam", beam, least=0, most=10**9)
        self.rare = check_count(self.name, "rare", rare, least=1, most=10**6)

    @property
    def signature(self) -> str:
        """Name and version of the model."""
        return f"{self.name}|version:1"

    def fit(self, items: TrainingItems, sample: NDArray[np.int64], *, seed: int, workdir: Path) -> HmmTaggerModel:
        """Count the sentences at the positions ``sample``, each as often as it was drawn; the seed has no part in it."""
        words = [items.columns["word"][position] for position in sample]
        tagged = [items.columns["tag"][position] for position in sample]
        tags = tuple(sorted({tag for sentence in tagged for tag in sentence}))
        if not tags:
            raise ValueError("a tagger needs a token to learn from, and the sample has none")
        number = {tag: k for k, tag in enumerate(tags)}
        numbered = [[number[tag] for tag in sentence] for sentence in tagged]
        lexicon: defaultdict[str, Counter[int]] = defaultdict(Counter)
        for sentence, its_tags in zip(words, numbered, strict=True):
            for word, tag in zip(sentence, its_tags, strict=True):
                lexicon[word][tag] += 1
        counts = np.bincount([tag for sentence in numbered for tag in sentence], minlength=len(tags)).astype(np.int64)
        suffixes = count_suffixes(lexicon, len(tags), rare=self.rare)
        return HmmTaggerModel(tags, dict(lexicon), counts, suffixes, transitions(numbered, len(tags)))

    def predict(self, model: HmmTaggerModel, items: TrainingItems) -> dict[str, Sequence[tuple[str, ...]]]:
        """Tag every word of every sentence."""
        words, starts, distinct = flatten(items.columns["word"])
        options = [model.candidates(word) for word in distinct]
        first = np.concatenate(([0], np.cumsum([len(tags) for tags, _ in options], dtype=np.int64))).astype(np.int64)
        found = best_tags(
            words,
            starts,
            first,
            np.concatenate([tags for tags, _ in options] or [np.empty(0, dtype=np.int64)]),
            np.concatenate([emission for _, emission in options] or [np.empty(0)]),
            model.transitions.bigram,
            model.transitions.context,
            model.transitions.first,
            model.transitions.last_tag,
            model.transitions.trigram,
            math.log(self.beam) if self.beam else math.inf,
        )
        named = [model.tags[tag] for tag in found]
        return {"tag": tuple(tuple(named[a:b]) for a, b in pairwise(starts))}
