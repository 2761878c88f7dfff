"""Train base-NP chunkers on WSJ 15-18 and 20 and on tweets, and tabulate recall, precision and seconds."""

from __future__ import annotations

import math
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from markdown_tables import render_table
from numpy.typing import NDArray

from pipeline.interfaces import Items, Trainer, TrainingItems
from pipeline.items.readers.columns import ColumnsReader
from pipeline.metrics.chunks import ChunkPrecision, ChunkRecall
from pipeline.trainers.sampling import Rule, TrainingSet, draw_sample
from reference_systems.crf import CrfTrainer
from reference_systems.mbsl import MbslTrainer
from reference_systems.snow import SnowTrainer

__all__ = ["read_gold", "table", "test_sample"]

TRAINERS: Mapping[str, Any] = {
    "`mbsl`, context 1": MbslTrainer(context=1),
    "`mbsl`, context 3": MbslTrainer(context=3),
    "`snow`": SnowTrainer(),
    "`crf`": CrfTrainer(),
}
# Full training set, and the mean and standard deviation over bootstrap samples: Krymolowski 2001, Table 4, WSJ 20.
PUBLISHED = {
    "`mbsl`, context 1": "89.74; 89.58 ± 0.17",
    "`mbsl`, context 3": "91.58; 91.16 ± 0.14",
    "`snow`": "91.23; 89.83 ± 0.93",
}
# Not run here: measured once, from tags to IOB2 tags, on the same files.
OTHERS: Mapping[str, tuple[str, str, str]] = {
    "NLTK 3.10.4 `UnigramTagger`": ("86.80", "79.87", "83.19"),
    "NLTK 3.10.4 `BigramTagger`, backing off to it": ("86.99", "82.31", "84.59"),
    "NLTK 3.10.4 `TrigramTagger`, backing off to that": ("87.08", "82.50", "84.73"),
}
FRACTIONS, DRAWS, SEED = (0.25, 0.5, 1.0), 3, 1


def table(data: Path) -> str:
    """Return the figures of the chunkers on the whole training set, and their learning curves by bootstrap samples."""
    reader = ColumnsReader()
    training = read_gold(reader, data / "conll2000" / "train.txt.gz")
    tests = [read_gold(reader, data / "conll2000" / "test.txt.gz"), read_gold(reader, data / "twitter-chunks" / "test.txt.gz")]
    items = TrainingItems(training.ids, training.columns)
    head = [
        "all 8936 sentences",
        "recall",
        "precision",
        "F1",
        "recall in the paper: all; bootstrap",
        "recall, tweets",
        "CPU seconds",
    ]
    whole, curve = [], []
    for name, trainer in TRAINERS.items():
        begin = time.process_time()
        (recall, precision), (abroad, _) = test_sample(trainer, items, np.arange(len(items)), tests)
        spent = time.process_time() - begin
        scores = (recall, precision, 2 * recall * precision / (recall + precision))
        whole.append([name, *(f"{score:.2f}" for score in scores), PUBLISHED.get(name, "–"), f"{abroad:.2f}", f"{spent:.0f}"])
        curve.append([name, *(_point(trainer, items, tests[:1], fraction) for fraction in FRACTIONS)])
    whole += [[name, *scores, "–", "–", "–"] for name, scores in OTHERS.items()]
    curves = render_table(["recall, bootstrap samples", "¼", "½", "1"], curve, words=1)
    return f"{render_table(head, whole, words=1)}\n\n{curves}"


def _point(trainer: Trainer, items: TrainingItems, tests: list[Items], fraction: float) -> str:
    rule, drawn_from = Rule("bootstrap", fraction=fraction), TrainingSet.of_items("conll2000", len(items))
    draws = range(1 if isinstance(trainer, CrfTrainer) else DRAWS)  # half a minute each
    samples = [draw_sample(rule, drawn_from, seed=SEED, replica=replica).items for replica in draws]
    recalls = np.array([test_sample(trainer, items, sample, tests)[0][0] for sample in samples])
    return f"{recalls.mean():.2f}" + (f" ± {recalls.std(ddof=1):.2f}" if len(recalls) > 1 else "")


def test_sample(trainer: Trainer, items: TrainingItems, sample: NDArray[np.int64], tests: list[Items]) -> list[tuple[float, float]]:
    """Return recall and precision on each test set of what is learnt from a sample."""
    with tempfile.TemporaryDirectory() as workdir:
        model = trainer.fit(items, sample, seed=0, workdir=Path(workdir))
        return [_rates(gold, trainer, model) for gold in tests]


def _rates(gold: Items, trainer: Trainer, model: object) -> tuple[float, float]:
    shown = TrainingItems(gold.ids, {name: gold.columns[name] for name in ("word", "tag")})
    output = Items(gold.ids, trainer.predict(model, shown), "predicted", gold.lines)
    rates = []
    for metric in (ChunkRecall(types=["NP"]), ChunkPrecision(types=["NP"])):
        right, all_of_them = metric.extract(metric.prepare(gold), output).values.sum(axis=0).tolist()
        rates.append(100 * right / all_of_them if all_of_them else math.nan)
    return rates[0], rates[1]


def read_gold(reader: ColumnsReader, path: Path) -> Items:
    """Return the sentences of a file of columns."""
    items = reader.read_gold([path], {})
    assert items is not None
    return items
