"""How do thresholds shrink as the test set grows? This module fits gain against the number of units."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import xarray as xr

from pipeline.analyses.line import FEWEST_SIZES, fit_line
from pipeline.analyses.options import read_options
from pipeline.analyses.pairs import describe_copies, describe_one_sided, list_slices, read_pairs, read_units
from pipeline.analyses.window import Window, percentile_of
from pipeline.interfaces import Finding

__all__ = ["SizeCurve", "SizeCurveOptions"]

NOTES = (
    "Test sizes are prefixes, the first n units, as in the paper: they confound size with the order of the units.",
    "The pairs in the window at each n are other pairs; a good fit of the thresholds is no evidence for the law. "
    "The median standard error is over the pairs that have one and are not identical on the first n units.",
    "Prefixes are nested, so the points are not independent and the test of the slope −½ is a guide only.",
    "Units needed for a gain beyond the sizes measured are extrapolated.",
)


@dataclass(frozen=True)
class SizeCurveOptions:
    """Options of the analysis; ``gains`` are the gains for which the units needed are read off, in metric points."""

    window: tuple[float, float] = (0.04, 0.06)
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


class SizeCurve:
    """Thresholds and standard errors against test size, with the fit of c/√n."""

    name: ClassVar[str] = "size-curve"

    def check(self, options: Mapping[str, Any]) -> None:
        """Refuse options that are unknown or of no use."""
        read_options(SizeCurveOptions, options, analysis=self.name)

    def find(self, cubes: Mapping[str, xr.Dataset], options: Mapping[str, Any]) -> Finding:
        """Give a row for each test set, metric, procedure and test size, and the fits among the details."""
        chosen = read_options(SizeCurveOptions, options, analysis=self.name)
        rows: list[dict[str, Any]] = []
        fits: list[dict[str, Any]] = []
        for name, cube in cubes.items():
            for metric, procedure in list_slices(cube):
                where = {"test_set": name, "metric": metric, "procedure": procedure}
                points = [where | point for point in _points(cube, metric, procedure, chosen.spec)]
                rows += points
                fits += [where | _fit(points, quantity, chosen.gains) for quantity in ("gain", "median_se")]
        notes = [*NOTES, *describe_one_sided(cubes), *(note for note in [describe_copies(cubes)] if note)]
        return Finding(self.name, tuple(rows), tuple(notes), {"fits": tuple(fits)})


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
        for gain in (gains if quantity == "gain" else ())
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
