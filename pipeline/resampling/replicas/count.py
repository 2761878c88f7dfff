"""Counts of any null by its name. This module chooses who counts."""

from __future__ import annotations

from pipeline.resampling.draws import Draws
from pipeline.resampling.replicas.counts import NullCounts
from pipeline.resampling.replicas.crossed import bootstrap_crossed
from pipeline.resampling.replicas.nulls import null_named
from pipeline.resampling.replicas.outputs import ObservedReplicas, Replicas
from pipeline.resampling.replicas.randomized import randomize_replicas
from pipeline.resampling.replicas.runs import permute_runs
from pipeline.resampling.replicas.shuffles import SHUFFLES

__all__ = ["count_null"]


def count_null(
    null: str,
    draws: Draws,
    replicas: Replicas,
    *,
    cells: range,
    replicates: int,
    memory_bytes: int = 2**26,
    observed: ObservedReplicas | None = None,
) -> NullCounts:
    """Count two-sided for all pairs under one null of `NULLS`.

    Parameters
    ----------
    null : str
        Its name.
    draws : Draws
        Address of the draws. Its key should be made for this null: give its name as the purpose of `draw_key`.
    replicas : Replicas
    cells : range
        Cells to count.
    replicates : int
        Of the whole pass.
    memory_bytes : int, optional
        Changes no result.
    observed : ObservedReplicas, optional
        What `observe_replicas` gave, where it is at hand.
    """
    name = null_named(null).name
    if name in SHUFFLES:
        return randomize_replicas(
            name, draws, replicas, cells=cells, replicates=replicates, memory_bytes=memory_bytes, observed=observed
        )
    if name == "crossed":
        return bootstrap_crossed(draws, replicas, cells=cells, replicates=replicates, memory_bytes=memory_bytes, observed=observed)
    return permute_runs(name, draws, replicas, cells=cells, replicates=replicates, observed=observed)
