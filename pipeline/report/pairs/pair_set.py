"""The pairs of a family as columns, read from a cube, which make rows when these are looked at."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, replace
from functools import cached_property
from itertools import chain
from typing import Any, Self, overload

import numpy as np
from numpy.typing import NDArray

from pipeline.dataclass import dataclass
from pipeline.report.pairs.columns import At, Column
from pipeline.report.pairs.pair_parts import Interval, Leverage, MethodInterval, MethodIntervalWithP, MinimumDetectableEffect
from pipeline.report.pairs.pairs import Pairs
from pipeline.report.rows import Adjustment, OtherAdjustments, PairRow, PairTails, RawP, Tail

__all__ = ["CHUNK", "OPTIONAL", "PairSet", "Remarks", "names_of"]

CHUNK = 2**13
"""Pairs whose rows exist at one time."""


@dataclass(frozen=True, eq=False)
class Remarks:
    """How the note of a pair is written: from its row, and from what its row does not hold.

    Parameters
    ----------
    write : callable
        (row, against, held_back) to text; nothing where it is empty.
    may_write : callable
        Tells which of some pairs may have a note though nothing is against them.
    tell_apart : callable
        (pairs, against, held_back) to a number each: pairs of one number have the same note.
    against : (pair,) bool
        The test rejects in favour of the system that is behind.
    held_back : (pair,) bool
        The pair was not decided within its family.
    """

    write: Callable[[PairRow, bool, bool], str]
    may_write: Callable[[Pairs], NDArray[np.bool_]]
    tell_apart: Callable[[PairSet, NDArray[np.bool_], NDArray[np.bool_]], NDArray[np.int64]]
    against: NDArray[np.bool_]
    held_back: NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class PairSet(Pairs):
    """The pairs of one family.

    Parameters
    ----------
    columns : mapping of str to Column
        By path, for pairs in the order of the cube; `LEAVES` says which there must be.
    order : (pair,) int64
        Where the pairs of the set stand in the columns.
    remarks : Remarks
    """

    columns: Mapping[str, Column]
    order: NDArray[np.int64]
    remarks: Remarks

    def __len__(self) -> int:
        return len(self.order)

    def __iter__(self) -> Iterator[PairRow]:
        return chain.from_iterable(self.make_rows(self.order[at : at + CHUNK]) for at in range(0, len(self.order), CHUNK))

    @overload
    def __getitem__(self, at: int) -> PairRow: ...
    @overload
    def __getitem__(self, at: slice) -> Self: ...
    def __getitem__(self, at: int | slice) -> PairRow | Self:
        if isinstance(at, slice):
            return replace(self, order=self.order[at])
        return self._first if at == 0 else self.make_rows(self.order[[at]])[0]

    @cached_property
    def _first(self) -> PairRow:
        """The first row, which is asked again and again for what all pairs share; one alone takes as long as many."""
        return self.make_rows(self.order[[0]])[0]

    def floats(self, path: str) -> NDArray[np.float64]:  # noqa: D102
        column = self.columns.get(path)
        return np.full(len(self), np.nan) if column is None else column.floats(self.order)

    def values(self, path: str) -> NDArray[Any]:  # noqa: D102
        column = self.columns.get(path)
        return np.full(len(self), None, dtype=object) if column is None else column.objects(self.order)

    def equal(self, path: str, value: Any) -> NDArray[np.bool_]:  # noqa: D102
        column = self.columns.get(path)
        return np.zeros(len(self), np.bool_) if column is None else column.equal(self.order, value)

    def codes(self, path: str) -> NDArray[Any]:
        """Return a number for each value, whatever it is: other values have other numbers."""
        column = self.columns.get(path)
        return np.zeros(len(self), np.int8) if column is None else column.values[self.order]

    def known(self, path: str) -> NDArray[np.bool_]:
        """Tell where anything is known; of a group of fields, where there is one."""
        if path in PRESENT:
            if not PRESENT[path]:
                return np.full(len(self), bool(self.below(path)))
            return np.asarray(np.any([self.known(of) for of in PRESENT[path]], axis=0))
        column = self.columns.get(path)
        return np.zeros(len(self), np.bool_) if column is None else column.known(self.order)

    def where(self, mask: NDArray[np.bool_]) -> Self:  # noqa: D102
        return replace(self, order=self.order[mask])

    def with_columns(self, columns: Mapping[str, Column]) -> Self:
        """Return the pairs with more columns, or others."""
        return replace(self, columns={**self.columns, **columns})

    def below(self, path: str) -> list[str]:
        """Return the names of what is known below a part of a row, in the order of its fields."""
        start = f"{path}."
        names = [of[len(start) :] for of in self.columns if of.startswith(start)]
        if path == "tool_p":  # presets, whose names may have dots
            return names
        return list(dict.fromkeys(name.partition(".")[0] for name in names))

    def write_notes(self, at: NDArray[np.int64]) -> list[str | None]:
        """Return the notes of pairs that stand somewhere in the columns."""
        found = np.full(len(at), None, dtype=object)
        remarks = self.remarks
        noted = np.flatnonzero(remarks.may_write(replace(self, order=at)) | remarks.against[at])
        some = at[noted]
        numbers = remarks.tell_apart(replace(self, order=some), remarks.against[some], remarks.held_back[some])
        _, first, of = np.unique(numbers, return_index=True, return_inverse=True)
        notes = np.empty(len(first), dtype=object)
        notes[:] = self._notes_of(self._assemble(some[first], _IN_NO_NOTE), some[first])
        found[noted] = notes[of]
        return found.tolist()

    def make_rows(self, at: NDArray[np.int64]) -> list[PairRow]:
        """Return the rows of pairs that stand somewhere in the columns."""
        rows = self._assemble(at, frozenset())
        for row, note in zip(rows, self._notes_of(rows, at), strict=True):
            if note:
                object.__setattr__(row, "note", note)  # nothing else holds the row yet, and a copy would cost as much as making it
        return rows

    def _assemble(self, at: NDArray[np.int64], left_out: Collection[str]) -> list[PairRow]:
        parts = (
            [None] * len(at) if name in left_out else _PARTS[name](self, at) if name in _PARTS else self._take(name, at)
            for name in _FIELDS
        )
        return [PairRow(*cells) for cells in zip(*parts, strict=True)]

    def _notes_of(self, rows: Sequence[PairRow], at: NDArray[np.int64]) -> list[str | None]:
        against, held_back = self.remarks.against[at].tolist(), self.remarks.held_back[at].tolist()
        return [self.remarks.write(*of) or None for of in zip(rows, against, held_back, strict=True)]

    def _take(self, path: str, at: At) -> list[Any]:
        column = self.columns.get(path)
        return [None] * len(self.order[at] if isinstance(at, slice) else at) if column is None else column.take(at)

    def _group(self, kind: Callable[..., Any], names: Iterable[str], prefix: str, at: At, there: str | None) -> list[Any]:
        """Return values of a kind, from the columns below a prefix; None where that which tells it is unknown."""
        cells = zip(*(self._take(f"{prefix}.{name}", at) for name in names), strict=True)
        if there is None:
            return [kind(*of) for of in cells]
        column = self.columns.get(f"{prefix}.{there}")
        size = len(at)  # type: ignore[arg-type]
        if column is None:
            return [None] * size
        known = column.known(at)
        if not known.any():
            return [None] * size
        return [kind(*of) if is_there else None for of, is_there in zip(cells, known.tolist(), strict=True)]


def names_of(kind: type) -> tuple[str, ...]:
    """Return the names of the fields of a row or a part of one."""
    return tuple(field.name for field in fields(kind))


_FIELDS = names_of(PairRow)
_IN_NO_NOTE = frozenset({"intervals", "leverage", "p_raw", "tail", "minimum_detectable_effect", "tool_p"})
"""Parts of a row that `pipeline.report.pairs.notes` does not read: to make them takes longer than to write the note."""

PRESENT: Mapping[str, tuple[str, ...]] = {
    "interval": ("interval.method",),
    "leverage": ("leverage.unit",),
    "minimum_detectable_effect": ("minimum_detectable_effect.law",),
    "tail.one_sided": ("tail.one_sided.p",),
    "tail.two_sided": ("tail.two_sided.p",),
    "tail": ("tail.one_sided.p", "tail.two_sided.p"),
    "adjustment.across": ("adjustment.across.by",),
    "intervals": (),
    "tool_p": (),
}
"""Parts of a row that a pair may lack, with what is known where it is there; () where all pairs of a family have it or none."""

OPTIONAL: Mapping[str, str] = {path: "left out" if path in {"adjustment.across", "tool_p"} else "None" for path in PRESENT}
"""What stands for a part of a row where it is not there: None, or nothing at all."""


def _tails(of: PairSet, at: NDArray[np.int64]) -> list[PairTails | None]:
    if not any(f"tail.{side}.p" in of.columns for side in names_of(PairTails)):
        return [None] * len(at)
    one, two = (of._group(Tail, names_of(Tail), f"tail.{side}", at, "p") for side in names_of(PairTails))
    return [None if a is None and b is None else PairTails(a, b) for a, b in zip(one, two, strict=True)]


def _adjustments(of: PairSet, at: NDArray[np.int64]) -> list[Adjustment]:
    from pipeline.report.facts import AcrossFamilies

    others = of._group(OtherAdjustments, names_of(OtherAdjustments), "adjustment.others", at, None)
    across = of._group(AcrossFamilies, names_of(AcrossFamilies), "adjustment.across", at, "by")
    by, size, reason = (of._take(f"adjustment.{name}", at) for name in ("by", "family_size", "reason"))
    return list(map(Adjustment, by, size, others, reason, across))


def _intervals(of: PairSet, at: NDArray[np.int64]) -> list[dict[str, Any] | None]:
    methods: dict[str, list[MethodInterval]] = {}
    for path in of.columns:
        if path.startswith("intervals.") and path.endswith(".lo"):
            prefix = path[: -len(".lo")]
            kind = MethodIntervalWithP if f"{prefix}.p" in of.columns else MethodInterval
            methods[prefix[len("intervals.") :]] = of._group(kind, names_of(kind), prefix, at, None)
    if not methods:
        return [None] * len(at)
    return [dict(zip(methods, found, strict=True)) for found in zip(*methods.values(), strict=True)]


def _tool_p(of: PairSet, at: NDArray[np.int64]) -> list[dict[str, Any] | None]:
    names = of.below("tool_p")
    if not names:
        return [None] * len(at)
    return [dict(zip(names, cells, strict=True)) for cells in zip(*(of._take(f"tool_p.{name}", at) for name in names), strict=True)]


_PARTS: Mapping[str, Callable[[PairSet, NDArray[np.int64]], Sequence[Any]]] = {
    "p_raw": lambda of, at: of._group(RawP, names_of(RawP), "p_raw", at, None),
    "tail": _tails,
    "adjustment": _adjustments,
    "interval": lambda of, at: of._group(Interval, names_of(Interval), "interval", at, "method"),
    "intervals": _intervals,
    "leverage": lambda of, at: of._group(Leverage, names_of(Leverage), "leverage", at, "unit"),
    "minimum_detectable_effect": lambda of, at: of._group(
        MinimumDetectableEffect, names_of(MinimumDetectableEffect), "minimum_detectable_effect", at, "law"
    ),
    "tool_p": _tool_p,
}
