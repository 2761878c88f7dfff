"""Make test sets on which two systems are equal, and count the suites in which one of them is found better on any.

The gains of units are rounded to thousandths: statistics are integers. One system scores nothing and is the partner of every
other: the test sets of a batch share their resamples, and batches have draws of their own. A claim is an ``at_least`` above 0 in
either direction, at .05.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import bdtr

from pipeline.inference.across.suite_conclusions import conclude_questions
from pipeline.inference.across.suites import directed_p, least_directed
from pipeline.inference.skewness import skewed_tail
from pipeline.inference.unit_diagnostics.few_units import StudentTails, evidence_floor
from pipeline.inference.unit_diagnostics.undecided import UnitShape, find_undecided
from pipeline.resampling.address import draw_key
from pipeline.resampling.draws import Draws
from pipeline.resampling.measures import COUNTS, Measure
from pipeline.resampling.observe import observe
from pipeline.resampling.resample import resample
from pipeline.resampling.standard_errors.influence import leave_one_out, pair_moments

__all__ = ["LEVEL", "RULES", "SCENARIOS", "SIZES", "Scenario", "simulate"]

LEVEL = 0.05
SIZES = (10, 20, 40)
RULES = ("counted", "Student", "corrected", "decided")
BATCH = 1000  # test sets that share their resamples


@dataclass(frozen=True)
class Scenario:
    """A law of the gains of units, and how many there are on a test set."""

    law: str
    units: int


SCENARIOS = (
    *(Scenario("Gaussian", units) for units in (10, 20, 50)),
    *(Scenario("skewed", units) for units in (20, 50, 100)),
    *(Scenario("total failures", units) for units in (20, 100)),
    *(Scenario("lognormal", units) for units in (20, 100)),
    *(Scenario("0/1", units) for units in (20, 100)),
)


def _gains(law: str, shape: tuple[int, int], generator: np.random.Generator) -> NDArray[np.float64]:
    """Return (unit, test set) gains with expectation 0."""
    if law == "Gaussian":
        return generator.normal(size=shape)
    if law == "skewed":  # skewness √2
        return generator.gamma(2.0, size=shape) - 2.0
    if law == "lognormal":  # skewness 6.2
        gains: NDArray[np.float64] = np.exp(generator.normal(size=shape)) - np.exp(0.5)
        return gains
    if law == "0/1":  # one in five differs
        chance = generator.random(shape)
        return (chance < 0.1).astype(np.float64) - (chance > 0.9)
    # Graded answers of two systems; the first fails on one in twenty, and is as much better on the others.
    failed = 0.7 * (generator.random(shape) < 0.05)
    return generator.normal(0.7, 0.1, shape) - failed - generator.normal(0.665, 0.1, shape)


def simulate(
    scenario: Scenario, *, test_sets: int, replicates: int, seed: int, say: Callable[[str], None] = lambda _: None
) -> dict[str, Any]:
    """Count the suites of each size in which a claim is made, by each of `RULES`."""
    generator = np.random.default_rng([seed, scenario.units, *scenario.law.encode()])
    batches = range(-(-test_sets // BATCH))
    found = [_test(scenario, replicates=replicates, seed=seed, batch=batch, generator=generator) for batch in batches]
    say(f"{scenario.law}, {scenario.units} units: {test_sets} test sets")
    claims = {}
    for number, rule in enumerate(RULES):
        p = np.concatenate([of[number] for of in found], axis=1)[:, :test_sets]
        claims[rule] = {str(size): _count(p, size) for size in SIZES}
    suites = {str(size): test_sets // size for size in SIZES}
    return asdict(scenario) | {"suites": suites, "replicates": replicates, "seed": seed, "claims": claims}


def _count(p: NDArray[np.float64], size: int) -> int:
    suites = p.shape[1] // size
    of_suite = p[:, : suites * size].reshape(2, suites, size).transpose(0, 2, 1)
    return int((conclude_questions(of_suite, alpha=LEVEL).at_least > 0).any(axis=0).sum())


def _test(
    scenario: Scenario, *, replicates: int, seed: int, batch: int, generator: np.random.Generator
) -> tuple[NDArray[np.float64], ...]:
    """Return the (direction, test set) p of a batch by each rule."""
    n = scenario.units
    gains = np.rint(1000 * _gains(scenario.law, (n, BATCH), generator)).astype(np.int64)
    numerators = np.concatenate([np.zeros((n, 1), np.int64), gains], axis=1)
    statistics = np.stack([numerators, np.ones_like(numerators)], axis=2)
    others = np.arange(1, BATCH + 1)
    pairs = np.stack([others, np.zeros_like(others)], axis=1)
    measure = Measure(statistics, _mean, "ratio", True, pairs, np.zeros(BATCH + 1, np.bool_))
    seen, moments = observe(measure), pair_moments(leave_one_out(statistics, _mean), pairs)
    key = draw_key(seed=seed, purpose="paired-bootstrap", test_set=f"{scenario.law}, {n}, {batch}", size="full", rule="prefix")
    (counted,) = resample(Draws(key, n, n), [measure], cells=range(1), replicates=replicates, observed=[seen])
    above, at = (counted.counts[:, 0, COUNTS.index(name)] for name in ("above_twice_delta", "at_twice_delta"))
    ahead = seen.delta >= 0
    p = directed_p(above, at, np.full(BATCH, replicates), ahead=np.stack([ahead, ~ahead]), identical=seen.identical)
    tails, t = StudentTails(n), np.divide(np.abs(seen.delta), seen.se, out=np.zeros(BATCH), where=seen.se > 0)
    floor = evidence_floor(seen.discordant, _exact(gains) if scenario.law == "0/1" else None)
    flat = ~(seen.se > 0) & ~seen.identical
    toward = np.where(ahead, 1, -1) * moments.acceleration
    by_t = (tails.tail(t), skewed_tail(t, toward, tails=tails))
    student, corrected = (np.maximum(p, least_directed(ahead, by_t=of, floor=floor, flat=flat)) for of in by_t)
    # Of two systems: the other test sets of a batch have nothing to do with this one, and show no failures of others.
    unknown, one_size = np.full(BATCH, np.nan), np.full(BATCH, scenario.law == "0/1")
    undecided = find_undecided(UnitShape(n, float(n), seen.discordant, toward, unknown, one_size)) > 0
    return p, student, corrected, np.where(undecided, 1.0, corrected)


def _mean(sums: NDArray[Any]) -> NDArray[np.float64]:
    return np.asarray(sums[0] / sums[1], np.float64)


def _exact(gains: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return McNemar's exact two-sided p."""
    wins, losses = (gains > 0).sum(axis=0), (gains < 0).sum(axis=0)
    return np.asarray(np.minimum(1.0, 2 * bdtr(np.minimum(wins, losses), wins + losses, 0.5)), np.float64)
