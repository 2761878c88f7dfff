"""The points of a curve: thresholds and standard errors at each size, of prefixes, random subsets and draws with replacement."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pipeline.analyses.drawn_test_sets import DrawnPairs, bootstrap_pairs
from pipeline.analyses.pairs import Window, find_copies, percentile_of, read_pairs, read_units
from pipeline.analyses.size_curve.options import SizeCurveOptions
from pipeline.analyses.units import EARLIER, read_unit_statistics, read_units_of_items
from pipeline.dataclass import dataclass
from pipeline.interfaces import ScoredStatistics
from pipeline.interfaces.analyses import FULL
from pipeline.procedures.registry import usable_procedures
from pipeline.resampling.address import draw_key
from pipeline.resampling.draws import Draws, draw_order
from pipeline.resampling.products.contract import FLOAT64_LIMIT, largest_magnitude

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["DrawnSizes", "choose_sizes", "describe_prefixes", "drawn_by", "list_pairs_by_size"]


def drawn_by() -> str:
    """Return the procedure of drawn test sets, whatever the study's: the one that resamples."""
    return next(known.name for known in usable_procedures() if known.nulls == "resampled")


def describe_prefixes(cube: xr.Dataset, metric: str, procedure: str, options: SizeCurveOptions) -> Iterator[dict[str, Any]]:
    """Go through the study's test sizes, smallest first."""
    alpha = float(cube.attrs.get("alpha", 0.05)) if options.alpha is None else options.alpha
    for size, units in read_units(cube).items():
        table = read_pairs(cube, metric=metric, test_size=size, procedure=procedure)
        spread = table.se[~table.identical & ~table.copied & np.isfinite(table.se)]
        yield {
            "draw": "prefix",
            "test_size": size,
            "units": units,
            "repeats": 1,
            **_thresholds([_look_at(table.gain[table.usable], table.p[table.usable], options.spec, alpha)], options.spec),
            "se_gain": percentile_of(options.spec.z * table.se[table.measured], options.spec.percentile),
            "median_se": float(np.median(spread)) if len(spread) else None,
            "gaussian_z": options.spec.z,
            "pairs": int(table.usable.sum()),
        }


class _Part(NamedTuple):
    """What thresholds need of the pairs of a test set."""

    inside: NDArray[np.float64]
    """Gains in the window."""
    least_significant: float
    """Infinite where there is none."""
    largest_not_significant: float
    """Minus infinity where there is none."""


def _look_at(gain: NDArray[np.float64], p: NDArray[np.float64], spec: Window, alpha: float) -> _Part:
    return _Part(gain[spec.holds(p)], float(gain[p <= alpha].min(initial=np.inf)), float(gain[p > alpha].max(initial=-np.inf)))


def _thresholds(parts: Sequence[_Part], spec: Window) -> dict[str, Any]:
    """Return the threshold in the window, and where gains begin and cease to decide."""
    inside = np.concatenate([part.inside for part in parts])
    found = percentile_of(inside, spec.percentile)
    least = min(part.least_significant for part in parts)
    largest = max(part.largest_not_significant for part in parts)
    return {
        "gain": found,
        "pairs_in_window": len(inside),
        "least_significant": least if np.isfinite(least) else None,
        "largest_not_significant": largest if np.isfinite(largest) else None,
        "reason": None if found is not None else f"no pair has a p-value in [{spec.low:g}, {spec.high:g}]",
    }


def list_pairs_by_size(cube: xr.Dataset, metric: str, procedure: str) -> Iterator[dict[str, Any]]:
    """Go through the pairs of every test size."""
    for size, units in read_units(cube).items():
        table = read_pairs(cube, metric=metric, test_size=size, procedure=procedure)
        for at in np.flatnonzero(table.usable).tolist():
            names = {"better": table.better[at], "worse": table.worse[at]}
            yield {"test_size": size, "units": units, **names, "gain": float(table.gain[at]), "p": float(table.p[at])}


