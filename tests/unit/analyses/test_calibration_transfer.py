"""Calibration across test sets: shares and slopes by hand, planted truths, and what has no answer."""

import numpy as np
import pytest
import xarray as xr
from scipy.special import ndtr
from support.synthetic_cubes import build_cube

from pipeline.analyses.calibration_transfer.analysis import CalibrationTransfer
from pipeline.analyses.calibration_transfer.options import CalibrationOptions
from pipeline.analyses.system_bootstrap import SystemBootstrap
from pipeline.errors import StudyError
from pipeline.interfaces import ScoredStatistics
from pipeline.interfaces.charts import Chart, Line, Points, Words


def bins_of(finding):
    return {r["p_high"]: r for r in finding.rows if r["kind"] == "bin"}


def base_and_other():
    # Gains on the base in units of se: a-b 1, a-c 2, a-d 3, b-c 1, b-d 2, c-d 1
    base = build_cube(np.array([53.0, 52.0, 51.0, 50.0]), list("abcd"), se=1.0)
    # Elsewhere: d first, a and b tied, c last; other order of systems and of names within a pair.
    pairs = [("d", "c"), ("d", "b"), ("c", "b"), ("d", "a"), ("b", "a"), ("c", "a")]
    other = build_cube(np.array([60.0, 40.0, 50.0, 50.0]), list("dcba"), pairs=pairs, name="other")
    return {"news": base, "other": other}


def test_shares_by_hand_with_other_orders_of_pairs():
    rows = bins_of(CalibrationTransfer().find(base_and_other(), {"bins": [0.005, 0.05]}))
    # p(3) = .00135: a-d, reversed there. p(2) = .0228: a-c kept, b-d reversed. p(1) = .159: a-b tied, b-c kept, c-d reversed.
    assert [(rows[h]["pairs"], rows[h]["same_sign"], rows[h]["ties"]) for h in (0.005, 0.05, 1.0)] == [
        (1, 0, 0),
        (2, 1, 0),
        (3, 1, 1),
    ]
    assert [rows[h]["share"] for h in (0.005, 0.05, 1.0)] == [0.0, 0.5, 0.5]
    assert rows[1.0]["systems"] == 3


def test_a_bin_is_open_below_and_closed_above():
    cubes = base_and_other()
    p = float(cubes["news"]["p_value"].sel(convention="one-sided").values.ravel()[1])  # a-c
    rows = bins_of(CalibrationTransfer().find(cubes, {"bins": [0.001, p]}))
    assert rows[p]["pairs"] == 3


def test_a_system_absent_on_the_other_set_is_counted_not_guessed():
    cubes = base_and_other()
    cubes["other"] = build_cube(np.array([60.0, 40.0, 50.0]), list("dcb"), name="other")
    rows = bins_of(CalibrationTransfer().find(cubes, {"bins": [0.05]}))
    assert (rows[0.05]["pairs"], rows[0.05]["unmatched_pairs"]) == (1, 2)


def with_items(**items):
    """Statistics of no use but for the names of their items."""

    def of(names):
        data = xr.Dataset(coords={"item": np.array(names, dtype=object)})
        return {"bleu": ScoredStatistics(data, lambda sums: sums[0], "general", higher_is_better=True)}

    return CalibrationTransfer().with_statistics({name: of(names) for name, names in items.items()})


def test_another_test_set_of_the_same_items_is_told():
    finding = with_items(news=["q1", "q2", "q3"], other=["q2", "q3", "q4", "q5"]).find(base_and_other(), {})
    assert {row["shared_items"] for row in finding.rows} == {2}
    (note,) = [note for note in finding.notes if "in common" in note]
    assert note.startswith("other has 2 of its 4 items in common with news, by their names")
    assert all(note in table.caption for table in finding.tables)


