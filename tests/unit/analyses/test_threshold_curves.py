"""How often a gain is significant: both curves against truths that are known, and the figure against its rows."""

import numpy as np
import pytest
import xarray as xr
from support.synthetic_cubes import build_cube

from pipeline.analyses.thresholds.analysis import Thresholds
from pipeline.analyses.thresholds.curves import rise
from pipeline.interfaces.charts import Chart, Line, Points

Z = 1.6448536269514722
SYSTEMS = [f"s{k}" for k in range(30)]


def curve(finding, curve, relation="all"):
    rows = [row for row in finding.csv["threshold_curves"] if (row["curve"], row["relation"]) == (curve, relation)]
    return [row["gain"] for row in rows], [row["share"] for row in rows]


def test_adjacent_violators_are_pooled_by_hand():
    gain = np.array([5.0, 1.0, 2.0, 2.0, 3.0, 4.0])
    significant = np.array([True, False, True, True, False, False])
    # At 2 both of two, at 3 and 4 none: pooled, two of four; at 1 none and at 5 all.
    corners, share = rise(gain, significant)
    assert corners.tolist() == [1, 2, 4, 5]
    assert share.tolist() == [0, 0.5, 0.5, 1]


def test_of_one_standard_error_the_curve_is_a_step_at_the_borderline_gain():
    rng = np.random.default_rng(5)
    finding = Thresholds().find({"news": build_cube(rng.normal(50, 1, 30), SYSTEMS, se=0.5)}, {})
    gains, shares = curve(finding, "as found")
    assert set(shares) == {0.0, 1.0}
    below, above = (
        max(g for g, s in zip(gains, shares, strict=True) if s == 0),
        min(g for g, s in zip(gains, shares, strict=True) if s == 1),
    )
    assert below < Z * 0.5 < above
    gains, shares = curve(finding, "by standard errors")
    assert gains == pytest.approx([Z * 0.5] * len(gains))
    assert (shares[0], shares[-1]) == (0, 1)


def test_of_two_standard_errors_both_curves_have_the_share_of_the_smaller_one_between():
    """Of gains between 1.645 times the smaller and the larger standard error, those of pairs with the smaller are significant."""
    rng = np.random.default_rng(6)
    pairs = 30 * 29 // 2
    small = rng.random(pairs) < 0.3
    cube = build_cube(rng.normal(50, 1.2, 30), SYSTEMS, se=np.where(small, 0.5, 1.5)[None])
    finding = Thresholds().find({"news": cube}, {})
    gains, shares = (np.array(values) for values in curve(finding, "as found"))
    assert (shares[gains < Z * 0.5] == 0).all()
    assert (shares[gains >= Z * 1.5] == 1).all()
    middle = np.interp(Z, gains, shares)
    observed = np.abs(cube["observed_delta"].values.ravel())
    between = (observed > Z * 0.5) & (observed < Z * 1.5)
    # The curve may rise within the stretch, so that at its middle it is near the share, not at it.
    assert middle == pytest.approx(small[between].mean(), abs=0.15)
    gains, shares = curve(finding, "by standard errors")
    assert {round(gain, 6) for gain, share in zip(gains, shares, strict=True) if share < small.mean() - 0.01} == {round(Z * 0.5, 6)}
    assert {round(gain, 6) for gain, share in zip(gains, shares, strict=True) if share > small.mean() + 0.01} == {round(Z * 1.5, 6)}


def test_where_the_curve_by_standard_errors_reaches_the_percentile_is_the_threshold_by_standard_errors():
    rng = np.random.default_rng(7)
    cube = build_cube(rng.normal(50, 1, 30), SYSTEMS, se=rng.uniform(0.3, 0.9, (1, 435)))
    finding = Thresholds().find({"news": cube}, {})
    gains, shares = curve(finding, "by standard errors")
    assert gains[shares.index(0.95)] == pytest.approx(finding.rows[0]["se_gain"])


