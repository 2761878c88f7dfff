"""What exists already. This module indexes receipts so that a plan can see which results are there and which cells they cover."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pipeline.plan.groups import Groups
from pipeline.plan.task import Failure, Receipt
from pipeline.resampling.address import cell_bounds, count_cells

__all__ = ["Coverage", "Inventory", "usable_cells"]


class Coverage(NamedTuple):
    """What one receipt holds of one column, by position among the systems asked.

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
    _columns: dict[str, list[tuple[Receipt, int, int]]] = field(default_factory=dict)
    _groups: Groups = field(default_factory=Groups)

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
        self.failures.pop(receipt.key, None)
        if receipt.kind == "resample":
            numbers = [self._groups.number(entry) for entry in receipt.covers["columns"]]
            receipt = self._sharing(receipt, numbers)
            for slot, (entry, number) in enumerate(zip(receipt.covers["columns"], numbers, strict=True)):
                self._columns.setdefault(entry["column"], []).append((receipt, slot, number))
        self.receipts[receipt.key] = receipt

    def _sharing(self, receipt: Receipt, numbers: list[int]) -> Receipt:
        """Let a receipt name its systems by the one tuple that all of its group share: each brings its own thousand strings."""
        columns = [
            {**entry, "systems": self._groups[number].systems}
            for entry, number in zip(receipt.covers["columns"], numbers, strict=True)
        ]
        return replace(receipt, covers={**receipt.covers, "columns": columns})

    def fail(self, failure: Failure) -> None:
        """Note that a task failed for good."""
        self.failures[failure.key] = failure

    def coverage(self, column: str, systems: tuple[str, ...], replicates: int) -> list[Coverage]:
        """Give what receipts hold of a column for these systems, which must be sorted and distinct."""
        found: list[Coverage] = []
        for receipt, slot, group in self._columns.get(column, ()):
            cells = usable_cells(receipt.covers, replicates)
            if cells:
                found.append(Coverage(receipt, slot, cells, *self._groups.among(group, systems), group))
        return found
