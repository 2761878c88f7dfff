"""Counts of pairs whose outputs change sides, from one column of differences for each pair.

Where the runs of both systems have one denominator, outputs that change sides change the difference of sums by twice theirs:
δ° ∝ Σ d − 2 Σ m d, with d the difference of the numerators of two outputs and m whether they change sides. That is one column of
small numbers, where `RunColumns` sums two of larger ones; where there are more pairs than systems it would be more columns.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.dataclass import dataclass
from pipeline.resampling.draws import Draws
from pipeline.resampling.products.bitplanes import BitPlanes
from pipeline.resampling.replicas.groups import Group
from pipeline.resampling.replicas.outputs import Replicas
from pipeline.resampling.swaps import draw_swap_words

__all__ = ["Differences", "are_fewer"]


def are_fewer(null: str, *, pairs: int, systems: int) -> bool:
    """Tell whether a null swaps outputs, and columns of pairs are fewer than those of systems."""
    return null in ("per-output", "segment-block") and pairs < systems


@dataclass(frozen=True, eq=False)
class Differences:
    """Differences of the numerators of pairs as bits.

    Parameters
    ----------
    planes : BitPlanes
        Of (pair,) columns: run r has the words r · W … r · W + W − 1, W words of 64 units a run; or all runs are added up.
    total : (pair,) float64
        Over all.
    masks_of : int
        Units that are swapped or not.
    """

    planes: BitPlanes
    total: NDArray[np.float64]
    masks_of: int

    @classmethod
    def of(cls, null: str, replicas: Replicas, group: Group) -> Differences | None:
        """Take the differences of a group's pairs; None where a null does not swap outputs, or sums by systems are fewer."""
        equal = group.runs[0] == group.runs[1]
        if not (group.is_linear and equal and are_fewer(null, pairs=len(group.rows), systems=len(group.systems))):
            return None
        first, second = (
            np.stack([replicas.statistics[system][:, :, 0] for system in group.systems[group.rows[:, side]].tolist()])
            for side in range(2)
        )
        return cls.between(null, first, second)

    @classmethod
    def between(cls, null: str, first: NDArray[np.signedinteger[Any]], second: NDArray[np.signedinteger[Any]]) -> Differences:
        """Take the differences of (pair, run, unit) numerators, of a null that swaps outputs."""
        columns = first - second
        pairs, runs, units = columns.shape
        if null == "segment-block":
            columns = columns.sum(axis=1)
        else:
            whole = 64 * -(-units // 64)
            if whole > units:
                columns = np.concatenate([columns, np.zeros((pairs, runs, whole - units), columns.dtype)], axis=2)
            columns, units = columns.reshape(pairs, -1), whole * runs
        return cls(BitPlanes.of(columns), columns.sum(axis=1).astype(np.float64), units)

    def count(self, draws: Draws, first: int, count: int) -> Iterator[NDArray[np.int64]]:
        """Count |δ°| ≥ |δ|, > |δ| and undefined of each pair in consecutive replicates."""
        masks = draw_swap_words(
            Draws(draws.key, self.masks_of, self.masks_of), first, count, n_words=int(self.planes.planes.shape[1])
        )
        moved = np.empty((len(self.total), count))
        self.planes.sum_over(masks, moved)
        size = np.abs(self.total)[:, None]
        gain = np.abs(self.total[:, None] - 2.0 * moved)
        return iter(np.stack([(gain >= size).sum(axis=1), (gain > size).sum(axis=1), np.zeros(len(size), np.int64)]))

    @property
    def bytes_per_replicate(self) -> int:
        """Memory of one replicate: its mask, its sums and gains."""
        return 8 * int(self.planes.planes.shape[1]) + 24 * len(self.total)
