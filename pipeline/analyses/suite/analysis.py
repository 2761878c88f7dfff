"""On how many test sets is a system better than another, on which, and do gains agree? One conclusion from many.

Every pair of systems that was measured on two test sets or more is asked in a direction that was fixed before looking, or in
both, each at half the level. Partial conjunction says on how many test sets it is better, Holm on which; both are corrected once
more over all pairs (docs/suites.md).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from pipeline.analyses.suite.data import NoDirection, Question, join_cubes
from pipeline.analyses.suite.figures import list_figures
from pipeline.analyses.suite.rows import pair_rows
from pipeline.analyses.suite.tables import SECTION, make_tables
from pipeline.analyses.suite.words import Summary, describe_family, sum_up
from pipeline.dataclass import dataclass
from pipeline.interfaces import Analysis, Finding, Headline
from pipeline.options import check_names, meant, read_options

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["DIRECTIONS", "SuiteAnalysis", "SuiteOptions"]

DIRECTIONS = ("both", "better", "worse")
"""Each direction at α/2 · the others are better than the baseline · they are worse; a side is fixed before looking, at α."""


@dataclass(frozen=True)
class SuiteOptions:
    """Options: the ``procedure`` (the study's first), ``metric`` and ``test_sets`` (all), ``direction`` and its ``baseline``."""

    procedure: str | None = None
    metric: tuple[str, ...] | str | None = None
    test_sets: tuple[str, ...] | str | None = None
    direction: Literal["both", "better", "worse"] = "both"
    baseline: str | None = None

    def __post_init__(self) -> None:
        if self.direction not in DIRECTIONS:
            raise ValueError(f"direction {self.direction!r} is none of {', '.join(DIRECTIONS)}")
        if len(set(self.asked)) == 1:
            raise ValueError("a suite is made of two test sets or more")
        check_names("metric", self.metric)

    @property
    def asked(self) -> tuple[str, ...]:
        """The test sets that are named."""
        return check_names("test_sets", self.test_sets)


class SuiteAnalysis(Analysis):
    """On how many of many test sets each system is better than another, on which, and whether their gains agree."""

    name: ClassVar[str] = "suite"
    of_single_runs: ClassVar[bool] = True

    def check(self, options: Mapping[str, Any]) -> None:
        """Refuse options that are unknown or of no use."""
        read_options(SuiteOptions, options, analysis=self.name)

    def find(self, cubes: Mapping[str, xr.Dataset], options: Mapping[str, Any]) -> Finding:
        """Return rows of kind ``pair``, ``test-set`` (a pair on one of them), and ``none`` where nothing can be said."""
        chosen = read_options(SuiteOptions, options, analysis=self.name)
        rows: list[dict[str, Any]] = []
        summaries: dict[tuple[Any, ...], Summary] = {}
        headlines: list[Headline] = []
        for question, used in _questions(cubes, chosen):
            if isinstance(question, str):
                rows.append({"kind": "none", "metric": None, "procedure": None, **used, "reason": question})
                continue
            where = {"metric": question.metric, "procedure": question.procedure}
            try:
                data = join_cubes(used, **where, baseline=question.baseline)
            except NoDirection as error:
                rows.append({"kind": "none", **where, "reason": str(error)})
                continue
            found = list(pair_rows(data, question))
            summaries[question.metric, question.procedure] = describe_family(found, question, data)
            rows += found
            sentence = sum_up(found, question, data)
            if sentence is not None:
                headlines.append(Headline({"metric": question.metric, "procedure": question.procedure}, sentence))
        files = {"suite_pairs": ("pair",), "suite_test_sets": ("test-set",), "suite_left_out": ("unmeasured", "none")}
        return Finding(
            self.name,
            tuple(rows),
            tuple(" ".join(summary) for summary in summaries.values()),
            tables=tuple(make_tables(rows, summaries)),
            figures=tuple(list_figures(rows, cubes)),
            sections=(SECTION,),
            csv={name: [row for row in rows if row["kind"] in kinds] for name, kinds in files.items()},
            interval_of={"suite_test_sets": "gain"},
            headlines=tuple(headlines),
        )


def _questions(cubes: Mapping[str, xr.Dataset], options: SuiteOptions) -> Iterator[tuple[Question | str, Mapping[str, Any]]]:
    """Yield each question with its cubes, or the reason why there is none with where that is."""
    wanted = options.asked or tuple(cubes)
    for name in wanted:
        if name not in cubes:
            yield _absent("test set", name, cubes), {}
    used = {name: cubes[name] for name in dict.fromkeys(wanted) if name in cubes}
    if len(used) < 2:
        yield "a suite is made of two test sets or more; " + (f"there is {', '.join(used)}" if used else "there is none"), {}
        return
    first = next(iter(used.values()))
    procedures = _all_of("procedure", used)
    procedure = options.procedure or procedures[0]
    if procedure not in procedures:
        yield _absent("procedure", procedure, procedures), {}
        return
    # `pipeline report --set` may ask for another family than the one that cubes were adjusted for.
    baseline = options.baseline or first.attrs.get("asked_baseline", first.attrs.get("baseline")) or None
    if baseline is not None and not any(baseline in cube["system"].values.tolist() for cube in used.values()):
        yield _absent("system", baseline, [str(s) for cube in used.values() for s in cube["system"].values.tolist()]), {}
        return
    if options.direction != "both" and baseline is None:
        yield f"which systems should be {options.direction}, and than which? one direction needs a baseline", {}
        return
    alpha = float(first.attrs.get("alpha", 0.05))
    metrics = _all_of("metric", used)
    for metric in check_names("metric", options.metric) or metrics:
        if metric not in metrics:
            yield _absent("metric", metric, metrics), {}
            continue
        yield Question(metric, procedure, options.direction, baseline, alpha), used


def _all_of(dimension: str, cubes: Mapping[str, xr.Dataset]) -> list[str]:
    return list(dict.fromkeys(str(name) for cube in cubes.values() for name in cube[dimension].values.tolist()))


def _absent(what: str, name: str, there: Iterable[str]) -> str:
    return "; ".join(filter(None, [f"there are no results for the {what} {name!r}", meant(name, there)]))
