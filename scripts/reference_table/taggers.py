"""Train part-of-speech taggers on the Brown corpus and English Web Treebank and tabulate accuracies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from markdown_tables import render_table

from pipeline.interfaces import Items, Trainer, TrainingItems
from pipeline.items.readers.conllu import ConlluReader
from pipeline.items.readers.tagged import TaggedReader
from reference_systems.hmm_tagger import HmmTaggerTrainer
from reference_systems.perceptron_tagger import PerceptronTaggerTrainer

__all__ = ["table"]

TRAINERS: Mapping[str, Any] = {"`perceptron-tagger`": PerceptronTaggerTrainer(), "`hmm-tagger`": HmmTaggerTrainer()}
SHARES = (0.25, 0.5, 1.0)
IN_DOMAIN = 4000  # sentences of news that are trained on where the others are tested on
SEED = 1

# Not run here: measured once on the same sentences. NLTK's TnT has no model of unknown words of its own; it was given one.
OTHERS = {
    "NLTK 3.10.4 `PerceptronTagger`, 5 iterations": ("92.2", "91.6"),
    "NLTK 3.10.4 `TnT`, N = 100, unknown words by `AffixTagger` of 3 letters": ("89.4", "89.8"),
}


def table(data: Path) -> str:
    """Return the learning curves of the taggers, and other tools beside them."""
    news, editorial = (_read(TaggedReader(), data / "brown" / f"{genre}.tagged.txt.gz") for genre in ("news", "editorial"))
    train, test = (_read(ConlluReader(), data / "ud-english-ewt" / f"{part}.conllu.gz") for part in ("train", "test"))
    cases = ((_slice(news, 0, IN_DOMAIN), _slice(news, IN_DOMAIN, len(news))), (news, editorial), (train, test))
    head = ["tag accuracy, %", *(f"{case}, {share}" for case in ("news", "editorial", "EWT") for share in ("¼", "½", "all"))]
    rows = [[name, *(cell for train, test in cases for cell in _curve(trainer, train, test))] for name, trainer in TRAINERS.items()]
    rows += [[name, "–", "–", news, "–", "–", editorial, "–", "–", "–"] for name, (news, editorial) in OTHERS.items()]
    return render_table(head, rows, words=1)


def _read(reader: Any, path: Path) -> TrainingItems:
    items: Items | None = reader.read_gold([path], {})
    assert items is not None
    return TrainingItems(items.ids, {name: items.columns[name] for name in ("word", "tag")})


def _slice(items: TrainingItems, first: int, last: int) -> TrainingItems:
    return TrainingItems(items.ids[first:last], {name: values[first:last] for name, values in items.columns.items()})


def _curve(trainer: Trainer, train: TrainingItems, test: TrainingItems) -> list[str]:
    return [f"{_test(trainer, train, test, np.arange(round(len(train) * share))):.1f}" for share in SHARES]


def _test(trainer: Trainer, train: TrainingItems, test: TrainingItems, sample: Any) -> float:
    model = trainer.fit(train, sample, seed=SEED, workdir=Path())
    found = trainer.predict(model, TrainingItems(test.ids, {"word": test.columns["word"]}))["tag"]
    return 100.0 * _agreement(found, test.columns["tag"])


def _agreement(found: Sequence[Sequence[str]], gold: Sequence[Sequence[str]]) -> float:
    pairs = [pair for own, true in zip(found, gold, strict=True) for pair in zip(own, true, strict=True)]
    return sum(tag == true for tag, true in pairs) / len(pairs)
