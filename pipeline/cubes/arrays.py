"""Groups and arrays of a cube, in files or in memory, as their declarations say."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pipeline.cubes.held import HeldGroup, is_held
from pipeline.cubes.layout import chunk_shape
from pipeline.cubes.variables import COORDINATES, VARIABLES, Variable
from pipeline.store import digest

if TYPE_CHECKING:
    import zarr

__all__ = ["create_array", "create_filled", "create_group", "known_of_systems", "path_of"]


def known_of_systems(name: str, values: Sequence[Any]) -> tuple[Variable, list[Any]]:
    """Return what is known of the systems: integers, floats (NaN: not known) or text ("" where it is not known)."""
    known = [value for value in values if value is not None]
    free = f"table_{name}" if name in VARIABLES or name in COORDINATES or name == "pair" else name

    def column(dtype: str, unknown: Any, plain: Callable[[Any], Any]) -> tuple[Variable, list[Any]]:
        variable = Variable(free, ("system",), dtype, unknown, "1", f"{name} of the system")
        return variable, [unknown if value is None else plain(value) for value in values]

    if known and len(known) == len(values) and all(type(value) is int for value in known):
        return column("int64", -1, int)
    if known and all(type(value) in (int, float) for value in known):
        return column("float64", float("nan"), float)
    return column("str", "", str)


def path_of(name: str) -> str:
    """Return a variable's directory: its name, but for columns of the user's own naming that may hold anything."""
    return name if re.fullmatch(r"[A-Za-z0-9_]{1,64}", name) else f"column_{digest(name)[:16]}"


def create_group(path: Path, attributes: Mapping[str, Any]) -> zarr.Group | HeldGroup:
    """Make the group of a cube."""
    if is_held(path.parent):
        return HeldGroup(attributes)
    import zarr  # only now: cubes in memory do without

    return zarr.create_group(path, zarr_format=3, attributes=dict(attributes))


def create_array(group: zarr.Group | HeldGroup, variable: Variable, shape: tuple[int, ...]) -> Any:
    """Make the array of a variable, filled with its fill value."""
    attributes = variable.attributes
    if path_of(variable.name) != variable.name:
        attributes["name"] = variable.name
    if isinstance(group, HeldGroup):
        dtype = np.dtype(object if variable.dtype == "str" else variable.dtype)
        return group.create_array(path_of(variable.name), variable.dims, np.full(shape, variable.fill, dtype), attributes)
    from zarr.codecs import ZstdCodec

    return group.create_array(
        path_of(variable.name),
        shape=shape,
        dtype=str if variable.dtype == "str" else np.dtype(variable.dtype).newbyteorder("<"),
        chunks=chunk_shape(variable, shape),
        fill_value=variable.fill,
        compressors=ZstdCodec(level=3, checksum=True),
        dimension_names=variable.dims,
        attributes=attributes,
        config={"write_empty_chunks": True},
    )


def create_filled(group: zarr.Group | HeldGroup, variable: Variable, values: Sequence[Any]) -> None:
    """Make the array of a coordinate, with its values."""
    array = create_array(group, variable, (len(values),))
    array[:] = np.array(values, dtype=object if variable.dtype == "str" else variable.dtype)
