"""The figures of the null laboratory and of runs show what the findings say, and leave out what says nothing."""

from __future__ import annotations

import re
import sys
from typing import Any

import numpy as np
import pytest
from scipy.stats import beta
from support.synthetic_cubes import build_cube

from pipeline.analyses.replicas import figures as replica_figures
from pipeline.analyses.type_one import figures as type_one_figures
from pipeline.analyses.type_one import tests as type_one_tests
from pipeline.analyses.type_one.as_is import AS_THEY_ARE
from pipeline.analyses.type_one.pairs import SWAPPED
from pipeline.analyses.type_one.rows import PROBABILITIES, band_of, describe
from pipeline.analyses.type_one.runs import SPLIT
from pipeline.interfaces import Figure, Finding
from pipeline.report.drawing.figures import draw_finding
from pipeline.report.findings import describe_findings


def null_row(p: Any, *, pair: str = "a / b", design: str = SWAPPED, procedure: str = "sign", **more: Any) -> dict[str, Any]:
    where = {"test_set": "news", "metric": "bleu", "design": design, "pair": pair, "chosen": "most", "discordant": 40, **more}
    return describe(where, type_one_tests.Tested(procedure, "two-sided", in_study=True, decides=False, p=np.asarray(p)))


def draw_all(figures: tuple[Figure, ...]) -> list[Any]:
    csv = {figure.table: [{"a": 1}] for figure in figures}
    finding = Finding("some-analysis", (), figures=figures, csv=csv)
    return list(draw_finding(finding, *describe_findings([finding])))


def draw(*rows: dict[str, Any]) -> list[Any]:
    return draw_all(tuple(type_one_figures.list_figures(rows)))


UNIFORM = (np.arange(1000) + 0.5) / 1000


def test_quantiles_of_p_are_order_statistics_and_their_band_is_that_of_beta() -> None:
    row = null_row(UNIFORM)
    assert row["quantiles"][PROBABILITIES.index(0.05)] == UNIFORM[49]
    low, high = band_of(1000)[PROBABILITIES.index(0.05)]
    assert (low, high) == pytest.approx(beta.ppf([0.025, 0.975], 50, 951))
    assert band_of(100)[0] == pytest.approx(tuple(beta.ppf([0.025, 0.975], 1, 100)))  # the smallest there is


def test_a_panel_for_each_test_and_a_label_for_each_pair() -> None:
    (drawing,) = draw(
        null_row(UNIFORM), null_row(UNIFORM**2, pair="c / d", chosen="fewest"), null_row(UNIFORM, procedure="wilcoxon")
    )
    texts = re.findall(r"<text[^>]*>([^<]+)</text>", drawing.svg)
    assert [texts.count(word) for word in ("sign", "wilcoxon", "most", "fewest")] == [1, 1, 2, 1]
    assert {"rejects too often", "too seldom", "p if uniform (log)", "p found (log)"} <= set(texts)
    assert "sign rejects 5.0 % and 22.4 %; wilcoxon rejects 5.0 %" in drawing.alt
    assert "most a / b (40 units), fewest c / d (40 units)" in drawing.caption


def points(svg: str) -> list[np.ndarray]:
    """Return the curves of the first pair, one a panel, in pixels of the panel."""
    lines = re.findall(r'<polyline points="([^"]+)"[^>]*stroke="#0072b2"', svg)
    return [np.array([place.split(",") for place in line.split()], float) for line in lines]


def test_the_curve_of_a_test_that_holds_its_level_lies_on_the_line_and_of_a_liberal_one_above() -> None:
    exact = np.arange(1, 1001) / 1000  # of which quantiles are the probabilities themselves
    even, liberal = (points(draw(null_row(p))[0].svg)[0] for p in (exact, exact**2))
    x, y = even.T
    assert len({*np.sign(np.diff(x))}) == 1
    straight = y[0] + (x - x[0]) * (y[-1] - y[0]) / (x[-1] - x[0])
    np.testing.assert_allclose(y, straight, atol=0.11)  # places are written with one digit
    assert (y[-1] - y[0]) / (x[-1] - x[0]) < 0  # small p are to the right and above
    assert (liberal[:, 0] == even[:, 0]).all()
    assert (liberal[1:-1, 1] < even[1:-1, 1]).all()  # y counts downwards in SVG


