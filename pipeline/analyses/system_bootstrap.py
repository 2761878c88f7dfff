"""Resample systems, not pairs: intervals for numbers that are made from all pairs of a few systems.

Pairs that share a system are not independent: 2775 pairs are made of 75 systems. The systems are drawn with replacement, a
pair (a, b) then has the weight v_a · v_b of the times its systems were drawn, and a system is never paired with its copy.
Replicas of a few base models are drawn within their base model; the base models are drawn too where there are more than
three of them, and where there are not, the interval holds for these base models alone.

The draws are addressed as all draws of the package are: by the study's seed, the purpose, the test set and the test size.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.analyses.system_sample import FEWEST_BASES, LEVEL, describe_few_bases
from pipeline.dataclass import dataclass
from pipeline.resampling.address import draw_key
from pipeline.resampling.draws import Draws, draw_weights

__all__ = ["REPLICATES", "SystemBootstrap", "share_of_weight", "system_interval"]

REPLICATES = 2000
MOST_EMPTY = 0.05
CELLS_AT_ONCE = 2**22


@dataclass(frozen=True)
class SystemBootstrap:
    """The systems of a cube and how they are drawn.

    Parameters
    ----------
    systems : tuple of str
        Sorted names.
    base : mapping
        Base model by system for synthetic replicas, else empty.
    seed : int
        The study's seed.
    test_set, test_size : str
        Where the numbers come from; part of the address.
    """

    systems: tuple[str, ...]
    base: dict[str, str]
    seed: int
    test_set: str
    test_size: str

    @property
    def bases(self) -> tuple[str, ...]:
        """Base models, sorted."""
        return tuple(sorted({self.base.get(name, "") for name in self.systems})) if self.base else ()

    @property
    def method(self) -> str:
        """What was resampled, in words."""
        if not self.bases:
            return "percentile, systems resampled"
        if len(self.bases) < FEWEST_BASES:
            return "percentile, replicas resampled within their base model"
        return "percentile, base models and replicas within them resampled"

    @property
    def note(self) -> str | None:
        """What the interval does not cover."""
        if self.bases and len(self.bases) < FEWEST_BASES:
            return describe_few_bases(len(self.bases))
        return None

    def draw(self, replicates: int) -> NDArray[np.float64]:
        """Draw the systems: (replicate, system), how many times each was drawn."""
        if not self.bases:
            return self._counts("systems", len(self.systems), replicates)
        of_base = np.array([self.base.get(name, "") for name in self.systems], dtype=object)
        weights = np.zeros((replicates, len(self.systems)))
        for base in self.bases:
            members = np.flatnonzero(of_base == base)
            weights[:, members] = self._counts(f"within:{base}", len(members), replicates)
        if len(self.bases) >= FEWEST_BASES:
            times = self._counts("bases", len(self.bases), replicates)
            weights *= times[:, np.searchsorted(np.array(self.bases, dtype=object), of_base)]
        return weights

    def _counts(self, rule: str, size: int, replicates: int) -> NDArray[np.float64]:
        key = draw_key(seed=self.seed, purpose="vertices", test_set=self.test_set, size=self.test_size, rule=rule)
        counts = draw_weights(Draws(key=key, n_units=size, n_draws=size), 0, replicates)
        return np.asarray(counts, dtype=np.float64).reshape(replicates, size)


def share_of_weight(hits: NDArray[np.bool_], weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the weight of the hits as a share of all weight, for each row; NaN for an empty row."""
    total = weights.sum(axis=1)
    return np.where(total > 0, weights[:, hits].sum(axis=1) / np.where(total > 0, total, 1.0), np.nan)


def system_interval(
    systems: SystemBootstrap,
    first: NDArray[np.int64],
    second: NDArray[np.int64],
    estimate: Callable[[NDArray[np.float64]], NDArray[np.float64]],
    *,
    replicates: int = REPLICATES,
) -> tuple[dict[str, Any] | None, str | None]:
    """Return a 95 % percentile interval of ``estimate(weights of the pairs)`` with the systems resampled.

    Parameters
    ----------
    first, second : (pair,) int64
        Positions of the systems of the pairs that enter the estimate.
    estimate : callable
        Takes (replicate, pair) weights, gives (replicate,) values, NaN where the weights are all zero.

    Returns
    -------
    interval : dict or None
        ``method, level, lo, hi``.
    reason : str or None
        Why there is no interval.
    """
    if len(first) < 2:
        return None, f"no interval from {len(first)} pair{'' if len(first) == 1 else 's'}"
    counts = systems.draw(replicates)
    rows = max(1, CELLS_AT_ONCE // len(first))
    parts = [estimate(counts[at : at + rows, first] * counts[at : at + rows, second]) for at in range(0, replicates, rows)]
    values = np.concatenate(parts)
    found = values[np.isfinite(values)]
    if len(found) < (1 - MOST_EMPTY) * replicates:
        share = 100 * (1 - len(found) / replicates)
        return None, f"no interval: {share:.0f} % of the draws of systems leave no pair"
    if found.min() == found.max():
        return None, "no interval: every draw of systems gives the same value"
    lo, hi = np.quantile(found, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return {"method": systems.method, "level": LEVEL, "lo": float(lo), "hi": float(hi)}, None
