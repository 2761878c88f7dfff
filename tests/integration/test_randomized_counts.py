"""Counts of approximate randomization in a finished cube, computed again with plain NumPy on the same swaps."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr
from numpy.typing import NDArray
from support.studies import PAGES, text_study, write_scores, write_study
from test_cube_counts import NAMES, bleu

from pipeline.api import run
from pipeline.cubes.reading import open_cubes, open_statistics
from pipeline.resampling.address import draw_key
from pipeline.resampling.draws import Draws
from pipeline.resampling.swaps import draw_swaps

REPLICATES = 17_000  # one cell and a part
FEWER = 1500
RANDOMIZATION = "approximate-randomization"


@pytest.fixture(scope="module")
def score_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("scores")
    write_scores(folder / "scores.csv", ["a", "b", "c"], items=12)
    resampling = {"replicates": REPLICATES, "test_sizes": [5, "full"], "procedures": ["paired-bootstrap", RANDOMIZATION]}
    test_sets = {"bench": {"format": "scores", "outputs": "scores.csv"}}
    study = write_study(folder / "study.yaml", test_sets=test_sets, metrics=["mean"], resampling=resampling)
    return run(study, runs=folder / "runs", serial=True).root


@pytest.fixture(scope="module")
def text_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("text")
    resampling = {"replicates": FEWER, "procedures": [RANDOMIZATION]}
    return run(text_study(folder, ("a", "b", "c"), resampling=resampling, report=PAGES), runs=folder / "runs", serial=True).root


def swaps_of(cube: xr.Dataset, size: str) -> NDArray[np.bool_]:
    n = int(cube["n_units"].sel(test_size=size))
    address = {"seed": cube.attrs["seed"], "test_set": cube.attrs["test_set"], "size": size, "rule": "prefix"}
    key = draw_key(purpose=RANDOMIZATION, **address)
    return draw_swaps(Draws(key=key, n_units=n, n_draws=n), 0, cube.attrs["replicates"]) > 0


def counts_in(cube: xr.Dataset, metric: str, size: str) -> NDArray[np.int64]:
    at: dict[str, Any] = {"metric": metric, "test_size": size, "procedure": RANDOMIZATION}
    return np.stack([cube[f"count_{name}"].sel(at).values.sum(-1) for name in NAMES], axis=-1)


def count(gain: float, found: NDArray[np.float64], slack: float) -> list[int]:
    """Count δ° below, at and above −δ, 0 and δ, in the order of `NAMES`."""
    delta, found = (-gain, -found) if gain < 0 else (gain, found)
    tests = (found < -delta - slack, abs(found + delta) <= slack, found < -slack, abs(found) <= slack)
    return [int(test.sum()) for test in (*tests, abs(found - delta) <= slack, found > delta + slack)]


@pytest.mark.parametrize("size", ["5", "full"])
def test_counts_of_a_mean_are_those_of_plain_numpy_ties_included(score_run: Path, size: str) -> None:
    ((test_set, cube),) = open_cubes(score_run / "cubes.zarr").items()
    statistics = open_statistics(score_run / "cubes.zarr", test_set)["mean"]["statistics"].values
    swaps = swaps_of(cube, size)
    signs = np.where(swaps, -1, 1)
    expected = []
    for a, b in zip(cube["a"].values.tolist(), cube["b"].values.tolist(), strict=True):
        differences = (statistics[a] - statistics[b])[: swaps.shape[1], 0]
        expected.append(count(int(differences.sum()), signs @ differences, 0))
    np.testing.assert_array_equal(counts_in(cube, "mean", size), expected)
    assert np.asarray(expected)[:, [1, 3, 4]].sum() > 0  # there were ties to get right


def test_sums_and_histogram_are_of_the_gain_after_the_swaps(score_run: Path) -> None:
    ((test_set, cube),) = open_cubes(score_run / "cubes.zarr").items()
    statistics = open_statistics(score_run / "cubes.zarr", test_set)["mean"]["statistics"].values
    signs = np.where(swaps_of(cube, "full"), -1, 1)
    where = {"metric": "mean", "test_size": "full"}
    here = cube.sel(where | {"procedure": RANDOMIZATION})
    for pair, (a, b) in enumerate(zip(cube["a"].values.tolist(), cube["b"].values.tolist(), strict=True)):
        delta, se = (float(cube[name].sel(where).values[pair]) for name in ("observed_delta", "se"))
        differences = (statistics[a] - statistics[b])[:, 0]
        found = signs @ differences * (abs(delta) / differences.sum())  # of the pair ordered by its gain
        sums = [here[f"sum_{name}"].values[pair].sum() for name in ("shift", "squared_shift", "absolute")]
        np.testing.assert_allclose(sums, [found.sum(), (found**2).sum(), abs(found).sum()], rtol=1e-9)
        bins = np.clip(np.floor(found / se * 4 + 48 + 2.0**-20), 0, 95).astype(int)
        np.testing.assert_array_equal(here["histogram"].values[pair], np.bincount(bins, minlength=96))


def test_counts_of_bleu_are_those_of_plain_numpy_on_swapped_segments(text_run: Path) -> None:
    ((test_set, cube),) = open_cubes(text_run / "cubes.zarr").items()
    statistics = open_statistics(text_run / "cubes.zarr", test_set)["bleu"]["statistics"].values
    swaps = swaps_of(cube, "full")
    expected = []
    for a, b in zip(cube["a"].values.tolist(), cube["b"].values.tolist(), strict=True):
        one, two = statistics[a].sum(0), statistics[b].sum(0)
        moved = swaps.astype(np.int64) @ (statistics[b] - statistics[a])  # what the swapped segments bring to the first system
        gains = np.array([bleu(one + sums) - bleu(two - sums) for sums in moved])
        expected.append(count(bleu(one) - bleu(two), gains, 1e-10))
    np.testing.assert_array_equal(counts_in(cube, "bleu", "full"), expected)


def test_p_values_are_the_counts_over_the_replicates_and_nothing_else_is_filled(score_run: Path) -> None:
    (cube,) = open_cubes(score_run / "cubes.zarr").values()
    counts = counts_in(cube, "mean", "full")
    p = cube["p_value"].sel(metric="mean", test_size="full", procedure=RANDOMIZATION)
    hits = counts[:, [5, 4, 0, 1]].sum(1)
    np.testing.assert_array_equal(p.sel(convention="two-sided-plus-one").values, (hits + 1) / (REPLICATES + 1))
    np.testing.assert_array_equal(p.sel(convention="two-sided").values, hits / REPLICATES)
    np.testing.assert_array_equal(p.sel(convention="one-sided").values, counts[:, 5] / REPLICATES)
    at = {"metric": "mean", "procedure": RANDOMIZATION}
    for convention in ("below-zero", "at-or-below-zero", "one-sided-plus-one"):
        for name in ("p_value", "log10_p", "p_error", "p_by_adjustment"):
            assert np.isnan(cube[name].sel(at | {"convention": convention}).values).all()
        assert (cube["method"].sel(at | {"convention": convention}).values == -1).all()
    assert np.isnan(cube["bias"].sel(at).values).all()
    assert (cube["count_margin_above"].sel(at).values == -1).all()
    assert np.isfinite(cube["bias"].sel(metric="mean", procedure="paired-bootstrap").values).all()


def test_a_study_of_swaps_alone_keeps_no_scores_and_reports_all_the_same(text_run: Path) -> None:
    (cube,) = open_cubes(text_run / "cubes.zarr").values()
    assert "score" not in cube
    assert cube.attrs["kept"] == 0
    assert cube["histogram"].sel(metric="bleu", test_size="full", procedure=RANDOMIZATION).values.sum(-1).tolist() == [FEWER] * 3
    assert (text_run / "report" / "index.html").is_file()
