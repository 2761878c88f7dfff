"""Make true nulls with items in documents, and count what the package's own procedures reject.

The difference of item i of document g is √ρ u_g + √(1 − ρ) e_gi with Gaussian u and e, rounded to thousandths: statistics are
integers. Both systems score the same in the population. One system has no score at all and is the partner of every trial: trials
of a batch share their resamples as pairs of a study do, and batches have draws of their own.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.inference.p_values import CONVENTIONS, p_values
from pipeline.inference.unit_diagnostics.unit_guard import correct_few_units
from pipeline.inference.unit_diagnostics.units import effective_units, unit_effects
from pipeline.resampling.address import draw_key
from pipeline.resampling.draws import Draws
from pipeline.resampling.measures import Measure
from pipeline.resampling.observe import observe
from pipeline.resampling.resample import resample
from pipeline.resampling.standard_errors.influence import leave_one_out

__all__ = ["FEW", "LEVEL", "MANY", "REPOSITORIES", "Scenario", "simulate"]

LEVEL = 0.05
BATCH = 100  # trials that share their resamples
REPOSITORIES = (231, 75, 44, 34, 32, 22, 22, 19, 10, 8, 2, 1)


@dataclass(frozen=True)
class Scenario:
    """Documents and how alike their items are."""

    name: str
    sizes: tuple[int, ...]
    correlation: float


MANY = tuple(Scenario("50 × 10", (10,) * 50, correlation) for correlation in (0.0, 0.05, 0.10, 0.30))
FEW = (
    *(Scenario(f"{documents} × 10", (10,) * documents, 0.10) for documents in (5, 10, 20, 50)),
    *(Scenario("12 repositories", REPOSITORIES, correlation) for correlation in (0.10, 0.30, 1.0)),
)


def simulate(
    scenario: Scenario, *, trials: int, replicates: int, seed: int, say: Callable[[str], None] = lambda _: None
) -> dict[str, Any]:
    """Count rejections at `LEVEL` of the two-sided bootstrap on items and on documents, and of its correction for few units."""
    unit = np.repeat(np.arange(len(scenario.sizes)), scenario.sizes)
    generator = np.random.default_rng([seed, *scenario.sizes, round(1000 * scenario.correlation)])
    rejected = dict.fromkeys(("items", "documents", "corrected"), 0)
    effects: list[NDArray[np.float64]] = []
    for batch in range(-(-trials // BATCH)):
        items = _make(unit, scenario.correlation, min(BATCH, trials - batch * BATCH), generator)
        documents = np.add.reduceat(items, np.cumsum((0, *scenario.sizes[:-1])), axis=0)
        for name, statistics in (("items", items), ("documents", documents)):
            units = effective_units(items[:, 0, 1] if name == "items" else documents[:, 0, 1])
            place = f"{scenario.name}, {scenario.correlation}, {name}, {batch}"
            key = draw_key(seed=seed, purpose="paired-bootstrap", test_set=place, size="full", rule="prefix")
            plain, corrected = _test(statistics, Draws(key, len(statistics), len(statistics)), replicates, units)
            rejected[name] += int(np.sum(plain <= LEVEL))
            if name == "documents":
                rejected["corrected"] += int(np.sum(corrected <= LEVEL))
        effects.append(unit_effects(leave_one_out(items, _mean), _pairs(items), unit=unit).design_effect)
        if not (batch + 1) % 50:
            say(f"{scenario.name}, {scenario.correlation}: {(batch + 1) * BATCH} trials")
    effect = float(np.concatenate(effects).mean())
    return asdict(scenario) | {
        "trials": trials, "replicates": replicates, "seed": seed, "rejected": rejected, "design_effect": round(effect, 4),
    }  # fmt: skip


def _make(unit: NDArray[np.int64], correlation: float, trials: int, generator: np.random.Generator) -> NDArray[np.int64]:
    """(item, 1 + trials, 2): numerators and denominators; system 0 scores nothing."""
    shared = generator.normal(size=(unit.max() + 1, trials))[unit]
    x = np.sqrt(correlation) * shared + np.sqrt(1 - correlation) * generator.normal(size=(len(unit), trials))
    numerators = np.concatenate([np.zeros((len(unit), 1)), np.rint(1000 * x)], axis=1).astype(np.int64)
    return np.stack([numerators, np.ones_like(numerators)], axis=2)


def _mean(sums: NDArray[Any]) -> NDArray[np.float64]:
    return np.asarray(sums[0] / sums[1], np.float64)


def _pairs(statistics: NDArray[np.int64]) -> NDArray[np.int64]:
    trials = np.arange(1, statistics.shape[1])
    return np.stack([trials, np.zeros_like(trials)], axis=1)


def _test(
    statistics: NDArray[np.int64], draws: Draws, replicates: int, units: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the two-sided p of every trial, and the one that is corrected for few units."""
    measure = Measure(statistics, _mean, "ratio", True, _pairs(statistics), np.zeros(statistics.shape[1], np.bool_))
    seen = observe(measure)
    (found,) = resample(draws, [measure], cells=range(1), replicates=replicates, observed=[seen])
    b = replicates - found.empty[:, 0].astype(np.int64)
    sums = found.sums[:, 0]
    p = p_values(found.counts[:, 0], b, delta=seen.delta, identical=seen.identical, sums=sums).p
    spread = np.sqrt(sums[:, 1] / b - (sums[:, 0] / b) ** 2)
    return p[CONVENTIONS.index("two-sided-plus-one")], correct_few_units(seen.delta, spread, units=units).p
