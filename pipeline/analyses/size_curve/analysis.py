"""How do thresholds shrink as the test set grows? A line through the logarithms of gain and of the number of units says.

Figures 9 and 10 of Berg-Kirkpatrick, Burkett and Klein 2012 (D12-1091): the first n sentences, and c/√n. Prefixes confound size
with the order of units, so test sets can be drawn too: random subsets, and units drawn with replacement, also more than there are.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from pipeline.analyses.pairs import describe_copies, describe_one_sided, list_slices, read_units
from pipeline.analyses.size_curve.fits import QUANTITIES, fit_points
from pipeline.analyses.size_curve.options import SizeCurveOptions
from pipeline.analyses.size_curve.pages import SECTION, list_figures, list_tables
from pipeline.analyses.size_curve.points import DrawnSizes, choose_sizes, describe_prefixes, drawn_by, list_pairs_by_size
from pipeline.analyses.standard_errors import describe_replaced
from pipeline.dataclass import dataclass, field
from pipeline.interfaces import Analysis, Finding, ScoredStatistics
from pipeline.interfaces.wording import name_metric
from pipeline.options import read_options

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["SizeCurve"]

PREFIXES = (
    "Test sizes are prefixes, the first n units, as in the paper: they confound size with the order of the units.",
    "Prefixes are nested, so the points are not independent and the test of the slope −½ is a guide only.",
)
NOTES = (
    "The pairs in the window at each n are other pairs; a good fit of the thresholds is no evidence for the law. "
    "Threshold by se: the same percentile of z standard errors over all pairs that have one: the same at each n, but for "
    "those that are identical there. "
    "The median standard error is over the pairs that have one and are not identical on the first n units.",
    "Units needed for a gain beyond the sizes measured are extrapolated.",
)
DRAWN = (
    "Random subsets are drawn without replacement, each bootstrapped by itself; thresholds are of the pairs of all subsets of a "
    "size together, standard errors means over subsets, and the gains between which p does not decide are the "
    "extremes of all subsets. Strata are not kept.",
)
REPLACED = "Units drawn with replacement from all show how gains spread at any size; they have no p."


@dataclass(frozen=True, eq=False)
class SizeCurve(Analysis):
    """Thresholds, those by standard errors and median standard errors against test size, with the fit of c/√n to each."""

    name: ClassVar[str] = "size-curve"
    of_single_runs: ClassVar[bool] = True
    statistics: Mapping[str, Mapping[str, ScoredStatistics]] = field(default_factory=dict)

    def check(self, options: Mapping[str, Any]) -> None:
        """Refuse options that are unknown or of no use."""
        read_options(SizeCurveOptions, options, analysis=self.name)

    def with_statistics(self, statistics: Mapping[str, Mapping[str, ScoredStatistics]]) -> SizeCurve:
        """Return the analysis that has the statistics of items."""
        return SizeCurve(statistics)

    def find(self, cubes: Mapping[str, xr.Dataset], options: Mapping[str, Any]) -> Finding:
        """Return a row for each test set, metric, procedure and test size, and the fits among the details."""
        chosen = read_options(SizeCurveOptions, options, analysis=self.name)
        rows: list[dict[str, Any]] = []
        fits: list[dict[str, Any]] = []
        pairs: list[dict[str, Any]] = []
        left_out: list[str] = []
        for name, cube in cubes.items():
            for metric, procedure in list_slices(cube):
                where = {"test_set": name, "metric": metric, "procedure": procedure}
                points = [where | point for point in describe_prefixes(cube, metric, procedure, chosen)]
                if "prefix" in chosen.rules:
                    rows += points
                    fits += [where | {"draw": "prefix"} | fit_points(points, quantity, chosen.gains) for quantity in QUANTITIES]
                    if len(points) > 1 and cube.sizes["pair"] <= chosen.most_pairs:
                        pairs += [where | pair for pair in list_pairs_by_size(cube, metric, procedure)]
            for metric in map(str, cube["metric"].values.tolist()) if set(chosen.rules) - {"prefix"} else ():
                drawn = list(self._draw(name, metric, cube, chosen, left_out))
                rows += drawn
                fits += _fit_drawn(drawn, chosen)
        notes = _notes(chosen, left_out) + describe_one_sided(cubes)
        notes += [note for note in (describe_copies(cubes), describe_replaced(cubes)) if note]
        return Finding(
            self.name,
            tuple(rows),
            tuple(notes),
            {"fits": tuple(fits)},
            tables=tuple(list_tables(cubes, rows, fits, " ".join(notes))),
            figures=tuple(list_figures(cubes, rows, fits, pairs)),
            sections=(SECTION,),
            csv={"size_curve": rows, "size_fits": fits, "size_pairs": pairs},
        )

    def _draw(
        self, name: str, metric: str, cube: xr.Dataset, options: SizeCurveOptions, left_out: list[str]
    ) -> Iterator[dict[str, Any]]:
        """Go through the points of drawn test sets; what cannot be drawn is told."""
        place = f"{name}, {name_metric(metric)}"
        drawn = DrawnSizes.of(name, metric, cube, self.statistics.get(name, {}).get(metric))
        if isinstance(drawn, str):
            left_out.append(f"{place}: no test sets are drawn, because {drawn}.")
            return
        where = {"test_set": name, "metric": metric, "procedure": drawn_by()}
        sizes = choose_sizes(drawn.units, read_units(cube), options.sizes or ())
        alpha = float(cube.attrs.get("alpha", 0.05)) if options.alpha is None else options.alpha
        for rule in options.rules:
            if rule == "prefix":
                continue
            own = [size for size in sizes if rule == "with-replacement" or size <= drawn.units]
            if len(own) < len(sizes):
                left_out.append(f"{place}: subsets have at most its {drawn.units:,} units; larger ones are left out.")
            exact = [size for size in own if size <= drawn.largest_size]
            if len(exact) < len(own):
                left_out.append(
                    f"{place}, {rule}: statistics are so large that sums of more than {drawn.largest_size:,} units might "
                    "not be exact; larger sizes are left out."
                )
                own = exact
            cost = drawn.cost_of(own, options, repeats=options.repeats if rule == "random" else 1)
            if cost > options.budget:
                left_out.append(
                    f"{place}, {rule}: {cost:.2g} products and comparisons are beyond the budget of "
                    f"{options.budget:.2g}; ask for fewer repeats, replicates or sizes."
                )
                continue
            for size in own:
                point = drawn.draw_subsets(size, options, alpha) if rule == "random" else drawn.draw_with_replacement(size, options)
                yield where | point


def _fit_drawn(points: Sequence[Mapping[str, Any]], options: SizeCurveOptions) -> Iterator[dict[str, Any]]:
    for rule in dict.fromkeys(point["draw"] for point in points):
        own = [point for point in points if point["draw"] == rule]
        where = {key: own[0][key] for key in ("test_set", "metric", "procedure", "draw")}
        for quantity in QUANTITIES if rule == "random" else tuple(QUANTITIES)[1:]:
            yield where | fit_points(own, quantity, options.gains)


def _notes(options: SizeCurveOptions, left_out: Sequence[str]) -> list[str]:
    notes = [*NOTES]
    notes += PREFIXES if "prefix" in options.rules else ()
    notes += DRAWN if "random" in options.rules else ()
    notes += [REPLACED] if "with-replacement" in options.rules else []
    return [*notes, *left_out]
