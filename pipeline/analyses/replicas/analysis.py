"""Is one model better than another, given that each was run several times? Answered under each null that is asked for.

The systems of one model are its runs. The gain of a pair is the difference of mean scores over runs; what p says depends on what is
permuted or resampled: these runs on new units, new runs on these units, or new runs on new units (docs/replicas.md). Verdicts about
single systems are not touched.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from pipeline.analyses.replicas.budget import budget_rows, list_budget_figures, show_budgets
from pipeline.analyses.replicas.data import Model, count_distinct, group_runs, load_replicas, pair_models, say_copies
from pipeline.analyses.replicas.development import TUNED, Development
from pipeline.analyses.replicas.figures import list_figures, list_histograms
from pipeline.analyses.replicas.gains import gain_rows
from pipeline.analyses.replicas.nulls import Draw, null_rows
from pipeline.analyses.replicas.options import DEFAULT_NULLS, ReplicaOptions
from pipeline.analyses.replicas.run_figures import list_p_figures, list_score_figures
from pipeline.analyses.replicas.single import WHICH, list_scores, pick_runs, single_rows
from pipeline.analyses.replicas.subsets import subset_rows
from pipeline.analyses.replicas.tables import make_tables
from pipeline.analyses.replicas.variance import take_apart
from pipeline.analyses.units import EARLIER
from pipeline.dataclass import dataclass, field
from pipeline.interfaces import Analysis, Finding, ScoredStatistics
from pipeline.options import read_options
from pipeline.procedures.registry import default_procedure
from pipeline.resampling.replicas.outputs import ObservedReplicas, Replicas, observe_replicas
from pipeline.resampling.replicas.score_deviation import spread_scores

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["ReplicaAnalysis"]

NOTES = {
    "model": (
        "Spread over runs (`s_test`) is the standard deviation of the scores of runs, on the development set (`s_dev`) too; spread "
        "over test sets (`s_sel`) is the mean over runs of the bootstrap standard deviation of a run's score, which contains no "
        "variance between runs. None says anything about a difference. The high run has the best score, the low run the worst; the "
        "median of an even number is the worse of the two in the middle, and of equal scores the first run is taken for the better "
        "one. The median run is the one to read outputs of."
    ),
    "test": (
        "A gain is the difference of the mean scores of a model's runs, the better model first; of the null multeval it is "
        "that of pooled runs, of blocks of unequal numbers of runs that of mean statistics. p is two-sided: "
        "hits/arrangements where all were counted (its bounds are p itself), otherwise (hits + 1)/(b + 1) with the 95 % "
        "Clopper-Pearson bounds of what infinitely many replicates would give; of quasi-f it is computed, 2 P(T ≥ gain/se) with df "
        "degrees of freedom, and its interval is the gain ± t se at 1 − α. Holm is over the pairs of one test set, metric and null."
    ),
    "pair": (
        "Variance components are of unit scores where the metric is a mean, otherwise of linearised ones; estimates are "
        "unbiased, so one may be negative, and counts as 0 in Var δ = 2σ²_SU/n + (σ²_run + σ²_e/n)(1/R_A + 1/R_B). With few "
        "degrees of freedom σ²_run is hardly known. se is the root of Var δ; more units are units like these."
    ),
    "single": (
        "Approximate randomization of one run of each model: of the better model the high run and of the other the low one, the "
        "median runs, the low and the high run (Clark and others 2011, Table 2, first rows), and the high runs of both. It shows "
        "how far p depends on which run one happens to have, and is no verdict: a run that was picked by its score is no sample of "
        "its model. A gain is negative where the run of the worse model is ahead."
    ),
    "gains": (
        "The gain of n runs of each model, taken from those that there are: of one run all pairs of runs, of more all choices or "
        "10 000 of them, drawn without replacement and for each model apart. How often it is against the better model is how often "
        "so few runs would have misled, on this test set."
    ),
    "subset": (
        "n runs of each model, drawn without replacement from a pool of 3n or more, {subsets} times; p of each by "
        "the null that is named: its 2.5th, 50th and 97.5th percentile (type 7), how often p ≤ α, and how often that is with the "
        "other model ahead (Clark and others 2011, Table 2, with per-output). A null that takes run effects to be "
        "absent rejects too often with any number of runs."
    ),
}
"""What must stand beside the rows of each kind."""
FILES = {
    "model": "models",
    "test": "tests",
    "pair": "pairs",
    "single": "single",
    "gains": "gains",
    "subset": "subsets",
    "none": "left_out",
}
"""The CSV file of the rows of each kind."""
MULTEVAL = (
    "The column multeval is that tool's own number, (#(|δ°| > |δ|) + 1)/(b + 1): strict, so that identical systems have the "
    "smallest."
)
STRATA = "Units are drawn, or swapped, all alike here: not within the strata that the study draws from."
RESAMPLED = (
    "Runs that were trained on resamples of one training set tell of that set: new runs are other resamples of it. What all "
    "of them owe to the set they come from is in no se and no p, however many runs there are."
)
FOLDS = (
    "Runs of a cross-validation share most of what they were trained on: the more folds, the smaller s_test, which is not the "
    "spread over training sets, and p of whole-run, paired-runs and crossed is too small for a claim about these."
)


@dataclass(frozen=True, eq=False)
class ReplicaAnalysis(Analysis):
    """What can be said of models that were run several times: p by null, spreads, variance components."""

    name: ClassVar[str] = "replicas"
    statistics: Mapping[str, Mapping[str, ScoredStatistics]] = field(default_factory=dict)

    def check(self, options: Mapping[str, Any]) -> None:
        """Refuse options that are unknown or of no use."""
        read_options(ReplicaOptions, options, analysis=self.name)

    def named_test_sets(self, options: Mapping[str, Any]) -> tuple[str, ...]:
        """Return the test sets that options name, which must be there."""
        return tuple(filter(None, (read_options(ReplicaOptions, options, analysis=self.name).development,)))

    def with_statistics(self, statistics: Mapping[str, Mapping[str, ScoredStatistics]]) -> ReplicaAnalysis:
        """Return the analysis that has the statistics of items."""
        return ReplicaAnalysis(statistics)

    def find(self, cubes: Mapping[str, xr.Dataset], options: Mapping[str, Any]) -> Finding:
        """Return rows of kind ``model``, ``pair``, ``test``, ``single``, ``gains`` and ``subset``, and ``none`` with the reason."""
        chosen = read_options(ReplicaOptions, options, analysis=self.name)
        development = Development(cubes, chosen.development)
        rows = [_tidy(row) for name, cube in cubes.items() for row in self._rows(name, cube, chosen, development)]
        notes = NOTES | {"subset": NOTES["subset"].format(subsets=chosen.subsets)}
        notes |= {"test": f"{NOTES['test']} {MULTEVAL}"} if "multeval" in chosen.chosen else {}
        if any(cube.attrs.get("strata") for cube in cubes.values()):
            notes |= {"test": f"{notes['test']} {STRATA}"}
        notes |= {"model": " ".join((notes["model"], *_say_resampled(cubes)))}
        files = {f"replicas_{name}": [row for row in rows if row["kind"] == kind] for kind, name in FILES.items()}
        rising = {(name, metric): one.higher_is_better for name, own in self.statistics.items() for metric, one in own.items()}
        files |= {"replicas_histograms": list_histograms(rows), "replicas_scores": list_scores(rows, rising)}
        files["replicas_budget"] = budget = list(budget_rows(rows))
        figures = (
            *list_score_figures(rows, cubes),
            *list_figures(rows, cubes),
            *list_p_figures(rows),
            *list_budget_figures(budget),
        )
        return Finding(
            self.name,
            tuple(rows),
            tuple(notes.values()),
            tables=(*make_tables(rows, notes), *show_budgets(budget)),
            figures=figures,
            csv=files,
        )

    def _rows(self, test_set: str, cube: xr.Dataset, options: ReplicaOptions, development: Development) -> Iterator[dict[str, Any]]:
        models = group_runs(cube, model=options.model, replica=options.replica)
        metrics = [str(metric) for metric in cube["metric"].values.tolist()]
        reason = _why_nothing(models, options)
        for metric in metrics:
            where = {"test_set": test_set, "metric": metric}
            scored = self.statistics.get(test_set, {}).get(metric)
            if reason is not None or scored is None:
                yield {"kind": "none", **where, "reason": reason or "the statistics of its items are not at hand"}
                continue
            replicas = load_replicas(scored, models, pair_models(models), unit=str(cube.attrs.get("unit", "item")))
            if replicas is None:
                yield {"kind": "none", **where, "reason": EARLIER.format(what="units")}
                continue
            draw = Draw(int(cube.attrs.get("seed", 0)), test_set, options.replicates)
            alpha = float(cube.attrs.get("alpha", 0.05))
            for row in _metric_rows(replicas, models, draw, options, alpha, tuned=test_set == options.development):
                tuned = development.describe(models, row, **where) if row["kind"] == "model" else {}
                yield {**row, **tuned, **where}


def _say_resampled(cubes: Mapping[str, xr.Dataset]) -> Iterator[str]:
    """Say what runs have in common that were trained on parts of one training set."""
    samples = {str(value) for cube in cubes.values() if "sample" in cube.variables for value in cube["sample"].values.tolist()}
    if samples & {"bootstrap", "quota", "cross-validation"}:
        yield RESAMPLED
    if "cross-validation" in samples:
        yield FOLDS


def _why_nothing(models: Sequence[Model], options: ReplicaOptions) -> str | None:
    if not models:
        return f"no system has a {options.model!r}: name the model and the replica of each system in systems.table"
    if all(len(model.runs) < 2 for model in models):
        return f"every {options.model} has one run: there are no replicas"
    return None


def _metric_rows(
    replicas: Replicas, models: Sequence[Model], draw: Draw, options: ReplicaOptions, alpha: float, *, tuned: bool
) -> Iterator[dict[str, Any]]:
    seen = observe_replicas(replicas)
    yield from _model_rows(replicas, models, seen, draw)
    if not len(replicas.pairs):
        yield {"kind": "none", "reason": "fewer than two models have two runs or more: no pair is compared"}
        return
    variances = take_apart(replicas, seen)
    copies = [
        say_copies(model.name, len(model.runs), count_distinct(array))
        for model, array in zip(models, replicas.statistics, strict=True)
    ]
    for pair, (a, b) in enumerate(replicas.pairs.tolist()):
        turned = seen.delta[pair] < 0
        better, worse = (models[b], models[a]) if turned else (models[a], models[b])
        yield {
            "kind": "pair",
            "model_a": better.name,
            "model_b": worse.name,
            "delta": abs(seen.delta[pair]),
            "identical": bool(seen.identical[pair]),
            "units": replicas.n_units,
            **variances.describe(pair, more_runs=options.more_runs, more_units=options.more_units),
            "warning": "; ".join(filter(None, (copies[a], copies[b]))) or None,
        }
    nulls = options.chosen or DEFAULT_NULLS
    tests = [
        list(null_rows(null, draw, replicas, models, seen=seen, variances=variances, copies=copies, alpha=alpha)) for null in nulls
    ]
    for rows in zip(*tests, strict=True):  # the nulls of a pair together
        yield from ({"kind": "test", **row} for row in rows if options.chosen or row["null"] != "paired-runs" or not row["reason"])
    yield from ({"kind": "single", **row} for row in single_rows(replicas, models, draw, seen=seen))
    yield from ({"kind": "gains", **row} for row in gain_rows(replicas, models, draw, options, seen=seen))
    refused = TUNED if tuned else None
    subsets = subset_rows(replicas, models, draw, options, seen=seen, alpha=alpha, refused=refused)
    yield from ({"kind": "subset", **row} for row in subsets)


def _model_rows(replicas: Replicas, models: Sequence[Model], seen: ObservedReplicas, draw: Draw) -> Iterator[dict[str, Any]]:
    # At the address of the study's own bootstrap: s_sel is of the scores that its cubes keep.
    spread = spread_scores(draw.at(default_procedure().name, replicas.n_units), replicas, replicates=draw.replicates, observed=seen)
    for place, model in enumerate(models):
        runs = len(model.runs)
        distinct = count_distinct(replicas.statistics[place])
        doubled = f"two runs have the same name {model.doubled!r} as replicas: no run of it is paired by name"
        warnings = [say_copies(model.name, runs, distinct), doubled if model.doubled is not None else None]
        few = "one run: it is not compared with other models" if runs < 2 else None
        picked = pick_runs(seen.by_run[place], higher_is_better=replicas.higher_is_better) or {}
        yield {
            "kind": "model",
            "model": model.name,
            "runs": runs,
            "distinct_runs": distinct,
            "score": spread.score[place],
            **{which: model.runs[picked[which]] if picked else None for which in WHICH},
            "scores": dict(zip(model.runs, seen.by_run[place].tolist(), strict=True)),
            "s_test": spread.s_test[place],
            "s_sel": spread.s_sel[place],
            "replicates": draw.replicates,
            "empty": int(spread.empty[place]),
            "warning": "; ".join(filter(None, warnings)) or None,
            "reason": few or ("a run has no score (0/0)" if np.isnan(spread.score[place]) else None),
        }


def _tidy(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return plain values: a number that is missing is None."""
    plain: dict[str, Any] = {}
    for key, value in row.items():
        known = value.item() if isinstance(value, np.generic) else value
        if isinstance(known, Mapping):
            known = _tidy(known)
        plain[key] = None if isinstance(known, float) and not np.isfinite(known) else known
    return plain
