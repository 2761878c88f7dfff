"""The cubes of a run as one tree of xarray, whose pairs are selected by the names of their systems."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from pathlib import Path
from typing import Any, Self

import numpy as np
import xarray as xr
from numpy.typing import NDArray
from xarray.core.indexing import IndexSelResult

from pipeline.cubes.reading import open_cubes
from pipeline.options import nearest

__all__ = ["PairIndex", "node_name", "open_tree", "plant_cubes"]

NAMES = ("first", "second")


def open_tree(path: Path | str) -> xr.DataTree:
    """Open the cubes of a run as a tree with a node for each test set; values are read when they are used.

    A node has what `open_cubes` returns; its attribute ``test_set`` is the name of the test set.
    """
    return plant_cubes(open_cubes(path))


def plant_cubes(cubes: Mapping[str, xr.Dataset]) -> xr.DataTree:
    """Return cubes as a tree with a node for each test set, their pairs indexed by both systems.

    Examples
    --------
    >>> names = {"system_a": ("pair", ["x", "x", "y"]), "system_b": ("pair", ["y", "z", "z"])}
    >>> cube = xr.Dataset({"p": ("pair", [0.01, 0.02, 0.03])}, coords=names, attrs={"test_set": "news/2021"})
    >>> tree = plant_cubes({"news/2021": cube})
    >>> list(tree), tree["news%2F2021"].attrs["test_set"]
    (['news%2F2021'], 'news/2021')
    >>> tree["news%2F2021"]["p"].sel(first="x", second="z").item()
    0.02
    >>> tree["news%2F2021"]["p"].sel(second="z").values.tolist()
    [0.02, 0.03]
    """
    nodes = {node_name(test_set): _index_pairs(cube) for test_set, cube in cubes.items()}
    return xr.DataTree(children={name: xr.DataTree(cube) for name, cube in nodes.items()})


def node_name(test_set: str) -> str:
    """Return the name of a test set's node: that of the test set, if a node can have it.

    A slash would lead to a node below, a name of only dots to another node. Both are written as in a URL, and so is the percent
    sign, so two test sets never have the same node.

    Examples
    --------
    >>> [node_name(name) for name in ("news", "news/2021", "100%", "..", "v1.2")]
    ['news', 'news%2F2021', '100%25', '%2E%2E', 'v1.2']
    """
    escaped = test_set.replace("%", "%25").replace("/", "%2F")
    return escaped.replace(".", "%2E") if escaped in (".", "..") else escaped


class PairIndex(xr.Index):
    """Selects pairs by the names of their systems: both for one pair, or one for all pairs with it in that place.

    Parameters
    ----------
    first, second : ndarray of object
        The systems of each pair.
    dim : str
        The dimension of the pairs.
    names : tuple of str
        The coordinates that hold the two systems.
    """

    def __init__(
        self, first: NDArray[Any], second: NDArray[Any], dim: Hashable = "pair", names: tuple[Hashable, Hashable] = NAMES
    ) -> None:
        self.first, self.second, self.dim, self.names = first, second, dim, names

    @classmethod
    def from_variables(cls, variables: Mapping[Any, xr.Variable], *, options: Mapping[str, Any]) -> Self:
        """Make the index of two coordinates along one dimension: the first systems and the second ones."""
        (one, first), (other, second) = variables.items()
        return cls(first.values, second.values, first.dims[0], (one, other))

    def create_variables(self, variables: Mapping[Any, xr.Variable] | None = None) -> dict[Hashable, xr.Variable]:
        """Return the coordinates of the pairs that the index is of, with the attributes of those given."""
        systems = dict(zip(self.names, (self.first, self.second), strict=True))
        given = variables or {}
        return {name: xr.Variable(self.dim, of, given[name].attrs if name in given else None) for name, of in systems.items()}

    def sel(self, labels: dict[Any, Any]) -> IndexSelResult:
        """Return the positions of the pairs; a list of names means any of them.

        Raises
        ------
        KeyError
            If there is no such pair, or no system of that name. The message says if there is a pair in the other order, whose
            gain has the other sign, or which name is nearest.
        TypeError
            For a range, and for an array with dimensions of its own: xarray would take those of both systems point by point.
        """
        labels = {name: _plain(label) for name, label in labels.items()}
        places = np.flatnonzero(self._hits(*map(labels.get, self.names)))
        one = len(labels) == 2 and all(isinstance(label, str) for label in labels.values())
        unknown = self._unknown(labels)
        if unknown or not len(places):
            raise KeyError(self._lacking(labels, unknown, one=one))
        return IndexSelResult({self.dim: int(places[0]) if one else places})

    def isel(self, indexers: Mapping[Any, int | slice | NDArray[Any] | xr.Variable]) -> Self | None:
        """Return the index of some of the pairs, or nothing if a single pair is left."""
        places = indexers[self.dim]
        if isinstance(places, xr.Variable):
            if places.dims != (self.dim,):
                return None
            places = places.values
        first = self.first[places]
        return type(self)(first, self.second[places], self.dim, self.names) if np.ndim(first) == 1 else None

    def rename(self, name_dict: Mapping[Any, Hashable], dims_dict: Mapping[Any, Hashable]) -> Self:
        """Return the index under other names of its coordinates and dimension."""
        first, second = (name_dict.get(name, name) for name in self.names)
        return type(self)(self.first, self.second, dims_dict.get(self.dim, self.dim), (first, second))

    def equals(self, other: xr.Index, *, exclude: frozenset[Hashable] | None = None) -> bool:
        """Tell whether another index has the same pairs in the same order."""
        same = isinstance(other, PairIndex) and np.array_equal(self.first, other.first)
        return same and isinstance(other, PairIndex) and np.array_equal(self.second, other.second)

    def _hits(self, first: Any, second: Any) -> NDArray[np.bool_]:
        hits = np.ones(len(self.first), bool)
        for names, asked in ((self.first, first), (self.second, second)):
            if isinstance(asked, str):
                hits &= names == asked
            elif asked is not None:
                wanted = set(np.ravel(asked).tolist())
                hits &= np.fromiter((name in wanted for name in names), bool, len(names))
        return hits

    def _unknown(self, labels: Mapping[Any, Any]) -> list[str]:
        """Return the names that no system has, each with the nearest that one has."""
        systems = dict.fromkeys([*self.first.tolist(), *self.second.tolist()])
        asked = [name for label in labels.values() for name in ([label] if isinstance(label, str) else np.ravel(label).tolist())]
        lacking = [name for name in dict.fromkeys(asked) if name not in systems]
        close = [nearest(name, systems) if isinstance(name, str) else None for name in lacking]
        return [f"{name!r}{f' (did you mean {one!r}?)' if one else ''}" for name, one in zip(lacking, close, strict=True)]

    def _lacking(self, labels: Mapping[Any, Any], unknown: list[str], *, one: bool) -> str:
        told = " and ".join(f"{name}={label!r}" for name, label in labels.items())
        if one:
            first, second = map(labels.get, self.names)
            if self._hits(second, first).any():
                return f"no pair has {told}; the pair is {second!r} over {first!r}, whose gain has the other sign: swap the names"
        return f"no pair has {told}" + (f": no system is named {' or '.join(unknown)}" if unknown else "")


def _plain(label: Any) -> Any:
    """Return what is selected as one name, or as names any of which is meant; an array without a dimension is one name."""
    if isinstance(label, slice):
        raise TypeError("pairs are selected by names or lists of names, not by a range of them")
    if isinstance(label, (xr.DataArray, xr.Variable)) and label.ndim:
        raise TypeError("pairs are selected by names or lists of names, not point by point: give the `values` of an array")
    return label.item() if getattr(label, "ndim", None) == 0 else label


def _index_pairs(cube: xr.Dataset) -> xr.Dataset:
    """Return a cube whose pairs can be selected by both names, by coordinates added for this.

    The cube's own names of systems get no index, because a DataFrame would then lack them. A coordinate of the study with one of
    these names is renamed, as it is if the cube itself uses the name.
    """
    if "system_a" not in cube.coords:
        return cube
    cube = cube.rename({name: f"table_{name}" for name in NAMES if name in cube.coords})
    systems = {name: ("pair", cube[own].values) for name, own in zip(NAMES, ("system_a", "system_b"), strict=True)}
    return cube.assign_coords(systems).set_xindex(NAMES, PairIndex)
