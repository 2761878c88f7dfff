"""How does the score of a model vary with its training sample, and which is better on the same one? Whole distributions say.

Tables 4 and 5 of Krymolowski 2001 (Using the Distribution of Performance for Studying Statistical NLP Systems and Corpora): the
distribution of recall over training samples, by the method of sampling; how often one learner is better than another on the same
sample; and whether test sets that a learner finds easy or hard are so together. All of it holds for the test sets as they are.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from pipeline.analyses.distributions.data import list_groups, read_direction
from pipeline.analyses.distributions.pages import SECTION, list_figures, list_tables
from pipeline.analyses.distributions.rows import compare_models, correlate_test_sets, describe_groups, list_scores
from pipeline.dataclass import dataclass
from pipeline.interfaces import Analysis, Finding
from pipeline.options import read_options

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["Distributions", "DistributionsOptions"]

NOTES = (
    "Scores are those of the full test set, which is taken as it is: no unit of it is drawn. What varies is the training sample.",
    "Better: how often the first model is the better one on the same training sample, a tie counting one half. It is no p-value.",
    "Intervals of independent samples alone: folds of one repetition share training items, so that means have an interval over "
    "repetitions, and shares and correlations have none.",
    "Whole: trained on the whole training set (`method: seed`). A mean below it is what samples with repetitions, or without a "
    "fold, cost.",
)
NO_MODELS = "No system has a model: this analysis needs `training:`, or a column `model` in `systems.table`."


@dataclass(frozen=True)
class DistributionsOptions:
    """There are none."""


class Distributions(Analysis):
    """Scores over training samples: their spread, two models on the same samples, and test sets that go together."""

    name: ClassVar[str] = "distributions"

    def check(self, options: Mapping[str, Any]) -> None:
        """Refuse options: there are none."""
        read_options(DistributionsOptions, options, analysis=self.name)

    def find(self, cubes: Mapping[str, xr.Dataset], options: Mapping[str, Any]) -> Finding:
        """Return rows of each model and sampling, of two models on the same samples, and of two test sets."""
        read_options(DistributionsOptions, options, analysis=self.name)
        rows: list[dict[str, Any]] = []
        scores: list[dict[str, Any]] = []
        for metric in dict.fromkeys(str(name) for cube in cubes.values() for name in cube["metric"].values.tolist()):
            there = {name: cube for name, cube in cubes.items() if metric in cube["metric"].values.tolist()}
            groups = {name: list_groups(cube, metric) for name, cube in there.items()}
            for name, own in groups.items():
                where = {"test_set": name, "metric": metric}
                rows += describe_groups(own, where)
                rows += compare_models(own, where, read_direction(there[name], metric))
                scores += list_scores(own, where)
            rows += correlate_test_sets(groups, {"test_set": None, "metric": metric})
        kinds = {kind: [row for row in rows if row["kind"] == kind] for kind in ("spread", "two", "test-sets")}
        notes = NOTES if rows else (NO_MODELS,)
        return Finding(
            self.name,
            tuple(rows),
            notes,
            tables=tuple(list_tables(cubes, rows, notes)),
            figures=tuple(list_figures(rows, scores)),
            sections=(SECTION,),
            csv={
                "distributions": kinds["spread"],
                "distributions_two": kinds["two"],
                "distributions_test_sets": kinds["test-sets"],
                "distributions_scores": scores,
            },
            interval_of={
                "distributions": "mean",
                "distributions_two": "correlation",
                "distributions_test_sets": "correlation",
            },
        )
