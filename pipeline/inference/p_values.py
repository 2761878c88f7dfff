"""p-values of pairs under every convention, with their Monte-Carlo error, from the counts of a pass."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from functools import cached_property
from typing import Self

import numpy as np
from numpy.typing import NDArray

from pipeline.dataclass import dataclass, field
from pipeline.numerics.special import betaincinv
from pipeline.resampling.measures import COUNTS, SUMS

__all__ = ["CONVENTIONS", "REASONS", "PValues", "clopper_pearson", "counted_p", "p_values"]

CONVENTIONS = ("one-sided", "two-sided", "below-zero", "at-or-below-zero", "one-sided-plus-one", "two-sided-plus-one")
"""#(δ* > 2δ)/b · #(|δ* − δ| ≥ δ)/b · #(δ* < 0)/b · #(δ* ≤ 0)/b · the first two as (s + 1)/(b + 1); δ ≥ 0.

Where outputs were swapped at random, δ* stands for δ + δ° with δ° the difference after the swaps: the second is #(|δ°| ≥ δ)/b.
"""

REASONS = ("", "identical", "no order", "no defined replicate")
"""Why a pair has no ordinary p-value: its systems are identical; δ = 0, so no side; every replicate was empty."""

_LEVEL = 0.95
_COUNTED = CONVENTIONS[:4]
_SAME_BOUNDS = [0, 1, 2, 3, 0, 1]
"""Plus-one conventions have the hits, and so the error, of the plain ones."""


@dataclass(frozen=True, eq=False)
class PValues:
    """p-values of pairs, ordered so that the observed gain is not negative.

    Parameters
    ----------
    p : (convention, pair) float64
        In the order of `CONVENTIONS`; nan where there is none.
    log10_p : (convention, pair) float64
        nan where p is nan, and where p = 0: then only the upper bound ``hi``, about 3.7/b, is known.
    bias : (pair,) float64
        mean δ* − δ; nan without replicates, and for procedures whose replicates have no bias.
    spread : (pair,) float64
        Standard deviation of δ*, √(Σ(δ* − δ)²/b − bias²); nan where ``bias`` is.
    reason : (pair,) int8
        Position in `REASONS`.
    hits : (convention, pair) int64
        Replicates that count against the observed gain.
    replicates : (pair,) int64
        Replicates in which both scores were defined.
    """

    p: NDArray[np.float64]
    log10_p: NDArray[np.float64]
    bias: NDArray[np.float64]
    spread: NDArray[np.float64]
    reason: NDArray[np.int8]
    hits: NDArray[np.int64] = field(repr=False)
    replicates: NDArray[np.int64] = field(repr=False)

    @classmethod
    def join(cls, parts: Sequence[Self]) -> Self:
        """Return those of several ranges of pairs as those of all."""
        names = ("p", "log10_p", "bias", "spread", "reason", "hits", "replicates")
        return cls(**{name: np.concatenate([getattr(part, name) for part in parts], axis=-1) for name in names})

    @property
    def by_definition(self) -> NDArray[np.bool_]:
        """(convention, pair): p is 1 because the systems are identical or score the same, not because of any replicate."""
        return np.isfinite(self.p) & np.isin(self.reason, [REASONS.index("identical"), REASONS.index("no order")])

    @property
    def lo(self) -> NDArray[np.float64]:
        """(convention, pair): the lower 95 % Clopper-Pearson bound of the p-value that infinitely many replicates would give."""
        return self._bounds_of_error[0]

    @property
    def hi(self) -> NDArray[np.float64]:
        """(convention, pair): the upper bound."""
        return self._bounds_of_error[1]

    @property
    def p_error(self) -> NDArray[np.float64]:
        """(convention, pair): half of ``hi − lo``."""
        return (self.hi - self.lo) / 2

    @cached_property
    def _bounds_of_error(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        return self.bounds(_LEVEL)  # computed on demand: thousands of null data sets have p-values whose error is never needed

    def bounds(self, level: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return Clopper-Pearson bounds at any level; ``lo`` and ``hi`` are those at 95 %.

        Parameters
        ----------
        level : float
            Below 1.

        Returns
        -------
        lo, hi : (convention, pair) float64
            nan where there is no p-value.
        """
        lo, hi = _bounds(self.hits, self.replicates, self.reason, level)
        there = np.isfinite(self.p)
        return np.where(there, lo, np.nan), np.where(there, hi, np.nan)

    def keep_side(self, alpha: float, level: float) -> NDArray[np.bool_]:
        """Return (convention, pair) whether both bounds at a level are on one side of α; False where there is no p-value.

        Bounds rise with the hits, so a few of them decide for all, and most are never computed.
        """
        trials = np.broadcast_to(np.maximum(self.replicates, 1), (len(_COUNTED), len(self.reason)))
        kept = _keep_side(np.where(self.reason == 0, self.hits[: len(_COUNTED)], 0), trials, level, alpha)
        # What p is by definition is 1, at any level: on one side.
        return np.asarray(np.isfinite(self.p) & (_apply_reasons(kept[_SAME_BOUNDS].astype(np.float64), self.reason) == 1.0))


