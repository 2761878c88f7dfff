"""Which metric tells more of the same pairs apart, and which agrees with a reference? All metrics look at all pairs.

Riezler and Maxwell 2005 (W05-0908) compare two systems by NIST, BLEU and F in their Table 1 and find that NIST is the most
sensitive. Here every pair of systems is looked at by every metric. To tell more pairs apart is worth nothing if they are told apart
the wrong way: with a `reference`, such as human judgement, each metric gets its soft pairwise accuracy, and every two a test.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from pipeline.analyses.pair_classes import find_base
from pipeline.analyses.pairs import describe_copies
from pipeline.analyses.sensitivity.data import CommonPairs, Ruler, list_groups, read_common, read_items, read_unit_values
from pipeline.analyses.sensitivity.options import SensitivityOptions
from pipeline.analyses.sensitivity.pages import SECTION, list_figures, list_tables
from pipeline.analyses.sensitivity.rows import compare_rulers, describe_rulers, judge_rulers, name_ruler
from pipeline.analyses.standard_errors import describe_replaced
from pipeline.analyses.system_bootstrap import SystemBootstrap
from pipeline.analyses.units import count_shared
from pipeline.dataclass import dataclass, field
from pipeline.inference.across.pairwise_accuracy import gaussian_p, permute_measures
from pipeline.interfaces import Analysis, Finding, ScoredStatistics
from pipeline.interfaces.analyses import FULL
from pipeline.interfaces.figures import MOST_POINTS
from pipeline.options import meant, read_options
from pipeline.resampling.address import draw_key
from pipeline.resampling.draws import Draws

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["Sensitivity"]

NOTES = (
    "Compared are the pairs that differ by every measure. p is two-sided and not adjusted, by the convention of the procedure's "
    "verdicts; separated counts verdicts, adjusted for each measure's own family.",
    "Ratio: the geometric mean of |δ|/se by the first measure over that by the second. Larger gains in standard errors are found "
    "significant sooner; they may still point the wrong way.",
    "Pairs share systems: intervals resample systems, not pairs.",
)
VALIDITY = (
    "Soft pairwise accuracy: 1 − mean |p − p of the reference|, one-sided (Thompson and others 2024). The test of two measures "
    "exchanges their standardised values of whole units, with Gaussian p of these, and so its difference is not that of the table "
    "above. It asks whether the two are exchangeable: a small p may also say that they are equally accurate and err on different "
    "systems. It is about these systems, the interval about others too."
)


@dataclass(frozen=True, eq=False)
class Sensitivity(Analysis):
    """Several metrics on the same pairs: which tells more apart, and which agrees with a reference."""

    name: ClassVar[str] = "sensitivity"
    of_single_runs: ClassVar[bool] = True
    statistics: Mapping[str, Mapping[str, ScoredStatistics]] = field(default_factory=dict)

    def check(self, options: Mapping[str, Any]) -> None:
        """Refuse options that are unknown or of no use."""
        read_options(SensitivityOptions, options, analysis=self.name)

    def with_statistics(self, statistics: Mapping[str, Mapping[str, ScoredStatistics]]) -> Sensitivity:
        """Return the analysis that has the statistics of items."""
        return Sensitivity(statistics)

    def find(self, cubes: Mapping[str, xr.Dataset], options: Mapping[str, Any]) -> Finding:
        """Return rows of measures, of every two, and of each against the reference; or one with the reason why there are none."""
        chosen = read_options(SensitivityOptions, options, analysis=self.name)
        rows: list[dict[str, Any]] = []
        points: list[dict[str, Any]] = []
        for procedure, rulers in list_groups(cubes, across=chosen.across_test_sets):
            where = {"scope": "all test sets" if chosen.across_test_sets else rulers[0].test_set, "procedure": procedure}
            if len(rulers) < 2:
                rows.append(where | {"kind": "none", "reason": _lonely(rulers[0], chosen)})
                continue
            found = read_common(cubes, rulers, procedure, chosen.alpha)
            if not len(found.pairs):
                rows.append(where | {"kind": "none", "reason": "no pair of systems differs by all of the measures"})
                continue
            rows += self._rows(cubes, found, where, chosen)
            points += _list_points(found, where)
        notes = [*NOTES, *([VALIDITY] if chosen.reference else [])]
        notes += [note for note in (describe_copies(cubes), describe_replaced(cubes)) if note]
        names = {kind: [row for row in rows if row["kind"] == kind] for kind in ("measure", "two", "validity", "test", "none")}
        return Finding(
            self.name,
            tuple(rows),
            tuple(notes),
            tables=tuple(list_tables(rows, notes)),
            figures=tuple(list_figures(rows, points)),
            sections=(SECTION,),
            csv={
                "sensitivity": [*names["measure"], *names["none"]],
                "sensitivity_two": names["two"],
                "sensitivity_validity": names["validity"],
                "sensitivity_tests": names["test"],
                "sensitivity_pairs": points,
            },
            interval_of={"sensitivity_two": "ratio", "sensitivity_validity": "soft_pairwise_accuracy"},
        )

    def _rows(
        self, cubes: Mapping[str, xr.Dataset], found: CommonPairs, where: Mapping[str, Any], options: SensitivityOptions
    ) -> Iterator[dict[str, Any]]:
        cube = cubes[found.rulers[0].test_set]
        alpha = float(cube.attrs.get("alpha", 0.05)) if options.alpha is None else options.alpha
        seed = int(cube.attrs.get("seed", 0))
        systems = SystemBootstrap(found.systems, find_base(cube), seed, str(where["scope"]), FULL)
        yield from describe_rulers(found, where, alpha)
        yield from compare_rulers(found, where, alpha, systems, options.interval_replicates)
        if options.reference is None:
            return
        reference = _find_reference(options.reference, found.rulers)
        if isinstance(reference, str):
            yield {**where, "kind": "none", "reason": reference}
            return
        yield from judge_rulers(found, reference, where, systems, options.interval_replicates)
        yield from self._test(cubes, found, reference, where, options.permutations, seed)

    def _test(
        self,
        cubes: Mapping[str, xr.Dataset],
        found: CommonPairs,
        reference: Ruler,
        where: Mapping[str, Any],
        permutations: int,
        seed: int,
    ) -> Iterator[dict[str, Any]]:
        """Test every two measures for the same accuracy."""
        values = {
            ruler: read_unit_values(self.statistics.get(ruler.test_set, {}).get(ruler.metric), cubes[ruler.test_set], found.systems)
            for ruler in found.rulers
        }
        items = {ruler: read_items(self.statistics.get(ruler.test_set, {}).get(ruler.metric)) for ruler in found.rulers}
        truth = values.pop(reference)
        for one, other in combinations(values, 2):
            names = {"first": name_ruler(one, found.rulers), "second": name_ruler(other, found.rulers)}
            row: dict[str, Any] = {**where, "kind": "test", **names, "difference": None, "p": None, "reason": None}
            a, b = values[one], values[other]
            if truth is None or a is None or b is None:
                row["reason"] = "the statistics of items are not at hand, or a score is not defined without one of the units"
            elif a.shape != b.shape:
                row["reason"] = "the two measures are of different units"
            elif why := _why_apart(one, other, items):
                row["reason"] = why
            else:
                rule = " / ".join(names.values())
                key = draw_key(seed=seed, purpose="sensitivity", test_set=one.test_set, size=FULL, rule=rule)
                draws = Draws(key, a.shape[1], a.shape[1])
                p_of_truth = gaussian_p(truth, found.pairs)
                row["difference"], row["p"] = permute_measures(a, b, p_of_truth, found.pairs, draws, permutations=permutations)
            yield row


def _lonely(ruler: Ruler, options: SensitivityOptions) -> str:
    several = "" if options.across_test_sets else "; across_test_sets: true compares those of different test sets"
    return f"{ruler.test_set} has one metric: there is nothing to compare it with{several}"


def _find_reference(asked: str, rulers: Sequence[Ruler]) -> Ruler | str:
    """Return the measure of a name, or say why there is not one."""
    named = [name_ruler(ruler, tuple(rulers)) for ruler in rulers]
    if asked in named:
        return rulers[named.index(asked)]
    fitting = [ruler for ruler in rulers if asked in (ruler.metric, ruler.test_set, f"{ruler.test_set}/{ruler.metric}")]
    if len(fitting) == 1:
        return fitting[0]
    if fitting:
        each = ", ".join(f"{ruler.test_set}/{ruler.metric}" for ruler in fitting)
        return f"several measures are called {asked!r}: say which of {each}"
    said = f"no measure is called {asked!r}; there are {', '.join(named)}"
    return "; ".join(filter(None, [said, meant(asked, named)]))


def _why_apart(one: Ruler, other: Ruler, items: Mapping[Ruler, Sequence[str]]) -> str | None:
    """Say why values of two measures do not belong together item by item; None where they do."""
    if one.test_set == other.test_set:
        return None
    if items[one] != items[other]:
        return "the two measures list other items, or the same in another order: no two values belong together"
    if count_shared(items[one], items[other]) is None:
        return "items of the two test sets have no names but their numbers: whether they are the same is not known"
    return None


def _list_points(found: CommonPairs, where: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Go through the common pairs, by every measure, where they are few enough."""
    if len(found.pairs) > MOST_POINTS:
        return
    for place, ruler in enumerate(found.rulers):
        for (a, b), z, p in zip(found.pairs.tolist(), found.z[place].tolist(), found.p[place].tolist(), strict=True):
            names = {"system_a": found.systems[a], "system_b": found.systems[b]}
            yield {**where, "measure": name_ruler(ruler, found.rulers), **names, "ratio": z, "p": None if np.isnan(p) else p}
