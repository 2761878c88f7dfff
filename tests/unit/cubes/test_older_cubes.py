"""Cubes of older versions: their variables have the names of now, and what they lack is computed."""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr
from scipy.stats import t as student

from pipeline.analyses.units import read_few_units
from pipeline.cubes.reading import with_names_of_now

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
