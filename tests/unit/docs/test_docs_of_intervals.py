"""The coverage of intervals of rates that docs/intervals.md shows is what counting all data sets gives.

``PYTHONPATH=tests python tests/unit/docs/test_docs_of_intervals.py`` writes the tables anew: no draws, a few seconds.
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import binom, multinomial

from pipeline.inference.intervals.proportions import bonett_price, tango, wilson

PAGE = Path(__file__).resolve().parents[3] / "docs" / "intervals.md"
MARKED = re.compile(r"(<!-- coverage: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)
CASES = [
    (20, 0.1, 0.0), (20, 0.1, 0.05), (20, 0.3, 0.0), (20, 0.3, 0.1),
    (50, 0.05, 0.0), (50, 0.05, 0.025), (50, 0.2, 0.0), (50, 0.2, 0.1),
    (100, 0.05, 0.0), (100, 0.05, 0.025), (100, 0.2, 0.0), (100, 0.2, 0.1),
    (200, 0.02, 0.0), (200, 0.02, 0.01), (200, 0.2, 0.0), (200, 0.2, 0.1),
]  # fmt: skip
"""Units, the rate of discordant ones, the true gain."""

Ends = tuple[NDArray[np.float64], NDArray[np.float64]]


def all_counts(n: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    wins, losses = np.meshgrid(np.arange(n + 1), np.arange(n + 1), indexing="ij")
    inside = wins + losses <= n
    return wins[inside], losses[inside]


def symmetric(wins: NDArray[np.int64], losses: NDArray[np.int64], n: int) -> Ends:
    """The symmetric bootstrap interval of infinitely many replicates, from the exact law of n δ* by its Fourier transform."""
    angle = 2 * np.pi * np.arange(2 * n + 1) / (2 * n + 1)
    half = np.empty(len(wins))
    for first in range(0, len(wins), 2000):
        b, c = wins[first : first + 2000, None], losses[first : first + 2000, None]
        one = (b * np.exp(-1j * angle) + c * np.exp(1j * angle) + (n - b - c)) / n
        law = np.fft.ifft(one**n, axis=1).real  # place k: n δ* = k, and k − (2n + 1) beyond n
        value = np.where(np.arange(2 * n + 1) > n, np.arange(2 * n + 1) - (2 * n + 1), np.arange(2 * n + 1))
        away = np.abs(value - (b - c))
        order = np.argsort(away, axis=1, kind="stable")
        mass = np.cumsum(np.take_along_axis(law, order, axis=1), axis=1)
        reached = np.argmax(mass >= 0.95 - 1e-9, axis=1)
        half[first : first + 2000] = np.take_along_axis(np.take_along_axis(away, order, axis=1), reached[:, None], axis=1)[:, 0]
    return (wins - losses - half) / n, (wins - losses + half) / n


def misses(found: Ends, chance: NDArray[np.float64], gain: float) -> tuple[float, float]:
    """Return the chance that the whole interval is above the truth, and that it is below."""
    lo, hi = found
    return float(chance[lo > gain + 1e-12].sum()), float(chance[hi < gain - 1e-12].sum())


def table() -> str:
    lines = ["| units | discordant | true gain | `symmetric` | `tango` | `bonett-price` |", "| --- | --- | --- | --- | --- | --- |"]
    made: dict[int, tuple[NDArray[np.int64], NDArray[np.int64], list[Ends]]] = {}
    for n, rate, gain in CASES:
        if n not in made:
            wins, losses = all_counts(n)
            made[n] = wins, losses, [symmetric(wins, losses, n), tango(wins, losses, n), bonett_price(wins, losses, n)]
        wins, losses, methods = made[n]
        rates = [(rate + gain) / 2, (rate - gain) / 2, 1 - rate]
        chance = multinomial.pmf(np.stack([wins, losses, n - wins - losses], axis=1), n, rates)
        cells = [f"{100 * above:.1f} + {100 * below:.1f}" for above, below in (misses(one, chance, gain) for one in methods)]
        lines.append(f"| {n} | {rate:g} | {gain:g} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def test_the_law_behind_the_symmetric_interval_is_that_of_resampling() -> None:
    # Four units, two wins and one loss: 4^4 resamples, counted one by one.
    units = np.array([1, 1, -1, 0])
    sums = np.sort(np.abs(units[np.stack(np.unravel_index(np.arange(256), (4, 4, 4, 4)))].sum(axis=0) - 1))
    half = sums[int(np.ceil(0.95 * 256)) - 1] / 4
    lo, hi = symmetric(np.array([2]), np.array([1]), 4)
    np.testing.assert_allclose([lo[0], hi[0]], [0.25 - half, 0.25 + half])


def of_one_rate() -> str:
    """Wilson's interval of one rate: a row a number of units, a column a rate."""
    rates = (0.5, 0.8, 0.9, 0.95, 0.99)
    lines = ["| units | " + " | ".join(f"{rate:g}" for rate in rates) + " |", "| --- " * (len(rates) + 1) + "|"]
    for n in (10, 20, 50, 100, 1000):
        hits = np.arange(n + 1)
        found = (misses(wilson(hits, n), binom.pmf(hits, n, rate), rate) for rate in rates)
        lines.append(f"| {n} | " + " | ".join(f"{100 * above:.1f} + {100 * below:.1f}" for above, below in found) + " |")
    return "\n".join(lines) + "\n"


TABLES = {"rates": table, "rate": of_one_rate}


@pytest.mark.parametrize("name", sorted(TABLES))
def test_the_tables_of_coverage_are_counted(name: str) -> None:
    (shown,) = [match.group(0) for match in MARKED.finditer(PAGE.read_text(encoding="utf-8")) if match.group(2) == name]
    assert shown == f"<!-- coverage: {name} -->\n{TABLES[name]()}<!-- end -->"


@pytest.mark.parametrize("n", [10, 20, 50, pytest.param(100, marks=pytest.mark.slow)])
def test_intervals_of_rates_come_near_their_level_everywhere(n: int) -> None:
    wins, losses = all_counts(n)
    for method, most in ((tango, 0.0684), (bonett_price, 0.0622)):
        found = method(wins, losses, n)
        for rate in np.linspace(0.02, 0.6, 30):
            for gain in rate * np.linspace(0, 0.95, 20):
                rates = [(rate + gain) / 2, (rate - gain) / 2, 1 - rate]
                chance = multinomial.pmf(np.stack([wins, losses, n - wins - losses], axis=1), n, rates)
                assert sum(misses(found, chance, gain)) <= most


if __name__ == "__main__":
    text = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(MARKED.sub(lambda match: match.group(1) + TABLES[match.group(2)]() + match.group(3), text), encoding="utf-8")
