"""A ratio of two sums, from two columns of numbers as integers: WER, precision, cost per hit."""

from __future__ import annotations

from functools import partial
from typing import Literal

import numpy as np

from pipeline.errors import DataError
from pipeline.interfaces import Items, Metric, ScoreFunction, Statistics
from pipeline.metrics._columns import output_column
from pipeline.metrics._lattice import put_on_lattice
from pipeline.metrics.kernels import score_ratio
from pipeline.options import check_flag, check_number

__all__ = ["Ratio"]


class Ratio(Metric):
    """Sum of one column over sum of another, times a factor.

    Parameters
    ----------
    numerator, denominator : str
        Names of the two columns of the score table.
    factor : float
        100 for percent; 1 by default.
    higher_is_better : bool
        False for error rates; true by default.
    """

    name = "ratio"
    form: Literal["ratio", "general"] = "ratio"

    def __init__(self, *, numerator: str, denominator: str, factor: float = 1.0, higher_is_better: bool = True) -> None:
        for option, value in (("numerator", numerator), ("denominator", denominator)):
            if not isinstance(value, str):
                raise ValueError(f"option '{option}' is the name of a column, not {value!r}")
        self.numerator, self.denominator = numerator, denominator
        self.needs_of_outputs = (numerator, denominator)
        self.factor = check_number("factor", factor, above=0.0)
        self.higher_is_better = check_flag("higher_is_better", higher_is_better)
        self.statistics: tuple[str, ...] = ("numerator", "denominator")

    @property
    def signature(self) -> str:
        """Name, columns, factor and direction."""
        direction = "better" if self.higher_is_better else "worse"
        return f"ratio|{self.numerator}/{self.denominator}|factor:{self.factor:g}|higher:{direction}"

    def prepare(self, gold: Items | None) -> None:
        """Return nothing: scores need no gold."""

    def extract(self, prepared: None, output: Items) -> Statistics:
        """Return numerator and denominator of each item on the decimal lattices of the file."""
        above, below = (
            put_on_lattice(output_column(self.name, output, column), source=output.source, column=column)
            for column in (self.numerator, self.denominator)
        )
        if below.values.size and below.values.min() < 0:
            item = int(below.values.argmin())
            raise DataError.of(
                "P228",
                f"the denominator '{self.denominator}' of item {output.ids[item]} is negative",
                where=f"{output.source}:{output.lines[item]}",
                help="a ratio of sums is defined for denominators that are not negative",
            )
        return Statistics(
            np.column_stack([above.values, below.values]),
            (above.decimals, below.decimals),
            max(above.rounding_error, below.rounding_error),
        )

    def scorer(self, decimals: tuple[int, ...]) -> ScoreFunction:
        """Return the ratio of summed columns; nan where the denominators sum to 0."""
        return partial(score_ratio, decimals=decimals, factor=self.factor)