@pytest.mark.parametrize(
    ("items", "shared"),
    [
        ({"news": ["q1"], "other": ["q2"]}, 0),
        ({"news": ["1", "2"], "other": ["1", "2", "3"]}, None),  # mere line numbers
        ({"news": ["7", "1"], "other": ["1", "2"]}, None),
        ({"news": ["q1"]}, None),
        ({}, None),
    ],
)
def test_items_that_are_others_or_have_no_names_are_not_called_shared(items, shared):
    finding = with_items(**items).find(base_and_other(), {})
    assert {row["shared_items"] for row in finding.rows} == {shared}
    assert not any("in common" in note for note in finding.notes)


def test_one_test_set_gives_null_with_the_reason():
    (row,) = CalibrationTransfer().find({"news": base_and_other()["news"]}, {}).rows
    assert row["share"] is None
    assert "one test set" in row["reason"]


def test_a_misspelt_test_set_is_a_row_with_the_reason_not_a_crash():
    (row,) = CalibrationTransfer().find(base_and_other(), {"against": "othr"}).rows
    assert "did you mean 'other'" in row["reason"]


def test_identical_pairs_are_in_no_bin():
    cubes = base_and_other()
    cubes["news"] = build_cube(np.array([53.0, 53.0, 51.0, 50.0]), list("abcd"), se=1.0, identical=[("a", "b")])
    # a-c, a-d and c-d: a = b is no pair, and b's other pairs are those of a once more.
    assert sum(r["pairs"] for r in bins_of(CalibrationTransfer().find(cubes, {})).values()) == 3


@pytest.mark.statistical
def test_an_unrelated_test_set_keeps_half_of_the_signs():
    """40 systems shuffled: the share of kept signs is within 6 sd (about .055 each) of ½; false alarm below 1e-6."""
    rng = np.random.default_rng(np.random.SeedSequence().entropy)
    names = [f"s{i}" for i in range(40)]
    cubes = {
        "news": build_cube(rng.normal(50, 1, 40), names),
        "other": build_cube(rng.normal(50, 1, 40), names, name="other"),
    }
    rows = [r for r in CalibrationTransfer().find(cubes, {"bins": [1.0]}).rows if r["kind"] == "bin"]
    (row,) = rows
    assert row["pairs"] == 780
    assert row["share"] == pytest.approx(0.5, abs=0.34)
    assert row["interval"]["lo"] < row["share"] < row["interval"]["hi"]
    # The interval knows that there are 40 systems: it is far wider than that of 780 independent pairs (.07).
    assert row["interval"]["hi"] - row["interval"]["lo"] > 0.12


def test_the_gain_that_is_kept_is_a_ratio_of_sums_over_all_pairs_of_a_bin():
    rows = bins_of(CalibrationTransfer().find(base_and_other(), {"bins": [0.005, 0.05]}))
    # a-d 3 → 50 − 60; a-c 2 → 50 − 40 and b-d 2 → 50 − 60; a-b 1 → 0, b-c 1 → 10, c-d 1 → 40 − 60.
    assert [rows[h]["retained"] for h in (0.005, 0.05, 1.0)] == pytest.approx([-10 / 3, 0.0, -10 / 3])


def many(rng, keep, count=30):
    """Systems on a base, and elsewhere with a part of their gains and noise."""
    names = [f"s{i:02d}" for i in range(count)]
    scores = rng.normal(50, 2, count)
    return {
        "news": build_cube(scores, names),
        "half": build_cube(50 + keep * (scores - 50), names, name="half"),
        "noisy": build_cube(50 + keep * (scores - 50) + rng.normal(0, 0.7, count), names, name="noisy"),
    }


def test_what_is_kept_exactly_is_found_exactly_and_has_no_interval_to_speak_of():
    finding = CalibrationTransfer().find(many(np.random.default_rng(5), 0.25), {"against": "half"})
    there = [row for row in finding.rows if row["pairs"] > 1]
    assert len(there) >= 5
    assert [row["retained"] for row in there] == pytest.approx([0.25] * len(there))
    assert {row["share"] for row in there} == {1.0}
    levels = finding.csv["calibration_levels"]
    assert [row["level"] for row in levels] == [0.8, 0.95]
    assert [row["largest_p"] for row in levels] == [1.0] * 2  # all signs are kept
    assert {row["pairs"] for row in levels} == {len(read_p(many(np.random.default_rng(5), 0.25)["news"]))}


