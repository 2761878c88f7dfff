"""The rows of pairs as JSON, from their columns: the text that `json` gives of rows, which take longer to make than to write."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from pipeline.report.pairs.columns import Column
from pipeline.report.pairs.pair_files import FIELDS_OF
from pipeline.report.pairs.pair_set import CHUNK, OPTIONAL, PairSet, names_of
from pipeline.report.rows import PairRow

__all__ = ["encode_rows"]

_Text = str | list[str]
"""The same of all pairs, or one of each."""

_encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode


def encode_rows(pairs: PairSet) -> Iterator[str]:
    """Yield the row of each pair as ``report.json`` has it."""
    for first in range(0, len(pairs), CHUNK):
        some = pairs[first : first + CHUNK]
        yield from _join(_object(some, [(name, name) for name in names_of(PairRow)]), len(some))


def _object(pairs: PairSet, fields: Iterable[tuple[str, str]]) -> Iterator[_Text]:
    """Yield the pieces of a row or a part of it, given the names and paths of its fields."""
    comma = ""
    yield "{"
    for name, path in fields:
        lead = f"{comma}{_encode(name)}: "
        comma = ", "
        if OPTIONAL.get(path) != "left out":
            yield lead
            yield from _value(pairs, path)
        elif (known := pairs.known(path)).any():
            yield _where(known, _join([lead, *_value(pairs, path)], len(pairs)), "")
    yield "}"


def _value(pairs: PairSet, path: str) -> Iterator[_Text]:
    """Yield the pieces of what a field holds."""
    if path == "note":
        yield [_encode(note) for note in pairs.write_notes(pairs.order)]
        return
    known = pairs.known(path) if path in OPTIONAL else None
    if known is not None and not known.any():
        yield "null"
        return
    names = FIELDS_OF.get(path) or pairs.below(path)
    if not names:
        yield _cells_of(pairs.columns.get(path), pairs.order)
        return
    own = _object(pairs, [(name, f"{path}.{name}") for name in names])
    if known is None or known.all():
        yield from own
    else:
        yield _where(known, _join([*own], len(pairs)), "null")


def _where(known: NDArray[np.bool_], texts: Iterable[str], other: str) -> list[str]:
    return [text if is_known else other for text, is_known in zip(texts, known.tolist(), strict=True)]


def _join(pieces: Iterable[_Text], size: int) -> Iterable[str]:
    """Return the text of each pair."""
    held = list(pieces)
    template = "".join(piece.replace("%", "%%") if isinstance(piece, str) else "%s" for piece in held)
    columns: Sequence[list[str]] = [piece for piece in held if not isinstance(piece, str)]
    return map(template.__mod__, zip(*columns, strict=True)) if columns else [template % ()] * size


def _cells_of(column: Column | None, at: NDArray[np.int64]) -> _Text:
    if column is None:
        return "null"
    if column.values.strides == (0,):
        return _encode(column.take(at[:1])[0])
    if column.words is not None:
        words = [*map(_encode, column.words), "null"]  # the last is that of -1
        return [*map(words.__getitem__, column.values[at].tolist())]
    if column.values.dtype == np.float64 and not column.whole:
        numbers = column.values[at]
        return [
            repr(number) if is_known else "null"
            for number, is_known in zip(numbers.tolist(), np.isfinite(numbers).tolist(), strict=True)
        ]
    if column.values.dtype == np.bool_:
        return ["true" if value else "false" for value in column.values[at].tolist()]
    return ["null" if number is None else str(number) for number in column.take(at)]  # whole numbers, as JSON has them
