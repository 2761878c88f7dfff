"""The null hypotheses available with replicas, in one table, and what each of them counts.

A `Null` says what is permuted, what that assumes, and how small p gets. `NullCounts` is the result that all of them share:
two-sided counts of each pair, the p that follows, and why a pair has none.
"""

from __future__ import annotations

from math import comb
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from pipeline.dataclass import dataclass

__all__ = ["FEWEST_RUNS", "NULLS", "REASONS", "Null", "NullCounts", "may_have_p", "null_named", "smallest_p"]


@dataclass(frozen=True)
class Null:
    """One null.

    Parameters
    ----------
    name : str
    permutes : str
    assumes : str
        Of x(S, r, i) = μ_S + unit_i + (S×unit)_{S,i} + run_{S,r} + e.
    null : str
        In one line, of systems A and B.
    floor : str
        The smallest p, with b replicates.
    statistic : {"mean of run scores", "score of pooled runs"}
    needs_equal_runs : bool
    computed : bool
        p is computed from mean squares (`pipeline.resampling.replicas.quasi_f`); nothing is drawn or counted.
    """

    name: str
    permutes: str
    assumes: str
    null: str
    floor: str
    statistic: Literal["mean of run scores", "score of pooled runs"] = "mean of run scores"
    needs_equal_runs: bool = False
    computed: bool = False


NULLS = (
    Null(
        name="per-output",
        permutes="A's and B's output of the same run number and unit, each such pair independently",
        assumes="no S×unit, no run effect; as many runs of A as of B",
        null="every single output of A is exchangeable with B's of the same run and unit",
        floor="1/(b + 1)",
        needs_equal_runs=True,
    ),
    Null(
        name="r-of-2r",
        permutes="the R_A + R_B outputs of each unit, dealt anew",
        assumes="no S×unit, no run effect",
        null="all outputs of a unit are exchangeable, whichever system and run they come from",
        floor="1/(b + 1)",
    ),
    Null(
        name="segment-block",
        permutes="the whole set of outputs of a unit, A's against B's",
        assumes="no run effect: the claim is about these runs; allows S×unit",
        null="for these runs, A's outputs of a unit as a set are exchangeable with B's",
        floor="1/(b + 1)",
    ),
    Null(
        name="whole-run",
        permutes="whole runs between the systems",
        assumes="no S×unit: the claim is about this test set; allows run effects",
        null="on this test set, the runs of A and of B are draws from one population",
        floor="2/C(2R, R); 1/C(R_A + R_B, R_A) where R differs",
    ),
    Null(
        name="paired-runs",
        permutes="the two systems of a run number, all units at once",
        assumes="runs of one number belong together (same seed or training sample); no S×unit: the claim is about this test set",
        null="on this test set, the difference of a run number is symmetric around 0",
        floor="2/2^R",
        needs_equal_runs=True,
    ),
    Null(
        name="quasi-f",
        permutes="nothing: mean squares of runs, units and outputs are compared with the gain",
        assumes="independent runs and independent units, two runs or more; allows S×unit and run effects",
        null="the mean scores of A and B are equal, over new runs and new units",
        floor="0",
        computed=True,
    ),
    Null(
        name="crossed",
        permutes="nothing: runs of each system and units are both drawn with replacement",
        assumes="independent runs and independent units; five runs or more",
        null="the expected scores of A and B are equal, over new runs and new units",
        floor="1/(b + 1)",
    ),
    Null(
        name="multeval",
        permutes="outputs of a unit, by a permutation of runs for X and its inverse for Y (MultEval's shuffle)",
        assumes="no S×unit, no run effect; liberal from three runs on, since X and Y are not complementary",
        null="all outputs of a unit are exchangeable, whichever system and run they come from",
        floor="1/(b + 1)",
        statistic="score of pooled runs",
        needs_equal_runs=True,
    ),
)


def null_named(name: str) -> Null:
    """Return the null of this name."""
    for null in NULLS:
        if null.name == name:
            return null
    raise ValueError(f"there is no null {name!r}; there are {', '.join(null.name for null in NULLS)}")


def smallest_p(name: str, runs_a: int, runs_b: int, replicates: int | None) -> float:
    """Return the smallest p possible under a null with a number of random replicates, or, for None, with all arrangements.

    Examples
    --------
    >>> [round(smallest_p("whole-run", r, r, None), 3) for r in (3, 4, 5)], smallest_p("paired-runs", 5, 5, None)
    ([0.1, 0.029, 0.008], 0.0625)
    """
    if replicates is not None:
        return 1 / (replicates + 1)
    if name == "whole-run":
        # Of equal numbers the exchange of all runs gives −δ: it always reaches |δ| too.
        return float(2 if runs_a == runs_b else 1) / comb(runs_a + runs_b, runs_a)
    if name == "paired-runs":
        return 2.0 ** (1 - runs_a)
    raise ValueError(f"the arrangements of {name!r} are not enumerated")


REASONS = ("", "identical", "unequal runs", "undefined score", "one run", "one unit", "undefined without a unit", "no spread")
"""Why a pair has no ordinary p: its systems are identical (p = 1); the null needs as many runs of A as of B; δ is undefined.

The others are of the quasi-F alone, which needs two runs, two units and a spread.
"""

FEWEST_RUNS = 5
"""With fewer runs of either system the crossed bootstrap is unreliable."""


def may_have_p(reason: NDArray[np.int8]) -> NDArray[np.bool_]:
    """Tell for positions in `REASONS` whether the pair has a p all the same, if only that of identical outputs."""
    return np.asarray((reason != REASONS.index("unequal runs")) & (reason != REASONS.index("undefined score")))


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
        #(|δ°| ≥ |δ|), for the bootstrap #(|δ* − δ| ≥ |δ|); ties are within the tolerance, or exact if integer sums are compared.
    compared : (pair, cell) int64
        Replicates in which both scores were defined, or arrangements if all were enumerated.
    empty : (pair, cell) int64
        The others.
    enumerated : (pair,) bool
        All arrangements were counted, including the observed one; they are in the first of the requested cells.
    floor : (pair,) float64
        The smallest possible p with these runs and replicates.
    reason : (pair,) int8
        Position in `REASONS`.
    few_runs : (pair,) bool
        The null needs more runs than there are (`FEWEST_RUNS`): show its p with a warning.
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
        """Two-sided p of each pair: hits/all if enumerated, otherwise (hits + 1)/(compared + 1); nan where there is none."""
        hits, compared = self.hits.sum(axis=1), self.compared.sum(axis=1)
        added = np.where(self.enumerated, 0, 1)
        with np.errstate(invalid="ignore"):  # nothing was compared: nan
            p = np.asarray((hits + added) / np.where(compared > 0, compared + added, np.nan))
        p[~may_have_p(self.reason)] = np.nan
        p[self.reason == REASONS.index("identical")] = 1.0
        return p
