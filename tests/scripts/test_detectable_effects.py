"""The minimum detectable effect is found with its power by the decision itself: `levels_table.decision.decide_as_compare`."""

from __future__ import annotations

import numpy as np
import pytest
from levels_table.decision import Decided, decide_as_compare
from scipy import stats

from pipeline.inference.sample_size.binomial_power import critical_wins_of_t
from pipeline.inference.sample_size.power import POWER, detectable_gain, level_of
from pipeline.resampling.draws import Draws
from pipeline.resampling.measures import Measure

ALPHA, UNITS = 0.05, 50
FALSE_ALARM = 1e-6


def measure_of(scores: np.ndarray) -> Measure:
    """Scores (unit, system) of four digits, all pairs."""
    statistics = np.stack([np.rint(scores * 1e4).astype(np.int64), np.full(scores.shape, 10_000)], axis=2)
    pairs = np.stack(np.triu_indices(scores.shape[1], 1), axis=1)
    return Measure(statistics, lambda sums: sums[0] / sums[1], "ratio", True, pairs, np.ones(scores.shape[1], bool))


def critical_of(decided: Decided) -> float:
    """The smallest value beyond which (s + 1)/(b + 1) ≤ α."""
    largest = decided.max_t.largest
    return float(largest[len(largest) - int(ALPHA * (len(largest) + 1))])


def decide_gaussian(systems: int, gain: float, rng: np.random.Generator, replicates: int) -> Decided:
    """Independent Gaussian scores; the first system is better than all others by ``gain``."""
    scores = rng.normal(0, 1, (UNITS, systems))
    scores[:, 0] += gain
    return decide_as_compare(measure_of(scores), Draws(int(rng.integers(2**62)), UNITS, UNITS), replicates=replicates)


def find_gains(systems: int, *, trials: int, pilot: int, seed: int) -> tuple[float, float]:
    """How often the first pair is found by a single step and by the decision, at the mean of what is told in other data sets."""
    rng, told = np.random.default_rng(seed), []
    for _ in range(pilot):
        decided = decide_gaussian(systems, 0.0, rng, 999)
        level = level_of(np.array(critical_of(decided)), UNITS - 1.0)
        told.append(detectable_gain(decided.max_t.se, level=float(level), freedom=UNITS - 1.0).mean())
    single, found = 0, 0
    for _ in range(trials):
        decided = decide_gaussian(systems, float(np.mean(told)), rng, 999)
        single += decided.observed.delta[0] / decided.max_t.se[0] > critical_of(decided)
        found += bool(decided.separated(ALPHA)[0]) and decided.observed.delta[0] > 0
    return single / trials, found / trials


def margin(trials: int, pilot: int) -> float:
    """What a share may be off by: its own error, and that of the mean told, whose slope is the density of t there."""
    z = stats.norm.isf(FALSE_ALARM / 2)
    told = stats.norm.pdf(stats.norm.ppf(POWER)) * 2.9 * 0.15 / np.sqrt(pilot)  # se and c vary by a seventh
    return float(z * np.hypot(np.sqrt(POWER * (1 - POWER) / trials), told))


def test_a_pair_alone_is_found_with_the_power_told() -> None:
    single, found = find_gains(2, trials=400, pilot=60, seed=1)
    assert abs(found - POWER) < margin(400, 60) + 0.01  # a hundredth: the bootstrap's c is not quite that of Student's t
    assert single == found


@pytest.mark.slow
@pytest.mark.parametrize("systems", [2, 5])
def test_pairs_of_small_and_larger_families_are_found_with_the_power_told(systems: int) -> None:
    single, found = find_gains(systems, trials=3000, pilot=300, seed=2)
    assert abs(single - POWER) < margin(3000, 300) + 0.01
    # Stepping down, three other true gains that are found leave fewer pairs to compare with.
    assert found == single if systems == 2 else single <= found < single + 0.06


@pytest.mark.parametrize(("units", "m"), [(50, 10), (100, 16), (100, 19), (100, 24), (300, 24), (300, 60)])
def test_the_fewest_wins_of_scores_of_two_values_are_those_of_the_decision(units: int, m: int) -> None:
    """McNemar's exact test asks for one more of 24 units and of 60; of 10, 16 and 19 it has to reject as well."""
    told = []
    for won in range(m // 2 + 1, min(m // 2 + 9, m)):
        scores = np.zeros((units, 2))
        scores[:won, 0], scores[won:m, 1] = 1.0, 1.0
        decided = decide_as_compare(measure_of(scores), Draws(5, units, units), replicates=1999)
        least = critical_wins_of_t(np.array([m]), units, critical=critical_of(decided), level=ALPHA)[0]
        told.append(won >= least)
        assert decided.separated(ALPHA)[0] == told[-1]
    assert set(told) == {False, True}


@pytest.mark.parametrize("m", [14, 30])
def test_in_a_family_a_single_step_asks_for_no_fewer_wins_than_the_decision(m: int) -> None:
    told, others = [], np.random.default_rng(4).integers(0, 2, (100, 3))
    for won in range(m // 2 + 1, m):
        scores = np.zeros((100, 2))
        scores[:won, 0], scores[won:m, 1] = 1.0, 1.0
        decided = decide_as_compare(measure_of(np.hstack([scores, others])), Draws(5, 100, 100), replicates=999)
        told.append(won >= critical_wins_of_t(np.array([m]), 100, critical=critical_of(decided), level=ALPHA)[0])
        assert decided.separated(ALPHA)[0] >= told[-1]
    assert set(told) == {False, True}
