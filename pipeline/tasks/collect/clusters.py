"""Clusters of items, and their effect on the pairs of systems."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.dataclass import dataclass
from pipeline.inference.unit_diagnostics.units import UnitEffects, effective_units, unit_effects
from pipeline.items.stored import load_frame, load_grouping, number_groups
from pipeline.plan.comparisons import Comparison
from pipeline.plan.inputs import TestSetInputs
from pipeline.resampling.standard_errors.influence import leave_one_out
from pipeline.store.runs import Store
from pipeline.study.grouping import DOCUMENT, ITEM
from pipeline.study.schema import Study
from pipeline.tasks.collect.cube_slice import Part
from pipeline.tasks.extract import load_statistics
from pipeline.tasks.resample import unit_statistics

__all__ = ["Clusters", "groups_of_items", "load_clusters", "measure_clusters", "strata_facts"]


@dataclass(frozen=True, eq=False)
class Clusters:
    """Clusters of items: the units, or the documents if items are drawn although documents are known.

    Parameters
    ----------
    column : str
        Of the units, or ``document``.
    of_item : (item,) int64
        The cluster of each item.
    unit_of_item : (item,) int64
    """

    column: str
    of_item: NDArray[np.int64]
    unit_of_item: NDArray[np.int64]

    def facts(self) -> dict[str, Any]:
        """Return the attributes of a cube that describe them."""
        sizes = np.bincount(self.of_item)
        return {"clusters": {"column": self.column, "count": len(sizes), "effective": effective_units(sizes)}}


def load_clusters(store: Store, test_set: TestSetInputs) -> Clusters | None:
    """Return the clusters of a test set; None if items are drawn and their documents are not known."""
    unit_of_item = np.asarray(load_frame(store, test_set.frame).unit_of_item, np.int64)
    if test_set.unit != ITEM:
        return Clusters(test_set.unit, unit_of_item, unit_of_item)
    if test_set.documents:
        return Clusters(DOCUMENT, load_grouping(store, test_set.documents), unit_of_item)
    return None


def groups_of_items(store: Store, test_set: TestSetInputs, unit_of_item: NDArray[np.int64]) -> dict[str, list[int]]:
    """Return the stratum of each item's unit and the document of each item, as far as they are known."""
    groups: dict[str, list[int]] = {}
    if test_set.strata:
        groups["stratum"] = load_grouping(store, test_set.strata)[unit_of_item].tolist()
    if test_set.documents:
        groups["document"] = load_grouping(store, test_set.documents).tolist()
    return groups


def measure_clusters(store: Store, test_set: TestSetInputs, clusters: Clusters, column: Comparison, part: Part) -> UnitEffects:
    """Return intra-cluster correlation and design effect of all pairs on one test size, from leave-one-item-out scores."""
    chosen = np.flatnonzero(clusters.unit_of_item < part.size.n_units)
    decimals = unit_statistics(store, test_set.frame, column.systems)[1]
    scores = np.empty((len(column.systems), len(chosen)))
    for row, key in enumerate(column.systems):  # one at a time: items of all systems together may not fit where units do
        statistics = load_statistics(store, key)
        factor = np.array([10 ** (d - own) for d, own in zip(decimals, statistics.decimals, strict=True)], np.int64)
        scores[row] = leave_one_out((statistics.values[chosen] * factor)[:, None], part.measure.score)[0]
    return unit_effects(scores, part.measure.pairs, unit=number_groups(clusters.of_item[chosen]))


def strata_facts(store: Store, study: Study, test_set: TestSetInputs) -> dict[str, Any]:
    """Return the attributes of a cube that describe the strata at the full size; nothing if there are none."""
    if not test_set.strata:
        return {}
    sizes = np.bincount(load_grouping(store, test_set.strata))
    facts = {"count": len(sizes), "smallest": int(sizes.min()), "largest": int(sizes.max()), "alone": int(np.sum(sizes == 1))}
    return {"strata": {"column": study.resampling.strata, **facts}}
