"""Win rate in percent: wins, losses and ties against an opponent that is the same for all systems."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Literal

import numpy as np

from pipeline.errors import DataError, Problem
from pipeline.interfaces import Items, Metric, ScoreFunction, Statistics
from pipeline.metrics._columns import output_column
from pipeline.metrics._lattice import put_on_lattice
from pipeline.metrics.kernels import score_ratio

__all__ = ["WinRate"]

_MOST_SHOWN = 10


class WinRate(Metric):
    """Share of items that a system wins, in percent: 1 is a win, 0 a loss, .5 a tie; a judge's probability may be anything between.

    Parameters
    ----------
    column : str
        The column of wins.
    """

    name = "win-rate"
    form: Literal["ratio", "general"] = "ratio"
    denominators: Literal["unknown", "own", "shared", "items"] = "shared"
    higher_is_better = True
    factor = 100.0
    statistics: tuple[str, ...] = ("wins", "items")

    def __init__(self, *, column: str = "win") -> None:
        if not isinstance(column, str) or not column:
            raise ValueError(f"option 'column' is the name of a column, not {column!r}")
        self.column = column
        self.needs_of_outputs = (column,)

    @property
    def signature(self) -> str:
        """Name, column, and what a tie is worth."""
        return f"win-rate|column:{self.column}|tie:0.5|unit:percent"

    def prepare(self, gold: Items | None) -> None:
        """Return nothing: the winner is already known."""

    def extract(self, prepared: None, output: Items) -> Statistics:
        """Return the win of each item on the decimal lattice of the file, and 1.

        Raises
        ------
        DataError
            P210, if a value is not a number; P267, if it is not from 0 to 1.
        """
        wins = output_column(self.name, output, self.column)
        _refuse_others(wins, output, self.column)
        lattice = put_on_lattice(wins, source=output.source, column=self.column)
        values = np.column_stack([lattice.values, np.ones(len(wins), dtype=np.int64)])
        return Statistics(values, (lattice.decimals, 0), lattice.rounding_error)

    def scorer(self, decimals: tuple[int, ...]) -> ScoreFunction:
        """Return the win rate in percent of summed wins; nan without items."""
        return partial(score_ratio, decimals=decimals, factor=self.factor)


def _refuse_others(wins: Sequence[str], output: Items, column: str) -> None:
    """Refuse what is not a number from 0 to 1, with item and line."""
    wrong = {value: reason for value in set(wins) if (reason := _complain(value)) is not None}
    if not wrong:
        return
    places = [k for k, value in enumerate(wins) if value in wrong]
    problems = []
    for k in places[:_MOST_SHOWN]:
        code, what = wrong[wins[k]]
        where = f"{output.source}:{output.lines[k]}"
        more = len(places) - _MOST_SHOWN
        note = f"and {more} more of this kind" if more > 0 and k == places[_MOST_SHOWN - 1] else None
        message = f"column '{column}' has {wins[k]!r} at item '{output.ids[k]}', which is {what}"
        problems.append(Problem(code, message, where, "a win is 1, a loss 0, a tie .5; percent are divided by 100", note))
    raise DataError(*problems)


def _complain(value: str) -> tuple[str, str] | None:
    try:
        number = float(value)
    except ValueError:
        number = float("nan")
    if not abs(number) < float("inf"):
        return "P210", "not a finite number"
    return None if 0.0 <= number <= 1.0 else ("P267", "not from 0 to 1")
