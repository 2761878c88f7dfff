"""Choose the columns that a pass must multiply, and derive the sums of all statistics from them.

Many statistics are nearly known from others. The n-grams of order k in a sentence of L words number
max(L − k + 1, 0) = L − (k − 1) + Σ_{j < k − 1} (k − 1 − j) [L = j]: the length, a constant, and something in very short
sentences only. A metric declares which statistic follows which; here the integers show whether it does. A follower is

    y = x + factor · t + z,   x the statistic it follows, t a column shared by systems, z nearly everywhere 0,

and needs no product of its own: x is multiplied anyway, t once for all systems, z over the few units where it is not 0.
All of this is exact in integers, so no sum depends on what was left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.compiled.bare import bare_kernel
from pipeline.dataclass import dataclass
from pipeline.resampling.measures import Measure
from pipeline.resampling.products.contract import (
    FLOAT32_LIMIT,
    FLOAT64_LIMIT,
    Contraction,
    DistinctColumns,
    Product,
    is_sparse,
    largest_magnitude,
    plan_contraction,
)

__all__ = ["StatisticColumns", "Sums", "Wanted"]

_CANDIDATES = 4  # shared columns tried for one statistic; one is the rule, more are outputs of another kind
_FEW = 32  # rows of sums, which NumPy puts together in less time than a kernel takes to load

Wanted = tuple[int, Measure, NDArray[np.int64], Iterable[int]]
"""Number of a measure, the measure, positions of systems, positions of statistics."""


@dataclass(frozen=True, eq=False)
class StatisticColumns:
    """The distinct columns of a pass, and the recipe of every sum.

    Parameters
    ----------
    contraction : Contraction
    place : dict
        Row of the recipe for (measure, system, statistic).
    recipe : (row, 3) int64
        Columns x, t and z of the contraction; −1 where a row has none.
    factor : (row,) float64
        Of t.
    n_statistics : dict of int to int
        Number of statistics of each measure.
    """

    contraction: Contraction
    place: dict[tuple[int, int, int], int]
    recipe: NDArray[np.int64]
    factor: NDArray[np.float64]
    n_statistics: dict[int, int]

    @classmethod
    def of(cls, wanted: Iterable[Wanted], *, n_units: int, n_draws: int) -> StatisticColumns:
        """Collect what is wanted, each column once.

        Parameters
        ----------
        wanted : iterable of Wanted
            The statistics whose sums will be needed; one may be named twice.
        n_units, n_draws : int
            Units of a column, and the largest sum of a row of weights.

        Raises
        ------
        ValueError
            If sums would not be exact.
        """
        builder = _Builder(n_units, n_draws)
        n_statistics: dict[int, int] = {}
        for index, measure, systems, statistics in wanted:
            n_statistics[index] = measure.statistics.shape[2]
            for system in systems.tolist():
                for statistic in statistics:
                    builder.add(index, measure, system, statistic)
        contraction = plan_contraction(builder.distinct.columns, n_units=n_units, n_draws=n_draws)
        asked = np.array(builder.recipe, np.int64).reshape(-1, 3)
        recipe = np.where(asked >= 0, contraction.position[asked] if len(contraction.position) else -1, -1)
        return cls(contraction, builder.place, recipe, np.array(builder.factor, np.float64), n_statistics)

    @property
    def bytes_per_replicate(self) -> int:
        """Memory of one replicate: weights and summed columns."""
        return self.contraction.bytes_per_replicate

    def multiply(self, weights: NDArray[np.float32], *, out: NDArray[np.float32] | None = None) -> Sums:
        """Sum every column over (replicate, unit) weights, in ``out`` as `Contraction.multiply` does."""
        return Sums(self, self.contraction.multiply(weights, out=out))


class Sums:
    """Summed statistics of one batch of replicates, float64 whatever they were summed in."""

    def __init__(self, columns: StatisticColumns, product: Product) -> None:
        self._columns, self._product = columns, product

    @property
    def replicates(self) -> int:
        """How many replicates the batch has."""
        return self._product.replicates

    def of(self, index: int, systems: NDArray[np.int64], statistic: int) -> NDArray[np.float64]:
        """Return (system, replicate) sums of one statistic of one measure."""
        place = self._columns.place
        return self._put_together([place[index, system, statistic] for system in systems.tolist()], None)

    def statistics(self, index: int, system: int, out: NDArray[np.float64] | None = None) -> NDArray[np.float64]:
        """Return (statistic, replicate) sums of one system; ``out`` is filled and returned if given."""
        place = self._columns.place
        return self._put_together([place[index, system, k] for k in range(self._columns.n_statistics[index])], out)

    def statistics_of(self, index: int, systems: Sequence[int]) -> NDArray[np.float64]:
        """Return (statistic, system, replicate) sums of some systems."""
        place, width = self._columns.place, self._columns.n_statistics[index]
        rows = [place[index, system, statistic] for statistic in range(width) for system in systems]
        return self._put_together(rows, None).reshape(width, len(systems), self.replicates)

    def _put_together(self, rows: Sequence[int], out: NDArray[np.float64] | None) -> NDArray[np.float64]:
        product, columns = self._product, self._columns
        if out is None:
            out = np.empty((len(rows), product.replicates))
        assemble = _assemble_few if len(columns.recipe) <= _FEW else _assemble
        assemble(product.narrow, product.sparse, product.wide, columns.recipe, columns.factor, np.array(rows, np.int64), out)
        return out


class _Builder:
    """Takes statistics one by one and decides which of them need a column."""

    def __init__(self, n_units: int, n_draws: int) -> None:
        self.n_units, self.n_draws = n_units, n_draws
        self.place: dict[tuple[int, int, int], int] = {}
        self.recipe: list[tuple[int, int, int]] = []
        self.factor: list[float] = []
        self.distinct = DistinctColumns()
        self._shared: dict[tuple[int, int], list[NDArray[np.int64]]] = {}

    def add(self, index: int, measure: Measure, system: int, statistic: int) -> None:
        """Add a row for a statistic of a system, unless it has one."""
        if (index, system, statistic) in self.place:
            return
        row, factor = (-1, -1, -1), 0.0
        column = np.ascontiguousarray(measure.statistics[:, system, statistic])
        leader = measure.follows[statistic] if measure.follows else -1
        if leader >= 0:
            self.add(index, measure, system, leader)
            base = np.ascontiguousarray(measure.statistics[:, system, leader])
            followed = self._follow(column, base, self._shared.setdefault((index, statistic), []))
            if followed is not None:
                shared, factor, rest = followed
                row = (
                    self.distinct.number(base),
                    self.distinct.number(shared) if factor else -1,
                    self.distinct.number(rest) if rest.any() else -1,
                )
        if row[0] < 0:
            row = (self.distinct.number(column), -1, -1)
        self.place[index, system, statistic] = len(self.recipe)
        self.recipe.append(row)
        self.factor.append(factor)

    def _follow(
        self, column: NDArray[np.int64], base: NDArray[np.int64], shared: list[NDArray[np.int64]]
    ) -> tuple[NDArray[np.int64], float, NDArray[np.int64]] | None:
        """Find column = base + factor · t + rest with a sparse rest, if a shared column does it."""
        difference = column - base
        for candidate in _candidates(difference, shared):
            rest = difference - candidate
            if is_sparse(rest) and self._is_exact(base, candidate, rest):
                if not any(candidate is known for known in shared):
                    shared.append(candidate)
                divisor = int(np.gcd.reduce(candidate))
                if divisor == 0:
                    return candidate, 0.0, rest
                # −1, −2 and −3 for orders 2, 3 and 4 are one column of ones.
                sign = -1 if candidate[np.flatnonzero(candidate)[0]] < 0 else 1
                return candidate // (sign * divisor), float(sign * divisor), rest
        if len(shared) < _CANDIDATES:
            # No constant: items of a document, perhaps. The next system may differ little from this one.
            shared.append(difference)
        return None

    def _is_exact(self, *parts: NDArray[np.int64]) -> bool:
        magnitudes = [self.n_draws * largest_magnitude(part) for part in parts]
        return sum(magnitudes) < FLOAT64_LIMIT and magnitudes[-1] < FLOAT32_LIMIT


def _candidates(difference: NDArray[np.int64], shared: Sequence[NDArray[np.int64]]) -> Iterator[NDArray[np.int64]]:
    """Yield the columns that another system has, and the median if none of them serves: finding it takes longest."""
    yield from tuple(shared)
    half = len(difference) // 2
    yield np.full(len(difference), np.partition(difference, half)[half], np.int64)


def _assemble_few(
    narrow: NDArray[Any],
    sparse: NDArray[Any],
    wide: NDArray[np.float64],
    recipe: NDArray[np.int64],
    factor: NDArray[np.float64],
    rows: NDArray[np.int64],
    out: NDArray[np.float64],
) -> None:
    """Assemble as `_assemble` does, in NumPy, operation by operation and so with the same bits."""
    sources = [*narrow, *sparse, *wide]
    number = out.shape[1]  # products in bytes have room for a few more replicates
    for target, row in zip(out, rows.tolist(), strict=True):
        target[:] = 0.0
        for part, column in enumerate(recipe[row].tolist()):
            if column >= 0:
                times = factor[row] if part == 1 else 1.0
                target += times * sources[column][:number].astype(np.float64)


@bare_kernel
def _assemble(
    narrow: NDArray[Any],
    sparse: NDArray[Any],
    wide: NDArray[np.float64],
    recipe: NDArray[np.int64],
    factor: NDArray[np.float64],
    rows: NDArray[np.int64],
    out: NDArray[np.float64],
) -> None:
    for place in range(len(rows)):
        row = rows[place]
        target = out[place]
        target[:] = 0.0
        for part in range(3):
            column = recipe[row, part]
            if column < 0:
                continue
            times = factor[row] if part == 1 else 1.0
            if column < len(narrow):
                source = narrow[column]
                for i in range(len(target)):
                    target[i] += times * np.float64(source[i])
            elif column < len(narrow) + len(sparse):
                source = sparse[column - len(narrow)]
                for i in range(len(target)):
                    target[i] += times * np.float64(source[i])
            else:
                source_wide = wide[column - len(narrow) - len(sparse)]
                for i in range(len(target)):
                    target[i] += times * source_wide[i]
