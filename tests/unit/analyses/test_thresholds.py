"""Thresholds: both rules by hand, planted truths, kinship against all arrangements, and what has no answer."""

import numpy as np
import pytest
from support.synthetic_cubes import build_cube, gaussian_cube

from pipeline.analyses.pair_classes import PairClass, read_classes
from pipeline.analyses.pairs import Window, percentile_of
from pipeline.analyses.system_sample import sample_systems
from pipeline.analyses.thresholds import kinship
from pipeline.analyses.thresholds.analysis import Thresholds, fit_logistic
from pipeline.errors import StudyError
from pipeline.interfaces.charts import Chart


def row_of(finding, relation="all", size="full"):
    (row,) = [r for r in finding.rows if r["relation"] == relation and r["test_size"] == size]
    return row


def test_the_percentile_is_of_type_seven_by_hand():
    # h = (5 - 1) * 0.95 = 3.8: between the 4th and 5th value, 4 + 0.8 * (9 - 4).
    assert percentile_of(np.array([9.0, 1.0, 2.0, 4.0, 3.0]), 95) == pytest.approx(8.0)


def test_the_threshold_is_the_percentile_of_the_gains_in_the_window():
    se = np.full((1, 6), 1.0)
    # z = 1.6 .. 1.7 have p in [.04, .06]; 1.2 and 3.0 have not.
    cube = build_cube(np.array([10.0, 8.4, 7.0, 8.35]), list("abcd"), se=se)
    gains = [1.6, 1.65]  # a-b, a-d; the others: a-c 3, b-c 1.4, b-d .05, c-d 1.35
    row = row_of(Thresholds().find({"news": cube}, {}))
    assert row["pairs_in_window"] == 2
    assert row["systems_in_window"] == 3
    assert row["gain"] == pytest.approx(np.percentile(gains, 95))
    assert "only 2 pairs" in row["warning"]


@pytest.mark.statistical
def test_equal_spread_gives_the_gaussian_median_gain():
    """False alarm below 1e-6: with equal σ every gain in the window lies in [z(.06), z(.04)]·se, so the bounds are certain."""
    rng = np.random.default_rng(np.random.SeedSequence().entropy)
    cube = gaussian_cube(rng, systems=60, sizes={"full": 400}, sigma=20.0, spread=1.5)
    row = row_of(Thresholds().find({"news": cube}, {}))
    unit = 20.0 / np.sqrt(400)
    assert row["pairs_in_window"] > 20
    assert 1.5547 * unit < row["median_gain"] < 1.7508 * unit
    assert row["gaussian_gain"] == pytest.approx(1.644854 * unit, rel=1e-5)
    assert row["se_gain"] == pytest.approx(1.644854 * unit, rel=1e-5)
    assert (row["interval"], row["se_interval"]) == (None, None)  # 60 systems are too few for the upper end of a 95th percentile


def test_same_and_different_pairs_are_apart_and_add_up():
    rng = np.random.default_rng(3)
    models = ["m1"] * 12 + ["m2"] * 12 + [""] * 2
    systems = [f"s{i}" for i in range(26)]
    same = np.array([bool(models[i]) and models[i] == models[j] for i in range(26) for j in range(i + 1, 26)])
    cube = build_cube(rng.normal(50, 1, 26), systems, se=np.where(same, 0.4, 0.8)[None], coords={"model": models})
    finding = Thresholds().find({"news": cube}, {})
    rows = {r["relation"]: r for r in finding.rows}
    assert rows["same"]["pairs"] == 2 * 66
    assert rows["different"]["pairs"] == 144
    assert rows["all"]["pairs"] == 325  # the two systems without a model are in no class
    assert rows["same"]["gain"] < 1.76 * 0.4 < 1.55 * 0.8 < rows["different"]["gain"]
    assert {r["relation_by"] for r in finding.rows} == {"model"}
    split = Thresholds().find({"news": cube}, {"combinations": True})
    assert "m1 × m2" in {r["relation"] for r in split.rows}


def test_identical_pairs_are_left_out_and_counted():
    cube = build_cube(np.array([10.0, 10.0, 9.0]), list("abc"), identical=[("a", "b")])
    row = row_of(Thresholds().find({"news": cube}, {}))
    assert (row["pairs"], row["identical_pairs"], row["copied_pairs"], row["pairs_without_p"]) == (1, 1, 1, 0)


