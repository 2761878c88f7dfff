"""The comparisons of a study: test sizes, and the address of every metric and procedure at every size."""

from __future__ import annotations

from collections.abc import Mapping

from pipeline.dataclass import dataclass
from pipeline.plan.inputs import Inputs, MetricInputs, OutputInputs, TestSetInputs
from pipeline.plan.methods import choose_method
from pipeline.procedures.registry import PROCEDURES
from pipeline.store.addresses import digest
from pipeline.study.schema import Study

__all__ = ["Comparison", "Size", "list_comparisons", "list_sizes", "statistics_key", "strata_drawn"]

EXTRACT_VERSION = 2
"""Raised when extraction changes its numbers; part of every address it makes."""

RESAMPLE_VERSION = 4
"""Raised when draws, counts or scores change in any bit, or the file that holds them; part of the address of every cell."""


@dataclass(frozen=True)
class Size:
    """One test size: its label, its number of units."""

    label: str
    n_units: int


@dataclass(frozen=True)
class Comparison:
    """One metric by one procedure on one test size of one test set: its address and who takes part.

    ``margin`` is None where the procedure cannot test one. ``systems`` are sorted distinct statistics keys; ``key_of`` gives
    each present system's key by name, in the study's order. ``replicates`` are drawn, for p-values or, where these are ``exact``,
    beside them.
    """

    address: str
    procedure: str
    metric: MetricInputs
    margin: float | None
    systems: tuple[str, ...]
    key_of: Mapping[str, str]
    replicates: int = 0
    exact: bool = False


def list_sizes(study: Study, test_set: TestSetInputs) -> tuple[Size, ...]:
    """Return the test sizes that fit, smallest first; ``full`` is always the last."""
    numbers = [v for v in study.resampling.test_sizes.values if isinstance(v, int) and v < test_set.n_units]
    return (*(Size(str(v), v) for v in sorted(numbers)), Size("full", test_set.n_units))


def statistics_key(test_set: TestSetInputs, missing: str, metric: MetricInputs, output: OutputInputs) -> str:
    """Return the address of one output's statistics: what was read, never where or under which name."""
    return digest(["extract", EXTRACT_VERSION, test_set.frame, test_set.gold_digest, missing, metric.identity, output.identity])


def strata_drawn(procedure: str, test_set: TestSetInputs) -> str:
    """Return the address of the strata that a procedure draws within; empty where it draws from all units alike, or swaps them."""
    return test_set.strata if PROCEDURES[procedure].strata == "drawn" else ""


def list_comparisons(
    study: Study, inputs: Inputs, test_set: TestSetInputs, size: Size, present: tuple[OutputInputs, ...]
) -> tuple[Comparison, ...]:
    """Return the columns of one test size, by procedure and metric in the study's order."""
    missing = study.test_sets[test_set.name].missing
    keys_of = [{o.system: statistics_key(test_set, missing, metric, o) for o in present} for metric in inputs.metrics]
    systems_of = [tuple(sorted(set(keys.values()))) for keys in keys_of]
    columns = []
    for procedure in study.resampling.procedures:
        for metric, keys, systems in zip(inputs.metrics, keys_of, systems_of, strict=True):
            margin = study.resampling.margin.get(metric.name) if PROCEDURES[procedure].tests_margin else None
            strata = strata_drawn(procedure, test_set)
            address = digest(
                [
                    "column",
                    RESAMPLE_VERSION,
                    [
                        *[test_set.name, study.seed, size.label, size.n_units, study.resampling.test_sizes.draw],
                        *([strata] if strata else []),
                    ],
                    [procedure, metric.identity, margin],
                ]
            )
            method = choose_method(study, test_set, metric, procedure)
            columns.append(Comparison(address, procedure, metric, margin, systems, keys, method.replicates, method.exact))
    return tuple(columns)
