"""What many receipts share. This module keeps the systems, pairs and kept scores of a column's cells once for all receipts.

A study of a thousand systems has hundreds of receipts that name the same thousand statistics. In memory they share one `Group`,
in a ledger they name it by its digest.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pipeline.plan.task import triangle, unpack_mask
from pipeline.store.addresses import digest

__all__ = ["Group", "Groups", "Positions"]


class Positions(NamedTuple):
    """Where the pairs and kept scores of a group stand among other systems, as `Coverage` has them."""

    pairs: NDArray[np.int64]
    source_pairs: NDArray[np.int64]
    kept: NDArray[np.int64]
    source_kept: NDArray[np.int64]


@dataclass(frozen=True)
class Group:
    """The sorted statistics of a column's cells, which pairs of them were counted and whose scores were kept."""

    systems: tuple[str, ...]
    pairs: str
    kept: str

    @classmethod
    def of(cls, entry: Mapping[str, Any]) -> Group:
        """Give what an entry of a receipt's ``covers["columns"]`` covers, of which column ever."""
        return cls(tuple(entry["systems"]), entry["pairs"], entry["kept"])

    @cached_property
    def name(self) -> str:
        """The digest that stands for the group in a ledger."""
        return digest([self.systems, self.pairs, self.kept])

    def to_json(self) -> dict[str, Any]:
        """Give plain values for the ledger."""
        return {"systems": self.systems, "pairs": self.pairs, "kept": self.kept}

    def among(self, systems: tuple[str, ...]) -> Positions:
        """Say where pairs and kept scores stand among these systems, which are sorted and distinct too."""
        size = len(self.systems)
        computed = np.flatnonzero(unpack_mask(self.pairs, size * (size - 1) // 2))
        kept = np.flatnonzero(unpack_mask(self.kept, size))
        if systems == self.systems:
            return Positions(computed, np.arange(computed.size), kept, np.arange(kept.size))
        place = {key: i for i, key in enumerate(systems)}
        ours = np.array([place.get(key, -1) for key in self.systems], np.int64)
        first, second = triangle(size)
        a, b = ours[first[computed]], ours[second[computed]]
        # Both lists are sorted, so i < j there is i < j here.
        both = np.flatnonzero((a >= 0) & (b >= 0))
        a, b = a[both], b[both]
        known = np.flatnonzero(ours[kept] >= 0)
        return Positions(a * len(systems) - a * (a + 1) // 2 + (b - a - 1), both, ours[kept[known]], known)


class Groups:
    """The groups of a set of receipts, each one value and one number."""

    REMEMBERED = 8
    """Positions that are kept at hand: all test sizes of a metric ask for the same ones."""

    def __init__(self) -> None:
        self._numbers: dict[Group, int] = {}
        self._groups: list[Group] = []
        self._positions: dict[tuple[int, tuple[str, ...]], Positions] = {}

    def number(self, entry: Mapping[str, Any]) -> int:
        """Give the number of what an entry of a receipt's ``covers["columns"]`` covers."""
        group = Group.of(entry)
        number = self._numbers.setdefault(group, len(self._groups))
        if number == len(self._groups):
            self._groups.append(group)
        return number

    def __getitem__(self, number: int) -> Group:
        return self._groups[number]

    def among(self, number: int, systems: tuple[str, ...]) -> Positions:
        """Say where the pairs and kept scores of a group stand among these systems."""
        asked = (number, systems)
        if asked not in self._positions:
            while len(self._positions) >= self.REMEMBERED:
                del self._positions[next(iter(self._positions))]
            self._positions[asked] = self._groups[number].among(systems)
        return self._positions[asked]
