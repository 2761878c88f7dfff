"""BLEU, chrF and TER of one row of sums in sacreBLEU's own arithmetic. This module keeps the number types that it meets.

sacreBLEU scores a row of whatever it has: Python's integers for the test set, int64 after swaps, float32 after resampling. Under
NumPy 2 a Python number beside a float32 stays float32, so precisions of a bootstrap sample are rounded to 24 bits, and logarithms
are those of the C library. A p-value counts comparisons of such scores; to meet it exactly the same operations are made on the
same types, one row at a time. Everything else in the package scores in float64 (`pipeline.metrics`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["BleuRow", "ChrfRow", "Row", "RowScore", "TerRow"]

Row = Sequence[Any] | NDArray[Any]
"""Summed statistics in the order of sacreBLEU: Python numbers, int64, float64 or float32."""

RowScore = Callable[[Row], Any]
"""A score in percent; a NumPy scalar where the arithmetic leaves one."""

_LOG_OF_ZERO = -9999999999
_TINY = 1e-16


@dataclass(frozen=True)
class BleuRow:
    """BLEU of (length, reference length, matches of each order, n-grams of each order).

    Parameters
    ----------
    smooth : {"exp", "floor", "add-k", "none"}
    smooth_value : float
        For floor and add-k.
    effective_order : bool

    Examples
    --------
    >>> round(BleuRow()([10, 12, 8, 6, 4, 2, 10, 9, 8, 7]), 6)
    43.014638
    """

    smooth: str = "exp"
    smooth_value: float = 0.0
    effective_order: bool = False

    def __call__(self, sums: Row) -> Any:
        """Return the score of one row."""
        length, reference, order = int(sums[0]), int(sums[1]), (len(sums) - 2) // 2
        matches, totals = sums[2 : 2 + order], sums[2 + order :]
        if not any(matches):
            return 0.0
        logs: list[float] = [_LOG_OF_ZERO] * order
        halved, used = 1.0, order
        for n in range(order):
            match, total = matches[n], totals[n]
            if self.smooth == "add-k" and n:
                match, total = (_as_stored(value + self.smooth_value, sums) for value in (match, total))
            if total == 0:
                break
            if self.effective_order:
                used = n + 1
            precision: Any = 0.0
            if match != 0:
                precision = 100.0 * match / total
            elif self.smooth == "exp":
                halved *= 2
                precision = 100.0 / (halved * total)
            elif self.smooth == "floor":
                precision = 100.0 * self.smooth_value / total
            if precision != 0:
                logs[n] = math.log(precision)
        penalty = 1.0
        if length < reference:
            penalty = math.exp(1 - reference / length) if length > 0 else 0.0
        return penalty * math.exp(sum(logs[:used]) / used)


def _as_stored(value: Any, sums: Row) -> Any:
    """Round to the type of the array that the tool adds k in place to: whole numbers where those are int64."""
    return sums.dtype.type(value) if isinstance(sums, np.ndarray) else value


@dataclass(frozen=True)
class ChrfRow:
    """chrF of (hypothesis, reference, match) counts of each order.

    Parameters
    ----------
    beta : int or float
    eps_smoothing : bool

    Examples
    --------
    >>> round(ChrfRow()([10, 12, 8, 9, 11, 5]), 4)
    58.0683
    """

    beta: float = 2
    eps_smoothing: bool = False

    def __call__(self, sums: Row) -> Any:
        """Return the score of one row."""
        factor, orders, used = self.beta**2, len(sums) // 3, 0
        smoothed: Any = 0.0
        precisions: Any = 0.0
        recalls: Any = 0.0
        for n in range(orders):
            hypothesis, reference, match = sums[3 * n], sums[3 * n + 1], sums[3 * n + 2]
            precision = match / hypothesis if hypothesis > 0 else _TINY
            recall = match / reference if reference > 0 else _TINY
            weighted = factor * precision + recall
            smoothed += (1 + factor) * precision * recall / weighted if weighted > 0 else _TINY
            if hypothesis > 0 and reference > 0:
                precisions, recalls, used = precisions + precision, recalls + recall, used + 1
        if self.eps_smoothing:
            return 100 * smoothed / orders
        if not used:
            return 0.0
        precision, recall = precisions / used, recalls / used
        if not precision + recall:
            return 0.0
        product = (1 + factor) * precision * recall
        return 100 * (product / (factor * precision + recall))


@dataclass(frozen=True)
class TerRow:
    """TER of (edits, mean length of the references).

    Examples
    --------
    >>> TerRow()([3, 12.0]), TerRow()([3, 0.0]), TerRow()([0, 0.0])
    (25.0, 100.0, 0.0)
    """

    def __call__(self, sums: Row) -> Any:
        """Return the score of one row."""
        edits, length = sums[0], sums[1]
        if length > 0:
            return 100 * (edits / length)
        return 100.0 if edits > 0 else 0.0
