"""Tell settings of the dependency parsers from one another on the development part of the treebank."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from markdown_tables import render_table
from numpy.typing import NDArray

from pipeline.interfaces import Items, Trainer, TrainingItems
from pipeline.metrics.attachment import Uas
from reference_systems.ensemble_parser import EnsembleParserTrainer
from reference_systems.graph_parser import GraphParserTrainer
from reference_systems.transition_parser import TransitionParserTrainer
from reference_table.parsers import EVERY, predict_trees, read_trees

__all__ = ["compare_counts", "table"]

GRAPH, TRANSITION, ENSEMBLE = "`graph-parser`", "`transition-parser`", "`ensemble-parser`"
TRAINERS: Mapping[tuple[str, str], Any] = {
    (GRAPH, "defaults"): GraphParserTrainer(),
    (GRAPH, "`epochs: 4`"): GraphParserTrainer(epochs=4),
    (GRAPH, "`epochs: 12`"): GraphParserTrainer(epochs=12),
    (GRAPH, "`trees: any`"): GraphParserTrainer(trees="any"),
    (GRAPH, "`tags: tag`"): GraphParserTrainer(tags="tag"),
    (GRAPH, "`tags: upos`"): GraphParserTrainer(tags="upos"),
    (TRANSITION, "defaults"): TransitionParserTrainer(),
    (TRANSITION, "`epochs: 5`"): TransitionParserTrainer(epochs=5),
    (TRANSITION, "`epochs: 20`"): TransitionParserTrainer(epochs=20),
    (TRANSITION, "`direction: backwards`"): TransitionParserTrainer(direction="backwards"),
    (TRANSITION, "`tags: tag`"): TransitionParserTrainer(tags="tag"),
    (TRANSITION, "`tags: upos`"): TransitionParserTrainer(tags="upos"),
    (ENSEMBLE, "defaults"): EnsembleParserTrainer(),
    (ENSEMBLE, "`tags: upos`"): EnsembleParserTrainer(tags="upos"),
}
FACTOR = Uas.factor
HEAD = ["each 12th sentence", "", "UAS, development", "less its defaults", "less `graph-parser`", "UAS, test"]


def table(data: Path) -> str:
    """Return the attachment scores of each setting, and how far they are from the parser's defaults and from another parser."""
    train, dev, test = (read_trees(data / "ud-english-ewt" / f"{part}.conllu.gz") for part in ("train", "dev", "test"))
    items = TrainingItems(train.ids, train.columns)
    found = {key: _count(trainer, items, (dev, test)) for key, trainer in TRAINERS.items()}
    rows = []
    for (parser, setting), (developed, tested) in found.items():
        ours = "–" if setting == "defaults" else _show(developed, found[parser, "defaults"][0])
        other = _show(developed, found[GRAPH, "defaults"][0]) if setting == "defaults" and parser != GRAPH else "–"
        rows.append([parser, setting, f"{_score(developed):.2f}", ours, other, f"{_score(tested):.2f}"])
    return render_table(HEAD, rows, words=2)


def _count(trainer: Trainer, items: TrainingItems, golds: tuple[Items, ...]) -> list[NDArray[np.float64]]:
    model: Any = trainer.fit(items, np.arange(0, len(items), EVERY), seed=1, workdir=Path())
    metric = Uas()
    counted = [metric.extract(metric.prepare(gold), predict_trees(trainer, model, gold)).values for gold in golds]
    return [np.asarray(counts[:, :2], dtype=np.float64) for counts in counted]


def compare_counts(ours: NDArray[np.float64], other: NDArray[np.float64]) -> tuple[float, float]:
    """Return the difference of two scores in percent, and its standard error over sentences.

    Parameters
    ----------
    ours, other : (sentence, 2) float64
        Right words of each sentence, and its words of gold and parser together, which are the same for both.
    """
    gains, words = ours[:, 0] - other[:, 0], ours[:, 1]
    share = gains.sum() / words.sum()
    rest = gains - share * words
    return FACTOR * float(share), FACTOR * math.sqrt(float((rest**2).sum())) / float(words.sum())


def _show(ours: NDArray[np.float64], other: NDArray[np.float64]) -> str:
    gain, error = compare_counts(ours, other)
    return f"{gain:+.2f} ± {error:.2f}".replace("-", "−")


def _score(counts: NDArray[np.float64]) -> float:
    return float(FACTOR * counts[:, 0].sum() / counts[:, 1].sum())
