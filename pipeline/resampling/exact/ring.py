"""Tilted laws on a ring of points: transform a law, and sum a tail against its transform.

The transform of a sum is a product of small transforms raised to powers, and a tail is a geometric series against it, so no
inverse transform is needed. Frequencies at which the product vanishes, most of them, are left out early.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pipeline.compiled import kernel
from pipeline.numerics.fourier import rfft
from pipeline.resampling.exact.factors import Factors, expected_hits, is_partial
from pipeline.resampling.exact.tilt import LOG_ALIAS, tilt, window

__all__ = [
    "Tail",
    "direct_tail",
    "multiply_whole",
    "power_of_both",
    "raise_both",
    "raise_powers",
    "reduce_tail",
    "transform_law",
    "wrap",
]

_MANY_ATOMS = 16  # of one law: a fast transform is cheaper than their sum
_VANISHED = 160.0  # |transform|² below exp(−160) is nothing
_ROUNDING = 1e-6  # more than that of a transform, by far


class Tail(NamedTuple):
    """Σ_{s > x} exp(−θ(s − x)) q(s), q(x), and the sum of magnitudes of the terms of either: how much cancelled."""

    above: float
    at: float
    above_terms: float
    at_terms: float


def transform_law(law: Factors, theta: float, points: int) -> NDArray[np.complex128]:
    """Return the transform of the tilted law of a sum on a ring, for frequencies up to half of the points."""
    (tilted, share), out = tilt(law, theta), np.ones(points // 2 + 1, np.complex128)
    few: list[int] = []
    for j, power in enumerate(law.powers.tolist()):
        own = slice(law.starts[j], law.starts[j + 1])
        if own.stop - own.start < _MANY_ATOMS:
            few.append(j)
        elif is_partial(law):
            solid, hollow = (
                rfft(np.bincount(law.atoms[part] % points, weights=tilted[part], minlength=points))
                for part in (~law.hollow, law.hollow)
            )
            raise_both(out, solid, hollow, share, power)
        else:
            ring = np.bincount(law.atoms[own] % points, weights=tilted[own], minlength=points)
            raise_powers(out, rfft(ring), power)
    # A power of a narrow law removes most frequencies at once: the sharpest laws first.
    few.sort(key=lambda j: -float(law.powers[j]))
    _multiply(out, points, law, tilted, share, np.array(few, np.int64))
    return out


def direct_tail(law: Factors, x: int, theta: float) -> tuple[float, float, float, float]:
    """Evaluate a tilted tail without a fast transform: for few atoms on a short ring."""
    low, high = window(law, theta, LOG_ALIAS)
    points = max(high, x) - min(low, x) + 1
    out = np.ones(points // 2 + 1, np.complex128)
    tilted, share = tilt(law, theta)
    _multiply(out, points, law, tilted, share, np.arange(len(law.powers)))
    return reduce_tail(out, points, x, high, theta)


def _multiply(
    out: NDArray[np.complex128], points: int, law: Factors, tilted: NDArray[np.float64], share: float, chosen: NDArray[np.int64]
) -> None:
    """Multiply the powers of the chosen laws' transforms into ``out``, their terms taken directly."""
    if not len(chosen):  # all were taken by a fast transform
        return
    if is_partial(law):
        _multiply_both(out, points, law, tilted, share)
    else:
        multiply_whole(out, points, law, tilted, chosen)


@kernel
def wrap(product: int, points: int, inverse: float) -> int:
    """Return product mod points for products below 2**52; a division of integers costs ten times as much."""
    rest = product - int(product * inverse) * points
    if rest < 0:
        return rest + points
    return rest - points if rest >= points else rest


@kernel
def raise_powers(out: NDArray[np.complex128], values: NDArray[np.complex128], power: int) -> None:
    """Multiply ``values**power`` into ``out``; what vanishes becomes exactly zero."""
    floor = math.exp(-_VANISHED / power)
    for k in range(len(out)):
        value = values[k]
        if out[k] != 0:
            square = value.real * value.real + value.imag * value.imag
            out[k] = out[k] * _power(value, power) if square > floor else 0.0


