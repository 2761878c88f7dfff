"""What is written as Zarr's third format is what Zarr writes: the same descriptions, and the same values wherever they were put."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarr
from zarr.codecs import BytesCodec, ShardingCodec, ZstdCodec

from pipeline.cubes.arrays import create_array
from pipeline.cubes.chunk_files import FilesInFolder, FilesInMemory
from pipeline.cubes.declarations import Variable
from pipeline.cubes.layout import chunk_shape, inner_shape
from pipeline.cubes.variables import COORDINATES, STATISTICS, VARIABLES
from pipeline.cubes.zarr_files import ZarrGroup, is_chunk
from pipeline.store.packing import pack_rows

TEXT = Variable("text", ("system",), "str", "", "1", "words")
EVERY = {variable.name: variable for variable in (*VARIABLES.values(), *COORDINATES.values(), STATISTICS, TEXT)}


def by_zarr(group: zarr.Group, variable: Variable, shape: tuple[int, ...], chunks: tuple[int, ...]) -> zarr.Array:
    packed: dict[str, Any] = {"compressors": ZstdCodec(level=2, checksum=True)}
    if (inner := inner_shape(variable, chunks)) is not None:
        within = [BytesCodec(), ZstdCodec(level=1, checksum=False)]
        packed = {"serializer": ShardingCodec(chunk_shape=inner, codecs=within, index_codecs=[BytesCodec()]), "compressors": None}
    return group.create_array(
        variable.name,
        shape=shape,
        dtype=str if variable.dtype == "str" else np.dtype(variable.dtype).newbyteorder("<"),
        chunks=chunks,
        fill_value=variable.fill,
        **packed,
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


@pytest.mark.parametrize("inner", [None, (1, 1, 4), (1, 3, 2)])
@pytest.mark.parametrize(
    ("dtype", "fill"), [("int32", -1), ("int64", 0), ("float64", float("nan")), ("bool", False), ("int8", -1), ("str", "")]
)
def test_values_are_those_of_an_array_whatever_regions_were_written(
    tmp_path: Path, dtype: str, fill: Any, inner: tuple[int, ...] | None
) -> None:
    rng = np.random.default_rng(3)
    shape, chunks = (2, 7, 11), (1, 3, 4)
    files = FilesInFolder(tmp_path)
    array = ZarrGroup(files, {}).create_array("x", ("a", "b", "c"), shape, chunks, dtype, fill, {}, inner=inner)
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


def test_an_array_that_is_held_becomes_a_file_when_its_group_is_finished(tmp_path: Path) -> None:
    files = FilesInFolder(tmp_path)
    above = ZarrGroup(files, {})
    for group, name in ((above, "x"), (above, "empty"), (above.create_group("below", attributes={}), "y")):
        array = group.create_array(name, ("a", "b"), (3, 4), (3, 4), "float64", float("nan"), {}, held=True)
        if name != "empty":
            for row in (2, 0):
                array[row, slice(1, 3)] = [row, 0.5]
            assert array[slice(None), 1].tolist()[0::2] == [0.0, 2.0]
    assert list(tmp_path.rglob("c.*")) == []
    above.finish()
    assert sorted(path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("c.*")) == ["below/y/c.0.0", "x/c.0.0"]
    found = np.asarray(zarr.open_group(tmp_path, mode="r")["x"])
    np.testing.assert_array_equal(found, [[np.nan, 0, 0.5, np.nan], [np.nan] * 4, [np.nan, 2, 0.5, np.nan]])


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


def test_what_is_taken_over_as_it_was_packed_is_what_would_have_been_written() -> None:
    scores = np.random.default_rng(1).binomial(380, 0.7, (6, 2 * 2**14)) / 380
    scores[2, : 2**14] = np.nan  # a system without any score in a cell
    scores[3] = 0.5
    scores[4:, 2**14 :] = np.nan  # and all of a chunk, which is then no file
    made = []
    for takes_over in (False, True):
        files = FilesInMemory()
        given = (("system", "replicate"), scores.shape, (4, 2**14), "float64", float("nan"), {})
        array = ZarrGroup(files, {}).create_array("x", *given, inner=(1, 2**14))
        for system, replicate in product((0, 4), (0, 2**14)):
            cell = np.ascontiguousarray(scores[:, replicate : replicate + 2**14])
            if takes_over:
                packed = pack_rows(cell)
                assert packed is not None
                assert (packed.rows, packed.ordered) == (1, False)
                array.adopt((system, replicate), packed.pieces[system : system + 4])
            else:
                array[(slice(system, system + 4), slice(replicate, replicate + 2**14))] = cell[system : system + 4]
        np.testing.assert_array_equal(array[(slice(None), slice(None))], scores)
        made.append(dict(files))
    assert made[0] == made[1]
