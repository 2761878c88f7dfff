"""Charts show the values that they were given, to scale, and are the same text each time."""

from __future__ import annotations

import re
import sys
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.spatial import cKDTree
from support.synthetic_cubes import build_cube
from support.synthetic_reports import make_report, odd_cubes

from pipeline.interfaces.charts import MARKERS, Axis, Chart
from pipeline.interfaces.figures import PALETTE
from pipeline.report.build import build_report
from pipeline.report.drawing.charts.draw import draw_chart, draw_chart_narrow
from pipeline.report.drawing.charts.markers import path_of, thin_out
from pipeline.report.drawing.figures import draw_all
from pipeline.report.drawing.standings.forest import Entry, draw_forest
from pipeline.report.drawing.svg import inline_svg

SVG = "{http://www.w3.org/2000/svg}"
BLUE, ORANGE = PALETTE[:2]


def draw(chart: Chart, **options: Any) -> ElementTree.Element:
    return ElementTree.fromstring(draw_chart(chart, title="Title", alt="Alt", **options))


def centres(svg: ElementTree.Element, colour: str) -> NDArray[np.float64]:
    """Return where the shapes of a colour stand, (point, 2)."""
    paths = [path.get("d", "") for path in svg.iter(f"{SVG}path") if colour in (path.get("fill"), path.get("stroke"))]
    return np.array(re.findall(r"M(-?[\d.]+) (-?[\d.]+)", "".join(paths)), dtype=float).reshape(-1, 2)


def texts(svg: ElementTree.Element) -> dict[str, ElementTree.Element]:
    return {text.text or "": text for text in svg.iter(f"{SVG}text")}


def place_of(svg: ElementTree.Element, text: str, along: str) -> float:
    """Return the pixel of an axis's mark; letters stand a little below their middle."""
    return float(texts(svg)[text].get(along, "")) - (0.36 * 11 if along == "y" else 0)


def test_points_lie_where_the_marks_of_the_axes_say() -> None:
    rng = np.random.default_rng(4)
    x, y = rng.uniform(0.5, 3.5, 30), rng.uniform(-1, 1, 30)
    chart = Chart()
    chart.points(x.tolist(), y.tolist(), "D", colour=BLUE)
    chart.x.ticks, chart.y.ticks = [(1, "one"), (3, "three")], [(-0.5, "low"), (0.5, "high")]
    svg = draw(chart)
    left, right = place_of(svg, "one", "x"), place_of(svg, "three", "x")
    low, high = place_of(svg, "low", "y"), place_of(svg, "high", "y")
    found = centres(svg, BLUE)
    assert 1 + 2 * (found[:, 0] - left) / (right - left) == pytest.approx(x, abs=0.002)
    assert (found[:, 1] - low) / (high - low) - 0.5 == pytest.approx(y, abs=0.002)


def test_on_logarithmic_axes_equal_ratios_are_equal_lengths() -> None:
    chart = Chart(x=Axis(log=True), y=Axis(log=True))
    chart.points([10, 100, 1000], [8, 4, 2], colour=BLUE)
    chart.line([10, 1000], [8, 2], colour=ORANGE)
    svg = draw(chart)
    assert np.diff(centres(svg, BLUE), n=2, axis=0) == pytest.approx(np.zeros((1, 2)), abs=0.21)
    assert {"10", "100", "1000", "2", "5"} <= texts(svg).keys()
    (line,) = svg.iter(f"{SVG}polyline")
    ends = np.array([pair.split(",") for pair in line.get("points", "").split()], dtype=float)
    assert ends == pytest.approx(centres(svg, BLUE)[[0, 2]], abs=0.1)


def test_an_axis_may_go_down_and_points_beyond_its_ends_are_left_out() -> None:
    chart = Chart(y=Axis(low=10, high=0), x=Axis(low=0, high=1))
    chart.points([0.5, 0.5, 0.5, 2.0], [1, 9, 11, 5], colour=BLUE)
    found = centres(draw(chart), BLUE)
    assert len(found) == 2
    assert found[0, 1] < found[1, 1]


