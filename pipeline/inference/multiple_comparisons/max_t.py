"""Max-T: adjusted p-values and error rates of a whole family, from replicates that all systems share.

On these replicates the maximum over pairs has the distribution that it has in the data, however the pairs are correlated. It gives
two things:

- `MaxT`: adjusted p-values, step-down (Westfall and Young 1993, Wiley, ISBN 0-471-55761-7; Romano and Wolf 2005,
  doi:10.1198/016214504000000539).
- `AnyExceeds`: how likely a false finding is without adjustment, to print beside the numbers for independent tests and for
  exchangeable systems.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pipeline.dataclass import dataclass
from pipeline.inference.multiple_comparisons.families import Members, PairFamily, count_any, count_step_down
from pipeline.inference.p_values import clopper_pearson
from pipeline.numerics.special import ndtr, ndtri

__all__ = [
    "AnyExceeds",
    "MaxT",
    "StepDown",
    "among_exchangeable_systems",
    "among_independent_tests",
    "normal_critical_value",
]

_LEVEL = 0.95
_FEW = 64  # members, whose t* NumPy counts before a kernel is loaded
_FAR = 9.0  # beyond, a Gaussian has a share of 1e-19


@dataclass(frozen=True, eq=False)
class MaxT:
    """Adjusted p-values of one family, in the order in which its pairs were given.

    Parameters
    ----------
    family : PairFamily
        ``family.reason`` says why a pair is no member.
    p : (pair,) float64
        (#(u_(j) ≥ t_(j)) + 1) / (b_(j) + 1), made monotone; 1 where known without a replicate, nan where there is none. If the
        family has `StudentTails`, t_(j) is corrected for few units.
    lo, hi : (pair,) float64
        95 % Clopper-Pearson bounds of the p that infinitely many replicates would give, also made monotone.
    hits : (pair,) int64
        #(u_(j) ≥ t_(j)), not monotone; 0 for pairs that are not members.
    replicates : (pair,) int64
        b_(j): replicates in which the pair and all members with a smaller t are defined; 0 for pairs that are not members.
    largest : (replicate,) float64
        max_j t*_j over all members, nan where any is undefined: for a single-step test.
    """

    family: PairFamily
    p: NDArray[np.float64]
    lo: NDArray[np.float64]
    hi: NDArray[np.float64]
    hits: NDArray[np.int64]
    replicates: NDArray[np.int64]
    largest: NDArray[np.float64]


class StepDown:
    """Counts of step-down max-T that grow block by block; any division of the replicates into blocks gives the same result.

    Parameters
    ----------
    family : PairFamily
        From `pipeline.inference.multiple_comparisons.families.order_family`.

    Examples
    --------
    One pair with δ = 1 and se = ½ has t = 2; replicates with δ* = 3, 1, −1 and 0 have t* = 4, 0, 4 and 2: three reach it.

    >>> from pipeline.inference.multiple_comparisons.families import order_family
    >>> one = np.ones(1)
    >>> family = order_family(np.array([[0, 1]]), score=np.array([1.0, 0.0]), delta=one, se=one / 2, identical=one == 0)
    >>> counts = StepDown(family)
    >>> counts.add(np.array([[3.0, 1.0], [0.0, 0.0]]))
    >>> counts.add(np.array([[-1.0, 0.0], [0.0, 0.0]]))
    >>> counts.result().p.tolist()
    [0.8]
    """

    def __init__(self, family: PairFamily) -> None:
        self._family = family
        self._hits = np.zeros(len(family.pair), np.int64)
        self._defined = np.zeros(len(family.pair), np.int64)
        self._largest: list[NDArray[np.float64]] = []

    def add(self, scores: NDArray[np.float64]) -> None:
        """Count a block of replicates.

        Parameters
        ----------
        scores : (system, replicate) float64
            Scores of all systems that the pairs name, on the same replicates; nan where undefined. Add each replicate once.
        """
        needed = 1 + max((int(rows.max(initial=-1)) for rows in self._family.members[:2]), default=-1)
        if scores.ndim != 2 or len(scores) < needed:
            raise ValueError(f"scores {scores.shape} are not (system, replicate) of at least {needed} systems")
        scores = np.ascontiguousarray(scores, np.float64)
        largest = np.empty(scores.shape[1])
        count_step_down(scores, self._family.members, self._family.two_sided, self._hits, self._defined, largest)
        self._largest.append(largest)

    def result(self) -> MaxT:
        """Return the p-values adjusted by the counts so far; without replicates every member has p = 1."""
        family = self._family
        hits, replicates = (np.zeros(len(family.reason), np.int64) for _ in range(2))
        hits[family.pair], replicates[family.pair] = self._hits, self._defined
        p = _spread(family, (self._hits + 1) / (self._defined + 1))
        largest = np.concatenate([np.empty(0), *self._largest])
        return MaxT(family, p, *_bounds(family, hits, replicates), hits, replicates, largest)


def _bounds(
    family: PairFamily, hits: NDArray[np.int64], replicates: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    lo, hi = clopper_pearson(hits[family.pair], replicates[family.pair], _LEVEL)
    return _spread(family, lo), _spread(family, hi)


def _spread(family: PairFamily, values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Make the members' values monotone and put them in their places among all pairs."""
    spread = np.where(family.certain, 1.0, np.nan)
    spread[family.pair] = np.maximum.accumulate(values)
    return spread


def normal_critical_value(alpha: float) -> float:
    """Return what |δ| / se must exceed in one two-sided test at ``alpha``: 1.96 at .05."""
    return -float(ndtri(alpha / 2))


def among_independent_tests(alpha: float, tests: int) -> float:
    """Return 1 − (1 − α)^k: the chance that any of k independent tests of true nulls rejects.

    For pairs of systems this is too high, because they share systems and test items.

    Examples
    --------
    >>> round(among_independent_tests(0.05, 105), 4)
    0.9954
    """
    return -float(np.expm1(tests * np.log1p(-alpha)))


def among_exchangeable_systems(alpha: float, systems: int) -> float:
    """Return P(any |z| > z_α) among all pairs of equal systems with Gaussian, equally correlated scores.

    The pairs then differ by the range of as many standard Gaussians over √2, Tukey's studentised range with infinitely many degrees
    of freedom: P(range ≤ q) = S ∫ φ(z) (Φ(z + q) − Φ(z))^(S − 1) dz. The trapezoidal rule computes it to full precision.

    Examples
    --------
    >>> round(among_exchangeable_systems(0.05, 15), 2)
    0.82
    """
    if systems < 2:
        return 0.0
    reach = np.sqrt(2.0) * normal_critical_value(alpha)
    z, step = np.linspace(-_FAR - reach, _FAR, 4001, retstep=True)
    smallest = np.exp(-z * z / 2) / np.sqrt(2 * np.pi)
    within = systems * float(np.sum(smallest * (ndtr(z + reach) - ndtr(z)) ** (systems - 1)) * step)
    return max(1.0 - within, 0.0)


class AnyExceeds:
    """The bootstrap's own estimate: the share of shared replicates in which any t* is above its unadjusted critical value.

    It reflects the dependence in the data, and grows by blocks of replicates like
    `pipeline.inference.multiple_comparisons.max_t.StepDown`.

    Parameters
    ----------
    family : PairFamily
    critical : (pair,) float64
        Of each pair by itself, in standard errors: 1.96 (`normal_critical_value`), or half the width of its symmetric interval
        divided by its se. Only those of members are used.
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
        count = _count_few if len(self._family.members.first) <= _FEW else count_any
        found, there = count(scores, self._family.members, self._family.two_sided, self._critical)
        self.found += found
        self.replicates += there

    @property
    def share(self) -> float:
        """The estimate; nan without replicates."""
        return self.found / self.replicates if self.replicates else float("nan")

    def bounds(self, level: float = 0.95) -> tuple[float, float]:
        """Return the Clopper-Pearson bounds of the share that infinitely many replicates would give."""
        lo, hi = clopper_pearson(np.array([self.found]), np.array([self.replicates]), level)
        return float(lo[0]), float(hi[0])


def _count_few(scores: NDArray[np.float64], members: Members, two_sided: bool, critical: NDArray[np.float64]) -> tuple[int, int]:
    """Count as `count_any` does, in NumPy and with the same result."""
    exceeded, undefined = np.zeros((2, scores.shape[1]), np.bool_)
    with np.errstate(all="ignore"):
        for member, threshold in enumerate(critical):
            a, b = scores[members.first[member]], scores[members.second[member]]
            t = ((a - b) - members.center[member]) * members.scale[member]
            exceeded |= (np.abs(t) if two_sided else t) > threshold
            undefined |= np.isnan(t)
    return int(np.count_nonzero(exceeded & ~undefined)), int(np.count_nonzero(~undefined))
