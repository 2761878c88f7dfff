"""What exists is used again: the same study at once, another system for the price of its pairs."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from support.studies import files_of, ledger, run_cli, text_study, times_done, write_study

from pipeline.api import open_run
from pipeline.cubes.reading import open_cubes
from pipeline.plan.task import unpack_mask

FIVE = ("alpha", "beta", "gamma", "delta", "epsilon")
SIX = (*FIVE, "zeta")


def run(study: Path, runs: Path, *options: object) -> Path:
    done = run_cli("run", study, "--runs", runs, "--serial", *options)
    assert done.returncode == 0, done.stderr
    return Path(done.stdout.strip())


def computed_pairs(directory: Path) -> int:
    """Pairs that this run itself resampled, once for each test size."""
    receipts = [e["receipt"] for e in ledger(directory) if e["event"] == "done" and e["receipt"]["kind"] == "resample"]
    groups = {e["name"]: e for e in ledger(directory) if e["event"] == "group"}
    covered = set()
    for column in (column for receipt in receipts for column in receipt["covers"]["columns"]):
        pairs = list(combinations(groups[column["group"]]["systems"], 2))
        asked = unpack_mask(groups[column["group"]]["pairs"], len(pairs))
        covered |= {(column["column"], *sorted(pair)) for pair, wanted in zip(pairs, asked, strict=True) if wanted}
    return len(covered)


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("runs")


@pytest.fixture(scope="module")
def five(runs: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return run(text_study(tmp_path_factory.mktemp("five"), FIVE), runs)


@pytest.fixture(scope="module")
def six(runs: Path, five: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    # The new system stands in the middle: positions change, numbers must not.
    order = ("alpha", "zeta", "beta", "gamma", "delta", "epsilon")
    folder = tmp_path_factory.mktemp("six")
    study = text_study(folder, SIX)
    text = study.read_text()
    lines = {name: next(line for line in text.split("\n") if line.strip().startswith(f"{name}:")) for name in SIX}
    body = "\n".join(lines[name] for name in order)
    study.write_text(text.replace("\n".join(lines[name] for name in SIX), body))
    return run(study, runs)


def pairs_of(cube: xr.Dataset) -> dict[frozenset[str], int]:
    names = zip(cube["system_a"].values.tolist(), cube["system_b"].values.tolist(), strict=True)
    return {frozenset(pair): i for i, pair in enumerate(names)}


def test_the_same_study_again_is_the_same_run_and_does_nothing(five: Path, runs: Path, tmp_path: Path) -> None:
    before = (five / "ledger.jsonl").read_bytes()
    again = run(text_study(tmp_path / "elsewhere", FIVE), runs)
    assert again == five
    assert (five / "ledger.jsonl").read_bytes() == before


def test_a_new_system_costs_its_own_pairs_only(five: Path, six: Path) -> None:
    sizes = 2
    assert computed_pairs(five) == 10 * sizes
    assert computed_pairs(six) == 5 * sizes
    kinds = [e["receipt"]["kind"] for e in ledger(six) if e["event"] == "done"]
    assert kinds.count("extract") == 1
    assert set(times_done(six).values()) == {1}


def test_a_new_system_changes_no_number_of_another_pair(five: Path, six: Path) -> None:
    ((_, old),) = open_cubes(five / "cubes.zarr").items()
    ((_, new),) = open_cubes(six / "cubes.zarr").items()
    before, after = pairs_of(old), pairs_of(new)
    assert len(after) == 15
    assert [str(s) for s in new["system"].values] == ["alpha", "zeta", "beta", "gamma", "delta", "epsilon"]
    family = {"p_adjusted", "p_by_adjustment", "stable"}  # of all pairs together: they may change
    tested = [name for name, variable in old.data_vars.items() if "pair" in variable.dims and name not in family]
    assert {"p_value", "histogram", "count_above_twice_delta", "sum_shift", "se"} <= set(tested)
    for pair, i in before.items():
        j = after[pair]
        turned = old["system_a"].values[i] != new["system_a"].values[j]
        for name in tested:
            sign = -1 if turned and name == "observed_delta" else 1
            np.testing.assert_array_equal(old[name].isel(pair=i).values, sign * new[name].isel(pair=j).values, err_msg=str(name))
    shared = [str(s) for s in old["system"].values]
    np.testing.assert_array_equal(old["score"].sel(system=shared).values, new["score"].sel(system=shared).values)


def test_the_new_run_has_the_bits_of_one_that_computed_everything(six: Path, tmp_path: Path) -> None:
    study = text_study(tmp_path / "all", SIX)
    whole = run(study, tmp_path / "fresh")
    assert computed_pairs(whole) == 15 * 2
    (_, fresh), (_, grown) = (
        next(iter(open_cubes(whole / "cubes.zarr").items())),
        next(iter(open_cubes(six / "cubes.zarr").items())),
    )
    a, b = pairs_of(fresh), pairs_of(grown)
    for pair, i in a.items():
        np.testing.assert_array_equal(fresh["p_value"].isel(pair=i).values, grown["p_value"].isel(pair=b[pair]).values)
        for name in ("p_by_adjustment", "p_adjusted"):
            np.testing.assert_array_equal(fresh[name].isel(pair=i).values, grown[name].isel(pair=b[pair]).values)
    assert files_of(six / "cubes.zarr").keys() == files_of(whole / "cubes.zarr").keys()


@pytest.mark.slow
def test_more_replicates_use_the_whole_cells_there_are(five: Path, runs: Path, tmp_path: Path) -> None:
    study = text_study(tmp_path / "more", FIVE)
    more = run(study, runs, "-b", 60_000)
    cells = sorted(
        (receipt["covers"]["first_cell"], receipt["covers"]["stop_cell"])
        for receipt in (e["receipt"] for e in ledger(more) if e["event"] == "done")
        if receipt["kind"] == "resample"
    )
    # 40 000 replicates are cells 0, 1 and a part of 2; 60 000 are 0 to 3: only 2 and 3 are new.
    assert {cell for first, stop in cells for cell in range(first, stop)} == {2, 3}


@pytest.mark.slow
def test_a_system_taken_away_needs_no_resampling(five: Path, runs: Path, tmp_path: Path) -> None:
    fewer = run(text_study(tmp_path / "fewer", FIVE[:4]), runs)
    assert computed_pairs(fewer) == 0


def score_study(folder: Path, tables: dict[str, list[str]]) -> Path:
    """Write one file of scores a system, with the decimals its numbers have."""
    folder.mkdir(parents=True)
    for system, numbers in tables.items():
        rows = [f"i{i},{number}" for i, number in enumerate(numbers)]
        (folder / f"{system}.csv").write_text("item,score\n" + "\n".join(rows) + "\n")
    test_sets = {"bench": {"format": "scores", "outputs": "{system}.csv"}}
    return write_study(folder / "study.yaml", test_sets=test_sets, metrics=["mean"])


def test_a_system_with_more_decimals_moves_no_bit_of_the_others(tmp_path: Path) -> None:
    rng = np.random.default_rng(4)
    coarse = {name: [f"{x:.1f}" for x in rng.normal(50, 9, 40)] for name in ("a", "b", "c")}
    fine = {**coarse, "d": [f"{x:.4f}" for x in rng.normal(50, 9, 40)]}
    old = open_run(run(score_study(tmp_path / "old", coarse), tmp_path / "runs"))["bench"]
    for grown in (
        run(score_study(tmp_path / "grown", fine), tmp_path / "runs"),  # adopts what the old one counted
        run(score_study(tmp_path / "fresh", fine), tmp_path / "other"),  # counts all of it with the finer lattice
    ):
        new = open_cubes(grown / "cubes.zarr")["bench"]
        before, after = pairs_of(old), pairs_of(new)
        for name in ("p_value", "histogram", "sum_shift", "sum_squared_shift", "sum_absolute", "bias", "se", "observed_delta"):
            for pair, i in before.items():
                one, two = old[name].isel(pair=i).values, new[name].isel(pair=after[pair]).values
                np.testing.assert_array_equal(one, two, err_msg=name)
