"""Train grammars on the 3914 trees of the Penn Treebank sample and tabulate brackets and tags."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from markdown_tables import render_table

from pipeline.interfaces import Items, Trainer, TrainingItems
from pipeline.items.readers.brackets import BracketReader
from pipeline.metrics.brackets import BracketF1, BracketPrecision, BracketRecall
from reference_systems._trees import leaves, read_tree
from reference_systems.latent_pcfg import LatentPcfgTrainer
from reference_systems.pcfg import PcfgTrainer

__all__ = ["table"]

TRAINERS: Mapping[str, Any] = {
    "`pcfg`": PcfgTrainer(),
    "`pcfg`, horizontal: 1": PcfgTrainer(horizontal=1),
    "`pcfg`, vertical: 2, horizontal: 1": PcfgTrainer(vertical=2, horizontal=1),
    "`latent-pcfg`": LatentPcfgTrainer(),
    "`latent-pcfg`, cycles: 3": LatentPcfgTrainer(cycles=3),
}
TRAINED_ON, SEED = 3501, 1  # where a document ends
SHARES = (0.25, 0.5, 1.0)


def table(data: Path) -> str:
    """Return the learning curves of the grammars, trained on the first 3501 trees and tested on the last 413."""
    gold = BracketReader().read_gold([data / "treebank-wsj-sample" / "wsj.mrg.txt.gz"], {})
    assert gold is not None
    test = Items(gold.ids[TRAINED_ON:], {n: v[TRAINED_ON:] for n, v in gold.columns.items()}, gold.source, gold.lines[TRAINED_ON:])
    head = ["trained on trees 1–3501, tested on 3502–3914", "F1, ¼", "F1, ½", "F1, all", "recall", "precision", "tags", "flat"]
    rows = []
    for name, trainer in TRAINERS.items():
        cells = []
        for share in SHARES:
            figures = _test(trainer, gold, test, round(TRAINED_ON * share))
            cells.append(figures[0])
        rows.append([name, *cells, *figures[1:]])
    return render_table(head, rows, words=1)


def _test(trainer: Trainer, gold: Items, test: Items, size: int) -> list[str]:
    columns = {name: gold.columns[name] for name in ("tree", "word", "tag")}
    model: Any = trainer.fit(TrainingItems(gold.ids, columns), np.arange(size), seed=SEED, workdir=Path())
    trees = trainer.predict(model, TrainingItems(test.ids, {"word": test.columns["word"]}))["tree"]
    tags = tuple(tuple(tag for _, tag in leaves(read_tree(tree))) for tree in trees)
    output = Items(test.ids, {"tree": trees, "word": test.columns["word"], "tag": tags}, "trees", test.lines)
    pairs = [pair for own, true in zip(tags, test.columns["tag"], strict=True) for pair in zip(own, true, strict=True)]
    right = [found == true for found, true in pairs]
    scores = [f"{_score(metric, test, output):.1f}" for metric in (BracketF1(), BracketRecall(), BracketPrecision())]
    return [*scores, f"{100.0 * sum(right) / len(right):.1f}", str(model.parsed[False])]


def _score(metric: Any, test: Items, output: Items) -> float:
    counts = metric.extract(metric.prepare(test), output).values.sum(axis=0)
    return float(metric.scorer((0,) * len(counts))(counts.reshape(len(counts), 1)).item())
