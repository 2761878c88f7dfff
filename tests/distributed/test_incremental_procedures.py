"""A procedure more, or a system more, costs what is new: nothing that is there is counted again, for any procedure."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from support.studies import files_of, ledger, text_study
from test_incremental import computed_pairs, pairs_of

from pipeline.api import run as run_study
from pipeline.cubes.reading import open_cubes

FOUR = ("alpha", "beta", "gamma", "delta")
BOOTSTRAP, RANDOMIZATION = "paired-bootstrap", "approximate-randomization"
SIZES = 2


def study(folder: Path, *procedures: str, systems: tuple[str, ...] = FOUR) -> Path:
    resampling = {"replicates": 40_000, "keep_replicates": 20_000, "test_sizes": [20, "full"], "procedures": list(procedures)}
    return text_study(folder, systems, resampling=resampling, analyses=[])


def run(asked: Path, runs: Path) -> Path:
    return run_study(asked, runs=runs, serial=True).root


def cube_of(directory: Path) -> xr.Dataset:
    (cube,) = open_cubes(directory / "cubes.zarr").values()
    return cube


def kinds(directory: Path) -> list[str]:
    return [entry["receipt"]["kind"] for entry in ledger(directory) if entry["event"] == "done"]


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("runs")


@pytest.fixture(scope="module")
def one(runs: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return run(study(tmp_path_factory.mktemp("one"), BOOTSTRAP), runs)


@pytest.fixture(scope="module")
def both(runs: Path, one: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return run(study(tmp_path_factory.mktemp("both"), BOOTSTRAP, RANDOMIZATION), runs)


@pytest.fixture(scope="module")
def five(runs: Path, both: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return run(study(tmp_path_factory.mktemp("five"), BOOTSTRAP, RANDOMIZATION, systems=(*FOUR, "epsilon")), runs)


def test_a_new_procedure_costs_its_own_cells_only(one: Path, both: Path) -> None:
    assert computed_pairs(one) == computed_pairs(both) == 6 * SIZES
    assert "extract" not in kinds(both)
    labels = [e["receipt"]["label"] for e in ledger(both) if e["event"] == "done" and e["receipt"]["kind"] == "resample"]
    assert all(RANDOMIZATION in label for label in labels)


def test_a_new_procedure_changes_no_number_of_the_first(one: Path, both: Path) -> None:
    old, new = cube_of(one), cube_of(both).sel(procedure=[BOOTSTRAP])
    assert set(old.variables) == set(new.variables)
    for name in old.variables:
        np.testing.assert_array_equal(old[name].values, new[name].values, err_msg=str(name))


def test_a_new_system_costs_its_own_pairs_by_each_procedure(five: Path) -> None:
    assert computed_pairs(five) == 2 * 4 * SIZES
    assert kinds(five).count("extract") == 1


def test_a_new_system_changes_no_number_of_another_pair(both: Path, five: Path) -> None:
    old, new = cube_of(both), cube_of(five)
    before, after = pairs_of(old), pairs_of(new)
    for name in ("p_value", "histogram", "count_below_zero", "count_above_twice_delta", "sum_shift", "sum_absolute", "bias"):
        for pair, i in before.items():
            two = new[name].isel(pair=after[pair]).values
            np.testing.assert_array_equal(old[name].isel(pair=i).values, two, err_msg=name)


def test_what_was_computed_bit_by_bit_is_what_is_computed_at_once(five: Path, tmp_path: Path) -> None:
    whole = run(study(tmp_path / "all", BOOTSTRAP, RANDOMIZATION, systems=(*FOUR, "epsilon")), tmp_path / "fresh")
    assert computed_pairs(whole) == 2 * 10 * SIZES
    assert files_of(whole / "cubes.zarr") == files_of(five / "cubes.zarr")
    assert (whole / "report" / "report.json").read_bytes() == (five / "report" / "report.json").read_bytes()


def test_the_order_of_procedures_moves_columns_and_computes_nothing(both: Path, runs: Path, tmp_path: Path) -> None:
    turned = run(study(tmp_path / "turned", RANDOMIZATION, BOOTSTRAP), runs)
    assert kinds(turned) == ["collect", "report"]
    cube = cube_of(turned)
    assert cube["procedure"].values.tolist() == [RANDOMIZATION, BOOTSTRAP]
    straight = cube_of(both).sel(procedure=[RANDOMIZATION, BOOTSTRAP])
    np.testing.assert_array_equal(cube["p_value"].values, straight["p_value"].values)
    np.testing.assert_array_equal(cube["score"].values, straight["score"].values)


def test_the_first_procedure_alone_finds_all_it_needs(both: Path, runs: Path, tmp_path: Path) -> None:
    alone = run(study(tmp_path / "alone", RANDOMIZATION), runs)
    assert kinds(alone) == ["collect", "report"]
    np.testing.assert_array_equal(cube_of(alone)["p_value"].values[0], cube_of(both)["p_value"].values[1])
