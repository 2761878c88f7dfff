"""Compare all pairs in plain NumPy on shared samples: the competitor of every claim of speed.

    OPENBLAS_NUM_THREADS=1 python reference.py {bleu|accuracy} {bootstrap|randomization} SYSTEMS [REPLICATES] [ITEMS]

prints one JSON line: CPU seconds of 10^6 replicates, extrapolated, and those of the single-precision matrix product alone. It
is what a careful user of NumPy would write: samples are counted once for all systems, one product sums all statistics of a
block, scores and comparisons are array expressions. Its statistics are made up; their values cost nothing and decide nothing.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["METRICS", "PARTS", "compare_all", "count_draws", "flip_coins", "measure"]

Floats = NDArray[np.float32]
PARTS = ("draw", "product", "rest")


def count_draws(generator: np.random.Generator, replicates: int, items: int) -> Floats:
    """Return (replicate, item) how often each item is drawn in a sample with replacement."""
    drawn = generator.integers(0, items, size=(replicates, items), dtype=np.int32)
    drawn += np.arange(0, replicates * items, items, dtype=np.int32)[:, np.newaxis]
    return np.bincount(drawn.reshape(-1), minlength=drawn.size).astype(np.float32).reshape(drawn.shape)


def flip_coins(generator: np.random.Generator, replicates: int, items: int) -> Floats:
    """Return (replicate, item) 1 where the outputs of an item are swapped, else 0."""
    width = -(-items // 8)
    packed = np.frombuffer(generator.bytes(replicates * width), dtype=np.uint8).reshape(replicates, width)
    return np.unpackbits(packed, axis=1, count=items).astype(np.float32)


def _bleu(sums: Floats) -> Floats:
    """BLEU of sums whose first axis is the statistic: two lengths, four matches, four totals. One logarithm, no smoothing."""
    length, reference, one, two, three, four, of_one, of_two, of_three, of_four = sums
    precision = (one * two / of_one / of_two) * (three * four / of_three / of_four)
    return np.asarray(100 * np.exp(np.minimum(0, 1 - reference / length) + np.log(precision) * np.float32(0.25)))


def _accuracy(sums: Floats) -> Floats:
    return np.asarray(sums[0])


def _make_bleu(generator: np.random.Generator, items: int, systems: int) -> Floats:
    reference = generator.integers(5, 45, items)
    statistics = np.empty((10, systems, items), np.float32)
    for system in range(systems):
        length = np.maximum(1, reference + generator.integers(-3, 4, items))
        statistics[0, system], statistics[1, system] = length, reference
        rate = generator.uniform(0.55, 0.65)
        for order in range(4):
            ngrams = np.maximum(length - order, 0)
            statistics[2 + order, system] = generator.binomial(ngrams, rate ** (order + 1))
            statistics[6 + order, system] = ngrams
    return statistics


def _make_accuracy(generator: np.random.Generator, items: int, systems: int) -> Floats:
    ease = generator.normal(0.8, 1.0, items) + generator.normal(0, 0.1, (systems, 1))
    return (ease + generator.normal(0, 0.7, (systems, items)) > 0).astype(np.float32)[np.newaxis]


@dataclass(frozen=True)
class _Metric:
    """(statistic, system, item) statistics that are made up, and the score of (statistic, …) sums."""

    make: Callable[[np.random.Generator, int, int], Floats]
    score: Callable[[Floats], Floats]


METRICS = {"bleu": _Metric(_make_bleu, _bleu), "accuracy": _Metric(_make_accuracy, _accuracy)}


def compare_all(
    statistics: Floats,
    score: Callable[[Floats], Floats],
    procedure: str,
    *,
    blocks: int,
    block: int,
    generator: np.random.Generator,
) -> tuple[NDArray[np.int64], dict[str, float]]:
    """Count extreme replicates of all pairs i < j in row order, and the CPU seconds of each part.

    Parameters
    ----------
    statistics : (statistic, system, item) float32
        Whole numbers.
    score : callable
        Of sums with the statistic first.
    procedure : str
        ``bootstrap`` counts δ* > 2δ with δ ≥ 0; ``randomization`` counts |δ°| ≥ |δ|.
    blocks, block : int
        How many blocks of how many replicates; the first block is done twice, and not timed the first time.
    """
    width, systems, items = statistics.shape
    flat = np.ascontiguousarray(statistics.reshape(width * systems, items).T)
    totals = statistics.sum(axis=2, dtype=np.float64).astype(np.float32)
    observed = score(totals)
    first, second = np.triu_indices(systems, 1)
    gains = observed[first] - observed[second]
    hits = np.zeros(len(first), np.int64)
    draw = count_draws if procedure == "bootstrap" else flip_coins
    spent = dict.fromkeys(PARTS, 0.0)
    for number in range(-1, blocks):
        if number <= 0:  # memory of the size of a block is at hand from here on
            hits[:] = 0
            spent = dict.fromkeys(PARTS, 0.0)
        marks = [time.process_time()]
        weights = draw(generator, block, items)
        marks.append(time.process_time())
        product = weights @ flat
        marks.append(time.process_time())
        sums = np.ascontiguousarray(product.T).reshape(width, systems, block)
        if procedure == "bootstrap":
            _count_above_twice(score(sums), gains, hits)
        else:
            _count_swapped(sums, totals, score, gains, hits)
        marks.append(time.process_time())
        for part, start, end in zip(PARTS, marks, marks[1:], strict=False):
            spent[part] += end - start
    return hits, spent


def _count_above_twice(scores: Floats, gains: Floats, hits: NDArray[np.int64]) -> None:
    """Add how often the gain of a replicate passes twice the observed one, in its direction."""
    at = 0
    for system in range(len(scores) - 1):
        here = slice(at, at := at + len(scores) - 1 - system)
        sign = np.where(gains[here] < 0, -1, 1)[:, np.newaxis].astype(np.float32)
        hits[here] += (sign * (scores[system] - scores[system + 1 :]) > 2 * np.abs(gains[here, np.newaxis])).sum(axis=1)


def _count_swapped(sums: Floats, totals: Floats, score: Callable[[Floats], Floats], gains: Floats, hits: NDArray[np.int64]) -> None:
    """Add how often the gain of a replicate is at least as large as the observed one, in either direction."""
    systems = sums.shape[1]
    at = 0
    for system in range(systems - 1):
        here = slice(at, at := at + systems - 1 - system)
        moved = sums[:, system + 1 :] - sums[:, system : system + 1]
        one = score(totals[:, system : system + 1, np.newaxis] + moved)
        other = score(totals[:, system + 1 :, np.newaxis] - moved)
        hits[here] += (np.abs(one - other) >= np.abs(gains[here, np.newaxis])).sum(axis=1)


def _time_product(flat: Floats, generator: np.random.Generator, *, rows: int = 2048, times: int = 4) -> float:
    """CPU seconds of a replicate's share of the matrix product alone."""
    weights = generator.integers(0, 4, (rows, len(flat))).astype(np.float32)
    out = weights @ flat
    start = time.process_time()
    for _ in range(times):
        np.matmul(weights, flat, out=out)
    return (time.process_time() - start) / (rows * times)


