"""Ten more runs, or 500 more units? Decompose the variance of models' differences, whatever the metric.

A metric that is no mean is linearised: run r has the value s_r + (n − 1)(mean_j s_(j) − s_(i)) on unit i, with s_(i) its score
without unit i. Their mean is the run's score, their spread its jackknife variance; of a mean they are the scores of the units.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.dataclass import dataclass
from pipeline.resampling.replicas.components import Components, unit_values, variance_components
from pipeline.resampling.replicas.outputs import ObservedReplicas, Replicas

__all__ = ["FEW_DEGREES", "Variances", "take_apart"]

FEW_DEGREES = 10
"""Of freedom of σ²_run: with fewer its 95 % interval reaches from half of it to three times as much, or further."""


@dataclass(frozen=True, eq=False)
class Variances:
    """Variance components of all pairs, and what more runs or more units would make of Var δ.

    Parameters
    ----------
    components : Components or None
        None where there is no such thing: see ``reason``.
    runs : (pair, 2) int64
    units : int
    identical : (pair,) bool
        Pairs that are copies of each other: what their runs have in common is no chance, and there is nothing to estimate.
    reason : str or None
    """

    components: Components | None
    runs: NDArray[np.int64]
    units: int
    identical: NDArray[np.bool_]
    reason: str | None = None

    def variance(self, pair: int, *, more_runs: int = 0, more_units: int = 0, new_runs: bool = True) -> float | None:
        """Return Var δ of a pair with so many more runs of each model and so many more units; ``new_runs`` counts their effects."""
        if self.components is None or self.identical[pair]:
            return None
        a, b = self.runs[pair].tolist()
        components = self.components if new_runs else replace(self.components, run=np.zeros_like(self.components.run))
        found = components.difference_variance(runs_a=a + more_runs, runs_b=b + more_runs, units=self.units + more_units)
        return float(found[pair])

    def law(
        self, *, more_runs: NDArray[np.int64] | int = 0, more_units: NDArray[np.int64] | int = 0, new_runs: bool = True
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
        """Return standard error and degrees of freedom of each pair's gain with so many more runs of each model, and more units.

        Degrees are Satterthwaite's, of what the mean squares of the quasi-F expect; n − 1 without new runs.
        """
        if self.components is None:
            return None
        system_unit, run, e = (np.maximum(getattr(self.components, p), 0.0) for p in ("system_unit", "run", "residual"))
        runs, units = self.runs + np.reshape(more_runs, (-1, 1)), self.units + np.asarray(more_units)
        of_e = (e / units)[:, None] / runs
        by_unit = 2 * system_unit / units + of_e.sum(axis=1)
        if not new_runs:
            return np.sqrt(by_unit), np.broadcast_to(units - 1.0, by_unit.shape)
        of_run = run[:, None] / runs + of_e
        variance = by_unit + (of_run - of_e).sum(axis=1)
        with np.errstate(divide="ignore", invalid="ignore"):  # one run, or one unit, knows nothing of a variance: no degrees
            shares = by_unit**2 / (units - 1) + ((of_run**2 + of_e**2 / (units - 1)[..., None]) / (runs - 1)).sum(axis=1)
        degrees = np.divide(variance**2, shares, out=np.full(variance.shape, np.nan), where=shares > 0)
        return np.sqrt(variance), degrees

    def share(self, pair: int, parts: tuple[str, ...]) -> float:
        """Return the share of Var δ that comes of ``run``, ``system_unit`` or both; nan where it is not known."""
        whole = self.variance(pair)
        if self.components is None or not whole:
            return float("nan")
        run, system_unit = (max(float(getattr(self.components, part)[pair]), 0.0) for part in ("run", "system_unit"))
        of = {"run": run * float((1 / self.runs[pair]).sum()), "system_unit": 2 * system_unit / self.units}
        return sum(of[part] for part in parts) / whole

    def describe(self, pair: int, *, more_runs: int, more_units: int) -> Mapping[str, Any]:
        """Return the fields of a row."""
        names = ("unit", "system_unit", "run", "residual")
        known = None if self.identical[pair] else self.components
        now = self.variance(pair)
        by_runs, by_units = self.variance(pair, more_runs=more_runs), self.variance(pair, more_units=more_units)
        se, se_runs, se_units = (None if value is None else float(np.sqrt(value)) for value in (now, by_runs, by_units))
        narrower = None
        if by_runs is not None and by_units is not None and by_runs != by_units:
            narrower = f"{more_runs} more runs" if by_runs < by_units else f"{more_units} more units"
        words = None
        if se is not None:
            words = f"se of the gain {se:.3g}: {se_runs:.3g} with {more_runs} more runs of each model, "
            conclusion = f"{narrower} narrow it more" if narrower else "it is the same"
            words += f"{se_units:.3g} with {more_units} more units: {conclusion}"
            if known is not None and known.degrees[pair] < FEW_DEGREES:
                words += f" (σ²_run has {known.degrees[pair]} degrees of freedom: hardly known)"
        return {
            **{f"variance_{name}": None if known is None else float(getattr(known, name)[pair]) for name in names},
            "run_degrees": None if known is None else int(known.degrees[pair]),
            "variance": now,
            "more_runs": more_runs,
            "variance_more_runs": by_runs,
            "more_units": more_units,
            "variance_more_units": by_units,
            "narrower": narrower,
            "se": se,
            "se_more_runs": se_runs,
            "se_more_units": se_units,
            "in_words": words,
            "reason": "the two are identical: there is no variance to take apart" if self.identical[pair] else self.reason,
        }


def take_apart(replicas: Replicas, seen: ObservedReplicas) -> Variances:
    """Estimate the components of every pair.

    Parameters
    ----------
    replicas : Replicas
    seen : ObservedReplicas
        From `observe_replicas`.
    """
    runs = replicas.runs[replicas.pairs]
    if replicas.n_units < 2:
        return Variances(
            None, runs, replicas.n_units, seen.identical, "there is one unit: its variance cannot be told from that of runs"
        )
    values = unit_values(replicas, seen)
    if not all(np.isfinite(array).all() for array in values):
        return Variances(None, runs, replicas.n_units, seen.identical, "a run has no score without one of its units")
    return Variances(variance_components(values, replicas.pairs), runs, replicas.n_units, seen.identical)
