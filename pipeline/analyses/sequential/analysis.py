"""Is one system better, if anybody may look at any time? Confidence sequences and e-values of paired bounded scores.

A test has its level if it is used once. A leaderboard or a nightly job tests again whenever items come in, and the chance that some
look finds a difference although there is none grows with the number of looks. A sequence holds at all of them together, at the
price of a wider interval. It is for means of scores that cannot leave known bounds.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any, ClassVar

from pipeline.analyses.sequential.data import choose_curves, list_pairs, read_scores
from pipeline.analyses.sequential.figures import list_figures
from pipeline.analyses.sequential.options import SequentialOptions
from pipeline.analyses.sequential.rows import HALVINGS, choose_looks, look_rows, nothing, pair_rows, product_rows
from pipeline.analyses.sequential.tables import NOTES, PRODUCT_NOTE, SECTION, describe_place, make_tables
from pipeline.analyses.units import count_shared
from pipeline.dataclass import dataclass, field
from pipeline.interfaces import Analysis, Finding, ScoredStatistics
from pipeline.options import meant, read_options

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["Sequential"]


@dataclass(frozen=True, eq=False)
class Sequential(Analysis):
    """Intervals and evidence that hold however often one looks."""

    name: ClassVar[str] = "sequential"
    of_single_runs: ClassVar[bool] = True
    statistics: Mapping[str, Mapping[str, ScoredStatistics]] = field(default_factory=dict)

    def check(self, options: Mapping[str, Any]) -> None:
        """Refuse options that are unknown or have no effect."""
        read_options(SequentialOptions, options, analysis=self.name)

    def named_test_sets(self, options: Mapping[str, Any]) -> tuple[str, ...]:
        """Return the test sets whose e-values are multiplied."""
        return read_options(SequentialOptions, options, analysis=self.name).multiply

    def with_statistics(self, statistics: Mapping[str, Mapping[str, ScoredStatistics]]) -> Sequential:
        """Return the analysis that has the statistics of items."""
        return Sequential(statistics)

    def find(self, cubes: Mapping[str, xr.Dataset], options: Mapping[str, Any]) -> Finding:
        """Return rows of kind ``pair``, ``look`` (of some pairs), ``product`` (over test sets), and ``none`` with the reason."""
        chosen = read_options(SequentialOptions, options, analysis=self.name)
        rows: list[dict[str, Any]] = []
        words: dict[tuple[str, str], str] = {}
        left = chosen.budget
        for test_set, cube in cubes.items():
            for metric in map(str, cube["metric"].values.tolist()):
                found, told = self._look_at(test_set, metric, cube, chosen, left)
                left -= HALVINGS * sum(row["units"] for row in found if row["kind"] in ("pair", "look"))
                rows += found
                if told is not None:
                    words[test_set, metric] = told
        rows += self._multiply(rows, chosen.multiply, cubes)
        files = {name: [row for row in rows if row["kind"] == kind] for name, kind in _FILES.items()}
        made = {row["kind"] for row in rows}
        return Finding(
            self.name,
            tuple(rows),
            (*(NOTES if "pair" in made else ()), *([PRODUCT_NOTE] if "product" in made else []), *words.values()),
            {"order": chosen.order},
            tables=tuple(make_tables(rows, words)),
            figures=tuple(list_figures(rows)),
            sections=(SECTION,),
            csv=files,
        )

    def _look_at(
        self, test_set: str, metric: str, cube: xr.Dataset, options: SequentialOptions, budget: float
    ) -> tuple[list[dict[str, Any]], str | None]:
        """Return the rows of a test set and metric, and what they are based on."""
        where = {"test_set": test_set, "metric": metric}
        scores = read_scores(self.statistics.get(test_set, {}).get(metric), cube, test_set, metric, options)
        if isinstance(scores, str):
            return [nothing(where, scores)], None
        pairs = list_pairs(cube, scores)
        if not pairs:
            return [nothing(where, "there is no pair of systems")], None
        alpha = options.alpha if options.alpha is not None else float(cube.attrs.get("alpha", 0.05))
        shown = list(choose_curves(scores, pairs, options.curves))
        looks = choose_looks(options.looks, scores.values.shape[1])
        rows = pair_rows(where, scores, pairs, alpha=alpha, budget=budget)
        rows += look_rows(where, scores, shown, alpha=alpha, looks=looks, budget=budget)
        pair_only = [row for row in rows if row["kind"] == "pair"]
        unit = str(cube.attrs.get("unit", "item"))
        return rows, describe_place(scores, pair_only, unit=unit, order=options.order)

    def _multiply(
        self, rows: Sequence[Mapping[str, Any]], test_sets: tuple[str, ...], cubes: Mapping[str, xr.Dataset]
    ) -> Iterator[dict[str, Any]]:
        """Yield the products over test sets, for every metric that all of them have, or the reasons why there are none."""
        for name in test_sets:
            if name not in cubes:
                reason = "; ".join(filter(None, [f"there are no results for the test set {name!r}", meant(name, cubes)]))
                yield nothing({"test_set": name, "metric": None}, reason)
                return
        for one, other in combinations(test_sets, 2):
            shared = count_shared(self._items(one), self._items(other))
            if shared:
                reason = f"not multiplied: {shared:,} of its items are in {one} too, by their names, and would count twice"
                yield nothing({"test_set": other, "metric": None}, reason)
                return
        pairs = [row for row in rows if row["kind"] == "pair" and row["test_set"] in test_sets]
        for metric in dict.fromkeys(row["metric"] for row in pairs):
            found = {name: [row for row in pairs if (row["test_set"], row["metric"]) == (name, metric)] for name in test_sets}
            made = product_rows(metric, test_sets, found, pairs[0]["alpha"])
            told = f"no pair has a sequence on all of {', '.join(test_sets)}"
            yield from made or [nothing({"test_set": None, "metric": metric}, told)]

    def _items(self, test_set: str) -> list[str]:
        """Return the names of the items of a test set; none if they are not known."""
        data = next((scored.data for scored in self.statistics.get(test_set, {}).values()), None)
        return [] if data is None or "item" not in data.coords else [str(name) for name in data["item"].values.tolist()]


_FILES = {
    "sequential_pairs": "pair",
    "sequential_looks": "look",
    "sequential_products": "product",
    "sequential_left_out": "none",
}
