"""Groups and arrays of a cube, in files or in memory, as their declarations say."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from pipeline.cubes.chunk_files import FilesInFolder
from pipeline.cubes.declarations import Variable
from pipeline.cubes.held import HeldGroup, is_held
from pipeline.cubes.layout import chunk_shape, inner_shape, is_small, piece_shape
from pipeline.cubes.variables import COORDINATES, STATISTICS, VARIABLES
from pipeline.cubes.zarr_files import ZarrGroup
from pipeline.store.addresses import digest

__all__ = ["create_array", "create_filled", "create_group", "known_of_systems", "path_of"]


def known_of_systems(name: str, values: Sequence[Any]) -> tuple[Variable, list[Any]]:
    """Return facts about the systems: integers, floats (NaN where unknown) or text ("" where unknown)."""
    known = [value for value in values if value is not None]
    taken = name in VARIABLES or name in COORDINATES or name in ("pair", STATISTICS.name)  # the last is a folder of groups
    free = f"table_{name}" if taken else name

    def column(dtype: str, unknown: Any, plain: Callable[[Any], Any]) -> tuple[Variable, list[Any]]:
        variable = Variable(free, ("system",), dtype, unknown, "1", f"{name} of the system")
        return variable, [unknown if value is None else plain(value) for value in values]

    if known and len(known) == len(values) and all(type(value) is int for value in known):
        return column("int64", -1, int)
    if known and all(type(value) in (int, float) for value in known):
        return column("float64", float("nan"), float)
    return column("str", "", str)


def path_of(name: str) -> str:
    """Return a variable's directory: its name, except for columns that the user has named, whose names may contain anything."""
    return name if re.fullmatch(r"[A-Za-z0-9_]{1,64}", name) else f"column_{digest(name)[:16]}"


def create_group(path: Path, attributes: Mapping[str, Any]) -> ZarrGroup | HeldGroup:
    """Make the group of a cube."""
    return HeldGroup(attributes) if is_held(path.parent) else ZarrGroup(FilesInFolder(path), attributes)


def create_array(group: ZarrGroup | HeldGroup, variable: Variable, shape: tuple[int, ...], *, in_pieces: bool = False) -> Any:
    """Make the array of a variable, filled with its fill value; ``in_pieces`` if tasks write parts of it."""
    path, attributes = path_of(variable.name), variable.attributes
    if path != variable.name:
        attributes["name"] = variable.name
    if isinstance(group, HeldGroup):
        dtype = np.dtype(object if variable.dtype == "str" else variable.dtype)
        return group.create_array(path, variable.dims, np.full(shape, variable.fill, dtype), attributes)
    chunks = (piece_shape if in_pieces else chunk_shape)(variable, shape)
    asked: dict[str, Any] = {"inner": inner_shape(variable, chunks), "held": is_small(variable, shape) and not in_pieces}
    return group.create_array(path, variable.dims, shape, chunks, variable.dtype, variable.fill, attributes, **asked)


def create_filled(group: ZarrGroup | HeldGroup, variable: Variable, values: Sequence[Any]) -> None:
    """Make the array of a coordinate, with its values."""
    array = create_array(group, variable, (len(values),))
    array[(slice(None),)] = np.array(values, dtype=object if variable.dtype == "str" else variable.dtype)