def test_the_table_has_the_gains_from_which_half_and_nearly_all_are_significant():
    rng = np.random.default_rng(10)
    model = ["m1"] * 15 + ["m2"] * 15
    cube = build_cube(rng.normal(50, 1, 30), SYSTEMS, se=rng.uniform(0.3, 0.9, (1, 435)), coords={"model": model})
    finding = Thresholds().find({"news": cube}, {})
    (table,) = [table for table in finding.tables if table.title.startswith("How often")]
    assert [row["relation"] for row in table.rows] == ["all", "same", "different"]
    assert [row["pairs_of"] for row in table.rows] == ["all", "same model", "different model"]  # named by what they share
    assert [column.key for column in table.columns][:3] == ["pairs_of", "pairs", "significant"]
    (figure,) = [figure for figure in finding.figures if figure.name == "significant"]
    assert "same model, " in figure.alt
    assert "different model, " in figure.alt
    gain, p = np.abs(cube["observed_delta"].values.ravel()), cube["p_value"].sel(convention="one-sided").values.ravel()
    assert (table.rows[0]["pairs"], table.rows[0]["significant"]) == (435, (np.minimum(p, 1 - p) <= 0.05).sum())
    for row in table.rows:
        for share in (50, 95):
            gains, shares = curve(finding, "as found", row["relation"])
            below = [s for g, s in zip(gains, shares, strict=True) if g < row[f"found_{share}"]]
            assert max(below) < share / 100 <= np.interp(row[f"found_{share}"], gains, shares)
    assert table.rows[0]["expected_95"] == pytest.approx(np.quantile(Z * cube["se"].values, 0.95))
    assert table.rows[0]["expected_50"] == pytest.approx(np.quantile(Z * cube["se"].values, 0.5))
    assert gain.min() < table.rows[0]["found_50"] < gain.max()


def test_a_share_that_is_not_reached_is_none():
    cube = build_cube(np.arange(30.0), SYSTEMS, se=1.0)
    rest = np.arange(435) % 3 == 1  # of the largest gains too, a third has no small p
    cube["p_value"] = cube["p_value"].where(xr.DataArray(~rest, dims="pair"), 0.5)
    finding = Thresholds().find({"news": cube}, {})
    (table,) = [table for table in finding.tables if table.title.startswith("How often")]
    (row,) = table.rows
    assert (row["found_50"] is None, row["found_95"]) == (False, None)
    assert row["expected_95"] == pytest.approx(Z)


def test_classes_have_their_own_curves_and_few_pairs_none():
    rng = np.random.default_rng(8)
    model = ["m1"] * 14 + ["m2"] * 13 + ["m3"] * 3
    kin = np.array([model[i] == model[j] for i in range(30) for j in range(i + 1, 30)])
    cube = build_cube(rng.normal(50, 1, 30), SYSTEMS, se=np.where(kin, 0.3, 0.9)[None], coords={"model": model})
    finding = Thresholds().find({"news": cube}, {"classes": {"small": ["m3", "m3"]}})
    assert {row["relation"] for row in finding.csv["threshold_curves"]} == {"all", "same", "different"}
    same, different = (np.interp(0.9, *curve(finding, "as found", name)) for name in ("same", "different"))
    assert (same, different) == (1, 0)  # .9 is above 1.645 · .3 and below 1.645 · .9
    chart = Chart()
    next(figure for figure in finding.figures if figure.name == "significant").draw(chart)
    assert chart.legend == "above"  # the curves reach into every corner
    none = Thresholds().find({"news": build_cube(np.array([50.0, 49.0, 48.8]), list("abc"))}, {})
    assert none.csv["threshold_curves"] == []
    assert not [figure for figure in none.figures if figure.name == "significant"]


def test_the_level_moves_the_curves():
    rng = np.random.default_rng(9)
    cube = build_cube(rng.normal(50, 1, 30), SYSTEMS, se=0.5)
    gains, _ = curve(Thresholds().find({"news": cube}, {"alpha": 0.01}), "by standard errors")
    assert gains == pytest.approx([2.3263478740408408 * 0.5] * len(gains))


def test_the_figure_shows_the_rows_of_its_file():
    rng = np.random.default_rng(10)
    model = ["m1"] * 15 + ["m2"] * 15
    cube = build_cube(rng.normal(50, 1, 30), SYSTEMS, se=rng.uniform(0.3, 0.9, (1, 435)), coords={"model": model})
    finding = Thresholds().find({"news": cube}, {})
    (figure,) = [figure for figure in finding.figures if figure.name == "significant"]
    chart = Chart()
    figure.draw(chart)
    marks = [mark for mark in chart.marks if isinstance(mark, Points)]
    assert [mark.label.partition(" ")[0] for mark in marks] == ["same", "different"]
    for mark, name in zip(marks, ("same", "different"), strict=True):
        gains, shares = curve(finding, "as found", name)
        assert list(mark.x) == gains
        assert list(mark.y) == pytest.approx([100 * share for share in shares])
    dashed = [line for line in chart.marks if isinstance(line, Line) and line.dashes]
    assert [list(line.x) for line in dashed] == [curve(finding, "by standard errors", name)[0] for name in ("same", "different")]
