"""Pairs compared by their scores after swaps. This module scores many pairs at a time, in a buffer that stays in the cache."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.resampling.assemble import Packed, chunk_pairs, compare_scores, fill_sums, pack_thresholds
from pipeline.resampling.columns import Sums
from pipeline.resampling.compare import Tally
from pipeline.resampling.comparison_rules import Rule
from pipeline.resampling.contract import FLOAT32_LIMIT, largest_magnitude
from pipeline.resampling.estimates import EstimatedPairs, EstimatedScore, bound_errors
from pipeline.resampling.measures import Measure, Observed, ScoreFunction

__all__ = ["SwappedPairs", "scores_single"]

_CACHE_BYTES = 3 * 2**19  # sums and scores of a chunk: near the cores, and many enough that calls from Python cost little
_TILE = 1024  # replicates of a chunk where pairs are many


def scores_single(score: ScoreFunction, n_statistics: int) -> bool:
    """Say whether a score is the same, bit for bit, of sums in float32 as of the same sums in float64.

    The package's kernels convert each sum before they compute with it. A NumPy expression computes in float32, which loses ties.
    """
    place, statistic = np.arange(97), np.arange(n_statistics)[:, None]
    sums = (place * 7919 + statistic * 104729 + place * statistic * 613) % 9973 + 1.0
    sums[(place + statistic) % 13 == 0] = 0.0
    with np.errstate(all="ignore"):  # these are no sums of anything
        single, double = score(sums.astype(np.float32)), np.asarray(score(sums), np.float64)
    return getattr(single, "dtype", None) == np.float64 and np.array_equal(single, double, equal_nan=True)


class SwappedPairs:
    """The pairs of one measure under the tolerance rule, ready to be put together.

    Parameters
    ----------
    index : int
        Number of the measure.
    measure : Measure
    observed : Observed
    rule : Rule
        Of which ``systems`` are the rows here.
    """

    def __init__(self, index: int, measure: Measure, observed: Observed, rule: Rule) -> None:
        self.index, self.systems = index, rule.systems
        statistics = measure.statistics[:, rule.systems]
        self.n_statistics: int = statistics.shape[2]
        fits = len(statistics) * largest_magnitude(statistics) < FLOAT32_LIMIT
        # Sums are exact in both: the narrower one moves no bit.
        self._type = np.float32 if fits and scores_single(measure.score, self.n_statistics) else np.float64
        self._totals = statistics.sum(axis=0).astype(self._type)
        packed = pack_thresholds(rule.thresholds)
        rows = np.stack([rule.thresholds.first, rule.thresholds.second], axis=1)
        errors = bound_errors(measure, observed, rule)
        scored = np.flatnonzero(np.isinf(errors))
        self._parts: list[_ScoredPairs | EstimatedPairs] = []
        if scored.size:
            # A statistic that all systems share, such as the length of the references, is not moved by any swap.
            moving = np.flatnonzero((statistics != statistics[:, :1]).any(axis=(0, 1)))
            self._parts.append(_ScoredPairs(measure.score, self._totals, rows[scored], packed.choose(scored), moving))
        if isinstance(measure.score, EstimatedScore) and scored.size < len(rows):
            rest = np.flatnonzero(np.isfinite(errors))
            self._parts.append(EstimatedPairs(measure.score, self._totals, rows[rest], packed.choose(rest), errors[rest]))

    @property
    def bytes_per_replicate(self) -> int:
        """Memory of one replicate: what every system gives away."""
        return int(self._totals.nbytes) + 8 * self.n_statistics

    def compare(self, sums: Sums, count: int, tally: Tally, cell: int) -> None:
        """Count all pairs in a batch of ``count`` replicates, the first of which stands at a multiple of `LANES` in its cell."""
        moved = np.empty((len(self.systems), self.n_statistics, count), self._type)
        one = np.empty((self.n_statistics, count))
        for row, system in enumerate(self.systems.tolist()):
            moved[row] = sums.statistics(self.index, system, out=one)
        for part in self._parts:
            part.compare(moved, tally, cell)


class _ScoredPairs:
    """Pairs of which every replicate is scored; ``moving`` are the statistics that swaps can move."""

    def __init__(
        self, score: ScoreFunction, totals: NDArray[Any], rows: NDArray[np.int64], packed: Packed, moving: NDArray[np.int64]
    ) -> None:
        self._score, self._totals, self._rows, self._packed, self._moving = score, totals, rows, packed, moving
        self._buffers: dict[tuple[int, int], NDArray[Any]] = {}

    def compare(self, moved: NDArray[Any], tally: Tally, cell: int) -> None:
        evaluations = _CACHE_BYTES // (self._totals.shape[1] * self._totals.itemsize + 8)
        for first, last, start, stop in chunk_pairs(len(self._rows), moved.shape[2], evaluations=evaluations, tile=_TILE):
            buffer = self._buffer(last - first, stop - start)
            fill_sums(self._totals, moved, self._rows, self._moving, (first, last), start, buffer)
            scores = np.ascontiguousarray(self._score(buffer), np.float64)
            if scores.shape != buffer.shape[1:]:
                raise ValueError(f"the score of {buffer.shape} statistics has shape {scores.shape}, not {buffer.shape[1:]}")
            compare_scores(scores, self._packed, first, tally, cell)

    def _buffer(self, pairs: int, replicates: int) -> NDArray[Any]:
        """Return a (statistic, 2 × pair, replicate) buffer in which what never moves stands already; few shapes occur."""
        if (pairs, replicates) not in self._buffers:
            buffer = np.empty((self._totals.shape[1], 2 * pairs, replicates), self._totals.dtype)
            buffer[:] = self._totals[0, :, None, None]
            self._buffers[pairs, replicates] = buffer
        return self._buffers[pairs, replicates]
