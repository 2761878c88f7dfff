"""Cubes held in memory, and those read off files without xarray: they say what xarray says of the same cube."""

from __future__ import annotations

import json
import shutil
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr

from pipeline.cubes.cube import CubeWriter
from pipeline.cubes.held import hold_cubes
from pipeline.cubes.layout import CubeLayout, MetricInfo
from pipeline.cubes.plain import PlainArray, PlainCube
from pipeline.cubes.reading import open_cubes, open_statistics, verify_cubes
from pipeline.cubes.stored import read_cubes, read_statistics
from pipeline.errors import StoreError

KNOWN = {"model": ["m", None, "n"], "LM size/kB": [1, 2, 3], "score": ["u", "v", "w"], "fraction": [0.5, None, 1.0]}


def write(directory: Path, test_set: str = "news/<1>") -> None:
    layout = CubeLayout(
        study="a study",
        test_set=test_set,
        metrics=[MetricInfo("bleu", "bleu|v1"), MetricInfo("ter", "ter|v1", higher_is_better=False)],
        test_sizes=[("100", 100), ("full", 997)],
        systems=["a", "机器", "1.0"],
        pairs=np.array([(0, 1), (0, 2), (1, 2)]),
        replicates=3 * 2**14 - 5,
        kept=99,
        again=9,
        bins=8,
        procedures=("paired-bootstrap", "approximate-randomization"),
        conventions=("one-sided", "two-sided"),
        adjustments=("holm",),
        intervals=("percentile", "basic"),
        coordinates=KNOWN,
        attrs={"unit": "item", "margin": {"bleu": 0.5}, "sizes": (1, 2)},
    )
    rng = np.random.default_rng(7)
    with CubeWriter(directory, layout) as cube:
        at = {"first_cell": 1, "counts": rng.integers(0, 9, (3, 2, 8)), "empty": rng.integers(0, 9, (3, 2))}
        cube.write_cells("ter", "full", **at, sums=rng.normal(size=(3, 2, 3)), procedure="approximate-randomization")
        cube.write_scores("bleu", "100", 10, rng.normal(size=(2, 50)), first_system=1)
        cube.write_table("bleu", "full", {"p": rng.random(2), "interval": rng.random((2, 2, 2))}, pairs=slice(1, 3))
        same = {"se": rng.random(3), "discordant": rng.integers(0, 9, 3), "identical": rng.random(3) < 0.5}
        cube.write_columns("bleu", "full", {"observed_score": rng.random(3), "observed_delta": rng.random(3), **same})
        for first in (0, 2):
            about = {"ids": ["i", "机", ""], "units": [0, 0, 1], "statistics": ["n", "d"], "decimals": [2, 0]}
            part = rng.integers(0, 99, (2 if first == 0 else 1, 3, 2))
            cube.write_statistics("bleu", part, **about, groups={"document": [4, 4, 2]}, first_system=first)


def same_array(held: PlainArray, file: xr.DataArray) -> None:
    assert held.dims == file.dims
    assert (held.shape, held.sizes) == (file.shape, dict(file.sizes))
    assert held.values.dtype == file.values.dtype
    assert held.values.tobytes() == file.values.tobytes() if file.dtype != object else held.values.tolist() == file.values.tolist()


def same_cube(held: PlainCube, file: xr.Dataset) -> None:
    assert list(map(str, sorted(held.variables))) == sorted(map(str, file.variables))
    assert set(held.coords) == set(map(str, file.coords))
    assert held.attrs == file.attrs
    assert held.sizes == dict(file.sizes)
    for name, array in held.variables.items():
        same_array(array, file[name])
        assert dict(array.attrs) == {key: value for key, value in file[name].attrs.items() if key != "_FillValue"}


