"""Plain NumPy, which claims of speed are held to, counts what a slow and obvious program counts."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest
from benchmarks.reference import METRICS, compare_all, count_draws, flip_coins, measure

ITEMS, SYSTEMS, BLOCK = 12, 4, 40


def bleu(sums: np.ndarray) -> float:
    matches = [math.log(sums[2 + n] / sums[6 + n]) for n in range(4)]
    return 100 * math.exp(min(0.0, 1 - sums[1] / sums[0]) + sum(matches) / 4)


def brute_force(statistics: np.ndarray, metric: str, procedure: str, weights: list[np.ndarray]) -> list[int]:
    score = bleu if metric == "bleu" else lambda sums: float(sums[0])
    hits = []
    for a, b in combinations(range(SYSTEMS), 2):
        gain = score(statistics[:, a].sum(1)) - score(statistics[:, b].sum(1))
        count = 0
        for row in np.concatenate(weights):
            if procedure == "bootstrap":
                drawn = np.repeat(np.arange(ITEMS), row.astype(int))
                found = score(statistics[:, a, drawn].sum(1)) - score(statistics[:, b, drawn].sum(1))
                count += (found if gain >= 0 else -found) > 2 * abs(gain) + 1e-5
            else:
                one, other = statistics[:, a].copy(), statistics[:, b].copy()
                swapped = row == 1
                one[:, swapped], other[:, swapped] = statistics[:, b, swapped], statistics[:, a, swapped]
                count += abs(score(one.sum(1)) - score(other.sum(1))) >= abs(gain) - 1e-5
        hits.append(count)
    return hits


@pytest.mark.parametrize("procedure", ["bootstrap", "randomization"])
@pytest.mark.parametrize("metric", ["bleu", "accuracy"])
def test_the_reference_counts_what_brute_force_counts(metric: str, procedure: str) -> None:
    definition = METRICS[metric]
    statistics = definition.make(np.random.default_rng(3), ITEMS, SYSTEMS)
    if metric == "bleu":
        statistics[2:6] += 1  # no order without a match: the reference does not smooth
        statistics[6:10] += 1
    generator, again = np.random.default_rng(8), np.random.default_rng(8)
    hits, spent = compare_all(statistics, definition.score, procedure, blocks=2, block=BLOCK, generator=generator)

    draw = count_draws if procedure == "bootstrap" else flip_coins
    weights = [draw(again, BLOCK, ITEMS) for _ in range(3)][1:]  # the first block only warms up
    wide = statistics.astype(np.float64)
    assert hits.tolist() == brute_force(wide, metric, procedure, weights)
    assert 0 < hits.sum() < 2 * BLOCK * len(hits)
    assert set(spent) == {"draw", "product", "rest"}


def test_samples_hold_as_many_items_as_there_are() -> None:
    counts = count_draws(np.random.default_rng(1), 30, ITEMS)
    assert counts.shape == (30, ITEMS)
    assert (counts.sum(1) == ITEMS).all()
    assert len(np.unique(counts, axis=0)) > 1


def test_the_reference_says_what_scripts_bench_reads() -> None:
    printed = measure("accuracy", "randomization", 3, 1000, 50)
    assert printed["pairs"] == 3
    assert printed["replicates"] == 1000
    assert printed["reference_cpu_s"] == pytest.approx(sum(printed["parts"].values()), abs=0.002)
    assert printed["product_cpu_s"] >= 0
