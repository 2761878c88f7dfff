"""Existing results: receipts, indexed so that a plan can see which results there are and which cells they cover.

A study of a thousand systems has hundreds of receipts that name the same thousand statistics. In memory they share one `Group`,
in a ledger they name it by its digest.
"""

from __future__ import annotations

import sys
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cached_property
from operator import itemgetter
from typing import Any, NamedTuple, Self, cast

import numpy as np
from numpy.typing import NDArray

from pipeline.dataclass import dataclass, field
from pipeline.plan.task import Failure, Kind, Receipt, triangle, unpack_mask
from pipeline.resampling.address import cell_bounds, count_cells
from pipeline.store.addresses import digest

__all__ = ["BriefInventory", "Coverage", "Group", "Groups", "Inventory", "Positions", "usable_cells"]


class Coverage(NamedTuple):
    """The part of one column that one receipt covers, by position among the systems asked for.

    ``pairs`` are positions in the upper triangle of the systems asked, ``source_pairs`` the same pairs by their place in the
    receipt's own list of computed pairs; ``kept`` and ``source_kept`` likewise for systems whose replicate scores are there.
    Coverages of one ``group`` have these four arrays in common.
    """

    receipt: Receipt
    slot: int
    cells: tuple[int, ...]
    pairs: NDArray[np.int64]
    source_pairs: NDArray[np.int64]
    kept: NDArray[np.int64]
    source_kept: NDArray[np.int64]
    group: int


def usable_cells(covers: Mapping[str, Any], replicates: int) -> tuple[int, ...]:
    """Return the cells of a receipt that hold the same replicates in a study of ``replicates``: the last one may be cut short."""
    theirs = int(covers["replicates"])
    return tuple(
        cell
        for cell in range(int(covers["first_cell"]), min(int(covers["stop_cell"]), count_cells(replicates)))
        if cell_bounds(cell, theirs) == cell_bounds(cell, replicates)
    )


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
        """Return what an entry of a receipt's ``covers["columns"]`` covers, of which column ever."""
        return cls(tuple(entry["systems"]), entry["pairs"], entry["kept"])

    @cached_property
    def name(self) -> str:
        """The digest that stands for the group in a ledger."""
        return digest([self.systems, self.pairs, self.kept])

    def to_json(self) -> dict[str, Any]:
        """Return plain values for the ledger."""
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
    """Positions that are cached: all test sizes of a metric ask for the same ones."""

    def __init__(self) -> None:
        self._numbers: dict[Group, int] = {}
        self._groups: list[Group] = []
        self._positions: dict[tuple[int, tuple[str, ...]], Positions] = {}

    def number(self, entry: Mapping[str, Any]) -> int:
        """Return the number of what an entry of a receipt's ``covers["columns"]`` covers."""
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


