"""How often the sign of a gain on a drawn test set is that of the population: the expected share, and a share's error."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pipeline.dataclass import dataclass
from pipeline.numerics.special import ndtr, ndtri

__all__ = ["SignCounts", "expected_agreement", "share_error"]

_ROUNDING = 1e-9  # of the variance of independent observations


def expected_agreement(effects: NDArray[np.float64], low: float, high: float) -> float | None:
    """Return the share of gains with p in an interval that have the right sign, where gains are Gaussian.

    A pair with the true gain Δ_j and the standard error σ_j of its gain on a drawn test set has the effect μ_j = |Δ_j| / σ_j. Its
    observed gain over σ_j is Gaussian with mean μ_j and variance 1; the pair is turned so that it is not negative, and its p,
    one-sided, is then 1 − Φ(z). With z₁ and z₂ the values of z at p = ``high`` and ``low``, the share is

        Σ_j [Φ(z₂ − μ_j) − Φ(z₁ − μ_j)] / Σ_j [Φ(z₂ − μ_j) − Φ(z₁ − μ_j) + Φ(z₂ + μ_j) − Φ(z₁ + μ_j)].

    It is ½ without effects and 1 if all are large: it shows how large effects are, not whether p is right.

    Parameters
    ----------
    effects : (pair,) float64
        μ_j, not negative.
    low, high : float
        Ends of the interval of p.

    Returns
    -------
    float or None
        None where no such p can be expected.

    Examples
    --------
    >>> expected_agreement(np.array([0.0]), 0.04, 0.06)
    0.5
    >>> round(expected_agreement(np.array([1.6]), 0.04, 0.06), 3)
    0.995
    """
    upper = np.inf if low <= 0 else -float(ndtri(low))
    lower = max(-float(ndtri(high)), 0.0) if high < 1 else 0.0  # pairs are ordered so that z ≥ 0
    if upper <= lower or not len(effects):
        return None
    right = float(np.sum(ndtr(upper - effects) - ndtr(lower - effects)))
    wrong = float(np.sum(ndtr(upper + effects) - ndtr(lower + effects)))
    return right / (right + wrong) if right + wrong > 0 else None


@dataclass(frozen=True, eq=False)
class SignCounts:
    """How often pairs were observed on drawn test sets and had the right sign, as sums of fixed size.

    Columns are: observed, right.

    Parameters
    ----------
    pairs : (pair, 2) int64
        Positions of systems; no two pairs are of the same systems.
    by_pair : (pair, 2) int32
    by_system : (system, 2) int64
        An observation counts for both of its systems.
    by_set : (set, 2) int64
    products : (2, 2) int64
        Sums of squares and products, over systems and test sets, of the columns of the pairs of one system on one test set.
    """

    pairs: NDArray[np.int64]
    by_pair: NDArray[np.int32]
    by_system: NDArray[np.int64]
    by_set: NDArray[np.int64]
    products: NDArray[np.int64]

    @classmethod
    def of(cls, pairs: NDArray[np.int64], *, sets: int) -> SignCounts:
        """Return empty counts."""
        systems = int(pairs.max()) + 1 if len(pairs) else 0
        shapes = ((systems, 2), (sets, 2), (2, 2))
        return cls(pairs, np.zeros((len(pairs), 2), np.int32), *(np.zeros(shape, np.int64) for shape in shapes))

    def add(self, test_set: int, observed: NDArray[np.bool_], right: NDArray[np.bool_]) -> None:
        """Add a test set, once: which pairs were observed on it, and which of them had the right sign."""
        both = np.stack([observed, observed & right], axis=1)
        self.by_pair[...] += both
        of_system = np.zeros_like(self.by_system)
        for column in range(2):
            members = self.pairs[both[:, column]].ravel()
            of_system[:, column] = np.bincount(members, minlength=len(of_system))
        self.by_system[...] += of_system
        self.by_set[test_set] += both.sum(axis=0)
        self.products[...] += of_system.T @ of_system

    @property
    def observed(self) -> int:
        """Observations."""
        return int(self.by_set[:, 0].sum())

    @property
    def right(self) -> int:
        """Observations with the right sign."""
        return int(self.by_set[:, 1].sum())

    @property
    def systems(self) -> int:
        """Systems that were observed."""
        return int((self.by_system[:, 0] > 0).sum())

    @property
    def sets(self) -> int:
        """Test sets on which a pair was observed."""
        return int((self.by_set[:, 0] > 0).sum())


def share_error(counts: SignCounts) -> float | None:
    """Return the standard error of a share of right signs, where pairs share systems and test sets.

    Two observations are dependent if they have a system in common or come from one test set, so

        V = V_systems + V_sets − V_both,

    each the sum of r_i r_k over such observations i and k, with r the residuals over their number. Aronow, Samii & Assenova 2015,
    doi:10.1093/pan/mpv018, for pairs; Cameron, Gelbach & Miller 2011, doi:10.1198/jbes.2010.07136, for two ways at once.

    With few systems almost all pairs share one, so V is a small difference of large sums, and may be far too small or below 0. So
    it is at least the variance that the same residuals give with pairs alone, or test sets alone, as clusters.

    Returns
    -------
    float or None
        None where there is no observation, or the observations do not vary.
    """
    number, right = counts.observed, counts.right
    if right in (0, number):
        return None

    # Residuals are whole numbers over number², so that sums that are 0 come out as 0.
    def squares(table: NDArray[np.integer]) -> float:
        seen, hits = table.astype(np.int64).T
        return float(np.sum(((hits * number - right * seen) / float(number) ** 2) ** 2))

    pairs, sets = squares(counts.by_pair), squares(counts.by_set)
    each = right * (number - right) / number**3
    (seen_seen, seen_hits), (_, hits_hits) = counts.products.tolist()
    of_system_on_set = (number**2 * hits_hits - 2 * number * right * seen_hits + right**2 * seen_seen) / number**4
    # What two observations of one pair share is counted twice, once for each of its systems.
    variance = squares(counts.by_system) - pairs + sets - (of_system_on_set - each)
    largest = max(variance, pairs, sets)
    return float(np.sqrt(largest)) if largest > _ROUNDING * each else None
