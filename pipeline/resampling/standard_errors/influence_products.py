"""Σw(u − mean* u)² of many pairs on every replicate as one product of matrices, with bits that no order of additions can move.

Of a pair, x = u_a − u_b is centred and its squares are put on a lattice of integers, the largest just below 2^52 / n: sums over n
units drawn are then exact in double precision, whoever adds them and in whatever order. Σwx is a difference of two systems' sums,
on lattices of their own. What lattices lose is at most half a step a unit drawn; where that could be 2^-26 of what is found or
more, because the units that carry the pair's spread were hardly drawn or its systems are nearly copies, `spread_of_influences`
looks at the units themselves.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pipeline.compiled.bare import bare_kernel
from pipeline.dataclass import dataclass, field
from pipeline.resampling.standard_errors.influence_spread import spread_of_influences

__all__ = ["KNOWN", "InfluenceLines", "InfluenceProducts", "bits_of_squares", "left_of", "squares_of"]

KNOWN = 2.0**-26
"""Of what is found: the most that may be lost of it."""

_BITS = 52
_KEPT_BYTES = 2**26  # of the sums of lines: those of 800 systems
_FEW = 64  # pairs, whose spread NumPy makes before a kernel is loaded


@dataclass(frozen=True, eq=False)
class InfluenceLines:
    """Centred influence values of systems, and their sums on replicates: made once for all pairs, as long as these are few bytes.

    Parameters
    ----------
    centred : (system, unit) float64
    lines : (system, unit) float64
        Whole numbers: centred values over ``step``, rounded.
    step : (system,) float64
    """

    centred: NDArray[np.float64]
    lines: NDArray[np.float64]
    step: NDArray[np.float64]
    _kept: dict[tuple[int, int], NDArray[np.float64]] = field(default_factory=dict, init=False, repr=False)

    @classmethod
    def of(cls, values: NDArray[np.float64]) -> InfluenceLines:
        """Put the values of each system on a lattice."""
        centred = values - values.mean(axis=1, keepdims=True)
        lines, step = _on_lattice(centred)
        return cls(centred, lines, step)

    def of_units(self, chosen: NDArray[np.int64]) -> InfluenceLines:
        """Return the same of some units, in their order."""
        return InfluenceLines(np.take(self.centred, chosen, axis=1), np.take(self.lines, chosen, axis=1), self.step)

    def sums(self, weights: NDArray[np.float32] | NDArray[np.uint8], *, first: int | None = None) -> NDArray[np.float64]:
        """Return (system, replicate) Σwx of replicates that are kept by the number of the ``first``, where it is given."""
        place = None if first is None else (first, len(weights))
        if place is not None and place in self._kept:
            return self._kept[place]
        found = (self.lines @ weights.T.astype(np.float64)) * self.step[:, None]
        if place is not None and sum(kept.nbytes for kept in self._kept.values()) + found.nbytes <= _KEPT_BYTES:
            self._kept[place] = found
        return found


@dataclass(frozen=True, eq=False)
class InfluenceProducts:
    """Some pairs, ready to be summed; units of one stratum.

    Parameters
    ----------
    values : (system, unit) float64
        From `pipeline.resampling.standard_errors.influence_spread.influences`.
    pairs : (pair, 2) int64
    squares : (pair, unit) float64
        Whole numbers: x² over ``step``, rounded.
    step : (pair,) float64
        A power of 2; 0 of a pair that does not vary.
    lines : InfluenceLines
        Of the systems.
    """

    values: NDArray[np.float64]
    pairs: NDArray[np.int64]
    squares: NDArray[np.float64]
    step: NDArray[np.float64]
    lines: InfluenceLines

    @classmethod
    def of(cls, values: NDArray[np.float64], pairs: NDArray[np.int64], lines: InfluenceLines | None = None) -> InfluenceProducts:
        """Put the squares of each pair on their lattices, and the values of each system unless their ``lines`` are given."""
        lines = lines or InfluenceLines.of(values)
        return cls(values, pairs, *squares_of(lines, pairs), lines)

    def spread(self, weights: NDArray[np.float32], *, first: int | None = None) -> NDArray[np.float64]:
        """Return (pair, replicate) Σw(u − mean* u)², over n − 1 in place of n, as `spread_of_influences` has it.

        Parameters
        ----------
        weights : (replicate, unit) float32
            Each row sums to the number of units.
        first : int, optional
            The number of the first replicate, by which the sums of lines are kept for the next pairs.
        """
        units = weights.shape[1]
        if units < 2:
            return np.zeros((len(self.pairs), len(weights)))
        steps = self.squares @ weights.T.astype(np.float64)
        line = self.lines.sums(weights, first=first)
        lost_of_line = self.lines.step[self.pairs].sum(axis=1) * units / 2
        subtract = _subtract_few if len(self.pairs) <= _FEW else _subtract
        found, doubtful = np.empty(steps.shape), np.empty(steps.shape, np.bool_)
        subtract(steps, line, self.pairs, self.step, lost_of_line, units, found, doubtful)
        rows = np.flatnonzero(doubtful.any(axis=1))
        if rows.size:
            looked_at = spread_of_influences(self.values, self.pairs[rows], weights, np.array([units]))
            found[rows] = np.where(doubtful[rows], looked_at, found[rows])
        return found


@bare_kernel(error_model="numpy")
def _subtract(
    steps: NDArray[np.float64],
    line: NDArray[np.float64],
    pairs: NDArray[np.int64],
    step: NDArray[np.float64],
    lost_of_line: NDArray[np.float64],
    units: int,
    found: NDArray[np.float64],
    doubtful: NDArray[np.bool_],
) -> None:
    """Fill what is left of Σwx² without (Σwx)² / n, and where too much of it may be lost."""
    scale = units / (units - 1)
    for pair in range(len(pairs)):
        a, b = line[pairs[pair, 0]], line[pairs[pair, 1]]
        own_step, of_line = step[pair], lost_of_line[pair]
        of_squares = own_step * units / 2
        for i in range(steps.shape[1]):
            first = a[i] - b[i]
            own = steps[pair, i] * own_step - first * first / units
            # A remainder that may be rounding alone is doubtful: such pairs are summed unit by unit.
            found[pair, i] = scale * own if own > 0.0 else 0.0
            lost = of_squares + (2.0 * abs(first) + of_line) * of_line / units
            doubtful[pair, i] = (own_step > 0.0) & (lost > KNOWN * own)


def _subtract_few(
    steps: NDArray[np.float64],
    line: NDArray[np.float64],
    pairs: NDArray[np.int64],
    step: NDArray[np.float64],
    lost_of_line: NDArray[np.float64],
    units: int,
    found: NDArray[np.float64],
    doubtful: NDArray[np.bool_],
) -> None:
    """Subtract as `_subtract` does, in NumPy, operation by operation and so with the same bits."""
    first = line[pairs[:, 0]] - line[pairs[:, 1]]
    found[:], doubtful[:] = left_of(steps, first, step=step[:, None], of_line=lost_of_line[:, None], units=units)


def left_of(
    steps: NDArray[np.float64], first: NDArray[np.float64], *, step: NDArray[np.float64], of_line: NDArray[np.float64], units: int
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Return what is left of Σwx² = ``steps`` · ``step`` without (Σwx)² / n, and where too much of it may be lost.

    Parameters
    ----------
    steps, first : float64
        Sums of squares on their lattice, and Σwx.
    step, of_line : float64
        Of pairs, and broadcast against the sums: the step of the squares, and the most that Σwx may have lost.
    units : int
        n.
    """
    own = steps * step - first * first / units
    lost = step * units / 2 + (2 * np.abs(first) + of_line) * of_line / units
    return np.where(own > 0, units / (units - 1) * own, 0.0), (lost > KNOWN * own) & (step > 0)


def squares_of(lines: InfluenceLines, pairs: NDArray[np.int64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return (pair, unit) squares of differences as whole numbers, and (pair,) the step of each."""
    difference = lines.centred[pairs[:, 0]] - lines.centred[pairs[:, 1]]
    return _on_lattice(difference * difference)


def bits_of_squares(units: int) -> int:
    """Return up to which power of 2 the whole numbers of a lattice go, so that sums over as many draws stay below 2^53.

    Examples
    --------
    >>> bits_of_squares(2000)
    41
    """
    return _BITS - int(np.ceil(np.log2(units)))


def _on_lattice(rows: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return rows as whole numbers whose sums over as many draws as units stay below 2^53, and the step of each row."""
    bits = bits_of_squares(rows.shape[1])
    largest = np.abs(rows).max(axis=1, initial=0.0)
    _, exponent = np.frexp(np.where(np.isfinite(largest) & (largest > 0), largest, 1.0))
    step = np.where(largest > 0, np.ldexp(1.0, exponent - bits), 0.0)
    with np.errstate(invalid="ignore"):  # nan stays nan
        return np.rint(rows / np.where(step > 0, step, 1.0)[:, None]), step
