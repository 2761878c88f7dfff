"""Scores of every run on bootstrap samples of units. This module runs the bootstrap pass for what looks at scores of replicates."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pipeline.resampling.draws import Draws
from pipeline.resampling.measures import Measure
from pipeline.resampling.replicas.outputs import Replicas
from pipeline.resampling.resample import resample

__all__ = ["ResampledRuns"]


class ResampledRuns:
    """Every run as a system of its own in `pipeline.resampling.resample`; all meet the same samples.

    Parameters
    ----------
    replicas : Replicas
    """

    def __init__(self, replicas: Replicas) -> None:
        statistics = np.ascontiguousarray(np.concatenate(replicas.statistics).transpose(1, 0, 2))
        keep = np.ones(statistics.shape[1], np.bool_)
        none = np.zeros((0, 2), np.int64)
        self._measure = Measure(
            statistics, replicas.score, "general", replicas.higher_is_better, none, keep, follows=replicas.follows
        )
        self.first_run = np.concatenate([[0], np.cumsum(replicas.runs)])

    def score_cell(self, draws: Draws, cell: int, *, replicates: int, memory_bytes: int) -> NDArray[np.float64]:
        """Return (run of all systems, replicate) scores of one cell; runs of system s are first_run[s] … first_run[s + 1] − 1."""
        return resample(
            draws,
            [self._measure],
            cells=range(cell, cell + 1),
            replicates=replicates,
            keep_replicates=replicates,
            memory_bytes=memory_bytes,
        )[0].score
