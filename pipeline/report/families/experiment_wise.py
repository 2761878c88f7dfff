"""The chance of a false finding in each family without adjustment, computed in three ways and printed side by side."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pipeline.inference.multiple_comparisons.families import order_family
from pipeline.inference.multiple_comparisons.max_t import (
    AnyExceeds,
    among_exchangeable_systems,
    among_independent_tests,
    normal_critical_value,
)
from pipeline.interfaces.analyses import FULL
from pipeline.interfaces.wording import name_metric
from pipeline.procedures.registry import PROCEDURES
from pipeline.report.document import Report
from pipeline.report.families.adjustment import FamilyOf
from pipeline.report.pairs.columns import Column
from pipeline.report.pairs.cube_facts import NOT_TESTABLE, metric_fact, read_variable
from pipeline.report.pairs.pair_set import PairSet
from pipeline.report.rows import ErrorRow, FamilyKey, SharedReplicates
from pipeline.report.values import on_set

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["count_errors", "describe_errors"]

MOST = 2**25
"""Pairs × replicates that are looked at: a tenth of a second. Never under `LEAST` nor over `CHUNK` replicates."""

LEAST, CHUNK = 2000, 2**14

MOST_TOLD = 5


def count_errors(pairs: PairSet, cube: xr.Dataset, place: FamilyKey, *, family: FamilyOf, alpha: float) -> ErrorRow | None:
    """Return the chance that any of the tests of a family of equal systems rejects at α unadjusted; None of a single test.

    Copies of a system are one system, and tests are of pairs that can be rejected: with a p that is not 1 by definition.
    """
    columns, everything = pairs.columns, slice(None)
    first, second = (_stand_ins(columns)[columns[side].values] for side in ("system_a", "system_b"))
    beyond = columns["method"].equal(everything, "definition") | columns["verdict"].equal(everything, NOT_TESTABLE)
    there = columns["in_family"].equal(everything, True) & columns["p"].known(everything) & ~beyond
    lower, higher = np.minimum(first, second)[there], np.maximum(first, second)[there]
    tests, systems = len(np.unique(lower * cube.sizes["system"] + higher)), len(np.union1d(lower, higher))
    if tests < 2:
        return None
    shared = _shared(cube, place.metric, family, alpha) if PROCEDURES[place.procedure].keeps_scores else None
    return ErrorRow(
        *place,
        tests=tests,
        systems=systems,
        independent=among_independent_tests(alpha, tests),
        # Tukey's range is of all pairs.
        exchangeable=among_exchangeable_systems(alpha, systems) if family.baseline is None else None,
        shared=shared,
    )


def _stand_ins(columns: Mapping[str, Column]) -> NDArray[np.int64]:
    """Return, by position, each system the first one by name that it is a copy of, or itself."""
    names = columns["system_a"].words or ()
    rank = np.argsort(np.array(sorted(range(len(names)), key=names.__getitem__), np.int64))
    least = rank.copy()
    same = columns["identical"].equal(slice(None), True)
    first, second = (columns[side].values[same] for side in ("system_a", "system_b"))
    for one, other in ((first, second), (second, first)):
        np.minimum.at(least, one, rank[other])
    return least


def _shared(cube: xr.Dataset, metric: str, family: FamilyOf, alpha: float) -> SharedReplicates | None:
    where = {"metric": metric, "test_size": FULL}
    member = np.flatnonzero(family.members(cube))
    if "score" not in cube.variables or not len(member):
        return None
    kept = min(cube.sizes["replicate"], CHUNK, max(LEAST, MOST // len(member)))
    observed = (read_variable(cube, name, **where) for name in ("observed_delta", "se", "identical"))
    delta, se, identical = (np.asarray(values)[member] for values in observed)
    ordered = order_family(
        np.stack([cube["a"].values, cube["b"].values], axis=1)[member],
        score=np.asarray(read_variable(cube, "observed_score", **where), np.float64),
        delta=delta,
        se=se,
        identical=identical,
        higher_is_better=metric_fact(cube, "higher_is_better", metric) is not False,
    )
    counted = AnyExceeds(ordered, np.full(len(member), normal_critical_value(alpha)))
    counted.add(cube["score"].sel(where).isel(replicate=slice(0, kept)).values)
    if not counted.replicates:
        return None
    lo, hi = counted.bounds()
    return SharedReplicates(counted.share, lo, hi, counted.replicates)


def describe_errors(report: Report) -> str:
    """Return one line of the families; "" where there is no family of several tests."""
    # Families of several procedures differ only by the shared replicates: the first that has them represents all.
    told_once: dict[tuple[str, str, int], ErrorRow] = {}
    for row in sorted(report.experiment_wise, key=lambda row: row.shared is None):
        told_once.setdefault((row.test_set, row.metric, row.tests), row)
    found = [row for row in report.experiment_wise if row in told_once.values()]
    if not found:
        return ""
    several = len({row.procedure for row in found}) > 1
    told = [_tell(row, several=several) for row in found[:MOST_TOLD]]
    more = f"; {len(found) - MOST_TOLD:,} more families are in report.json" if len(found) > MOST_TOLD else ""
    return (
        f"If all systems were equal and each pair were tested at α = {report.alpha:g} by itself, some pair would be separated all "
        f"the same with a chance of {'; '.join(told)}{more}."
    )


def _tell(row: ErrorRow, *, several: bool) -> str:
    """Return the chances of a family, first the one that accounts best for the dependence between its pairs."""
    place = f"{name_metric(row.metric)} {on_set(row.test_set)}" + (f", {row.procedure}" if several else "")
    ways = [f"{_chance(row.independent)} if the {row.tests:,} tests were independent, which pairs are not"]
    if row.exchangeable is not None:
        ways.insert(0, f"{_chance(row.exchangeable)} if the {row.systems:,} systems were exchangeable")
    shared = row.shared
    if shared is not None:
        ends = f"[{_chance(shared.lo)}, {_chance(shared.hi)}]"
        ways.insert(0, f"{_chance(shared.share)} {ends} by {shared.replicates:,} shared replicates")
    others = f" ({', '.join(ways[1:])})" if ways[1:] else ""
    return f"{ways[0]}{others} for {place}"


def _chance(value: float) -> str:
    """Return a chance that never rounds to 1.

    Examples
    --------
    >>> _chance(0.5), _chance(0.9954), _chance(0.99996)
    ('0.50', '0.9954', 'over 0.9999')
    """
    if value > 0.9999:
        return "over 0.9999"
    return f"{value:.4f}" if value > 0.99 else f"{value:.2f}"
