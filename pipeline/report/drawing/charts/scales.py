"""Scales, linear or logarithmic: the position of a value on an axis, and the round numbers written there."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pipeline.dataclass import dataclass
from pipeline.interfaces.charts import Area, Axis, Chart, Line, Points, Rule
from pipeline.report.drawing.shapes import ticks

__all__ = ["Scale", "scale_of", "ticks_of", "widen"]

_MARGIN = 0.05
"""Of an axis whose ends are not given, beyond the marks."""
_LARGEST = sys.float_info.max
_FAR = 2.0**1000
"""Differences of values beyond it, times pixels, may overflow: they are taken of values that are divided by `_SHRINK`."""
_SHRINK = 2.0**64
_LEAST_OF_LOG = 1e-300


@dataclass(frozen=True)
class Scale:
    """A map of values to pixels: ``low`` lies at ``start``, ``high`` at ``end``."""

    low: float
    high: float
    start: float
    end: float
    log: bool = False

    def at(self, values: ArrayLike) -> NDArray[np.float64]:
        """Return the pixels of values.

        Examples
        --------
        >>> Scale(1, 100, 0, 10, log=True).at([1, 10, 100]).tolist()
        [0.0, 5.0, 10.0]
        """
        low, high, placed = *self._on_axis([self.low, self.high]), self._on_axis(values)
        if max(abs(low), abs(high)) > _FAR:
            low, high, placed = low / _SHRINK, high / _SHRINK, placed / _SHRINK
        return np.asarray(self.start + (self.end - self.start) * (placed - low) / (high - low))

    def shows(self, values: ArrayLike) -> NDArray[np.bool_]:
        """Say which values lie on the axis."""
        values = np.asarray(values, dtype=np.float64)
        low, high = sorted((self.low, self.high))
        return np.asarray((values >= low) & (values <= high))

    def _on_axis(self, values: ArrayLike) -> NDArray[np.float64]:
        values = np.asarray(values, dtype=np.float64)
        # What is not positive has no place on a logarithmic axis: it lies far below its lower end, where it is cut off.
        return np.log10(np.maximum(values, _LEAST_OF_LOG)) if self.log else values


def scale_of(chart: Chart, along: str, start: float, end: float) -> Scale:
    """Return the scale of an axis: from end to end where both are given, else as far as the marks go, with a margin."""
    axis: Axis = chart.x if along == "x" else chart.y
    found = [np.asarray(some, dtype=np.float64).ravel() for some in _values(chart, along)]
    values = np.concatenate([*found, np.empty(0)])
    values = values[np.isfinite(values) & ((values > 0) if axis.log else True)]
    low, high = (float(values.min()), float(values.max())) if len(values) else (1.0, 1.0)
    if axis.log:
        low = max(low, _LEAST_OF_LOG)
        ratio = high / low if high < _FAR else math.inf
        room = (
            (ratio**_MARGIN if ratio < math.inf else 10 ** (_MARGIN * (math.log10(high) - math.log10(low)))) if high > low else 2.0
        )
        low, high = max(low / room, _LEAST_OF_LOG), high * room
    else:
        low, high = widen(low, high, _MARGIN, 0.05)
    low, high = (low if axis.low is None else axis.low), (high if axis.high is None else axis.high)
    low, high = (min(max(end, -_LARGEST), _LARGEST) for end in (low, high))  # an end that was asked for may have overflowed
    if low == high:
        high = low + 1.0 if abs(low) < 1e15 else low + 1e-3 * abs(low)
    return Scale(low, high, start, end, axis.log)


def widen(low: float, high: float, share: float, alone: float) -> tuple[float, float]:
    """Return two ends with a share of their distance beyond each; where they are one, with a share of that; never beyond a float.

    Examples
    --------
    >>> widen(0.0, 10.0, 0.05, 0.5), widen(4.0, 4.0, 0.05, 0.5), widen(-1.7e308, 1.7e308, 0.05, 0.5)[1] < float("inf")
    ((-0.5, 10.5), (2.0, 6.0), True)
    """
    far = max(abs(low), abs(high)) > _FAR
    low, high, most = (low / _SHRINK, high / _SHRINK, _LARGEST / _SHRINK) if far else (low, high, _LARGEST)
    room = share * (high - low) or alone * abs(high) or 0.5
    low, high = max(low - room, -most), min(high + room, most)
    return (low * _SHRINK, high * _SHRINK) if far else (low, high)


def _values(chart: Chart, along: str) -> Iterable[Any]:
    for mark in chart.marks:
        if isinstance(mark, Points | Line):
            yield mark.x if along == "x" else mark.y
        elif isinstance(mark, Area):
            yield from [mark.x] if along == "x" else [mark.low, mark.high]
        elif isinstance(mark, Rule) and mark.along == along:
            yield [mark.at]


def ticks_of(axis: Axis, scale: Scale, *, most: int = 7) -> Sequence[tuple[float, str]]:
    """Return the marks of an axis: those that it asks for, as far as it shows them, or round numbers.

    Examples
    --------
    >>> [text for _, text in ticks_of(Axis(log=True), Scale(0.02, 30, 0, 1, log=True))]
    ['0.1', '1', '10']
    >>> [text for _, text in ticks_of(Axis(log=True), Scale(0.3, 4, 0, 1, log=True))]
    ['0.5', '1', '2']
    """
    low, high = sorted((scale.low, scale.high))
    if axis.ticks is not None:
        margin = 1e-9 * high - 1e-9 * low
        return [(value, text) for value, text in axis.ticks if low - margin <= value <= high + margin]
    if not scale.log:
        return ticks(low, high, most=most)
    decades = range(math.floor(math.log10(low)), min(math.ceil(math.log10(high)), 308) + 1)
    for steps in ((1,), (1, 2, 5), (1, 1.5, 2, 3, 4, 5, 6, 7, 8, 9)):
        values = [step * 10.0**power for power in decades for step in steps]
        shown = [value for value in values if low <= value <= high]
        if len(shown) >= 3:
            break
    every = math.ceil(len(shown) / most) or 1
    return [(value, f"{value:g}") for value in shown[::every]]
