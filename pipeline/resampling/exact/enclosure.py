"""Enclosures of a tail whose lattice is too wide to transform: P(S > x) is bounded from finitely many frequencies.

No value is rounded. The characteristic function of S is evaluated at ω_k = 2πk/W, |k| ≤ N, and a trigonometric polynomial of
degree N lies within a Fejér kernel of the step function that a tail is the mean of:

1. With the tilted law q of `tilt`, P(S > x) = exp(K(θ) − θx) E_q g(S − x) with g(u) = exp(−θu) for u > 0 and 0 for u ≤ 0.
2. Let g live on a ring of length W that holds the window of q, cut off at M, beyond its end. Both functions lie in [0, 1] and
   agree in the window, so their means differ by at most the mass outside, which Chernoff bounds (`tilt.window`).
3. Vaaler (1985, theorem 18): with ψ(t) = t − ⌊t⌋ − ½ and J(t) = πt(1 − |t|) cot πt + |t|,
   ψ*(t) = −Σ_{1≤|k|≤N} J(k/(N+1)) e(kt)/(2πik) obeys |ψ* − ψ| ≤ F/(2N + 2), F(t) = Σ_{|k|≤N} (1 − |k|/(N+1)) e(kt) ≥ 0.
4. A function of bounded variation on the ring is its mean less ψ convolved with dg. Hence g* with coefficients J(k/(N+1)) ĝ(k)
   obeys |g* − g| ≤ (F ∗ |dg|)/(2N + 2), whatever value g takes at its jumps. Means under q of both sides are finite sums over
   φ_q(ω_k): a centre and a radius. At x the interval holds P(S > x) and P(S ≥ x) alike.

The radius is about W/(N + 1) times the density of S at x: that of rounding *S once*, where rounding n values costs up to n times
as much. Mass that is known to lie on x is taken out first.

The frequencies need no lattice: a value enters by its own phase, 2π·(k·value mod points)/points, in integers. Where |φ_q| is
below exp(−40), as at nearly all of them, that is known after a few dozen atoms, since the others add at most what chance they
have. Such a frequency is left early, and what it could contribute is added to the radius, as is rounding.

Vaaler: doi:10.1090/S0273-0979-1985-15349-2. Such bounds for distribution functions go back to Prawitz (1972), Limits for a
distribution, if the characteristic function is given in a finite domain, Skandinavisk Aktuarietidskrift.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from pipeline.compiled import kernel
from pipeline.resampling.exact.chances import Chance
from pipeline.resampling.exact.factors import Factors, expected_hits, highest, is_partial, reflect
from pipeline.resampling.exact.phases import (
    HALF,
    LANES,
    LOG_VANISHED,
    has_surely_vanished,
    keep_turning,
    start_turning,
    tabulate_roots,
    turn,
)
from pipeline.resampling.exact.ring import power_of_both
from pipeline.resampling.exact.tilt import aim, cumulants, log_scale, tilt, window

__all__ = ["enclose", "evaluate", "rounding_of", "sharpest_first"]


def sharpest_first(law: Factors, theta: float) -> tuple[Factors, float]:
    """Return what `tilt` gives with the likeliest atoms and the highest powers first: so a product vanishes soonest."""
    chances, share = tilt(law, theta)
    factor = np.repeat(np.arange(len(law.powers)), np.diff(law.starts))
    rank = np.argsort(np.argsort(-law.powers, kind="stable"), kind="stable")
    order = np.lexsort((-np.where(law.hollow, 1.0, share) * chances, rank[factor]))
    powers = np.sort(law.powers)[::-1].copy()
    sizes = np.diff(law.starts)[np.argsort(rank)]
    starts = np.concatenate([[0], np.cumsum(sizes)])
    return Factors(law.atoms[order], chances[order], law.hollow[order], starts, powers), share


@kernel
def evaluate(
    law: Factors,
    steps: NDArray[np.int64],
    roots: NDArray[np.float64],
    first: int,
    points: int,
    real: NDArray[np.float64],
    imaginary: NDArray[np.float64],
) -> bool:
    """Fill the characteristic function of consecutive frequencies; tell whether one of them is not below the floor."""
    real[:] = 1
    imaginary[:] = 0
    part, other = np.empty(LANES), np.empty(LANES)
    for j in range(len(law.powers)):
        power = law.powers[j]
        floor = math.exp(LOG_VANISHED / power) if power >= HALF else 0.0  # a floor near rounding decides nothing
        rest = 1.0
        part[:] = 0
        other[:] = 0
        for a in range(law.starts[j], law.starts[j + 1]):
            _add_atom(part, other, law.chances[a], turn(first, steps[a], points), roots, a)
            rest -= law.chances[a]
            if (a & 7) == 7 and rest < floor and _largest(part, other) < floor - rest:
                return False
        if power > 1:
            for lane in range(LANES):
                part[lane], other[lane] = _power(part[lane], other[lane], power)
        for lane in range(LANES):
            x = real[lane] * part[lane] - imaginary[lane] * other[lane]
            imaginary[lane] = real[lane] * other[lane] + imaginary[lane] * part[lane]
            real[lane] = x
        if ((j & 7) == 7 or j == len(law.powers) - 1) and _largest(real, imaginary) < math.exp(LOG_VANISHED):
            return False
    return True


@kernel
def _evaluate_both(
    law: Factors,
    share: float,
    steps: NDArray[np.int64],
    roots: NDArray[np.float64],
    first: int,
    points: int,
    real: NDArray[np.float64],
    imaginary: NDArray[np.float64],
) -> bool:
    """Do the same for a law with hollow atoms: |fⁿ − gⁿ| ≤ n·share·max(|f|, |g|)^(n − 1)."""
    power = law.powers[0]
    part, other = np.zeros((2, LANES)), np.zeros((2, LANES))
    floor = math.exp((LOG_VANISHED - math.log(expected_hits(power, share))) / (power - 1)) if power > HALF else 0.0
    rest = 1.0
    for a in range(len(law.atoms)):
        row = 1 if law.hollow[a] else 0
        _add_atom(part[row], other[row], law.chances[a], turn(first, steps[a], points), roots, a)
        rest -= law.chances[a] if law.hollow[a] else share * law.chances[a]
        if (a & 7) == 7 and rest < floor:
            whole = _largest(share * part[0] + part[1], share * other[0] + other[1])
            if max(whole, _largest(part[1], other[1])) < floor - rest:
                return False
    for lane in range(LANES):
        value = power_of_both(complex(part[0, lane], other[0, lane]), complex(part[1, lane], other[1, lane]), share, power)
        real[lane], imaginary[lane] = value.real, value.imag
    return _largest(real, imaginary) >= math.exp(LOG_VANISHED)


@kernel
def _add_atom(
    part: NDArray[np.float64], other: NDArray[np.float64], chance: float, angle: float, roots: NDArray[np.float64], a: int
) -> None:
    c, s = chance * math.cos(angle), chance * math.sin(angle)
    for i in range(HALF):
        up, down = roots[a, 2, i], roots[a, 3, i]
        x, y = c * up - s * down, c * down + s * up
        for lane in range(HALF):
            part[HALF * i + lane] += x * roots[a, 0, lane] - y * roots[a, 1, lane]
            other[HALF * i + lane] += x * roots[a, 1, lane] + y * roots[a, 0, lane]


@kernel
def _largest(real: NDArray[np.float64], imaginary: NDArray[np.float64]) -> float:
    largest = 0.0
    for lane in range(len(real)):
        largest = max(largest, real[lane] * real[lane] + imaginary[lane] * imaginary[lane])
    return math.sqrt(largest)


@kernel
def _power(x: float, y: float, power: int) -> tuple[float, float]:
    result, base = complex(1.0, 0.0), complex(x, y)
    while power > 0:
        if power & 1:
            result *= base
        base *= base
        power >>= 1
    return result.real, result.imag


_LOG_ALIAS = math.log(1e-14)
_ROUNDING = 2.0**-53
_PHASES = 64  # roundings in one term of a characteristic function: three phases, each up to π, and their products
_FEWEST = 2**10
_EDGES = 3.0  # the interval has about so many times points/frequencies times the steepness of a tail


def enclose(law: Factors, x: int, *, frequencies: int, width: float, log_known: float = -math.inf) -> tuple[Chance, bool]:
    """Enclose the tail beyond x, on the side of x on which the mean is not.

    Parameters
    ----------
    law : Factors
    x : int
        Between the ends of the support, exclusively.
    frequencies : int
        The most that are taken.
    width : float
        Of the interval, relative to the tail, that is narrow enough.
    log_known : float
        Logarithm of a mass that is known to lie on x, at most P(S = x); it is left out.

    Returns
    -------
    Chance
        Both P(S > x) and P(S ≥ x) less the known mass lie between its bounds, or both P(S < x) and P(S ≤ x) less that mass.
    bool
        Whether it is that of P(S < x).
    """
    is_below = x < cumulants(law, 0.0)[1]
    if is_below:
        law, x = reflect(law), highest(law) - x
    theta = aim(law, float(x))
    low, high = window(law, theta, _LOG_ALIAS)
    low, high = min(low, x), max(high, x + 1)
    gap = (high - low) // 32 + 1  # where g falls to 0 there must be no mass
    points, end = high - low + 2 * gap, high - x + gap
    variance = cumulants(law, theta)[2]
    steepness = points * max(theta, 1 / math.sqrt(variance) if variance > 0 else 1.0)
    wanted = int(min(frequencies, max(_FEWEST, _EDGES * steepness / width)))
    scale = log_scale(law, theta, x)
    known = math.exp(min(log_known - scale, 0.0))
    rounding = rounding_of(law)
    centre, radius = _integrate(*sharpest_first(law, theta), wanted, points, x, end, theta, known, rounding)
    margin = rounding + _PHASES * _ROUNDING * abs(scale)
    radius += 2 * math.exp(_LOG_ALIAS) + margin * known
    lower = scale + math.log(centre - radius) - margin if centre > radius else -math.inf
    return Chance(min(lower, 0.0), min(scale + math.log(centre + radius) + margin, 0.0)), is_below


def rounding_of(law: Factors) -> float:
    """Bound the absolute error of a characteristic function: the atoms of a factor are added one after the other."""
    return float(law.powers.sum()) * _ROUNDING * (_PHASES + int(np.diff(law.starts).max()))


@kernel
def _integrate(
    law: Factors, share: float, frequencies: int, points: int, x: int, end: int, theta: float, known: float, rounding: float
) -> tuple[float, float]:
    """Return the mean of g* under the tilted law less the known mass at x, and the bound of its error."""
    vanished = math.exp(LOG_VANISHED)
    steps, x, both_parts = law.atoms % points, x % points, is_partial(law)
    roots = tabulate_roots(steps, points)
    real, imaginary = np.empty(LANES), np.empty(LANES)
    centre, radius, slack, weight = 0.0, 0.0, 0.0, 0.0
    in_turn = not both_parts and len(law.powers) == 1 and law.powers[0] >= HALF
    turns, lanes = start_turning(steps if in_turn else steps[:0], roots, points)
    for first in range(0, frequencies + 1, LANES):
        vanished_here = in_turn and has_surely_vanished(law, turns, lanes, real, imaginary)
        keep_turning(turns)
        if vanished_here:
            is_live = False
        elif both_parts:
            is_live = _evaluate_both(law, share, steps, roots, first, points, real, imaginary)
        else:
            is_live = evaluate(law, steps, roots, first, points, real, imaginary)
        if not is_live:
            omega = 2 * math.pi * first / points
            slack += 2 * LANES * vanished * (2 / (points * omega) + 1.5 / (frequencies + 1))
            if known == 0:
                continue
            real[:] = 0
            imaginary[:] = 0
        for lane in range(min(LANES, frequencies + 1 - first)):
            k = first + lane
            angle = turn(k, x, points)
            value = complex(real[lane], imaginary[lane]) * complex(math.cos(angle), -math.sin(angle)) - known
            inside, variation = _coefficients(k, points, end, theta)
            place = k / (frequencies + 1)
            damping = math.pi * place * (1 - place) / math.tan(math.pi * place) + place if k else 1.0
            both = 2.0 if k else 1.0
            centre += both * damping * (inside * value).real
            radius += both * (1 - place) * (variation * value).real
            weight += both * (abs(inside) + abs(variation) / (2 * frequencies + 2))
    return centre, max(radius, 0.0) / (2 * frequencies + 2) + slack + rounding * weight


@kernel
def _coefficients(k: int, points: int, end: int, theta: float) -> tuple[complex, complex]:
    """Return the Fourier coefficients of g, and of its variation: a jump up, the fall, and a jump down where it is cut off."""
    omega = 2 * math.pi * k / points
    angle = turn(k, end, points)
    last = math.exp(-theta * end) * complex(math.cos(angle), -math.sin(angle))
    if k == 0:
        fallen = -math.expm1(-theta * end)
        return complex((fallen / theta if theta > 0 else end) / points, 0.0), complex(2.0, 0.0)
    whole = (1 - last) / complex(theta, omega)
    return whole / points, 1 + theta * whole + last
