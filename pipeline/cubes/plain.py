"""Labelled arrays with the part of xarray's interface that reports and the package's own analyses use.

Importing Zarr and xarray takes longer than a small comparison, and every read through them goes through an event loop.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.cubes.zarr_files import ZarrArray
from pipeline.dataclass import dataclass, field

__all__ = ["PlainArray", "PlainCube", "StoredRegion", "label_arrays"]


class StoredRegion:
    """A region of an array in files, which is read when NumPy asks for its values; a part of it is a smaller region.

    Parameters
    ----------
    array : ZarrArray
    region : sequence of int or range, optional
        The position along each dimension of the array, or the positions; all by default.
    """

    def __init__(self, array: ZarrArray, region: tuple[int | range, ...] | None = None) -> None:
        self._array = array
        self._region = tuple(map(range, array.shape)) if region is None else region

    @property
    def shape(self) -> tuple[int, ...]:
        """Length of each dimension that is left."""
        return tuple(len(part) for part in self._region if isinstance(part, range))

    def __getitem__(self, parts: tuple[int | slice, ...]) -> StoredRegion:
        asked = iter(parts)
        region = tuple(part[next(asked)] if isinstance(part, range) else part for part in self._region)
        if any(isinstance(part, range) and part.step != 1 for part in region):
            raise ValueError("a region in files is read without steps")
        return StoredRegion(self._array, region)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        if copy is False:
            raise ValueError("an array in files is read: it has values of its own")
        region = tuple(slice(part.start, part.stop) if isinstance(part, range) else part for part in self._region)
        return self._array[region].astype(dtype or self._array.dtype.newbyteorder("="), copy=False)


@dataclass(frozen=True, eq=False)
class PlainArray:
    """A labelled array: ``labels`` has the position of each label along the dimensions that have labels."""

    dims: tuple[str, ...]
    source: NDArray[Any] | StoredRegion
    attrs: Mapping[str, Any]
    labels: Mapping[str, Mapping[Any, int]] = field(default_factory=dict)

    @property
    def values(self) -> NDArray[Any]:
        """The values; those in files are read each time."""
        return np.asarray(self.source)

    @property
    def shape(self) -> tuple[int, ...]:
        """Length of each dimension."""
        return self.source.shape

    @property
    def sizes(self) -> dict[str, int]:
        """Length of each dimension, by its name."""
        return dict(zip(self.dims, self.shape, strict=True))

    def sel(self, indexers: Mapping[str, Any] | None = None, /, **more: Any) -> PlainArray:
        """Return the part at one label along each of some dimensions; KeyError for an unknown label or dimension."""
        asked = {**(indexers or {}), **more}
        return self.isel({dimension: self.labels[dimension][label] for dimension, label in asked.items()})

    def isel(self, indexers: Mapping[str, Any] | None = None, /, **more: Any) -> PlainArray:
        """Return the part at a position, or a range of them, along each of some dimensions; KeyError for an unknown one."""
        asked = {**(indexers or {}), **more}
        if unknown := set(asked) - set(self.dims):
            raise KeyError(f"no dimension {', '.join(sorted(unknown))}; there are {', '.join(self.dims)}")
        region = tuple(asked.get(dimension, slice(None)) for dimension in self.dims)
        left = tuple(dimension for dimension, part in zip(self.dims, region, strict=True) if isinstance(part, slice))
        ranges = {dimension for dimension in asked if dimension in left}
        stored = isinstance(self.source, StoredRegion)
        part = self.source[region] if stored else np.asarray(self.source[region])
        return PlainArray(left, part, self.attrs, {d: at for d, at in self.labels.items() if d not in ranges})

    def __getitem__(self, place: int | slice) -> PlainArray:
        return self.isel({self.dims[0]: place})

    def item(self) -> Any:
        """Return the only value."""
        return self.values.item()

    def __int__(self) -> int:
        return int(self.values)


@dataclass(frozen=True, eq=False)
class PlainCube:
    """Labelled arrays by name; ``coords`` are those that describe others."""

    variables: Mapping[str, PlainArray]
    coords: Mapping[str, PlainArray]
    attrs: Mapping[str, Any]

    @property
    def sizes(self) -> dict[str, int]:
        """Length of each dimension, by its name."""
        return {name: length for array in self.variables.values() for name, length in array.sizes.items()}

    def __getitem__(self, name: str) -> PlainArray:
        return self.variables[name]

    def __contains__(self, name: object) -> bool:
        return name in self.variables

    def assign_attrs(self, attrs: Mapping[str, Any] | None = None, /, **more: Any) -> PlainCube:
        """Return the same cube with more attributes, or with others in place of its own."""
        return replace(self, attrs={**self.attrs, **(attrs or {}), **more})


def label_arrays(attributes: Mapping[str, Any], arrays: Mapping[str, PlainArray]) -> PlainCube:
    """Return the arrays of a group by the names that they have for readers, each with the labels of its dimensions.

    Parameters
    ----------
    attributes : mapping
        Those of the group; ``coordinates`` has the paths of coordinates whose name is not that of their dimension.
    arrays : mapping
        By path.
    """
    beside = str(attributes.get("coordinates", "")).split()
    labels = {
        path: {label: place for place, label in enumerate(array.values.tolist())}
        for path, array in arrays.items()
        if (path,) == array.dims
    }
    variables, coords = {}, {}
    for path, array in arrays.items():
        is_coordinate = path in labels or path in beside
        name = str(array.attrs.get("name", path)) if is_coordinate else path
        variables[name] = replace(array, labels={d: labels[d] for d in array.dims if d in labels})
        if is_coordinate:
            coords[name] = variables[name]
    return PlainCube(variables, coords, {name: value for name, value in attributes.items() if name != "coordinates"})