@kernel
def raise_both(
    out: NDArray[np.complex128], solid: NDArray[np.complex128], hollow: NDArray[np.complex128], share: float, power: int
) -> None:
    """Multiply the transform of a sum of draws that are not all hollow into ``out``."""
    for k in range(len(out)):
        if out[k] != 0:
            out[k] *= power_of_both(solid[k], hollow[k], share, power)


@kernel
def power_of_both(solid: complex, hollow: complex, share: float, power: int) -> complex:
    """Return ((share·solid + hollow)ⁿ − hollowⁿ) / (1 − (1 − share)ⁿ).

    The first difference of powers, over the share, is doubled from n = 1 on as Bₘ₊ₘ = Bₘ (2 hollowᵐ + share·Bₘ): nothing is
    taken from anything, as it is for positive numbers, and the error is relative to their result.
    """
    whole = hollow + share * solid
    if power > 1 and max(abs(whole), abs(hollow)) < math.exp(-_VANISHED / 2 / (power - 1)):
        return 0.0j
    both, rest = solid, hollow
    bit = 1
    while 2 * bit <= power:
        bit *= 2
    while bit > 1:
        bit //= 2
        both = both * (2 * rest + share * both)
        rest = rest * rest
        if power & bit:
            both = both * whole + rest * solid
            rest = rest * hollow
    return both * (expected_hits(power, share) / power)


@kernel
def _power(base: complex, power: int) -> complex:
    result = 1.0 + 0.0j
    while power > 0:
        if power & 1:
            result *= base
        base *= base
        power >>= 1
    return result


@kernel
def multiply_whole(
    out: NDArray[np.complex128], points: int, law: Factors, tilted: NDArray[np.float64], chosen: NDArray[np.int64]
) -> None:
    """Multiply the powers of the chosen laws' transforms into ``out``, their terms taken directly; none has hollow atoms."""
    bits, fine, coarse = _tabulate_roots(points)
    last = (1 << bits) - 1
    inverse = 1.0 / points
    nothing = math.exp(-_VANISHED)
    steps, floors = np.empty(len(law.atoms), np.int64), np.empty(len(law.powers))
    edges, spans = np.empty(len(law.powers)), np.empty(len(law.powers))
    for a in range(len(steps)):
        steps[a] = law.atoms[a] % points
    for j in range(len(floors)):
        floors[j] = math.exp(-_VANISHED / law.powers[j])
        edges[j] = (1 - _ROUNDING) * math.sqrt(floors[j])
        spans[j] = _span(law, j, tilted, points)
    k = 0
    while k < len(out):
        value, more = out[k], 0
        for c in range(len(chosen)):
            if value == 0:
                break
            j = chosen[c]
            real, imaginary = 0.0, 0.0
            for a in range(law.starts[j], law.starts[j + 1]):
                r = wrap(k * steps[a], points, inverse)
                root = coarse[r >> bits] * fine[r & last]
                real += tilted[a] * root.real
                imaginary += tilted[a] * root.imag
            square = real * real + imaginary * imaginary
            if square <= floors[j]:
                value = 0.0j
                more = int(min(max((edges[j] - math.sqrt(square)) * spans[j], 0.0), float(points)))
            else:
                value *= _power(complex(real, imaginary), law.powers[j])
                if value.real * value.real + value.imag * value.imag <= nothing:
                    value = 0.0j
        out[k] = value
        beyond = min(k + 1 + more, len(out))
        for vanished in range(k + 1, beyond):
            out[vanished] = 0.0j
        k = beyond


