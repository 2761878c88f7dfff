"""Curves of test sizes: laws that are known exactly, the fit against SciPy, and what has none."""

import numpy as np
import pytest
from scipy.stats import linregress
from scipy.stats import t as student
from support.synthetic_cubes import build_cube, gaussian_cube

from pipeline.analyses.size_curve.analysis import SizeCurve
from pipeline.analyses.size_curve.fits import fit_line

SIZES = {"100": 100, "200": 200, "400": 400, "full": 800}


def fit_of(finding, quantity):
    (fit,) = [f for f in finding.details["fits"] if f["quantity"] == quantity]
    return fit


def test_the_standard_error_falls_with_slope_minus_one_half_exactly():
    rng = np.random.default_rng(1)
    fit = fit_of(SizeCurve().find({"news": gaussian_cube(rng, systems=10, sizes=SIZES, sigma=12.0, spread=1.0)}, {}), "median_se")
    assert fit["slope"] == pytest.approx(-0.5)
    assert fit["c"] == pytest.approx(12.0)
    assert fit["p_square_root"] is None
    assert "lie on a line" in fit["reason"]


def test_thresholds_by_standard_errors_fall_by_the_same_law_and_say_how_many_units_a_gain_needs():
    rng = np.random.default_rng(1)
    cube = gaussian_cube(rng, systems=10, sizes=SIZES, sigma=12.0, spread=1.0)
    finding = SizeCurve().find({"news": cube}, {"window": [0.04, 0.06]})
    assert [row["se_gain"] for row in finding.rows] == pytest.approx([1.645 * 12 / np.sqrt(n) for n in SIZES.values()], rel=1e-3)
    fit = fit_of(finding, "se_gain")
    assert (fit["slope"], fit["c"]) == (pytest.approx(-0.5), pytest.approx(1.645 * 12, rel=1e-3))
    largest = finding.rows[-1]["se_gain"]  # whatever the scale of the metric: half a point is all of a score from 0 to 1
    assert [need["gain"] / largest for need in fit["units_for"]] == pytest.approx([0.25, 0.5], rel=0.05)
    for need in fit["units_for"]:
        assert need["by_fit"] == pytest.approx((1.645 * 12 / need["gain"]) ** 2, rel=2e-3)
        assert need["by_root"] == pytest.approx(need["by_fit"])
    points, lines = finding.tables
    assert [row["units"] for row in points.rows] == list(SIZES.values())
    assert [row["what"] for row in lines.rows] == ["threshold", "threshold by se", "median se"]


@pytest.mark.parametrize(("options", "gains"), [({"gains": []}, []), ({"gains": [0.5]}, [0.5])])
def test_units_are_read_off_for_the_gains_that_are_asked_for_and_for_none(options, gains):
    cube = gaussian_cube(np.random.default_rng(1), systems=10, sizes=SIZES, sigma=12.0, spread=1.0)
    finding = SizeCurve().find({"news": cube}, options)
    assert [need["gain"] for need in fit_of(finding, "se_gain")["units_for"]] == gains
    SizeCurve().check(options)


@pytest.mark.statistical
def test_thresholds_fall_with_slope_near_minus_one_half():
    """Every gain in the window is within 6.4 % of 1.645·σ/√n, so |slope + ½| < .12 is certain, whatever the draw."""
    rng = np.random.default_rng(np.random.SeedSequence().entropy)
    finding = SizeCurve().find({"news": gaussian_cube(rng, systems=60, sizes=SIZES, sigma=20.0, spread=1.5)}, {})
    fit = fit_of(finding, "gain")
    assert fit["slope"] == pytest.approx(-0.5, abs=0.12)
    assert [point["units"] for point in finding.rows] == [100, 200, 400, 800]
    half, one = fit["units_for"]
    assert half["by_root"] == pytest.approx(4 * one["by_root"])


def test_the_line_agrees_with_scipy():
    n, gain = [50, 100, 300, 900, 2000], [3.1, 2.0, 1.3, 0.66, 0.5]
    line, other = fit_line(n, gain), linregress(np.log(n), np.log(gain))
    assert (line.slope, line.slope_se) == pytest.approx((other.slope, other.stderr))
    assert line.p_square_root == pytest.approx(2 * student.sf(abs(other.slope + 0.5) / other.stderr, 3))
    assert line.units_for(1.0) == pytest.approx(np.exp(-other.intercept / other.slope))


def test_two_sizes_give_points_but_no_fit_and_the_reason():
    cube = build_cube(np.array([10.0, 8.4, 7.0]), list("abc"), sizes={"100": 100, "full": 200}, se=1.0)
    finding = SizeCurve().find({"news": cube}, {})
    assert len(finding.rows) == 2
    for fit in finding.details["fits"]:
        assert fit["slope"] is None
        assert "a line needs 3" in fit["reason"]


def test_a_rising_line_never_reaches_a_gain():
    assert fit_line([100, 200, 400], [1.0, 2.0, 3.0]).units_for(0.5) is None
