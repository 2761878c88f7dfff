"""Run trials and count how often true nulls are rejected.

Trials of a batch share their draws: only the Monte-Carlo error of p, about .007 at .05, is then common to them. With 20 trials a
batch that widens the standard error of a rate by about two per cent; the interval leaves it out.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.stats import beta

from pipeline.resampling.address import draw_key
from pipeline.resampling.draws import Draws
from pipeline.resampling.replicas.outputs import observe_replicas
from pipeline.resampling.replicas.p_values import find_p
from replica_table.model import Noise, simulate

__all__ = ["ALPHAS", "Case", "Rate", "measure_rates"]

ALPHAS = (0.01, 0.05, 0.10)
_BATCH = 20  # trials on the same draws


@dataclass(frozen=True)
class Case:
    """One source of noise, number of runs and units, and the nulls to reject there."""

    noise: Noise
    runs: int
    nulls: tuple[str, ...]
    units: int = 100
    runs_b: int | None = None

    @property
    def runs_in_words(self) -> str:
        """Say how many runs there are."""
        return str(self.runs) if self.runs_b is None else f"{self.runs} and {self.runs_b}"


@dataclass(frozen=True)
class Rate:
    """What was counted of one null in one case; ``rejected`` in the order of `ALPHAS`."""

    case: Case
    null: str
    trials: int
    rejected: tuple[int, ...]

    def interval(self, alpha: float = 0.05, level: float = 0.95) -> tuple[float, float]:
        """Return the Clopper-Pearson interval of the rate of rejection at alpha."""
        hits, half = self.rejected[ALPHAS.index(alpha)], (1 - level) / 2
        low = beta.ppf(half, hits, self.trials - hits + 1) if hits else 0.0
        high = beta.isf(half, hits + 1, self.trials - hits) if hits < self.trials else 1.0
        return float(low), float(high)


def measure_rates(case: Case, *, trials: int, replicates: int, seed: int) -> list[Rate]:
    """Count rejections of each null of a case, all on the same simulated data."""
    rejected = {null: np.zeros(len(ALPHAS), np.int64) for null in case.nulls}
    for batch, first in enumerate(range(0, trials, _BATCH)):
        generator = np.random.default_rng([seed, batch, case.runs, *_digits(case)])
        count, runs = min(_BATCH, trials - first), {"runs": case.runs, "runs_b": case.runs_b or case.runs}
        replicas = simulate(case.noise, trials=count, units=case.units, generator=generator, **runs)
        observed = observe_replicas(replicas)
        for null in case.nulls:
            key = draw_key(
                seed=seed, purpose=null, test_set=f"{case.noise.label} {batch}", size=str(case.units), rule=str(case.runs)
            )
            draws = Draws(key, case.units, case.units)
            p = find_p(null, draws, replicas, replicates=replicates, observed=observed).p
            # Exactly at alpha counts as rejected; floats of hits/arrangements may miss it by a rounding error.
            rejected[null] += np.array([(p <= alpha + 1e-12).sum() for alpha in ALPHAS])
    return [Rate(case, null, trials, tuple(found.tolist())) for null, found in rejected.items()]


def _digits(case: Case) -> tuple[int, ...]:
    noise = case.noise
    further = (noise.run_b or 0.0, noise.gain, (case.runs_b or 0) / 1000)
    numbers = (noise.system_unit, noise.run, *(further if any(further) else ()))
    return tuple(round(1000 * number) for number in numbers)
