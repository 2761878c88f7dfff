"""Numbers of items and the scores of their sums. This module has statistics and the protocol of metrics."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from pipeline.interfaces.items import Items

__all__ = ["Metric", "ScoreFunction", "Statistics"]

ScoreFunction = Callable[[NDArray[Any]], NDArray[np.float64]]
"""Summed statistics ``(statistic, ...)`` to scores ``(...)``, float64; pure, called on cache-sized batches."""


@dataclass(frozen=True)
class Statistics:
    """Additive integer statistics of the items of one output.

    Parameters
    ----------
    values : (item, statistic) int64
        The statistic in units of ``10 ** -decimals``.
    decimals : tuple of int
        Decimal places of each statistic; 0 for counts.
    rounding_error : float
        The largest absolute error made when a float was put on its lattice; 0.0 for counts.
    """

    values: NDArray[np.int64]
    decimals: tuple[int, ...]
    rounding_error: float = 0.0


class Metric(Protocol):
    """Turns items into additive integer statistics, and summed statistics into a score.

    ``form`` is ``ratio`` where the score is ``factor × statistics[0] / statistics[1]``: comparisons of systems with equal
    denominators are then exact in integers. Any other score is ``general``.

    A metric may also have ``follows``, a mapping of statistic to statistic: ``{"total.2": "hypothesis_length"}`` says that
    the two differ in nearly all items by something that is the same for all systems. Resampling then saves the product of the
    first; where it is not so, nothing is saved, and no number depends on it.
    """

    name: ClassVar[str]
    statistics: tuple[str, ...]
    higher_is_better: bool
    form: Literal["ratio", "general"]

    @property
    def signature(self) -> str:
        """One line that pins the metric: name, options, version of what counts the statistics."""
        ...

    def prepare(self, gold: Items | None) -> Any:
        """Process references once; the result is passed to every `extract`."""
        ...

    def extract(self, prepared: Any, output: Items) -> Statistics:
        """Count the statistics of each item of one output, aligned with the gold items."""
        ...

    def scorer(self, decimals: tuple[int, ...]) -> ScoreFunction:
        """Give the score function for statistics on these decimal lattices."""
        ...
