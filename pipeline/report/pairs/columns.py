"""Columns of pairs: one named value for all pairs of a family, as an array of numbers.

A value that every pair shares, such as a name of the family or nothing at all, takes no memory of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pipeline.dataclass import dataclass

__all__ = ["At", "Column", "coded", "constant", "counts", "flags", "known_flags", "numbers", "unless"]

At: TypeAlias = "NDArray[np.int64] | slice"
"""Which pairs, by position."""


@dataclass(frozen=True, eq=False)
class Column:
    """One value for each pair.

    Parameters
    ----------
    values : (pair,) array
        Floats, of which nan is unknown; integers, unknown below 0; truth values; or, with ``words``, positions in them, below 0
        where nothing is known.
    words : tuple, optional
        What the positions stand for: text, or any plain value.
    whole : bool
        The floats are whole numbers, of which some are beyond 64 bits.
    """

    values: NDArray[Any]
    words: tuple[Any, ...] | None = None
    whole: bool = False

    def take(self, at: At) -> list[Any]:
        """Return plain values, None where nothing is known."""
        found: list[Any] = self.objects(at).tolist()
        return found

    def objects(self, at: At) -> NDArray[Any]:
        """Return plain values as an array of objects, None where nothing is known."""
        values: NDArray[Any] = self.values[at]
        if self.words is not None:
            words: NDArray[Any] = _table(self.words)[values]
            return words
        known = self._known(values)
        plain = values.astype(object)
        if self.whole:
            plain[known] = list(map(int, values[known].tolist()))
        if not known.all():
            plain[~known] = None
        return plain

    def floats(self, at: At) -> NDArray[np.float64]:
        """Return numbers, nan where nothing is known."""
        values: NDArray[Any] = self.values[at]
        if self.words is not None:
            numbers = [np.nan if word is None else float(word) for word in self.words]
            return np.asarray(np.array([*numbers, np.nan])[values], np.float64)
        return values if values.dtype == np.float64 else np.where(self._known(values), values, np.nan)

    def equal(self, at: At, value: Any) -> NDArray[np.bool_]:
        """Tell where this is known to be the value."""
        values = self.values[at]
        if self.words is not None:
            return np.asarray(np.array([*(type(word) is type(value) and word == value for word in self.words), False])[values])
        return np.asarray(values == value, np.bool_)

    def known(self, at: At) -> NDArray[np.bool_]:
        """Tell where anything is known."""
        values = self.values[at]
        if self.words is not None:
            return np.asarray(np.array([*(word is not None for word in self.words), False])[values])
        return self._known(values)

    @staticmethod
    def _known(values: NDArray[Any]) -> NDArray[np.bool_]:
        if values.dtype.kind == "f":
            return np.asarray(np.isfinite(values))
        return np.ones(values.shape, np.bool_) if values.dtype.kind == "b" else np.asarray(values >= 0)


def _table(words: Sequence[Any]) -> NDArray[Any]:
    table = np.empty(len(words) + 1, dtype=object)  # the last is what -1 stands for
    table[: len(words)] = words
    return table


def numbers(values: NDArray[Any] | None, pairs: int, *, whole: bool = False) -> Column:
    """Return a column of numbers; what is not finite is unknown, None stands for nothing at all."""
    if values is None:
        return Column(np.broadcast_to(np.float64(np.nan), pairs), whole=whole)
    finite = np.isfinite(values)
    if not finite.any():
        return Column(np.broadcast_to(np.float64(np.nan), pairs), whole=whole)
    return Column(values if finite.all() else np.where(finite, values, np.nan), whole=whole)


def counts(values: NDArray[Any] | None, pairs: int) -> Column:
    """Return a column of whole numbers; below 0 means that nothing was written, None stands for nothing at all."""
    if values is None:
        return Column(np.broadcast_to(np.int64(-1), pairs))
    whole = np.asarray(np.nan_to_num(values, nan=-1.0), np.int64)
    if len(whole) and (whole == whole[0]).all():
        return Column(np.broadcast_to(whole[0], pairs))
    return Column(whole)


def flags(values: NDArray[np.bool_]) -> Column:
    """Return a column of truth values."""
    return Column(np.asarray(values, np.bool_))


def known_flags(values: NDArray[np.bool_], known: NDArray[np.bool_]) -> Column:
    """Return a column of truth values that are known of some pairs."""
    return Column(np.where(known, values.astype(np.int8), np.int8(-1)), (False, True))


def coded(codes: NDArray[Any], words: Sequence[Any]) -> Column:
    """Return a column of words by their positions, below 0 where there is none."""
    return Column(np.asarray(codes), tuple(words))


def unless(mask: NDArray[np.bool_], column: Column, word: Any = None) -> Column:
    """Return a column of words with another one, or none, where the mask holds."""
    if not mask.any():
        return column
    words = column.words or ()
    return Column(np.where(mask, len(words), column.values), (*words, word))


def constant(value: Any, pairs: int) -> Column:
    """Return a column of one value that all pairs share; None where nothing is known."""
    return Column(np.broadcast_to(np.int8(0), pairs), (value,))