def test_an_area_has_its_ends_and_a_rule_crosses_the_chart() -> None:
    chart = Chart(x=Axis(low=0, high=4, ticks=[(1, "a"), (2, "b")]), y=Axis(low=0, high=10, ticks=[(0, "c"), (5, "d")]))
    chart.area([1, 2], [0, 0], [5, 5], colour=BLUE)
    chart.rule(x=2, colour=ORANGE)
    chart.rule(y=5, colour=ORANGE, dashes="")
    svg = draw(chart)
    corners = re.findall(r"([\d.]+),([\d.]+)", next(svg.iter(f"{SVG}polygon")).get("points", ""))
    expected = [(place_of(svg, x, "x"), place_of(svg, y, "y")) for x, y in ("ac", "bc", "bd", "ad")]
    assert np.array(corners, dtype=float) == pytest.approx(np.array(expected), abs=0.11)
    upright, across = [line for line in svg.iter(f"{SVG}line") if line.get("stroke") == ORANGE]
    assert float(upright.get("x1", "")) == float(upright.get("x2", "")) == pytest.approx(expected[2][0], abs=0.11)
    assert float(across.get("y1", "")) == float(across.get("y2", "")) == pytest.approx(expected[2][1], abs=0.11)
    assert (upright.get("stroke-dasharray"), across.get("stroke-dasharray")) == ("5 4", None)


@pytest.mark.parametrize("legend", ["above", "top right", "bottom left"])
def test_the_legend_names_what_has_a_label_even_where_nothing_is_drawn(legend: Any) -> None:
    chart = Chart(legend=legend)
    chart.points([1, 2], [1, 2], colour=BLUE, label="<found> & more")
    chart.points([], [], "s", colour=ORANGE, label="none")
    chart.area([1, 2], [0, 0], [1, 1], colour=PALETTE[2], label="area")
    chart.points([1], [1], colour=PALETTE[3])
    assert {"<found> & more", "none", "area"} <= texts(draw(chart)).keys()


def test_every_marker_is_drawn_about_its_point() -> None:
    for marker in MARKERS:
        steps = path_of(marker, np.array([50.0]), np.array([50.0]), 10)
        assert steps.startswith("M50 50m")
        shapes = {path_of(other, np.array([50.0]), np.array([50.0]), 10) for other in MARKERS}
        assert len(shapes) == len(MARKERS)
    corners = re.findall(r"(-?[\d.]+) (-?[\d.]+)", path_of("^", np.array([0.0]), np.array([0.0]), 10)[4:])
    assert np.cumsum(np.array(corners, dtype=float), axis=0).mean(axis=0) == pytest.approx([0, 0], abs=0.15)


def test_of_too_many_points_those_that_lie_on_others_are_left_out() -> None:
    rng = np.random.default_rng(1)
    x, y = rng.uniform(0, 600, 20_000), rng.uniform(0, 20, 20_000)
    kept = thin_out(x, y, 4000)
    assert 1000 < len(kept) <= 4000
    # Wherever a point was, one is left within the width of a mark.
    apart, _ = cKDTree(np.stack([x[kept], y[kept]], axis=1)).query(np.stack([x, y], axis=1))
    assert apart.max() < 5
    assert thin_out(x[:100], y[:100], 100).tolist() == [*range(100)]


@pytest.mark.parametrize("y", [[], [3.0, 3.0], [float("nan"), 3.0], [0.0, 0.0]])
def test_a_chart_of_nothing_or_of_one_value_is_drawn(y: list[float]) -> None:
    for log in (False, True):
        chart = Chart(y=Axis(log=log))
        chart.points([1.0, 2.0][: len(y)], y, colour=BLUE)
        assert "nan" not in ElementTree.tostring(draw(chart), encoding="unicode")


