"""Intervals of the gain, and the p that each belongs to, from the cube, else off the histogram.

The symmetric one can be read off the histogram of all replicates, for cubes without others, or with others at another level.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from pipeline.report.cube_facts import read_variable
from pipeline.report.pair_parts import Interval, MethodInterval, MethodIntervalWithP
from pipeline.report.values import plain

__all__ = ["BELONGS_TO", "BOOTSTRAP_T", "HISTOGRAM_HALF_WIDTH", "Methods", "choose_intervals", "half_widths", "read_intervals"]

HISTOGRAM_HALF_WIDTH = 12.0

BELONGS_TO = {
    "symmetric": "it leaves 0 out where the two-sided p is below α",
    "basic": "it leaves 0 out, or ends there, where the one-sided p, #(δ* > 2δ)/b, is below α/2",
    "percentile": "it leaves 0 out, or ends there, where #(δ* < 0)/b is below α/2",
    "bca": "it has levels of its own: no p of the table belongs to it",
    "studentised": "it leaves 0 out where the p of t*, twice that of the smaller side, is below α",
    "simultaneous-studentised": "it covers all pairs of the family together: it leaves 0 out where the p of max |t*| is below α",
    "tango": "it leaves 0 out where McNemar's |wins − losses|/√m is above the normal quantile; no p of the table belongs to it",
    "bonett-price": "it counts a win and a loss more than there are: no p of the table belongs to it",
    "simultaneous": "it covers all pairs of the family together; max-T separates those that leave 0 out, and maybe more",
}
"""What an interval says of a p, by its method."""

_SHOWN_P = {"symmetric": "two-sided", "basic": "one-sided", "percentile": "below-zero"}
""" `pipeline.inference.intervals.INVERTED_P`, with the strict convention where it names two."""

BOOTSTRAP_T = ("studentised", "simultaneous-studentised")
"""Methods of `pipeline.inference.bootstrap_t`: their p is no convention of counts, stands in the cube, and has their name."""


def half_widths(
    histogram: NDArray[np.int64],
    level: float,
    *,
    se: NDArray[np.float64],
    gain: NDArray[np.float64] | None = None,
    p: NDArray[np.float64] | None = None,
) -> NDArray[np.float64]:
    """Return the quantile of |δ* − δ| at ``level`` for each pair, in points; NaN where it is off the grid or there is no se.

    The share of replicates within a distance is known exactly at one more place than the bins: 1 − p within the gain. With
    it an interval leaves 0 out if p < 1 − level, and has 0 inside if p > 1 − level; elsewhere it is interpolated.

    Parameters
    ----------
    histogram : (pair, bin) int64
        Counts of (δ* − δ) / se in equal bins on ±12; what is beyond is in the end bins.
    level : float
        Level of the interval, 1 − α.
    se : (pair,) float64
        Standard errors, the unit of the grid.
    gain, p : (pair,) float64, optional
        Observed gains and their two-sided p-values, of the same convention as the p that stands beside the interval.
    """
    bins = histogram.shape[1]
    edges = np.linspace(-HISTOGRAM_HALF_WIDTH, HISTOGRAM_HALF_WIDTH, bins + 1)
    below = np.concatenate([np.zeros((len(histogram), 1)), np.cumsum(histogram, axis=1, dtype=np.float64)], axis=1)
    middle = (bins + 1) // 2
    # By symmetry edge k lies at minus edge (bins − k): the mass within them is the difference of two running sums.
    inside = below[:, middle:] - below[:, : bins + 1 - middle][:, ::-1]
    widths, total = edges[middle:], below[:, -1]
    if bins % 2 == 0:
        inside[:, 0] = 0.0
    else:
        widths, inside = np.concatenate([[0.0], widths]), np.concatenate([np.zeros((len(inside), 1)), inside], axis=1)
    known = (total > 0) & (se > 0)
    # The last edge is left out: the end bins hold what lies beyond it.
    places, shares = widths[:-1] * se[known, None], inside[known, :-1] / total[known, None]
    if gain is not None and p is not None:
        places, shares = _add_knots(places, shares, gain[known], 1 - p[known])
    result = np.full(len(histogram), np.nan)
    result[known] = _quantiles(places, shares, level)
    return result


def _add_knots(
    places: NDArray[np.float64], shares: NDArray[np.float64], place: NDArray[np.float64], share: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Put one more point into each row; where it is not known, the last point stands there twice."""
    known = np.isfinite(share) & (place > 0)
    place, share = np.where(known, place, places[:, -1])[:, None], np.where(known, share, shares[:, -1])[:, None]
    # A share that contradicts the knot (by a tie at an edge, by the +1 of the p-value) gives way to it.
    bent = np.where(places < place, np.minimum(shares, share), np.where(places > place, np.maximum(shares, share), share))
    places, shares = np.hstack([places, place]), np.hstack([bent, share])
    order = np.argsort(places, axis=1, kind="stable")
    return np.take_along_axis(places, order, axis=1), np.take_along_axis(shares, order, axis=1)


