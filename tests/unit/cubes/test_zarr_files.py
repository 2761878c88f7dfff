"""What is written as Zarr's third format is what Zarr writes: the same descriptions, and the same values wherever they were put."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarr
from zarr.codecs import ZstdCodec

from pipeline.cubes.arrays import create_array
from pipeline.cubes.declarations import Variable
from pipeline.cubes.layout import chunk_shape
from pipeline.cubes.variables import COORDINATES, STATISTICS, VARIABLES
from pipeline.cubes.zarr_files import FilesInFolder, FilesInMemory, ZarrGroup, is_chunk

TEXT = Variable("text", ("system",), "str", "", "1", "words")
EVERY = {variable.name: variable for variable in (*VARIABLES.values(), *COORDINATES.values(), STATISTICS, TEXT)}


def by_zarr(group: zarr.Group, variable: Variable, shape: tuple[int, ...], chunks: tuple[int, ...]) -> zarr.Array:
    return group.create_array(
        variable.name,
        shape=shape,
        dtype=str if variable.dtype == "str" else np.dtype(variable.dtype).newbyteorder("<"),
        chunks=chunks,
        fill_value=variable.fill,
        compressors=ZstdCodec(level=2, checksum=True),
        dimension_names=variable.dims,
        chunk_key_encoding={"name": "default", "separator": "."},
        attributes=variable.attributes,
    )


def test_descriptions_are_those_of_zarr_to_the_byte(tmp_path: Path) -> None:
    attributes = {"name": "a <b> 系统", "sizes": [1, 2], "alpha": 0.05, "none": None}
    theirs = zarr.create_group(tmp_path / "theirs", zarr_format=3, attributes=attributes)
    ours = ZarrGroup(FilesInFolder(tmp_path / "ours"), attributes)
    for variable in EVERY.values():
        shape = tuple(range(3, 3 + len(variable.dims)))
        by_zarr(theirs, variable, shape, chunk_shape(variable, shape))
        create_array(ours, variable, shape)
    theirs.require_group("below").create_group("one", attributes={"metric": "m"})
    ours.create_group("below/one", attributes={"metric": "m"})
    found = {path.relative_to(tmp_path / "ours"): path.read_bytes() for path in (tmp_path / "ours").rglob("zarr.json")}
    assert len(found) == len(EVERY) + 3
    assert found == {path.relative_to(tmp_path / "theirs"): path.read_bytes() for path in (tmp_path / "theirs").rglob("zarr.json")}


@pytest.mark.parametrize(
    ("dtype", "fill"), [("int32", -1), ("int64", 0), ("float64", float("nan")), ("bool", False), ("int8", -1), ("str", "")]
)
def test_values_are_those_of_an_array_whatever_regions_were_written(tmp_path: Path, dtype: str, fill: Any) -> None:
    rng = np.random.default_rng(3)
    shape, chunks = (2, 7, 11), (1, 3, 4)
    files = FilesInFolder(tmp_path)
    array = ZarrGroup(files, {}).create_array("x", ("a", "b", "c"), shape, chunks, dtype, fill, {})
    known = np.full(shape, fill, object if dtype == "str" else dtype)
    for _ in range(25):
        starts, stops = np.sort([[rng.integers(0, n + 1), rng.integers(0, n + 1)] for n in shape[1:]], axis=1).T
        region = (int(rng.integers(2)), *map(slice, starts.tolist(), stops.tolist()))
        values = rng.integers(0, 2 if dtype == "bool" else 100, known[region].shape)
        part = np.array([["é" * v for v in row] for row in values], object) if dtype == "str" else values.astype(dtype)
        array[region] = known[region] = part.reshape(values.shape)
        np.testing.assert_array_equal(array[region], known[region])
    everything = (slice(None),) * 3
    np.testing.assert_array_equal(array[everything], known)
    np.testing.assert_array_equal(np.asarray(zarr.open_group(tmp_path, mode="r")["x"]), known)


def test_a_chunk_of_nothing_but_the_fill_value_is_no_file_and_one_that_was_written_is_written_over() -> None:
    files = FilesInMemory()
    array = ZarrGroup(files, {}).create_array("x", ("a",), (7,), (4,), "float64", float("nan"), {})
    array[(slice(0, 4),)] = np.full(4, np.nan)
    assert [path for path in files if is_chunk(path)] == []
    array[(slice(4, 7),)] = np.arange(3.0)
    array[(slice(4, 7),)] = np.full(3, np.nan)
    assert [path for path in files if is_chunk(path)] == ["x/c.1"]
    assert np.isnan(array[(slice(None),)]).all()
    assert array.place_of("x/c.1") == (slice(4, 7),)
