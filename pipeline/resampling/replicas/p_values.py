"""p of all pairs under any null of replicas, counted or computed, for callers that need only p."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pipeline.resampling.address import count_cells
from pipeline.resampling.draws import Draws
from pipeline.resampling.replicas.count import count_null
from pipeline.resampling.replicas.nulls import null_named
from pipeline.resampling.replicas.outputs import ObservedReplicas, Replicas
from pipeline.resampling.replicas.quasi_f import quasi_f

__all__ = ["NullP", "find_p"]


class NullP(NamedTuple):
    """The p of all pairs, (pair,) float64, 1 where the two score the same; their gains; and whether no p has an error of draws."""

    p: NDArray[np.float64]
    delta: NDArray[np.float64]
    exact: bool


def find_p(null: str, draws: Draws, replicas: Replicas, *, replicates: int, observed: ObservedReplicas | None = None) -> NullP:
    """Return the two-sided p of every pair under a null.

    Parameters
    ----------
    null : str
        Its name.
    draws : Draws
        As of `count_null`; a null that is computed draws nothing.
    replicas : Replicas
    replicates : int
    observed : ObservedReplicas, optional
    """
    if null_named(null).computed:
        computed = quasi_f(replicas, observed=observed)
        return NullP(computed.p, computed.delta, exact=True)
    counts = count_null(null, draws, replicas, cells=range(count_cells(replicates)), replicates=replicates, observed=observed)
    return NullP(np.where((counts.delta == 0) & np.isfinite(counts.p), 1.0, counts.p), counts.delta, bool(counts.enumerated.all()))
