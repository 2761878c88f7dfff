"""The input and output of a resampling pass: its arrays, with their shapes checked."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from pipeline.dataclass import dataclass

__all__ = [
    "BINS",
    "COUNTS",
    "HALF_WIDTH",
    "LANES",
    "PAIRS_AT_ONCE",
    "PAIR_BYTES",
    "RULES",
    "SUMS",
    "TABLES_BYTES",
    "TABLE_WIDTH",
    "Measure",
    "Observed",
    "PairCounts",
    "ScoreFunction",
    "sum_by_unit",
]

ScoreFunction = Callable[[NDArray[Any]], NDArray[np.float64]]
"""Summed statistics ``(statistic, ...)`` to scores ``(...)`` in float64; nan where undefined (0/0).

Sums come as float64, or as float32 where that holds them and a probe gave the same bits."""

COUNTS = ("below_zero", "at_zero", "below_delta", "at_delta", "at_twice_delta", "above_twice_delta", "margin_above", "margin_below")
"""δ* < 0, = 0, < δ, = δ, = 2δ, > 2δ, ≥ 2δ + margin, ≤ 2δ − margin."""

SUMS = ("shift", "squared_shift", "absolute")
"""Σ(δ* − δ), Σ(δ* − δ)², Σ|δ*|."""

BINS = 96
"""Bins of (δ* − δ)/se, each a quarter of a standard error; the end bins hold all beyond, bin 48 begins at δ* = δ."""

LANES = 32
"""Accumulators of a sum: replicate i of a cell meets number i mod 32, whatever the batch."""

TABLE_WIDTH = 4096
"""Different gains of a pair, at most, that are counted in a table in place of one by one: numbers of 16 bits."""

TABLES_BYTES = 2**26
"""Of the tables of all pairs of a measure, at most."""

PAIRS_AT_ONCE = 2**18
"""Pairs that a pass compares on one set of draws. Thresholds and running sums of more would not leave room for their counts within
1 GiB; a second set of draws costs a tenth of comparing so many, or less."""

PAIR_BYTES = 8 * len(SUMS) * LANES + 600
"""Bytes that a pass holds for each pair besides its counts: running sums, thresholds, cuts and integers. Measured."""

HALF_WIDTH = 12.0
"""The histogram spans ± this many standard errors."""

RULES = ("tolerance", "integer", "crossed", "crossed-int64", "tolerance-too-wide")
"""How δ* met its thresholds: within a tolerance of scores; as integers over a constant denominator; cross-multiplied in
float64 or in int64, for a denominator that both systems share; within the tolerance because integers would overflow."""


@dataclass(frozen=True, eq=False)
class Measure:
    """One metric on one test set at one size.

    Parameters
    ----------
    statistics : (unit, system, statistic) int64
        Already summed over the items of each unit.
    score : ScoreFunction
    form : {"ratio", "general"}
        ``ratio`` where the score is factor × statistics[0] / statistics[1] with a positive factor.
    higher_is_better : bool
    pairs : (pair, 2) int64
        Positions of systems, in the caller's fixed order.
    keep : (system,) bool
        Systems whose replicate scores are returned.
    margin : float or None
        Largest difference of scores that does not matter, in units of the score.
    follows : tuple of int
        For each statistic the one that it nearly follows, −1 for none: in nearly all units, y is x plus something that all systems
        share. It saves products and changes no number. Empty if no statistic follows another.
    stratum : (unit,) int64 or None
        If units are drawn within strata, the stratum of each, numbered 0 … H − 1 without a gap; standard errors are then those of
        such draws.
    """

    statistics: NDArray[np.int64]
    score: ScoreFunction
    form: Literal["ratio", "general"]
    higher_is_better: bool
    pairs: NDArray[np.int64]
    keep: NDArray[np.bool_]
    margin: float | None = None
    follows: tuple[int, ...] = ()
    stratum: NDArray[np.int64] | None = None

    def __post_init__(self) -> None:
        if self.statistics.ndim != 3 or self.statistics.dtype != np.int64:
            raise ValueError(f"statistics are (unit, system, statistic) int64, not {self.statistics.shape} {self.statistics.dtype}")
        systems = self.statistics.shape[1]
        if self.statistics.shape[0] < 1:
            raise ValueError("there are 0 units, at least 1 is needed")
        if self.form not in ("ratio", "general"):
            raise ValueError(f"form is 'ratio' or 'general', not {self.form!r}")
        if self.form == "ratio" and self.statistics.shape[2] != 2:
            raise ValueError(f"a ratio has 2 statistics, not {self.statistics.shape[2]}")
        if self.pairs.ndim != 2 or self.pairs.shape[1] != 2:
            raise ValueError(f"pairs are (pair, 2), not {self.pairs.shape}")
        if self.pairs.size and not (self.pairs.min() >= 0 and self.pairs.max() < systems):
            raise ValueError(f"pairs name systems {self.pairs.min()} … {self.pairs.max()}, there are {systems}")
        if self.keep.shape != (systems,):
            raise ValueError(f"keep has shape {self.keep.shape}, there are {systems} systems")
        if self.margin is not None and not 0 <= self.margin < np.inf:
            raise ValueError(f"a margin is finite and at least 0, not {self.margin}")
        if self.follows and len(self.follows) != self.statistics.shape[2]:
            raise ValueError(f"follows has {len(self.follows)} entries, there are {self.statistics.shape[2]} statistics")
        if any(not -1 <= leader < len(self.follows) or self.follows[leader] != -1 for leader in self.follows if leader != -1):
            raise ValueError(f"a statistic follows one that follows none, not {self.follows}")
        if self.stratum is not None and self.stratum.shape != self.statistics.shape[:1]:
            raise ValueError(f"strata are of {self.stratum.shape} units, statistics of {self.statistics.shape[0]}")


@dataclass(frozen=True, eq=False)
class Observed:
    """The scores of the test set itself.

    Parameters
    ----------
    score : (system,) float64
    delta : (pair,) float64
        Signed gain: > 0 where the first of the pair is better by the direction of the metric. Exactly 0 where the scores are equal
        by the three-way comparison; nan where a score is undefined.
    se : (pair,) float64
        Jackknife standard error of ``delta``; nan where a leave-one-out score is undefined or there is one unit.
    discordant : (pair,) int64
        Units whose statistics differ between the two systems.
    identical : (pair,) bool
        No unit is discordant.
    """

    score: NDArray[np.float64]
    delta: NDArray[np.float64]
    se: NDArray[np.float64]
    discordant: NDArray[np.int64]
    identical: NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class PairCounts:
    """What one pass counted, with each pair in the order in which its observed gain is not negative.

    Parameters
    ----------
    counts : (pair, cell, 8) int32
        In the order of `COUNTS`; margin counts are −1 without a margin.
    sums : (pair, cell, 3) float64
        In the order of `SUMS`; after swaps, of gains that may be estimates with a relative error of about 1e-6 (`swapped_pairs`).
    histogram : (pair, cell, BINS) uint16
        Of (δ* − δ)/se on ± `HALF_WIDTH`; all in the middle bin where se is 0 or undefined.
    empty : (pair, cell) int32
        Replicates in which a score was undefined; no count, sum or bin includes them.
    score : (kept system, replicate) float64
        The replicates below ``keep_replicates`` in the requested cells.
    rule : (pair,) int8
        Position in `RULES`.
    """

    counts: NDArray[np.int32]
    sums: NDArray[np.float64]
    histogram: NDArray[np.uint16]
    empty: NDArray[np.int32]
    score: NDArray[np.float64]
    rule: NDArray[np.int8]


def sum_by_unit(values: NDArray[np.int64], unit_of_item: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return (unit, …) sums of (item, …) statistics.

    Examples
    --------
    >>> sum_by_unit(np.array([[1], [2], [4]]), np.array([0, 1, 0])).tolist()
    [[5], [2]]
    """
    if np.array_equal(unit_of_item, np.arange(len(unit_of_item))):  # each item is a unit: nothing is added
        return np.array(values, np.int64)
    summed = np.zeros((int(unit_of_item.max()) + 1, *values.shape[1:]), np.int64)
    np.add.at(summed, unit_of_item, values)
    return summed
