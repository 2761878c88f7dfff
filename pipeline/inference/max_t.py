"""Step-down max-T: adjusted p-values of a family that know how its pairs depend. This module reads them off kept scores.

Westfall and Young 1993 (Wiley, ISBN 0-471-55761-7); Romano and Wolf 2005, doi:10.1198/016214504000000539. The replicates are
shared by all systems, so that the maximum over pairs has the law that it has in the data.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pipeline.inference.families import PairFamily
from pipeline.inference.p_values import clopper_pearson
from pipeline.resampling.step_down import count_step_down

__all__ = ["MaxT", "StepDown"]

_LEVEL = 0.95
_UNSTABLE_SHARE = 0.01  # chance that any of K decisions is called stable wrongly, as in `p_values`


@dataclass(frozen=True, eq=False)
class MaxT:
    """Adjusted p-values of one family, in the order of the pairs that it was made of.

    Parameters
    ----------
    family : PairFamily
        ``family.reason`` says why a pair is no member.
    p : (pair,) float64
        (#(u_(j) ≥ t_(j)) + 1) / (b_(j) + 1), made monotone; 1 where known without a replicate, nan where there is none. Where
        the family has `StudentTails`, t_(j) is corrected for few units.
    lo, hi : (pair,) float64
        95 % Clopper-Pearson bounds of what infinitely many replicates would give, made monotone likewise.
    hits : (pair,) int64
        #(u_(j) ≥ t_(j)), not monotone; 0 for pairs that are no members.
    replicates : (pair,) int64
        b_(j): replicates in which the pair and all members with a smaller t are defined; 0 for pairs that are no members.
    largest : (replicate,) float64
        max_j t*_j over all members, nan where any is undefined: what a single step compares with.
    """

    family: PairFamily
    p: NDArray[np.float64]
    lo: NDArray[np.float64]
    hi: NDArray[np.float64]
    hits: NDArray[np.int64]
    replicates: NDArray[np.int64]
    largest: NDArray[np.float64]

    def stable(self, alpha: float) -> NDArray[np.bool_]:
        """Tell where other draws would not change p ≤ alpha, all pairs together but for a chance of 1 %; False without p."""
        level = 1 - _UNSTABLE_SHARE / max(len(self.family.pair), 1)
        lo, hi = _bounds(self.family, self.hits, self.replicates, level)
        with np.errstate(invalid="ignore"):  # comparisons with nan are False: not stable
            return np.asarray((hi <= alpha) | (lo > alpha), np.bool_)


class StepDown:
    """Counts that grow by blocks of replicates; any division into blocks gives the same.

    Parameters
    ----------
    family : PairFamily
        From `pipeline.inference.families.order_family`.

    Examples
    --------
    One pair with δ = 1 and se = ½ has t = 2; replicates with δ* = 3, 1, −1 and 0 have t* = 4, 0, 4 and 2: three reach it.

    >>> from pipeline.inference.families import order_family
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
            Of all systems that the pairs name, nan where undefined. The same replicates for all systems, none twice.
        """
        needed = 1 + max((int(rows.max(initial=-1)) for rows in self._family.members[:2]), default=-1)
        if scores.ndim != 2 or len(scores) < needed:
            raise ValueError(f"scores {scores.shape} are not (system, replicate) of at least {needed} systems")
        scores = np.ascontiguousarray(scores, np.float64)
        largest = np.empty(scores.shape[1])
        count_step_down(scores, self._family.members, self._family.two_sided, self._hits, self._defined, largest)
        self._largest.append(largest)

    def result(self) -> MaxT:
        """Adjust by what was counted so far; without a replicate every member has p = 1."""
        family = self._family
        hits, replicates = (np.zeros(len(family.reason), np.int64) for _ in range(2))
        hits[family.pair], replicates[family.pair] = self._hits, self._defined
        p = _spread(family, (self._hits + 1) / (self._defined + 1))
        largest = np.concatenate([np.empty(0), *self._largest])
        return MaxT(family, p, *_bounds(family, hits, replicates, _LEVEL), hits, replicates, largest)


def _bounds(
    family: PairFamily, hits: NDArray[np.int64], replicates: NDArray[np.int64], level: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    lo, hi = clopper_pearson(hits[family.pair], replicates[family.pair], level)
    return _spread(family, lo), _spread(family, hi)


def _spread(family: PairFamily, values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Make values of members monotone and give them their places among all pairs."""
    spread = np.where(family.certain, 1.0, np.nan)
    spread[family.pair] = np.maximum.accumulate(values)
    return spread
