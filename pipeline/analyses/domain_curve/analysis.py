"""Does the gain that is usually significant depend on the domain? Thresholds of several test sets at one number of units.

Figure 11 of Berg-Kirkpatrick, Burkett and Klein 2012 (D12-1091) lays the curves of several domains over one another: they hardly
differ. Here each test set has its thresholds at the same number of units, and the typical standard error of the pairs that all
have in common, with an interval for how well its units know it; a test says whether the domains differ at all.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from pipeline.analyses.domain_curve.pages import SECTION, list_figures, list_tables
from pipeline.analyses.domain_curve.sizes import SizeOf, choose_units, size_of
from pipeline.analyses.pairs import (
    BORDERLINE,
    FEW_PAIRS,
    PairTable,
    Window,
    describe_copies,
    describe_one_sided,
    find_common,
    list_slices,
    percentile_of,
    read_pairs,
    read_units,
)
from pipeline.analyses.standard_errors import describe_replaced
from pipeline.analyses.units import count_shared, read_unit_statistics, read_units_of_items
from pipeline.dataclass import dataclass, field
from pipeline.inference.across.typical_error import typical_log_error, welch_test
from pipeline.interfaces import Analysis, Finding, ScoredStatistics
from pipeline.interfaces.figures import MOST_POINTS
from pipeline.numerics.special import stdtrit
from pipeline.options import check_names, read_options
from pipeline.resampling.standard_errors.influence import leave_one_out

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["DomainCurve", "DomainCurveOptions"]

LEVEL = 0.95
FEWEST_UNITS = 100
"""Below, scores other than right and wrong have no interval and no test: of 15 Gaussian units a test at .05 rejected 12 to 18 % of
true nulls, of 50 exponential ones up to 21 % (six systems, 4 and 14 test sets, 1500 trials each)."""

NOTES = (
    "Typical se: the geometric mean of the standard errors of the pairs that vary on all the test sets. Its interval is for other "
    "units of the same kind, the systems as they are; relative to the others: over the mean of all, weighted by precision.",
    "The test asks whether all test sets have one typical se (Welch 1951). A threshold is in proportion to it.",
    "The window holds different pairs on each test set: its thresholds vary more than the standard errors do.",
)


@dataclass(frozen=True)
class DomainCurveOptions:
    """Options of the analysis.

    Parameters
    ----------
    test_sets : tuple of str, optional
        The test sets that are laid side by side; all where nothing is said.
    units : int or None
        The number of units; where nothing is said the largest that all have as a test size, else that of the smallest test set.
    window, percentile
        As of `thresholds`.
    """

    test_sets: tuple[str, ...] | None = None
    units: int | None = None
    window: tuple[float, float] = BORDERLINE
    percentile: float = 95.0

    def __post_init__(self) -> None:
        if len(self.asked) == 1:
            raise ValueError("test_sets must name two or more")
        if len(set(self.asked)) < len(self.asked):
            raise ValueError(f"test_sets must name each test set once, got {list(self.asked)}")
        if self.units is not None and not 2 <= self.units < 2**31:
            raise ValueError(f"units {self.units} must be at least 2 and below 2147483648")
        if len(self.window) != 2:
            raise ValueError(f"window takes two numbers, got {len(self.window)}")
        self.spec.holds(np.zeros(1))

    @property
    def asked(self) -> tuple[str, ...]:
        """The test sets that are named."""
        return check_names("test_sets", self.test_sets)

    @property
    def spec(self) -> Window:
        """The window and the percentile."""
        return Window(*self.window, percentile=self.percentile)


@dataclass(frozen=True)
class _Domain:
    """A test set at the size that is looked at."""

    name: str
    cube: xr.Dataset
    size: SizeOf
    table: PairTable


@dataclass(frozen=True, eq=False)
class DomainCurve(Analysis):
    """Thresholds of several test sets at one number of units, side by side, and a test of whether the domain matters."""

    name: ClassVar[str] = "domain-curve"
    of_single_runs: ClassVar[bool] = True
    statistics: Mapping[str, Mapping[str, ScoredStatistics]] = field(default_factory=dict)

    def check(self, options: Mapping[str, Any]) -> None:
        """Refuse options that are unknown or of no use."""
        read_options(DomainCurveOptions, options, analysis=self.name)

    def named_test_sets(self, options: Mapping[str, Any]) -> Iterable[str]:
        """Return the test sets that are named."""
        return read_options(DomainCurveOptions, options, analysis=self.name).asked

    def with_statistics(self, statistics: Mapping[str, Mapping[str, ScoredStatistics]]) -> DomainCurve:
        """Return the analysis that has the statistics of items."""
        return DomainCurve(statistics)

    def find(self, cubes: Mapping[str, xr.Dataset], options: Mapping[str, Any]) -> Finding:
        """Return a row for each test set, metric and procedure, and the tests among the details."""
        chosen = read_options(DomainCurveOptions, options, analysis=self.name)
        used = {name: cubes[name] for name in chosen.asked or tuple(cubes) if name in cubes}
        rows: list[dict[str, Any]] = []
        tests: list[dict[str, Any]] = []
        points: list[dict[str, Any]] = []
        for metric, procedure in dict.fromkeys(place for cube in used.values() for place in list_slices(cube)):
            domains = _list_domains(used, metric, procedure, chosen.units)
            if len(domains) > 1:
                here, test = self._compare(domains, metric, procedure, chosen)
                rows += here
                tests.append(test)
                points += _list_points(domains, metric, procedure)
        notes = [*NOTES, *describe_one_sided(used), *self._describe_shared(used)]
        notes += [] if rows else ["There are not two test sets with the same metric to lay side by side."]
        notes += [note for note in [describe_copies(used), describe_replaced(used)] if note]
        return Finding(
            self.name,
            tuple(rows),
            tuple(notes),
            {"tests": tuple(tests)},
            tables=tuple(list_tables(used, rows, tests, notes)),
            figures=tuple(list_figures(used, rows, points)),
            sections=(SECTION,),
            csv={"domain_curve": rows, "domain_tests": tests, "domain_pairs": points},
            interval_of={"domain_curve": "typical_se"},
        )

    def _compare(
        self, domains: Sequence[_Domain], metric: str, procedure: str, options: DomainCurveOptions
    ) -> tuple[list[dict[str, Any]], dict[str, Any]]:
        """Return the rows of a metric and procedure, and the test of whether they differ."""
        where = {"metric": metric, "procedure": procedure}
        common = find_common([domain.table for domain in domains])
        typical = [self._typical(domain, metric, places) for domain, places in zip(domains, common, strict=True)]
        known = [place for place, one in enumerate(typical) if one["log_error"]]
        test = None
        if len(known) == len(domains):
            values, errors, freedoms = ([typical[place][key] for place in known] for key in ("log", "log_error", "freedom"))
            test = welch_test(values, errors, freedoms)
        rows = []
        for domain, one in zip(domains, typical, strict=True):
            place = {"test_set": domain.name, **where}
            relative = None if test is None or one["log"] is None else float(np.exp(one["log"] - test.mean))
            rows.append(place | _thresholds(domain, options.spec) | _tell(one) | {"relative": relative})
        logs = [one["log"] for one in typical if one["log"] is not None]
        largest = float(np.exp(max(logs) - min(logs))) if len(logs) > 1 else None
        told = {
            **where,
            "units": round(domains[0].size.units / domains[0].size.scale ** 2),
            "test_sets": len(domains),
            "pairs": len(common[0]),
            "largest_over_smallest": largest,
            "statistic": test.statistic if test else None,
            "freedom_between": test.freedom[0] if test else None,
            "freedom_within": test.freedom[1] if test else None,
            "p": test.p if test else None,
            "reason": None if test else _why_no_test(typical),
        }
        return rows, told

    def _typical(self, domain: _Domain, metric: str, common: NDArray[np.int64]) -> dict[str, Any]:
        """Return the mean logarithm of the standard errors of the common pairs, which are there in the table, with its error."""
        nothing = {"log": None, "log_error": None, "freedom": None, "pairs_in_common": len(common), "few_units": False}
        if not len(common):
            return nothing
        table = domain.table
        # The scale brings a standard error to the wanted number of units.
        log = float(np.mean(np.log(table.se[common] * domain.size.scale)))
        scored = self.statistics.get(domain.name, {}).get(metric)
        unit = None if scored is None else read_units_of_items(scored.data, str(domain.cube.attrs.get("unit", "item")))
        if scored is None or unit is None:
            return nothing | {"log": log}
        used, pairs = np.unique(np.stack([table.first[common], table.second[common]], axis=1), return_inverse=True)
        pairs = np.sort(pairs.reshape(-1, 2), axis=1).astype(np.int64)
        statistics = read_unit_statistics(scored.data, unit, [table.systems[place] for place in used.tolist()])
        influence = leave_one_out(statistics[: domain.size.units], scored.score)
        if domain.size.units < FEWEST_UNITS and not _has_two_values(statistics[: domain.size.units], scored):
            return nothing | {"log": log, "few_units": True}
        error = typical_log_error(influence, pairs) if np.isfinite(influence).all() else None
        return nothing | {"log": log, "log_error": error, "freedom": domain.size.units - 1}

    def _describe_shared(self, cubes: Mapping[str, xr.Dataset]) -> list[str]:
        """Say which test sets have items in common: what they know of standard errors is then not independent."""
        items = {
            name: tuple(map(str, next(iter(of_set.values())).data["item"].values.tolist()))
            for name, of_set in self.statistics.items()
            if name in cubes and of_set and "item" in next(iter(of_set.values())).data.coords
        }
        told = []
        for place, one in enumerate(items):
            for other in list(items)[place + 1 :]:
                shared = count_shared(items[one], items[other])
                if shared:
                    told.append(f"{one} and {other} ({shared:,})")
        if not told:
            return []
        return [f"Items in common, by their names: {', '.join(told)}. The test takes test sets as independent: these are not."]


def _has_two_values(statistics: NDArray[np.int64], scored: ScoredStatistics) -> bool:
    """Say whether every unit scores one of two values, as right and wrong answers do."""
    numerator, *others = np.moveaxis(statistics, -1, 0)
    constant = all((one == one.flat[0]).all() for one in others)
    return scored.form == "ratio" and constant and len(np.unique(numerator)) <= 2


def _list_domains(cubes: Mapping[str, xr.Dataset], metric: str, procedure: str, asked: int | None) -> list[_Domain]:
    there = {name: cube for name, cube in cubes.items() if (metric, procedure) in list_slices(cube)}
    sizes = {name: read_units(cube) for name, cube in there.items()}
    if not sizes:
        return []
    wanted = choose_units(sizes, asked)
    domains = []
    for name, cube in there.items():
        size = size_of(sizes[name], wanted)
        table = read_pairs(cube, metric=metric, test_size=size.label, procedure=procedure)
        domains.append(_Domain(name, cube, size, table))
    return domains


def _thresholds(domain: _Domain, spec: Window) -> dict[str, Any]:
    table, scale = domain.table, domain.size.scale
    inside = table.usable & spec.holds(table.p)
    gain = percentile_of(table.gain[inside], spec.percentile)
    se_gain = percentile_of(spec.z * table.se[table.measured], spec.percentile)
    pairs = int(inside.sum())
    return {
        "test_size": domain.size.label,
        "units": domain.size.units,
        "scale": scale,
        "gain": None if gain is None else gain * scale,
        "pairs_in_window": pairs,
        "se_gain": None if se_gain is None else se_gain * scale,
        "gaussian_z": spec.z,
        "reason": None if pairs else f"no pair has a p-value in [{spec.low:g}, {spec.high:g}]",
        "warning": f"only {pairs} pairs in the window" if 0 < pairs < FEW_PAIRS else None,
    }


def _tell(typical: Mapping[str, Any]) -> dict[str, Any]:
    log, error = typical["log"], typical["log_error"]
    interval = None
    if log is not None and error:
        reach = float(stdtrit(typical["freedom"], (1 + LEVEL) / 2)) * error
        method = "infinitesimal jackknife over units, of the logarithm"
        interval = {"method": method, "level": LEVEL, "lo": float(np.exp(log - reach)), "hi": float(np.exp(log + reach))}
    return {
        "pairs_in_common": typical["pairs_in_common"],
        "typical_se": None if log is None else float(np.exp(log)),
        "interval": interval,
    }


def _why_no_test(typical: Sequence[Mapping[str, Any]]) -> str:
    if not typical[0]["pairs_in_common"]:
        return "no pair of systems varies on all the test sets"
    if any(one["few_units"] for one in typical):
        return (
            f"fewer than {FEWEST_UNITS} units of scores other than right and wrong: how far their standard errors are off is not "
            "known well enough, and a test would find differences where there are none"
        )
    if any(one["log_error"] is None for one in typical):
        return "the statistics of the items of a test set are not at hand, or a score is not defined without one of its units"
    return "the standard errors of a test set do not vary with its units"


def _list_points(domains: Sequence[_Domain], metric: str, procedure: str) -> list[dict[str, Any]]:
    """Return the pairs of each test set, one by one where they are few enough."""
    points: list[dict[str, Any]] = []
    for domain in domains:
        table, usable = domain.table, domain.table.usable
        if usable.sum() > MOST_POINTS:
            continue
        where = {"test_set": domain.name, "metric": metric, "procedure": procedure, "test_size": domain.size.label}
        columns: tuple[NDArray[Any], ...] = (table.gain, table.se, table.p)
        for place in np.flatnonzero(usable).tolist():
            gain, se, p = (float(column[place]) for column in columns)
            points.append(where | {"better": table.better[place], "worse": table.worse[place], "gain": gain, "se": se, "p": p})
    return points
