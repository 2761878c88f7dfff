"""Bootstrap p-values of one pair without Monte-Carlo error: its law, by convolution.

D = Σd and C = Σc, with d_i the difference of the numerators of two systems and c_i a denominator *common to both*: accuracy,
attachment, recall over gold, WER over references. Not for precision, F1, AER or BLEU. A bootstrap total C* is random but
positive, so {δ* > t} is {Σ w_i (d_i − t c_i) > 0}: one sum of independent integers per threshold. Convolving d alone is wrong
where denominators differ. See `tilt` for tails, and `pairs` for many pairs at once.

`_occur_when` finds the chances of such an event in the first of four ways that fits: one lattice of Z = u·d − v·c; with few units,
all sums of half of the draws (`halves`); a plane of both sums (`plane`), which may be narrower; an enclosure from finitely many
frequencies (`enclosure`). Probability known to lie on the threshold itself is taken out before an enclosure (`_log_known_mass`):
with few discordant units it would be lost in an interval.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from pipeline.dataclass import dataclass
from pipeline.numerics.fourier import irfft, next_fast_len, rfft
from pipeline.resampling.exact.budget import QUICK, Budget
from pipeline.resampling.exact.chances import BootstrapChances, Chance, Event, Law
from pipeline.resampling.exact.enclosure import enclose
from pipeline.resampling.exact.factors import INT64_LIMIT, Factors, check_sums, common_step, highest, make_factor, one_dimensional
from pipeline.resampling.exact.halves import count_halves, split_halves
from pipeline.resampling.exact.lattice import MAX_POINTS, TooWideError, count_points, split
from pipeline.resampling.exact.plane import Plane, split_plane
from pipeline.resampling.exact.ring import raise_powers
from pipeline.resampling.exact.tilt import LOG_ALIAS, window
from pipeline.resampling.products.contract import largest_magnitude

__all__ = ["Slope", "bootstrap_chances", "bootstrap_law", "compress"]

_LOSS = 2.0**-48  # more than the rounding of a term and its share of a sum, relative and absolute


def _log_known_mass(d: NDArray[np.int64], c: NDArray[np.int64], u: int, v: int) -> float:
    """Return a lower bound of log P(ΣZ = 0), Z = ud − vc, given that Σc is not 0; −inf where nothing is known.

    All draws have Z = 0; or, where c is a constant and the threshold twice the gain, each discordant unit is drawn twice.
    """
    return max(_log_all_idle(u * d == v * c, c == 0), _log_all_twice(d, c, u, v))


def _log_all_idle(idle: NDArray[np.bool_], hollow: NDArray[np.bool_]) -> float:
    n, quiet, empty = len(idle), int(idle.sum()), int(hollow.sum())
    quiet_empty = int((idle & hollow).sum())
    if quiet == quiet_empty:
        return -math.inf
    terms = [n * _log_ratio(quiet, n)]
    if empty:
        terms.append(_log_no_empty(n * _log_ratio(quiet_empty, quiet)))
        terms.append(-_log_no_empty(n * _log_ratio(empty, n)))
    return sum(terms) - _LOSS * sum(abs(term) + 1 for term in terms)


def _log_all_twice(d: NDArray[np.int64], c: NDArray[np.int64], u: int, v: int) -> float:
    n, m = len(d), int(np.count_nonzero(d))
    is_twice = v > 0 and v * int(c.sum()) == 2 * u * int(d.sum())
    if not (is_twice and 0 < 2 * m <= n and c.min() == c.max()):
        return -math.inf
    ways = np.log((n - np.arange(2 * m)) / n)  # n!/(n − 2m)!/n^2m
    rest = (n - 2 * m) * _log_ratio(n - m, n) if n > 2 * m else 0.0
    value = float(ways.sum()) - m * math.log(2) + rest
    return value - _LOSS * (2 * m + float(np.abs(ways).sum()) + m + abs(rest) + 1)


def _log_ratio(part: int, whole: int) -> float:
    """Return log(part/whole) with a small relative error."""
    if part == 0:
        return -math.inf
    return math.log1p((part - whole) / whole) if 2 * part > whole else math.log(part / whole)


def _log_no_empty(log_p: float) -> float:
    return math.log(-math.expm1(log_p))


_LINE_POINTS = 2**18
"""A line wider than this costs more than a plane."""

_IMPOSSIBLE = Chance(-math.inf, -math.inf)


@dataclass(frozen=True)
class Slope:
    """Z = u·d − v·c with u > 0."""

    u: int
    v: int


def compress(
    values: NDArray[np.int64], counts: NDArray[np.int64], *, draws: int, hollow: NDArray[np.bool_] | None = None
) -> tuple[Factors, int, int]:
    """Return the law of a sum of draws on its own lattice, the step of that lattice, and the smallest sum."""
    lowest = int(values.min())
    step = common_step(values - lowest)
    return make_factor((values - lowest) // step, counts, draws=draws, hollow=hollow), step, draws * lowest


def _occur_when(d: NDArray[np.int64], c: NDArray[np.int64], slope: Slope, *, budget: Budget) -> Event:
    """Compute the chances of Σ Z over a resample with Z = ud − vc, given that Σ c over it is not 0."""
    # One number for Z and whether c = 0: units without a denominator count only where others are drawn too.
    both, counts = np.unique(2 * (slope.u * d - slope.v * c) + (c == 0), return_counts=True)
    law, step, lowest = compress(both >> 1, counts, draws=len(d), hollow=(both & 1).astype(np.bool_))
    x, rest = divmod(-lowest, step)
    return _find(law, x, rest == 0, d, c, slope, budget)


def _find(law: Factors, x: int, is_on: bool, d: NDArray[np.int64], c: NDArray[np.int64], slope: Slope, budget: Budget) -> Event:
    """Take the first way that fits; ``is_on`` says that the threshold is a point of the lattice, not beyond x and before x + 1."""
    points, longest = count_points(law, x), budget.points
    if points > min(_LINE_POINTS, budget.points) and 0 < count_halves(law) <= budget.halves:
        return _place(split_halves(law, x), is_on)
    if points > min(_LINE_POINTS, budget.points) and slope.v:
        if c.min() == c.max():  # here the plane is the same line again, at the cost of a transform for every frequency
            longest = max(longest, 8 * budget.work // max(len(law.atoms), 8))
        else:
            try:
                return _place(_across(d, c, slope, x, budget), is_on)
            except TooWideError:
                pass
    if points <= longest:
        return _place(split(law, x, max_points=longest), is_on)
    log_known = _log_known_mass(d, c, slope.u, slope.v) if is_on else -math.inf
    strict, is_below = enclose(law, x, frequencies=budget.frequencies, width=budget.width, log_known=log_known)
    weak = strict.plus(Chance(log_known, log_known))
    at = Chance(log_known, weak.log_gap(strict)) if is_on else _IMPOSSIBLE
    if is_below:
        return Event(strict, at, weak.complement(), weak, strict.complement())
    return Event(weak.complement(), at, strict, strict.complement(), weak)


def _place(found: Event, is_on: bool) -> Event:
    return found if is_on else Event(found.up_to, _IMPOSSIBLE, found.above, found.up_to, found.above)


def _across(d: NDArray[np.int64], c: NDArray[np.int64], slope: Slope, x: int, budget: Budget) -> Event:
    both, counts = np.unique(np.stack([d, c], axis=1), axis=0, return_counts=True)
    z, hollow = slope.u * both[:, 0] - slope.v * both[:, 1], both[:, 1] == 0
    order = np.argsort(z, kind="stable")
    law, step, _ = compress(z[order], counts[order], draws=len(d), hollow=hollow[order])
    gain, denominator = both[order].T
    plane = Plane(gain - gain.min(), denominator - denominator.min(), slope.u, slope.v, step)
    return split_plane(law, x, plane, max_work=budget.work)


def bootstrap_chances(
    differences: NDArray[np.int64],
    denominators: NDArray[np.int64] | None = None,
    *,
    budget: Budget = QUICK,
) -> BootstrapChances:
    """Compute the exact bootstrap probabilities of one pair.

    With n units drawn n times, δ* = Σw d / Σw c and δ = D/C: P(δ* > 2δ) is P(Σw Z > 0) with Z_i = C d_i − 2D c_i, and P(δ* < 0)
    is P(Σw d < 0). The law of the sum is the n-th power of a transform, of the law tilted to the threshold, so that p-values
    down to 1e-300 and beyond have a relative error of 1e-9 or less (up to about 10^5 units). Probabilities are conditional on
    C* > 0. The one-sided p-value is that of Berg-Kirkpatrick, Burkett & Klein (2012), https://aclanthology.org/D12-1091;
    tilting: Daniels (1954), doi:10.1214/aoms/1177728652.

    Parameters
    ----------
    differences : (unit,) int64
        d: numerators of the first system minus those of the second, with the sign for which more is better.
    denominators : (unit,) int64, optional
        c ≥ 0, common to both systems; all 1 if not given.
    budget : Budget, default QUICK
        Beyond it a probability is enclosed between two bounds (`enclosure`).

    Returns
    -------
    BootstrapChances

    Raises
    ------
    ValueError
        If denominators are negative or sum to 0, or if an integer could exceed int64.

    Examples
    --------
    >>> found = bootstrap_chances(np.repeat([1, -1, 0], [8, 4, 88]))
    >>> round(found.one_sided.p, 4), round(found.two_sided.p, 4)
    (0.0955, 0.3054)
    """
    d = one_dimensional(differences)
    c = np.ones_like(d) if denominators is None else one_dimensional(denominators)
    if c.shape != d.shape:
        raise ValueError(f"{len(d)} differences have {len(c)} denominators")
    check_sums(d)
    check_sums(c)
    if int(c.min()) < 0 or int(c.sum()) == 0:
        raise ValueError(f"denominators are not negative and not all 0: their minimum is {c.min()}, their sum {c.sum()}")
    is_swapped = int(d.sum()) < 0
    d = -d if is_swapped else d
    gain, total = int(d.sum()), int(c.sum())
    d, c = d // common_step(d), c // common_step(c)
    sloped = Slope(int(c.sum()), 2 * int(d.sum()))
    _check_line(d, c, sloped)
    zero = _occur_when(d, c, Slope(1, 0), budget=budget)
    twice = _occur_when(d, c, sloped, budget=budget) if gain else zero
    log_empty = _log_chance_of_empty(c)
    return BootstrapChances(
        gain,
        total,
        is_swapped,
        above_twice=twice.above,
        at_twice=twice.at,
        from_twice=twice.from_here,
        below_zero=zero.below,
        at_zero=zero.at,
        up_to_zero=zero.up_to,
        empty=Chance(log_empty, log_empty),
        is_identical=not d.any(),
    )


def bootstrap_law(differences: NDArray[np.int64]) -> Law:
    """Compute the whole law of Σd*, which is that of n·c·δ* if the denominator is a constant c.

    Parameters
    ----------
    differences : (unit,) int64

    Returns
    -------
    Law

    Examples
    --------
    >>> law = bootstrap_law(np.array([1, 0]))
    >>> law.values, law.probability.round(3)
    (array([0, 1, 2]), array([0.25, 0.5 , 0.25]))
    """
    d = one_dimensional(differences)
    check_sums(d)
    law, step, lowest = compress(*np.unique(d, return_counts=True), draws=len(d))
    if highest(law) == 0:
        return Law(np.array([lowest]), np.ones(1))
    low, high = window(law, 0.0, LOG_ALIAS)
    points = next_fast_len(high - low + 1, real=True)
    if points > MAX_POINTS:
        raise ValueError(f"a law of {points} points is asked for, and {MAX_POINTS} are allowed")
    transform = rfft(np.bincount(law.atoms % points, weights=law.chances, minlength=points))
    sums = np.arange(low, high + 1)
    powers = np.ones_like(transform)
    raise_powers(powers, transform, len(d))
    probability = irfft(powers, points)[sums % points]
    return Law(lowest + step * sums, np.maximum(probability, 0.0))


def _log_chance_of_empty(c: NDArray[np.int64]) -> float:
    """Return log P(C* = 0) = n log(share of units with c = 0)."""
    hollow = int((c == 0).sum())
    return len(c) * math.log(hollow / len(c)) if hollow else -math.inf


def _check_line(d: NDArray[np.int64], c: NDArray[np.int64], slope: Slope) -> None:
    largest, widest = largest_magnitude(d), largest_magnitude(c)
    bound = 4 * len(d) * (slope.u * largest + slope.v * widest)
    if bound >= INT64_LIMIT:
        raise ValueError(
            f"sums up to {bound} of {slope.u}·d − {slope.v}·c (|d| ≤ {largest}, c ≤ {widest}) do not fit: "
            f"int64 ends at {INT64_LIMIT}"
        )
