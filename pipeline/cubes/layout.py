"""The layout of a cube, fixed before it is written: the frozen description of its skeleton, and the name of its directory.

Zarr is not needed for either.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.cubes.declarations import Variable
from pipeline.cubes.variables import CHUNKS
from pipeline.dataclass import dataclass, field
from pipeline.store.addresses import digest

__all__ = [
    "CELL_REPLICATES",
    "SCHEMA_VERSION",
    "CubeLayout",
    "MetricInfo",
    "chunk_shape",
    "cube_name",
    "inner_shape",
    "is_small",
    "piece_shape",
]

SCHEMA_VERSION = 4
"""1 had ``p_by_adjustment`` under the name ``p_adjusted``, and no single p-value that decides. 2 decided by a max-T with one
standard error a pair, and had the counted p-value under the name ``p``. 3 decided about right and wrong answers that differ on
few units by their t, less half a win, and not by the exact p.

With it `pipeline.plan.open_tasks.COLLECT_VERSION` is raised, or a run that is resumed would have cubes of two kinds."""

SMALL_BYTES = 2**18
"""A variable of no more than these is one chunk, of all metrics, test sizes and pairs: a file takes longer than its numbers."""

BOUNDS = ("lower", "upper")
"""The ends of an interval, in the order of its last axis."""
CELL_REPLICATES = 2**14


@dataclass(frozen=True)
class MetricInfo:
    """The facts about a metric that a cube stores."""

    name: str
    signature: str
    higher_is_better: bool = True


@dataclass(frozen=True, eq=False)
class CubeLayout:
    """One test set's cube: its names, sizes and pairs.

    Parameters
    ----------
    study, test_set : str
        Names; the test set's directory is a digest of its name, so the name may contain anything.
    metrics : sequence of MetricInfo
    test_sizes : sequence of (str, int)
        Label and number of units of each test size.
    systems : sequence of str
    pairs : (pair, 2) int
        Positions of the two systems of each pair.
    replicates : int
        b, the number of replicates.
    kept : int
        How many first replicates keep their scores.
    again : int
        How many of these are drawn again, for standard errors of their own.
    bins : int
        Number of bins of the histogram; 0 for none.
    seed : int
    alpha : float
    procedures, conventions, adjustments, intervals, presets : sequence of str
    coordinates : mapping of str to sequence
        What is known about the systems: text, numbers, or None where it is not known. A name that a cube uses itself
        (``score``) becomes ``table_score``.
    attrs : mapping
        More plain values that belong to the cube.
    without : collection of str
        Variables for which there are no values, and which the cube does not have.
    """

    study: str
    test_set: str
    metrics: Sequence[MetricInfo]
    test_sizes: Sequence[tuple[str, int]]
    systems: Sequence[str]
    pairs: NDArray[np.int64]
    replicates: int
    kept: int = 0
    again: int = 0
    bins: int = 0
    seed: int = 0
    alpha: float = 0.05
    procedures: Sequence[str] = ()
    conventions: Sequence[str] = ()
    adjustments: Sequence[str] = ()
    intervals: Sequence[str] = ()
    presets: Sequence[str] = ()
    coordinates: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    attrs: Mapping[str, Any] = field(default_factory=dict)
    without: Collection[str] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "pairs", np.asarray(self.pairs, dtype=np.int64).reshape(-1, 2))
        for what, names in self._names().items():
            if len(set(names)) != len(names):
                raise ValueError(f"{what}: {len(names)} names, {len(set(names))} different ones")
        if self.pairs.size and not 0 <= self.pairs.min() <= self.pairs.max() < len(self.systems):
            raise ValueError(f"pairs reach from {self.pairs.min()} to {self.pairs.max()}, there are {len(self.systems)} systems")
        for name, values in self.coordinates.items():
            if len(values) != len(self.systems):
                raise ValueError(f"coordinate {name!r} has {len(values)} values for {len(self.systems)} systems")

    @property
    def sizes(self) -> dict[str, int]:
        """Length of each dimension."""
        return {
            **{dimension: len(names) for dimension, names in self._names().items()},
            "pair": len(self.pairs),
            "cell": -(-self.replicates // CELL_REPLICATES),
            "replicate": min(self.kept, self.replicates),
            "max_t_replicate": self.again,
            "bin": self.bins,
        }

    def shape(self, variable: Variable) -> tuple[int, ...]:
        """Return the shape of a variable."""
        sizes = self.sizes
        return tuple(sizes[dimension] for dimension in variable.dims)

    def holds(self, variable: Variable) -> bool:
        """Tell whether a variable has any values here."""
        return all(self.shape(variable)) and variable.name not in self.without

    def positions(self, **labels: str) -> tuple[int, ...]:
        """Return the position of each label along its dimension; ValueError with the labels there are."""
        names = self._names()
        for dimension, label in labels.items():
            if label not in names[dimension]:
                raise ValueError(f"no {dimension} {label!r}; there are {', '.join(map(repr, names[dimension]))}")
        return tuple(names[dimension].index(label) for dimension, label in labels.items())

    def coordinate_values(self) -> dict[str, list[Any]]:
        """Return the values of every declared coordinate that has any."""
        first, second = self.pairs[:, 0].tolist(), self.pairs[:, 1].tolist()
        sizes = self.sizes
        values: dict[str, list[Any]] = {
            **self._names(),
            "n_units": [int(n_units) for _, n_units in self.test_sizes],
            "system_a": [self.systems[position] for position in first],
            "system_b": [self.systems[position] for position in second],
            "a": first,
            "b": second,
            **{dimension: list(range(sizes[dimension])) for dimension in ("cell", "replicate", "max_t_replicate", "bin")},
        }
        return {name: given for name, given in values.items() if given}

    def attributes(self) -> dict[str, Any]:
        """Return the attributes of the group, plain JSON."""
        return {
            "schema_version": SCHEMA_VERSION,
            "study": self.study,
            "test_set": self.test_set,
            "seed": self.seed,
            "replicates": self.replicates,
            "kept": self.sizes["replicate"],
            "alpha": self.alpha,
            "metric_signatures": {metric.name: metric.signature for metric in self.metrics},
            "higher_is_better": {metric.name: metric.higher_is_better for metric in self.metrics},
            **self.attrs,
        }

    def _names(self) -> dict[str, list[str]]:
        return {
            "metric": [metric.name for metric in self.metrics],
            "procedure": list(self.procedures),
            "convention": list(self.conventions),
            "adjustment": list(self.adjustments),
            "interval_method": list(self.intervals),
            "bound": list(BOUNDS) if self.intervals else [],
            "preset": list(self.presets),
            "test_size": [label for label, _ in self.test_sizes],
            "system": list(self.systems),
        }


def chunk_shape(variable: Variable, shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return the chunks of a variable: all of it if it is small, else its pieces."""
    return shape if is_small(variable, shape) else piece_shape(variable, shape)


def is_small(variable: Variable, shape: tuple[int, ...]) -> bool:
    """Return whether a variable is a single chunk."""
    itemsize = 8 if variable.dtype == "str" else np.dtype(variable.dtype).itemsize
    return not variable.inner and 0 < math.prod(shape) * itemsize <= SMALL_BYTES


def piece_shape(variable: Variable, shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return the pieces of a variable that each have one writer: a fixed grid, or the whole length if that is shorter."""
    grid = {**CHUNKS, **variable.chunks}
    return tuple(max(1, min(length, grid.get(dimension, length))) for dimension, length in zip(variable.dims, shape, strict=True))


def inner_shape(variable: Variable, chunks: tuple[int, ...]) -> tuple[int, ...] | None:
    """Return the pieces that chunks of a variable are cut into; None if they are not cut."""
    cut = zip(variable.dims, chunks, strict=True)
    return tuple(variable.inner.get(dimension, length) for dimension, length in cut) if variable.inner else None


def cube_name(test_set: str) -> str:
    """Return the directory name of a test set's cube: a digest, since names may contain anything."""
    return digest(test_set)[:16]
