"""As many decimals are printed as standard errors deserve: two of their digits, and none of a metric's scores is hidden."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from support.synthetic_cubes import build_cube

import pipeline
from pipeline.analyses.presentation import decimals_of


def cube_of(scores: list[float], errors: list[float] | None = None) -> xr.Dataset:
    cube, named = build_cube(np.zeros(len(scores)), [f"s{k}" for k in range(len(scores))]), ("metric", "test_size", "system")
    given = {"observed_score": scores} | ({} if errors is None else {"score_se": errors})
    return cube.assign({name: (named, np.array(values).reshape(1, 1, -1)) for name, values in given.items()})


@pytest.mark.parametrize(
    ("scores", "errors", "decimals"),
    [
        ([0.8, 0.7, 0.6], [0.04, 0.04, 0.05], 3),  # 200 questions: ± 0.040
        ([0.8, 0.7, 0.6], [0.15, 0.2, 0.3], 3),  # a handful: hundredths would do, but who looks for them asks
        ([0.8, 0.7, 0.6], [0.004, 0.004, 0.005], 4),  # 10,000 questions: ± 0.0040
        ([0.8, 0.7, 0.6], [4e-4, 4e-4, 5e-4], 5),
        ([0.8, 0.7, 0.6], [4e-6, 4e-6, 5e-6], 5),
        ([1.0, 1.0, 0.6], [0.0, 0.0, 0.004], 4),  # what is always right has no standard error
        ([0.8, 0.7, 0.6], [0.001, 0.02, 0.03], 3),  # half of the systems decide, not the best known
        ([0.8, 0.7, 0.6], [0.002, 0.003, 0.05], 4),  # nor the least
        ([0.8, 0.7, math.nan], [0.004, 0.004, math.nan], 4),
        ([-34.5, -30.1], [0.004, 0.004], 3),
        ([0.8, 0.7, 0.6], [math.nan, math.nan, math.nan], 4),
        ([0.8, 0.7, 0.6], None, 4),
        ([math.nan, math.nan, math.nan], None, 3),
        ([34.5, 30.1, 28.0], [0.004, 0.004, 0.005], 3),  # points of a hundred
        ([34.5, 30.1, 28.0], [0.08, 0.08, 0.09], 3),
        ([34.5, 30.1, 28.0], [0.8, 0.8, 0.9], 2),  # 1000 segments: ± 0.80
        ([34.5, 30.1, 28.0], [2.0, 3.0, 4.0], 2),
        ([34.5, 30.1, 28.0], None, 3),
    ],
)
def test_two_digits_of_a_standard_error_are_printed(scores: list[float], errors: list[float] | None, decimals: int) -> None:
    assert decimals_of({"news": cube_of(scores, errors)}, "bleu") == decimals
    assert decimals_of({"news": cube_of(scores, errors)}, "chrf") == 3


def test_the_test_set_that_tells_most_decides_for_all() -> None:
    small, large = cube_of([0.8, 0.7], [0.1, 0.1]), cube_of([0.8, 0.7], [0.002, 0.002])
    assert decimals_of({"small": small, "large": large}, "bleu") == decimals_of({"large": large}, "bleu") == 4


def test_a_report_that_is_read_has_the_decimals_that_it_was_made_with(tmp_path: Path) -> None:
    rows = [f"{k},{k % 2},{int(k % 5 > 0)}" for k in range(60)]
    (tmp_path / "scores.csv").write_text("\n".join(["item,a,b", *rows]) + "\n")
    found = pipeline.compare(tmp_path / "scores.csv", replicates=200, runs=tmp_path / "runs")
    assert found["test_sets"][0]["metrics"][0]["decimals"] == 3
    read = pipeline.compare(tmp_path / "scores.csv", replicates=200, runs=tmp_path / "runs")
    assert "report" not in vars(read)
    assert repr(read) == repr(found)
    assert "0.500" in repr(read)
    assert "0.50000" not in repr(read)
    assert str(read.report.pairs[0].delta) in (tmp_path / "runs").glob("*/report/tables/pairs*.csv").__next__().read_text()
