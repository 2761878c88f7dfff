"""Variance components (units, systems × units, runs and the rest) from an analysis of variance, for metrics that are means.

x(S, r, i) = μ_S + unit_i + (S×unit)_{S,i} + run_{S,r} + e, runs within systems, units shared by all. Mean squares are equated with
their expectations; with unequal numbers of runs, systems × units is taken from unweighted means over runs (Searle, Casella and
McCulloch 1992, doi:10.1002/9780470316856, ch. 4 and 5). Estimates are unbiased, so the estimate of a small component may be
negative.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from pipeline.dataclass import dataclass
from pipeline.resampling.replicas.outputs import ObservedReplicas, Replicas
from pipeline.resampling.standard_errors.influence import leave_one_out

__all__ = ["Components", "squares_within", "unit_values", "variance_components"]


@dataclass(frozen=True, eq=False)
class Components:
    """Variance components of each pair of systems, (pair,) float64, in squared units of the values.

    Parameters
    ----------
    unit : (pair,) float64
        Difficulty, shared by both systems; it cancels in their difference.
    system_unit : (pair,) float64
        S×unit; nan if neither system has two runs, since it cannot then be distinguished from e.
    run : (pair,) float64
        Pooled over both systems; nan if neither has two runs.
    residual : (pair,) float64
        e, pooled; nan if neither system has two runs.
    degrees : (pair,) int64
        Degrees of freedom of ``run``, R_A + R_B − 2. With few, its estimate is imprecise.
    """

    unit: NDArray[np.float64]
    system_unit: NDArray[np.float64]
    run: NDArray[np.float64]
    residual: NDArray[np.float64]
    degrees: NDArray[np.int64]

    def difference_variance(self, *, runs_a: int, runs_b: int, units: int) -> NDArray[np.float64]:
        """Return Var δ for some numbers of runs and units: 2σ²_SU/n + (σ²_run + σ²_e/n)(1/R_A + 1/R_B), negative estimates as 0.

        Two calls show how much ten more runs, or 500 more items, would reduce it.
        """
        system_unit, run, residual = (np.maximum(part, 0.0) for part in (self.system_unit, self.run, self.residual))
        return np.asarray(2 * system_unit / units + (run + residual / units) * (1 / runs_a + 1 / runs_b))


def variance_components(values: Sequence[NDArray[np.float64]], pairs: NDArray[np.int64]) -> Components:
    """Estimate the components of each pair.

    Parameters
    ----------
    values : sequence of (run, unit) float64
        One array for each system: the score of each output, of which the metric is the mean.
    pairs : (pair, 2) int64
    """
    if any(array.ndim != 2 or array.shape[1] != values[0].shape[1] for array in values):
        raise ValueError(f"values are (run, unit) of the same units, not {', '.join(str(array.shape) for array in values)}")
    units = values[0].shape[1]
    if units < 2:
        raise ValueError(f"variance components need at least 2 units, not {units}")
    runs = np.array([len(array) for array in values])
    means = np.array([array.mean(axis=0) for array in values])
    squares = np.array([squares_within(array) for array in values])  # Σ of runs, Σ of e
    covariance = np.atleast_2d(np.cov(means))
    a, b = pairs.T
    degrees = runs[a] + runs[b] - 2
    with np.errstate(divide="ignore", invalid="ignore"):  # one run each: nan
        residual = (squares[a, 1] + squares[b, 1]) / (degrees * (units - 1))
        run_square = (squares[a, 0] + squares[b, 0]) / degrees  # expects σ²_e + n σ²_run
    unit = covariance[a, b]
    within = (covariance[a, a] + covariance[b, b]) / 2 - unit  # expects σ²_SU + σ²_e · mean of 1/R
    return Components(
        unit=unit,
        system_unit=within - residual * (1 / runs[a] + 1 / runs[b]) / 2,
        run=(run_square - residual) / units,
        residual=residual,
        degrees=degrees,
    )


def squares_within(array: NDArray[np.float64]) -> tuple[float, float]:
    """Return the sums of squares of runs and of runs × units within one system."""
    centred = array - array.mean(axis=0)
    by_run = centred.mean(axis=1)
    return array.shape[1] * float(by_run @ by_run), float(((centred - by_run[:, None]) ** 2).sum())


def unit_values(replicas: Replicas, seen: ObservedReplicas) -> list[NDArray[np.float64]]:
    """Return (run, unit) values of each model whose means are the scores of its runs.

    For a metric that is not a mean they are linearised: run r has s_r + (n − 1)(mean_j s_(j) − s_(i)) on unit i, with s_(i) its
    score without unit i.
    """
    runs, of = replicas.distinct.runs, replicas.distinct.of
    without = leave_one_out(np.ascontiguousarray(runs.transpose(1, 0, 2)), replicas.score)
    moved = (replicas.n_units - 1) * (without.mean(axis=1, keepdims=True) - without)
    return [scores[:, None] + moved[own] for scores, own in zip(seen.by_run, of, strict=True)]
