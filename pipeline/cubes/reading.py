"""Open what `CubeWriter` wrote as labelled arrays, lazily, and tell damage from data."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from pipeline.cubes.checked import REBUILD, group_is_sound, verify_group
from pipeline.cubes.held import find_held
from pipeline.errors import Problem, StoreError
from pipeline.store.addresses import digest

if TYPE_CHECKING:
    import xarray as xr

__all__ = [
    "digest_cubes",
    "list_groups",
    "list_subgroups",
    "open_cubes",
    "open_group",
    "open_statistics",
    "read_attributes",
    "verify_cubes",
    "with_names_of_now",
]


def open_cubes(path: Path | str) -> dict[str, xr.Dataset]:
    """Open the cubes of a run by name of the test set, sorted by name.

    Coordinates are loaded at once, variables when they are used. Raises `StoreError` (P707, P708) if something is missing or
    damaged, here or on use. Cubes that are held in memory are `PlainCube`, which has what reports and our own analyses use.
    """
    held = find_held(Path(path))
    if held is not None:
        return {test_set: cast("xr.Dataset", group.open()) for test_set, group in held.items()}
    cubes = {}
    for group in list_groups(Path(path)):
        dataset = open_group(group)
        cubes[str(dataset.attrs["test_set"])] = dataset
    return dict(sorted(cubes.items()))


def open_statistics(path: Path | str, test_set: str) -> dict[str, xr.Dataset]:
    """Open the statistics of a test set by name of the metric; empty if none were written."""
    held = find_held(Path(path))
    if held is not None:
        opened = [group.open() for group in held[test_set].groups.values()]
        return dict(sorted((str(of_metric.attrs["metric"]), cast("xr.Dataset", of_metric)) for of_metric in opened))
    group = Path(path) / digest(test_set)[:16]
    read_attributes(group)
    statistics = [open_group(found) for found in list_subgroups(group)]
    return dict(sorted((str(dataset.attrs["metric"]), dataset) for dataset in statistics))


def verify_cubes(path: Path | str) -> list[Problem]:
    """List everything that is missing or damaged in the cubes of a run; reads every byte."""
    problems: list[Problem] = []
    try:
        groups = list_groups(Path(path))
    except StoreError as error:
        return list(error.problems)
    for group in [part for found in groups for part in (found, *list_subgroups(found))]:
        try:
            problems += verify_group(group, list(read_attributes(group)["variables"]))
            open_group(group)
        except StoreError as error:
            problems += error.problems
    return problems


def digest_cubes(path: Path | str) -> str:
    """Return one digest of all values, names and attributes of a run's cubes.

    Two runs with the same numbers have the same digest, whatever version of the compressor wrote them. The values are read
    in slices.
    """
    parts: dict[str, Any] = {}
    for group in [part for found in list_groups(Path(path)) for part in (found, *list_subgroups(found))]:
        dataset = open_group(group)
        name = group.relative_to(path).as_posix()
        parts[name] = json.loads(json.dumps(dataset.attrs))
        for variable, array in dataset.variables.items():
            described = [list(map(str, array.dims)), list(array.shape), str(array.dtype), _digest_values(array)]
            parts[f"{name}/{variable}"] = described
    return digest(parts)


def _digest_values(array: xr.Variable) -> str:
    if array.dtype == object:
        return digest(array.values.tolist())
    sums = hashlib.sha256()
    # A slice of the first axes at a time: a cube may be larger than memory.
    for index in np.ndindex(array.shape[: max(0, array.ndim - 2)]):
        sums.update(np.ascontiguousarray(array[index].values).tobytes())
    return sums.hexdigest()


def list_groups(path: Path) -> list[Path]:
    """Return the groups of a ``cubes.zarr``, one for each test set; `StoreError` (P708) if there is no such directory."""
    try:
        found = sorted(folder for folder in path.iterdir() if re.fullmatch(r"[0-9a-f]{16}", folder.name))
    except OSError as error:
        raise StoreError(Problem("P708", "there are no cubes", str(path), REBUILD)) from error
    return found


def list_subgroups(group: Path) -> list[Path]:
    """Return the groups of a test set's statistics, one for each metric."""
    return sorted((group / "statistics").glob("[0-9a-f]*"))


def read_attributes(group: Path) -> dict[str, Any]:
    """Return the attributes of a group; `StoreError` (P708) if they are missing or damaged."""
    try:
        description = (group / "zarr.json").read_bytes()
        attributes: dict[str, Any] = json.loads(description)["attributes"]
        for key in ("test_set", "variables"):
            attributes[key]
        if not group_is_sound(group, description):
            raise ValueError("its bytes are not those that were written")
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise _unreadable(group) from error
    return attributes


def _unreadable(group: Path) -> StoreError:
    return StoreError(Problem("P708", "the description of a cube is missing or damaged", str(group / "zarr.json"), REBUILD))


def open_group(group: Path) -> xr.Dataset:
    """Open a group, as `open_cubes` opens those of test sets."""
    import xarray as xr  # only now, as all that imports: cubes in memory need neither it nor Zarr

    from pipeline.cubes.checked_store import CheckedStore, check_descriptions

    attributes = read_attributes(group)
    try:
        check_descriptions(group)
        # Decoding is off: nothing is a date, and the fill value of a count must not make it a float.
        dataset = xr.open_zarr(CheckedStore(group), consolidated=False, chunks=None, decode_times=False, mask_and_scale=False)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, OSError) as error:
        raise _unreadable(group) from error
    missing = sorted(set(attributes["variables"]) - set(map(str, dataset.variables)))
    if missing:
        raise StoreError(*(Problem("P708", f"the variable {name!r} is missing", str(group), REBUILD) for name in missing))
    return with_names_of_now(_with_plain_coordinates(dataset))


def _with_plain_coordinates(dataset: xr.Dataset) -> xr.Dataset:
    """Load coordinates, text as plain str objects: versions of Zarr give it in different dtypes."""
    plain = {}
    for name, coordinate in dataset.coords.items():
        values = coordinate.values
        if values.dtype.kind in "OTU":
            # A name stands in every pair of its system: one object for all of them.
            once: dict[str, str] = {}
            values = np.array([once.setdefault(str(value), str(value)) for value in values.tolist()], dtype=object)
        plain[name] = (coordinate.dims, values, coordinate.attrs)
    loaded: xr.Dataset = dataset.assign_coords(plain)
    return loaded.rename({name: plain[name][2]["name"] for name in plain if "name" in plain[name][2]})


def with_names_of_now(dataset: xr.Dataset) -> xr.Dataset:
    """Give variables of older cubes the names that they have now: the table of adjustments was called ``p_adjusted``."""
    if dataset.attrs.get("schema_version") == 1 and "adjustment" in getattr(dataset.get("p_adjusted"), "dims", ()):
        return dataset.rename({"p_adjusted": "p_by_adjustment"})
    return dataset
