"""Choose which p-values of a study are counted on replicates, and which come from a cheaper exact law: `resampling.method`.

Where both systems of a pair divide by the same, the share of replicates that count against a gain has a limit that can be
computed. Replicates are then drawn for what needs single ones alone: max-T, intervals and kept scores.

The choice is made for a metric and procedure on a test set, from what the study asks and what the metric declares, before anything
is counted. The number of systems has no part in it: a further system would change p-values of others. So costs are those of a pair
in a study of a hundred systems, and they are constants of this module, not what `costs` foretells: a plan that learns to foretell
better shall not change what a study holds.
"""

from __future__ import annotations

from collections.abc import Sequence

from pipeline.dataclass import dataclass
from pipeline.plan.inputs import MetricInputs, TestSetInputs
from pipeline.procedures.registry import PROCEDURES, exact_limit
from pipeline.resampling.address import CELL, count_cells
from pipeline.resampling.exact.budget import POINT_SECONDS, QUICK
from pipeline.resampling.standard_errors.studentise_budget import replicates_again, replicates_within
from pipeline.study.schema import Study

__all__ = ["Method", "choose_method", "count_for_max_t", "law_seconds", "list_methods", "why_no_law"]

REPLICATE_PAIR, REPLICATE_UNIT = 9e-10, 6e-13
"""Seconds of a pair on a replicate: by itself, and its share of drawing and summing a unit for a hundred systems."""

LAW, LAW_UNIT = 2.5e-5, 2.7e-9
"""Seconds of the law of a pair that differs by −1, 0 or 1 on each unit, and of a unit of it."""


@dataclass(frozen=True)
class Method:
    """How the p-values of one metric by one procedure on one test set are found.

    Parameters
    ----------
    exact : bool
        As exact laws; otherwise they are counted.
    replicates : int
        How many are drawn.
    why : str
        The reason, for people.
    """

    exact: bool
    replicates: int
    why: str


def why_no_law(study: Study, metric: MetricInputs, procedure: str) -> str | None:
    """Say why p-values that a study asks for have no exact law, whatever it would take; None where they may have one."""
    limit = exact_limit(procedure)
    if limit is None or limit.one_sided != PROCEDURES[procedure].one_sided:
        return f"nothing computes all p-values of {procedure}"
    if metric.form != "ratio":
        return f"{metric.name} is not a ratio of sums over units"
    if metric.denominators == "own":
        return f"each system has its own denominator of {metric.name}"
    if study.resampling.strata is not None and limit.strata == "refused":
        return "units are drawn within strata"
    if metric.name in study.resampling.margin and PROCEDURES[procedure].tests_margin:
        return "replicates are counted against the margin"
    if study.preset is not None:
        return f"{study.preset} has numbers of its own, of all replicates"
    return None


def law_seconds(metric: MetricInputs, test_set: TestSetInputs) -> float:
    """Return the seconds that the exact laws of a pair take at the full test size."""
    units = test_set.n_units
    if metric.denominators == "items" and units == test_set.n_items:
        return LAW + LAW_UNIT * units
    return POINT_SECONDS * (8 * units + 2 * QUICK.points)


def choose_method(study: Study, test_set: TestSetInputs, metric: MetricInputs, procedure: str) -> Method:
    """Choose how the p-values of one metric by one procedure are found on a test set."""
    resampling = study.resampling
    if not PROCEDURES[procedure].draws:
        return Method(False, 0, f"{procedure} draws nothing")
    b = resampling.replicates
    if resampling.method == "monte-carlo":
        return Method(False, b, "as the study asks")
    why = why_no_law(study, metric, procedure)
    if why is not None:
        return Method(False, b, why)
    kept = min(b, count_cells(min(resampling.keep_replicates, b)) * CELL) if PROCEDURES[procedure].keeps_scores else 0
    if resampling.method == "exact":
        return Method(True, kept, "as the study asks")
    if metric.denominators == "unknown":
        return Method(False, b, f"nothing says that all systems share the denominators of {metric.name}")
    law = law_seconds(metric, test_set)
    spared = b - kept
    if not spared:
        return Method(False, b, f"all {b:,} replicates are kept, and so drawn anyway")
    draws = spared * (REPLICATE_PAIR + REPLICATE_UNIT * test_set.n_units)
    told = f"exact laws take {_say(law)} a pair, {spared:,} more replicates {_say(draws)}"
    return Method(True, kept, told) if law < draws else Method(False, b, told)


def list_methods(study: Study, test_set: TestSetInputs, metrics: Sequence[MetricInputs]) -> list[tuple[MetricInputs, str, Method]]:
    """Return each metric and procedure of a test set with its method, by the study's procedures."""
    pairs = [(metric, procedure) for procedure in study.resampling.procedures for metric in metrics]
    return [(metric, procedure, choose_method(study, test_set, metric, procedure)) for metric, procedure in pairs]


def count_for_max_t(study: Study, test_sets: Sequence[TestSetInputs]) -> int | None:
    """Return how many replicates max-T counts p on, adjusted and not; None where it does not decide on every test set."""
    resampling = study.resampling
    kept = resampling.scores_kept
    counted = replicates_again(kept)
    if not PROCEDURES[resampling.procedures[0]].keeps_scores or counted < 1 / resampling.alpha - 1:
        return None
    within = (replicates_within(systems=len(each.outputs), units=each.n_units, kept=kept) is None for each in test_sets)
    return counted if all(within) else None


def _say(seconds: float) -> str:
    """Return a time for people.

    Examples
    --------
    >>> _say(2.5e-5), _say(0.0634)
    ('25 µs', '63.4 ms')
    """
    return f"{1e6 * seconds:.3g} µs" if seconds < 1e-3 else f"{1e3 * seconds:.3g} ms" if seconds < 1 else f"{seconds:.3g} s"
