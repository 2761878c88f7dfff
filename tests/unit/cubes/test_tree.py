"""The tree of a run's cubes: every test set is reached, and every pair by the names of its systems."""

from __future__ import annotations

from io import BytesIO
from itertools import permutations, product
from pathlib import Path
from urllib.parse import unquote

import numpy as np
import pytest
import xarray as xr
from support.studies import write_scores, write_study
from support.synthetic_cubes import build_cube

import pipeline
from pipeline.cubes.reading import open_cubes
from pipeline.cubes.tree import node_name, plant_cubes

HOSTILE = ["a/b", "a", "..", ".", "100%", "a%2Fb", "/", " ", "p", "ünïcode/…"]
SYSTEMS = ["x", "y/z", "pair", "*"]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tree")
    write_scores(folder / "scores.csv", SYSTEMS[:3])
    study = write_study(
        folder / "study.yaml",
        metrics=["mean"],
        analyses=["thresholds"],
        resampling={"replicates": 500, "keep_replicates": 0},
        test_sets={name: {"format": "scores", "outputs": "scores.csv"} for name in ("news/2021", "..")},
    )
    return pipeline.run(study, runs=folder / "runs", serial=True).root


@pytest.fixture(scope="module")
def cube() -> xr.DataTree:
    return plant_cubes({"news": build_cube(np.array([50.0, 51.0, 52.5, 55.0]), SYSTEMS)})["news"]


def test_a_run_is_a_tree_whose_nodes_hold_what_its_cubes_hold(run: Path) -> None:
    tree, cubes = pipeline.open_run(run), open_cubes(run / "cubes.zarr")
    assert isinstance(tree, xr.DataTree)
    assert {node.attrs["test_set"]: name for name, node in tree.items()} == {"news/2021": "news%2F2021", "..": "%2E%2E"}
    for node in tree.values():
        cube = cubes[node.attrs["test_set"]]
        assert node.to_dataset().drop_vars(["first", "second"]).identical(cube)
        for a, b in zip(cube["system_a"].values, cube["system_b"].values, strict=True):
            place = int(np.flatnonzero((cube["system_a"].values == a) & (cube["system_b"].values == b))[0])
            assert node["p"].sel(first=a, second=b).drop_vars(["first", "second"]).identical(cube["p"].isel(pair=place))


def test_nothing_but_coordinates_is_read_before_it_is_used(run: Path) -> None:
    node = pipeline.open_run(run)["news%2F2021"]
    chosen = node["p_value"].sel(first=node["system_a"].values[0])
    assert not node.variables["p_value"]._in_memory
    assert not chosen.variable._in_memory
    assert chosen.values.size
    assert chosen.variable._in_memory


def test_every_test_set_has_a_node_of_its_own_whatever_its_name() -> None:
    cubes = {name: build_cube(np.array([k, k + 1.0]), ["x", "y"]).assign_attrs(test_set=name) for k, name in enumerate(HOSTILE)}
    tree = plant_cubes(cubes)
    assert len(tree) == len(HOSTILE)
    for name in HOSTILE:
        assert tree[node_name(name)].attrs["test_set"] == name


def test_names_of_nodes_are_told_apart_and_read_back() -> None:
    names = ["".join(letters) for length in (1, 2, 3, 4) for letters in product("a/%.2F", repeat=length)]
    nodes = [node_name(name) for name in names]
    assert len(set(nodes)) == len(names)
    assert not any("/" in node or node in (".", "..") for node in nodes)
    assert [unquote(node) for node in nodes] == names


def test_every_pair_is_found_in_its_order_and_the_other_order_is_told(cube: xr.DataTree) -> None:
    there = list(zip(cube["system_a"].values, cube["system_b"].values, strict=True))
    for pair in permutations(SYSTEMS, 2):
        names = dict(zip(("first", "second"), pair, strict=True))
        if pair in there:
            assert cube["observed_delta"].sel(names).equals(cube["observed_delta"].isel(pair=there.index(pair)))
        else:
            with pytest.raises(KeyError, match="whose gain has the other sign: swap the names"):
                cube["observed_delta"].sel(names)


def test_one_name_or_several_select_all_their_pairs_and_a_part_can_be_asked_again(cube: xr.DataTree) -> None:
    gains = cube["observed_delta"]
    assert list(gains.sel(first="x")["system_b"].values) == ["y/z", "pair", "*"]
    assert list(gains.sel(second=["*", "y/z"])["system_a"].values) == ["x", "x", "y/z", "pair"]
    part = gains.isel(pair=slice(1, None)).sel(first="x")
    assert list(part["system_b"].values) == ["pair", "*"]
    assert part.sel(first="x", second="*").equals(gains.sel(first="x", second="*"))
    renamed = gains.rename(first="one", second="other", pair="both")
    assert renamed.sel(one="x", other="*").values == gains.sel(first="x", second="*").values


def test_names_in_arrays_of_no_dimension_are_names_and_others_are_not_taken_for_lists(cube: xr.DataTree) -> None:
    gains = cube["observed_delta"]
    pair = {"first": cube["system_a"][1], "second": np.array("pair")}
    assert gains.sel(pair).identical(gains.sel(first="x", second="pair"))
    for name in ("first", "second"):
        with pytest.raises(TypeError, match="not point by point"):
            gains.sel({name: xr.DataArray(["x", "pair"], dims="k")})
    assert list(gains.sel(first=cube["system_a"][[0, 3]].values)["system_a"].values) == ["x", "x", "x", "y/z", "y/z"]


def test_what_is_not_there_is_named(cube: xr.DataTree) -> None:
    with pytest.raises(KeyError, match="no pair has first='x' and second='nobody': no system is named 'nobody'"):
        cube["se"].sel(first="x", second="nobody")
    with pytest.raises(KeyError, match="no pair has second='x'"):
        cube["se"].sel(second="x")
    for asked in (["x", "nobody"], np.array(["nobody", "*"], dtype=object)):  # not left out in silence
        with pytest.raises(KeyError, match="no system is named 'nobody'"):
            cube["se"].sel(first=asked)
    with pytest.raises(KeyError, match=r"no system is named 'pairs' \(did you mean 'pair'\?\)"):
        cube["se"].sel(second=["*", "pairs"])
    with pytest.raises(TypeError, match="not by a range"):
        cube["se"].sel(first=slice("x", "y/z"))


def test_what_is_known_of_systems_under_the_name_of_a_place_is_kept() -> None:
    cube = build_cube(np.array([50.0, 51.0]), SYSTEMS[:2], coords={"first": ["seen", "unseen"]})
    node = plant_cubes({"news": cube})["news"]
    assert node["table_first"].sel(system="y/z").item() == "unseen"
    assert node["first"].values.tolist() == ["x"]


def test_cubes_of_other_pairs_are_not_joined_by_position(cube: xr.DataTree) -> None:
    with pytest.raises((ValueError, NotImplementedError)):
        cube["se"] + cube["se"].isel(pair=slice(None, None, -1))
    assert (cube["se"] + cube["se"]).equals(2 * cube["se"])


def test_what_is_written_and_tabled_has_both_names(cube: xr.DataTree) -> None:
    se = cube.to_dataset()[["se"]]
    assert list(se.to_dataframe()["system_b"]) == list(cube["system_b"].values)
    with xr.open_dataset(BytesIO(se.drop_attrs().to_netcdf())) as read:
        assert list(read["second"].values) == list(cube["system_b"].values)
