"""What MultEval prints of all systems and pairs: its shuffle as the package draws it, its strict count, and its spreads."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pipeline.resampling.address import count_cells
from pipeline.resampling.draws import Draws
from pipeline.resampling.replicas.nulls import REASONS, NullCounts
from pipeline.resampling.replicas.outputs import Replicas, observe_replicas
from pipeline.resampling.replicas.randomized import count_shuffled
from pipeline.resampling.replicas.score_deviation import Spread, spread_scores


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
