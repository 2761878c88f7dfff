"""Train the chunker of Winnows with several settings, and tabulate what its recall varies by: samples, folds and the order."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from markdown_tables import render_table
from numpy.typing import NDArray

from pipeline.interfaces import Items, Trainer, TrainingItems
from pipeline.items.readers.columns import ColumnsReader
from pipeline.trainers.sampling import Rule, TrainingSet, draw_sample
from reference_systems.snow import SnowTrainer
from reference_table.chunkers import read_gold, test_sample

__all__ = ["table"]

TRAINERS: Mapping[str, Any] = {
    "the defaults": SnowTrainer(),
    "`cycles: 1`": SnowTrainer(cycles=1),
    "`initial: 0.2`": SnowTrainer(initial=0.2),
    "`initial: 0.1`": SnowTrainer(initial=0.1),
    "`initial: 0.05`": SnowTrainer(initial=0.05),
    "the same, `cycles: 1`": SnowTrainer(initial=0.05, cycles=1),
    "`initial: 0.05`, `promotion: 1.35`": SnowTrainer(initial=0.05, promotion=1.35),
}
# Krymolowski 2001, Table 4: WSJ 20, and ATIS where others have tweets.
PUBLISHED = ["Krymolowski 2001", "91.23", "89.83 ± 0.93", "90.51 ± 1.19", "–", "83.50 ± 3.35 (ATIS)"]
HEAD = [
    "recall of `snow`",
    "whole set",
    "bootstrap samples",
    "19 of 20 folds",
    "whole set, random orders",
    "bootstrap samples, tweets",
]
DRAWS, FOLDS, SEED = 12, 20, 1


def table(data: Path) -> str:
    """Return mean and standard deviation of recall over samples, folds and orders, for each setting."""
    reader = ColumnsReader()
    training = read_gold(reader, data / "conll2000" / "train.txt.gz")
    tests = [read_gold(reader, data / name / "test.txt.gz") for name in ("conll2000", "twitter-chunks")]
    items = TrainingItems(training.ids, training.columns)
    rows = [[name, *_row(trainer, items, tests)] for name, trainer in TRAINERS.items()]
    return render_table(HEAD, [*rows, PUBLISHED], words=1)


def _row(trainer: Trainer, items: TrainingItems, tests: list[Items]) -> list[str]:
    whole = _recalls(trainer, items, np.arange(len(items)), tests)[0]
    drawn = np.array([_recalls(trainer, items, sample, tests) for sample in _bootstrap(len(items))])
    folds = [_recalls(trainer, items, sample, tests[:1]) for sample in _folds(len(items))]
    orders = [_recalls(trainer, items, sample, tests[:1]) for sample in _orders(len(items))]
    return [f"{whole:.2f}", *(_spread(values) for values in (drawn[:, 0], folds, orders, drawn[:, 1]))]


def _recalls(trainer: Trainer, items: TrainingItems, sample: NDArray[np.int64], tests: list[Items]) -> list[float]:
    return [recall for recall, _ in test_sample(trainer, items, sample, tests)]


def _bootstrap(size: int) -> list[NDArray[np.int64]]:
    rule, drawn_from = Rule("bootstrap", fraction=1.0), TrainingSet.of_items("conll2000", size)
    return [draw_sample(rule, drawn_from, seed=SEED, replica=replica).items for replica in range(DRAWS)]


def _folds(size: int) -> list[NDArray[np.int64]]:
    """Return the first training sets of a cross-validation, each in the order of the file."""
    shuffled = np.random.default_rng(SEED).permutation(size)
    return [np.sort(np.delete(shuffled, np.s_[fold::FOLDS])) for fold in range(DRAWS)]


def _orders(size: int) -> list[NDArray[np.int64]]:
    generator = np.random.default_rng(SEED)
    return [generator.permutation(size) for _ in range(DRAWS)]


def _spread(values: Any) -> str:
    return f"{np.mean(values):.2f} ± {np.std(values, ddof=1):.2f}"
