"""The loops of `enclosures`: the highest bits of squares, what bounds from sums of these leave open, and sums of whole squares."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from pipeline.compiled import kernel
from pipeline.compiled.bare import bare_kernel
from pipeline.resampling.standard_errors.influence_products import KNOWN

__all__ = ["DIGIT", "DIGITS", "WITHIN", "fill_digits", "find_open", "sum_squares"]

WITHIN = 2.0**-40
"""Share of itself by which a t*² may be beyond its bounds by rounding: a hundred times as much as six operations make."""

DIGITS, DIGIT = 2, 7
"""Of a square, and bits of each, which a signed byte holds whatever they are."""

MOST_IN_32_BITS = 2 ** (31 - DIGITS * DIGIT)
"""Units up to which sums of both digits over as many draws stay below 2³¹."""

_OPEN, _REACHES = 1, 2  # of a t*: it must be known, and it surely reaches what counts as its pair's t
_ANY_OPEN = 0x0101010101010101  # of eight t*


@bare_kernel(error_model="numpy")
def fill_digits(
    centred: NDArray[np.float64],
    pairs: NDArray[np.int64],
    bits: int,
    cut_off: int,
    high: NDArray[np.int8],
    both: NDArray[np.int16],
    step: NDArray[np.float64],
    whole: NDArray[np.float64],
) -> None:
    """Fill the highest bits of squares on the lattice of `squares_of`, one digit and two, with its step and the sum of squares."""
    squares, most = np.empty(centred.shape[1]), 2 ** (DIGITS * DIGIT) - 1
    for pair in range(len(pairs)):
        a, b, largest = centred[pairs[pair, 0]], centred[pairs[pair, 1]], 0.0
        for unit in range(len(squares)):
            difference = a[unit] - b[unit]
            square = difference * difference
            squares[unit] = square
            largest = square if square > largest else largest
        step[pair] = math.ldexp(1.0, math.frexp(largest)[1] - bits) if largest > 0.0 else 0.0
        (lift, per_step), total = _steps_in(step[pair] if largest > 0.0 else 1.0), np.int64(0)
        for unit in range(len(squares)):
            steps = np.int64(np.rint(squares[unit] * lift * per_step))
            total += steps
            # The largest may have been rounded up to the next power of 2, and would be a digit that no signed byte holds.
            highest = min(steps >> cut_off, most)
            both[pair, unit], high[pair, unit] = highest, highest >> DIGIT
        whole[pair] = total * step[pair]


@kernel(error_model="numpy", inline="always")
def _steps_in(step: float) -> tuple[float, float]:
    """Return two factors that divide by a step without a division: exactly, as it is a power of 2, and without overflow."""
    lift = 1.0 if step > 2.0**-1000 else 2.0**100
    return lift, 1.0 / (step * lift)


@bare_kernel(error_model="numpy")
def find_open(
    sums: NDArray[np.int32],
    drawn: NDArray[np.int32],
    rare: NDArray[np.float64],
    line: NDArray[np.float64],
    scores: NDArray[np.float64],
    weights: NDArray[np.uint8] | NDArray[np.float32],
    pairs: NDArray[np.int64],
    delta: NDArray[np.float64],
    step: NDArray[np.float64],
    of_line: NDArray[np.float64],
    light: NDArray[np.float64],
    kept: NDArray[np.int8] | NDArray[np.int16],
    ends: tuple[int, int],
    units_of: tuple[float, float],
    cap: NDArray[np.float64],
    least: NDArray[np.float64],
    largest: NDArray[np.float64],
    own: NDArray[np.int64],
    places: NDArray[np.int64],
) -> int:
    """Find the t* that must be known, and count those that surely reach a number.

    Parameters
    ----------
    sums : (digit · pair, replicate) int32
        Of the highest bits of squares: of all units, or of the first ones.
    drawn, rare, line, scores, weights
        Of replicates.
    pairs, delta, step, of_line, light, kept
        Of pairs. Closer bounds are made of the (pair, unit) bits ``kept``, where the first ones do not tell.
    ends : tuple of int
        How many units ``sums`` are of, 0 where ``kept`` has more bits of them, and after how many more to look again.
    units_of : tuple of float
        What a unit of the sums and of the kept bits is of a step.
    cap, least : (pair,) float64
        What |t*| count for at most, and what is to be reached; the pair with the smallest t first.
    largest : (replicate,) float64
        |t*| of the pairs before.
    own : (pair,) int64
        Added to: how many surely reach it.
    places : (pair · replicate,) int64
        Filled with what is open: twice pair · replicates + replicate, and one more where it is counted already.

    Returns
    -------
    int
        How many are open.
    """
    units, replicates, highest = kept.shape[1], len(largest), len(sums) - len(pairs)
    of_low, of_high = (1.0, 128.0) if highest else (0.0, 1.0)
    scale, few_enough, is_part = units / (units - 1), units <= MOST_IN_32_BITS, ends[0] > 0
    missing = np.inf if is_part else units_of[0] * units  # of light units too much is unknown
    told, found = np.zeros(8 * ((replicates + 7) // 8), np.uint8), 0
    words = told.view(np.uint64)
    size = np.minimum(largest, 1e150)  # whose square is a number: more is not undefined
    bar = size * size * (1.0 - WITHIN)  # what the square of that of these too is not below
    for pair in range(len(pairs)):
        a, b = pairs[pair]
        low, high, bits = sums[pair], sums[highest + pair], kept[pair]
        own_step, own_line, middle, alone = step[pair], of_line[pair], delta[pair], 0
        once, twice, of_light = light[pair]
        most, threshold = cap[pair] * cap[pair], max(least[pair], 0.0) * max(least[pair], 0.0)
        sure, possible = threshold * (1.0 + WITHIN), threshold * (1.0 - WITHIN)
        # Where bounds can tell only that a number is missed, most t* need one comparison.
        can_only_miss = is_part and most == np.inf and sure > 0.0
        if can_only_miss:
            for i in range(replicates):
                steps = high[i] * units_of[0] + max(of_light - rare[0, i] * once - rare[1, i] * twice, 0.0)
                first, shift = line[a, i] - line[b, i], scores[a, i] - scores[b, i] - middle
                below, _, adds_up = _spreads_of(steps, first, own_step, own_line, units, missing)
                is_below = shift * shift < min(possible, bar[i]) * (scale * below)
                told[i] = _OPEN * (not (adds_up & (drawn[i] == units) & is_below))
        else:
            for i in range(replicates):
                steps = (of_high * high[i] + of_low * low[i]) * units_of[0]
                first, shift = line[a, i] - line[b, i], scores[a, i] - scores[b, i] - middle
                below, above, adds_up = _spreads_of(steps, first, own_step, own_line, units, missing)
                square, undefined = shift * shift, shift != shift
                known = adds_up & (drawn[i] == units) & (not undefined)
                # A product in place of a quotient: its rounding has room too.
                reaches = (most >= sure) & ((sure <= 0.0) | undefined | (known & (square >= sure * (scale * above))))
                misses = (most < possible) | (known & (square < possible * (scale * below)))
                is_less = (most <= bar[i]) | (known & (square <= bar[i] * (scale * below)))
                alone += reaches
                told[i] = _OPEN * (not (is_less & (reaches | misses))) + _REACHES * reaches
        for word in range(len(words)):
            if not words[word] & _ANY_OPEN:
                continue
            for i in range(8 * word, min(8 * word + 8, replicates)):
                if not told[i] & _OPEN:
                    continue
                counted, counts, total = (told[i] & _REACHES) > 0, weights[i], np.int32(0)
                first, shift = line[a, i] - line[b, i], scores[a, i] - scores[b, i] - middle
                can_be_known, undefined, done = (drawn[i] == units) & few_enough, shift != shift, 0
                if is_part:
                    done, total = ends[0], high[i]
                if can_only_miss and ends[1] > done:
                    total += _sum_of(bits[done : ends[1]], counts[done : ends[1]])
                    done = ends[1]
                    below, _, adds_up = _spreads_of(total * units_of[1], first, own_step, own_line, units, np.inf)
                    if can_be_known & adds_up & (shift * shift < min(possible, bar[i]) * (scale * below)):
                        continue
                total += _sum_of(bits[done:], counts[done:])
                below, above, adds_up = _spreads_of(total * units_of[1], first, own_step, own_line, units, units_of[1] * units)
                known = adds_up & can_be_known
                smallest = np.inf if undefined else (shift * shift / (scale * above) if known else 0.0)
                greatest = shift * shift / (scale * below) if known and not undefined else np.inf
                smallest, greatest = min(smallest, most), min(greatest, most)
                reaches = counted | (smallest >= sure)
                alone += reaches & (not counted)
                if greatest > bar[i] or (greatest >= possible and not reaches):
                    places[found] = 2 * (pair * replicates + i) + reaches
                    found += 1
                bar[i] = max(bar[i], smallest * (1.0 - WITHIN))
        own[pair] += alone
    return found


@kernel(error_model="numpy", inline="always")
def _sum_of(bits: NDArray[np.int8] | NDArray[np.int16], counts: NDArray[np.uint8] | NDArray[np.float32]) -> np.int32:
    """Return Σ bits · counts, in 32 bits so that LLVM adds in these."""
    total = np.int32(0)
    for unit in range(len(bits)):
        total = np.int32(total + np.int32(bits[unit]) * np.int32(counts[unit]))
    return total


@kernel(error_model="numpy", inline="always")
def _spreads_of(steps: float, first: float, step: float, of_line: float, units: int, missing: float) -> tuple[float, float, bool]:
    """Return between what Σwx² − (Σwx)²/n is, where at most so much of a sum of squares is missing, and whether that is known."""
    below = steps * step - first * first * ((1.0 + WITHIN) / units)
    above = (steps + missing) * step - first * first * ((1.0 - WITHIN) / units)
    # No less than what is told of the sum itself; no byte holds a count of more than 255, and such do not add up.
    lost = step * units / 2 + (2.0 * abs(first) + of_line) * of_line * ((1.0 + WITHIN) / units)
    return below, above, (step > 0.0) & (lost <= KNOWN * below)


@bare_kernel(error_model="numpy")
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
            lift, per_step = _steps_in(step[own] if step[own] > 0.0 else 1.0)
            for unit in range(units):
                difference = a[unit] - b[unit]
                squares[unit] = np.int64(np.rint(difference * difference * lift * per_step))
        drawn, total = weights[replicate[place]], 0
        for unit in range(units):
            total += squares[unit] * np.int64(drawn[unit])
        steps[place] = total
