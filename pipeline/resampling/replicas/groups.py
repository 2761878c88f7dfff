"""Group pairs that a null treats alike (same numbers of runs, same comparison), and sum their columns."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pipeline.dataclass import dataclass
from pipeline.resampling.products.bitplanes import BitPlanes
from pipeline.resampling.replicas.outputs import ObservedReplicas, Replicas

__all__ = ["Group", "PlacedColumns", "RunColumns", "group_pairs", "shared_denominators"]


@dataclass(frozen=True, eq=False)
class Group:
    """Pairs whose first systems all have one number of runs, and whose second systems all have one.

    Parameters
    ----------
    pair : (chosen,) int64
        Rows of the caller's pairs.
    rows : (chosen, 2) int64
        Positions in ``systems``, the higher score first.
    systems : (row,) int64
    runs : tuple of int
        Of the first and of the second system.
    is_linear : bool
        All runs of both systems have one denominator: sums of numerators decide, as integers.
    """

    pair: NDArray[np.int64]
    rows: NDArray[np.int64]
    systems: NDArray[np.int64]
    runs: tuple[int, int]
    is_linear: bool


def group_pairs(
    replicas: Replicas, seen: ObservedReplicas, *, chosen: NDArray[np.bool_], oriented: NDArray[np.int64]
) -> list[Group]:
    """Sort the chosen pairs into groups; which group a pair is in depends on its two systems alone."""
    runs = replicas.runs
    denominator = shared_denominators(replicas)
    linear = (denominator[oriented[:, 0]] == denominator[oriented[:, 1]]) & (denominator[oriented[:, 0]] >= 0)
    kinds = np.column_stack([runs[oriented], linear.astype(np.int64)])
    groups = []
    for kind in sorted(set(map(tuple, kinds[chosen].tolist()))):
        pair = np.flatnonzero(chosen & (kinds == kind).all(axis=1))
        systems, rows = np.unique(oriented[pair], return_inverse=True)
        groups.append(Group(pair, rows.reshape(-1, 2), systems, (kind[0], kind[1]), bool(kind[2])))
    return groups


def shared_denominators(replicas: Replicas) -> NDArray[np.int64]:
    """Return each system of a ratio the number of the denominators that all its runs have; −1 where runs differ."""
    found = np.full(len(replicas.statistics), -1, np.int64)
    if replicas.form == "ratio":
        numbers: dict[bytes, int] = {}
        for system, array in enumerate(replicas.statistics):
            own = array[0, :, 1]
            if (array[:, :, 1] == own).all() and own.min() >= 0 and own.sum() > 0:
                found[system] = numbers.setdefault(own.tobytes(), len(numbers))
    return found


@dataclass(frozen=True, eq=False)
class PlacedColumns:
    """Statistics of systems as bits, one run after the other in whole words of 64 units.

    Parameters
    ----------
    planes : BitPlanes
        Of (system · statistic) columns.
    totals : (statistic, system) float64
        Over all units.
    """

    planes: BitPlanes
    totals: NDArray[np.float64]

    @classmethod
    def of(cls, statistics: NDArray[np.int64]) -> PlacedColumns:
        """Split (system, run, unit, statistic) into bits; a mask has ⌈unit / 64⌉ words for each run."""
        systems, runs, units, width = statistics.shape
        padded = np.zeros((systems, width, runs, -(-units // 64) * 64), np.int64)
        padded[..., :units] = statistics.transpose(0, 3, 1, 2)
        totals = statistics.sum(axis=(1, 2)).T.astype(np.float64)
        return cls(BitPlanes.of(padded.reshape(systems * width, -1)), np.ascontiguousarray(totals))

    @property
    def n_words(self) -> int:
        """Words that a mask needs."""
        return int(self.planes.planes.shape[1])

    def sum_over(self, masks: NDArray[np.uint64]) -> NDArray[np.float64]:
        """Sum over (word, replicate) masks: (statistic, system, replicate)."""
        out = np.empty((len(self.planes.is_signed), masks.shape[1]))
        self.planes.sum_over(masks, out)
        return np.ascontiguousarray(out.reshape(-1, len(self.totals), masks.shape[1]).transpose(1, 0, 2))


@dataclass(frozen=True, eq=False)
class RunColumns:
    """Statistics of the runs of systems as bits; one that several systems have under one number is summed once.

    Parameters
    ----------
    planes : BitPlanes
        Of (row · statistic) columns.
    at : (row · statistic,) int64
        Which word of a mask is the first of a column's run.
    totals : (statistic, system, run) float64
        Over all units.
    row : (system, run) int64
        Where the columns of each are.
    """

    planes: BitPlanes
    at: NDArray[np.int64]
    totals: NDArray[np.float64]
    row: NDArray[np.int64]

    @classmethod
    def of(cls, replicas: Replicas, group: Group, width: int, *, words: int) -> RunColumns:
        """Take the first statistics of a group's runs; the mask of a run begins ``words`` after that of the run before."""
        known = replicas.distinct
        number, many = np.array([known.of[system] for system in group.systems.tolist()]), len(known.runs)
        rows, row = np.unique(np.arange(number.shape[1]) * many + number, return_inverse=True)
        columns = (rows[:, None] % many * width + np.arange(width)).ravel()
        totals = known.sums[:width, number].astype(np.float64)
        return cls(known.planes(width).take(columns), np.repeat(rows // many * words, width), totals, row.reshape(number.shape))

    @property
    def n_words(self) -> int:
        """Words that a mask needs."""
        return int(self.planes.planes.shape[1] + self.at.max(initial=0))

    def sum_over(self, masks: NDArray[np.uint64]) -> NDArray[np.float64]:
        """Sum over (word, replicate) masks: (statistic, system, run, replicate)."""
        out = np.empty((len(self.at), masks.shape[1]))
        self.planes.sum_over(masks, out, self.at)
        by_row = out.reshape(-1, len(self.totals), masks.shape[1])
        return np.ascontiguousarray(by_row[self.row].transpose(2, 0, 1, 3))