def read_p(cube):
    p = cube["p_value"].sel(convention="one-sided").values.ravel()
    return np.minimum(p, 1 - p).tolist()


BINS = [0.001, 0.01, 0.05, 0.1, 0.2, 0.3]


def test_the_interval_of_the_gain_that_is_kept_lies_around_it():
    finding = CalibrationTransfer().find(many(np.random.default_rng(8), 0.7), {"against": "noisy", "bins": [0.3]})
    row = finding.rows[0]
    assert 0.4 < row["retained_interval"]["lo"] < row["retained"] < row["retained_interval"]["hi"] < 1


@pytest.mark.parametrize("level", [0.9, 0.92])
def test_the_p_up_to_which_a_share_is_kept_is_found_by_going_through_the_edges(level):
    cubes = many(np.random.default_rng(8), 0.7)
    (row,) = CalibrationTransfer().find(cubes, {"against": "noisy", "levels": [level], "bins": BINS}).csv["calibration_levels"]
    base, other = (cubes[name]["observed_delta"].sel(metric="bleu", test_size="full").values.ravel() for name in ("news", "noisy"))
    p, kept = np.array(read_p(cubes["news"])), np.sign(base) == np.sign(other)
    largest = None
    for edge in [*BINS, 1.0]:
        if kept[p <= edge].mean() < level:
            break
        largest = edge
    assert largest not in (None, 1.0)  # some edges reach it, and some do not
    assert row["largest_p"] == largest
    assert row["pairs"] == (p <= largest).sum()
    assert row["share"] == pytest.approx(kept[p <= largest].mean())
    assert row["interval"]["lo"] < row["share"]
    assert row["certain_p"] is None or row["certain_p"] <= row["largest_p"]


def test_ties_elsewhere_are_no_lost_signs_where_a_share_is_reached():
    cubes = base_and_other()
    cubes["other"] = build_cube(np.array([53.0, 52.0, 51.0, 51.0]), list("abcd"), name="other")  # c and d are tied
    (row,) = CalibrationTransfer().find(cubes, {"levels": [0.9]}).csv["calibration_levels"]
    assert (row["largest_p"], row["share"], row["pairs"]) == (1.0, 1.0, 5)


def test_an_edge_above_one_that_falls_short_is_not_reached_again():
    names = list("abcdefgh")
    base = build_cube(50 + 1.5 * np.arange(8)[::-1].astype(float), names)
    other = build_cube(np.array([5.0, 6.0, 4.0, 3.0, 2.0, 1.0, 0.0, -1.0]), names, name="other")  # the two best change places
    p = np.array(read_p(base))
    flipped = float(p[0])  # a-b: the pair with the largest p of those next to each other, as all of them have
    (row,) = (
        CalibrationTransfer().find({"news": base, "other": other}, {"levels": [0.9], "bins": [flipped]}).csv["calibration_levels"]
    )
    assert row["largest_p"] == 1.0
    worse = build_cube(np.array([-1.0, 6.0, 4.0, 3.0, 2.0, 1.0, 0.0, 5.0]), names, name="other")  # the best is the last
    (row,) = (
        CalibrationTransfer().find({"news": base, "other": worse}, {"levels": [0.7], "bins": [1e-12]}).csv["calibration_levels"]
    )
    first = p <= 1e-12
    assert first.any()
    assert row["largest_p"] is None
    assert row["reason"].startswith("not even pairs with p up to 1e-12 reach it: ")


