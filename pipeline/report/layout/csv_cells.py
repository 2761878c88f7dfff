"""Lines of large tables as the text that Python's own `csv` writes, many pairs at a time.

To write a number with all its digits takes most of the time of a table, and pyarrow does it five times as fast as `repr`. The
digits are the same, since both are the shortest that give the number back; only where notations differ is `repr` asked. pyarrow
joins the cells of many pairs too, so that few of them are ever a text of Python's.
"""

from __future__ import annotations

import csv
import importlib
import io
from collections.abc import Iterator, Sequence
from itertools import groupby
from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.report.layout.files import defuse
from pipeline.report.pairs.columns import At, Column

__all__ = ["array_of_bytes", "array_of_texts", "lines_of", "quote"]

MANY = 2**12
"""Pairs of a family for which it is worth while to load pyarrow."""

SAME_NOTATION = (1e-4, 1e9)
"""Numbers between these that are not whole look alike in Python and pyarrow."""


def lines_of(columns: Sequence[Column | None], at: At, size: int) -> bytes:
    """Return lines of CSV in UTF-8 for pairs that stand somewhere in columns, empty cells where there is none or nothing is known.

    Parameters
    ----------
    columns : sequence of Column or None
        All with as many pairs as the family has.
    at : (pair,) int64 or slice
    size : int
        Number of pairs.
    """
    pieces = [*_join_constants(columns)]
    if max((len(column.values) for column in columns if column is not None), default=0) < MANY:
        cells = [[piece] * size if isinstance(piece, str) else _cells_of(piece, at) for piece in pieces]
        return "".join([f"{','.join(row)}\n" for row in zip(*cells, strict=True)]).encode()
    pa: Any = importlib.import_module("pyarrow")  # has no types of its own
    pc: Any = importlib.import_module("pyarrow.compute")
    comma, end = array_of_texts(pa, [",", "\n"])
    nothing = array_of_texts(pa, [""] * size)
    arrays = [array_of_texts(pa, [piece])[0] if isinstance(piece, str) else _array_of(pa, pc, piece, at) for piece in pieces]
    # What is joined to nothing by the end of a line ends with it.
    lines = pc.binary_join_element_wise(pc.binary_join_element_wise(*arrays, comma), nothing, end)
    _, ends, texts = lines.buffers()
    text: bytes = texts.slice(0, int(np.frombuffer(ends, np.int32)[size])).to_pybytes()
    return text


def _join_constants(columns: Sequence[Column | None]) -> Iterator[Column | str]:
    """Yield columns, and in place of neighbours of which all pairs have the same values these as one text."""
    for constant, group in groupby(columns, lambda column: column is None or column.values.strides == (0,)):
        if constant:
            yield ",".join("" if column is None else _cells_of(column, slice(0, 1))[0] for column in group)
        else:
            yield from filter(None, group)


def _cells_of(column: Column, at: At) -> list[str]:
    """Return cells as Python's own texts."""
    if column.words is not None:
        return [*map(_texts_of_words(column).__getitem__, column.values[at].tolist())]
    return ["" if value is None else str(value) for value in column.take(at)]


def _texts_of_words(column: Column) -> list[str]:
    """Return the cells of a column's words, and last that of -1."""
    return [*map(quote, column.words or ()), ""]


def _array_of(pa: Any, pc: Any, column: Column, at: At) -> Any:
    """Return cells as an array of pyarrow."""
    values = column.values[at]
    if column.words is not None:
        used, place = np.unique(values, return_inverse=True)  # a family has more notes than a chunk of it
        texts = [quote(column.words[word]) if word >= 0 else "" for word in used.tolist()]
    elif values.dtype == np.float64 and not column.whole:
        return _write_floats(pa, pc, column.floats(at))
    else:
        distinct, place = np.unique(values, return_inverse=True)
        texts = _cells_of(Column(distinct, whole=column.whole), slice(None))
    return _repeat(pa, pc, texts, place)


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


def _write_floats(pa: Any, pc: Any, values: NDArray[np.float64]) -> Any:
    written = array_of_bytes(pa, pa.float64(), len(values), values).cast(pa.string())
    size = np.abs(values)
    with np.errstate(invalid="ignore"):
        other = (size < SAME_NOTATION[0]) | (size >= SAME_NOTATION[1]) | (values == np.rint(values)) | ~np.isfinite(values)
    if not other.any():
        return written
    distinct, place = np.unique(values[other], return_inverse=True)  # -0.0 is not a number of a report, nor told from 0.0 here
    texts = _repeat(pa, pc, [repr(value) if isfinite(value) else "" for value in distinct.tolist()], place)
    mask = array_of_bytes(pa, pa.bool_(), len(values), np.packbits(other, bitorder="little"))
    return pc.replace_with_mask(written, mask, texts)


def _repeat(pa: Any, pc: Any, texts: Sequence[str], place: NDArray[np.integer]) -> Any:
    """Return the text at each place."""
    return pc.take(array_of_texts(pa, texts), array_of_bytes(pa, pa.int64(), len(place), place.astype(np.int64)))


def array_of_texts(pa: Any, texts: Sequence[str | None]) -> Any:
    """Return texts, or nothing, as an array of pyarrow."""
    encoded = [b"" if text is None else text.encode() for text in texts]
    ends = np.cumsum([0, *map(len, encoded)], dtype=np.int32)
    known = np.array([text is not None for text in texts], np.bool_)
    return array_of_bytes(pa, pa.string(), len(texts), ends, b"".join(encoded), known=known)


def array_of_bytes(pa: Any, as_type: Any, size: int, *parts: NDArray[Any] | bytes, known: NDArray[np.bool_] | None = None) -> Any:
    """Return an array of what its bytes are: to make one of anything else pyarrow imports pandas, for a third of a second."""
    bits = None if known is None or known.all() else pa.py_buffer(np.packbits(known, bitorder="little"))
    held = [pa.py_buffer(part if isinstance(part, bytes) else np.ascontiguousarray(part)) for part in parts]
    return pa.Array.from_buffers(as_type, size, [bits, *held])