def test_an_empty_window_gives_null_with_the_reason():
    finding = Thresholds().find({"news": build_cube(np.array([10.0, 1.0]), list("ab"))}, {})
    (band,) = (mark for mark in finding.marks if mark.axis == "p")
    assert band.caption == "The band is p in [0.04, 0.06]."  # and no word of a line, which there is not
    row = row_of(finding)
    assert row["gain"] is None
    assert row["reason"] == "no pair has a p-value in [0.04, 0.06]"
    assert row["interval"] is None
    assert row["interval_note"]


def test_neither_the_order_of_pairs_nor_of_systems_changes_a_number():
    rng = np.random.default_rng(5)
    names = [f"s{i}" for i in range(20)]
    scores = rng.normal(50, 1, 20)
    order = rng.permutation(20)
    one = Thresholds().find({"news": build_cube(scores, names)}, {})
    two = Thresholds().find({"news": build_cube(scores[order], [names[i] for i in order])}, {})
    assert one.rows == two.rows


def test_the_logistic_curve_recovers_its_own_parameters():
    rng = np.random.default_rng(2)
    gain = rng.uniform(0, 4, 200_000)
    significant = rng.random(gain.size) < 1 / (1 + np.exp(-(3 * gain - 6)))
    found, reason = fit_logistic(gain, significant, share=0.95)
    assert reason is None
    assert found == pytest.approx((np.log(19) + 6) / 3, abs=0.03)  # se about .005


def test_separated_gains_give_no_curve_but_the_reason():
    found, reason = fit_logistic(np.array([1.0, 2.0, 3.0]), np.array([False, False, True]), share=0.95)
    assert found is None
    assert "separates" in reason


def test_a_pair_with_p_equal_to_alpha_counts_as_significant_in_the_curve():
    cube = build_cube(np.array([10.0, 8.0, 7.5, 7.0]), list("abcd"), se=np.array([[1.0, 1.3, 1.6, 0.4, 0.3, 0.5]]))
    p = cube["p_value"].sel(convention="one-sided").values.ravel()
    usable = sorted(p.tolist())

    def gain_at(alpha):
        return row_of(Thresholds().find({"news": cube}, {"alpha": alpha}))["logistic_gain"]

    middle = usable[2]
    gain, significant = np.abs(cube["observed_delta"].values.ravel()), p <= middle
    assert gain_at(middle) == fit_logistic(gain, significant, share=1 - middle)[0] is not None
    assert fit_logistic(gain, p < middle, share=1 - middle)[0] != gain_at(middle)


def test_the_gaussian_quantile_is_that_of_the_middle_of_the_window():
    rng = np.random.default_rng(8)
    cube = gaussian_cube(rng, systems=20, sizes={"full": 400}, sigma=20.0, spread=1.5)
    row = row_of(Thresholds().find({"news": cube}, {"window": [0.09, 0.11]}))
    assert row["gaussian_z"] == pytest.approx(1.281552, abs=1e-6)
    assert row["gaussian_gain"] == pytest.approx(row["gaussian_z"] * 1.0)


def test_the_threshold_by_standard_errors_needs_no_pair_in_the_window():
    """Gains are of 20 and more standard errors; by hand: 1.645 times .3, .4, …, 1.2 has its 95th percentile at 1.155 · 1.645."""
    se = np.array([0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.1, 1.2])
    row = row_of(Thresholds().find({"news": build_cube(np.array([0.0, 30.0, 70.0, 120.0, 180.0]), list("abcde"), se=se)}, {}))
    assert (row["gain"], row["pairs_in_window"], row["near_gain"], row["near_pairs"]) == (None, 0, None, 0)
    assert row["se_gain"] == pytest.approx(1.6448536 * 1.155)
    assert row["se_pairs"] == 10
    assert "worth" in row["se_interval_note"]