@pytest.mark.statistical
def test_what_is_reached_with_confidence_is_reached_indeed():
    """25 systems, drift between test sets: the true share at `certain_p` is below the level in few of 60 studies.

    Of 60 at most 2.5 % each are expected; ten or more have a chance below 1e-5.
    """
    rng = np.random.default_rng(np.random.SeedSequence().entropy)
    spread, drift, level, count = 1.5, 0.5, 0.75, 25
    true = rng.normal(0, spread, 4000)
    here, there = (true + rng.normal(0, np.sqrt(0.5), 4000) for _ in range(2))
    there = there + rng.normal(0, drift, 4000)
    first, second = rng.integers(0, 4000, (2, 400_000))
    gain, kept = here[first] - here[second], there[first] - there[second]
    p_of = ndtr(-np.abs(gain))
    share_at = {edge: (np.sign(gain) == np.sign(kept))[p_of <= edge].mean() for edge in (*CalibrationOptions().bins, 1.0)}
    wrong = told = 0
    for _ in range(60):
        skill = rng.normal(0, spread, count)
        names = [f"s{k:02d}" for k in range(count)]
        cubes = {
            "news": build_cube(skill + rng.normal(0, np.sqrt(0.5), count), names, se=1.0),
            "other": build_cube(skill + rng.normal(0, np.sqrt(0.5), count) + rng.normal(0, drift, count), names, name="other"),
        }
        options = {"levels": [level], "interval_replicates": 400}
        (row,) = CalibrationTransfer().find(cubes, options).csv["calibration_levels"]
        if row["certain_p"] is not None:
            told += 1
            wrong += share_at[row["certain_p"]] < level
    assert told >= 5
    assert wrong < 10


def test_one_table_has_all_test_sets_and_the_map_shows_each():
    cubes = many(np.random.default_rng(8), 0.7)
    more = {f"set {k:02d}": many(np.random.default_rng(k), 0.7)["noisy"] for k in range(14)}
    finding = CalibrationTransfer().find({"news": cubes["news"], **more}, {})
    overview = finding.tables[0]
    assert overview.title == "news → other test sets · BLEU · paired-bootstrap"
    assert [row["against"] for row in overview.rows] == list(more)
    first = next(row for row in finding.rows if row["kind"] == "bin" and row["share"] is not None)
    span = f"{first['p_low']:g} – {first['p_high']:g}"
    cell = next(row for row in overview.rows if row["against"] == first["against"])[span]
    assert cell == f"{100 * first['share']:.0f} % of {first['pairs'] - first['ties']}"
    (drawn,) = [figure for figure in finding.figures if figure.name == "calibration-map"]
    chart = Chart()
    drawn.draw(chart)
    assert [text for _, text in chart.y.ticks] == list(more)
    written = [mark.text for mark in chart.marks if isinstance(mark, Words)]
    bins = [row for row in finding.rows if row["kind"] == "bin" and row["share"] is not None]
    assert len(written) == 2 * len(bins)
    assert written[0] == f"{100 * bins[0]['share']:.0f} %"
    assert all(f"{row['against']}, p to" in drawn.alt for row in bins)


def test_with_one_other_test_set_there_is_neither_overview_nor_map():
    finding = CalibrationTransfer().find(base_and_other(), {})
    assert not any("other test sets" in table.title for table in finding.tables)
    assert {figure.name for figure in finding.figures} == {"calibration", "gains-elsewhere"}


def test_a_test_set_that_is_named_twice_is_refused():
    with pytest.raises(StudyError, match="twice"):
        CalibrationTransfer().check({"against": ["other", "other"]})


@pytest.mark.parametrize("levels", [[0.0], [1.0], [0.9, 0.9], ["much"]])
def test_levels_that_are_no_shares_are_refused(levels):
    with pytest.raises(StudyError, match="level"):
        CalibrationTransfer().check({"levels": levels})


def slope_of(finding):
    (row,) = finding.csv["calibration_slopes"]
    return row


def test_the_slope_is_that_of_least_squares_through_the_origin_by_hand():
    finding = CalibrationTransfer().find(base_and_other(), {})
    # On the base a-b 1, a-c 2, a-d 3, b-c 1, b-d 2, c-d 1; there a 50, b 50, c 40, d 60.
    x, y = np.array([1, 2, 3, 1, 2, 1]), np.array([0, 10, -10, 10, -10, -20])
    row = slope_of(finding)
    assert row["slope"] == pytest.approx((x @ y) / (x @ x))
    assert row["signal"] == pytest.approx(1 - 6 / 20)
    assert row["true_slope"] is None  # of four systems the gains may well be chance
    pairs = {(p["better"], p["worse"]): (p["gain"], p["gain_there"]) for p in finding.csv["calibration_gains"]}
    assert pairs["a", "d"] == pytest.approx((3, -10))
    assert pairs["b", "c"] == pytest.approx((1, 10))