def test_what_cannot_be_drawn_is_refused() -> None:
    chart = Chart()
    with pytest.raises(ValueError, match="2 values of x and 1 of y"):
        chart.points([1, 2], [1], colour=BLUE)
    with pytest.raises(ValueError, match="not a marker"):
        chart.points([1], [1], "Q", colour=BLUE)
    with pytest.raises(ValueError, match="x or of y"):
        chart.rule()


def test_two_charts_of_one_page_do_not_share_their_clips() -> None:
    chart = Chart()
    chart.line([0, 1], [0, 1], colour=BLUE)
    inline = inline_svg(draw_chart(chart, title="t", alt="a"), "f7", alt="a")
    assert 'id="f7-inside"' in inline
    assert "url(#f7-inside)" in inline
    assert BLUE not in inline.replace(f"var(--c1, {BLUE})", "")


def test_the_scatter_of_a_report_has_every_pair_at_its_gain_and_confidence() -> None:
    rng = np.random.default_rng(3)
    given = make_report({"news": build_cube(rng.normal(50, 0.25, 8), [f"s{k}" for k in range(8)], se=0.5)}, analyses=())
    report = build_report(given)
    (scatter,) = [drawing for drawing in draw_all(given, report) if drawing.file.startswith("confidence")]
    svg = ElementTree.fromstring(scatter.svg)
    found = centres(svg, "#1f2933")[:-1]  # the last is the legend's
    rows = report.pairs
    assert len(rows) == len(found) == 28
    expected = np.array([(row.delta, 1 - row.p_raw.one_sided) for row in rows])
    for along in (0, 1):
        slope, start = np.polyfit(np.sort(expected[:, along]), np.sort(found[:, along] * (1, -1)[along]), 1)
        assert slope > 0
        assert np.sort(found[:, along] * (1, -1)[along]) == pytest.approx(start + slope * np.sort(expected[:, along]), abs=0.11)


def test_the_legend_of_the_scatter_stands_above_where_a_number_stands_at_a_line() -> None:
    given = make_report({"news": build_cube(np.linspace(49, 51, 8), [f"s{k}" for k in range(8)], se=0.5)}, analyses=("thresholds",))
    (scatter,) = [drawing for drawing in draw_all(given, build_report(given)) if drawing.file.startswith("confidence")]
    for picture in (scatter.svg, scatter.narrow):
        texts = {"".join(text.itertext()): float(text.get("y", 0)) for text in ElementTree.fromstring(picture).iter(f"{SVG}text")}
        (legend,) = (y for text, y in texts.items() if text.startswith("all pairs"))
        number = max(y for text, y in texts.items() if "by se" in text or text.replace(".", "").isdigit())
        assert legend < 20 < number


