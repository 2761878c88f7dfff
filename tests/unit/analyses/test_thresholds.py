import numpy as np
import pytest
from support.synthetic_cubes import build_cube, gaussian_cube

from pipeline.analyses.pairs import Window, percentile_of
from pipeline.analyses.system_bootstrap import SystemBootstrap, system_interval, weighted_percentile
from pipeline.analyses.thresholds import Thresholds, fit_logistic


def row_of(finding, relation="all", size="full"):
    (row,) = [r for r in finding.rows if r["relation"] == relation and r["test_size"] == size]
    return row


def test_the_percentile_is_of_type_seven_by_hand():
    # h = (5 - 1) * 0.95 = 3.8: between the 4th and 5th value, 4 + 0.8 * (9 - 4).
    assert percentile_of(np.array([9.0, 1.0, 2.0, 4.0, 3.0]), 95) == pytest.approx(8.0)


def test_the_weighted_percentile_is_that_of_repeated_values():
    rng = np.random.default_rng(1)
    values, weights = rng.normal(size=30), rng.integers(0, 4, size=(50, 30)).astype(float)
    expected = [np.percentile(np.repeat(values, row.astype(int)), 95) for row in weights]
    assert weighted_percentile(values, weights, 95.0) == pytest.approx(expected)


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
    assert row["interval"]["lo"] <= row["gain"] <= row["interval"]["hi"]


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
    row = row_of(Thresholds().find({"news": build_cube(np.array([10.0, 1.0]), list("ab"))}, {}))
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


def test_the_interval_is_the_same_every_time_and_differs_by_seed():
    rng = np.random.default_rng(6)
    cube = build_cube(rng.normal(50, 1, 30), [f"s{i}" for i in range(30)], se=rng.uniform(0.3, 0.9, (1, 435)))
    first, second = (row_of(Thresholds().find({"news": cube}, {}))["interval"] for _ in range(2))
    other = row_of(Thresholds().find({"news": cube.assign_attrs(seed=8)}, {}))["interval"]
    assert first == second
    assert first != other


def test_replicas_are_drawn_within_their_base_model():
    systems = tuple(f"{m}{i}" for m in "xyz" for i in range(5))
    drawn = SystemBootstrap(systems, {s: s[0] for s in systems}, 1, "news", "full")
    weights = drawn.draw(500)
    assert weights.reshape(500, 3, 5).sum(axis=2) == pytest.approx(5.0)
    assert np.ptp(weights, axis=0).min() > 0
    assert "3" in drawn.note


def test_more_than_three_base_models_are_drawn_themselves():
    systems = tuple(f"{m}{i}" for m in "wxyz" for i in range(5))
    drawn = SystemBootstrap(systems, {s: s[0] for s in systems}, 1, "news", "full")
    sums = drawn.draw(500).reshape(500, 4, 5).sum(axis=2)
    assert drawn.note is None
    assert set(np.unique(sums)) <= {0.0, 5.0, 10.0, 15.0, 20.0}
    assert sums.min() == 0


def test_a_system_is_never_paired_with_its_copy():
    drawn = SystemBootstrap(("a", "b", "c"), {}, 1, "news", "full")
    seen = []

    def keep(weights):
        seen.append(weights)
        return np.where(weights.sum(axis=1) > 0, weights[:, 0], np.nan)

    first, second = np.array([0, 0, 1]), np.array([1, 2, 2])
    interval, reason = system_interval(drawn, first, second, keep, replicates=900)
    # All three draws are the same system in 3 of 27 cases: then no pair has weight.
    empty = float((np.concatenate(seen).sum(axis=1) == 0).mean())
    assert 0.05 < empty < 0.18  # 1/9 ± 6 standard errors: false alarm 1e-9
    assert interval is None
    assert "leave no pair" in reason


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


def test_the_ends_of_the_window_belong_to_it():
    assert Window().holds(np.array([0.0399, 0.04, 0.06, 0.0601])).tolist() == [False, True, True, False]


@pytest.mark.parametrize(
    ("attrs", "told"), [({}, True), ({"asked_baseline": "s1"}, False), ({"baseline": "s1", "asked_baseline": ""}, True)]
)
def test_thresholds_of_all_pairs_are_no_matter_of_a_family_with_a_baseline(attrs, told):
    cube = gaussian_cube(np.random.default_rng(1), systems=40, sizes={"full": 400}, sigma=20.0, spread=1.5)
    headlines = Thresholds().find({"news": cube.assign_attrs(attrs)}, {}).headlines
    assert [headline.where for headline in headlines] == [
        {"test_set": "news", "metric": "bleu", "procedure": "paired-bootstrap"}
    ] * told
    assert all("this size (n = 400)" in headline.sentence and "borderline pair" in headline.sentence for headline in headlines)