@kernel
def _span(law: Factors, j: int, tilted: NDArray[np.float64], points: int) -> float:
    """Return how many frequencies it takes at least until the magnitude of a law's transform has changed by 1.

    Turned by the mean m the transform is Σ p exp(iω(a − m)), of the same magnitude, and its slope is no more than Σ p |a − m| times
    that of the angle. Where it is far below its floor, so it is at the next frequencies, which need not be looked at.
    """
    whole, mean, deviation = 0.0, 0.0, 0.0
    for a in range(law.starts[j], law.starts[j + 1]):
        whole += tilted[a]
        mean += tilted[a] * law.atoms[a]
    for a in range(law.starts[j], law.starts[j + 1]):
        deviation += tilted[a] * abs(law.atoms[a] - mean / whole)
    return points / (2 * math.pi * deviation) if deviation > 0.0 else 0.0


@kernel
def _multiply_both(out: NDArray[np.complex128], points: int, law: Factors, tilted: NDArray[np.float64], share: float) -> None:
    """Multiply the transform of a sum of draws that are not all hollow into ``out``, its terms taken directly."""
    bits, fine, coarse = _tabulate_roots(points)
    last = (1 << bits) - 1
    inverse = 1.0 / points
    steps = law.atoms % points
    for k in range(len(out)):
        if out[k] == 0:
            continue
        real, imaginary, hollow = 0.0, 0.0, 0.0j
        for a in range(len(law.atoms)):
            r = wrap(k * steps[a], points, inverse)
            root = coarse[r >> bits] * fine[r & last]
            if law.hollow[a]:
                hollow += tilted[a] * root
            else:
                real += tilted[a] * root.real
                imaginary += tilted[a] * root.imag
        out[k] *= power_of_both(complex(real, imaginary), hollow, share, law.powers[0])


@kernel
def _tabulate_roots(points: int) -> tuple[int, NDArray[np.complex128], NDArray[np.complex128]]:
    """Tabulate roots of unity: each is a coarse one times a fine one, of two tables that stay in cache."""
    bits = 0
    while (1 << (2 * bits)) < points:
        bits += 1
    width = 1 << bits
    angle = 2 * math.pi / points
    fine, coarse = np.empty(width, np.complex128), np.empty(points // width + 1, np.complex128)
    for r in range(width):
        fine[r] = complex(math.cos(angle * r), -math.sin(angle * r))
    for r in range(len(coarse)):
        coarse[r] = complex(math.cos(angle * (r * width)), -math.sin(angle * (r * width)))
    return bits, fine, coarse


@kernel
def reduce_tail(
    transform: NDArray[np.complex128], points: int, x: int, high: int, theta: float
) -> tuple[float, float, float, float]:
    """Sum the tilted law above x against exp(−θ(s − x)): with ρ = exp(−θ + iω), Σ_{u=1}^M ρ^u = ρ(1 − ρ^M)/(1 − ρ)."""
    above, at, above_terms, at_terms = 0.0, 0.0, 0.0, 0.0
    terms = high - x
    decay, angle = math.exp(-theta), 2 * math.pi / points
    for k in range(len(transform)):
        value = transform[k]
        if value == 0:
            continue
        both = 1.0 if k == 0 or 2 * k == points else 2.0  # a frequency and its conjugate
        place = angle * ((k * (x % points)) % points)
        value *= both / points * complex(math.cos(place), math.sin(place))
        at += value.real
        at_terms += abs(value)
        if terms <= 0:
            continue
        if k == 0 and theta == 0:
            series = complex(terms, 0.0)
        else:
            half = math.sin(angle * k / 2)
            cosine, sine = math.cos(angle * k), math.sin(angle * k)
            # 1 − ρ without cancellation near ρ = 1
            rest = complex(-math.expm1(-theta) * cosine + 2 * half * half, -decay * sine)
            turn = angle * ((k * (terms % points)) % points)
            last = math.exp(-theta * terms) * complex(math.cos(turn), math.sin(turn))
            if k == 0:
                last = complex(1 + math.expm1(-theta * terms), 0.0)
                series = decay * complex(-math.expm1(-theta * terms), 0.0) / rest
            else:
                series = decay * complex(cosine, sine) * (1 - last) / rest
        above += (value * series).real
        above_terms += abs(value * series)
    return above, at, above_terms, at_terms