def test_panels_are_of_one_size_and_lie_in_columns_under_one_another(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pipeline.report.drawing.matplotlib_figures", None)  # nearly every report has this figure
    (drawing,) = draw(*(null_row(UNIFORM, procedure=name) for name in ("a", "b", "c", "d")))
    places = re.findall(r'<g transform="translate\(([\d.]+) ([\d.]+)\)">', drawing.svg)
    assert [(float(x), float(y) > 0) for x, y in places] == [
        (0, False),
        (360, False),
        (0, True),
        (360, True),
    ]  # no row has one alone
    frames = re.findall(r'<clipPath id="inside-\d"><rect ([^>]+)/>', drawing.svg)
    assert (len(frames), len(set(frames))) == (4, 1)
    assert len(set(re.findall(r'clip-path="url\(#(inside-\d)\)"', drawing.svg))) == 4
    assert [drawing.svg.count(f">{words}</text>") for words in ("p found (log)", "p if uniform (log)")] == [2, 2]


def test_few_data_sets_and_replicas_as_they_are_have_no_figure() -> None:
    assert draw(null_row(UNIFORM[::11]), null_row(UNIFORM, design=AS_THEY_ARE)) == []
    (drawing,) = draw(null_row(UNIFORM, design=SPLIT, pair="big: 3 + 3 of 6 runs", chosen=None))
    assert "Curves: big: 3 + 3 of 6 runs." in drawing.caption
    assert re.search(r"<text[^>]*>big</text>", drawing.svg)


def gain_row(number: int, counts: list[int], **more: Any) -> dict[str, Any]:
    return {
        "kind": "gains", "test_set": "news", "metric": "bleu", "model_a": "big", "model_b": "small", "delta": 1.0,
        "runs_each": number, "gains": sum(counts), "gain_low": -1.0, "gain_high": 3.0, "against": 0.25,
        "edges": [-2.0, 0.0, 2.0, 4.0],
        "counts": counts,
    } | more  # fmt: skip


def draw_gains(*rows: dict[str, Any]) -> list[Any]:
    return draw_all(tuple(replica_figures.list_figures(rows, {"news": build_cube(np.array([30.0, 29.0]), ["big", "small"])})))


def test_gains_are_drawn_by_number_of_runs_the_nearest_pairs_first() -> None:
    far = [gain_row(1, [0, 1, 9], model_a=f"far{k}", delta=5.0 + k) for k in range(6)]
    (drawing,) = draw_gains(*far, *(gain_row(number, [2, 5, 3]) for number in (1, 2, 3, 5)))
    assert "big - small, 1 run: 95 % from -1.000 to 3.000, 25 % below 0. big - small, 3 runs" in drawing.alt
    assert "5 runs" in drawing.alt
    assert "2 runs" not in drawing.alt  # the fewest, the most, and one between
    assert "far4" in drawing.alt
    assert "far5" not in drawing.alt
    assert "Shown: the 6 nearest of 7 pairs." in drawing.caption


def test_too_few_gains_have_no_figure_and_equal_ones_no_histogram() -> None:
    assert draw_gains(gain_row(1, [1, 2, 1]), gain_row(2, [0], gains=None)) == []
    (drawing,) = draw_gains(gain_row(1, [9], edges=[1.0, 1.0], gain_low=1.0, gain_high=1.0))
    assert ">1 run<" not in drawing.svg


def test_curves_that_are_not_drawn_are_counted_and_named_with_their_file() -> None:
    rows = [null_row(UNIFORM, pair=f"{name}: 3 + 3 of 6 runs", design=SPLIT, chosen=None) for name in "abcde"]
    (drawing,) = draw(*rows)
    assert "Curves: a: 3 + 3 of 6 runs; b: 3 + 3 of 6 runs; c: 3 + 3 of 6 runs." in drawing.caption
    assert "Not drawn: 2 more, which are in tables/type_one_quantiles.csv." in drawing.caption
    assert {row["pair"] for row in type_one_figures.list_quantiles(rows)} == {row["pair"] for row in rows}


def test_every_histogram_that_is_drawn_is_among_the_rows_behind_the_figure() -> None:
    rows = replica_figures.list_histograms([gain_row(1, [2, 5, 3]), gain_row(2, [0], gains=None)])
    assert [(row["low"], row["high"], row["gains"], row["share"]) for row in rows] == [
        (-2.0, 0.0, 2, 0.2), (0.0, 2.0, 5, 0.5), (2.0, 4.0, 3, 0.3)
    ]  # fmt: skip
