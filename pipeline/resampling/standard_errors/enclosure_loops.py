"""The loops of `enclosures`: the highest bits of squares, bounds of t*² from sums of these, and sums of whole squares."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from pipeline.compiled import kernel
from pipeline.resampling.standard_errors.influence_products import KNOWN

__all__ = ["DIGIT", "DIGITS", "WITHIN", "fill_bounds", "fill_digits", "sum_squares"]

WITHIN = 2.0**-40
"""Share of itself by which a t*² may be beyond its bounds by rounding: a hundred times as much as six operations make."""

DIGITS, DIGIT = 2, 7
"""Of a square, and bits of each, which a signed byte holds whatever they are."""


@kernel(error_model="numpy")
def fill_digits(
    centred: NDArray[np.float64],
    pairs: NDArray[np.int64],
    bits: int,
    cut_off: int,
    low: NDArray[np.int8],
    high: NDArray[np.int8],
    step: NDArray[np.float64],
    whole: NDArray[np.float64],
) -> None:
    """Fill the highest bits of squares on the lattice of `squares_of`, two digits, with its step and the sum of squares."""
    squares, most = np.empty(centred.shape[1]), 2 ** (DIGITS * DIGIT) - 1
    for pair in range(len(pairs)):
        a, b, largest = centred[pairs[pair, 0]], centred[pairs[pair, 1]], 0.0
        for unit in range(len(squares)):
            difference = a[unit] - b[unit]
            square = difference * difference
            squares[unit] = square
            largest = square if square > largest else largest
        step[pair] = math.ldexp(1.0, math.frexp(largest)[1] - bits) if largest > 0.0 else 0.0
        size, total = step[pair] if largest > 0.0 else 1.0, np.int64(0)
        for unit in range(len(squares)):
            steps = np.int64(np.rint(squares[unit] / size))
            total += steps
            # The largest may have been rounded up to the next power of 2, and would be a digit that no signed byte holds.
            highest = min(steps >> cut_off, most)
            low[pair, unit], high[pair, unit] = highest & (2**DIGIT - 1), highest >> DIGIT
        whole[pair] = total * step[pair]


@kernel(error_model="numpy")
def fill_bounds(
    sums: NDArray[np.int32],
    drawn: NDArray[np.int32],
    line: NDArray[np.float64],
    scores: NDArray[np.float64],
    pairs: NDArray[np.int64],
    delta: NDArray[np.float64],
    step: NDArray[np.float64],
    of_line: NDArray[np.float64],
    units: int,
    unit_of_sums: float,
    cut_off: float,
    least: NDArray[np.float64],
    greatest: NDArray[np.float64],
) -> None:
    """Fill the bounds of t*² from sums of the (digit, pair) highest bits of squares: 0 and infinite where more must be known."""
    highest = len(sums) - len(pairs)
    of_low = 1.0 if highest else 0.0
    of_high = 128.0 if highest else 1.0
    scale, least_share, most_share = units / (units - 1), (1.0 - WITHIN) / units, (1.0 + WITHIN) / units
    for pair in range(len(pairs)):
        a, b = pairs[pair]
        low, high = sums[pair], sums[highest + pair]
        own_step, own_line, middle = step[pair], of_line[pair], delta[pair]
        of_squares = own_step * units / 2
        for i in range(least.shape[1]):
            steps = (of_high * high[i] + of_low * low[i]) * unit_of_sums
            first = line[a, i] - line[b, i]
            below = steps * own_step - first * first * most_share
            above = (steps + cut_off) * own_step - first * first * least_share
            # No less than what is told of the sum itself; no byte holds a count of more than 255, and such do not add up.
            lost = of_squares + (2.0 * abs(first) + own_line) * own_line * most_share
            known = (own_step > 0.0) & (lost <= KNOWN * below) & (drawn[i] == units)
            gain = scores[a, i] - scores[b, i]
            shift = (gain - middle) * (gain - middle)
            smallest, largest = shift / (scale * above), shift / (scale * below)
            undefined = gain != gain
            least[pair, i] = np.inf if undefined else (smallest if known else 0.0)
            greatest[pair, i] = largest if known and not undefined else np.inf


@kernel(error_model="numpy")
def sum_squares(
    centred: NDArray[np.float64],
    pairs: NDArray[np.int64],
    step: NDArray[np.float64],
    weights: NDArray[np.uint8] | NDArray[np.float32],
    pair: NDArray[np.int64],
    replicate: NDArray[np.int64],
    steps: NDArray[np.float64],
) -> None:
    """Fill Σw of squares on their lattice, at some places: whole numbers below 2^53."""
    units, before = centred.shape[1], -1
    squares = np.empty(units, np.int64)
    for place in range(len(pair)):
        own = pair[place]
        if own != before:
            before = own
            a, b = centred[pairs[own, 0]], centred[pairs[own, 1]]
            size = step[own] if step[own] > 0.0 else 1.0
            for unit in range(units):
                difference = a[unit] - b[unit]
                squares[unit] = np.int64(np.rint(difference * difference / size))
        drawn, total = weights[replicate[place]], 0
        for unit in range(units):
            total += squares[unit] * np.int64(drawn[unit])
        steps[place] = total