def disjoint_pairs(z, se):
    """A cube of pairs that share no system, each with a gain of so many standard errors."""
    names = [f"s{i:03d}" for i in range(2 * len(z))]
    scores = np.zeros(len(names))
    scores[::2] = np.asarray(z) * np.asarray(se)
    pairs = list(zip(names[::2], names[1::2], strict=True))
    return build_cube(scores, names, se=np.asarray(se)[None], pairs=pairs)


def test_the_threshold_near_borderline_leaves_out_pairs_that_are_far_from_it():
    """By hand: p of 1.5 se is .067, of 5 se 3e-7; ten of forty pairs are far and ten times as uncertain."""
    row = row_of(Thresholds().find({"news": disjoint_pairs([1.5] * 30 + [5.0] * 10, [1.0] * 30 + [10.0] * 10)}, {}))
    assert row["se_gain"] == pytest.approx(16.448536)
    assert (row["near_pairs"], row["near_gain"]) == (30, pytest.approx(1.6448536))
    few = row_of(Thresholds().find({"news": disjoint_pairs([1.5] * 19 + [5.0] * 10, [1.0] * 19 + [10.0] * 10)}, {}))
    assert (few["near_pairs"], few["near_gain"]) == (19, None)


@pytest.mark.parametrize(
    ("z", "told"),
    [
        (
            [1.645] * 25,
            "a gain above 1.645 is usually significant where one pair alone is tested, one-sided. "
            "This is the 95th percentile of the gains of the 25 pairs with p from 0.04 to 0.06.",
        ),
        (
            [1.645] + [1.3] * 24,
            "a gain above 1.645 is usually significant where one pair alone is tested, one-sided. "
            "This is 1.645 times the 95th percentile of the standard errors of the 25 pairs with p "
            "from 0.005 to 0.3, since only 1 has p from 0.04 to 0.06.",
        ),
        (
            [6.0] * 25,
            "a gain above 1.645 is usually significant where one pair alone is tested, one-sided. "
            "This is 1.645 times the 95th percentile of the standard errors of all 25 pairs, since "
            "none has p from 0.04 to 0.06.",
        ),
        ([1.645] + [6.0] * 5, None),
        ([6.0] * 6, None),
    ],
)
def test_verdicts_say_what_the_threshold_rests_on(z, told):
    headlines = Thresholds().find({"news": disjoint_pairs(z, [1.0] * len(z))}, {}).headlines
    assert [headline.sentence.endswith(told or "") for headline in headlines] == [True] * (told is not None)


def test_seventy_five_systems_have_an_interval_and_sixty_of_five_families_have_none():
    rng = np.random.default_rng(10)
    spread = rng.uniform(0.3, 0.9, 75)
    first, second = np.triu_indices(75, 1)
    names = [f"s{i:03d}" for i in range(75)]
    cube = build_cube(rng.normal(50, 1, 75), names, se=np.hypot(spread[first], spread[second])[None])
    row = row_of(Thresholds().find({"news": cube}, {"percentile": 75}))
    assert row["se_interval"]["lo"] < row["se_gain"] < row["se_interval"]["hi"]
    assert row["se_interval"]["method"] == "order statistics, systems as drawn"
    kin = build_cube(rng.normal(50, 1, 75), names, se=cube["se"].values[0], coords={"group": [f"g{i % 5}" for i in range(75)]})
    of_kin = row_of(Thresholds().find({"news": kin}, {"percentile": 75}))
    assert of_kin["se_interval"] is None
    assert "worth 5 independent ones (systems by group), and the 75th percentile takes 13" in of_kin["se_interval_note"]


def test_replicas_of_three_base_models_are_drawn_within_them():
    sampled = sample_systems(("x0", "x1", "y0", "z0"), {"x0": "x", "x1": "x", "y0": "y", "z0": "z"}, None)
    assert sampled.sample.stratum.tolist() == [0, 0, 1, 2]
    assert sampled.sample.draw.tolist() == [0, 1, 2, 3]
    assert "there are 3; it holds for these base models alone" in sampled.note
    four = sample_systems(("w0", "x0", "x1", "y0", "z0"), {n: n[0] for n in ("w0", "x0", "x1", "y0", "z0")}, None)
    assert four.sample.draw.tolist() == [0, 1, 1, 2, 3]
    assert four.note is None


