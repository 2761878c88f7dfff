"""Train dependency parsers on the English Web Treebank and tabulate attachment scores."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from markdown_tables import render_table
from numpy.typing import NDArray

from pipeline.interfaces import Items, Trainer, TrainingItems
from pipeline.items.readers.conllu import ConlluReader
from pipeline.metrics.attachment import Las, Uas
from reference_systems.ensemble_parser import EnsembleParserTrainer
from reference_systems.graph_parser import GraphParserTrainer
from reference_systems.transition_parser import TransitionParserTrainer

__all__ = ["predict_trees", "read_trees", "table"]

TRAINERS: Mapping[str, Any] = {
    "`graph-parser`": GraphParserTrainer(),
    "`transition-parser`": TransitionParserTrainer(),
    "`ensemble-parser`": EnsembleParserTrainer(),
}
# Not run here: measured once on the same sentences with gold tags; see the page for its settings.
OTHERS = {
    "UDPipe 1 (`ufal.udpipe` 1.4.0), LAS with subtypes": ["82.7 / 79.7", "–", "–", "–", "–", "368, each 12th"],
    "UDPipe 1.2, as published for UD 2.3, with vectors of words and gold lemmas": ["–", "–", "–", "87.7 / 85.8", "–", "–"],
}
EVERY = 12  # the part of the treebank that the other parser was trained on: each twelfth sentence
HEAD = ["UAS / LAS, %", "each 12th sentence", "each 4th", "each 2nd", "all", "all, on ATIS", "seconds, all"]


def table(data: Path) -> str:
    """Return the learning curves of the parsers, another one beside them, and what the full training takes on one core."""
    train = read_trees(data / "ud-english-ewt" / "train.conllu.gz")
    tests = [read_trees(data / f"ud-english-{name}" / "test.conllu.gz") for name in ("ewt", "atis")]
    items = TrainingItems(train.ids, train.columns)
    rows = [[name, *_curve(trainer, items, tests)] for name, trainer in TRAINERS.items()]
    rows += [[name, *cells] for name, cells in OTHERS.items()]
    return render_table(HEAD, rows, words=1)


def read_trees(path: Path) -> Items:
    """Return the sentences of a treebank."""
    items = ConlluReader().read_gold([path], {})
    assert items is not None
    return items


def _curve(trainer: Trainer, items: TrainingItems, tests: list[Items]) -> list[str]:
    n = len(items)
    cells = []
    for stride in (EVERY, 4, 2):  # not the first quarter: the file goes by genre
        cells += _scores(trainer, items, np.arange(0, n, stride), tests[:1])
    start = time.process_time()  # the kernels are compiled by now
    cells += _scores(trainer, items, np.arange(n), tests)
    return [*cells, f"{time.process_time() - start:.0f}"]


def _scores(trainer: Trainer, items: TrainingItems, sample: NDArray[np.int64], tests: list[Items]) -> list[str]:
    model = trainer.fit(items, sample, seed=1, workdir=Path())
    cells = []
    for gold in tests:
        output = predict_trees(trainer, model, gold)
        values = []
        for metric in (Uas(), Las()):
            counts = metric.extract(metric.prepare(gold), output).values.sum(axis=0)
            values.append(metric.factor * counts[0] / counts[1])
        cells.append(f"{values[0]:.1f} / {values[1]:.1f}")
    return cells


def predict_trees(trainer: Trainer, model: Any, gold: Items) -> Items:
    """Return what a parser makes of sentences whose trees it is not shown."""
    shown = {name: values for name, values in gold.columns.items() if name not in trainer.gives}
    predicted = trainer.predict(model, TrainingItems(gold.ids, shown))
    return Items(gold.ids, {**shown, **predicted}, "parses", gold.lines, gold.numbered)