@pytest.fixture(params=["held", "stored"])
def both(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[tuple[Path, Path]]:
    write(tmp_path / "files")
    if request.param == "stored":
        yield tmp_path / "files", tmp_path / "files"
        return
    with hold_cubes(tmp_path / "held"):
        write(tmp_path / "held")
        yield tmp_path / "held", tmp_path / "files"


def open_both(both: tuple[Path, Path]) -> tuple[Any, xr.Dataset]:
    return read_cubes(both[0])["news/<1>"], open_cubes(both[1])["news/<1>"]


def test_a_plain_cube_is_that_of_xarray(both: tuple[Path, Path]) -> None:
    held, file = open_both(both)
    assert isinstance(held, PlainCube)
    assert isinstance(file, xr.Dataset)
    same_cube(held, file)
    assert both[0].exists() == (both[0] == both[1])


def test_plain_statistics_are_those_of_xarray(both: tuple[Path, Path]) -> None:
    held, file = read_statistics(both[0], "news/<1>"), open_statistics(both[1], "news/<1>")
    assert isinstance(held["bleu"], PlainCube)
    assert list(held) == list(file) == ["bleu"]
    same_cube(held["bleu"], file["bleu"])
    assert "document" in held["bleu"].coords


def test_parts_are_chosen_alike(both: tuple[Path, Path]) -> None:
    held, file = open_both(both)
    for name, where in [
        ("observed_delta", {"metric": "bleu", "test_size": "full"}),
        ("count_at_zero", {"metric": "ter", "test_size": "full", "procedure": "approximate-randomization"}),
        ("n_units", {"test_size": "full"}),
        ("observed_score", {"system": "机器", "metric": "bleu", "test_size": "full"}),
    ]:
        same_array(held[name].sel(where), file[name].sel(where))
        same_array(held[name].sel(**where), file[name].sel(**where))
    where = {"metric": "bleu", "test_size": "100"}
    for part in (slice(8, 20), 12, np.int64(-2)):
        same_array(held["score"].sel(where).isel(replicate=part), file["score"].sel(where).isel(replicate=part))
    same_array(held["observed_score"][0][1:], file["observed_score"][0][1:])
    units = (cube["n_units"].sel(test_size="full") for cube in (held, file))
    assert [(int(one), one.item()) for one in units] == [(997, 997)] * 2
    assert "p" in held
    assert "q" not in held


@pytest.mark.parametrize("where", [{"metric": "chrf"}, {"metrics": "bleu"}, {"replicate": 1}])
def test_an_unknown_label_or_dimension_is_an_error(both: tuple[Path, Path], where: dict) -> None:
    for cube in open_both(both):
        with pytest.raises(KeyError):
            cube["observed_delta"].sel(where)


def test_other_attributes_are_those_of_the_copy_alone(both: tuple[Path, Path]) -> None:
    cube, _ = open_both(both)
    changed = cube.assign_attrs({"alpha": 0.1}, family="all")
    assert (changed.attrs["alpha"], changed.attrs["family"], cube.attrs["alpha"]) == (0.1, "all", 0.05)


def test_nothing_is_held_after_the_block_nor_of_a_cube_that_fails(tmp_path: Path) -> None:
    with hold_cubes(tmp_path):
        write(tmp_path, "one")
        layout = CubeLayout("s", "other", [MetricInfo("bleu", "")], [("full", 9)], ["a", "b"], np.array([(0, 1)]), 9)
        with pytest.raises(RuntimeError), CubeWriter(tmp_path, layout):
            raise RuntimeError
        write(tmp_path, "another")
        assert list(open_cubes(tmp_path)) == ["another", "one"]
    write(tmp_path, "a file")
    assert list(open_cubes(tmp_path)) == ["a file"]


def test_a_region_in_files_has_no_steps(tmp_path: Path) -> None:
    write(tmp_path)
    with pytest.raises(ValueError, match="without steps"):
        read_cubes(tmp_path)["news/<1>"]["score"].isel(replicate=slice(0, 9, 2))


@pytest.mark.parametrize("part", ["observed_delta/c.0.0.0", "observed_delta/zarr.json", "metric/c.0", "zarr.json", "se"])
@pytest.mark.parametrize("missing", [True, False])
def test_damage_is_told_as_through_xarray(tmp_path: Path, part: str, missing: bool) -> None:
    write(tmp_path)
    (damaged,) = tmp_path.glob(f"*/{part}")
    if damaged.is_dir():
        shutil.rmtree(damaged)
    elif missing:
        damaged.unlink()
    else:
        damaged.write_bytes(damaged.read_bytes()[:-1])
    told = []
    for opened in (read_cubes, open_cubes):
        with pytest.raises(StoreError) as error:
            assert opened(tmp_path)["news/<1>"]["observed_delta"].values.any()
        told.append(error.value.problems)
    assert told[0] == told[1]


@pytest.mark.filterwarnings("ignore:Object at (se|observed_delta) is not recognized")  # Zarr is asked what it makes of the file
@pytest.mark.parametrize(
    ("part", "content"),
    [
        ("observed_delta/c.0.0.0", None),
        ("observed_delta", b"a file in place of a folder"),
        ("metric/c.0", None),
        ("se", b"a file in place of a folder"),
        ("observed_delta/checksums.json", b"[1]"),
    ],
)
def test_folders_and_files_in_place_of_each_other_are_damage(tmp_path: Path, part: str, content: bytes | None) -> None:
    write(tmp_path)
    (damaged,) = tmp_path.glob(f"*/{part}")
    shutil.rmtree(damaged) if damaged.is_dir() else damaged.unlink()
    damaged.mkdir() if content is None else damaged.write_bytes(content)
    with pytest.raises(StoreError) as error:
        assert read_cubes(tmp_path)["news/<1>"]["observed_delta"].values.any()
    assert {problem.code for problem in error.value.problems} <= {"P707", "P708"}
    assert verify_cubes(tmp_path)


def test_what_cannot_be_read_is_told_with_its_place(tmp_path: Path) -> None:
    write(tmp_path)
    (chunk,) = tmp_path.glob("*/observed_delta/c.0.0.0")
    chunk.unlink()
    chunk.symlink_to(chunk.name)  # to itself: the system fails to read it, also for root
    with pytest.raises(StoreError) as error:
        assert read_cubes(tmp_path)["news/<1>"]["observed_delta"].values.any()
    (problem,) = error.value.problems
    assert (problem.code, problem.where) == ("P703", str(chunk))


@pytest.mark.parametrize(("there", "other"), [('"separator": "."', '"separator": "/"'), ('"little"', '"big"')])
def test_chunks_of_other_names_or_orders_of_bytes_are_left_to_xarray(tmp_path: Path, there: str, other: str) -> None:
    write(tmp_path)
    (described,) = tmp_path.glob("*/se/zarr.json")
    described.write_text(described.read_text().replace(there, other))
    (listed,) = tmp_path.glob("*/se/checksums.json")
    listed.write_text(json.dumps(json.loads(listed.read_text()) | {"zarr.json": zlib.crc32(described.read_bytes())}))
    assert isinstance(read_cubes(tmp_path)["news/<1>"], xr.Dataset)


def test_chunks_in_folders_of_earlier_versions_are_read_and_held_to_their_checksums(tmp_path: Path) -> None:
    write(tmp_path)
    expected = read_cubes(tmp_path)["news/<1>"]["se"].values
    (array,) = tmp_path.glob("*/se")
    sums = json.loads((array / "checksums.json").read_text())
    for chunk in array.glob("c.*"):
        older = chunk.name.replace(".", "/")
        (array / older).parent.mkdir(parents=True, exist_ok=True)
        sums[older] = sums.pop(chunk.name)
        chunk.rename(array / older)
    described = array / "zarr.json"
    described.write_text(described.read_text().replace('"separator": "."', '"separator": "/"'))
    (array / "checksums.json").write_text(json.dumps(sums | {"zarr.json": zlib.crc32(described.read_bytes())}))
    assert verify_cubes(tmp_path) == []
    assert read_cubes(tmp_path)["news/<1>"]["se"].values.tobytes() == expected.tobytes()
    chunk = next(path for path in (array / "c").rglob("*") if path.is_file())
    chunk.write_bytes(chunk.read_bytes()[:-1])
    with pytest.raises(StoreError, match=r"P707: chunk \d/\d/\d of the variable 'se' is damaged"):
        assert read_cubes(tmp_path)["news/<1>"]["se"].values.any()
    assert [problem.code for problem in verify_cubes(tmp_path)] == ["P707"]


def test_what_an_older_version_wrote_is_left_to_xarray(tmp_path: Path) -> None:
    write(tmp_path)
    (described,) = tmp_path.glob("*/zarr.json")
    for seal in tmp_path.glob("*/*/checksums.json"):
        seal.unlink()
    described.write_text(described.read_text().replace('"schema_version": 4', '"schema_version": 3'))
    assert isinstance(read_cubes(tmp_path)["news/<1>"], xr.Dataset)