def p_values(
    counts: NDArray[np.integer],
    replicates: NDArray[np.integer],
    *,
    delta: NDArray[np.float64],
    identical: NDArray[np.bool_],
    sums: NDArray[np.float64],
    conventions: Collection[str] = CONVENTIONS,
    bias: bool = True,
) -> PValues:
    """Return the p-values that three-way counts give.

    Two-sided hits are #(> 2δ) + #(= 2δ) + #(< 0) + #(= 0), which for δ > 0 is #(|δ* − δ| ≥ δ). Identical systems have p = 1.
    Systems that differ but score the same (δ = 0) have a two-sided p of 1 and no one-sided one: there is no order.

    Parameters
    ----------
    counts : (pair, 8) int
        In the order of `pipeline.resampling.measures.COUNTS`, summed over cells.
    replicates : (pair,) int
        Effective replicates: b less the empty ones.
    delta : (pair,) float64
        Observed gains; the sign does not matter.
    identical : (pair,) bool
    sums : (pair, 3) float64
        Summed over cells, in the order of ``SUMS``.
    conventions : collection of str, optional
        Those that apply to the procedure, which its `Procedure` lists; the others have no p-value.
    bias : bool, optional
        Whether the mean of δ* − δ is a bias.

    Returns
    -------
    PValues

    Examples
    --------
    >>> counts = np.array([[2, 1, 0, 0, 3, 4, -1, -1]])
    >>> found = p_values(counts, np.array([100]), delta=np.ones(1), identical=np.zeros(1, bool), sums=np.zeros((1, 3)))
    >>> dict(zip(CONVENTIONS[:4], found.p[:4, 0].tolist()))
    {'one-sided': 0.04, 'two-sided': 0.1, 'below-zero': 0.02, 'at-or-below-zero': 0.03}
    """
    pairs = len(delta)
    if counts.shape != (pairs, len(COUNTS)) or replicates.shape != (pairs,) or sums.shape != (pairs, len(SUMS)):
        raise ValueError(f"counts {counts.shape}, replicates {replicates.shape} and sums {sums.shape} are not of {pairs} pairs")
    b = replicates.astype(np.int64)
    hits = _count_hits(counts.astype(np.int64))
    reason = np.select([identical, (b == 0) | np.isnan(delta), delta == 0], [1, 3, 2]).astype(np.int8)
    with np.errstate(divide="ignore", invalid="ignore"):  # no replicates: 0/0 is nan, and the reason says so
        p = hits / b
        p[4:] = (hits[4:] + 1) / (b + 1)
        shift = np.where(reason == 1, 0.0, sums[:, SUMS.index("shift")] / b) if bias else np.full(pairs, np.nan)
        spread = np.sqrt(np.maximum(np.where(reason == 1, 0.0, sums[:, SUMS.index("squared_shift")] / b) - shift**2, 0.0))
    meant = np.isin(CONVENTIONS, list(conventions))[:, None]
    p = np.where(meant, _apply_reasons(p, reason), np.nan)
    log10_p = np.log10(p, out=np.full(p.shape, np.nan), where=p > 0)
    return PValues(p, log10_p, shift, spread, reason, hits, b)


