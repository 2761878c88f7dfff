"""Cubes held in memory by the process that makes and reads them, for runs that keep nothing.

They are read like cubes in files. Writing a file for every variable and opening it again would take longer than a small comparison.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from pipeline.cubes.plain import PlainArray, PlainCube, label_arrays

__all__ = ["HeldGroup", "find_held", "hold_cubes", "is_held"]

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
    """Return the cubes held for a directory, by name of the test set, sorted; None where its cubes are files."""
    found = _held.get(path.absolute())
    return None if found is None else dict(sorted(found.items()))


class HeldGroup:
    """A group in memory that a cube is written into: arrays by path, and groups below it.

    Parameters
    ----------
    attributes : mapping
        Plain JSON, as in files.
    """

    def __init__(self, attributes: Mapping[str, Any]) -> None:
        self.attributes: dict[str, Any] = json.loads(json.dumps(attributes))
        self.groups: dict[str, HeldGroup] = {}
        self._arrays: dict[str, PlainArray] = {}

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
        self._arrays[path] = PlainArray(dims, values, json.loads(json.dumps(attributes)))
        return values

    def hold(self, path: Path, test_set: str) -> None:
        """Let this be the cube of a test set below a directory that is held."""
        _held[path.absolute()][test_set] = self

    def open(self) -> PlainCube:
        """Return what was written, by the names that variables have for readers."""
        return label_arrays(self.attributes, self._arrays)
