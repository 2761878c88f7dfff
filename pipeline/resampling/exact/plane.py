"""Tails of u·ΣD − v·ΣC by Fourier transforms over both sums, for laws whose single lattice is too wide.

The integers Z = u·d − v·c of unequal denominators reach millions, while d and c themselves stay small: a transform over
(Σd, Σc) is exact on a ring that is shorter by orders of magnitude. Most of it vanishes. With g_c(α) the part of the transform
over d that comes from denominator c, |φ(α, β)| ≤ Σ_c |g_c(α)| for every β, so that whole rows are left out by a bound, and a
few dozen transforms over c remain.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from pipeline.compiled import kernel
from pipeline.dataclass import dataclass
from pipeline.numerics.fourier import fft, ifft, next_fast_len
from pipeline.resampling.exact.chances import Event
from pipeline.resampling.exact.factors import Factors, expected_hits, make_factor
from pipeline.resampling.exact.lattice import TooWideError, split_at
from pipeline.resampling.exact.ring import Tail, raise_both, raise_powers, wrap
from pipeline.resampling.exact.tilt import LOG_ALIAS, tilt, window

__all__ = ["Plane", "split_plane"]

_VANISHED = 80.0  # |φ|^n below exp(−80) is nothing
_LEAST_SHARE = 1e-200  # of atoms that are not hollow: below, their chances leave the floats
_AT_ONCE = 2**15  # points of rows that are transformed together: half a megabyte
_LEAST_CHANCE = 1e-300  # of an atom: a law without a chance at its end has no cumulants on that side


@dataclass(frozen=True, eq=False)
class Plane:
    """One draw as a point (d, c), and the line on which u·d − v·c is constant.

    Parameters
    ----------
    gain, denominator : (atom,) int64
        From 0 on both axes.
    u, v : int
        The atoms of the law are ``(u·gain − v·denominator + shift) / step``, where u > 0.
    step : int
    """

    gain: NDArray[np.int64]
    denominator: NDArray[np.int64]
    u: int
    v: int
    step: int

    def reflected(self) -> Plane:
        """Return the plane with both axes reversed."""
        return Plane(self.gain.max() - self.gain, self.denominator.max() - self.denominator, self.u, self.v, self.step)


def split_plane(law: Factors, x: int, plane: Plane, *, max_work: int) -> Event:
    """Split the law of a sum at x, given as a sum over a plane.

    Parameters
    ----------
    law : Factors
        One factor.
    x : int
    plane : Plane
        The same atoms in the same order.
    max_work : int
        Rows times points of a row.

    Returns
    -------
    Event

    Raises
    ------
    TooWideError
        Where this would take more than ``max_work``.
    """

    def evaluate(law: Factors, x: int, theta: float, is_reflected: bool) -> Tail:
        turned = plane.reflected() if is_reflected else plane
        chances, share = tilt(law, theta)
        order = slice(None, None, -1 if is_reflected else 1)  # a reflected law lists its atoms backwards
        return _tail(turned, chances[order], share, law.hollow[order], law.atoms[order], int(law.powers[0]), x, theta, max_work)

    return split_at(law, x, evaluate)


def _tail(
    plane: Plane,
    tilted: NDArray[np.float64],
    share: float,
    hollow: NDArray[np.bool_],
    atoms: NDArray[np.int64],
    draws: int,
    x: int,
    theta: float,
    max_work: int,
) -> Tail:
    if share < _LEAST_SHARE:
        raise TooWideError(f"a share of {share} of what is not hollow is below {_LEAST_SHARE}")
    chances = np.where(hollow, tilted, share * tilted)
    low_d, high_d = _marginal_window(plane.gain, chances, hollow, draws)
    low_c, high_c = _marginal_window(plane.denominator, chances, hollow, draws)
    points, width = high_d - low_d + 1, next_fast_len(high_c - low_c + 1)
    if max(points * len(chances), points * width // 16) > 8 * max_work or max(points, width) > max_work:
        raise TooWideError(f"a plane of {points} × {width} points is too wide for {max_work} of them")
    values, which = np.unique(plane.denominator, return_inverse=True)
    # Of draws that are not all hollow: |fⁿ − gⁿ| ≤ n·share·max(|f|, |g|)^(n − 1), and Σ_c |g_c| bounds both.
    vanished, factors = (_VANISHED + 2 * math.log(expected_hits(draws, share)), draws - 1) if hollow.any() else (_VANISHED, draws)
    floor = math.exp(-vanished / factors) if factors else 0.0
    most = max_work // width
    rows = _heavy_rows(points, plane.gain, chances, which, len(values), floor, most)
    if len(rows) > most:
        raise TooWideError(f"there are more than {most} rows of {width} points, of which {max_work} are allowed")
    shift = plane.step * int(atoms[0]) - (plane.u * int(plane.gain[0]) - plane.v * int(plane.denominator[0]))
    crossing = plane.step * x - draws * shift  # u·D − v·C there
    sums = np.arange(low_c, high_c + 1)
    level = crossing + plane.v * sums
    first = np.clip(level // plane.u + 1, low_d, high_d + 1)  # smallest D above, per C
    with np.errstate(under="ignore"):
        fall = np.exp(-theta / plane.step * np.maximum(plane.u * first - level, 0))
    meets = np.where(level % plane.u == 0, level // plane.u, low_d - 1)
    meets[(meets < low_d) | (meets > high_d)] = -1
    total = np.zeros(4)
    roots = np.exp(-2j * np.pi / points * np.arange(points))
    places, place = sums % width, plane.denominator % width
    rate = theta * plane.u / plane.step
    for some in np.split(rows, range(_AT_ONCE // width + 1, len(rows), _AT_ONCE // width + 1)):
        solid = _place_rows(some, width, points, roots, plane.gain, place, np.where(hollow, 0.0, tilted))
        powers = np.ones(solid.size, np.complex128)
        if hollow.any():
            rest = _place_rows(some, width, points, roots, plane.gain, place, np.where(hollow, tilted, 0.0))
            raise_both(powers, fft(solid).reshape(-1), fft(rest).reshape(-1), share, draws)
        else:
            raise_powers(powers, fft(solid).reshape(-1), draws)
        laws_of_c = ifft(powers.reshape(solid.shape))
        _add_rows(total, laws_of_c, some, points, roots, places, first, high_d, fall, meets, rate)
    return Tail(*total.tolist())


def _marginal_window(
    values: NDArray[np.int64], chances: NDArray[np.float64], hollow: NDArray[np.bool_], draws: int
) -> tuple[int, int]:
    distinct, which = np.unique(2 * values + hollow, return_inverse=True)
    counts = np.maximum(np.bincount(which, weights=chances), _LEAST_CHANCE)
    return window(make_factor(distinct >> 1, counts, draws=draws, hollow=(distinct & 1).astype(np.bool_)), 0.0, LOG_ALIAS)


@kernel
def _heavy_rows(
    points: int,
    gain: NDArray[np.int64],
    chances: NDArray[np.float64],
    which: NDArray[np.int64],
    n_values: int,
    floor: float,
    most: int,
) -> NDArray[np.int64]:
    """List the frequencies α = 2πk/points of which Σ_c |g_c(α)|, squared, is above the floor; no more than one beyond the most."""
    found, parts = [], np.empty(n_values, np.complex128)
    roots = np.empty(points, np.complex128)
    for r in range(points):
        angle = 2 * math.pi * r / points
        roots[r] = complex(math.cos(angle), -math.sin(angle))
    steps, inverse = gain % points, 1.0 / points
    for k in range(points // 2 + 1):
        parts[:] = 0
        for a in range(len(chances)):
            parts[which[a]] += chances[a] * roots[wrap(k * steps[a], points, inverse)]
        bound = 0.0
        for part in parts:
            bound += abs(part)
        if bound * bound > floor:
            found.append(k)
        if len(found) > most:  # with few units nearly all are heavy, and checking each takes longer than an enclosure
            break
    return np.array(found, np.int64)


@kernel
def _place_rows(
    rows: NDArray[np.int64],
    width: int,
    points: int,
    roots: NDArray[np.complex128],
    gain: NDArray[np.int64],
    place: NDArray[np.int64],
    chances: NDArray[np.float64],
) -> NDArray[np.complex128]:
    """Place the atoms, weighted by each frequency of d, on a ring over c: (row, point)."""
    rings = np.zeros((len(rows), width), np.complex128)
    for r in range(len(rows)):
        for a in range(len(chances)):
            rings[r, place[a]] += chances[a] * roots[(rows[r] * (gain[a] % points)) % points]
    return rings


@kernel
def _add_rows(
    total: NDArray[np.float64],
    laws_of_c: NDArray[np.complex128],
    rows: NDArray[np.int64],
    points: int,
    roots: NDArray[np.complex128],
    places: NDArray[np.int64],
    first: NDArray[np.int64],
    high: int,
    fall: NDArray[np.float64],
    meets: NDArray[np.int64],
    rate: float,
) -> None:
    """Sum frequencies of d over all sums of c: a geometric series along d from the first point above the line."""
    inverse = 1.0 / points
    begins, meet, fading = np.empty(len(first), np.int64), np.empty(len(first), np.int64), np.empty(len(first))
    for j in range(len(first)):  # what is the same in all rows
        begins[j], meet[j] = first[j] % points, meets[j] % points
        fading[j] = math.exp(-rate * (high + 1 - first[j]))
    for r in range(len(rows)):
        k = rows[r]
        above, at, above_terms, largest = 0.0, 0.0, 0.0, 0.0
        both = (1.0 if k == 0 or 2 * k == points else 2.0) / points
        half = math.sin(math.pi * k / points)
        ratio = math.exp(-rate) * roots[k].conjugate()
        rest = complex(-math.expm1(-rate) * roots[k].real + 2 * half * half, -ratio.imag)
        end = roots[wrap(k * ((high + 1) % points), points, inverse)].conjugate()
        for j in range(len(first)):
            value = laws_of_c[r, places[j]] * both
            largest = max(largest, value.real * value.real + value.imag * value.imag)
            if meets[j] >= 0:
                at += (value * roots[wrap(k * meet[j], points, inverse)].conjugate()).real
            terms = high + 1 - first[j]
            if terms > 0 and fall[j] > 0:
                if k == 0:
                    series = complex(-math.expm1(-rate * terms) / -math.expm1(-rate) if rate > 0 else terms, 0.0)
                else:
                    begin = roots[wrap(k * begins[j], points, inverse)].conjugate()
                    series = (begin - fading[j] * end) / rest
                term = value * series * fall[j]
                above += term.real
                above_terms += abs(term)
        total[0] += above
        total[1] += at
        total[2] += above_terms
        total[3] += math.sqrt(largest)  # rounding in a row is that of its largest term
