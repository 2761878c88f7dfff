"""One claim on many test sets: on how many does it hold, and on which? Partial conjunction and heterogeneity.

Arrays are (test_set, pair): every pair is a question of its own, corrected over its test sets only.
`pipeline.inference.across.suite_conclusions` combines both directions of many pairs.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pipeline.dataclass import dataclass
from pipeline.numerics.special import chdtrc

__all__ = ["Heterogeneity", "Suite", "conclude_suite", "directed_hits", "directed_p", "heterogeneity", "least_directed"]


@dataclass(frozen=True, eq=False)
class Suite:
    """The evidence for one fixed direction across a suite.

    Parameters
    ----------
    p : (u, pair) float64
        p_{u/T} of "better on at least u of T", u = 1 … T by row; nan beyond the pair's own T.
    at_least : (pair,) int64
        The largest u such that all of p_{1/T} … p_{u/T} are at most α: "better on at least u of T" holds at level 1 − α.
    test_sets : (pair,) int64
        T, those in which the pair has a p.
    holm : (test_set, pair) float64
        Adjusted over the suite: on which test sets it holds.
    """

    p: NDArray[np.float64]
    at_least: NDArray[np.int64]
    test_sets: NDArray[np.int64]
    holm: NDArray[np.float64]


def directed_hits(
    above_twice: NDArray[np.integer],
    at_twice: NDArray[np.integer],
    replicates: NDArray[np.integer],
    *,
    ahead: NDArray[np.bool_],
) -> NDArray[np.int64]:
    """Count the replicates against "A is better", a direction fixed before looking, also where A is behind.

    With δ ≥ 0 the gain of the system ahead: #(δ* ≥ 2δ) if that is A, and #(δ* ≤ 2δ) if not.

    Parameters
    ----------
    above_twice, at_twice : (...) int
        #(δ* > 2δ) and #(δ* = 2δ), counted in the order in which δ ≥ 0.
    replicates : (...) int
        In which both scores are defined.
    ahead : (...) bool
        A comes first in that order.
    """
    return np.where(ahead, above_twice + at_twice, replicates - above_twice).astype(np.int64)


def directed_p(
    above_twice: NDArray[np.integer],
    at_twice: NDArray[np.integer],
    replicates: NDArray[np.integer],
    *,
    ahead: NDArray[np.bool_],
    identical: NDArray[np.bool_],
) -> NDArray[np.float64]:
    """Return the one-sided p of a direction fixed before looking: (`directed_hits` + 1)/(b + 1).

    The convention `one-sided` will not do here: it orders each pair by the observed scores and is below ½ on every test set.

    Parameters
    ----------
    above_twice, at_twice, ahead
        As of `directed_hits`.
    replicates : (...) int
        In which both scores are defined; without any p is nan.
    identical : (...) bool
        p is 1.

    Examples
    --------
    >>> count = np.array([2, 2])
    >>> directed_p(count, count * 0, count * 0 + 99, ahead=np.array([True, False]), identical=np.zeros(2, bool)).tolist()
    [0.03, 0.98]
    """
    hits = directed_hits(above_twice, at_twice, replicates, ahead=ahead)
    p = np.where(replicates > 0, (hits + 1) / (replicates + 1), np.nan)
    return np.where(identical, 1.0, p)


def least_directed(
    ahead: NDArray[np.bool_], *, by_t: NDArray[np.float64], floor: NDArray[np.float64], flat: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """Return lower limits of the p of "A is better" and of "A is worse": (2, pair), 0 for the side that is behind.

    The side that is behind has a p above ½ by any test.

    Parameters
    ----------
    ahead : (pair,) bool
        A is ahead.
    by_t : (pair,) float64
        One-sided p of the system ahead, corrected for few units and skewness (`pipeline.inference.skewness`); nan where nothing is
        corrected.
    floor : (pair,) float64
        Two-sided, for few discordant units (`pipeline.inference.unit_diagnostics.few_units.evidence_floor`); half of it is the
        limit of one side.
    flat : (pair,) bool
        All units gain the same, so resampling shows no other gain, and p is 1.

    Examples
    --------
    >>> given = {"by_t": np.array([0.03, 0.03, np.nan]), "floor": np.array([0.0, 0.1, 0.02]), "flat": np.zeros(3, bool)}
    >>> least_directed(np.array([True, False, True]), **given).tolist()
    [[0.03, 0.0, 0.01], [0.0, 0.05, 0.0]]
    """
    return np.where([ahead, ~ahead], np.where(flat, 1.0, np.fmax(floor / 2, by_t)), 0.0)


def conclude_suite(p: NDArray[np.float64], *, alpha: float) -> Suite:
    """Conclude over a suite from one-sided p-values of one direction.

    Partial conjunction: p_{u/T} = (T − u + 1) p_(u), valid whatever the dependence of the test sets (Benjamini and Heller 2008,
    doi:10.1111/j.1541-0420.2007.00984.x). Their running maximum is Holm's adjustment, so ``at_least`` is also the number of test
    sets that Holm rejects.

    Parameters
    ----------
    p : (test_set, pair) float64
        From `directed_p`; nan where the pair was not measured.
    alpha : float

    Examples
    --------
    >>> found = conclude_suite(np.array([[0.001], [0.02], [0.6], [0.01]]), alpha=0.05)
    >>> found.p[:, 0].tolist(), found.at_least.tolist()
    ([0.004, 0.03, 0.04, 0.6], [3])
    """
    if p.ndim != 2:
        raise ValueError(f"p-values are (test_set, pair), not {p.shape}")
    if np.any((p < 0) | (p > 1)):
        raise ValueError(f"p-values lie in 0 … 1, not {np.nanmin(p)} … {np.nanmax(p)}")
    order = np.argsort(p, axis=0, kind="stable")  # nan last
    total = np.isfinite(p).sum(axis=0)
    factor = np.maximum(total - np.arange(len(p))[:, None], 1)
    partial = np.minimum(factor * np.take_along_axis(p, order, axis=0), 1.0)
    running = np.maximum.accumulate(partial, axis=0)
    adjusted = np.empty_like(running)
    np.put_along_axis(adjusted, order, running, axis=0)
    with np.errstate(invalid="ignore"):  # nan is not rejected
        at_least = (running <= alpha).sum(axis=0)
    return Suite(p=partial, at_least=at_least.astype(np.int64), test_sets=total.astype(np.int64), holm=adjusted)


@dataclass(frozen=True, eq=False)
class Heterogeneity:
    """Whether the test sets are consistent with one common gain.

    Parameters
    ----------
    q : (pair,) float64
        Cochran's Q; nan with fewer than two test sets.
    degrees : (pair,) int64
        Test sets less one.
    p : (pair,) float64
        P(χ² ≥ Q) if the gains are equal.
    i_squared : (pair,) float64
        Share of the variation beyond sampling error, max(0, 1 − (T − 1)/Q).
    mean : (pair,) float64
        Σ w δ / Σ w with w = 1/se².
    """

    q: NDArray[np.float64]
    degrees: NDArray[np.int64]
    p: NDArray[np.float64]
    i_squared: NDArray[np.float64]
    mean: NDArray[np.float64]


def heterogeneity(delta: NDArray[np.float64], se: NDArray[np.float64]) -> Heterogeneity:
    """Return Cochran's Q (1954, doi:10.2307/3001666) and I² (Higgins and Thompson 2002, doi:10.1002/sim.1186).

    It assumes that test sets are independent, that the metric has the same scale on all, and that se is known precisely. A test set
    without a positive standard error is left out.

    Parameters
    ----------
    delta, se : (test_set, pair) float64

    Examples
    --------
    >>> found = heterogeneity(np.array([[1.0], [3.0], [5.0]]), np.ones((3, 1)))
    >>> float(found.q[0]), int(found.degrees[0]), float(found.i_squared[0]), float(found.mean[0])
    (8.0, 2, 0.75, 3.0)
    """
    if delta.shape != se.shape or delta.ndim != 2:
        raise ValueError(f"gains {delta.shape} and standard errors {se.shape} are not both (test_set, pair)")
    used = np.isfinite(delta) & np.isfinite(se) & (se > 0)
    weight = np.divide(1.0, se**2, out=np.zeros(se.shape), where=used)
    gains = np.where(used, delta, 0.0)
    degrees = used.sum(axis=0) - 1
    with np.errstate(divide="ignore", invalid="ignore"):  # no test set: 0/0 is nan; Q = 0: the share is 0
        mean = (weight * gains).sum(axis=0) / weight.sum(axis=0)
        q = np.where(degrees > 0, (weight * (gains - mean) ** 2).sum(axis=0), np.nan)
        i_squared = np.where(q > 0, np.maximum(0.0, 1 - degrees / q), q)
    p = chdtrc(np.where(degrees > 0, degrees, np.nan), q)
    return Heterogeneity(q=q, degrees=np.maximum(degrees, 0).astype(np.int64), p=p, i_squared=i_squared, mean=mean)
