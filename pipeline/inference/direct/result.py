"""The result of a procedure without draws: p-values, how each was obtained, and why one is missing."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from pipeline.dataclass import dataclass
from pipeline.inference.p_values import CONVENTIONS
from pipeline.resampling.measures import Observed

__all__ = ["LABELS", "METHODS", "REASONS", "Bounds", "DirectP", "assemble", "code_of"]

METHODS = ("monte-carlo", "exact", "tail", "definition", "asymptotic")
"""How a p-value is known: counted; computed, without Monte-Carlo error; by exponential tilting; because nothing was to be
compared; as the limit for many units. The code of none is −1."""

REASONS: Mapping[str, str] = {
    "": "",
    "identical": "identical: no unit is discordant",
    "no order": "the scores are equal: there is no order, and no one-sided p",
    "undefined score": "a score is undefined",
    "not a ratio": "the score is not a ratio of sums over units",
    "denominators differ": "the denominators of the two systems differ",
    "negative denominators": "a denominator is negative",
    "not a mean of units": "the score is not a mean of units: their denominators vary",
    "not 0/1": "the scores of units are not of two values",
    "integers too large": "sums of the statistics do not fit into 64 bits",
    "one unit": "there is one unit",
    "undefined without a unit": "a score is undefined without some unit",
    "no spread": "all units differ by the same",
    "out of reach": "no tilted resample reaches the threshold",
    "not asked": "not asked for",
    "within strata": "units are drawn within strata, which this procedure does not know",
}
"""Why a pair has no ordinary p-value, by name and in words. Its position is the code; the first has one."""

LABELS: Mapping[str, str] = {
    "": "",
    "model tail": "below 1e-6 the number is one of the resampling model: the data cannot tell such chances apart",
    "mid-p": "half of the observed outcome's chance is left out: the level is met on average, not always",
    "t law": "exact where differences are Gaussian, else asymptotic",
    "jackknife t": "asymptotic: gain over its jackknife standard error, t with n − 1 degrees of freedom",
    "numerators": "of the units' differences of numerators, as denominators vary",
    "normal": "asymptotic: Gaussian law of the signed-rank sum, corrected for ties",
    "normal, numerators": "asymptotic, of the units' differences of numerators, as denominators vary",
    "saddlepoint": "asymptotic: a tangent plane's saddlepoint tail, without a stated error",
}
"""Caveats to print beside a number, by name and in words. Its position is the code."""

Bounds = tuple[NDArray[np.float64], NDArray[np.float64]]
"""(pair,) lower and upper bounds of the natural logarithm of a p-value; equal where it is known."""


@dataclass(frozen=True, eq=False)
class DirectP:
    """p-values of pairs, each ordered so that the observed gain is not negative.

    Parameters
    ----------
    p : (convention, pair) float64
        In the order of `pipeline.inference.p_values.CONVENTIONS`; nan where there is none; 0 below the smallest float.
    log10_p : (convention, pair) float64
        Defined however small p is; −inf where p = 0 exactly.
    lo, hi : (convention, pair) float64
        Bounds of the number that the procedure defines: an enclosure, or the 95 % interval of a tail; equal to ``p`` where it is
        exact. They do not include the error of an asymptotic law.
    relative_error : (convention, pair) float64
        Standard error of a tail divided by the tail; 0 where nothing is random, nan without p.
    method : (convention, pair) int8
        Position in `METHODS`; −1 where there is no p.
    reason : (pair,) int8
        Position in `REASONS`.
    label : (convention, pair) int8
        Position in `LABELS`.
    """

    p: NDArray[np.float64]
    log10_p: NDArray[np.float64]
    lo: NDArray[np.float64]
    hi: NDArray[np.float64]
    relative_error: NDArray[np.float64]
    method: NDArray[np.int8]
    reason: NDArray[np.int8]
    label: NDArray[np.int8]

    def of(self, convention: str) -> NDArray[np.float64]:
        """Return the (pair,) p-values of one convention."""
        return np.asarray(self.p[CONVENTIONS.index(convention)])

    @property
    def one_sided(self) -> NDArray[np.float64]:
        """(pair,) p-values of the system that is ahead."""
        return self.of("one-sided")

    @property
    def two_sided(self) -> NDArray[np.float64]:
        """(pair,) two-sided p-values."""
        return self.of("two-sided")

    @property
    def reasons(self) -> list[str]:
        """Words for each pair: why it has no ordinary p-value, or nothing."""
        words = tuple(REASONS.values())
        return [words[code] for code in self.reason.tolist()]


def code_of(name: str, names: tuple[str, ...] | Mapping[str, str]) -> np.int8:
    """Return the code of a method, a reason or a label.

    Examples
    --------
    >>> int(code_of("tail", METHODS)), int(code_of("no order", REASONS))
    (2, 2)
    """
    return np.int8(list(names).index(name))


def assemble(
    found: Mapping[str, Bounds],
    *,
    observed: Observed,
    reason: NDArray[np.int8],
    method: str | NDArray[np.int8],
    label: str | NDArray[np.int8] = "",
    relative_error: Mapping[str, NDArray[np.float64]] | None = None,
    about_gain: bool = True,
) -> DirectP:
    """Combine the conventions of a procedure into one result, and apply the rules common to all procedures.

    Identical systems have p = 1. Without a gain there is no side, so only the two-sided p remains: 1 by definition, except for a
    test whose null is not about the gain, which keeps its own.

    Parameters
    ----------
    found : mapping of str to Bounds
        By convention; conventions that are left out have no p.
    observed : Observed
    reason : (pair,) int8
        Where not 0, the pair has no p, whatever was found for it.
    method, label : str or (pair,) int8
        For the pairs that have a p and are not identical.
    relative_error : mapping of str to (pair,) float64, optional
        By convention; 0 if not given.
    about_gain : bool, optional
        The null is one of no gain.

    Returns
    -------
    DirectP
    """
    pairs = len(observed.delta)
    low, high = np.full((2, len(CONVENTIONS), pairs), np.nan)
    errors = np.zeros_like(low)
    for convention, bounds in found.items():
        row = CONVENTIONS.index(convention)
        low[row], high[row] = bounds
        errors[row] = (relative_error or {}).get(convention, 0.0)
    given = np.isin(CONVENTIONS, list(found))[:, None]
    identical, no_order = observed.identical, (observed.delta == 0) & ~observed.identical
    why = np.select(
        [identical, np.isnan(observed.delta), reason != 0, no_order],
        [code_of("identical", REASONS), code_of("undefined score", REASONS), reason, code_of("no order", REASONS)],
        np.int8(0),
    ).astype(np.int8)
    has_side = np.array([not name.startswith("two-sided") for name in CONVENTIONS])[:, None]
    missing = ~identical & ((why > code_of("no order", REASONS)) | (no_order & has_side))
    for logs in (low, high):
        logs[given & identical] = 0.0
        if about_gain:
            logs[given & ~has_side & no_order] = 0.0
        logs[:, :] = np.where(missing, np.nan, np.minimum(logs, 0.0))
    is_there = ~np.isnan(low)
    certain = identical | (no_order & (low == 0.0))
    methods = code_of(method, METHODS) if isinstance(method, str) else method
    labels = code_of(label, LABELS) if isinstance(label, str) else label
    lo, hi = np.exp(low), np.exp(high)
    middle = low.copy()
    enclosed = is_there & (low < high)
    middle[enclosed] = np.logaddexp(low[enclosed], high[enclosed]) - math.log(2)
    return DirectP(
        p=(lo + hi) / 2,
        log10_p=middle / math.log(10),
        lo=lo,
        hi=hi,
        relative_error=np.where(is_there, np.where(certain, 0.0, errors), np.nan),
        method=np.select([~is_there, certain], [np.int8(-1), code_of("definition", METHODS)], methods).astype(np.int8),
        reason=why,
        label=np.where(is_there & ~certain, labels, np.int8(0)).astype(np.int8),
    )
