"""What MultEval prints, with what it should be compared. This module is the preset for Clark and others 2011 (P11-2031).

MultEval (https://github.com/jhclark/multeval) pools the runs of a system, shuffles outputs within a unit, and counts |δ°| > |δ|,
strictly: of a system against itself it prints 1/(b + 1). Its shuffle exchanges outputs between the systems at random and permutes
run numbers, π for X and π⁻¹ for Y. Where π is its own inverse Y is what X left over; with three runs or more it need not be: some
output is in both and another in neither, so that X and Y come nearer to each other. With independent outputs Var(X − Y) is ½ + 1/R
of what complementary halves have, and a true null is rejected at .05 in about 7.4, 10.1, 12.9 % for R = 3, 5, 10.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pipeline.resampling.address import count_cells
from pipeline.resampling.draws import Draws
from pipeline.resampling.replicas.counts import REASONS, NullCounts
from pipeline.resampling.replicas.outputs import Replicas, observe_replicas
from pipeline.resampling.replicas.randomized import count_shuffled
from pipeline.resampling.replicas.spread import Spread, spread_scores

__all__ = ["MultEval", "multeval", "shuffled_share"]


@dataclass(frozen=True, eq=False)
class MultEval:
    """MultEval's numbers of all systems and pairs.

    Parameters
    ----------
    spread : Spread
        ``score`` is its AVG, ``s_sel`` its s_sel, ``s_test`` its s_opt.
    counts : NullCounts
        Of its shuffle with ≥: ``counts.p`` is 1 of identical systems. ``delta`` is of pooled runs.
    above : (pair, cell) int64
        #(|δ°| > |δ|).
    """

    spread: Spread
    counts: NullCounts
    above: NDArray[np.int64]

    @property
    def tool_p(self) -> NDArray[np.float64]:
        """(#(|δ°| > |δ|) + 1)/(b + 1), as the tool counts: to be shown under its name, never to decide."""
        p = np.asarray((self.above.sum(axis=1) + 1) / (self.counts.compared.sum(axis=1) + 1))
        p[np.isin(self.counts.reason, (REASONS.index("unequal runs"), REASONS.index("undefined score")))] = np.nan
        return p


def multeval(
    bootstrap: Draws, shuffles: Draws, replicas: Replicas, *, replicates: int = 10_000, memory_bytes: int = 2**26
) -> MultEval:
    """Return MultEval's figures; the tool is unseeded, so its p are met within Monte-Carlo error only.

    Parameters
    ----------
    bootstrap, shuffles : Draws
        The addresses of the bootstrap samples for s_sel, and of the shuffles.
    replicas : Replicas
    replicates : int, optional
        Of either; the tool takes 10 000.
    memory_bytes : int, optional
        Changes no result.
    """
    seen = observe_replicas(replicas)
    cells = range(count_cells(replicates))
    counts, above = count_shuffled(
        "multeval", shuffles, replicas, cells=cells, replicates=replicates, memory_bytes=memory_bytes, observed=seen
    )
    spread = spread_scores(bootstrap, replicas, replicates=replicates, memory_bytes=memory_bytes, observed=seen)
    return MultEval(spread, counts, above)


def shuffled_share(runs: int) -> float:
    """Return Var(X − Y) of MultEval's shuffle as a share of that of complementary halves, where outputs are independent.

    ½ + 1/R for two runs or more: 1 where π(k) = π⁻¹(k), which has the chance 2/R, and ½ where two coins decide about an output.

    Examples
    --------
    >>> [round(shuffled_share(runs), 3) for runs in (1, 2, 3, 5, 10)]
    [1.0, 1.0, 0.833, 0.7, 0.6]
    """
    return 1.0 if runs == 1 else 0.5 + 1 / runs
