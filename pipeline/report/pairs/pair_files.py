"""All pairs of a report as CSV and as Parquet, a chunk at a time; rows are made for their notes only.

The columns are the fields of a row of ``report.json``; those of a part of it are named ``part.field``. The CSV leaves out what no
pair has. Parquet has every column, whatever is known (``docs/pairs_table.md``).
"""

from __future__ import annotations

import importlib
import io
import types
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import is_dataclass
from functools import partial
from typing import Any, Literal, NamedTuple, Union, get_args, get_origin, get_type_hints

import numpy as np
from numpy.typing import NDArray

from pipeline.report.document import SCHEMA_VERSION, FullReport
from pipeline.report.layout.csv_cells import array_of_bytes, array_of_texts, lines_of
from pipeline.report.layout.files import csv_lines
from pipeline.report.pairs.columns import Column, coded
from pipeline.report.pairs.pair_set import CHUNK, OPTIONAL, PairSet, names_of
from pipeline.report.rows import PairRow

__all__ = ["FIELDS_OF", "METADATA", "pair_files"]

METADATA = "pipeline.schema_version"
"""The key in the metadata of a Parquet file under which the version of ``report.json`` stands."""

GROUP = 2**16
"""Rows of a group in Parquet."""

NOTES_KEPT = 2**17
"""Pairs in all whose notes are held from one file to the next: of more they would take hundreds of megabytes."""


def pair_files(report: FullReport) -> dict[str, Callable[[], Iterable[bytes]]]:
    """Return the files of ``tables/`` with all pairs: CSV, and Parquet where the document does not list them all."""
    families = [pairs for pairs in report.full.values() if len(pairs)]
    files: dict[str, Callable[[], Iterable[bytes]]] = {}
    notes = [_Notes(pairs, keeps=report.all_pairs.pairs <= NOTES_KEPT) for pairs in families]
    if families:
        files["pairs.csv"] = partial(_as_csv, families, notes)
    if report.all_pairs.parquet is not None:
        files["pairs.parquet"] = partial(_as_parquet, families, notes)
    return files


class _Notes:
    """The notes of all pairs of a family, which take longest of what both files have: where there is room, each is written once.

    Parameters
    ----------
    pairs : PairSet
    keeps : bool
        Hold on to what was written.
    """

    def __init__(self, pairs: PairSet, *, keeps: bool) -> None:
        self._pairs = pairs
        self._keeps = keeps
        self._words: dict[str | None, int] = {}
        self._numbers = np.full(len(pairs.remarks.against), -1, np.int32)

    def read(self, span: slice) -> Column:
        """Return the column of notes, which has those of a span at least."""
        if not self._keeps:
            self._words = {}
        for first in range(span.start, min(span.stop, len(self._pairs)), CHUNK):
            at = self._pairs.order[first : min(first + CHUNK, span.stop)]
            if not self._keeps or (self._numbers[at] < 0).any():
                notes = self._pairs.write_notes(at)
                self._numbers[at] = [self._words.setdefault(note, len(self._words)) for note in notes]
        return coded(self._numbers, tuple(self._words))


class _Leaf(NamedTuple):
    """A column: its path, and the first row that has it."""

    path: str
    first: int


def _as_csv(families: Sequence[PairSet], notes: Sequence[_Notes]) -> Iterator[bytes]:
    # In the order in which rows bring them: an interval that the first row lacks has its columns at the end.
    paths = [leaf.path for leaf in sorted(_leaves(families), key=lambda leaf: leaf.first)]
    yield csv_lines([[path] for path in paths])
    for pairs, own in zip(families, notes, strict=True):
        for first in range(0, len(pairs), CHUNK):
            span = slice(first, first + CHUNK)
            columns = {**pairs.columns, "note": own.read(span)}
            yield lines_of([columns.get(path) for path in paths], pairs.order[span], len(pairs.order[span]))


def _leaves(families: Sequence[PairSet]) -> Iterator[_Leaf]:
    """Yield the columns of a CSV file: the fields of a row, and in place of its parts their fields, where any pair has the part."""
    for name in names_of(PairRow):
        yield from _below(families, name)


def _below(families: Sequence[PairSet], path: str) -> Iterator[_Leaf]:
    below = dict.fromkeys(name for pairs in families for name in pairs.below(path))
    if path in FIELDS_OF:
        below = {name: None for name in FIELDS_OF[path] if name in below}
    first = _first_with(families, path) if path in OPTIONAL else 0
    if not below or first is None:
        # A part that no pair has is a column of nothing, but for parts of which nothing is said where there are none.
        if OPTIONAL.get(path) != "left out":
            yield _Leaf(path, _first_with(families, path.rpartition(".")[0]) or 0 if path.count(".") else 0)
        return
    for name in below:
        own = f"{path}.{name}"
        if any(pairs.below(own) for pairs in families) or own in OPTIONAL:
            yield from _below(families, own)
        else:
            yield _Leaf(own, first)