@dataclass
class Inventory:
    """Receipts by key, failures by key, and an index from columns to the receipts that cover them.

    It only grows: a process that lives as long as a run keeps a `BriefInventory`.
    """

    receipts: dict[str, Receipt] = field(default_factory=dict)
    failures: dict[str, Failure] = field(default_factory=dict)
    _columns: dict[str, list[tuple[Receipt, int, int]]] = field(default_factory=dict)
    _groups: Groups = field(default_factory=Groups)
    _shared: dict[tuple[tuple[str, int], ...], list[dict[str, Any]]] = field(default_factory=dict)

    @classmethod
    def of(cls, receipts: Iterable[Receipt]) -> Self:
        """Index receipts."""
        inventory = cls()
        for receipt in receipts:
            inventory.add(receipt)
        return inventory

    def add(self, receipt: Receipt) -> None:
        """Note that a task is done."""
        if receipt.key in self.receipts:
            return
        self.failures.pop(receipt.key, None)
        # What came from a ledger has strings of its own for every word.
        covers: dict[str, Any] = {sys.intern(name): value for name, value in receipt.covers.items()}
        columns: list[tuple[str, int]] = []
        if receipt.kind == "resample":
            columns = [(entry["column"], self._groups.number(entry)) for entry in receipt.covers["columns"]]
            covers["columns"] = self._sharing(tuple(columns))
        receipt = replace(receipt, kind=cast(Kind, sys.intern(receipt.kind)), worker=sys.intern(receipt.worker), covers=covers)
        for slot, (entry, (_, number)) in enumerate(zip(covers.get("columns", ()), columns, strict=True)):
            self._columns.setdefault(entry["column"], []).append((receipt, slot, number))
        self.receipts[receipt.key] = receipt

    def _sharing(self, columns: tuple[tuple[str, int], ...]) -> list[dict[str, Any]]:
        """Return what all receipts of these columns and groups say that they cover: each brings its own thousand strings."""
        if columns not in self._shared:
            self._shared[columns] = [{"column": column, **self._groups[number].to_json()} for column, number in columns]
        return self._shared[columns]

    def fail(self, failure: Failure) -> None:
        """Record that a task failed for good."""
        self.failures[failure.key] = failure

    def coverage(self, column: str, systems: tuple[str, ...], replicates: int) -> list[Coverage]:
        """Return the parts of a column that receipts cover for these systems, which must be sorted and distinct."""
        found: list[Coverage] = []
        for receipt, slot, group in self._columns.get(column, ()):
            cells = usable_cells(receipt.covers, replicates)
            if cells:
                found.append(Coverage(receipt, slot, cells, *self._groups.among(group, systems), group))
        return found


class BriefInventory(Inventory):
    """The minimum that a plan needs of receipts: which keys are done, and which cells of a column each group covers.

    A coordinator keeps one for as long as a run lasts. Of a receipt it holds the key: where the result is, and its checksum, stand
    in the ledger, where the tasks that read it look. `receipts` has one value for all that are done of a kind, and `coverage` gives
    one for all receipts of a group: neither says which result holds a cell.
    """

    def __init__(self) -> None:
        super().__init__()
        self._kinds: dict[str, Receipt] = {}
        self._spans: dict[str, dict[tuple[int, int], list[tuple[int, int]]]] = {}

    def add(self, receipt: Receipt) -> None:
        """Note that a task is done."""
        if receipt.key in self.receipts:
            return
        self.failures.pop(receipt.key, None)
        if receipt.kind not in self._kinds:
            self._kinds[receipt.kind] = Receipt(receipt.kind, "", "", "", "", 0.0, "")
        self.receipts[receipt.key] = self._kinds[receipt.kind]
        if receipt.kind != "resample":
            return
        replicates, *span = (int(receipt.covers[name]) for name in ("replicates", "first_cell", "stop_cell"))
        for entry in receipt.covers["columns"]:
            alike = self._spans.setdefault(entry["column"], {}).setdefault((self._groups.number(entry), replicates), [])
            _join(alike, span[0], span[1])

    def coverage(self, column: str, systems: tuple[str, ...], replicates: int) -> list[Coverage]:
        """Return what is covered of a column for these systems: of each group all cells at once."""
        found: list[Coverage] = []
        for (group, theirs), spans in self._spans.get(column, {}).items():
            cells: list[int] = []
            for first, stop in spans:
                cells += usable_cells({"replicates": theirs, "first_cell": first, "stop_cell": stop}, replicates)
            if cells:
                found.append(Coverage(self._kinds["resample"], 0, tuple(cells), *self._groups.among(group, systems), group))
        return found


def _join(spans: list[tuple[int, int]], first: int, stop: int) -> None:
    """Add the cells from ``first`` to ``stop`` to spans that are sorted, and neither touch nor overlap."""
    # Neighbours end at about the same time, so there are never many spans.
    left = bisect_left(spans, first, key=itemgetter(1))
    right = bisect_right(spans, stop, key=itemgetter(0))
    if left < right:
        first, stop = min(first, spans[left][0]), max(stop, spans[right - 1][1])
    spans[left:right] = [(first, stop)]
