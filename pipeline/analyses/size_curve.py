"""How do thresholds shrink as the test set grows? A line through the logarithms of gain and of the number of units says."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from scipy.special import stdtr

from pipeline.analyses.pairs import (
    BORDERLINE,
    Window,
    describe_copies,
    describe_one_sided,
    list_slices,
    percentile_of,
    read_pairs,
    read_units,
)
from pipeline.analyses.presentation import decimals_of, in_parts, name_procedure, select, title_of
from pipeline.interfaces import Analysis, Column, Figure, Finding, Section, Table
from pipeline.interfaces.figures import PALETTE, tidy_axes
from pipeline.interfaces.wording import MISSING, format_number, shorten
from pipeline.options import read_options

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.axes import Axes

__all__ = ["FEWEST_SIZES", "Line", "SizeCurve", "SizeCurveOptions", "fit_line"]

FEWEST_SIZES = 3
"""Test sizes with a value: a line needs them."""

_SQUARE_ROOT = -0.5
_EXACT = 1e-12

NOTES = (
    "Test sizes are prefixes, the first n units, as in the paper: they confound size with the order of the units.",
    "The pairs in the window at each n are other pairs; a good fit of the thresholds is no evidence for the law. "
    "Threshold by se: the same percentile of z standard errors over all pairs that have one, the same pairs at each n. "
    "The median standard error is over the pairs that have one and are not identical on the first n units.",
    "Prefixes are nested, so the points are not independent and the test of the slope −½ is a guide only.",
    "Units needed for a gain beyond the sizes measured are extrapolated.",
)


SECTION = Section("size-curve", "Test size", after="figures")
_QUANTITIES = {"gain": "threshold", "se_gain": "threshold by se", "median_se": "median se"}
_THRESHOLDS = ("gain", "se_gain")
_COLUMNS = (
    Column("what", "what"),
    Column("values", "units: value"),
    Column("slope", "slope ± se", "written"),
    Column("p_square_root", "p of −½", "p"),
    Column("c", "c of c/√n", "written"),
    Column("needed", "units needed for a gain of"),
    Column("reason", "remark"),
)
_MARKERS = "o^sDvP"
_LONGEST = 28


@dataclass(frozen=True)
class SizeCurveOptions:
    """Options of the analysis; ``gains`` are the gains for which the units needed are read off, in metric points."""

    window: tuple[float, float] = BORDERLINE
    percentile: float = 95.0
    gains: tuple[float, ...] = (0.5, 1.0)

    def __post_init__(self) -> None:
        if len(self.window) != 2:
            raise ValueError(f"window takes two numbers, got {len(self.window)}")
        self.spec.holds(np.zeros(1))
        if any(gain <= 0 for gain in self.gains):
            raise ValueError(f"gains must be above 0, got {self.gains}")

    @property
    def spec(self) -> Window:
        """The window and the percentile."""
        return Window(*self.window, percentile=self.percentile)


class SizeCurve(Analysis):
    """Thresholds, those by standard errors and median standard errors against test size, with the fit of c/√n to each."""

    name: ClassVar[str] = "size-curve"
    default_place: ClassVar[int | None] = 2
    of_single_runs: ClassVar[bool] = True

    def check(self, options: Mapping[str, Any]) -> None:
        """Refuse options that are unknown or of no use."""
        read_options(SizeCurveOptions, options, analysis=self.name)

    def find(self, cubes: Mapping[str, xr.Dataset], options: Mapping[str, Any]) -> Finding:
        """Return a row for each test set, metric, procedure and test size, and the fits among the details."""
        chosen = read_options(SizeCurveOptions, options, analysis=self.name)
        rows: list[dict[str, Any]] = []
        fits: list[dict[str, Any]] = []
        for name, cube in cubes.items():
            for metric, procedure in list_slices(cube):
                where = {"test_set": name, "metric": metric, "procedure": procedure}
                points = [where | point for point in _points(cube, metric, procedure, chosen.spec)]
                rows += points
                fits += [where | _fit(points, quantity, chosen.gains) for quantity in _QUANTITIES]
        notes = [*NOTES, *describe_one_sided(cubes), *(note for note in [describe_copies(cubes)] if note)]
        return Finding(
            self.name,
            tuple(rows),
            tuple(notes),
            {"fits": tuple(fits)},
            tables=tuple(_tables(cubes, rows, fits, " ".join(notes))),
            figures=tuple(_figures(cubes, rows, fits)),
            sections=(SECTION,),
            csv={"size_curve": rows, "size_fits": fits},
        )


def _points(cube: xr.Dataset, metric: str, procedure: str, spec: Window) -> list[dict[str, Any]]:
    points = []
    for size, units in read_units(cube).items():
        table = read_pairs(cube, metric=metric, test_size=size, procedure=procedure)
        inside = table.usable & spec.holds(table.p)
        gain = percentile_of(table.gain[inside], spec.percentile)
        spread = table.se[~table.identical & ~table.copied & np.isfinite(table.se)]
        points.append(
            {
                "test_size": size,
                "units": units,
                "gain": gain,
                "pairs_in_window": int(inside.sum()),
                "se_gain": percentile_of(spec.z * table.se[table.measured], spec.percentile),
                "median_se": float(np.median(spread)) if len(spread) else None,
                "gaussian_z": spec.z,
                "pairs": int(table.usable.sum()),
                "reason": None if gain is not None else f"no pair has a p-value in [{spec.low:g}, {spec.high:g}]",
            }
        )
    return points


def _fit(points: list[dict[str, Any]], quantity: str, gains: tuple[float, ...]) -> dict[str, Any]:
    there = [(point["units"], point[quantity]) for point in points if point[quantity]]
    line = fit_line([n for n, _ in there], [value for _, value in there])
    if line is None:
        reason = f"{len(there)} test size{'' if len(there) == 1 else 's'} with a value: a line needs {FEWEST_SIZES}"
        empty = dict.fromkeys(("slope", "slope_se", "intercept", "p_square_root", "c"))
        return {"quantity": quantity, **empty, "sizes": len(there), "units_for": [], "reason": reason}
    needed = [
        {"gain": gain, "by_fit": line.units_for(gain), "by_root": line.units_by_root(gain)}
        for gain in (gains if quantity in _THRESHOLDS else ())
    ]
    return {
        "quantity": quantity,
        "slope": line.slope,
        "slope_se": line.slope_se,
        "intercept": line.intercept,
        "p_square_root": line.p_square_root,
        "c": line.c,
        "sizes": line.sizes,
        "units_for": needed,
        "reason": None if line.p_square_root is not None else "no test of the slope: the points lie on a line",
    }


def _places(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    keys = ("test_set", "metric", "procedure")
    return [dict(zip(keys, place, strict=True)) for place in dict.fromkeys(tuple(row[key] for key in keys) for row in rows)]


def _tables(
    cubes: Mapping[str, xr.Dataset], points: Sequence[Mapping[str, Any]], fits: Sequence[Mapping[str, Any]], caption: str
) -> Iterator[Table]:
    """Go through the tables, one a test set, metric and procedure, a row a fit."""
    for where in _places(points):
        digits, own = decimals_of(cubes, where["metric"]), select(points, **where)
        shown = tuple(_shown(fit, own, digits) for fit in select(fits, **where))
        yield Table(title_of(where), where, _COLUMNS, caption, SECTION.key, shown)


def _shown(fit: Mapping[str, Any], points: Sequence[Mapping[str, Any]], digits: int) -> dict[str, Any]:
    needed = (f"{need['gain']:g}: {_units(need['by_fit'])} (c/√n: {_units(need['by_root'])})" for need in fit["units_for"])
    return {
        "what": _QUANTITIES[fit["quantity"]],
        "values": "  ".join(f"{p['units']:,}: {format_number(p[fit['quantity']], digits)}" for p in points),
        "slope": None if fit["slope"] is None else f"{fit['slope']:.3f} ± {fit['slope_se']:.3f}",
        "p_square_root": fit["p_square_root"],
        "c": None if fit["c"] is None else format_number(fit["c"], 2),
        "needed": "; ".join(needed) or None,
        "reason": fit["reason"],
    }


def _units(value: float | None) -> str:
    return MISSING if value is None else f"{math.ceil(value):,}"


def _figures(
    cubes: Mapping[str, xr.Dataset], points: Sequence[Mapping[str, Any]], fits: Sequence[Mapping[str, Any]]
) -> Iterator[Figure]:
    """Go through the figures, one a metric and procedure, and as many as colours for all test sets ask."""
    for metric, procedure in dict.fromkeys((row["metric"], row["procedure"]) for row in points):
        where = {"metric": metric, "procedure": procedure}
        curves = [
            _Curve(str(name), select(points, **where, test_set=name), select(fits, **where, test_set=name, quantity="gain")[0])
            for name in dict.fromkeys(row["test_set"] for row in select(points, **where))
        ]
        drawn = [curve for curve in curves if sum(bool(p["gain"] or p["median_se"]) for p in curve.points) >= 2]
        for title, some in in_parts(f"Gain against test size, {metric}{name_procedure(cubes, procedure)}", drawn):
            slopes = [(curve.test_set, curve.fit["slope"]) for curve in some if curve.fit["slope"] is not None]
            alt = "The threshold and the typical standard error against the number of units, both on log scales. "
            alt += " ".join(f"Slope of the threshold on {name}: {slope:.2f}." for name, slope in slopes)
            caption = (
                "Filled: the threshold among the pairs borderline at that size. Line: its fit. Hollow: "
                f"{some[0].points[0]['gaussian_z']:.3f} × the median standard error of the pairs that are not identical there. "
                "Sizes are prefixes of the test set."
            )
            yield Figure("size-curve", title, alt, caption, partial(_draw, some, metric), "size_curve", SECTION.key)


@dataclass(frozen=True)
class _Curve:
    test_set: str
    points: Sequence[Mapping[str, Any]]
    fit: Mapping[str, Any]  # of the thresholds


def _draw(curves: Sequence[_Curve], metric: str, axes: Axes) -> None:
    for curve, colour, marker in zip(curves, PALETTE, _MARKERS, strict=False):
        _draw_curve(axes, curve, colour, marker)
    axes.set_xscale("log")
    axes.set_yscale("log")
    units = sorted({p["units"] for curve in curves for p in curve.points})
    axes.set_xticks(units, [f"{n:,}" for n in units])
    axes.xaxis.set_minor_formatter(lambda *_: "")
    for which in (axes.yaxis.set_major_formatter, axes.yaxis.set_minor_formatter):
        which(lambda value, _: f"{value:g}")
    tidy_axes(axes, x="units in the test set (log)", y=f"gain in {metric} (log)")
    axes.legend(loc="upper right")


def _draw_curve(axes: Axes, curve: _Curve, colour: str, marker: str) -> None:
    there = [(p["units"], p["gain"]) for p in curve.points if p["gain"]]
    label = shorten(curve.test_set, _LONGEST)
    # Drawn also when empty: the legend must name every test set.
    axes.plot([n for n, _ in there], [gain for _, gain in there], marker, color=colour, markersize=6, label=label)
    spread = [(p["units"], p["gaussian_z"] * p["median_se"]) for p in curve.points if p["median_se"]]
    if spread:
        axes.plot(*zip(*spread, strict=True), marker, color=colour, markersize=5, fillstyle="none", linestyle=":", linewidth=0.8)
    if curve.fit["slope"] is not None:
        n = np.array([min(x for x, _ in there), max(x for x, _ in there)], dtype=float)
        gains = np.exp(curve.fit["intercept"] + curve.fit["slope"] * np.log(n))
        axes.plot(n, gains, color=colour, linewidth=1.2, alpha=0.8)


@dataclass(frozen=True)
class Line:
    """log gain = intercept + slope · log n, by least squares.

    Parameters
    ----------
    slope, slope_se : float
        The slope and its standard error from the residuals.
    intercept : float
        Natural logarithm of the gain at one unit.
    p_square_root : float or None
        Two-sided p of the t test that the slope is −½; None where the points lie on the line.
    c : float
        The constant of c/√n: the geometric mean of gain · √n.
    sizes : int
        Number of points.
    """

    slope: float
    slope_se: float
    intercept: float
    p_square_root: float | None
    c: float
    sizes: int

    def units_for(self, gain: float) -> float | None:
        """Return the number of units at which the line reaches a gain; None where it does not fall."""
        if self.slope >= -_EXACT:
            return None
        exponent = (float(np.log(gain)) - self.intercept) / self.slope
        return float(np.exp(exponent)) if exponent < 50 else None

    def units_by_root(self, gain: float) -> float:
        """Return the number of units at which c/√n reaches a gain."""
        return (self.c / gain) ** 2


def fit_line(units: Sequence[float], gains: Sequence[float]) -> Line | None:
    """Fit a line through (log n, log gain), or give None for fewer than three sizes.

    Examples
    --------
    >>> line = fit_line([100, 400, 1600], [3.0, 1.5, 0.75])
    >>> round(line.slope, 12), round(line.c, 9), round(line.units_by_root(0.5))
    (-0.5, 30.0, 3600)
    """
    if len(set(units)) < FEWEST_SIZES:
        return None
    x, y = np.log(np.asarray(units, dtype=np.float64)), np.log(np.asarray(gains, dtype=np.float64))
    centred = x - x.mean()
    spread = float(centred @ centred)
    slope = float(centred @ y) / spread
    intercept = float(y.mean() - slope * x.mean())
    residual = y - intercept - slope * x
    freedom = len(x) - 2
    slope_se = float(np.sqrt(residual @ residual / freedom / spread))
    exact = slope_se < _EXACT
    p = None if exact else 2 * float(stdtr(freedom, -abs(slope - _SQUARE_ROOT) / slope_se))
    return Line(slope, 0.0 if exact else slope_se, intercept, p, float(np.exp(np.mean(y + x / 2))), len(x))
