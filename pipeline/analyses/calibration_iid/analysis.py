"""Does a small p on one test set tell which system is better in the population it was drawn from? Draw some, and count.

Section 4.2 of Berg-Kirkpatrick, Burkett and Klein 2012 (D12-1091): the whole test set is the population, whose gains are known.
Test sets are drawn from it with replacement, and every pair is bootstrapped on each, as if nothing else were known. Of the pairs
with p in a bin, the share whose gain has the sign that it has in the population is what is found; beside it stands the share
that is expected where gains are Gaussian, given how large the true ones are.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from pipeline.analyses.calibration_iid.draws import DrawnTestSets
from pipeline.analyses.calibration_iid.options import CalibrationIidOptions
from pipeline.analyses.calibration_iid.pages import SECTION, list_figures, list_tables
from pipeline.analyses.calibration_iid.rows import Population, list_rows, nothing
from pipeline.analyses.pairs import describe_copies, find_copies
from pipeline.analyses.standard_errors import describe_replaced, read_standard_errors
from pipeline.analyses.units import EARLIER, read_unit_statistics, read_units_of_items
from pipeline.dataclass import dataclass, field
from pipeline.interfaces import Analysis, Finding, ScoredStatistics
from pipeline.interfaces.analyses import FULL
from pipeline.options import meant, read_options

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["CalibrationIid"]

_FEWEST_UNITS = 20
_SHARE_OF_POPULATION = 10

NOTES = (
    "The whole test set is the population: its gains are taken for the true ones. Test sets are drawn from it with replacement, "
    "each with resamples of its own; p is one-sided and strict, #(δ* > 2δ)/b, of the pair as it stands on the drawn test set.",
    "A bin holds the pairs with low < p ≤ high (the first includes p = 0); the window has both ends. A pair counts once for each "
    "drawn test set on which its p is there. Pairs that score the same in the population have no sign and are left out; ties on a "
    "drawn test set are counted apart.",
    "Expected: the share of right signs if gains are Gaussian with the population's gains and standard errors. The share says how "
    "large the gains are beside their standard errors, not whether p is right: it is not 1 − p.",
    "Intervals count systems and drawn test sets as clusters; there is none from fewer than five of either.",
)
STRATA = "Units are drawn without strata here, also where the study has them."


@dataclass(frozen=True, eq=False)
class CalibrationIid(Analysis):
    """The share of pairs with the sign that they have in the population, by their p on test sets drawn from it."""

    name: ClassVar[str] = "calibration-iid"
    of_single_runs: ClassVar[bool] = True
    statistics: Mapping[str, Mapping[str, ScoredStatistics]] = field(default_factory=dict)

    def check(self, options: Mapping[str, Any]) -> None:
        """Refuse options that are unknown or of no use."""
        read_options(CalibrationIidOptions, options, analysis=self.name)

    def named_test_sets(self, options: Mapping[str, Any]) -> Iterable[str]:
        """Return the populations that are named."""
        return read_options(CalibrationIidOptions, options, analysis=self.name).asked

    def with_statistics(self, statistics: Mapping[str, Mapping[str, ScoredStatistics]]) -> CalibrationIid:
        """Return the analysis that has the statistics of items."""
        return CalibrationIid(statistics)

    def find(self, cubes: Mapping[str, xr.Dataset], options: Mapping[str, Any]) -> Finding:
        """Return the rows of every population and metric, or one with the reason why there are none."""
        chosen = read_options(CalibrationIidOptions, options, analysis=self.name)
        rows: list[dict[str, Any]] = []
        for name in chosen.asked or tuple(cubes):
            if name not in cubes:
                said = "; ".join(filter(None, [f"there are no results for the test set {name!r}", meant(name, cubes)]))
                rows.append(nothing({"test_set": name, "metric": None}, said))
                continue
            for metric in map(str, cubes[name]["metric"].values.tolist()):
                rows += self._rows(name, metric, cubes[name], chosen)
        used = {name: cube for name, cube in cubes.items() if any(row["test_set"] == name for row in rows)}
        notes = [*NOTES]
        notes += [STRATA] if any(cube.attrs.get("strata") for cube in used.values()) else []
        notes += [note for note in [describe_copies(used), describe_replaced(used)] if note]
        return Finding(
            self.name,
            tuple(rows),
            tuple(notes),
            tables=tuple(list_tables(rows, notes)),
            figures=tuple(list_figures(rows)),
            sections=(SECTION,),
            csv={"calibration_iid": rows},
            interval_of={"calibration_iid": "share"},
        )

    def _rows(self, test_set: str, metric: str, cube: xr.Dataset, options: CalibrationIidOptions) -> list[dict[str, Any]]:
        where: dict[str, Any] = {"test_set": test_set, "metric": metric}
        scored = self.statistics.get(test_set, {}).get(metric)
        if scored is None:
            return [nothing(where, "the statistics of its items are not at hand")]
        unit_of_item = read_units_of_items(scored.data, str(cube.attrs.get("unit", "item")))
        if unit_of_item is None:
            return [nothing(where, EARLIER.format(what="units"))]
        total = int(unit_of_item.max()) + 1
        units = options.units or min(max(total // _SHARE_OF_POPULATION, _FEWEST_UNITS), total)
        if units > total:
            return [nothing(where, f"the population has {total:,} units: test sets of {units:,} cannot be drawn from it")]
        systems = [str(name) for name in scored.data["system"].values.tolist()]
        population = _read_population(cube, metric, systems, units / total)
        if not len(population.pairs):
            return [nothing(where, "no two systems differ in the population")]
        used, position = np.unique(population.pairs, return_inverse=True)
        columns = len(used) * scored.data.sizes["statistic"]
        cost = float(options.drawn) * options.replicates * (units * columns + len(population.pairs))
        if cost > options.budget:
            said = f"{cost:.2g} products and comparisons are beyond the budget of {options.budget:.2g}"
            return [nothing(where, f"{said}: ask for fewer test sets or replicates")]
        statistics = read_unit_statistics(scored.data, unit_of_item, [systems[place] for place in used.tolist()])
        drawn = DrawnTestSets(
            population=statistics,
            scored=scored,
            pairs=position.reshape(-1, 2).astype(np.int64),
            units=units,
            drawn=options.drawn,
            replicates=options.replicates,
            seed=int(cube.attrs.get("seed", 0)),
            test_set=test_set,
        )
        where |= {"units": units, "population_units": total, "drawn": options.drawn}
        return list(list_rows(where, population, drawn.compare_all(), options))


def _read_population(cube: xr.Dataset, metric: str, systems: list[str], share: float) -> Population:
    """Read the pairs whose scores differ; their effects are those on test sets of this share of the population's units."""
    place = {name: position for position, name in enumerate(systems)}
    where = {"metric": metric, "test_size": FULL}
    delta = cube["observed_delta"].sel(where).values.astype(np.float64)
    se = read_standard_errors(cube, **where)
    copies = find_copies(cube, metric)
    names = zip(cube["system_a"].values.tolist(), cube["system_b"].values.tolist(), strict=True)
    own = np.array([a not in copies and b not in copies for a, b in names], dtype=np.bool_)
    usable = own & np.isfinite(delta) & (delta != 0)
    pairs = [(place[str(a)], place[str(b)]) for a, b in zip(cube["system_a"].values, cube["system_b"].values, strict=True)]
    with np.errstate(divide="ignore", invalid="ignore"):
        effect = np.abs(delta) / se * np.sqrt(share)
    return Population(
        np.array(pairs, np.int64).reshape(-1, 2)[usable],
        np.sign(delta[usable]).astype(np.int8),
        np.where(np.isfinite(effect), effect, np.nan)[usable],
    )
