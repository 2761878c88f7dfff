"""Values that JSON can hold and people can read: numbers become both, the same way everywhere."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from pipeline.interfaces.wording import MISSING, format_gain, format_interval, format_number, format_p, format_share
from pipeline.report.pairs.pair_parts import Interval
from pipeline.report.rows import ScoreInterval
from pipeline.study.writing import UNNAMED_SET

__all__ = [
    "MISSING",
    "format_ends",
    "format_gain",
    "format_interval",
    "format_number",
    "format_p",
    "format_share",
    "on_set",
    "plain",
    "write_ends",
]

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
    return write_ends(interval.lo, interval.hi, getattr(interval, "open", False), digits)


def write_ends(lo: float, hi: float, is_open: bool, digits: int) -> str:
    """Return the two ends of an interval as `format_ends` does.

    Examples
    --------
    >>> write_ends(0.0, 0.0819, True, 3)
    '(0.000, 0.082]'
    """
    ends = format_interval({"lo": lo, "hi": hi}, digits)
    return f"({ends[1:]}" if is_open else ends


def on_set(test_set: str) -> str:
    """Return where something was found, within a sentence.

    Examples
    --------
    >>> on_set("news"), on_set("test set")
    ('on news', 'on the test set')
    """
    return f"on the {UNNAMED_SET}" if test_set == UNNAMED_SET else f"on {test_set}"
