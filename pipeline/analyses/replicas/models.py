"""What runs say of their models: mean and spread of each, and the gain of every pair with its standard error and p.

Two claims can be made. Of *methods*: new runs, on new units; by the quasi-F. Of *these finished systems*: new units alone; by the
t-test of the means over runs of each unit, which is what remains of the quasi-F where runs are not drawn anew. Runs that are
samples of one model (epochs of a log, repeated generations) or its answers to several prompts are no trainings: a model's epochs
have nothing in common, so their claim is about the finished system. Both claims have a p and an interval that belong together.

Student's law knows nothing of few units that differ: where they are fewer than twenty, p is at least that of swapping the outputs
of whole units (`segment-block`). Nor does it know of failures that were not drawn: `undecided` says where units tell too little.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pipeline.analyses.pairs import has_value
from pipeline.analyses.replicas.data import Model, group_runs, load_replicas, pair_models
from pipeline.analyses.replicas.nulls import Draw
from pipeline.analyses.replicas.shapes import shape_of_models
from pipeline.analyses.replicas.variance import Variances, take_apart
from pipeline.dataclass import dataclass
from pipeline.inference.equivalence import two_one_sided
from pipeline.inference.unit_diagnostics.few_units import FEW_DISCORDANT
from pipeline.inference.unit_diagnostics.undecided import find_undecided
from pipeline.interfaces import ScoredStatistics
from pipeline.numerics.special import stdtr, stdtrit
from pipeline.resampling.replicas.nulls import REASONS
from pipeline.resampling.replicas.outputs import ObservedReplicas, Replicas, observe_replicas
from pipeline.resampling.replicas.p_values import find_p
from pipeline.resampling.replicas.quasi_f import QuasiF, quasi_f
from pipeline.resampling.replicas.score_deviation import run_spread

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["RUNS_ARE", "Claim", "ModelGains", "compare_models", "name_run"]

Claim: TypeAlias = Literal["methods", "systems"]

RUNS_ARE = "runs_are"
"""The coordinate of systems that says what their runs are."""

_OF_ONE_MODEL = {"samples": "sample", "prompts": "prompt"}
"""Runs that are not trained anew, and what one of them is called."""

_REPLICATES = 10_000


@dataclass(frozen=True, eq=False)
class ModelGains:
    """What is known of the models of a test set by a metric, before any verdict.

    Parameters
    ----------
    test_set, metric : str
    claim : {"methods", "systems"}
    run : str
        What one run is called: run, sample or prompt.
    unit : str
    models : tuple of str
        All of them, by name; also those with one run, and systems that are no runs of a model.
    runs : tuple of int
    by_run : tuple of (run,) float64
        The scores of their runs.
    higher_is_better : bool
    pairs : (pair, 2) int64
        Those of models with several runs.
    delta, se, degrees, p, floor : (pair,) float64
        ``delta`` > 0 where the first is better; ``p`` two-sided; ``floor`` what the p of a verdict is at least, 0 where nothing is.
    discordant : (pair,) int64
        Units on which the sums over runs differ.
    undecided : (pair,) int8
        Position in `pipeline.inference.unit_diagnostics.undecided.UNDECIDED`: why a small p is no verdict; 0 where it is one.
    identical : (pair,) bool
    reason : (pair,) str
        Why there is no p; empty where there is.
    variances : Variances
    """

    test_set: str
    metric: str
    claim: Claim
    run: str
    unit: str
    models: tuple[str, ...]
    runs: tuple[int, ...]
    by_run: tuple[NDArray[np.float64], ...]
    higher_is_better: bool
    pairs: NDArray[np.int64]
    delta: NDArray[np.float64]
    se: NDArray[np.float64]
    degrees: NDArray[np.float64]
    p: NDArray[np.float64]
    floor: NDArray[np.float64]
    discordant: NDArray[np.int64]
    undecided: NDArray[np.int8]
    identical: NDArray[np.bool_]
    reason: tuple[str, ...]
    variances: Variances

    def interval(self, level: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return δ ± t se at a level; nan where there is no standard error."""
        reach = stdtrit(self.degrees, (1 + level) / 2) * self.se
        return self.delta - reach, self.delta + reach

    def within_margin(self, margin: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the p of two one-sided tests: that the model ahead, and the one behind, is not worse by the margin."""
        ahead, behind = two_one_sided(self.delta, self.se, self.degrees, margin=margin)
        return ahead, behind

    def spread(self, model: int) -> float:
        """Return the standard deviation of the scores of a model's runs; nan of one run."""
        return run_spread(self.by_run[model])

    def se_with(self, pair: int, *, more_runs: int = 0, more_units: int = 0) -> float | None:
        """Return the standard error of a gain with more runs of each model, or more units: as the variance components fall.

        The share by which they fall is taken of `se`, which is another estimate where numbers of runs differ or a component is
        negative: with no more runs and units it is `se` itself. None where that is undefined.
        """
        new_runs = self.claim == "methods"
        now = self.variances.variance(pair, new_runs=new_runs)
        then = self.variances.variance(pair, more_runs=more_runs, more_units=more_units, new_runs=new_runs)
        return None if not now or then is None or np.isnan(self.se[pair]) else float(self.se[pair] * np.sqrt(then / now))

    def law_with(
        self, *, more_runs: NDArray[np.int64] | int = 0, more_units: NDArray[np.int64] | int = 0
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
        """Return standard errors and degrees of freedom with more runs of each model, or more units; None without components."""
        return self.variances.law(more_runs=more_runs, more_units=more_units, new_runs=self.claim == "methods")


def compare_models(
    cube: xr.Dataset, scored: ScoredStatistics, *, test_set: str, metric: str, claim: Claim | None = None
) -> ModelGains | None:
    """Return what the runs of a cube say of their models; None where no two models have several runs that are known as such.

    Parameters
    ----------
    cube : xarray.Dataset
    scored : ScoredStatistics
        The metric's, on this test set.
    test_set, metric : str
    claim : {"methods", "systems"}, optional
        By what the runs are, where nothing is asked for.
    """
    grouped = [model for model in group_runs(cube, model="model", replica="replica") if model.named or model.doubled]
    several = [model for model in grouped if len(model.runs) > 1]
    if len(several) < 2:
        return None
    within = {system for model in several for system in model.systems}
    alone = [str(name) for name in cube["system"].values.tolist() if str(name) not in within]
    models = [*several, *(Model(name, (name,), (name,), named=False) for name in alone)]
    pairs, unit = pair_models(models), str(cube.attrs.get("unit", "item"))
    replicas = load_replicas(scored, models, pairs, unit=unit)
    if replicas is None:
        return None
    run = name_run(cube, within)
    asked: Claim = claim or ("methods" if run == "run" else "systems")
    seen = observe_replicas(replicas)
    found = quasi_f(replicas, observed=seen)
    se, degrees, p, reason = _test(found, replicas, seen, asked)
    discordant, effective = _count_discordant(replicas), cube.attrs.get("effective_units")
    shape = shape_of_models(replicas, seen, discordant, effective=None if effective is None else float(effective))
    return ModelGains(
        test_set,
        metric,
        asked,
        run,
        unit,
        tuple(model.name for model in models),
        tuple(len(model.runs) for model in models),
        seen.by_run,
        scored.higher_is_better,
        pairs,
        seen.delta,
        se,
        degrees,
        p,
        _floor(replicas, discordant, p, Draw(int(cube.attrs.get("seed", 0)), test_set, _REPLICATES)),
        discordant,
        np.where(seen.identical, np.int8(0), find_undecided(shape)),
        seen.identical,
        reason,
        take_apart(replicas, seen),
    )


def name_run(cube: xr.Dataset, systems: Collection[str]) -> str:
    """Return what one of these systems is called: sample or prompt where all are that of a model, else run."""
    if RUNS_ARE not in cube.variables:
        return "run"
    known = zip(cube["system"].values.tolist(), cube[RUNS_ARE].values.tolist(), strict=True)
    said = {str(value) if has_value(value) else "" for name, value in known if str(name) in systems}
    return _OF_ONE_MODEL.get(next(iter(said)), "run") if len(said) == 1 else "run"


_WHY = {
    "identical": "",
    "undefined score": "a run has no score (0/0)",
    "one unit": "there is one unit: how far units spread is not known",
    "undefined without a unit": "a run has no score without one of its units",
    "no spread": "all runs and units differ by the same: there is no spread to compare the gain with",
}


def _test(
    found: QuasiF, replicas: Replicas, seen: ObservedReplicas, claim: Claim
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64], tuple[str, ...]]:
    """Return standard error, degrees of freedom, p, and why there is none."""
    reason = [_WHY.get(REASONS[code], "") for code in found.reason.tolist()]
    if claim == "methods":
        return found.se, found.degrees, found.p, tuple(reason)
    flat = (found.reason == 0) & (found.unit_se <= seen.slack)
    known = (found.reason == 0) & ~flat
    se = np.where(known, found.unit_se, np.nan)
    degrees = np.where(known, replicas.n_units - 1.0, np.nan)
    with np.errstate(divide="ignore", invalid="ignore"):
        p = np.where(known, 2 * stdtr(degrees, -np.abs(found.delta) / se), found.p)
    p = np.where(flat, np.where(found.delta == 0, 1.0, np.nan), p)
    return se, degrees, p, tuple(_WHY["no spread"] if bare else why for bare, why in zip(flat.tolist(), reason, strict=True))


def _count_discordant(replicas: Replicas) -> NDArray[np.int64]:
    """Count the units on which the means over runs differ, of each pair; sums are compared as integers."""
    sums, runs = [array.sum(axis=0) for array in replicas.statistics], replicas.runs.tolist()
    return np.array([(sums[a] * runs[b] != sums[b] * runs[a]).any(axis=1).sum() for a, b in replicas.pairs.tolist()], np.int64)


def _floor(replicas: Replicas, discordant: NDArray[np.int64], p: NDArray[np.float64], draw: Draw) -> NDArray[np.float64]:
    few = np.flatnonzero((discordant < FEW_DISCORDANT) & np.isfinite(p))
    floor = np.zeros(len(p))
    if len(few):
        some = _pick(replicas, few.tolist())
        found = find_p("segment-block", draw.at("segment-block", replicas.n_units), some, replicates=draw.replicates)
        least = 2.0 ** (1 - np.maximum(discordant[few], 1))
        floor[few] = np.where(np.isfinite(found.p), np.maximum(found.p, least), least)
    return floor


def _pick(replicas: Replicas, pairs: Sequence[int]) -> Replicas:
    chosen = replicas.pairs[list(pairs)]
    return Replicas(replicas.statistics, replicas.score, replicas.form, replicas.higher_is_better, chosen, replicas.follows)
