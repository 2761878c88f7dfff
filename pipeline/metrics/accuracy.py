"""Accuracy in percent: labels that equal the gold label."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Literal

import numpy as np

from pipeline.interfaces import Items, Metric, ScoreFunction, Statistics
from pipeline.metrics._columns import gold_columns, output_column
from pipeline.metrics.kernels import score_ratio

__all__ = ["Accuracy"]


class Accuracy(Metric):
    """Share of items whose label equals the gold label, character by character, in percent."""

    name = "accuracy"
    form: Literal["ratio", "general"] = "ratio"
    needs_of_outputs: tuple[str, ...] = ("label",)
    needs_of_gold: tuple[str, ...] = ("label",)
    denominators: Literal["unknown", "own", "shared", "items"] = "items"
    higher_is_better = True
    factor = 100.0
    statistics: tuple[str, ...] = ("correct", "items")

    @property
    def signature(self) -> str:
        """The name: there are no options."""
        return "accuracy|unit:percent"

    def prepare(self, gold: Items | None) -> Sequence[str]:
        """Return the gold labels."""
        return gold_columns(self.name, gold, "label")[0]

    def extract(self, prepared: Sequence[str], output: Items) -> Statistics:
        """Count 1 for each item, and 1 where the label is right."""
        labels = output_column(self.name, output, "label")
        correct = [given == wanted for given, wanted in zip(labels, prepared, strict=True)]
        return Statistics(np.column_stack([correct, np.ones(len(labels))]).astype(np.int64), (0, 0))

    def scorer(self, decimals: tuple[int, ...]) -> ScoreFunction:
        """Return accuracy in percent of summed counts."""
        return partial(score_ratio, decimals=decimals, factor=self.factor)