def _first_with(families: Sequence[PairSet], path: str) -> int | None:
    """Return the first row of all that has a part; None where no row has it."""
    before = 0
    for pairs in families:
        known = pairs.known(path) if path in OPTIONAL else np.ones(len(pairs), np.bool_)
        if known.any():
            return before + int(known.argmax())
        before += len(pairs)
    return None


def _types(kind: type, prefix: str = "") -> Iterator[tuple[str, type]]:
    """Yield the fields of a row and of its parts with the type of what they hold, where the study does not name them."""
    for name, hint in get_type_hints(kind).items():
        union = get_origin(hint) in (Union, types.UnionType)
        (held,) = (of for of in get_args(hint) if of is not types.NoneType) if union else (hint,)
        held = str if get_origin(held) is Literal else held
        if is_dataclass(held):
            assert isinstance(held, type)
            yield from _types(held, f"{prefix}{name}.")
        elif not get_args(held):
            yield prefix + name, held


FIELDS_OF: dict[str, dict[str, None]] = {}
"""The fields of each part of a row, in their order, by path."""
for _leaf, _ in _types(PairRow):
    for _depth, _field in enumerate(_leaf.split(".")[1:], start=1):
        FIELDS_OF.setdefault(".".join(_leaf.split(".")[:_depth]), {})[_field] = None


def _schema(families: Sequence[PairSet]) -> dict[str, type]:
    """Return every column with its type: those of a row, then the intervals and numbers of tools that the study has."""
    columns = dict(_types(PairRow))
    for pairs in families:
        for path in pairs.columns:
            if path.startswith(("intervals.", "tool_p.")):
                columns.setdefault(path, str if path == "tool_p.reason" else float)
    columns["minimum_detectable_effect.units_needed"] = float  # some are beyond 64 bits
    return columns


def _as_parquet(families: Sequence[PairSet], notes: Sequence[_Notes]) -> Iterator[bytes]:
    # Only here: a report of few pairs does not wait for it. It has no types of its own.
    pa: Any = importlib.import_module("pyarrow")
    parquet: Any = importlib.import_module("pyarrow.parquet")
    kinds: Mapping[type, Any] = {
        float: pa.float64(),
        int: pa.int64(),
        bool: pa.bool_(),
        str: pa.dictionary(pa.int32(), pa.string()),
    }
    columns = _schema(families)
    fields = [(path, pa.string() if path == "note" else kinds[kind]) for path, kind in columns.items()]
    schema = pa.schema(fields, metadata={METADATA: str(SCHEMA_VERSION)})
    sink = _Sink()
    with parquet.ParquetWriter(sink, schema, compression="zstd") as writer:
        for pairs, own in zip(families, notes, strict=True):
            for first in range(0, len(pairs), GROUP):
                span = slice(first, first + GROUP)
                at, note = pairs.order[span], own.read(span)
                arrays = [
                    array_of_texts(pa, note.take(at))
                    if path == "note"
                    else _arrow(pa, pairs.columns.get(path), at, kind, kinds[kind])
                    for path, kind in columns.items()
                ]
                writer.write_batch(pa.record_batch(arrays, schema=schema))
                yield sink.drain()
    yield sink.drain()
    pa.default_memory_pool().release_unused()  # what follows is not Arrow's, and needs the room


def _arrow(pa: Any, column: Column | None, at: NDArray[np.int64], kind: type, as_type: Any) -> Any:
    if column is None:
        return pa.nulls(len(at), as_type)
    if kind is float:
        numbers = column.floats(at)
        return array_of_bytes(pa, as_type, len(at), numbers, known=~np.isnan(numbers))
    known = column.known(at)
    if kind is not str:
        held = column.values[at] if column.words is None and column.values.dtype.kind in "iub" else column.objects(at)
        values: NDArray[Any] = np.where(known, held, 0).astype(kind)
        held = np.packbits(values, bitorder="little") if kind is bool else values.astype(np.int64)
        return array_of_bytes(pa, as_type, len(at), held, known=known)
    # Each text once: of equal ones pyarrow leaves bytes of its file as memory was before, another each time.
    texts: dict[str, int] = {}
    code_of = [0 if word is None else texts.setdefault(str(word), len(texts)) for word in column.words or (None,)]
    held = np.where(known, np.array(code_of, np.int32)[column.values[at]], 0)
    codes = array_of_bytes(pa, pa.int32(), len(at), held.astype(np.int32), known=known)
    return pa.DictionaryArray.from_arrays(codes, array_of_texts(pa, [*texts] or [""]))


class _Sink(io.RawIOBase):
    """A file that hands on what is written to it."""

    def __init__(self) -> None:
        super().__init__()
        self._parts: list[bytes] = []
        self._written = 0

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self._parts.append(bytes(data))
        self._written += len(self._parts[-1])
        return len(self._parts[-1])

    def tell(self) -> int:
        return self._written

    def drain(self) -> bytes:
        """Return what was written since it was last asked."""
        parts, self._parts = self._parts, []
        return b"".join(parts)
