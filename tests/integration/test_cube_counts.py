"""Every count in a finished cube, computed again with plain NumPy on the same draws, from the statistics the cube holds."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr
from numpy.typing import NDArray
from support.studies import text_study, write_scores, write_study

from pipeline.api import run
from pipeline.cubes.reading import open_cubes, open_statistics
from pipeline.resampling.address import draw_key
from pipeline.resampling.draws import Draws, draw_units

REPLICATES = 17_000  # one cell and a part
SAMPLED = 400  # replicates recomputed, spread over both cells


def bleu(sums: NDArray[np.int64]) -> float:
    """BLEU from summed statistics by the textbook, with the mathematics library; exponential smoothing."""
    hypothesis, reference, *rest = (int(v) for v in sums)
    matches, totals = rest[:4], rest[4:]
    if not any(matches) or not all(totals):
        return 0.0
    smooth, logs = 1, []
    for match, total in zip(matches, totals, strict=True):
        smooth = smooth if match else smooth * 2
        logs.append(math.log(match / total if match else 1 / (smooth * total)))
    return 100 * math.exp(min(0.0, 1 - reference / hypothesis)) * math.exp(sum(logs) / 4)


def mean(sums: NDArray[np.int64]) -> float:
    return int(sums[0]) / int(sums[1])


def make_draws(cube: xr.Dataset, size: str) -> Draws:
    n = int(cube["n_units"].sel(test_size=size))
    key = draw_key(seed=cube.attrs["seed"], purpose="paired-bootstrap", test_set=cube.attrs["test_set"], size=size, rule="prefix")
    return Draws(key=key, n_units=n, n_draws=n)


def recount(
    cube: xr.Dataset, statistics: NDArray[np.int64], size: str, score: Callable[[NDArray[np.int64]], float]
) -> NDArray[np.int64]:
    """Count (pair, [below zero, at zero, below δ, at δ, at 2δ, above 2δ]) over all replicates, drawn and scored one at a time."""
    draws = make_draws(cube, size)
    observed = np.array([score(sums) for sums in statistics[:, : draws.n_units].sum(1)])
    drawn = (draw_units(draws, replicate) for replicate in range(int(cube.attrs["replicates"])))
    sampled = np.array([[score(sums) for sums in statistics[:, units].sum(1)] for units in drawn])
    a, b = cube["a"].values, cube["b"].values
    delta, gain = observed[a] - observed[b], sampled[:, a] - sampled[:, b]
    delta, gain = abs(delta), np.where(delta < 0, -gain, gain)
    slack = 1e-10
    tests = (gain < -slack, abs(gain) <= slack, gain < delta - slack, abs(gain - delta) <= slack)
    tests = (*tests, abs(gain - 2 * delta) <= slack, gain > 2 * delta + slack)
    return np.stack([test.sum(0) for test in tests], axis=-1)


NAMES = ("below_zero", "at_zero", "below_delta", "at_delta", "at_twice_delta", "above_twice_delta")


def counts_in(cube: xr.Dataset, metric: str, size: str) -> NDArray[np.int64]:
    at: dict[str, Any] = {"metric": metric, "test_size": size, "procedure": "paired-bootstrap"}
    return np.stack([cube[f"count_{name}"].sel(at).values.sum(-1) for name in NAMES], axis=-1)


@pytest.fixture(scope="module")
def text_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("text")
    resampling = {"replicates": REPLICATES, "keep_replicates": REPLICATES, "test_sizes": [20, "full"]}
    return run(text_study(folder, ("a", "b", "c"), resampling=resampling), runs=folder / "runs", serial=True).root


@pytest.fixture(scope="module")
def score_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("scores")
    write_scores(folder / "scores.csv", ["a", "b", "c"], items=12)
    resampling = {"replicates": REPLICATES, "keep_replicates": 100}
    test_sets = {"bench": {"format": "scores", "outputs": "scores.csv"}}
    study = write_study(folder / "study.yaml", test_sets=test_sets, metrics=["mean"], resampling=resampling)
    return run(study, runs=folder / "runs", serial=True).root


def test_kept_scores_are_those_of_plain_numpy_on_the_same_draws(text_run: Path) -> None:
    ((test_set, cube),) = open_cubes(text_run / "cubes.zarr").items()
    statistics = open_statistics(text_run / "cubes.zarr", test_set)["bleu"]["statistics"].values
    for size in ("20", "full"):
        kept, draws = cube["score"].sel(metric="bleu", test_size=size).values, make_draws(cube, size)
        for replicate in np.linspace(0, REPLICATES - 1, SAMPLED).astype(int).tolist():
            units = draw_units(draws, replicate)
            expected = [bleu(s[units].sum(0)) for s in statistics]
            np.testing.assert_allclose(kept[:, replicate], expected, rtol=1e-13)


@pytest.mark.parametrize("size", ["20", "full"])
def test_counts_of_bleu_are_those_of_plain_numpy_on_the_same_draws(text_run: Path, size: str) -> None:
    ((test_set, cube),) = open_cubes(text_run / "cubes.zarr").items()
    statistics = open_statistics(text_run / "cubes.zarr", test_set)["bleu"]["statistics"].values
    np.testing.assert_array_equal(counts_in(cube, "bleu", size), recount(cube, statistics, size, bleu))


def test_counts_of_a_mean_are_those_of_plain_numpy_ties_included(score_run: Path) -> None:
    ((test_set, cube),) = open_cubes(score_run / "cubes.zarr").items()
    statistics = open_statistics(score_run / "cubes.zarr", test_set)["mean"]["statistics"].values
    counts = counts_in(cube, "mean", "full")
    np.testing.assert_array_equal(counts, recount(cube, statistics, "full", mean))
    assert counts[:, 1].sum() + counts[:, 3].sum() + counts[:, 4].sum() > 0  # there were ties to get right


def test_p_values_are_the_counts_over_the_replicates(text_run: Path) -> None:
    ((_, cube),) = open_cubes(text_run / "cubes.zarr").items()
    counts = counts_in(cube, "bleu", "full")
    p = cube["p_value"].sel(metric="bleu", test_size="full", procedure="paired-bootstrap")
    np.testing.assert_array_equal(p.sel(convention="one-sided").values, counts[:, 5] / REPLICATES)
    np.testing.assert_array_equal(p.sel(convention="two-sided").values, counts[:, [5, 4, 0, 1]].sum(1) / REPLICATES)
    np.testing.assert_array_equal(p.sel(convention="below-zero").values, counts[:, 0] / REPLICATES)
    np.testing.assert_array_equal(
        p.sel(convention="two-sided-plus-one").values, (counts[:, [5, 4, 0, 1]].sum(1) + 1) / (REPLICATES + 1)
    )