def clopper_pearson(
    hits: NDArray[np.int64], trials: NDArray[np.int64], level: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the exact binomial bounds of a share (Clopper & Pearson 1934, doi:10.1093/biomet/26.4.404).

    Examples
    --------
    >>> lo, hi = clopper_pearson(np.array([0]), np.array([100]), 0.95)
    >>> float(lo[0]), round(float(hi[0]), 4)
    (0.0, 0.0362)
    """
    hits, trials, place = _distinct(hits, trials)
    return _lower(hits, trials, level)[place], _upper(hits, trials, level)[place]


def _distinct(hits: NDArray[np.int64], trials: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return distinct hits of trials, rising, and which of them each is: many pairs have the same, and bounds take long."""
    shape = np.broadcast_shapes(np.shape(hits), np.shape(trials))
    hits, trials = (np.broadcast_to(values, shape).ravel() for values in (hits, trials))
    order = np.lexsort((hits, trials))
    new = np.ones(len(order), np.bool_)
    new[1:] = (np.diff(hits[order]) != 0) | (np.diff(trials[order]) != 0)
    place = np.empty(len(order), np.int64)
    place[order] = np.cumsum(new) - 1
    return hits[order][new], trials[order][new], place.reshape(shape)


def _lower(hits: NDArray[np.int64], trials: NDArray[np.int64], level: float) -> NDArray[np.float64]:
    return np.where(hits > 0, betaincinv(np.maximum(hits, 1), trials - hits + 1, (1 - level) / 2), 0.0)


def _upper(hits: NDArray[np.int64], trials: NDArray[np.int64], level: float) -> NDArray[np.float64]:
    misses = trials - hits
    return np.where(misses > 0, betaincinv(hits + 1, np.maximum(misses, 1), 1 - (1 - level) / 2), 1.0)


def _keep_side(hits: NDArray[np.int64], trials: NDArray[np.int64], level: float, alpha: float) -> NDArray[np.bool_]:
    """Tell where both bounds are at most α, or both above it, by halving the hits of the same trials."""
    hits, trials, place = _distinct(hits, trials)
    number = np.arange(len(hits))
    ends = np.flatnonzero(np.diff(trials, append=-1))  # the last of the same trials
    lengths = np.diff(ends, prepend=-1)

    def find_first_above(bound: Callable[..., NDArray[np.float64]]) -> NDArray[np.int64]:
        """Return, for each, the first of the same trials whose bound is above α, or the one after the last."""
        low, high = ends + 1 - lengths, ends + 1
        while (left := np.flatnonzero(low < high)).size:
            middle = (low[left] + high[left]) // 2
            above = bound(hits[middle], trials[middle], level) > alpha
            high[left[above]], low[left[~above]] = middle[above], middle[~above] + 1
        return np.repeat(low, lengths)

    kept: NDArray[np.bool_] = (number < find_first_above(_upper)) | (number >= find_first_above(_lower))
    return kept[place]


def _count_hits(counts: NDArray[np.int64]) -> NDArray[np.int64]:
    below_zero, at_zero, _, _, at_twice, above_twice = counts[:, :6].T
    two_sided = above_twice + at_twice + below_zero + at_zero
    return np.stack([above_twice, two_sided, below_zero, below_zero + at_zero, above_twice, two_sided])


def _bounds(
    hits: NDArray[np.int64], replicates: NDArray[np.int64], reason: NDArray[np.int8], level: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    # With δ = 0 or without replicates the hits mean nothing, and may exceed b: any valid number stands in until the reason.
    usable = np.where(reason == 0, hits[: len(_COUNTED)], 0)
    lo, hi = clopper_pearson(usable, np.broadcast_to(np.maximum(replicates, 1), usable.shape), level)
    return _apply_reasons(lo[_SAME_BOUNDS], reason), _apply_reasons(hi[_SAME_BOUNDS], reason)


def _apply_reasons(values: NDArray[np.float64], reason: NDArray[np.int8]) -> NDArray[np.float64]:
    two_sided = np.array([name.startswith("two-sided") for name in CONVENTIONS])[:, None]
    certain = (reason == 1) | ((reason == 2) & two_sided)
    missing = (reason == 3) | ((reason == 2) & ~two_sided)
    return np.where(certain, 1.0, np.where(missing, np.nan, values))


def counted_p(
    hits: Collection[str], counts: NDArray[np.integer], replicates: NDArray[np.integer], *, plus_one: bool
) -> NDArray[np.float64]:
    """Return the share of hits as papers and tools count them, without exceptions for ties or identical outputs.

    Parameters
    ----------
    hits : collection of str
        Those of `COUNTS` that are hits.
    counts : (pair, 8) int
        In the order of `COUNTS`, summed over cells.
    replicates : (pair,) int
        b.
    plus_one : bool
        (s + 1)/(b + 1) rather than s/b.

    Returns
    -------
    (pair,) float64
        nan without replicates.

    Examples
    --------
    >>> counts = np.array([[2, 1, 0, 0, 3, 4, -1, -1]])
    >>> counted_p(["below_zero"], counts, np.array([100]), plus_one=False).tolist()
    [0.02]
    """
    if counts.shape != (len(replicates), len(COUNTS)):
        raise ValueError(f"counts {counts.shape} and {len(replicates)} replicates are not of the same pairs")
    # With δ = 0 the thresholds 0 and 2δ are one, and ties would be counted twice.
    found = np.minimum(counts[:, [COUNTS.index(name) for name in hits]].astype(np.int64).sum(axis=1), replicates)
    one = int(plus_one)
    return np.where(replicates > 0, (found + one) / np.maximum(replicates + one, 1), np.nan)