def test_the_true_slope_has_the_squares_of_standard_errors_taken_out():
    rng = np.random.default_rng(2)
    systems, scores = [f"s{k:02d}" for k in range(15)], rng.normal(50, 3, 15)
    se = rng.uniform(0.3, 0.9, 105)
    cubes = {"news": build_cube(scores, systems, se=se[None]), "other": build_cube(2 * scores, systems, name="other")}
    row = slope_of(CalibrationTransfer().find(cubes, {}))
    squares = float((np.subtract.outer(scores, scores) ** 2).sum() / 2)
    assert row["slope"] == pytest.approx(2)
    assert row["signal"] == pytest.approx(1 - (se @ se) / squares)
    assert row["true_slope"] == pytest.approx(2 * squares / (squares - se @ se))


def test_the_true_slope_of_gains_elsewhere_that_are_no_multiple_of_those_on_the_base_and_its_interval_by_hand():
    rng = np.random.default_rng(12)
    systems, scores = [f"s{k:02d}" for k in range(15)], rng.normal(50, 3, 15)
    there = 0.7 * scores + rng.normal(0, 1, 15)
    cubes = {"news": build_cube(scores, systems, se=0.8), "other": build_cube(there, systems, name="other")}
    row = slope_of(CalibrationTransfer().find(cubes, {}))
    first, second = np.triu_indices(15, 1)
    x, y = scores[first] - scores[second], there[first] - there[second]
    assert row["slope"] == pytest.approx((x @ y) / (x @ x))
    assert row["true_slope"] == pytest.approx((x @ y) / (x @ x - 105 * 0.8**2))
    counts = SystemBootstrap(tuple(systems), {}, cubes["news"].attrs["seed"], "news", "full").draw(
        CalibrationOptions().interval_replicates
    )
    weights = counts[:, first] * counts[:, second]
    ends = np.quantile((weights @ (x * y)) / (weights @ (x**2 - 0.8**2)), [0.025, 0.975])
    assert [row["true_slope_interval"][end] for end in ("lo", "hi")] == pytest.approx(ends)
    assert ends[0] < row["true_slope"] < ends[1]


@pytest.mark.parametrize(
    ("items", "told"), [(["q1", "p2"], "1 item is"), (["q1", "q2"], "2 items are"), (["p1", "p2"], None), (["1", "2"], None)]
)
def test_test_sets_that_share_items_have_no_true_slope(items, told):
    rng = np.random.default_rng(2)
    scores, systems = rng.normal(50, 3, 15), [f"s{k:02d}" for k in range(15)]
    cubes = {name: build_cube(scores, systems, se=0.4, name=name) for name in ("news", "other")}
    row = slope_of(with_items(news=["q1", "q2"], other=items).find(cubes, {}))
    assert row["slope"] == pytest.approx(1)
    assert (row["true_slope"] is None) == (told is not None)
    assert row["reason"] == (f"no true slope: {told} in both test sets, by their names, and chance in both gains" if told else None)


@pytest.mark.parametrize("count", [2, 3])
def test_one_pair_or_three_systems_have_a_slope_and_no_true_one(count):
    scores, names = np.array([60.0, 55.0, 50.0])[:count], list("abc")[:count]
    cubes = {name: build_cube(scores, names, se=1.0, name=name) for name in ("news", "other")}
    finding = CalibrationTransfer().find(cubes, {})
    row = slope_of(finding)
    assert (row["slope"], row["true_slope"], row["true_slope_interval"]) == (pytest.approx(1), None, None)
    assert row["reason"] == "no true slope: from so few systems it is not known how much of the gains is chance"
    (table,) = [table for table in finding.tables if table.title.startswith("Gains elsewhere")]
    assert {2: "only 1 pair;", 3: "only 3 pairs;"}[count] in table.rows[0]["remark"]


