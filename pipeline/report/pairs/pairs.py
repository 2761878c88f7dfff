"""Pairs of systems that are asked all at once: what is known of each under the path of a row's field, as an array.

A row is an object with scores of fields, of which no report can hold millions. `pipeline.report.pairs.pair_set.PairSet` holds
columns of a cube and makes rows when they are looked at; `ListedPairs` are the rows that a document holds.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from pipeline.report.rows import PairRow

__all__ = ["ListedPairs", "Pairs", "as_pairs", "join_pairs"]


class Pairs(Sequence[PairRow], ABC):
    """Pairs of systems in some order: rows one by one, and what is known of all of them by the path of a row's field.

    A path is that of ``report.json``: ``p``, ``p_raw.one_sided``, ``interval.lo``.
    """

    @abstractmethod
    def floats(self, path: str) -> NDArray[np.float64]:
        """Return numbers, nan where nothing is known."""

    @abstractmethod
    def values(self, path: str) -> NDArray[Any]:
        """Return plain values, None where nothing is known."""

    @abstractmethod
    def equal(self, path: str, value: Any) -> NDArray[np.bool_]:
        """Tell where something is known to be the value."""

    @abstractmethod
    def known(self, path: str) -> NDArray[np.bool_]:
        """Tell where anything is known."""

    @abstractmethod
    def where(self, mask: NDArray[np.bool_]) -> Pairs:
        """Return some of the pairs, in their order."""

    def holds(self, path: str) -> NDArray[np.bool_]:
        """Tell where something is known to be true."""
        return self.equal(path, True)


class ListedPairs(Pairs):
    """Rows that are there already."""

    def __init__(self, rows: Sequence[PairRow]) -> None:
        self.rows = rows

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[PairRow]:
        return iter(self.rows)

    @overload
    def __getitem__(self, at: int) -> PairRow: ...
    @overload
    def __getitem__(self, at: slice) -> ListedPairs: ...
    def __getitem__(self, at: int | slice) -> PairRow | ListedPairs:
        return ListedPairs(self.rows[at]) if isinstance(at, slice) else self.rows[at]

    def floats(self, path: str) -> NDArray[np.float64]:  # noqa: D102 - as the class above says
        return np.array([np.nan if value is None else value for value in self._values(path)], np.float64)

    def values(self, path: str) -> NDArray[Any]:  # noqa: D102
        found = np.empty(len(self.rows), dtype=object)
        found[:] = self._values(path)
        return found

    def equal(self, path: str, value: Any) -> NDArray[np.bool_]:  # noqa: D102
        return np.array([of == value for of in self._values(path)], np.bool_)

    def known(self, path: str) -> NDArray[np.bool_]:  # noqa: D102
        return np.array([of is not None for of in self._values(path)], np.bool_)

    def where(self, mask: NDArray[np.bool_]) -> ListedPairs:  # noqa: D102
        return ListedPairs([row for row, chosen in zip(self.rows, mask.tolist(), strict=True) if chosen])

    def _values(self, path: str) -> list[Any]:
        found: list[Any] = list(self.rows)
        for name in path.split("."):
            found = [None if of is None else of.get(name) if isinstance(of, Mapping) else getattr(of, name) for of in found]
        return found


def as_pairs(rows: Sequence[PairRow]) -> Pairs:
    """Return rows so that all of them can be asked at once."""
    return rows if isinstance(rows, Pairs) else ListedPairs(rows)


class _Joined(Pairs):
    """The pairs of several families, one after the other."""

    def __init__(self, parts: Sequence[Pairs]) -> None:
        self.parts = parts

    def __len__(self) -> int:
        return sum(map(len, self.parts))

    def __iter__(self) -> Iterator[PairRow]:
        return chain.from_iterable(self.parts)

    @overload
    def __getitem__(self, at: int) -> PairRow: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[PairRow]: ...
    def __getitem__(self, at: int | slice) -> PairRow | Sequence[PairRow]:
        places = range(len(self))[at]
        if isinstance(places, range):
            return [self[place] for place in places]
        for part in self.parts:
            if places < len(part):
                return part[places]
            places -= len(part)
        raise IndexError(at)

    def floats(self, path: str) -> NDArray[np.float64]:
        return np.concatenate([np.zeros(0), *(part.floats(path) for part in self.parts)])

    def values(self, path: str) -> NDArray[Any]:
        return np.concatenate([np.zeros(0, dtype=object), *(part.values(path) for part in self.parts)])

    def equal(self, path: str, value: Any) -> NDArray[np.bool_]:
        return np.concatenate([np.zeros(0, np.bool_), *(part.equal(path, value) for part in self.parts)])

    def known(self, path: str) -> NDArray[np.bool_]:
        return np.concatenate([np.zeros(0, np.bool_), *(part.known(path) for part in self.parts)])

    def where(self, mask: NDArray[np.bool_]) -> Pairs:
        ends = np.cumsum([len(part) for part in self.parts], dtype=np.int64)
        return _Joined([part.where(mask[stop - len(part) : stop]) for part, stop in zip(self.parts, ends, strict=True)])


def join_pairs(parts: Iterable[Pairs]) -> Pairs:
    """Return the pairs of several families as one sequence."""
    return _Joined(list(parts))
