"""Rank intervals that follow from the default verdict hold together, with few units as with many."""

from __future__ import annotations

import numpy as np
import pytest
from levels_table.verdict_nulls import Sample
from levels_table.verdicts import ALPHA, judge_together

from pipeline.inference.multiple_comparisons.ranks import rank_intervals, separate
from pipeline.resampling.draws import Draws
from pipeline.resampling.measures import Measure

SYSTEMS, TOGETHER, STEPS = 6, 10, 64
PAIRS = np.stack(np.triu_indices(SYSTEMS, 1), axis=1).astype(np.int64)
NONE_IDENTICAL = np.zeros(len(PAIRS), np.bool_)


def draw(units: int, expected: np.ndarray, rng: np.random.Generator) -> Sample:
    scores = np.rint(STEPS * (rng.normal(size=(units, SYSTEMS)) + expected)).astype(np.int64)
    statistics = np.stack([scores, np.ones_like(scores)], axis=2)
    measure = Measure(statistics, lambda sums: sums[0] / sums[1], "ratio", True, PAIRS, np.ones(SYSTEMS, np.bool_))
    return Sample(measure, np.ones(units, np.int64), 0)


def misses(sample: Sample, judged, expected: np.ndarray) -> bool:
    score, p = sample.measure.statistics[:, :, 0].mean(axis=0), np.where(judged.undecided, 1.0, judged.p)
    separated = separate(PAIRS, score=score, delta=judged.delta, p=p, identical=NONE_IDENTICAL, alpha=ALPHA)
    found, better = rank_intervals(separated), expected[:, None] > expected
    return bool(((found.low > 1 + better.sum(axis=0)) | (found.high < SYSTEMS - better.sum(axis=1))).any())


@pytest.mark.slow
@pytest.mark.parametrize("units", [20, 100])
@pytest.mark.parametrize("apart", [[0.0] * 6, [0.0, 0.1, 0.2, 3.0, 3.1, 9.0]], ids=["equal", "apart"])
def test_all_rank_intervals_hold_together_in_all_but_five_of_a_hundred_data_sets(units: int, apart: list[float]) -> None:
    rng, trials = np.random.default_rng([units, len(set(apart))]), 1000
    expected, missed = -np.array(apart) * np.sqrt(2 / units), 0
    for _ in range(trials // TOGETHER):
        samples = [draw(units, expected, rng) for _ in range(TOGETHER)]
        judged = judge_together(samples, draws=Draws(int(rng.integers(2**62)), units, units), replicates=499)
        missed += sum(misses(*of, expected) for of in zip(samples, judged, strict=True))
    print(f"{units} units, {'equal' if not any(apart) else 'apart'}: {100 * missed / trials:.1f} % of {trials} miss")
    assert missed / trials <= ALPHA + 4.9 * np.sqrt(ALPHA * (1 - ALPHA) / trials)  # a false alarm in 10^6
