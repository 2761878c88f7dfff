"""Cells of large tables as the text that Python's own `csv` writes, many at a time.

To write a number with all its digits takes most of the time of a table, and pyarrow does it five times as fast as `repr`. The
digits are the same, since both are the shortest that give the number back; only where notations differ is `repr` asked.
"""

from __future__ import annotations

import csv
import importlib
import io
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.report.layout.files import defuse
from pipeline.report.pairs.columns import At, Column

__all__ = ["cells_of", "lines_of", "quote"]

MANY = 2**12
"""Numbers for which it is worth while to load pyarrow."""

SAME_NOTATION = (1e-4, 1e9)
"""Numbers between these that are not whole look alike in Python and pyarrow."""


def lines_of(columns: Sequence[Sequence[str]]) -> bytes:
    """Return lines of CSV in UTF-8 from the cells of their columns."""
    return "".join([f"{','.join(row)}\n" for row in zip(*columns, strict=True)]).encode()


def cells_of(column: Column | None, at: At, size: int) -> Sequence[str]:
    """Return the cells of pairs that stand somewhere in a column, empty where nothing is known."""
    if column is None:
        return [""] * size
    if column.words is not None:
        table = np.array([*map(quote, column.words), ""], dtype=object)
        found: list[str] = table[column.values[at]].tolist()
        return found
    if column.values.dtype == np.float64 and not column.whole:
        return _write_floats(column.floats(at))
    return ["" if value is None else str(value) for value in column.take(at)]


def quote(value: Any) -> str:
    """Return a cell as `csv` writes it, which no spreadsheet takes for a formula.

    Examples
    --------
    >>> quote("x, y"), quote(None), quote(True), quote(1.0)
    ('"x, y"', '', 'True', '1.0')
    """
    buffer = io.StringIO()
    csv.writer(buffer, lineterminator="\n").writerow([defuse(value), ""])
    return buffer.getvalue()[:-2]


def _write_floats(values: NDArray[np.float64]) -> list[str]:
    known = np.isfinite(values)
    if len(values) < MANY:
        return [repr(value) if there else "" for value, there in zip(values.tolist(), known.tolist(), strict=True)]
    arrow: Any = importlib.import_module("pyarrow")  # has no types of its own
    # From the bytes: to make an array of anything, pyarrow imports pandas first, which takes as long as a hundred columns.
    array = arrow.Array.from_buffers(arrow.float64(), len(values), [None, arrow.py_buffer(np.ascontiguousarray(values))])
    written: list[str] = array.cast(arrow.string()).to_pylist()
    size = np.abs(values)
    with np.errstate(invalid="ignore"):
        other = np.flatnonzero((size < SAME_NOTATION[0]) | (size >= SAME_NOTATION[1]) | (values == np.rint(values)) | ~known)
    once: dict[float, str] = {}  # -0.0 is not a number of a report, nor told from 0.0 here
    for place, value, there in zip(other.tolist(), values[other].tolist(), known[other].tolist(), strict=True):
        written[place] = (once.get(value) or once.setdefault(value, repr(value))) if there else ""
    return written
