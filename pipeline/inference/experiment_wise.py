"""How likely is a false finding among many tests that nobody adjusts? This module says it three ways, to print side by side."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from pipeline.inference.families import PairFamily
from pipeline.inference.p_values import clopper_pearson
from pipeline.resampling.step_down import count_any

__all__ = ["AnyExceeds", "among_exchangeable_systems", "among_independent_tests", "normal_critical_value"]


def normal_critical_value(alpha: float) -> float:
    """Return what |δ| / se must exceed in one two-sided test at ``alpha``: 1.96 at .05."""
    return -float(ndtri(alpha / 2))


def among_independent_tests(alpha: float, tests: int) -> float:
    """Return 1 − (1 − α)^k: the chance that any of k independent tests of true nulls rejects.

    Pairs of systems are not independent, as they share systems and test items: it is too high for them.

    Examples
    --------
    >>> round(among_independent_tests(0.05, 105), 4)
    0.9954
    """
    return -float(np.expm1(tests * np.log1p(-alpha)))


def among_exchangeable_systems(alpha: float, systems: int) -> float:
    """Return P(any |z| > z_α) among all pairs of equal systems with Gaussian, equally correlated scores.

    The pairs then differ by the range of as many standard Gaussians over √2 (Tukey's studentised range with infinitely many
    degrees of freedom, integrated numerically).

    Examples
    --------
    >>> round(among_exchangeable_systems(0.05, 15), 2)
    0.82
    """
    from scipy.stats import studentized_range  # half a second to import

    if systems < 2:
        return 0.0
    return float(studentized_range.sf(np.sqrt(2.0) * normal_critical_value(alpha), systems, np.inf))


class AnyExceeds:
    """The bootstrap's own estimate: the share of shared replicates in which any t* is above its unadjusted critical value.

    It has the dependence that the data have, and grows by blocks of replicates as `pipeline.inference.max_t.StepDown`.

    Parameters
    ----------
    family : PairFamily
    critical : (pair,) float64
        Of each pair by itself, in standard errors: 1.96 (`normal_critical_value`), or the half-width of its symmetric interval
        over its se. Only those of members are used.
    """

    def __init__(self, family: PairFamily, critical: NDArray[np.float64]) -> None:
        if critical.shape != family.reason.shape:
            raise ValueError(f"critical values {critical.shape} are not of {len(family.reason)} pairs")
        self._family = family
        self._critical = np.ascontiguousarray(critical[family.pair], np.float64)
        self.found = 0
        self.replicates = 0

    def add(self, scores: NDArray[np.float64]) -> None:
        """Count a block (system, replicate); a replicate in which any member is undefined is left out."""
        scores = np.ascontiguousarray(scores, np.float64)
        found, there = count_any(scores, self._family.members, self._family.two_sided, self._critical)
        self.found += found
        self.replicates += there

    @property
    def share(self) -> float:
        """The estimate; nan without replicates."""
        return self.found / self.replicates if self.replicates else float("nan")

    def bounds(self, level: float = 0.95) -> tuple[float, float]:
        """Return the Clopper-Pearson bounds of what infinitely many replicates would give."""
        lo, hi = clopper_pearson(np.array([self.found]), np.array([self.replicates]), level)
        return float(lo[0]), float(hi[0])
