"""Read cubes in files without xarray and Zarr, which take longer to import than most reports take to make.

This reads what `pipeline.cubes.reading` reads, with the same checksums. A group that `CubeWriter` of this version would not have
written is left to xarray, which can read older ones, or says what is wrong with it.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from pipeline.cubes.checked import META, damaged, read_seal
from pipeline.cubes.chunk_files import FilesInFolder
from pipeline.cubes.held import find_held
from pipeline.cubes.layout import SCHEMA_VERSION
from pipeline.cubes.plain import PlainArray, PlainCube, StoredRegion, label_arrays
from pipeline.cubes.reading import list_groups, list_subgroups, open_cubes, open_group, open_statistics, read_attributes
from pipeline.cubes.zarr_files import KEYS, ShardedArray, ZarrArray, shards_of
from pipeline.errors import StoreError
from pipeline.store.addresses import digest
from pipeline.store.files import store_error

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["read_cubes", "read_statistics"]


def read_cubes(path: Path) -> dict[str, xr.Dataset]:
    """Return the cubes of a run by name of the test set, sorted by name, for code that needs no more than `PlainCube` has.

    Coordinates are loaded at once, variables each time they are used. Raises `StoreError` (P707, P708) if something is missing or
    damaged, here or on use.
    """
    if find_held(path) is not None:
        return open_cubes(path)
    cubes = [_read_group(group) for group in list_groups(path)]
    return dict(sorted((str(cube.attrs["test_set"]), cube) for cube in cubes))


def read_statistics(path: Path, test_set: str) -> dict[str, xr.Dataset]:
    """Return the statistics of a test set by name of the metric, as `read_cubes` does; empty if none were written."""
    if find_held(path) is not None:
        return open_statistics(path, test_set)
    group = path / digest(test_set)[:16]
    read_attributes(group)
    statistics = [_read_group(found) for found in list_subgroups(group)]
    return dict(sorted((str(of_metric.attrs["metric"]), of_metric) for of_metric in statistics))


class _SealedFiles(FilesInFolder):
    """Files of a group, each compared with its checksum."""

    def __init__(self, root: Path, sums: Mapping[str, Mapping[str, int]]) -> None:
        super().__init__(root)
        self._sums = sums

    def read(self, path: str) -> bytes | None:
        """Return the content of a file, None if none was written; `StoreError` if it is missing or is not what was written."""
        array, _, part = path.partition("/")
        try:
            found, expected = super().read(path), self._sums[array].get(part)
        except OSError as error:
            raise store_error(error, self.root / path) from error
        if expected is not None and (found is None or zlib.crc32(found) != expected):
            raise StoreError(damaged(self.root, array, part, missing=found is None))
        return found


def _read_group(group: Path) -> xr.Dataset:
    plain = _read_plain(group, read_attributes(group))
    return open_group(group) if plain is None else cast("xr.Dataset", plain)


def _read_plain(group: Path, attributes: Mapping[str, Any]) -> PlainCube | None:
    """Return a group whose arrays are as this version writes them; None if they are not."""
    if attributes.get("schema_version", SCHEMA_VERSION) != SCHEMA_VERSION:
        return None
    sums = {path: read_seal(group / path) for path in map(str, attributes["variables"])}
    files = _SealedFiles(group, {path: known for path, known in sums.items() if known is not None})
    arrays: dict[str, PlainArray] = {}
    beside = str(attributes.get("coordinates", "")).split()
    for path, known in sums.items():
        described = None if known is None else files.read(f"{path}/{META}")
        array = None if described is None else _describe(files, path, json.loads(described))
        if array is None:
            return None
        is_coordinate = (path,) == array.dims or path in beside
        arrays[path] = PlainArray(array.dims, _load(array), array.attrs) if is_coordinate else array
    return label_arrays(attributes, arrays)


def _describe(files: FilesInFolder, path: str, described: Mapping[str, Any]) -> PlainArray | None:
    """Return an array as it is described; None if `ZarrArray` would read something else than Zarr does."""
    kind, text = described["data_type"], described["data_type"] == "string"
    codecs, inner = described["codecs"], None
    if codecs[0]["name"] == "sharding_indexed":
        cut = codecs[0]["configuration"]
        codecs, inner = cut["codecs"], tuple(cut["chunk_shape"])
        if described["codecs"] != [shards_of(cut["chunk_shape"], codecs)]:
            return None
    if [codec["name"] for codec in codecs] != ["vlen-utf8" if text else "bytes", "zstd"]:
        return None
    if codecs[0].get("configuration", {}).get("endian", "little") != "little" or described["chunk_key_encoding"] != KEYS:
        return None
    fill = described["fill_value"]
    given = (
        files,
        path,
        tuple(described["shape"]),
        tuple(described["chunk_grid"]["configuration"]["chunk_shape"]),
        np.dtype(object) if text else np.dtype(kind).newbyteorder("<"),
        float("nan") if fill == "NaN" else fill,
    )
    array = ZarrArray(*given) if inner is None else ShardedArray(*given, inner)
    return PlainArray(tuple(described["dimension_names"]), StoredRegion(array), described["attributes"])


def _load(array: PlainArray) -> Any:
    values = array.values
    if values.dtype == object:
        # A name stands in every pair of its system: one object for all of them.
        once: dict[str, str] = {}
        values[:] = [once.setdefault(value, value) for value in values.tolist()]
    return values
