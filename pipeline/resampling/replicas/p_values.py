"""p of all pairs under any null of replicas, counted or computed, for callers that need only p.

`find_p_of_subsets` gives the p of many subsets of the runs, each at its own address. If a null swaps outputs and all runs have one
denominator, subsets differ only in the differences that are summed, and their scores and gains come from the scores of the pool.
Other subsets are tested one by one, with the same result.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pipeline.resampling.address import count_cells
from pipeline.resampling.draws import Draws
from pipeline.resampling.products.contract import largest_magnitude
from pipeline.resampling.replicas.count import count_null
from pipeline.resampling.replicas.differences import Differences, are_fewer
from pipeline.resampling.replicas.groups import shared_denominators
from pipeline.resampling.replicas.nulls import null_named
from pipeline.resampling.replicas.outputs import ObservedReplicas, Replicas, compare_scores, score_sums
from pipeline.resampling.replicas.quasi_f import quasi_f
from pipeline.resampling.replicas.randomized import fit_batch, mean_over_runs

__all__ = ["NullP", "find_p", "find_p_of_subsets"]


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
        As in `count_null`; a null that is computed draws nothing.
    replicas : Replicas
    replicates : int
    observed : ObservedReplicas, optional
    """
    if null_named(null).computed:
        computed = quasi_f(replicas, observed=observed)
        return NullP(computed.p, computed.delta, exact=True)
    counts = count_null(null, draws, replicas, cells=range(count_cells(replicates)), replicates=replicates, observed=observed)
    return NullP(np.where((counts.delta == 0) & np.isfinite(counts.p), 1.0, counts.p), counts.delta, bool(counts.enumerated.all()))


def find_p_of_subsets(
    null: str,
    draws: Sequence[Draws],
    replicas: Replicas,
    systems: NDArray[np.int64],
    runs: Sequence[NDArray[np.int64]],
    pairs: NDArray[np.int64],
    *,
    replicates: int,
    memory_bytes: int = 2**26,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the two-sided p, and the gain, of every pair of subsets of the runs of systems.

    Parameters
    ----------
    null : str
        Its name.
    draws : sequence of Draws
        The address of each subset.
    replicas : Replicas
        The pool.
    systems : (system,) int64
        Those that are compared.
    runs : sequence of (subset, run) int64
        Which runs each of them has in every subset.
    pairs : (pair, 2) int64
        Positions in ``systems``.
    replicates : int
    memory_bytes : int, optional
        Changes no result.

    Returns
    -------
    p, delta : (subset, pair) float64
        What `find_p` gives for `Replicas.choose`.
    """
    if are_fewer(null, pairs=len(pairs), systems=len(systems)) and len({own.shape for own in runs}) == 1:
        pool = replicas.choose(systems.tolist(), [np.arange(many) for many in replicas.runs[systems].tolist()], pairs)
        denominators = shared_denominators(pool)
        if denominators.min() >= 0 and (denominators[pairs[:, 0]] == denominators[pairs[:, 1]]).all():
            return _swap_subsets(null, draws, pool, runs, replicates=replicates, memory_bytes=memory_bytes)
    p, delta = np.empty((2, len(draws), len(pairs)))
    for subset, own in enumerate(draws):
        some = replicas.choose(systems.tolist(), [chosen[subset] for chosen in runs], pairs)
        found = find_p(null, own, some, replicates=replicates)
        p[subset], delta[subset] = found.p, found.delta
    return p, delta


def _swap_subsets(
    null: str, draws: Sequence[Draws], pool: Replicas, runs: Sequence[NDArray[np.int64]], *, replicates: int, memory_bytes: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Do it for runs of one denominator, of which differences of numerators decide."""
    known = pool.distinct
    number = np.stack([of[own] for of, own in zip(known.of, runs, strict=True)])  # (system, subset, run)
    first, second = number[pool.pairs.T]  # (pair, subset, run)
    means = mean_over_runs(score_sums(pool.score, known.sums)[number].swapaxes(1, 2))
    delta, _, _ = compare_scores(means.T, pool)
    numerators = known.runs[:, :, 0]
    numerators = np.ascontiguousarray(numerators, np.min_scalar_type(-2 * largest_magnitude(numerators) - 1))
    hits = np.zeros(delta.shape, np.int64)
    for subset, own in enumerate(draws):
        differences = Differences.between(null, numerators[first[:, subset]], numerators[second[:, subset]])
        batch = fit_batch(differences.bytes_per_replicate, memory_bytes)
        for start in range(0, replicates, batch):
            hits[subset] += next(differences.count(own, start, min(batch, replicates - start)))
    return np.where(delta == 0, 1.0, (hits + 1) / (replicates + 1)), delta
