"""The mean of a score: the numbers of one column as integers, and the number of items."""

from __future__ import annotations

from functools import partial
from typing import Literal

import numpy as np

from pipeline.interfaces import Items, Metric, ScoreFunction, Statistics, usual_column
from pipeline.metrics._columns import output_column
from pipeline.metrics._lattice import put_on_lattice
from pipeline.metrics.kernels import score_ratio
from pipeline.options import check_flag

__all__ = ["Mean"]


class Mean(Metric):
    """Mean of a numeric column over the items, in the unit of the file.

    Parameters
    ----------
    column : str, optional
        The column; without it ``score``, or the only numeric column there is.
    higher_is_better : bool
        False for errors and costs.
    """

    name = "mean"
    form: Literal["ratio", "general"] = "ratio"
    denominators: Literal["unknown", "own", "shared", "items"] = "shared"
    factor = 1.0
    statistics: tuple[str, ...] = ("sum", "items")

    def __init__(self, *, column: str | None = None, higher_is_better: bool = True) -> None:
        if column is not None and not isinstance(column, str):
            raise ValueError(f"option 'column' is the name of a column, not {column!r}")
        self.column = column
        self.needs_of_outputs = () if column is None else (column,)
        self.higher_is_better = check_flag("higher_is_better", higher_is_better)

    @property
    def signature(self) -> str:
        """Name, column and direction."""
        return f"mean|column:{self.column or 'score'}|higher:{'better' if self.higher_is_better else 'worse'}"

    def prepare(self, gold: Items | None) -> None:
        """Return nothing: scores need no gold."""

    def extract(self, prepared: None, output: Items) -> Statistics:
        """Return the score of each item on the decimal lattice of the file, and 1."""
        column = self.column or usual_column([name for name in output.columns if name != "document"])
        numbers = output_column(self.name, output, column)
        lattice = put_on_lattice(numbers, source=output.source, column=column)
        values = np.column_stack([lattice.values, np.ones(len(numbers), dtype=np.int64)])
        return Statistics(values, (lattice.decimals, 0), lattice.rounding_error)

    def scorer(self, decimals: tuple[int, ...]) -> ScoreFunction:
        """Return the mean of summed scores."""
        return partial(score_ratio, decimals=decimals, factor=self.factor)
