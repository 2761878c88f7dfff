"""What a null counted for each pair, and the p that follows. This module holds the result that all nulls of replicas share."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["FEWEST_RUNS", "REASONS", "NullCounts"]

REASONS = ("", "identical", "unequal runs", "undefined score")
"""Why a pair has no ordinary p: its systems are identical (p = 1); the null needs as many runs of A as of B; δ is undefined."""

FEWEST_RUNS = 5
"""Below so many runs of either system the crossed bootstrap is not to be relied on."""


@dataclass(frozen=True, eq=False)
class NullCounts:
    """Two-sided counts of all pairs under one null.

    Parameters
    ----------
    null : str
        Name in `NULLS`.
    delta : (pair,) float64
        The observed gain that was compared: > 0 where the first of the pair is better.
    hits : (pair, cell) int64
        #(|δ°| ≥ |δ|), of the bootstrap #(|δ* − δ| ≥ |δ|); ties by the tolerance, or exactly where sums decide.
    compared : (pair, cell) int64
        Replicates in which both scores were defined; arrangements where all were enumerated.
    empty : (pair, cell) int64
        The others.
    enumerated : (pair,) bool
        All arrangements were counted, the observed one among them; they stand in the first of the cells that were asked for.
    floor : (pair,) float64
        Smallest p that there can be with these runs and replicates.
    reason : (pair,) int8
        Position in `REASONS`.
    few_runs : (pair,) bool
        The null leans on more runs than there are (`FEWEST_RUNS`): its p is to be shown with a warning.
    """

    null: str
    delta: NDArray[np.float64]
    hits: NDArray[np.int64]
    compared: NDArray[np.int64]
    empty: NDArray[np.int64]
    enumerated: NDArray[np.bool_]
    floor: NDArray[np.float64]
    reason: NDArray[np.int8]
    few_runs: NDArray[np.bool_]

    @property
    def p(self) -> NDArray[np.float64]:
        """Two-sided p of each pair: hits/all where enumerated, otherwise (hits + 1)/(compared + 1); nan where there is none."""
        hits, compared = self.hits.sum(axis=1), self.compared.sum(axis=1)
        added = np.where(self.enumerated, 0, 1)
        with np.errstate(invalid="ignore"):  # nothing was compared: nan
            p = np.asarray((hits + added) / np.where(compared > 0, compared + added, np.nan))
        p[np.isin(self.reason, (REASONS.index("unequal runs"), REASONS.index("undefined score")))] = np.nan
        p[self.reason == REASONS.index("identical")] = 1.0
        return p
