"""What docs/levels.md says of each procedure's level is what our code does, and what theory says of 0/1 scores."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from levels_table.__main__ import main as levels_main
from levels_table.__main__ import simulate
from levels_table.cases import CASES
from levels_table.expected import expected_rate
from levels_table.families import reach_of_floors
from levels_table.nulls import Alike, Binary, Gaussian, Precision, Skewed, expected_scores, make
from levels_table.rates import ALPHAS, Case, measure_rates
from levels_table.tables import fill_tables
from scipy.stats import binom, hypergeom, skew

from pipeline.inference.convention_levels import null_rejection

DOCS = Path(__file__).resolve().parents[2] / "docs"
STORED = json.loads((DOCS / "levels.json").read_text("utf-8"))
RECORDS = STORED["records"]
BY_KEY = {case.key: case for case in CASES}
RATES = 3 * len(RECORDS)
FALSE_ALARM = 1e-6 / RATES  # of one rate
FOLD_ROOM = 0.015  # its mean is on a lattice, and not Gaussian: one discordant unit ties in 1.3 % of trials


def is_fold(rule: str) -> bool:
    return rule in ("riezler-maxwell", "sacrebleu-bs")


def assert_binomial(hits: int, trials: int, rate: float, room: float, what: str) -> None:
    low, high = max(rate - room, 0.0), min(rate + room, 1.0)
    assert binom.sf(hits - 1, trials, high) > FALSE_ALARM / 2, f"{what}: {hits} of {trials} is above {rate:.4f}"
    assert binom.cdf(hits, trials, low) > FALSE_ALARM / 2, f"{what}: {hits} of {trials} is below {rate:.4f}"


def assert_as_computed(case: Case, records: Iterable[Mapping[str, Any]], *, room: float = 0.0) -> None:
    for record in records:
        for alpha, hits in zip(ALPHAS, record["rejected"], strict=True):
            rate = expected_rate(case.null, record["rule"], level=alpha, replicates=record["replicates"])
            assert rate is not None
            allowed = max(room, FOLD_ROOM if is_fold(record["rule"]) else 1e-6)
            assert_binomial(hits, record["trials"], rate, allowed, f"{case.key}, {record['rule']} at {alpha}")


def test_the_page_shows_the_stored_counts() -> None:
    page = (DOCS / "levels.md").read_text("utf-8")
    # To mend it: scripts/levels --document docs/levels.md
    assert page == fill_tables(page, STORED)
    assert all(f"<!-- levels: {case.key} -->\n| rule" in page for case in CASES)


def test_every_rule_was_run_in_every_case() -> None:
    assert [(r["case"], r["rule"]) for r in RECORDS] == [(c.key, rule) for c in CASES for rule in (*c.rules, *c.slow)]
    slow = {(case.key, rule) for case in CASES for rule in case.slow}
    assert min(r["trials"] for r in RECORDS if (r["case"], r["rule"]) not in slow) >= 20_000


@pytest.mark.statistical
@pytest.mark.parametrize("case", [case for case in CASES if isinstance(case.null, Binary)], ids=lambda case: case.key)
@pytest.mark.slow
def test_what_the_page_shows_of_binary_scores_is_what_is_exact(case: Case) -> None:
    # False alarm 1e-6 over the page.
    assert_as_computed(case, [record for record in RECORDS if record["case"] == case.key])


@pytest.mark.statistical
@pytest.mark.parametrize("case", [case for case in CASES if isinstance(case.null, Gaussian | Precision)], ids=lambda case: case.key)
def test_what_the_page_shows_of_other_scores_is_near_its_limit(case: Case) -> None:
    # False alarm 1e-6 over the page; the limit leaves out that replicates of few units are not Gaussian.
    found = [record for record in RECORDS if record["case"] == case.key and record["expected"] is not None]
    assert_as_computed(case, found, room=0.015)


def rate_at_5(key: str, rule: str) -> float:
    (found,) = [record for record in RECORDS if (record["case"], record["rule"]) == (key, rule)]
    return float(found["rejected"][1] / found["trials"])


@pytest.mark.statistical
@pytest.mark.parametrize(
    ("key", "room"), [("family1000", 0.002), ("family100", 0.005), ("family20", 0.017), ("discordant20", 0.005)]
)
def test_max_t_holds_its_family_wise_rate_and_what_is_left_is_small(key: str, room: float) -> None:
    (found,) = [record for record in RECORDS if (record["case"], record["rule"]) == (key, "max-t")]
    for alpha, hits in zip(ALPHAS, found["rejected"], strict=True):
        assert_binomial(hits, found["trials"], alpha, room, f"max-t at {alpha}")


def test_the_page_says_what_the_correction_does_and_what_it_leaves() -> None:
    said = {"family20": 6.0, "family100": 5.2, "many20": 7.5, "skewed20": 11.8, "skewed100": 6.4}
    assert {key: round(100 * rate_at_5(key, "max-t"), 1) for key in said} == said
    for case in CASES:
        for rule in case.rules:
            if rule.endswith(", not corrected"):
                assert rate_at_5(case.key, rule) > rate_at_5(case.key, rule.removesuffix(", not corrected")), case.key


@pytest.mark.statistical
def test_intervals_cover_where_systems_differ_too() -> None:
    # False alarm 1e-6 over the page: a rate of .065 at 20 units, of .055 at 100.
    for key, most in (("ranks20", 0.065), ("ranks100", 0.055)):
        for record in RECORDS:
            if record["case"] == key and "not corrected" not in record["rule"]:
                hits, trials = record["rejected"][1], record["trials"]
                assert binom.sf(hits - 1, trials, most) > FALSE_ALARM / 2, f"{key}, {record['rule']}: {hits} of {trials}"


@pytest.mark.statistical
@pytest.mark.parametrize("key", ["m2", "n20", "n20-all"])
def test_a_few_trials_are_as_computed(key: str) -> None:
    # False alarm 1e-6 over the page.
    case = BY_KEY[key]
    assert_as_computed(case, measure_rates(case, trials=400, slow_trials=30, replicates=1000, seed=11))


@pytest.mark.statistical
def test_swaps_are_seen_to_be_liberal_where_lengths_differ() -> None:
    swaps = ("approximate-randomization",)
    records = {
        key: measure_rates(Case(key, BY_KEY[key].null, swaps), trials=1000, slow_trials=0, replicates=1000, seed=5)[0]
        for key in ("precision", "lengths")
    }
    # False alarm 1e-6 each: of 1000 nulls a test at its level rejects fewer than 89.
    assert records["precision"]["rejected"][1] < binom.isf(1e-6, 1000, 0.05)
    assert records["lengths"]["rejected"][1] > binom.isf(1e-6, 1000, 0.05)


@pytest.mark.slow
@pytest.mark.statistical
def test_a_fresh_seed_agrees_with_the_page() -> None:
    seed = int(np.random.default_rng().integers(1, 2**31))
    print(f"seed {seed}")
    found = simulate(trials=4000, slow_trials=200, replicates=1000, seed=seed)
    for own, shown in zip(found, RECORDS, strict=True):
        for hits, others in zip(own["rejected"], shown["rejected"], strict=True):
            # Given the sum of hits, ours are hypergeometric where the rates are the same. False alarm 1e-6 over the page.
            law = hypergeom(own["trials"] + shown["trials"], hits + others, own["trials"])
            assert 2 * min(law.cdf(hits), law.sf(hits - 1)) > FALSE_ALARM, f"{own['case']}, {own['rule']}: seed {seed}"


@pytest.mark.parametrize(
    ("null", "rule", "per_cent"),
    [
        (Binary(100, 0.01, fixed=True), "below-zero", 100.0),
        (Binary(100, 0.02, fixed=True), "below-zero", 50.0),
        (Binary(100, 0.20), "one-sided", 13.2),
        (Binary(20, 0.20), "one-sided", 19.7),
        (Binary(20, 1.0, fixed=True), "one-sided", 26.3),
        (Binary(20, 1.0, fixed=True), "approximate-randomization, strict", 11.5),
        (Binary(20, 0.30), "approximate-randomization, strict", 15.3),
        (Binary(20, 0.30), "approximate-randomization", 1.3),
        (Binary(20, 1.0, fixed=True), "approximate-randomization", 4.1),
        (Gaussian(20), "two-sided", 7.1),
        (Gaussian(10**6), "riezler-maxwell", 11.0),
    ],
)
def test_what_is_said_of_a_procedure_is_what_is_computed(null: Binary | Gaussian, rule: str, per_cent: float) -> None:
    found = expected_rate(null, rule, level=0.05, replicates=10**8)
    assert found is not None
    assert 100 * found == pytest.approx(per_cent, abs=0.05)


@pytest.mark.parametrize(
    "convention", ["one-sided", "below-zero", "approximate-randomization", "approximate-randomization, strict"]
)
def test_many_replicates_come_to_the_exact_level_of_a_convention(convention: str) -> None:
    found = expected_rate(Binary(60, 0.3, fixed=True), convention, level=0.05, replicates=10**9)
    assert found == pytest.approx(null_rejection(convention, discordant=18, units=60), abs=1e-6)


def test_trials_are_independent_data_sets_with_the_null_that_is_asked_for() -> None:
    measure = make(Binary(50, 0.2, fixed=True), 7, np.random.default_rng(1))
    right = measure.statistics[:, :, 0]
    assert measure.pairs.tolist() == [[2 * trial, 2 * trial + 1] for trial in range(7)]
    assert np.count_nonzero(right[:, ::2] != right[:, 1::2], axis=0).tolist() == [10] * 7
    assert len({column.tobytes() for column in right.T}) == 14
    assert make(Gaussian(5, systems=4), 2, np.random.default_rng(1)).pairs[:7].tolist()[-2:] == [[2, 3], [4, 5]]


def test_families_have_the_truth_that_their_errors_are_counted_against() -> None:
    # Each mean of so many has a standard error below 1/100 of the room: false alarm below 1e-9.
    rng = np.random.default_rng(3)
    apart = Gaussian(50, systems=3, means=(0.0, 1.0, 9.0))
    scores = make(apart, 4000, rng).statistics[:, :, 0].reshape(50, 4000, 3).mean(axis=(0, 1))
    assert scores - scores[0] == pytest.approx(expected_scores(apart), abs=2.0)
    assert expected_scores(apart)[2] == pytest.approx(9 * 64 * np.sqrt(2 / 50))  # a score has the standard deviation 64
    right = make(Alike(100, 0.20, systems=3), 2000, rng).statistics[:, :, 0].reshape(100, 2000, 3)
    assert [(right[..., a] != right[..., b]).mean() for a, b in ((0, 1), (0, 2), (1, 2))] == pytest.approx([0.2] * 3, abs=0.02)
    assert right.mean() == pytest.approx(0.5, abs=0.02)
    skewed = make(Skewed(50, systems=4), 4000, rng).statistics[:, :, 0].reshape(50, 4000, 4)
    assert skewed.mean(axis=(0, 1)) == pytest.approx(expected_scores(Skewed(50, systems=4)), abs=2.0)
    assert skew(skewed.reshape(-1, 4)) == pytest.approx([2.0, 2.0, -2.0, -2.0], abs=0.2)
    assert skew((skewed[..., 0] - skewed[..., 2]).ravel()) == pytest.approx(np.sqrt(2), abs=0.2)


@pytest.mark.statistical
def test_a_pair_s_replicates_reach_no_more_often_than_its_floor_allows() -> None:
    """One of four may, as (1 + 1)/(4 + 1) is .4: above 2; with .39 none may."""
    scores, pair, one = np.array([[1.0, 2.0, 3.0, 4.0], [0.0, 0.0, 0.0, 0.0]]), np.array([[0, 1]]), np.ones(1)
    given = {"score": np.array([1.0, 0.0]), "delta": one, "se": one}
    reach = [reach_of_floors(scores, pair, **given, floor=floor * one)[0] for floor in (0.1, 0.39, 0.4, 1.0)]
    np.testing.assert_allclose(reach, [np.inf, 3.0, 2.0, 0.0], atol=1e-9)


def test_a_few_families_err_as_the_page_says() -> None:
    # Hypergeometric given the sum of both, as for a fresh seed; false alarm 1e-6 over the page.
    for key in ("family20", "discordant5", "ranks20"):
        for own in measure_rates(BY_KEY[key], trials=150, slow_trials=0, replicates=1000, seed=17):
            (shown,) = [record for record in RECORDS if (record["case"], record["rule"]) == (key, own["rule"])]
            for hits, others in zip(own["rejected"], shown["rejected"], strict=True):
                law = hypergeom(own["trials"] + shown["trials"], hits + others, own["trials"])
                assert 2 * min(law.cdf(hits), law.sf(hits - 1)) > FALSE_ALARM, f"{key}, {own['rule']}"


def test_cases_that_are_simulated_anew_take_their_places_among_the_others(tmp_path: Path) -> None:
    records = tmp_path / "levels.json"
    asked = ["--trials", "20", "--replicates", "50", "--seed", "2", "--case", "family20", "--case", "m2"]
    levels_main([*asked, "--slow-trials", "2", "--simulate", str(records)])
    found = json.loads(records.read_text("utf-8"))["records"]
    assert [(r["case"], r["rule"]) for r in found] == [(r["case"], r["rule"]) for r in RECORDS]
    assert [r for r in found if r["case"] not in ("family20", "m2")] == [r for r in RECORDS if r["case"] not in ("family20", "m2")]
    assert {(r["seed"], r["trials"]) for r in found if r["case"] == "family20"} == {(2, 20)}


def test_one_seed_gives_the_same_counts_again() -> None:
    case = Case("n20", BY_KEY["n20"].null, ("two-sided", "approximate-randomization"), ("sacrebleu-bs",))
    first, again = (measure_rates(case, trials=25, slow_trials=10, replicates=100, seed=3) for _ in range(2))
    assert first == again
    assert [record["trials"] for record in first] == [25, 25, 10]
