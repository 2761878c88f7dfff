"""Exact probabilities of pairs with few distinct differences: one compiled kernel for all of them.

The transform of a law of a few values is a sum of a few terms, taken directly; a pair costs some 40 µs. Its numbers are those of
`lattice.split`, bit for bit. What it calls is short and plain, as the first comparison of a day compiles it.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from pipeline.compiled import kernel
from pipeline.compiled.bare import bare_kernel
from pipeline.resampling.exact.factors import Factors, highest, log_bottom, reflect
from pipeline.resampling.exact.lattice import DIRECT, bound_tail, split_at_ends
from pipeline.resampling.exact.ring import multiply_whole, reduce_tail
from pipeline.resampling.exact.tilt import LOG_ALIAS, aim, cumulants, log_scale_of_whole, tilt_whole, window

__all__ = ["compare_short"]

_BELOW, _AT, _ABOVE, _UP_TO, _FROM = range(5)  # the order of `chances.Event`


@bare_kernel
def compare_short(
    by_system: NDArray[np.int64],
    pairs: NDArray[np.int64],
    reach: int,
    is_constant: bool,
    resampled: bool,
    swapped: bool,
    logs: NDArray[np.float64],
    gain: NDArray[np.int64],
    discordant: NDArray[np.int64],
) -> None:
    """Fill in the log probabilities of pairs with a short law, where they are exact; leave nan for the others."""
    counts = np.empty(2 * reach + 1, np.int64)
    draws = by_system.shape[1]
    bounds, is_known = np.empty((3, 5, 2)), np.empty(3, np.bool_)
    for pair in range(len(pairs)):
        first, second = pairs[pair, 0], pairs[pair, 1]
        for place in range(len(counts)):
            counts[place] = 0
        total, different, is_short = 0, 0, is_constant
        for unit in range(draws):
            difference = by_system[first, unit] - by_system[second, unit]
            total += difference
            different += difference != 0
            if -reach <= difference <= reach:
                counts[reach + difference] += 1
            else:
                is_short = False
        gain[pair], discordant[pair] = total, different
        if not is_short:
            continue
        if total < 0:
            total = -total
            for place in range(reach):
                counts[place], counts[2 * reach - place] = counts[2 * reach - place], counts[place]
        law, base, step = _law_of_draws(counts, reach, draws)
        flips, least = _law_of_flips(counts, reach, total)
        twice = 1 if total else 0
        # The bootstrap at 0, at twice the gain where that is another point, and the swaps: one call, whose code is there once.
        for number in range(3):
            of_flips = number == 2
            is_known[number] = False
            if swapped if of_flips else resampled and number <= twice:
                threshold = least if of_flips else base + 2 * total * number
                lattice, needed = 1 if of_flips else step, _FROM if of_flips else _BELOW
                is_known[number] = _split(flips if of_flips else law, threshold, lattice, needed, bounds, number)
        if is_known[0] and is_known[twice]:
            logs[pair, 0], logs[pair, 1] = bounds[twice, _ABOVE, 0], bounds[twice, _AT, 0]
            logs[pair, 2], logs[pair, 3] = bounds[0, _BELOW, 0], bounds[0, _AT, 0]
            logs[pair, 4] = min(np.logaddexp(bounds[twice, _FROM, 0], bounds[0, _UP_TO, 0]), 0.0) if total else 0.0
        if is_known[2]:
            logs[pair, 5] = min(bounds[2, _FROM, 0] + math.log(2), 0.0) if total else 0.0


@kernel
def _law_of_draws(counts: NDArray[np.int64], reach: int, draws: int) -> tuple[Factors, int, int]:
    """Return the law of a sum of draws on its own lattice, what it is without a gain, and the step of the lattice."""
    lowest = -reach
    while counts[lowest + reach] == 0:
        lowest += 1
    kinds, step = 0, 0
    for place in range(lowest + reach, len(counts)):
        if counts[place]:
            kinds += 1
            step = _common(step, place - reach - lowest)
    step = max(step, 1)
    law = _empty_law(kinds, 1)
    law.powers[0], law.starts[1] = draws, kinds
    atom = 0
    for place in range(lowest + reach, len(counts)):
        if counts[place]:
            law.atoms[atom], law.chances[atom] = (place - reach - lowest) // step, counts[place] / draws
            atom += 1
    return law, -draws * lowest, step


@kernel
def _law_of_flips(counts: NDArray[np.int64], reach: int, gain: int) -> tuple[Factors, int]:
    """Return the law of Σbv, b = 0 or 1 for each discordant v = |d|, and what it must reach: (gain + Σv)/2."""
    kinds, step = 0, 0
    for value in range(1, reach + 1):
        if counts[reach + value] + counts[reach - value]:
            kinds += 1
            step = _common(step, value)
    step = max(step, 1)
    law = _empty_law(2 * kinds, kinds)
    factor, doubled = 0, gain // step
    for value in range(1, reach + 1):
        size = counts[reach + value] + counts[reach - value]
        if size:
            law.atoms[2 * factor], law.atoms[2 * factor + 1] = 0, value // step
            law.chances[2 * factor], law.chances[2 * factor + 1] = 0.5, 0.5
            law.powers[factor], law.starts[factor + 1] = size, 2 * factor + 2
            doubled += size * (value // step)
            factor += 1
    return law, doubled // 2


@kernel
def _split(law: Factors, threshold: int, step: int, needed: int, out: NDArray[np.float64], row: int) -> bool:
    """Do what `lattice.split` does, of a law without hollow atoms: bounds are (row, field, bound).

    Say whether the law is short, and the fields from one on are known. A threshold may be beyond one point of the lattice and
    before the next.
    """
    place, top = threshold // step, highest(law)
    x = place
    is_edge, bounds = split_at_ends(x, 0, top, log_bottom(law if x == 0 else reflect(law)))
    if not is_edge:
        is_below = x < cumulants(law, 0.0)[1]
        if is_below:
            law, x = reflect(law), top - x
        theta = aim(law, float(x))
        low, high = window(law, theta, LOG_ALIAS)
        if len(law.atoms) * (high - low + 1) > DIRECT:
            return False
        points = max(high, x) - min(low, x) + 1
        transform = np.empty(points // 2 + 1, np.complex128)
        for k in range(len(transform)):
            transform[k] = 1.0
        chosen, draws = np.empty(len(law.powers), np.int64), law.powers[0]
        for j in range(len(chosen)):
            chosen[j] = j
            draws += law.powers[j] if j else 0
        multiply_whole(transform, points, law, tilt_whole(law, theta), chosen)
        above, at, above_terms, at_terms = reduce_tail(transform, points, x, high, theta)
        bounds = bound_tail(log_scale_of_whole(law, theta, x), draws, above, at, above_terms, at_terms)
        if is_below:
            for bound in range(2):
                bounds[_BELOW, bound], bounds[_ABOVE, bound] = bounds[_ABOVE, bound], bounds[_BELOW, bound]
                bounds[_UP_TO, bound], bounds[_FROM, bound] = bounds[_FROM, bound], bounds[_UP_TO, bound]
    is_known = True
    for field in range(5):
        for bound in range(2):
            out[row, field, bound] = bounds[field, bound]
    if place * step != threshold:
        for bound in range(2):
            out[row, _BELOW, bound], out[row, _AT, bound] = bounds[_UP_TO, bound], -np.inf
            out[row, _FROM, bound] = bounds[_ABOVE, bound]
    for field in range(needed, 5):
        is_known = is_known and out[row, field, 0] == out[row, field, 1]
    return is_known


@kernel(signature="(int64, int64)")  # otherwise it would be compiled again for each number in a caller's code
def _empty_law(atoms: int, factors: int) -> Factors:
    """Make a law without hollow atoms whose other fields are to be filled."""
    starts = np.empty(factors + 1, np.int64)
    starts[0] = 0
    hollow = np.empty(atoms, np.bool_)
    for a in range(atoms):
        hollow[a] = False
    return Factors(np.empty(atoms, np.int64), np.empty(atoms, np.float64), hollow, starts, np.empty(factors, np.int64))


@kernel(signature="int64(int64, int64)")
def _common(one: int, other: int) -> int:
    """Return the greatest common divisor."""
    while other:
        one, other = other, one % other
    return one
