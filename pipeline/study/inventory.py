"""What exists already. This module indexes receipts so that a plan can see which results are there and which cells they cover."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pipeline.resampling.address import cell_bounds, count_cells
from pipeline.study.task import Failure, Receipt, triangle, unpack_mask

__all__ = ["Coverage", "Inventory", "usable_cells"]


class Coverage(NamedTuple):
    """What one receipt holds of one column, by position among the systems asked.

    ``pairs`` are positions in the upper triangle of the systems asked, ``source_pairs`` the same pairs by their place in the
    receipt's own list of computed pairs; ``kept`` and ``source_kept`` likewise for systems whose replicate scores are there.
    """

    receipt: Receipt
    slot: int
    cells: tuple[int, ...]
    pairs: NDArray[np.int64]
    source_pairs: NDArray[np.int64]
    kept: NDArray[np.int64]
    source_kept: NDArray[np.int64]


def usable_cells(covers: Mapping[str, Any], replicates: int) -> tuple[int, ...]:
    """Give the cells of a receipt that hold the same replicates in a study of ``replicates``: the last one may be cut short."""
    theirs = int(covers["replicates"])
    return tuple(
        cell
        for cell in range(int(covers["first_cell"]), min(int(covers["stop_cell"]), count_cells(replicates)))
        if cell_bounds(cell, theirs) == cell_bounds(cell, replicates)
    )


@dataclass
class Inventory:
    """Receipts by key, failures by key, and an index from columns to the receipts that cover them.

    This is the one value of the package that grows: the coordinator adds to it as tasks end.
    """

    receipts: dict[str, Receipt] = field(default_factory=dict)
    failures: dict[str, Failure] = field(default_factory=dict)
    columns: dict[str, list[tuple[Receipt, int]]] = field(default_factory=dict)

    @classmethod
    def of(cls, receipts: Iterable[Receipt]) -> Inventory:
        """Index receipts."""
        inventory = cls()
        for receipt in receipts:
            inventory.add(receipt)
        return inventory

    def add(self, receipt: Receipt) -> None:
        """Note that a task is done."""
        if receipt.key in self.receipts:
            return
        self.receipts[receipt.key] = receipt
        self.failures.pop(receipt.key, None)
        if receipt.kind == "resample":
            for slot, column in enumerate(receipt.covers["columns"]):
                self.columns.setdefault(column["column"], []).append((receipt, slot))

    def fail(self, failure: Failure) -> None:
        """Note that a task failed for good."""
        self.failures[failure.key] = failure

    def coverage(self, column: str, systems: tuple[str, ...], replicates: int) -> list[Coverage]:
        """Give what receipts hold of a column for these systems, which must be sorted and distinct."""
        place = {key: i for i, key in enumerate(systems)}
        found: list[Coverage] = []
        for receipt, slot in self.columns.get(column, ()):
            covers = receipt.covers
            cells = usable_cells(covers, replicates)
            if not cells:
                continue
            entry = covers["columns"][slot]
            theirs = entry["systems"]
            ours = np.array([place.get(key, -1) for key in theirs], np.int64)
            first, second = triangle(len(theirs))
            computed = np.flatnonzero(unpack_mask(entry["pairs"], first.size))
            a, b = ours[first[computed]], ours[second[computed]]
            # Both lists are sorted, so i < j there is i < j here.
            both = np.flatnonzero((a >= 0) & (b >= 0))
            n = len(systems)
            flat = a[both] * n - a[both] * (a[both] + 1) // 2 + (b[both] - a[both] - 1)
            kept_there = np.flatnonzero(unpack_mask(entry["kept"], len(theirs)))
            known = np.flatnonzero(ours[kept_there] >= 0)
            found.append(Coverage(receipt, slot, cells, flat, both, ours[kept_there[known]], known))
        return found