def kin_cube(models="aaabbbccc", factor=0.6, attrs=None):
    """Systems of three models, a pair of one model ``factor`` times as uncertain as others of the same gain."""
    rng = np.random.default_rng(12)
    names = [f"s{i:02d}" for i in range(len(models))]
    scores = rng.normal(50, 3, len(models))
    first, second = np.triu_indices(len(models), 1)
    same = np.array([models[i] == models[j] for i, j in zip(first, second, strict=True)])
    gain = np.abs(scores[first] - scores[second])
    level = 1 + 0.1 * gain.mean()
    se = 1 + 0.1 * gain + (factor - 1) * level * same
    return build_cube(scores, names, se=se[None], coords={"model": list(models)}, attrs=attrs)


def test_kinship_is_the_planted_ratio_with_the_p_of_all_arrangements():
    """Nine systems in threes: 9!/(3!)³ = 1680 arrangements, 3! of which have the same three groups."""
    finding = Thresholds().find({"news": kin_cube()}, {})
    (row,) = finding.details["kinship"]
    assert (row["relation"], row["relation_by"], row["pairs"], row["other_pairs"]) == ("same", "model", 9, 27)
    assert row["ratio"] == pytest.approx(0.6)
    assert (row["p"], row["arrangements"], row["exact"]) == (pytest.approx(6 / 1680), 1680, True)
    assert list(finding.files["kinship"]) == [row]


def test_kinship_is_told_at_every_size_and_of_other_classes_at_the_full_one():
    names = [f"s{i}" for i in range(6)]
    se = np.random.default_rng(3).uniform(1, 2, (2, 15))
    sizes = {"100": 100, "full": 400}
    cube = build_cube(np.arange(6.0), names, se=se, sizes=sizes, coords={"model": list("aabbcc")})
    kinship = Thresholds().find({"news": cube}, {"classes": {"a with b": ["a", "b"]}}).details["kinship"]
    assert [(row["test_size"], row["relation"]) for row in kinship] == [("100", "same"), ("full", "same"), ("full", "a with b")]
    assert kinship[0]["ratio"] != kinship[1]["ratio"]


def test_drawn_labels_of_kinship_have_an_address():
    fewer = {"permutations": 999}
    one, same, other = (
        Thresholds().find({"news": kin_cube(factor=0.97, attrs={"seed": seed})}, fewer).details["kinship"][0] for seed in (1, 1, 2)
    )
    assert (one["arrangements"], one["exact"]) == (1000, False)
    assert one == same
    assert one["p"] != other["p"]


@pytest.mark.parametrize("permutations", [99, 10_000], ids=["drawn", "all"])
def test_how_many_arrangements_are_looked_at_together_changes_no_kinship(monkeypatch, permutations):
    cube, found = kin_cube(factor=0.97), []
    for cells in (1, 500, 2**22):
        monkeypatch.setattr(kinship, "CELLS_AT_ONCE", cells)
        found.append(Thresholds().find({"news": cube}, {"permutations": permutations}).details["kinship"])
    assert found[0] == found[1] == found[2]
    assert found[0][0]["p"] > 0


def test_any_classes_of_pairs_have_rows_marks_and_ratios():
    named = {"a and others": ["a", "*"], "b with c": [["b", "c"]]}
    finding = Thresholds().find({"news": kin_cube()}, {"classes": named, "combinations": True})
    pairs = {row["relation"]: row["pairs"] for row in finding.rows}
    assert pairs == {
        "all": 36, "same": 9, "different": 27, "a and others": 21, "b with c": 9,
        "a × a": 3, "a × b": 9, "a × c": 9, "b × b": 3, "b × c": 9, "c × c": 3,
    }  # fmt: skip
    assert [row["relation"] for row in finding.details["kinship"]] == [
        label for label in pairs if label not in {"all", "different"}
    ]
    marked = {mark.pairs: mark.values for mark in finding.marks if mark.axis == "gain"}
    assert marked["a and others"] == (("a", "*"),)
    assert marked.keys() == pairs.keys()
    (figure,) = [figure for figure in finding.figures if figure.name == "thresholds"]
    assert all(f"{label}:" in figure.alt for label in ("a and others", "b × c"))
    chart = Chart()
    figure.draw(chart)
    assert chart.y.ticks is not None
    assert [text.rpartition(" (")[0] for _, text in reversed(chart.y.ticks)] == [
        f"{name} model" if name in {"same", "different"} else name for name in pairs
    ]