def _quantiles(places: NDArray[np.float64], shares: NDArray[np.float64], level: float) -> NDArray[np.float64]:
    """Interpolate each row, whose shares do not fall; NaN where none of them reaches the level."""
    after = (shares < level).sum(axis=1)
    is_reached, row = after < shares.shape[1], np.arange(len(shares))
    right = np.minimum(after, shares.shape[1] - 1)
    left = np.maximum(right - 1, 0)
    low, high = shares[row, left], shares[row, right]
    start, end = places[row, left], places[row, right]
    part = np.divide(level - low, high - low, out=np.ones(len(row)), where=high > low)
    found = np.where(after == 0, end, np.minimum(start + part * (end - start), end))
    return np.where(is_reached, found, np.nan)


Methods: TypeAlias = Mapping[str, MethodIntervalWithP | MethodInterval]
"""The interval of a pair by every method that a cube holds."""


def read_intervals(cube: xr.Dataset, delta: NDArray[np.float64], *, alpha: float, **where: str) -> list[Methods | None]:
    """Return the ends of every method that the cube holds, of each pair with the better system first, and p of bootstrap-t.

    None where the cube has none, or has them at another level than the report's.
    """
    ends, reasons = read_variable(cube, "interval", **where), read_variable(cube, "interval_reason", **where)
    if ends is None or reasons is None or cube.attrs.get("alpha") != alpha or (reasons < 0).all():
        return [None] * len(delta)
    behind = (delta < 0)[:, None]
    turned = np.where(behind, -ends[..., ::-1], ends) + 0.0
    own = read_variable(cube, "interval_p", **where)
    methods: dict[str, Sequence[MethodIntervalWithP | MethodInterval]] = {}
    # What is not a finite number is None: there is no such interval, and the cube says why.
    for position, name in enumerate(cube["interval_method"].values.tolist()):
        pairs = plain(turned[position])
        if own is not None and name in BOOTSTRAP_T:
            beside = plain(np.asarray(own[position], np.float64))
            methods[str(name)] = [MethodIntervalWithP(lo, hi, p) for (lo, hi), p in zip(pairs, beside, strict=True)]
        else:
            methods[str(name)] = [MethodInterval(lo, hi) for lo, hi in pairs]
    return [dict(zip(methods, found, strict=True)) for found in zip(*methods.values(), strict=True)]


def choose_intervals(
    several: Sequence[Methods | None],
    gain: NDArray[np.float64],
    half: NDArray[np.float64],
    p: Mapping[str, NDArray[np.float64]],
    *,
    wanted: Sequence[str],
    alpha: float,
) -> list[Interval | None]:
    """Return the interval that stands beside the p of each pair, with the convention and the p it belongs to.

    It is of the first method of ``wanted`` that the cube has for any pair. Where the cube has none, it is the symmetric one of the
    histogram, whose half widths are ``half``.
    """
    held = next((found for found in several if found), None)
    if held is None:
        method, own = "symmetric", [MethodInterval(lo, hi) for lo, hi in plain(np.stack([gain - half, gain + half], axis=1))]
    else:
        there = [name for name in wanted if name in held]
        # A metric may have none by the method that is wanted: studentised ones are of ratios only.
        known = (name for name in there if any(found and found[name].lo is not None for found in several))
        method = next(known, next(iter([*there, *held])))
        own = [found[method] if found else MethodInterval(None, None) for found in several]
    convention = _SHOWN_P.get(method)
    beside: list[float | None] = plain(p[convention]) if convention is not None else [None] * len(gain)
    if method in BOOTSTRAP_T:
        convention, beside = method, [ends.p if isinstance(ends, MethodIntervalWithP) else None for ends in own]
    return [
        None
        if ends.lo is None or ends.hi is None
        else Interval(method=method, level=1 - alpha, convention=convention, lo=ends.lo, hi=ends.hi, p_raw=value)
        for ends, value in zip(own, beside, strict=True)
    ]
