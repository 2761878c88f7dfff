"""Is one model better than another, over new runs and new units? Answered from mean squares, without drawing anything.

x(S, r, i) = μ_S + unit_i + (S×unit)_{S,i} + run_{S,r} + e, runs within systems, units shared by all. The gain is the difference of
the means over R_A and R_B runs and n units, and

Var δ = 2σ²_SU/n + Σ_S (σ²_run,S + σ²_e,S/n)/R_S.

No single mean square has this expectation. Three together do:

- V_unit = s²(d)/n, with d_i the difference of A's and B's means over runs on unit i, expects 2σ²_SU/n + Σ_S σ²_e,S/(n R_S);
- V_run = Σ_S s²_S/R_S, with s²_S the variance of the scores of S's runs, expects Σ_S (σ²_run,S + σ²_e,S/n)/R_S;
- V_e = Σ_S MS_e,S/(n R_S) expects Σ_S σ²_e,S/(n R_S), which the other two both contain.

So V = V_unit + V_run − V_e is unbiased. V_e may happen to exceed one of the others, so V is taken to be at least V_unit and at
least V_run. δ/√V is compared with Student's t. Its degrees of freedom are Satterthwaite's, V² over the sum of the squares of the
parts, each divided by its own: n − 1 of V_unit, R_S − 1 and (R_S − 1)(n − 1) of what system S adds to V_run and V_e.

With equal numbers of runs V is 2(MS_SU + MS_run − MS_e)/(nR), and t² is the quasi-F of analysis of variance. Each system has its
own variance of runs here (Welch 1947), because a pooled one is right only if both are equal.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pipeline.dataclass import dataclass
from pipeline.numerics.special import stdtr, stdtrit
from pipeline.resampling.replicas.components import squares_within, unit_values
from pipeline.resampling.replicas.nulls import REASONS
from pipeline.resampling.replicas.outputs import ObservedReplicas, Replicas, observe_replicas

__all__ = ["QuasiF", "quasi_f"]


@dataclass(frozen=True, eq=False)
class QuasiF:
    """The quasi-F test of each pair, from mean squares; (pair,) each.

    Parameters
    ----------
    delta : float64
        The gain; > 0 where the first of the pair is better.
    se : float64
        √V; nan where there is none.
    degrees : float64
        Of freedom.
    p : float64
        2 P(T ≥ |δ|/se), two-sided; 1 if the two are identical or score the same, nan where there is none.
    reason : int8
        Position in `pipeline.resampling.replicas.nulls.REASONS`.
    unit_se : float64
        √V_unit, of the gain of these very runs on new units, with n − 1 degrees of freedom; nan with one unit.
    """

    delta: NDArray[np.float64]
    se: NDArray[np.float64]
    degrees: NDArray[np.float64]
    p: NDArray[np.float64]
    reason: NDArray[np.int8]
    unit_se: NDArray[np.float64]

    def interval(self, level: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return δ ± t se at a level; nan where there is no standard error."""
        reach = stdtrit(self.degrees, (1 + level) / 2) * self.se
        return self.delta - reach, self.delta + reach


def quasi_f(replicas: Replicas, *, observed: ObservedReplicas | None = None) -> QuasiF:
    """Test every pair of systems with several runs by the quasi-F.

    Prefer it for a claim about methods: new runs of both on new units. For a metric that is not a mean, the values of units are
    linearised, so δ is the difference of the mean scores of runs for any metric.

    Parameters
    ----------
    replicas : Replicas
        Systems may have different numbers of runs; one run has no p.
    observed : ObservedReplicas, optional
        The result of `observe_replicas`, if already known.

    References
    ----------
    Satterthwaite 1946, doi:10.2307/3002019; Welch 1947, doi:10.1093/biomet/34.1-2.28; Clark 1973,
    doi:10.1016/S0022-5371(73)80014-3.

    Examples
    --------
    >>> generator = np.random.default_rng(1)
    >>> right = generator.random((2, 3, 50)) < np.array([0.9, 0.6])[:, None, None]  # two models, three runs, fifty questions
    >>> statistics = tuple(np.stack([own, np.ones_like(own)], axis=2).astype(np.int64) for own in right)
    >>> found = quasi_f(Replicas(statistics, lambda sums: sums[0] / sums[1], "ratio", True, np.array([[0, 1]])))
    >>> print(f"{found.delta[0]:.3f} ± {found.se[0]:.3f}, df {found.degrees[0]:.1f}, p = {found.p[0]:.2g}")
    0.327 ± 0.046, df 15.7, p = 2.9e-06
    """
    seen = observe_replicas(replicas) if observed is None else observed
    units, runs, (a, b) = replicas.n_units, replicas.runs, replicas.pairs.T
    nothing: list[NDArray[np.float64]] = [np.full((count, units), np.nan) for count in runs.tolist()]
    values = unit_values(replicas, seen) if units > 1 else nothing
    means = np.array([array.mean(axis=0) for array in values])
    squares = np.array([squares_within(array) for array in values])  # Σ of runs, Σ of e
    with np.errstate(divide="ignore", invalid="ignore"):  # one run or one unit: nan, and refused below
        of_run, of_e = (squares / np.stack([runs - 1, (runs - 1) * (units - 1)], axis=1) / (units * runs)[:, None]).T
        by_unit = np.array([_sum_of_squares(means[x] - means[y]) for x, y in replicas.pairs.tolist()]) / (units - 1) / units
        by_run, by_e = of_run[a] + of_run[b], of_e[a] + of_e[b]
        variance = np.maximum(by_unit + by_run - by_e, np.maximum(by_unit, by_run))
        shares = by_unit**2 / (units - 1)
        for system in (a, b):
            shares += (of_run[system] ** 2 + of_e[system] ** 2 / (units - 1)) / (runs[system] - 1)
        degrees, se = variance**2 / shares, np.sqrt(variance)
        p = 2 * stdtr(degrees, -np.abs(seen.delta) / se)
    cases = {
        "identical": seen.identical,
        "undefined score": ~np.isfinite(seen.delta),
        "one unit": np.full(len(a), units < 2),
        "one run": (runs[a] < 2) | (runs[b] < 2),
        "undefined without a unit": ~np.isfinite(variance),
        "no spread": se <= seen.slack,  # a rounding error, where all units and runs differ by the same
    }
    reason = np.select(list(cases.values()), [REASONS.index(name) for name in cases], 0).astype(np.int8)
    known = reason == 0
    p = np.where(known, p, np.nan)
    p[(reason == REASONS.index("identical")) | (seen.delta == 0) & (known | (reason == REASONS.index("no spread")))] = 1.0
    se, degrees = (np.where(known, number, np.nan) for number in (se, degrees))
    return QuasiF(seen.delta, se, degrees, p, reason, np.sqrt(by_unit))


def _sum_of_squares(values: NDArray[np.float64]) -> float:
    """Return the sum of squares about the mean; a pair at a time, since there may be many pairs of many units."""
    apart = values - values.mean()
    return float(apart @ apart)
