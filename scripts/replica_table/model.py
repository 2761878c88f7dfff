"""Simulate two systems that do not differ, with runs, and say what the nulls should do in the Gaussian limit.

x(S, r, i) = unit_i + (S×unit)_{S,i} + run_{S,r} + e, all Gaussian, e with standard deviation 1.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from pipeline.resampling.replicas.outputs import Replicas

__all__ = ["Noise", "gaussian_limit", "simulate"]

_SCALE = 2.0**12  # values become whole numbers: rounding has 1/14 000 of the standard deviation of e


@dataclass(frozen=True)
class Noise:
    """Standard deviations; that of e is 1, and that of units cancels."""

    system_unit: float = 0.0
    run: float = 0.0

    @property
    def words(self) -> str:
        """Say what there is besides e."""
        parts = [f"{name} {value:g}" for name, value in (("S×unit", self.system_unit), ("run", self.run)) if value]
        return ", ".join(parts) or "e alone"


def simulate(noise: Noise, *, trials: int, units: int, runs: int, generator: np.random.Generator) -> Replicas:
    """Return pairs of systems without a difference, one a trial: systems 2t and 2t + 1."""
    unit = generator.normal(0, 1, (trials, 1, 1, units))
    system_unit = noise.system_unit * generator.normal(0, 1, (trials, 2, 1, units))
    run = noise.run * generator.normal(0, 1, (trials, 2, runs, 1))
    values = unit + system_unit + run + generator.normal(0, 1, (trials, 2, runs, units))
    numerators = np.rint(_SCALE * values).astype(np.int64).reshape(2 * trials, runs, units)
    statistics = tuple(np.stack([own, np.ones_like(own)], axis=2) for own in numerators)
    return Replicas(statistics, _mean, "ratio", True, np.arange(2 * trials).reshape(trials, 2))


def _mean(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    return sums[0] / sums[1] / _SCALE


def gaussian_limit(null: str, noise: Noise, *, units: int, runs: int, alpha: float = 0.05) -> float | None:
    """Return the chance of rejection if δ and δ° were Gaussian with their expected variances, for permutation nulls."""
    system_unit, run, rest = 2 * noise.system_unit**2, 2 * noise.run**2, 2.0  # of the difference of two systems
    true = system_unit / units + (run + rest / units) / runs
    of_unit = system_unit + (run + rest) / runs  # E (mean over runs of A − of B in one unit)²
    of_output = (2 * (runs - 1) * (run + rest) / 2 + runs * of_unit / 2) / (2 * runs - 1)  # sample variance within a unit
    permuted = {
        "per-output": (system_unit + run + rest) / (units * runs),
        "r-of-2r": 2 * of_output / (units * runs),
        "segment-block": of_unit / units,
        "multeval": (system_unit + (0.5 + 1 / runs) * (run + rest)) / (units * runs),
    }
    if null not in permuted:
        return None
    return float(2 * ndtr(ndtri(alpha / 2) * np.sqrt(permuted[null] / true)))
