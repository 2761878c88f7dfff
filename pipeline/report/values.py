"""Values that JSON can hold and people can read: numbers become both, the same way everywhere."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.interfaces.wording import (
    MISSING,
    format_end,
    format_gain,
    format_interval,
    format_level,
    format_number,
    format_p,
    format_share,
)
from pipeline.report.pairs.pair_parts import Interval
from pipeline.report.rows import ScoreInterval
from pipeline.study.writing import UNNAMED_SET

__all__ = [
    "MISSING",
    "format_end",
    "format_ends",
    "format_gain",
    "format_interval",
    "format_level",
    "format_number",
    "format_p",
    "format_share",
    "on_set",
    "plain",
    "write_all",
]

_MOST_STEPS, _UNSURE = 1e9, 1e-6
"""Steps of the last digit: up to how many rounding is sure, and how near to half a step it is not."""

_PLAIN = frozenset({str, int, bool, type(None)})


def plain(value: Any) -> Any:
    """Return a value of JSON's own types; what is not a finite number becomes None.

    Examples
    --------
    >>> plain({"a": (float("nan"), float("inf"), 1)})
    {'a': [None, None, 1]}
    """
    kind = type(value)  # most values are plain already, and to ask for a mapping first takes longer than all else
    if kind is float:
        return value if math.isfinite(value) else None
    if kind in _PLAIN:
        return value
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, np.ndarray):
        if value.dtype.kind != "f":
            return plain(value.tolist())
        numbers = value.astype(object)  # all at once: most of what a report tells is floats of all pairs
        numbers[~np.isfinite(value)] = None
        return numbers.tolist()
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(item) for item in (sorted(value, key=str) if isinstance(value, set | frozenset) else value)]
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, bool | int | str):
        return value
    return str(value)


def format_ends(interval: Interval | ScoreInterval | None, digits: int) -> str:
    """Return the two ends of the interval of a gain or a score in brackets; a round one leaves out its end."""
    if interval is None:
        return MISSING
    ends = format_interval({"lo": interval.lo, "hi": interval.hi}, digits)
    return f"({ends[1:]}" if getattr(interval, "open", False) else ends


def write_all(write: Callable[[float, int], str], values: NDArray[np.float64], digits: int) -> list[str]:
    """Return many numbers as `format_gain` or `format_end` write them, each text made once; nan is what is not known.

    Numbers that round to the same one, which is not 0, have the same text. Where rounding may go either way it is asked for.

    Examples
    --------
    >>> write_all(format_gain, np.array([0.1234, 0.1226, 0.00006, np.nan]), 2)
    ['0.12', '0.12', '0.0001', '–']
    """
    with np.errstate(over="ignore", invalid="ignore"):
        scaled = values * 10.0**digits
        whole = np.rint(scaled)
        is_sure = (np.abs(whole) >= 1) & (np.abs(whole) < _MOST_STEPS) & (np.abs(scaled - whole) < 0.5 - _UNSURE)
    distinct, place = np.unique(np.where(is_sure, whole / 10.0**digits, values), return_inverse=True)
    texts = [MISSING if math.isnan(value) else write(value, digits) for value in distinct.tolist()]
    return [*map(texts.__getitem__, place.tolist())]


def on_set(test_set: str) -> str:
    """Return where something was found, within a sentence.

    Examples
    --------
    >>> on_set("news"), on_set("test set")
    ('on news', 'on the test set')
    """
    return f"on the {UNNAMED_SET}" if test_set == UNNAMED_SET else f"on {test_set}"