def test_gains_of_zero_on_the_base_have_no_slope_and_no_figure():
    cubes = {"news": build_cube(np.full(5, 50.0), list("abcde")), "other": build_cube(np.arange(5.0), list("abcde"), name="other")}
    finding = CalibrationTransfer().find(cubes, {})
    assert (slope_of(finding)["slope"], slope_of(finding)["reason"]) == (None, "no pair with a gain on both test sets")
    assert not [figure for figure in finding.figures if figure.name == "gains-elsewhere"]


@pytest.mark.statistical
def test_a_planted_slope_is_found_once_chance_is_taken_out():
    """Five standard errors of the mean of twelve studies: false alarm below 1e-6."""
    rng = np.random.default_rng(np.random.SeedSequence().entropy)
    systems, noise, planted = [f"s{k:03d}" for k in range(90)], 0.8, 1.4
    slopes, true = [], []
    for _ in range(12):
        scores = rng.normal(50, 1, 90)
        here, there = scores + rng.normal(0, noise, 90), planted * scores + rng.normal(0, noise, 90)
        cubes = {name: build_cube(values, systems, se=noise * 2**0.5) for name, values in (("news", here), ("other", there))}
        row = slope_of(CalibrationTransfer().find(cubes, {"interval_replicates": 100}))
        slopes.append(row["slope"])
        true.append(row["true_slope"])
    # One study's slopes vary by .096 and .21, as sixty others did.
    assert np.mean(true) == pytest.approx(planted, abs=5 * 0.21 / 12**0.5)
    assert np.mean(slopes) == pytest.approx(planted / (1 + noise**2), abs=5 * 0.096 / 12**0.5)


def test_gains_that_are_chance_have_no_true_slope():
    rng = np.random.default_rng(3)
    systems = [f"s{k:02d}" for k in range(20)]
    cubes = {name: build_cube(rng.normal(50, 0.5, 20), systems, se=0.75) for name in ("news", "other")}
    row = slope_of(CalibrationTransfer().find(cubes, {}))
    assert row["true_slope"] is None
    assert row["reason"] == "no true slope: the gains on the base may be little more than chance"
    assert (row["slope"] is None, row["signal"] < 0.5) == (False, True)


def test_the_figure_of_gains_shows_the_pairs_and_lines_of_its_files():
    rng = np.random.default_rng(4)
    systems = [f"s{k:02d}" for k in range(12)]
    scores = rng.normal(50, 1, 12)
    cubes = {name: build_cube(scores + rng.normal(0, 0.3, 12), systems, se=0.4) for name in "abcdefgh"}
    finding = CalibrationTransfer().find(cubes, {"interval_replicates": 100})
    figures = [figure for figure in finding.figures if figure.name == "gains-elsewhere"]
    assert len(figures) == 2  # six test sets and one
    slopes = {row["against"]: row["slope"] for row in finding.csv["calibration_slopes"]}
    seen = []
    for figure in figures:
        chart = Chart()
        figure.draw(chart)
        marks = [mark for mark in chart.marks if isinstance(mark, Points)]
        lines = [mark for mark in chart.marks if isinstance(mark, Line) and not mark.dashes]
        for mark, line in zip(marks, lines, strict=True):
            name = mark.label.partition(" ")[0]
            rows = [row for row in finding.csv["calibration_gains"] if row["against"] == name]
            assert list(zip(mark.x, mark.y, strict=True)) == [(row["gain"], row["gain_there"]) for row in rows]
            assert line.y[1] / line.x[1] == pytest.approx(slopes[name])
            seen.append(name)
    assert seen == list("bcdefgh")


def test_the_numbers_of_pairs_stand_below_the_bars_where_no_interval_reaches():
    finding = CalibrationTransfer().find(base_and_other(), {"bins": [0.05]})
    (figure,) = (figure for figure in finding.figures if figure.name == "calibration")
    chart = Chart()
    figure.draw(chart)
    numbers = [mark for mark in chart.marks if isinstance(mark, Words)]
    assert [mark.text for mark in numbers] == ["3", "2"]
    assert all(mark.y == 0 and mark.up < 0 for mark in numbers)
    assert chart.y.low < 0
