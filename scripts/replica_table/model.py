"""Simulate two systems with runs, which do not differ unless they should, and say what the nulls should do in the Gaussian limit.

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
    """Standard deviations; that of e is 1, and that of units cancels.

    ``run_b`` is that of the second system's runs where it is another one, ``gain`` what the first system is better by.
    """

    system_unit: float = 0.0
    run: float = 0.0
    run_b: float | None = None
    gain: float = 0.0

    @property
    def label(self) -> str:
        """Return what draws are addressed by."""
        further = "".join(f", {name}={value}" for name, value in (("run_b", self.run_b), ("gain", self.gain)) if value)
        return f"Noise(system_unit={self.system_unit}, run={self.run}{further})"

    @property
    def words(self) -> str:
        """Say what there is besides e."""
        parts = [f"S×unit {self.system_unit:g}"] if self.system_unit else []
        if self.run_b is not None:
            parts.append(f"run {self.run:g} of A, {self.run_b:g} of B")
        elif self.run:
            parts.append(f"run {self.run:g}")
        told = ", ".join(parts) or "e alone"
        return f"{told}; gain {self.gain:g}" if self.gain else told


def simulate(noise: Noise, *, trials: int, units: int, runs: int, generator: np.random.Generator, runs_b: int) -> Replicas:
    """Return a pair of systems a trial: 2t, which is better by the gain, and 2t + 1, with ``runs_b`` runs."""
    unit = generator.normal(0, 1, (trials, 1, 1, units))
    system_unit = noise.system_unit * generator.normal(0, 1, (trials, 2, 1, units))
    most = max(runs, runs_b)
    spread = np.array([noise.run, noise.run if noise.run_b is None else noise.run_b])[:, None, None]
    run = spread * generator.normal(0, 1, (trials, 2, most, 1))
    values = unit + system_unit + run + generator.normal(0, 1, (trials, 2, most, units))
    values[:, 0] += noise.gain
    numerators = np.rint(_SCALE * values).astype(np.int64).reshape(2 * trials, most, units)
    kept = (runs, runs_b)
    statistics = tuple(
        np.stack([own, np.ones_like(own)], axis=2) for own in (array[: kept[k % 2]] for k, array in enumerate(numerators))
    )
    return Replicas(statistics, _mean, "ratio", True, np.arange(2 * trials).reshape(trials, 2))


def _mean(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    mean: NDArray[np.float64] = sums[0] / sums[1] / _SCALE
    return mean


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