def test_the_line_of_a_class_without_borderline_pairs_is_at_its_threshold_by_standard_errors():
    """Of 25 pairs far from borderline; where a pair is in the window, or the pairs are few, it is not."""

    def line(z):
        marks = Thresholds().find({"news": disjoint_pairs(z, [1.0] * len(z))}, {}).marks
        return [(mark.at, mark.label) for mark in marks if mark.axis == "gain"]

    assert line([6.0] * 25) == [(pytest.approx(1.6448536), "1.645 by se")]
    assert line([6.0] * 24 + [1.65]) == [(pytest.approx(1.65), "1.650, 1 pair")]
    assert line([6.0] * 19) == [(None, "")]


def test_more_classes_than_fit_one_figure_are_all_drawn():
    cube = kin_cube(models="abcdefgabcdefg")
    finding = Thresholds().find({"news": cube}, {"combinations": True})
    drawn = [figure.alt.count(" by se.") for figure in finding.figures if figure.name == "thresholds"]
    assert (len(finding.rows), drawn) == (31, [20, 11])


def test_a_system_without_a_value_is_dealt_no_label():
    with_strangers = kin_cube(models="aaabbbccc")
    names = [*with_strangers["system"].values.tolist(), "t1", "t2"]
    rng = np.random.default_rng(1)
    cube = build_cube(rng.normal(50, 3, 11), names, se=rng.uniform(1, 2, (1, 55)), coords={"model": [*"aaabbbccc", "", ""]})
    (row,) = Thresholds().find({"news": cube}, {}).details["kinship"]
    assert (row["pairs"], row["other_pairs"], row["arrangements"]) == (9, 27, 1680)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"same": ["a", "b"]}, "'same' is the name of a class that there is already"),
        ({"x": "a"}, "must be two values, or a list of two values each, not 'a'"),
        ({"x": [["a", "b", "c"]]}, "must be two values"),
        ({"x": []}, "must be two values"),
        ({"x": [["a", ""]]}, "must have words as values"),
    ],
)
def test_classes_that_cannot_be_are_refused_at_their_place(given, words):
    with pytest.raises(StudyError) as refused:
        Thresholds().check({"classes": given})
    (problem,) = refused.value.problems
    assert (problem.code, problem.where) == ("P104", "analyses.thresholds.classes")
    assert words in problem.message


def test_two_values_alone_are_one_combination():
    assert read_classes({"x": ["a", 1]}) == (PairClass("x", (("a", "1"),)),)


def test_the_ends_of_the_window_belong_to_it():
    assert Window().holds(np.array([0.0399, 0.04, 0.06, 0.0601])).tolist() == [False, True, True, False]


@pytest.mark.parametrize(("unit", "said"), [("item", ""), ("document", " documents"), ("speaker", " units of speaker")])
def test_a_threshold_says_what_n_counts(unit, said):
    cube = gaussian_cube(np.random.default_rng(1), systems=40, sizes={"full": 400}, sigma=20.0, spread=1.5)
    (headline,) = Thresholds().find({"news": cube.assign_attrs(unit=unit)}, {}).headlines
    assert f"With n = 400{said}, a gain above" in headline.sentence


@pytest.mark.parametrize(
    ("attrs", "told"), [({}, True), ({"asked_baseline": "s1"}, False), ({"baseline": "s1", "asked_baseline": ""}, True)]
)
def test_thresholds_of_all_pairs_are_no_matter_of_a_family_with_a_baseline(attrs, told):
    cube = gaussian_cube(np.random.default_rng(1), systems=40, sizes={"full": 400}, sigma=20.0, spread=1.5)
    headlines = Thresholds().find({"news": cube.assign_attrs(attrs)}, {}).headlines
    assert [headline.where for headline in headlines] == [
        {"test_set": "news", "metric": "bleu", "procedure": "paired-bootstrap"}
    ] * told
    assert all(
        "With n = 400, a gain above" in headline.sentence and "pairs with p from" in headline.sentence for headline in headlines
    )
