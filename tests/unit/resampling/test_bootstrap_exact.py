"""Monte Carlo against exact probabilities: integer convolution, and enumeration of every bootstrap sample."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations_with_replacement
from math import factorial

import numpy as np
import pytest
from scipy.special import bdtr, bdtrc
from support import small_measures as small

from pipeline.resampling.draws import Draws
from pipeline.resampling.observe import observe
from pipeline.resampling.resample import resample

REPLICATES = 200_000
CELLS = range(13)
FALSE_ALARM = 1e-6  # per test, shared by its probabilities


def assert_binomial(hits, trials, p, alarms):
    """Fail where a count this far out has a chance below FALSE_ALARM / alarms."""
    if p in (0, 1):
        assert hits == trials * p
        return
    tail = min(bdtr(hits, trials, p), bdtrc(hits - 1, trials, p) if hits else 1.0)
    assert 2 * tail > FALSE_ALARM / alarms, f"{hits} of {trials} where {p * trials:.1f} were expected"


def law_of_difference(wins, losses, units):
    """Return P(D* = d) of a bootstrap as integers over units**units, by multiplying polynomials."""
    law = {0: 1}
    for _ in range(units):
        new: dict[int, int] = {}
        for d, weight in law.items():
            for step, ways in ((1, wins), (-1, losses), (0, units - wins - losses)):
                new[d + step] = new.get(d + step, 0) + weight * ways
        law = new
    return {d: Fraction(weight, units**units) for d, weight in law.items()}


@pytest.mark.statistical
def test_eight_wins_and_four_losses_of_a_hundred_have_their_exact_p_values():
    """The constants of the design: .0955, .1529, .0927, .1525, .3054. False alarm 1e-6 for the four counts."""
    law = law_of_difference(8, 4, 100)
    exact = {
        "above": sum(p for d, p in law.items() if d > 8),
        "from": sum(p for d, p in law.items() if d >= 8),
        "below": sum(p for d, p in law.items() if d < 0),
        "upto": sum(p for d, p in law.items() if d <= 0),
    }
    assert [round(float(p), 4) for p in exact.values()] == [0.0955, 0.1529, 0.0927, 0.1525]
    assert round(float(exact["from"] + exact["upto"]), 4) == 0.3054
    statistics = np.ones((100, 2, 2), np.int64)
    statistics[:4, 0, 0] = 0
    statistics[4:12, 1, 0] = 0
    (found,) = resample(Draws(808, 100, 100), [small.make_measure(statistics)], cells=CELLS, replicates=REPLICATES)
    below, at_zero, _, _, at_twice, above = found.counts.sum(axis=1)[0, :6].tolist()
    for hits, p in zip((above, above + at_twice, below, below + at_zero), exact.values(), strict=True):
        assert_binomial(hits, REPLICATES, float(p), 4)


def enumerate_counts(measure, observed, pair):
    """Return the exact probability of every count of a pair, and of an empty replicate, by going through all samples."""
    a, b = measure.pairs[pair] if observed.delta[pair] >= 0 else measure.pairs[pair][::-1]
    units = len(measure.statistics)
    chances = dict.fromkeys(("below_zero", "at_zero", "below_delta", "at_delta", "at_twice", "above_twice", "empty"), Fraction(0))
    delta = exact_gain(measure, a, b, list(range(units)))
    for sample in combinations_with_replacement(range(units), units):
        ways = factorial(units)
        for unit in set(sample):
            ways //= factorial(sample.count(unit))
        chance = Fraction(ways, units**units)
        gain = exact_gain(measure, a, b, list(sample))
        if gain is None:
            chances["empty"] += chance
            continue
        for name, holds in (
            ("below_zero", gain < 0), ("at_zero", gain == 0), ("below_delta", gain < delta), ("at_delta", gain == delta),
            ("at_twice", gain == 2 * delta), ("above_twice", gain > 2 * delta),
        ):  # fmt: skip
            chances[name] += chance * holds
    return [float(p) for p in chances.values()]


def exact_gain(measure, a, b, sample):
    sums = measure.statistics[sample].sum(axis=0).tolist()
    if sums[a][1] == 0 or sums[b][1] == 0:
        return None
    gain = Fraction(sums[a][0], sums[a][1]) - Fraction(sums[b][0], sums[b][1])
    return gain if measure.higher_is_better else -gain


def small_studies():
    own = small.own_statistics(6, 3, 5) // 8
    zeros = small.shared_statistics(5, 3, 11, high=3)
    zeros[1:4, :, :] = 0
    zeros[0, 0], zeros[0, 1], zeros[4, 2] = (2, 2), (1, 2), (1, 1)
    zeros[:, :, 1] = zeros[:, :1, 1]
    return {
        "constant denominator": small.make_measure(small.accuracy_statistics(7, 3, 12)),
        "shared denominators": small.make_measure(small.shared_statistics(7, 3, 4, high=4), higher=False),
        "shared denominators, some samples empty": small.make_measure(zeros),
        "own denominators": small.make_measure(own),
        "as a general score": small.make_measure(own, form="general", higher=False),
    }


@pytest.mark.statistical
@pytest.mark.parametrize(
    "study",
    [
        "constant denominator",
        "shared denominators",
        "shared denominators, some samples empty",
        "own denominators",
        "as a general score",
    ],
)
def test_counts_agree_with_the_enumeration_of_all_samples(study):
    """Up to 1716 samples; false alarm 1e-6 for the 7 counts of 3 pairs."""
    measure = small_studies()[study]
    units = len(measure.statistics)
    observed = observe(measure)
    (found,) = resample(Draws(606, units, units), [measure], cells=CELLS, replicates=REPLICATES)
    hits = np.column_stack([found.counts.sum(axis=1)[:, :6], found.empty.sum(axis=1)])
    for pair in range(3):
        for count, p in zip(hits[pair].tolist(), enumerate_counts(measure, observed, pair), strict=True):
            assert_binomial(count, REPLICATES, p, 21)