def test_the_figures_of_the_usual_analyses_need_no_matplotlib(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pipeline.report.drawing.matplotlib_figures", None)  # importing it would fail
    given = make_report(
        odd_cubes(), analyses=("thresholds", "size-curve", "calibration-iid", "calibration-transfer", "domain-curve")
    )
    names = {drawing.file.rpartition("-")[0] for drawing in draw_all(given, build_report(given))}
    assert {"confidence", "size-curve", "size-confidence", "domains", "domain-confidence", "calibration"} <= names


def test_a_line_and_an_area_end_where_a_value_is_unknown_and_go_on_behind_it() -> None:
    unknown = float("nan")
    chart = Chart()
    chart.line([1, 2, 3, 4, 5], [1, 2, unknown, 4, 5], colour=BLUE)
    chart.area([1, 2, 3, 4], [1, unknown, 1, 1], [2, 2, 2, 2], colour=ORANGE)
    svg = draw(chart)
    assert [len(line.get("points", "").split()) for line in svg.iter(f"{SVG}polyline")] == [2, 2]
    assert [len(area.get("points", "").split()) for area in svg.iter(f"{SVG}polygon")] == [2, 4]
    assert "nan" not in ElementTree.tostring(svg, "unicode")


def test_the_rows_of_a_legend_end_within_the_picture() -> None:
    chart = Chart(legend="above")
    for number in range(9):
        chart.points([0], [1e6 + 1e-3 * number], colour=BLUE, label=f"system{number:0{number % 4 + 6}}")
    ends = [
        float(text.get("x", "")) + 0.66 * 12 * len(name) for name, text in texts(draw(chart)).items() if name.startswith("system")
    ]
    assert len(ends) == 9
    assert max(ends) <= 720


def test_on_a_phone_long_names_of_rows_stand_above_what_is_drawn_in_them() -> None:
    chart = Chart(legend="above")
    names = [f"a class of pairs that has a long name {row}" for row in range(3)]
    chart.points([1.0, 2.0, 3.0], [0, 1, 2], colour=BLUE, label="found")
    chart.y.ticks, chart.y.low, chart.y.high = list(enumerate(names)), -0.6, 2.6
    narrow = ElementTree.fromstring(draw_chart_narrow(chart, (7.2, 2.0), title="Title", alt="Alt"))
    places, found = texts(narrow), centres(narrow, BLUE)[:3]
    for name, (_, y) in zip(names, found, strict=True):
        assert y - 22 < float(places[name].get("y", "")) < y - 8  # between the row above and its own, clear of points
        assert float(places[name].get("x", "")) + 0.6 * 11 * len(name) < 344
    chart.words(1.0, 0, "12 %")
    assert draw_chart_narrow(chart, (7.2, 2.0), title="Title", alt="Alt") == ""  # of a heat map there is no room between rows


def test_a_high_figure_is_not_made_smaller_on_paper() -> None:
    for height, kind in ((5.0, "drawn"), (6.0, "drawn tall")):
        chart = Chart()
        chart.points([1], [1], colour=BLUE)
        page = ElementTree.fromstring(inline_svg(draw_chart(chart, (7.2, height), title="Title", alt="Alt"), "f1", alt="Alt"))
        assert page.get("class") == kind


def test_names_with_control_characters_leave_a_figure_readable_as_xml() -> None:
    chart = Chart(legend="above")
    chart.points([1], [1], colour=BLUE, label="a\x1b[1m<b>\x00")
    assert "a\ufffd[1m<b>\ufffd" in texts(draw(chart))


def test_a_report_of_fourteen_test_sets_shows_fourteen() -> None:
    rng = np.random.default_rng(14)
    names, systems = [f"set-{k:02d}" for k in range(14)], [f"s{k}" for k in range(9)]
    sizes = {"100": 100, "300": 300, "full": 900}
    spread = 9 / np.sqrt(np.array(list(sizes.values())))[:, None]
    truth = rng.normal(50, 1, 9)
    cubes = {
        name: build_cube(truth + rng.normal(0, spread / 2, (3, 9)), systems, name=name, sizes=sizes, se=np.tile(spread, (1, 36)))
        for name in names
    }
    analyses = ("thresholds", "size-curve", "calibration-transfer", "domain-curve")
    given = make_report(cubes, analyses=analyses)
    drawings: dict[str, list[ElementTree.Element]] = {}
    for drawing in draw_all(given, build_report(given)):
        drawings.setdefault(drawing.file.rpartition("-")[0], []).append(ElementTree.fromstring(drawing.svg))
    together = {"size-curve", "domains", "domain-confidence", "calibration", "calibration-map", "gains-elsewhere"}
    assert together <= drawings.keys()
    for kind, drawn in drawings.items():
        if kind not in together:
            assert len(drawn) == 14, kind  # a figure each
            continue
        words = [word for svg in drawn for word in texts(svg)]
        shown = {name for name in names if any(word.partition(" ")[0] == name for word in words)}
        # The first is the base, which the axis of those figures names.
        assert shown >= {*names[kind.startswith(("calibration", "gains")) :]}, kind


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("log", [False, True])
@pytest.mark.parametrize("x", [[-1.7e308, 1.7e308], [1e308, 1.7e308], [1.7e308], [1e-308, 1.7e308]])
def test_values_near_the_largest_float_have_a_place(x: list[float], log: bool) -> None:
    chart = Chart(x=Axis(log=log), y=Axis(high=1.06 * 1.79e308))  # an end that overflows
    chart.points(x, x, "o", colour=BLUE)
    chart.line(x, x, colour=ORANGE)
    drawn = draw_chart(chart, title="Title", alt="Alt")
    assert not re.search(r"\b(inf|nan)\b", drawn)
    shown = [value for value in x if value >= 1e-300 or not log]
    assert len(centres(ElementTree.fromstring(drawn), BLUE)) == len(shown)
    assert max(map(len, texts(ElementTree.fromstring(drawn)))) < 12


@pytest.mark.filterwarnings("error")
def test_scores_near_the_largest_float_have_a_place_in_the_forest() -> None:
    entries = [Entry(name=f"s{k}", number="–", score=score, ends=(score, score)) for k, score in enumerate([-1.7e308, 1.7e308])]
    drawn = draw_forest(entries, metric="mean", systems=2, title="Title", alt="Alt")
    assert not re.search(r"\b(inf|nan)\b", drawn)
    low, high = sorted(set(re.findall(r'<circle cx="([\d.]+)"', drawn)), key=float)
    assert 0 < float(low) < float(high) < 720


def below(chart: Chart, **options: Any) -> list[ElementTree.Element]:
    """Return the words below the x axis of a chart whose other words are no larger."""
    return [text for text in draw(chart, **options).iter(f"{SVG}text") if text.get("font-size") == "11"]


def test_bins_that_would_touch_are_turned_and_all_are_told() -> None:
    chart = Chart()
    chart.y.ticks, chart.x.ticks = [], [(x, f".00{x}25–.00{x + 1}25") for x in range(8)]
    chart.points([0, 7], [0, 1], "o", colour=BLUE)
    narrow, wide = below(chart, size=(3.4, 3.0)), below(chart, size=(12.0, 3.0))
    assert [text.text for text in narrow] == [text.text for text in wide] == [text for _, text in chart.x.ticks]
    assert all("rotate" in text.get("transform", "") for text in narrow)
    assert not any("rotate" in text.get("transform", "") for text in wide)


def test_of_sizes_that_would_touch_on_a_logarithmic_axis_the_larger_is_told() -> None:
    chart = Chart()
    chart.y.ticks, chart.x.log, chart.x.ticks = [], True, [(n, f"{n:,}") for n in (100, 6400, 12002, 997, 1000)]
    chart.points([100, 12002], [0, 1], "o", colour=BLUE)
    assert [text.text for text in below(chart)] == ["100", "1,000", "6,400", "12,002"]
    assert [text.text for text in below(chart, size=(2.2, 3.0))] == ["100", "1,000", "12,002"]


def test_words_beside_a_point_at_the_edge_stay_within_the_picture() -> None:
    chart = Chart()
    chart.points([0, 1], [0, 1], "o", colour=BLUE)
    chart.words(1, 0.5, "a long name", right=4)
    chart.words(0, 0.5, "a name that is longer than all that is beside it", anchor="end", right=-4)
    svg = draw(chart, size=(5.0, 3.0))
    assert float(texts(svg)["a long name"].get("x", "")) < 500 - 5 * len("a long name")
    assert float(texts(svg)["a name that is longer than all that is beside it"].get("x", "")) > 5 * 48


def test_the_first_number_below_a_narrow_forest_is_within_it() -> None:
    entries = [Entry(name="s", number="–", score=1500, ends=(1000, 2400), ranks=(1, 1, 1))]
    svg = ElementTree.fromstring(draw_forest(entries, metric="mean", systems=1, title="Title", alt="Alt", narrow=True))
    numbers = [text for text in svg.iter(f"{SVG}text") if (text.text or "").isdigit()]
    assert numbers[0].text == "1000"
    assert float(numbers[0].get("x", "")) - 3.5 * 4 >= 0