def measure(metric: str, procedure: str, systems: int, replicates: int, items: int) -> dict[str, Any]:
    """Run it on statistics that are made up, and extrapolate CPU seconds to 10^6 replicates."""
    definition = METRICS[metric]
    statistics = definition.make(np.random.default_rng(0), items, systems)
    # The sizes that suit it best: what is compared at once should stay in the cache.
    block = 250 if (metric, procedure) == ("bleu", "randomization") else 500
    blocks = max(1, replicates // block)
    hits, spent = compare_all(
        statistics, definition.score, procedure, blocks=blocks, block=block, generator=np.random.default_rng(1)
    )
    flat = np.ascontiguousarray(statistics.reshape(-1, items).T)
    scale = 1e6 / (blocks * block)
    return {
        "metric": metric,
        "procedure": procedure,
        "systems": systems,
        "pairs": len(hits),
        "items": items,
        "replicates": blocks * block,
        "reference_cpu_s": round(sum(spent.values()) * scale, 3),
        "product_cpu_s": round(_time_product(flat, np.random.default_rng(2)) * 1e6, 3),
        "parts": {part: round(seconds * scale, 3) for part, seconds in spent.items()},
        "checksum": int(hits.sum()),
    }


def main() -> None:
    """Read the command line and print the JSON line."""
    metric, procedure, systems = sys.argv[1:4]
    replicates, items = [*sys.argv[4:6], "10000", "2034"][:2] if len(sys.argv) != 5 else (sys.argv[4], "2034")
    print(json.dumps(measure(metric, procedure, int(systems), int(replicates), int(items))))


if __name__ == "__main__":
    main()
