"""Cubes held in memory: they say what the files of the same cube say."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

from pipeline.cubes.cube import CubeWriter
from pipeline.cubes.held import HeldArray, HeldCube, hold_cubes
from pipeline.cubes.layout import CubeLayout, MetricInfo
from pipeline.cubes.reading import open_cubes, open_statistics

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
        cube.write_observed("bleu", "full", score=rng.random(3), delta=rng.random(3), **same)
        for first in (0, 2):
            about = {"ids": ["i", "机", ""], "units": [0, 0, 1], "statistics": ["n", "d"], "decimals": [2, 0]}
            part = rng.integers(0, 99, (2 if first == 0 else 1, 3, 2))
            cube.write_statistics("bleu", part, **about, groups={"document": [4, 4, 2]}, first_system=first)


def same_array(held: HeldArray, file: xr.DataArray) -> None:
    assert held.dims == file.dims
    assert (held.shape, held.sizes) == (file.shape, dict(file.sizes))
    assert held.values.dtype == file.values.dtype
    assert held.values.tobytes() == file.values.tobytes() if file.dtype != object else held.values.tolist() == file.values.tolist()


def same_cube(held: HeldCube, file: xr.Dataset) -> None:
    assert list(map(str, sorted(held.variables))) == sorted(map(str, file.variables))
    assert set(held.coords) == set(map(str, file.coords))
    assert held.attrs == file.attrs
    assert held.sizes == dict(file.sizes)
    for name, array in held.variables.items():
        same_array(array, file[name])
        assert dict(array.attrs) == {key: value for key, value in file[name].attrs.items() if key != "_FillValue"}


@pytest.fixture
def both(tmp_path: Path) -> Iterator[tuple[Path, Path]]:
    write(tmp_path / "files")
    with hold_cubes(tmp_path / "held"):
        write(tmp_path / "held")
        yield tmp_path / "held", tmp_path / "files"


def test_a_held_cube_is_that_of_the_files(both: tuple[Path, Path]) -> None:
    held, file = (open_cubes(path)["news/<1>"] for path in both)
    assert isinstance(held, HeldCube)
    assert isinstance(file, xr.Dataset)
    same_cube(held, file)
    assert not both[0].exists()


def test_held_statistics_are_those_of_the_files(both: tuple[Path, Path]) -> None:
    held, file = (open_statistics(path, "news/<1>") for path in both)
    assert list(held) == list(file) == ["bleu"]
    same_cube(held["bleu"], file["bleu"])
    assert "document" in held["bleu"].coords


def test_parts_are_chosen_alike(both: tuple[Path, Path]) -> None:
    held, file = (open_cubes(path)["news/<1>"] for path in both)
    for name, where in [
        ("observed_delta", {"metric": "bleu", "test_size": "full"}),
        ("count_at_zero", {"metric": "ter", "test_size": "full", "procedure": "approximate-randomization"}),
        ("n_units", {"test_size": "full"}),
        ("observed_score", {"system": "机器", "metric": "bleu", "test_size": "full"}),
    ]:
        same_array(held[name].sel(where), file[name].sel(where))
        same_array(held[name].sel(**where), file[name].sel(**where))
    where = {"metric": "bleu", "test_size": "100"}
    for part in (slice(8, 20), 12):
        same_array(held["score"].sel(where).isel(replicate=part), file["score"].sel(where).isel(replicate=part))
    same_array(held["observed_score"][0][1:], file["observed_score"][0][1:])
    units = (cube["n_units"].sel(test_size="full") for cube in (held, file))
    assert [(int(one), one.item()) for one in units] == [(997, 997)] * 2
    assert "p" in held
    assert "q" not in held


@pytest.mark.parametrize("where", [{"metric": "chrf"}, {"metrics": "bleu"}, {"replicate": 1}])
def test_an_unknown_label_or_dimension_is_an_error(both: tuple[Path, Path], where: dict) -> None:
    for path in both:
        with pytest.raises(KeyError):
            open_cubes(path)["news/<1>"]["observed_delta"].sel(where)


def test_other_attributes_are_those_of_the_copy_alone(both: tuple[Path, Path]) -> None:
    cube = open_cubes(both[0])["news/<1>"]
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
