"""A history of analyses as a cube along ``slot``: each slot is a group of its own, and a later one never touches an earlier one.

Systems, pairs and thresholds differ from slot to slot. `open_history` puts the slots together over all names that any has.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pipeline.cubes.arrays import create_array, create_filled, create_group
from pipeline.cubes.checked import seal, verify_group
from pipeline.cubes.declarations import Variable
from pipeline.cubes.zarr_files import ZarrGroup
from pipeline.dataclass import dataclass
from pipeline.errors import Problem, StoreError
from pipeline.store.files import store_error
from pipeline.store.syncing import sync_directory

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["SIDES", "SlotCube", "open_history", "write_slot"]

SIDES = ("not measured", "open", "first", "second", "equal")
"""Of ``side``: which system of a pair is better, at the level of the slot."""

_NAN = float("nan")
_AXES: Mapping[str, str] = {
    "board": "test set, metric and system, as a JSON list",
    "pair": "test set, metric and two systems in the order of the alphabet, as a JSON list",
    "threshold": "test set, metric, test size, relation and what it is by, as a JSON list",
}
_VARIABLES = {
    variable.name: variable
    for variable in (
        Variable("score", ("board",), "float64", _NAN, "points", "score of the system on the whole test set"),
        Variable("gain", ("pair",), "float64", _NAN, "points", "how much better the first system of the pair is"),
        Variable(
            "p_adjusted", ("pair",), "float64", _NAN, "1", "p that decides, adjusted for the pairs of the slot, not for slots"
        ),
        Variable("side", ("pair",), "int8", 0, "1", "which is better at the level of the slot", flags=SIDES),
        Variable("gain_at_threshold", ("threshold",), "float64", _NAN, "points", "threshold of gains"),
        Variable("threshold_low", ("threshold",), "float64", _NAN, "points", "lower end of the threshold's interval"),
        Variable("threshold_high", ("threshold",), "float64", _NAN, "points", "upper end of the threshold's interval"),
    )
}


@dataclass(frozen=True, eq=False)
class SlotCube:
    """The content of a slot, as columns.

    Parameters
    ----------
    names : mapping
        Of ``board``, ``pair`` and ``threshold``: JSON lists of names.
    columns : mapping
        Values of every variable, in the order of the names.
    facts : mapping
        Of the slot as a whole: its number, its run, its level.
    """

    names: Mapping[str, Sequence[str]]
    columns: Mapping[str, Sequence[Any] | NDArray[Any]]
    facts: Mapping[str, str | int | float]


def write_slot(path: Path, slot: str, cube: SlotCube) -> None:
    """Write the group of one slot, with checksums, and bring it to disk; the caller gives its folder the final name."""
    try:
        attributes = {"slot": slot, **cube.facts, "variables": sorted([*_AXES, *_VARIABLES])}
        group = create_group(path, attributes)
        assert isinstance(group, ZarrGroup)  # a history is always files
        for axis, meaning in _AXES.items():
            create_filled(group, Variable(axis, (axis,), "str", "", "1", meaning), list(cube.names[axis]))
        for name, variable in _VARIABLES.items():
            values = np.asarray(cube.columns[name], np.dtype(variable.dtype))
            create_array(group, variable, values.shape)[(slice(None),)] = values
        seal(group)
        for folder, _, files in os.walk(path):
            for name in files:
                _sync(Path(folder, name))
            sync_directory(folder)
    except OSError as error:
        raise store_error(error, path) from error


def open_history(path: Path | str) -> xr.Dataset:
    """Return the slots of a history as one dataset along ``slot``, in the order in which they were added.

    If a slot lacks a system, pair or threshold, its numbers are nan and its sides 0, "not measured". ``number``, ``run`` and
    ``level`` of slots are coordinates.

    Parameters
    ----------
    path : Path
        The folder of the history, which `pipeline reanalyse` writes: ``runs/.history/STUDY``.

    Raises
    ------
    StoreError
        P707, P708: something is missing or damaged, or there are no slots yet.
    """
    import xarray as xr  # only now: whoever asks for help waits for nothing

    folders = sorted(folder for folder in (Path(path) / "slots").glob("*") if not folder.name.startswith("."))
    if not folders:
        raise StoreError(Problem("P708", "the history has no slots yet", str(path), "`pipeline reanalyse STUDY` adds one"))
    opened = sorted((_open(folder.name, folder / "cube.zarr") for folder in folders), key=_number)
    fills = {name: variable.fill for name, variable in _VARIABLES.items()}
    joined = xr.concat(
        opened, "slot", join="outer", fill_value=fills, combine_attrs="drop", data_vars="all", coords="minimal", compat="override"
    )
    return joined.sortby(list(_AXES))


def _number(slot: xr.Dataset) -> int:
    return int(slot["number"].values.item())


def _open(slot: str, path: Path) -> xr.Dataset:
    import xarray as xr
    import zarr

    problems = verify_group(path, [*_AXES, *_VARIABLES])
    help = f"restore it from a copy; or remove the folder {path.parent}: the rest can be opened, but the last look is spent again"
    if problems:
        raise StoreError(*(replace(problem, help=help) for problem in problems))
    try:
        group = zarr.open_group(path, mode="r")
        arrays: dict[str, Any] = {name: np.asarray(group[name]) for name in (*_AXES, *_VARIABLES)}
        facts = dict(group.attrs)
    except (ValueError, KeyError, TypeError, OSError) as error:
        raise StoreError(Problem("P708", "the description of a slot is missing or damaged", str(path), help)) from error
    coordinates = {axis: np.array([str(one) for one in arrays[axis].tolist()], dtype=object) for axis in _AXES}
    columns = {name: (variable.dims, arrays[name], variable.attributes) for name, variable in _VARIABLES.items()}
    known = {name: ("slot", [value]) for name, value in facts.items() if name not in {"slot", "variables"}}
    return xr.Dataset(columns, coords=coordinates).expand_dims(slot=[slot]).assign_coords(known)


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
