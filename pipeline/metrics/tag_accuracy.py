"""Accuracy of tags in percent: tokens whose tag equals the gold tag."""

from __future__ import annotations

from functools import partial
from typing import Literal

import numpy as np

from pipeline.interfaces import Items, Metric, ScoreFunction, Statistics
from pipeline.metrics._columns import check_tokens, gold_columns, output_column
from pipeline.metrics.kernels import score_ratio

__all__ = ["TagAccuracy"]


class TagAccuracy(Metric):
    """Share of tokens whose tag equals the gold tag, character by character, in percent.

    A sentence that is missing from an output has no tag right.
    """

    name = "tag-accuracy"
    form: Literal["ratio", "general"] = "ratio"
    needs_of_outputs: tuple[str, ...] = ("tag",)
    needs_of_gold: tuple[str, ...] = ("tag",)
    denominators: Literal["unknown", "own", "shared", "items"] = "shared"
    higher_is_better = True
    factor = 100.0
    statistics: tuple[str, ...] = ("correct", "tokens")

    @property
    def signature(self) -> str:
        """The name: there are no options."""
        return "tag-accuracy|unit:percent"

    def prepare(self, gold: Items | None) -> Items:
        """Return the gold."""
        gold_columns(self.name, gold, "tag")
        assert gold is not None
        return gold

    def extract(self, prepared: Items, output: Items) -> Statistics:
        """Count the tokens of each sentence, and those whose tag is right."""
        check_tokens(self.name, prepared, output, "tag")
        rows = [
            (sum(one == other for one, other in zip(given, wanted, strict=False)), len(wanted))
            for given, wanted in zip(output_column(self.name, output, "tag"), prepared.columns["tag"], strict=True)
        ]
        return Statistics(np.array(rows, dtype=np.int64).reshape(-1, 2), (0, 0))

    def scorer(self, decimals: tuple[int, ...]) -> ScoreFunction:
        """Return accuracy in percent of summed counts."""
        return partial(score_ratio, decimals=decimals, factor=self.factor)
