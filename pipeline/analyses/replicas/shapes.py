"""What the units of each pair of models look like, by their means over runs: whether a verdict about the models can be one.

The rule is that of pairs of systems (`pipeline.inference.unit_diagnostics.undecided`). Means over runs of a unit are what a claim
about models rests on; those of scores of 0 and 1 are graded, so that few of them are decided only where all that differ do so by
as much.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pipeline.inference.unit_diagnostics.undecided import UnitShape
from pipeline.resampling.replicas.outputs import ObservedReplicas, Replicas
from pipeline.resampling.standard_errors.influence import leave_one_out, pair_moments

__all__ = ["shape_of_models"]


def shape_of_models(
    replicas: Replicas, seen: ObservedReplicas, discordant: NDArray[np.int64], *, effective: float | None
) -> UnitShape:
    """Gather what the means over runs say of the units of each pair.

    Parameters
    ----------
    replicas : Replicas
    seen : ObservedReplicas
        From `observe_replicas`.
    discordant : (pair,) int64
        Units on which the means differ.
    effective : float or None
        So many units of equal size vary as much; None where that is not known.
    """
    ahead = np.sign(seen.delta) * (1.0 if replicas.higher_is_better else -1.0)
    # The score of a model is the mean over its runs, with all units as without one of them.
    without = np.array(
        [
            leave_one_out(np.ascontiguousarray(array.transpose(1, 0, 2)), replicas.score).mean(axis=0)
            for array in replicas.statistics
        ]
    )
    moments = pair_moments(without, replicas.pairs)
    return UnitShape(
        units=replicas.n_units,
        effective=effective,
        discordant=discordant,
        acceleration=ahead * moments.acceleration,
        kurtosis=moments.kurtosis,
        one_size=_differ_by_one_size(replicas),
    )


def _differ_by_one_size(replicas: Replicas) -> NDArray[np.bool_]:
    """Tell the pairs whose means over runs differ by the same on all units that differ; sums are compared as integers."""
    found = np.zeros(len(replicas.pairs), np.bool_)
    denominators = {int(value) for array in replicas.statistics for value in np.unique(array[..., -1])}
    if replicas.form != "ratio" or len(denominators) > 1:
        return found
    sums, runs = [array[..., 0].sum(axis=0) for array in replicas.statistics], replicas.runs.tolist()
    for pair, (a, b) in enumerate(replicas.pairs.tolist()):
        sizes = np.abs(sums[a] * runs[b] - sums[b] * runs[a])
        found[pair] = bool(np.all((sizes == 0) | (sizes == sizes.max())))
    return found
