"""Forests and matrices show the rows of the report, neither more nor less; the page has them in the order of what is asked."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from scipy import stats
from support.synthetic_cubes import build_cube
from support.synthetic_reports import ODD, make_report

from pipeline.analyses import standard_errors
from pipeline.interfaces import Finding, Section
from pipeline.report.build import build_report
from pipeline.report.document import Report
from pipeline.report.drawing.standings.figures import MOST_LINES, draw_systems
from pipeline.report.drawing.svg import Drawing
from pipeline.report.findings import list_sections
from pipeline.report.layout.views import view_all
from pipeline.report.values import format_p

SVG = "{http://www.w3.org/2000/svg}"


def report_of(scores: list[float], *, names: list[str] | None = None, se: float = 0.5, **asked: Any) -> Report:
    names = names or [f"s{k}" for k in range(len(scores))]
    cube = build_cube(np.array(scores), names, se=se)
    errors = np.full((1, 1, len(scores)), 0.25)
    return build_report(make_report({"news": cube.assign(score_se=(cube["observed_score"].dims, errors))}, analyses=(), **asked))


def drawn(report: Report) -> dict[str, Drawing]:
    return dict(draw_systems(report))


def texts(figure: Drawing) -> list[str]:
    return [element.text or "" for element in ElementTree.fromstring(figure.svg).iter(f"{SVG}text")]


CLOSE = [53.0, 50.0, 52.6, 50.1]
"""Two far ahead of two others."""


def test_a_matrix_has_the_gain_and_the_adjusted_p_of_every_pair() -> None:
    report = report_of(CLOSE)
    figure = drawn(report)["matrix"]
    rows = report.pairs
    assert len(rows) == 6
    written = texts(figure)[8:]  # after the names and numbers of four systems
    expected = [f"{row.delta:.2f}" for row in rows]  # three digits of the largest, which is below ten
    expected += ["<0.001" if (row.p_adjusted or 0) < 0.001 else format_p(row.p_adjusted) for row in rows]
    assert sorted(written) == sorted(expected)
    separated = sum(row.verdict == "better" for row in rows)
    assert separated == 4
    cells = {match[1]: match[2].count("M") for match in re.finditer(r'<path class="([^"]+)" d="([^"]+)"', figure.svg)}
    assert cells == {"separated": separated, "not-separated": 6 - separated}
    assert figure.alt == "4 by 4: 4 of 6 pairs are separated."


def test_a_gain_that_is_not_zero_is_never_zero_in_a_cell() -> None:
    written = texts(drawn(report_of([50.0, 50.003, 41.2]))["matrix"])[6:]
    assert "0.003" in written
    assert not any(re.fullmatch(r"0\.0+", text) for text in written)


def test_systems_stand_by_score_and_a_line_parts_all_above_from_all_below() -> None:
    report = report_of(CLOSE)
    figures = drawn(report)
    order = [row.name for row in report.board_of[report.places[0]]]
    assert order == ["s0", "s2", "s3", "s1"]
    assert [text.split()[-1] for text in texts(figures["matrix"]) if re.fullmatch(r"\d s\d", text)] == order
    assert [text for text in texts(figures["scores"]) if re.fullmatch(r"s\d", text)] == order
    for figure in figures.values():
        (height,) = re.findall(r'class="rule"[^y]* y1="([\d.]+)"', figure.svg)
        named = [text for text in ElementTree.fromstring(figure.svg).iter(f"{SVG}text") if re.search(r"s\d$", text.text or "")]
        assert [float(text.get("y", "")) < float(height) + 4 for text in named] == [True, True, False, False]
    assert "A line across" in figures["scores"].caption
    close = drawn(report_of([50.0, 50.1, 50.2, 50.3]))
    assert all('class="rule"' not in figure.svg and "A line" not in figure.caption for figure in close.values())


def test_a_forest_has_every_score_with_its_interval_to_scale() -> None:
    report = report_of([50.0, 51.0, 54.0])
    svg = ElementTree.fromstring(drawn(report)["scores"].svg)
    board = report.board_of[report.places[0]]
    dots = [float(dot.get("cx", "")) for dot in svg.iter(f"{SVG}circle")][::2]  # the others are ranks
    scale = np.polyfit([row.score for row in board], dots, 1)
    assert scale[0] > 0
    assert np.polyval(scale, [row.score for row in board]) == pytest.approx(dots, abs=0.1)
    lines = [line for line in svg.iter(f"{SVG}line") if line.get("stroke-width") == "1.6"]
    ends = [(float(line.get("x1", "")), float(line.get("x2", ""))) for line in lines]
    expected = [(np.polyval(scale, row.interval.lo), np.polyval(scale, row.interval.hi)) for row in board if row.interval]
    assert len(ends) == 3
    assert ends == [pytest.approx(of, abs=0.2) for of in expected]


def test_a_score_that_no_unit_changes_has_no_interval() -> None:
    cube = build_cube(np.array([0.2, 0.5]), ["same", "other"])
    errors = np.array([[[1.1e-16, 0.1]]])  # of ten units with 0.2, whose mean is rounded
    report = build_report(make_report({"news": cube.assign(score_se=(cube["observed_score"].dims, errors))}, analyses=()))
    assert {row.name: row.interval is None for row in report.leaderboard} == {"same": True, "other": False}


@pytest.mark.parametrize(("kept", "undefined"), [(6000, 0), (4999, 0), (6000, 1001)])
def test_the_interval_of_a_score_is_by_the_replicates_where_they_are_enough_and_the_jackknife_is_off(
    kept: int, undefined: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(standard_errors, "_SYSTEMS", 1)
    cube = build_cube(np.array([20.0, 30.0, 40.0]), ["near", "far", "none"])
    spread = np.resize([-1.0, 1.0], kept) * np.array([[1.0], [2.0], [3.0]])  # standard deviations 1, 2 and 3
    spread[1, kept - undefined :], spread[2] = np.nan, np.nan
    score = (("metric", "test_size", "system", "replicate"), (np.array([[20.0], [30.0], [40.0]]) + spread)[None, None])
    errors = (cube["observed_score"].dims, np.array([[[1.04, 6.0, 6.0]]]))
    report = build_report(make_report({"news": cube.assign(score_se=errors, score=score)}, analyses=()))
    rows = {row.name: row.interval for row in report.leaderboard}
    enough = kept - undefined >= 5000
    methods = {name: interval.method for name, interval in rows.items() if interval}
    assert methods == {"near": "jackknife-t", "far": "replicates-t" if enough else "jackknife-t", "none": "jackknife-t"}
    half = 2 * np.sqrt(1000 / 999) if enough else 6.0
    assert rows["far"] is not None
    assert rows["far"].hi - 30.0 == pytest.approx(half * stats.t.isf(0.025, 999), rel=1e-3)
    assert ("1 of 3 systems by the replicates'" in str([view.caption for view in view_all(report)])) == enough


def test_the_top_group_is_marked() -> None:
    report = report_of(CLOSE)
    svg = ElementTree.fromstring(drawn(report)["scores"].svg)
    assert [text.text for text in svg.iter(f"{SVG}text") if text.get("font-weight")] == ["s0", "s2"]


def test_names_stay_names() -> None:
    figures = drawn(report_of([50.0 + k for k in range(len(ODD))], names=ODD))
    for figure in figures.values():
        shown = texts(figure)
        assert all(any(text.endswith(name) for text in shown) for name in ODD)


def test_many_systems_take_little_room_and_captions_say_what_is_shown() -> None:
    count = 150
    rng = np.random.default_rng(2)
    figures = drawn(report_of(rng.normal(50, 2, count).tolist()))
    assert len(figures["matrix"].svg) < 60_000
    assert len([text for text in texts(figures["scores"]) if re.fullmatch(r"s\d+", text)]) == MOST_LINES
    assert figures["scores"].caption.endswith(f"Shown: the first {MOST_LINES} of 150.")
    assert "Shown" not in figures["matrix"].caption
    numbers = [int(text) for text in texts(figures["matrix"]) if text.isdigit()]
    assert numbers[:2] == [1, 1 + numbers[1] - numbers[0]]
    assert max(numbers) <= count


def test_the_numbers_above_a_matrix_are_within_it_and_its_lines_hide_no_cell() -> None:
    count = 106  # the number of the last system is written
    report = report_of([50.0 + 3 * k for k in range(count)])
    figure = ElementTree.fromstring(drawn(report)["matrix"].svg)
    numbers = {text.text: float(text.get("x", "")) for text in figure.iter(f"{SVG}text") if (text.text or "").isdigit()}
    assert numbers[str(count)] + 0.66 * 12 * 3 / 2 <= float(figure.get("width", ""))
    widths = {float(line.get("stroke-width", "")) for rule in figure.iter(f"{SVG}g") for line in rule.iter(f"{SVG}line")}
    assert widths == {0.5}  # a cell has five pixels


def test_against_a_baseline_there_are_scores_and_no_ranks() -> None:
    figures = drawn(report_of(CLOSE, resampling={"family": "against-baseline", "baseline": "s1"}))
    assert list(figures) == ["scores"]
    assert "rank" not in texts(figures["scores"])


def test_a_page_begins_with_what_the_study_asks() -> None:
    usual = Finding("thresholds", (), sections=(Section("thresholds", "Thresholds", after="figures"),))
    asked = replace(usual, analysis="calibration-transfer", sections=(Section("calibration", "Calibration", after="figures"),))
    beside = Finding("driving-items", (), sections=(Section("driving-items", "Items", after="pairs"),))

    def keys(*findings: Finding, of_models: bool = False, pairs: int = 45) -> list[str]:
        return [section.key for section in list_sections(findings, of_models=of_models, pairs=pairs)]

    leaders = ["leaderboard", "pairs", "figures", "thresholds", "findings", "trainings"]
    assert keys(usual) == leaders
    assert keys(usual, beside) == ["leaderboard", "pairs", "driving-items", *leaders[2:]]
    assert keys(usual, asked) == ["figures", "thresholds", "calibration", "findings", "leaderboard", "pairs", "trainings"]
    assert keys(usual, asked, pairs=36)[:2] == ["leaderboard", "pairs"]
    assert keys(usual, asked, of_models=True)[0] == "models"
