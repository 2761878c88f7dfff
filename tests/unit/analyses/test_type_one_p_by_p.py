"""p of the same pairs by two tests: the pairs, the conventions, and the figure against its file."""

import numpy as np
import pytest
import xarray as xr
from support.synthetic_cubes import build_cube

from pipeline.analyses.type_one.analysis import TypeOne
from pipeline.interfaces.charts import Chart, Points
from pipeline.procedures.registry import PROCEDURES

SYSTEMS = list("abcdef")
TWO = ("paired-bootstrap", "approximate-randomization")


def two_tests(*, own=True, identical=()):
    """Return a cube of two tests; the second has the larger p of every pair, and the preset half of the first one's."""
    scores = np.array([53.0, 52.6, 52.0, 51.1, 51.0, 50.0])
    first, second = (build_cube(scores, SYSTEMS, se=se, identical=identical) for se in (1.0, 1.2))
    tests = [first, second.assign_coords(procedure=[TWO[1]])]
    p = xr.concat([cube["p_value"] for cube in tests], dim="procedure")
    cube = first.drop_dims("procedure").assign(p_value=p)
    if own:
        verdicts = {name: PROCEDURES[name].verdict for name in TWO}
        values = [p.sel(procedure=name, convention=kind, test_size="full").values for name, kind in verdicts.items()]
        half = np.stack([values[0] / 2, values[1]], axis=1)  # (metric, procedure, pair)
        cube = cube.assign_coords(preset=["folded"]).assign(tool_p=(("preset", "metric", "procedure", "pair"), half[None]))
    return cube


def found(cube):
    finding = TypeOne().find({"news": cube}, {})
    return finding, finding.csv["type_one_p"]


def p_of(cube, procedure, a, b):
    at = (cube["system_a"] == a) & (cube["system_b"] == b)
    convention = PROCEDURES[procedure].verdict
    (value,) = cube["p_value"].sel(procedure=procedure, convention=convention, metric="bleu", test_size="full").values[at]
    return value


def test_each_pair_has_p_by_both_tests_as_verdicts_and_as_the_preset_have_it():
    cube = two_tests()
    _, rows = found(cube)
    assert len(rows) == 2 * 15
    for row in rows:
        one, other = (p_of(cube, name, row["system_a"], row["system_b"]) for name in TWO)
        assert (row["first"], row["second"]) == TWO
        assert (row["p_first"], row["p_second"]) == (one / 2 if row["kind"] == "folded" else one, other)
    assert all(row["p_first"] < row["p_second"] for row in rows)


def test_pairs_that_are_identical_or_have_no_p_are_left_out():
    _, rows = found(two_tests(own=False, identical=[("a", "b")]))
    assert {row["kind"] for row in rows} == {"as in verdicts"}
    assert len(rows) == 14
    cube = two_tests()
    cube["tool_p"][..., 0, :] = np.nan
    assert {row["kind"] for row in found(cube)[1]} == {"as in verdicts"}


def table_of(finding):
    tables = [table for table in finding.tables if table.title.endswith("p by two tests")]
    return {row["kind"]: row for table in tables for row in table.rows}


def test_the_table_counts_small_p_by_both_tests_and_has_the_median_of_their_ratio():
    cube = two_tests()
    finding, rows = found(cube)
    table = table_of(finding)
    assert list(table) == ["as in verdicts", "folded"]
    for kind, row in table.items():
        p = np.array([(one["p_first"], one["p_second"]) for one in rows if one["kind"] == kind])
        small = p <= 0.05
        assert (row["pairs"], row["both"]) == (15, small.all(axis=1).sum())
        assert row["first_alone"] == (small[:, 0] & ~small[:, 1]).sum()
        assert (row["second_alone"], row["smaller"]) == (0, 15)
        assert row["ratio"] == pytest.approx(np.median(p[:, 0] / p[:, 1]))
    assert table["folded"]["first_alone"] > table["as in verdicts"]["first_alone"]
    assert table["folded"]["ratio"] == pytest.approx(table["as in verdicts"]["ratio"] / 2)


@pytest.mark.parametrize(("own", "ratio"), [((0.0, 0.0), None), ((0.0, 0.5), 0.0), ((0.5, 0.0), None), ((0.2, 0.2), 1.0)])
def test_p_of_zero_has_a_place_in_the_table_and_none_in_the_figure(own, ratio):
    cube = two_tests()
    cube["tool_p"][:, :, 0], cube["tool_p"][:, :, 1] = own
    finding, _ = found(cube)
    row = table_of(finding)["folded"]
    assert (row["ratio"], row["first_alone"], row["second_alone"]) == (
        ratio,
        *(15 * x for x in (own == (0.0, 0.5), own[1] < own[0])),
    )
    (figure,) = finding.figures
    assert ("Not drawn: 15 pairs with a p below 1e-06." in figure.caption) == (min(own) == 0)


def test_one_test_or_a_few_pairs_have_no_figure():
    finding, rows = found(build_cube(np.arange(6.0), SYSTEMS))
    assert (rows, finding.figures, table_of(finding)) == ([], (), {})
    cube = two_tests().isel(pair=slice(5))
    finding, rows = found(cube)
    assert (len(rows), finding.figures, table_of(finding)) == (10, (), {})


def test_the_figure_has_the_pairs_of_its_file_and_says_which_are_beyond_it():
    cube = two_tests()
    cube["p_value"][..., 3] = 1e-9
    finding, rows = found(cube)
    (figure,) = finding.figures
    chart = Chart()
    figure.draw(chart)
    marks = [mark for mark in chart.marks if isinstance(mark, Points)]
    assert [mark.label for mark in marks] == ["as in verdicts", "folded"]
    for mark in marks:
        own = [(row["p_first"], row["p_second"]) for row in rows if row["kind"] == mark.label]
        assert list(zip(mark.x, mark.y, strict=True)) == own
    assert (chart.x.log, chart.y.log) == (True, True)
    assert chart.x.low == pytest.approx(0.8e-6)
    assert "Not drawn: 1 pair with a p below 1e-06." in figure.caption
    both = sum(max(row["p_first"], row["p_second"]) <= 0.05 for row in rows if row["kind"] == "as in verdicts")
    first = sum(row["p_first"] <= 0.05 < row["p_second"] for row in rows if row["kind"] == "as in verdicts")
    assert f"As in verdicts, 15 pairs: p ≤ 0.05 by both {both}, by the first alone {first}, by the second alone 0;" in figure.alt
