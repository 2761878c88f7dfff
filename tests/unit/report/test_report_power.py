"""What a report says of gains that a test set could have shown, of skewness, and of units on which a gain hangs."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from scipy import stats
from support.synthetic_cubes import build_cube
from support.synthetic_reports import build_document, make_report

from pipeline.analyses.pairs import read_pairs
from pipeline.report.document import read_report
from pipeline.report.layout.views import view_all
from pipeline.report.methods import methods_paragraph
from pipeline.report.pairs.detectable_text import say_smallest
from pipeline.report.trust.influence import noise_of_acceleration

PAIR = ("metric", "test_size", "pair")


def cube(scores: list[float], **variables: Any) -> Any:
    made = build_cube(
        np.array(scores), list("abcdef")[: len(scores)], se=variables.pop("se", 0.5), sizes=variables.pop("sizes", None)
    )
    attrs = variables.pop("attrs", {})
    shape = made["se"].shape
    return made.assign({name: (PAIR, np.broadcast_to(np.asarray(x), shape)) for name, x in variables.items()}).assign_attrs(attrs)


def built(one: Any, **resampling: Any) -> dict[str, Any]:
    return build_document(make_report({"news": one}, analyses=(), resampling=resampling))


def told(document: dict[str, Any], check: str) -> dict[str, str] | None:
    return next((row for row in document["trust"] if row["check"] == check), None)


def effect_of(document: dict[str, Any]) -> dict[str, Any]:
    (row,) = document["pairs"]
    found: dict[str, Any] = row["minimum_detectable_effect"]
    return found


def test_a_pair_alone_is_told_the_gain_that_it_could_have_shown() -> None:
    document = built(cube([50.4, 50.0]))
    found = effect_of(document)
    assert (found["law"], found["power"]) == ("Student", 0.8)
    assert found["level"] == pytest.approx(0.05)
    gain = found["gain"]
    assert stats.nct.sf(stats.t.isf(0.025, 999), 999, gain / 0.5) == pytest.approx(0.8, abs=1e-9)
    needed = 1000 * (0.5 / 0.4) ** 2 * (stats.norm.isf(0.025) + stats.norm.ppf(0.8)) ** 2 + stats.norm.isf(0.025) ** 2 / 2
    assert found["units_needed"] == np.ceil(needed)
    sentence = document["verdict"][0]["sentences"][1]
    assert f"(minimum detectable effect) is {gain:.3f}" in sentence
    assert f"a true gain of 0.400 needs about {found['units_needed']:,} segments" in sentence


@pytest.mark.parametrize("by_max_t", [True, False])
def test_a_gain_varies_by_the_shown_standard_error_and_is_divided_by_that_of_the_test(by_max_t: bool) -> None:
    one = cube([50.4, 50.0], se=0.9)
    one = one.assign(replicate_se=(("procedure", *PAIR), np.full((1, *one["se"].shape), 0.3)))
    divisor, critical = (0.7, 2.6) if by_max_t else (0.9, stats.t.isf(0.025, 999))
    (row,) = built(held_to(one, 2.6, 0.7) if by_max_t else one)["pairs"]
    se = 0.3 * np.sqrt(1000 / 999)
    assert row["se"] == pytest.approx(se, rel=1e-12)
    assert read_pairs(one, metric="bleu", test_size="full", procedure="paired-bootstrap").se == pytest.approx([row["se"]])
    effect = row["minimum_detectable_effect"]
    assert stats.nct.sf(critical * divisor / se, 999, effect["gain"] / se) == pytest.approx(0.8, abs=1e-9)
    enough = effect["units_needed"] + np.array([-2, 2])  # the number is known to one or two
    asked = stats.t.isf(effect["level"] / 2, enough - 1) * divisor / se
    less, more = stats.nct.sf(asked, enough - 1, 0.4 / se * np.sqrt(enough / 1000))
    assert less < 0.8 < more


def test_a_bootstrap_that_varies_more_than_the_jackknife_says_asks_a_larger_gain() -> None:
    one = cube([50.4, 50.0], se=0.5)
    one = one.assign(replicate_se=(("procedure", *PAIR), np.full((1, *one["se"].shape), 0.6)))
    gain, se = effect_of(built(one))["gain"], 0.6 * np.sqrt(1000 / 999)
    assert stats.nct.sf(stats.t.isf(0.025, 999), 999, gain / se) == pytest.approx(0.8, abs=1e-9)


def test_nothing_is_added_to_the_verdict_where_the_gain_is_separated() -> None:
    document = built(cube([55.0, 50.0]))
    assert effect_of(document)["gain"] == pytest.approx(1.402, abs=0.01)  # the row has it all the same
    assert "detectable" not in " ".join(document["verdict"][0]["sentences"])


def test_in_a_family_the_level_is_that_of_the_pairs_that_are_left() -> None:
    document = built(cube([60.0, 50.2, 50.1, 50.0]))
    open_ = [row for row in document["pairs"] if row["verdict"] == "not separated"]
    assert len(open_) == 3
    for row in document["pairs"]:
        assert row["minimum_detectable_effect"]["level"] == pytest.approx(0.05 / 3)
    (sentence,) = (s for s in document["verdict"][0]["sentences"] if "detectable" in s)
    assert re.fullmatch(
        r"The smallest true gain detectable in these pairs with 80 % power \(minimum detectable effect\) is 1\.6\d+\.", sentence
    )


def test_several_smallest_gains_are_told_with_their_median() -> None:
    told = say_smallest([1.0, 3.0, 2.5], 1, how="with 80 % power")
    assert told == "The smallest true gains detectable with 80 % power (minimum detectable effects) are 1.0 to 3.0 (median 2.5)"
    assert say_smallest([1.04, 1.03], 1, how="here") == "The smallest true gain detectable here (minimum detectable effect) is 1.0"


def test_copies_are_among_the_pairs_that_holm_counts() -> None:
    one = cube([50.2, 50.1, 50.0], identical=[True, False, False])
    document = built(one)
    told = [row["minimum_detectable_effect"] for row in document["pairs"] if not row["identical"]]
    assert [effect["level"] for effect in told] == [pytest.approx(0.05 / 3)] * 2


def held_to(one: Any, critical: float, se: list[float] | float = 0.5) -> Any:
    """The cube of a family that max-T decides: 950 of 999 replicates are at the critical value, the others far beyond."""
    shape = (1, *one["se"].shape)
    own, p = (np.broadcast_to(np.asarray(x), shape) for x in (se, 0.2))
    largest = np.repeat([critical, 50.0], [950, 49])[None, None, None]
    by = np.full((2, shape[0], *shape[1:]), 0.2)
    made = one.assign(
        max_t_se=(("procedure", *PAIR), own),
        p_studentised=(("procedure", *PAIR), p),
        max_t_replicates=(("procedure", *PAIR), np.full(shape, 999)),
        max_t_largest=(("procedure", "metric", "test_size", "max_t_replicate"), largest),
        p_by_adjustment=(("convention", "adjustment", "procedure", *PAIR), np.broadcast_to(by, (6, *by.shape))),
    )
    return made.assign_coords(adjustment=["holm", "max-t"]).assign_attrs(schema_version=4, kept=999)


def told_of(one: Any) -> list[dict[str, Any]]:
    return [row["minimum_detectable_effect"] for row in built(one)["pairs"]]


def test_max_t_finds_gains_beyond_its_own_critical_value_in_its_own_standard_errors() -> None:
    one = cube([50.3, 50.2, 50.0], sizes={"full": 40})
    found = told_of(held_to(one, 2.6, [0.5, 0.4, 0.3]))  # a and b, a and c, b and c
    assert [effect["critical"] for effect in found] == [2.6] * 3
    for effect, se in zip(found, (0.4, 0.3, 0.5), strict=True):  # the largest gain first: a and c, b and c, a and b
        assert effect["level"] == pytest.approx(2 * stats.t.sf(2.6, 39), rel=1e-9)
        assert stats.nct.sf(2.6, 39, effect["gain"] / se) == pytest.approx(0.8, abs=1e-9)
    assert told_of(one)[0]["level"] == pytest.approx(0.05 / 3)  # by Holm


def test_scores_of_two_values_are_found_by_the_wins_whose_t_is_beyond() -> None:
    (effect,) = told_of(held_to(cube([50.8, 50.0], gain_of_a_win=1.0, discordant=24, sizes={"full": 100}), 2.0))
    theta = (effect["gain"] / 24 + 1) / 2
    assert stats.binom.sf(16, 24, theta) == pytest.approx(0.8, abs=1e-9)  # 17 wins and 7 losses have t = 2.08
    assert (effect["law"], effect["critical"]) == ("binomial", 2.0)
    assert effect["level"] == pytest.approx(2 * stats.norm.sf(2.0))


def test_so_few_discordant_units_that_all_of_them_won_are_not_beyond_could_show_no_gain() -> None:
    pair = {"gain_of_a_win": 1.0, "discordant": 7, "sizes": {"full": 100}}
    assert told_of(held_to(cube([53.0, 50.0], **pair), 2.0))[0]["gain"] is not None
    (effect,) = told_of(held_to(cube([53.0, 50.0], **pair), 4.0))
    assert (effect["gain"], effect["reason"]) == (None, "7 wins on 7 discordant units are not beyond the critical value")


def test_a_step_down_may_show_what_all_pairs_together_do_not() -> None:
    one = cube([53.0, 52.9, 50.0], gain_of_a_win=1.0, discordant=7, sizes={"full": 100})
    document = built(held_to(one, 4.0))
    for row in document["pairs"]:
        assert row["minimum_detectable_effect"]["reason"] == (
            "7 wins on 7 discordant units are not beyond the critical value of all pairs together, which falls once others are "
            "separated"
        )
    assert "so few discordant units can show none before other pairs are separated" in " ".join(document["verdict"][0]["sentences"])


def test_the_critical_value_stands_below_the_intervals_that_it_makes() -> None:
    report = read_report(built(held_to(cube([50.3, 50.2, 50.0], sizes={"full": 40}), 2.61)))
    (table,) = (view for view in view_all(report) if view.kind == "pairs")
    assert "with the c of max-T over all pairs of the family; c = 2.61." in table.caption
    assert "two-sided, (s + 1)/1,000 over 999 of the replicates, each with its own standard error" in methods_paragraph(report)


@pytest.mark.parametrize(
    ("b", "kept", "counted"),
    [
        (2000, 2000, "; p adjusted by max-T is counted on all 2,000 replicates; b = 100,000 makes both more accurate."),
        (2000, 999, "; b = 100,000 makes p more accurate, but p adjusted by max-T still uses the first 999 replicates."),
        (1_000_000, 131_072, "; p adjusted by max-T is counted on the first 9,999 replicates, however large b is."),
    ],
)
def test_it_is_said_on_how_many_replicates_max_t_counts(b: int, kept: int, counted: str) -> None:
    made = held_to(cube([50.3, 50.2, 50.0], sizes={"full": 40}), 2.61).assign_attrs(kept=kept, replicates=b)
    (check,) = (check for check in built(made)["trust"] if check["check"] == "Monte-Carlo error")
    assert check["detail"].endswith(counted)


def test_the_sentence_of_a_verdict_has_p_on_its_side_of_alpha() -> None:
    (pair,) = built(cube([50.3, 50.0]))["pairs"]
    alpha = (pair["p_adjusted"] + round(pair["p_adjusted"], 4)) / 2
    said = built(cube([50.3, 50.0]), alpha=alpha)["verdict"][0]["sentences"][0]
    (p,) = re.findall(r"two-sided p = ([0-9.]+)", said)
    assert (float(p) > alpha) == (pair["p_adjusted"] > alpha)


def test_where_max_t_separates_nothing_no_gain_could_have_been_shown() -> None:
    document = built(held_to(cube([50.3, 50.0]), np.inf))
    found = effect_of(document)
    assert (found["gain"], found["critical"]) == (None, None)
    assert found["units_needed"] is not None  # by Student's t
    assert "No gain could have been shown: max-T separates nothing at this level: " in " ".join(document["verdict"][0]["sentences"])


def undecided(one: Any, reason: str) -> Any:
    words = ["none", "few-units", "rare-losses", "failures-of-others"]
    attrs = {"flag_values": list(range(4)), "flag_meanings": " ".join(words)}
    codes = np.full((1, *one["se"].shape), words.index(reason), np.int8)
    return one.assign(undecided=(("procedure", *PAIR), codes, attrs))


@pytest.mark.parametrize(
    ("reason", "units", "effective", "acceleration", "needed"),
    [
        ("few-units", 12, 12.0, 0.0, 20),
        ("few-units", 40, 4.0, 0.0, 60),  # 40 of them are worth 4, 60 are worth 6
        ("rare-losses", 50, 50.0, -0.08, 200),  # −.08 falls to −.04 with four times as many
        ("failures-of-others", 50, 50.0, 0.0, 100),
    ],
)
def test_where_no_gain_gets_a_verdict_the_units_needed_for_one_are_told(reason, units, effective, acceleration, needed) -> None:
    scores, drawn = [54.0, 50.0], {"sizes": {"full": units}, "attrs": {"effective_units": effective}}
    one = cube(scores, acceleration=acceleration, discordant=units, **drawn)
    assert effect_of(built(one))["gain"] is not None
    document = built(undecided(one, reason))
    found = effect_of(document)
    assert (document["pairs"][0]["verdict"], found["gain"]) == ("not decided", None)
    assert found["reason"].count("verdict") == 1
    assert found["units_needed"] == needed  # 4 is eight standard errors: by these alone six units or seven would do
    (sentence,) = (s for s in document["verdict"][0]["sentences"] if s.startswith("No gain could have been shown: "))
    assert f"a true gain of 4.000 needs about {needed:,} segments for 80 % power" in sentence


def test_a_gain_that_is_decided_needs_as_many_units_as_a_verdict_does() -> None:
    assert effect_of(built(cube([60.0, 50.0], sizes={"full": 200})))["units_needed"] == 20
    binary = effect_of(built(cube([53.0, 50.0], sizes={"full": 200}, gain_of_a_win=0.5, discordant=6)))
    assert binary["units_needed"] < 20 * 200 / 6  # six wins of six: seven discordant units are enough, as there are few losses


def test_of_several_pairs_without_a_verdict_all_are_told_why() -> None:
    one = undecided(cube([50.4, 50.2, 50.0], sizes={"full": 12}, se=0.1, discordant=12), "few-units")
    sentences = built(one)["verdict"][0]["sentences"]
    (sentence,) = (s for s in sentences if s.startswith("None of these pairs could have shown a gain: graded scores get no"))
    assert "If true, their gains need about 32 segments for 80 % power (median of 20 to 32)" in sentence
    assert not any("minimum detectable" in s for s in sentences)


def test_scores_of_two_values_have_binomial_sums() -> None:
    m, n = 40, 1000
    document = built(cube([50.8, 50.0], gain_of_a_win=0.1, discordant=m))  # 0.8 points: 24 wins, 16 losses
    found = effect_of(document)
    assert found["law"] == "binomial"
    theta = (found["gain"] / 0.1 / m + 1) / 2
    k = int(stats.binom.isf(0.025, m, 0.5)) + 1
    assert stats.binom.sf(k - 1, m, theta) == pytest.approx(0.8, abs=1e-9)
    trials = np.arange(1, 3000)
    power = stats.binom.sf(stats.binom.isf(0.025, trials, 0.5), trials, 0.6)
    assert found["units_needed"] == (trials[np.flatnonzero(power < 0.8)[-1]] + 1) * n / m


def by(procedure: str, one: Any) -> dict[str, Any]:
    asked = one.assign_coords(procedure=[procedure])
    return build_document(make_report({"news": asked}, analyses=(), resampling={"procedures": [procedure]}))


@pytest.mark.parametrize("procedure", ["paired-t", "exact-sign-flip", "approximate-randomization"])
def test_a_test_that_corrects_nothing_for_few_units_finds_gains_by_the_law_of_a_t_test(procedure: str) -> None:
    found = effect_of(by(procedure, cube([51.0, 50.0], discordant=12, sizes={"full": 12}, attrs={"effective_units": 12.0})))
    assert (found["law"], found["critical"]) == ("Student", pytest.approx(stats.t.isf(0.025, 11)))
    assert stats.nct.sf(stats.t.isf(0.025, 11), 11, found["gain"] / 0.5) == pytest.approx(0.8, abs=1e-9)


@pytest.mark.parametrize("procedure", ["sign", "wilcoxon"])
def test_a_test_that_is_not_about_the_gain_has_no_smallest_gain_but_of_right_and_wrong(procedure: str) -> None:
    document = by(procedure, cube([50.4, 50.0], sizes={"full": 100}))
    assert document["pairs"][0]["minimum_detectable_effect"] is None
    assert "detectable" not in " ".join(document["verdict"][0]["sentences"])
    assert effect_of(by(procedure, cube([50.8, 50.0], gain_of_a_win=0.1, discordant=40)))["law"] == "binomial"


def test_too_few_discordant_units_could_show_no_gain() -> None:
    document = built(cube([50.3, 50.0], gain_of_a_win=0.1, discordant=5))
    found = effect_of(document)
    assert (found["gain"], found["reason"]) == (None, "with 5 discordant units no exact p is below 0.062")
    (sentence,) = (s for s in document["verdict"][0]["sentences"] if s.startswith("No gain could have been shown: with 5"))
    assert "needs about" in sentence
    graded = effect_of(built(cube([53.0, 50.0], discordant=5)))
    assert (graded["gain"], graded["units_needed"]) == (None, stats.nbinom.ppf(0.8, 6, 0.005) + 6)  # 2^-5 is below .05: six of them


def test_units_are_told_with_their_items() -> None:
    one = cube([50.2, 50.0], attrs={"unit": "document", "n_items": 9000, "effective_units": 900.0})
    document = built(one)
    assert "not separated at this n = 1,000 documents (9,000 items) (" in document["verdict"][0]["sentences"][0]
    assert "about" in document["verdict"][0]["sentences"][1]
    assert document["verdict"][0]["sentences"][1].endswith(" documents.")
    assert document["pairs"][0]["items"] == 9000
    assert "not separated at this n = 1,000 (" in built(cube([50.2, 50.0]))["verdict"][0]["sentences"][0]


CLUSTERS = {"column": "document", "count": 40, "effective": 40.0}


@pytest.mark.parametrize(("gain", "lost"), [(1.2, True), (5.0, False)])
def test_a_verdict_on_items_carries_the_design_effect(gain: float, lost: bool) -> None:
    one = cube([50.0 + gain, 50.0], design_effect=4.0, intra_cluster_correlation=0.1, attrs={"clusters": CLUSTERS})
    document = built(one)
    (row,) = document["pairs"]
    assert row["verdict"] == "better"
    assert "design effect 4.00" in row["note"]
    sentence = document["verdict"][0]["sentences"][1]
    assert sentence.startswith(
        "This verdict is on items, which stand in 40 documents: drawing these multiplies the variance by 4.00"
    )
    assert "rejects about 33 % of true nulls" in sentence  # 2 Φ(−1.96/2) = .327
    assert sentence.endswith("by documents the difference is not separated.") == lost


def test_documents_as_units_and_small_effects_leave_the_verdict_alone() -> None:
    drawn = {"unit": "document", "n_items": 9000, "effective_units": 900.0, "clusters": CLUSTERS}
    for one in (
        cube([51.2, 50.0], design_effect=4.0, attrs=drawn),
        cube([51.2, 50.0], design_effect=1.05, attrs={"clusters": CLUSTERS}),
    ):
        document = built(one)
        assert "This verdict is on items" not in " ".join(document["verdict"][0]["sentences"])
        assert "design effect" not in (document["pairs"][0]["note"] or "")


@pytest.mark.parametrize(("acceleration", "status"), [(0.01, "ok"), (-0.06, "check")])
def test_skewness_is_a_line_of_trust(acceleration: float, status: str) -> None:
    document = built(cube([50.2, 50.0], acceleration=acceleration))
    row = told(document, "Skewness")
    assert row is not None
    assert row["status"] == status
    assert document["pairs"][0]["acceleration"] == acceleration
    if status == "check":
        assert "1 of 1, at most 0.060 (a and b, BLEU on news)" in row["detail"]
        assert "that pair needs about 4,000." in row["detail"]  # 1000 · (.06/.03)²
        assert "exact-sign-flip" not in row["detail"]  # it rejects as often: tests/unit/inference/direct/test_direct_exact.py


@pytest.mark.parametrize(("acceleration", "status"), [(0.034, "ok"), (0.036, "check")])
def test_few_units_are_skewed_by_chance(acceleration: float, status: str) -> None:
    """Of 20 Gaussian units the acceleration has a standard error of .0176: 9 in 100 are above .03."""
    row = told(built(cube([50.2, 50.0], acceleration=acceleration, sizes={"full": 20})), "Skewness")
    assert row is not None
    assert row["status"] == status
    assert ("0 of 1; the largest is 0.034, which chance makes as well" in row["detail"]) == (status == "ok")


@pytest.mark.statistical
def test_the_noise_of_an_acceleration_is_that_of_gaussian_units() -> None:
    """A standard deviation of 20 000 draws is within 1 %; six of these have a false-alarm chance below 1e-6."""
    units = np.random.default_rng(np.random.SeedSequence().entropy).normal(size=(20_000, 20))
    found = stats.skew(units, axis=1).std() / (6 * np.sqrt(20))
    assert found == pytest.approx(noise_of_acceleration(20), rel=0.06)


def test_wins_that_an_exact_test_judges_are_not_skewed() -> None:
    few = {"acceleration": 0.06, "gain_of_a_win": 1.0, "discordant": 7, "p_sign_flip": 0.015625}
    assert told(built(cube([50.2, 50.0], **few)), "Skewness") is None
    assert told(built(cube([50.2, 50.0], **{**few, "discordant": 200})), "Skewness") is not None


def test_acceleration_is_of_the_better_system() -> None:
    document = built(cube([50.0, 50.2], acceleration=0.06))
    assert (document["pairs"][0]["system_a"], document["pairs"][0]["acceleration"]) == ("b", -0.06)
    assert told(built(cube([50.2, 50.0])), "Skewness") is None  # a cube that does not have it


@pytest.mark.parametrize(("share", "without", "status"), [(0.02, 1.2, "ok"), (0.4, 0.2, "check")])
def test_leverage_is_a_line_of_trust(share: float, without: float, status: str) -> None:
    given = {"largest_share": share, "largest_unit": 6, "delta_without": without}
    document = built(cube([51.2, 50.0], **given, sizes={"full": 200}))
    row = told(document, "Leverage")
    assert row is not None
    assert row["status"] == status
    assert document["pairs"][0]["leverage"] == {"unit": 6, "share": share, "delta_without": without}
    if status == "check":
        assert "at most 40 % (a and b, BLEU on news: unit 7 of 200; the gain is 1.2, without it 0.2)" in row["detail"]
        assert "the verdict" not in row["detail"].lower()  # it is of a test that has not been made
        binary = built(cube([51.2, 50.0], **given, sizes={"full": 200}, gain_of_a_win=0.1))
        assert told(binary, "Leverage") is None  # every discordant unit weighs as much as the others
