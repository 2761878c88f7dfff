"""Cubes held in memory by the process that makes and reads them, where nothing of them is to be kept.

They are read as cubes in files are, by the part of xarray's interface that reports and the package's own analyses use: to import
Zarr and xarray takes longer than a small comparison, and to write a file for every variable and open it again as long.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["HeldArray", "HeldCube", "HeldGroup", "find_held", "hold_cubes", "is_held"]

_held: dict[Path, dict[str, HeldGroup]] = {}
"""By the directory that files would be in, and the test set."""


@contextmanager
def hold_cubes(path: Path) -> Iterator[None]:
    """Keep the cubes that are written below a ``cubes.zarr`` in memory until the block ends, and no longer."""
    _held[path.absolute()] = {}
    try:
        yield
    finally:
        del _held[path.absolute()]


def is_held(path: Path) -> bool:
    """Say whether cubes of a directory are held in memory."""
    return path.absolute() in _held


def find_held(path: Path) -> dict[str, HeldGroup] | None:
    """Return what is held of a directory by name of the test set, sorted; None where its cubes are files."""
    found = _held.get(path.absolute())
    return None if found is None else dict(sorted(found.items()))


@dataclass(frozen=True, eq=False)
class HeldArray:
    """A labelled array: ``labels`` has the place of each label along the dimensions that have any."""

    dims: tuple[str, ...]
    values: NDArray[Any]
    attrs: Mapping[str, Any]
    labels: Mapping[str, Mapping[Any, int]] = field(default_factory=dict)

    @property
    def shape(self) -> tuple[int, ...]:
        """Length of each dimension."""
        return self.values.shape

    @property
    def sizes(self) -> dict[str, int]:
        """Length of each dimension, by its name."""
        return dict(zip(self.dims, self.values.shape, strict=True))

    def sel(self, indexers: Mapping[str, Any] | None = None, /, **more: Any) -> HeldArray:
        """Return the part at a label of each of some dimensions; KeyError for an unknown label or dimension."""
        asked = {**(indexers or {}), **more}
        return self.isel({dimension: self.labels[dimension][label] for dimension, label in asked.items()})

    def isel(self, indexers: Mapping[str, Any] | None = None, /, **more: Any) -> HeldArray:
        """Return the part at a position, or a range of them, along each of some dimensions; KeyError for an unknown one."""
        asked = {**(indexers or {}), **more}
        if unknown := set(asked) - set(self.dims):
            raise KeyError(f"no dimension {', '.join(sorted(unknown))}; there are {', '.join(self.dims)}")
        region = tuple(asked.get(dimension, slice(None)) for dimension in self.dims)
        left = tuple(dimension for dimension, part in zip(self.dims, region, strict=True) if not isinstance(part, int))
        ranges = {dimension for dimension in asked if dimension in left}
        return HeldArray(
            left, np.asarray(self.values[region]), self.attrs, {d: at for d, at in self.labels.items() if d not in ranges}
        )

    def __getitem__(self, place: int | slice) -> HeldArray:
        return self.isel({self.dims[0]: place})

    def item(self) -> Any:
        """Return the only value."""
        return self.values.item()

    def __int__(self) -> int:
        return int(self.values)


@dataclass(frozen=True, eq=False)
class HeldCube:
    """Labelled arrays by name; ``coords`` are those that are known of others."""

    variables: Mapping[str, HeldArray]
    coords: Mapping[str, HeldArray]
    attrs: Mapping[str, Any]

    @property
    def sizes(self) -> dict[str, int]:
        """Length of each dimension, by its name."""
        return {name: length for array in self.variables.values() for name, length in array.sizes.items()}

    def __getitem__(self, name: str) -> HeldArray:
        return self.variables[name]

    def __contains__(self, name: object) -> bool:
        return name in self.variables

    def assign_attrs(self, attrs: Mapping[str, Any] | None = None, /, **more: Any) -> HeldCube:
        """Return the same cube with more attributes, or with others in place of its own."""
        return replace(self, attrs={**self.attrs, **(attrs or {}), **more})


class HeldGroup:
    """What a cube is written into: arrays by path, and groups below it.

    Parameters
    ----------
    attributes : mapping
        As files have them: plain JSON.
    """

    def __init__(self, attributes: Mapping[str, Any]) -> None:
        self.attributes: dict[str, Any] = json.loads(json.dumps(attributes))
        self.groups: dict[str, HeldGroup] = {}
        self._arrays: dict[str, HeldArray] = {}

    def __contains__(self, path: str) -> bool:
        return path in self.groups or path in self._arrays

    def __getitem__(self, path: str) -> NDArray[Any]:
        group, _, name = path.rpartition("/")
        return (self.groups[group] if group else self)._arrays[name].values

    def create_group(self, path: str, *, attributes: Mapping[str, Any]) -> HeldGroup:
        """Return a new group below this one."""
        return self.groups.setdefault(path, HeldGroup(attributes))

    def create_array(self, path: str, dims: tuple[str, ...], values: NDArray[Any], attributes: Mapping[str, Any]) -> NDArray[Any]:
        """Return the values of a new array, which may be changed."""
        self._arrays[path] = HeldArray(dims, values, json.loads(json.dumps(attributes)))
        return values

    def hold(self, path: Path, test_set: str) -> None:
        """Let this be the cube of a test set below a directory that is held."""
        _held[path.absolute()][test_set] = self

    def open(self) -> HeldCube:
        """Return what was written, by the names that variables have for readers."""
        beside = str(self.attributes.get("coordinates", "")).split()
        is_coordinate = {path: (path,) == array.dims or path in beside for path, array in self._arrays.items()}
        labels = {
            path: {label: place for place, label in enumerate(array.values.tolist())}
            for path, array in self._arrays.items()
            if (path,) == array.dims
        }
        variables, coords = {}, {}
        for path, array in self._arrays.items():
            name = str(array.attrs.get("name", path)) if is_coordinate[path] else path
            variables[name] = replace(array, labels={d: labels[d] for d in array.dims if d in labels})
            if is_coordinate[path]:
                coords[name] = variables[name]
        return HeldCube(variables, coords, {name: value for name, value in self.attributes.items() if name != "coordinates"})