@dataclass(frozen=True, eq=False)
class DrawnSizes:
    """Test sets of several sizes, drawn from the units of one.

    Parameters
    ----------
    statistics : (unit, system, statistic) int64
    scored : ScoredStatistics
    pairs : (pair, 2) int64
    seed : int
    test_set : str
        With the seed, the address of the draws.
    """

    statistics: NDArray[np.int64]
    scored: ScoredStatistics
    pairs: NDArray[np.int64]
    seed: int
    test_set: str

    @classmethod
    def of(cls, test_set: str, metric: str, cube: xr.Dataset, scored: ScoredStatistics | None) -> DrawnSizes | str:
        """Read the statistics of the systems of pairs that differ, or say what lacks."""
        if scored is None:
            return "the statistics of its items are not at hand"
        unit = read_units_of_items(scored.data, str(cube.attrs.get("unit", "item")))
        if unit is None:
            return EARLIER.format(what="units")
        place = {str(name): position for position, name in enumerate(scored.data["system"].values.tolist())}
        copies = find_copies(cube, metric)
        same = cube["identical"].sel(metric=metric, test_size=FULL).values.astype(np.bool_).tolist()
        pairs = [
            (place[str(a)], place[str(b)])
            for a, b, identical in zip(cube["system_a"].values, cube["system_b"].values, same, strict=True)
            if not identical and str(a) not in copies and str(b) not in copies
        ]
        if not pairs:
            return "no two systems differ"
        used, position = np.unique(np.array(pairs, np.int64), return_inverse=True)
        systems = list(place)
        statistics = read_unit_statistics(scored.data, unit, [systems[at] for at in used.tolist()])
        own = position.reshape(-1, 2).astype(np.int64)
        return cls(statistics, scored, own, int(cube.attrs.get("seed", 0)), test_set)

    @property
    def units(self) -> int:
        """Units that there are."""
        return len(self.statistics)

    def cost_of(self, sizes: Sequence[int], options: SizeCurveOptions, *, repeats: int) -> float:
        """Return subsets × replicates × (units × systems × statistics + pairs), over all sizes."""
        _, systems, columns = self.statistics.shape
        return float(repeats * options.replicates * (sum(sizes) * systems * columns + len(sizes) * len(self.pairs)))

    @property
    def largest_size(self) -> int:
        """The most units that can be drawn: sums of more might not be exact."""
        return (FLOAT64_LIMIT - 1) // max(largest_magnitude(self.statistics), 1)

    def draw_subsets(self, size: int, options: SizeCurveOptions, alpha: float) -> dict[str, Any]:
        """Return the point of random subsets: pairs of all subsets together, standard errors as means over subsets."""
        spec = options.spec
        parts: list[_Part] = []
        thresholds: list[float] = []
        medians: list[float] = []
        pairs = 0
        for number in range(options.repeats):
            found = self._subset(size, number, options.replicates)
            known = np.isfinite(found.p)
            pairs += int(known.sum())
            parts.append(_look_at(np.abs(found.delta[known]), found.p[known], spec, alpha))
            se = found.se[np.isfinite(found.se) & (found.se > 0)]
            threshold = percentile_of(spec.z * se, spec.percentile)
            if threshold is not None:
                thresholds.append(threshold)
                medians.append(float(np.median(se)))
        return self._point("random", size, options, options.repeats) | {
            **_thresholds(parts, spec),
            "se_gain": float(np.mean(thresholds)) if thresholds else None,
            "median_se": float(np.mean(medians)) if medians else None,
            "pairs": pairs,
        }

    def draw_with_replacement(self, size: int, options: SizeCurveOptions) -> dict[str, Any]:
        """Return the point of units drawn with replacement from all: the spread of gains, and no p."""
        draws = Draws(self._key("with-replacement", size), self.units, size)
        found = bootstrap_pairs(self.statistics, self.scored, self.pairs, draws, replicates=options.replicates)
        se = found.spread[np.isfinite(found.spread) & (found.spread > 0)]
        return self._point("with-replacement", size, options, 1) | {
            "se_gain": percentile_of(options.spec.z * se, options.spec.percentile),
            "median_se": float(np.median(se)) if len(se) else None,
            "pairs": len(se),
            "reason": "units drawn with replacement give the spread of gains, and no p",
        }

    def _point(self, rule: str, size: int, options: SizeCurveOptions, repeats: int) -> dict[str, Any]:
        nothing = dict.fromkeys(("gain", "least_significant", "largest_not_significant"))
        place = {"draw": rule, "test_size": str(size), "units": size, "repeats": repeats, "gaussian_z": options.spec.z}
        return place | nothing | {"pairs_in_window": 0}

    def _subset(self, size: int, number: int, replicates: int) -> DrawnPairs:
        units = draw_order(self._key(f"subset {number}", size), self.units)[:size]
        draws = Draws(self._key(f"resamples of {number}", size), size, size)
        return bootstrap_pairs(self.statistics[units], self.scored, self.pairs, draws, replicates=replicates)

    def _key(self, rule: str, size: int) -> int:
        return draw_key(seed=self.seed, purpose="size-curve", test_set=self.test_set, size=str(size), rule=rule)


def choose_sizes(units: int, prefixes: Mapping[str, int], asked: Sequence[int]) -> list[int]:
    """Return the sizes of drawn test sets: those asked for, the study's smaller ones, or five from a twentieth to a half.

    Examples
    --------
    >>> choose_sizes(1000, {"full": 1000}, ()), choose_sizes(1000, {"100": 100, "300": 300, "full": 1000}, ())
    ([50, 89, 158, 281, 500], [100, 300])
    """
    if asked:
        return list(asked)
    smaller = sorted(n for label, n in prefixes.items() if label != FULL and n < units)
    if len(smaller) > 1:
        return smaller
    drawn = np.rint(np.geomspace(units / 20, units / 2, 5)).astype(np.int64)
    return sorted(set(np.maximum(drawn, 2).tolist()))
