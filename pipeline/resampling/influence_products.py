"""Σw(u − mean* u)² of many pairs on every replicate as one product of matrices, with bits that no order of additions can move.

Of a pair, x = u_a − u_b is centred and its squares are put on a lattice of integers, the largest just below 2^52 / n: sums over n
units drawn are then exact in double precision, whoever adds them and in whatever order. Σwx is a difference of two systems' sums,
on lattices of their own. What lattices lose is at most half a step a unit drawn; where that could be 2^-26 of what is found or
more, because the units that carry the pair's spread were hardly drawn or its systems are nearly copies, `spread_of_influences`
looks at the units themselves.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pipeline.resampling.influence_spread import spread_of_influences

__all__ = ["InfluenceProducts"]

_BITS = 52
_KNOWN = 2.0**-26  # of what is found: the most that may be lost of it


@dataclass(frozen=True, eq=False)
class InfluenceProducts:
    """Some pairs, ready to be summed; units of one stratum.

    Parameters
    ----------
    values : (system, unit) float64
        From `pipeline.resampling.influence_spread.influences`.
    pairs : (pair, 2) int64
    squares : (pair, unit) float64
        Whole numbers: x² over ``step``, rounded.
    step : (pair,) float64
        A power of 2; 0 of a pair that does not vary.
    lines : (system, unit) float64
        Whole numbers: centred values over ``line_step``, rounded.
    line_step : (system,) float64
    """

    values: NDArray[np.float64]
    pairs: NDArray[np.int64]
    squares: NDArray[np.float64]
    step: NDArray[np.float64]
    lines: NDArray[np.float64]
    line_step: NDArray[np.float64]

    @classmethod
    def of(cls, values: NDArray[np.float64], pairs: NDArray[np.int64]) -> InfluenceProducts:
        """Put the squares of each pair and the values of each system on their lattices."""
        systems, places = np.unique(pairs, return_inverse=True)
        own, pairs = values[systems], np.ascontiguousarray(places.reshape(-1, 2))
        centred = own - own.mean(axis=1, keepdims=True)
        difference = centred[pairs[:, 0]] - centred[pairs[:, 1]]
        squares, step = _on_lattice(difference * difference)
        lines, line_step = _on_lattice(centred)
        return cls(own, pairs, squares, step, lines, line_step)

    def spread(self, weights: NDArray[np.float32]) -> NDArray[np.float64]:
        """Return (pair, replicate) Σw(u − mean* u)², over n − 1 in place of n, as `spread_of_influences` has it.

        Parameters
        ----------
        weights : (replicate, unit) float32
            Each row sums to the number of units.
        """
        units = weights.shape[1]
        if units < 2:
            return np.zeros((len(self.pairs), len(weights)))
        across = weights.T.astype(np.float64)
        steps = self.squares @ across
        line = (self.lines @ across) * self.line_step[:, None]
        first = line[self.pairs[:, 0]] - line[self.pairs[:, 1]]
        second = steps * self.step[:, None]
        own = second - first * first / units
        # What is left of a pair by rounding alone is doubtful, and looked at below.
        found = np.where(own > 0, units / (units - 1) * own, 0.0)
        lost_of_line = (self.line_step[self.pairs].sum(axis=1) * units / 2)[:, None]
        lost = (self.step * units / 2)[:, None] + (2 * np.abs(first) + lost_of_line) * lost_of_line / units
        doubtful = (lost > _KNOWN * own) & (self.step > 0)[:, None]
        rows = np.flatnonzero(doubtful.any(axis=1))
        if rows.size:
            looked_at = spread_of_influences(self.values, self.pairs[rows], weights, np.array([units]))
            found[rows] = np.where(doubtful[rows], looked_at, found[rows])
        return found


def _on_lattice(rows: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return rows as whole numbers whose sums over as many draws as units stay below 2^53, and the step of each row."""
    bits = _BITS - int(np.ceil(np.log2(rows.shape[1])))
    largest = np.abs(rows).max(axis=1, initial=0.0)
    _, exponent = np.frexp(np.where(np.isfinite(largest) & (largest > 0), largest, 1.0))
    step = np.where(largest > 0, np.ldexp(1.0, exponent - bits), 0.0)
    with np.errstate(invalid="ignore"):  # nan stays nan
        return np.rint(rows / np.where(step > 0, step, 1.0)[:, None]), step
