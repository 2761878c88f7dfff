"""Cubes of older versions: their variables have the names of now, and what they lack is computed."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from scipy.stats import t as student

from pipeline.analyses.units import read_few_units
from pipeline.cubes import arrays
from pipeline.cubes.cube import CubeWriter
from pipeline.cubes.layout import CubeLayout, MetricInfo, cube_name
from pipeline.cubes.reading import open_cubes, with_names_of_now
from pipeline.cubes.stored import read_cubes

PAIRS = ("procedure", "metric", "test_size", "pair")


def older(**attrs: object) -> xr.Dataset:
    shape = (1, 1, 1, 2)
    return xr.Dataset(
        {
            "p_adjusted": (("convention", "adjustment", *PAIRS), np.full((1, 1, *shape), 0.25)),
            "observed_delta": (PAIRS[1:], np.array([[[2.0, -1.0]]])),
            "se": (PAIRS[1:], np.ones((1, 1, 2))),
        },
        coords={"procedure": ["paired-bootstrap"], "metric": ["mean"], "test_size": ["full"]},
        attrs={"schema_version": 1, **attrs},
    )


def test_the_table_of_adjustments_is_no_p_that_decides() -> None:
    found = with_names_of_now(older())
    assert "p_adjusted" not in found
    assert found["p_by_adjustment"].dims[:2] == ("convention", "adjustment")
    now = found.rename({"p_by_adjustment": "p_adjusted"}).isel(convention=0, adjustment=0).assign_attrs(schema_version=2)
    assert with_names_of_now(now).identical(now)


def test_the_correction_for_few_units_is_computed_where_a_cube_is_too_old_to_have_it() -> None:
    asked = {"metric": "mean", "test_size": "full", "procedure": "paired-bootstrap"}
    expected = 2 * student.sf([2.0, 1.0], 11)
    assert read_few_units(older(effective_units=12.0), **asked) == pytest.approx(expected)
    assert read_few_units(older(), **asked, units=12.0) == pytest.approx(expected)
    assert np.isnan(read_few_units(older(), **asked)).all()
    stratified = older(effective_units=12.0, strata={"count": 4})
    assert read_few_units(stratified, **asked) == pytest.approx(2 * student.sf([2.0, 1.0], 8))


def test_scores_in_whole_chunks_are_read_as_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before, the scores of sixteen systems on a cell were packed together."""
    scores = np.random.default_rng(2).normal(size=(3, 99))
    layout = CubeLayout(
        study="s",
        test_set="t",
        metrics=[MetricInfo("bleu", "bleu|v1")],
        test_sizes=[("full", 997)],
        systems=["a", "b", "c"],
        pairs=np.array([(0, 1), (0, 2), (1, 2)]),
        replicates=99,
        kept=99,
    )
    monkeypatch.setattr(arrays, "inner_shape", lambda variable, chunks: None)
    with CubeWriter(tmp_path, layout) as cube:
        cube.write_scores("bleu", "full", 0, scores)
    described = json.loads((tmp_path / cube_name("t") / "score" / "zarr.json").read_bytes())
    assert [codec["name"] for codec in described["codecs"]] == ["bytes", "zstd"]
    for read in (open_cubes, read_cubes):
        found = read(tmp_path)["t"]["score"].sel(metric="bleu", test_size="full").values
        assert found.tobytes() == scores.tobytes()
