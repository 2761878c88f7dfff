"""Would other draws decide otherwise? This module asks it of decisions after Holm's correction, the ones that are reported."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pipeline.inference.multiplicity import holm
from pipeline.inference.p_values import clopper_pearson

__all__ = ["Decisions", "decide"]

_UNSTABLE_SHARE = 0.01  # chance that any of K decisions is called sure wrongly


@dataclass(frozen=True, eq=False)
class Decisions:
    """Which pairs a family rejects, whatever p-values infinitely many replicates would give.

    Parameters
    ----------
    surely : (pair,) bool
        Rejected by Holm when every p is at its upper bound.
    possibly : (pair,) bool
        Rejected by Holm when every p is at its lower bound.
    """

    surely: NDArray[np.bool_]
    possibly: NDArray[np.bool_]

    @property
    def stable(self) -> NDArray[np.bool_]:
        """The decision is the same at both ends, and so anywhere between: Holm never falls when a p rises."""
        return np.equal(self.surely, self.possibly)


def decide(hits: NDArray[np.int64], replicates: NDArray[np.int64], *, p: NDArray[np.float64], alpha: float) -> Decisions:
    """Bound what Holm decides in one family.

    The bounds of K p-values are Clopper and Pearson's at level 1 − .01/K: all of them hold together but for a chance of 1 %.

    Parameters
    ----------
    hits : (pair,) int64
        Replicates that count against the observed gain.
    replicates : (pair,) int64
        Replicates in which both scores were defined.
    p : (pair,) float64
        The p-values themselves: nan where a pair is not in the family; exactly 1 where p is known by definition.
    alpha : float
        Level of the family.

    Examples
    --------
    >>> found = decide(np.array([0, 480]), np.array([10_000, 10_000]), p=np.array([0.0001, 0.0481]), alpha=0.05)
    >>> found.stable.tolist(), found.surely.tolist()
    ([True, False], [True, False])
    """
    if not hits.shape == replicates.shape == p.shape:
        raise ValueError(f"hits {hits.shape}, replicates {replicates.shape} and p-values {p.shape} are not of the same pairs")
    members = np.isfinite(p) & (replicates > 0)
    level = 1 - _UNSTABLE_SHARE / max(int(np.isfinite(p).sum()), 1)
    trials = np.where(members, replicates, 1)
    lo, hi = clopper_pearson(np.where(members, np.clip(hits, 0, trials), 0), trials, level)
    bounds = [np.where(p == 1.0, 1.0, np.where(members, bound, np.nan)) for bound in (lo, hi)]
    with np.errstate(invalid="ignore"):  # a pair outside the family has nan, and is never rejected
        possibly, surely = (holm(bound) <= alpha for bound in bounds)
    return Decisions(surely=surely, possibly=possibly)
