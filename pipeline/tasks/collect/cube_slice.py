"""One metric at one test size, in the order of the cube and in that of the kernels, with the mapping between the two."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from pipeline.cubes.layout import CubeLayout
from pipeline.dataclass import dataclass
from pipeline.inference.direct.exact import sign_flips_of_few
from pipeline.inference.unit_diagnostics.few_units import StudentTails, evidence_floor
from pipeline.inference.unit_diagnostics.units import effective_units
from pipeline.items.stored import load_frame
from pipeline.plan.comparisons import Comparison, Size
from pipeline.plan.inputs import TestSetInputs
from pipeline.procedures.registry import PROCEDURES
from pipeline.resampling.measures import Measure, Observed
from pipeline.resampling.observe import observe
from pipeline.resampling.standard_errors.influence import PairMoments, left_out_of, pair_moments
from pipeline.store.runs import Store
from pipeline.tasks.resample import load_measure

__all__ = ["Part", "Tested", "family_pairs", "floor_of", "make_part"]


@dataclass(frozen=True, eq=False)
class Tested:
    """The family: which of the pairs are tested together, and on how many units.

    Parameters
    ----------
    member : (pair,) bool
        By name: a pair of two systems that are not the baseline is outside the family, even if one is a copy of the baseline.
    tails : StudentTails or None
        The effect of few units on the statistic of every pair; None if units are not few.
    floor : (pair,) float64 or None
        The smallest p that may decide about each pair; None if there is no such limit.
    """

    __test__ = False  # not a test class, whatever its name says to a collector

    member: NDArray[np.bool_]
    tails: StudentTails | None = None
    floor: NDArray[np.float64] | None = None


@dataclass(frozen=True, eq=False)
class Part:
    """One metric on one test size, as the cube indexes it: pairs of systems in the study's order."""

    metric: str
    size: Size
    position: NDArray[np.int64]  # of each system's statistics among the sorted distinct ones
    flat: NDArray[np.int64]  # of each pair among their pairs; -1 where both are the same
    turned: NDArray[np.bool_]  # the statistics are sorted the other way round than the pair
    measure: Measure
    observed: Observed
    moments: PairMoments
    tested: Tested
    p_sign_flip: NDArray[np.float64]  # exact two-sided, of pairs on few discordant units
    rows: slice  # of the cube's pairs: those above

    @property
    def first(self) -> int | None:
        """The first of the cube's pairs that is written; None if the part has all pairs."""
        return None if len(self.position) * (len(self.position) - 1) // 2 == self.rows.stop - self.rows.start else self.rows.start

    def floor(self, procedure: str) -> NDArray[np.float64]:
        """Return (pair,) the smallest p that a procedure may judge each pair by."""
        return floor_of(procedure, self.observed.discordant, self.p_sign_flip)

    def turn(self, gains: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return (…, pair) gains of the pairs as the cube orders them."""
        # + 0.0: a turned pair without a gain has 0, not −0.
        return np.where(self.turned, -gains, gains) + 0.0


def floor_of(procedure: str, discordant: NDArray[np.int64], p_sign_flip: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return (pair,) the smallest p that a procedure may judge each pair by."""
    reading = PROCEDURES[procedure]
    return evidence_floor(discordant, p_sign_flip if reading.needs_units else None, mid_p=reading.mid_p)


def make_part(
    store: Store, test_set: TestSetInputs, layout: CubeLayout, column: Comparison, size: Size, rows: slice | None = None
) -> Part:
    """Load the statistics of a column and observe its pairs, or some ``rows`` of them; both serve all procedures."""
    rows = rows or slice(0, len(layout.pairs))
    n = len(column.systems)
    place = {key: i for i, key in enumerate(column.systems)}
    position = np.array([place[column.key_of[system]] for system in layout.systems], np.int64)
    a, b = position[layout.pairs[rows, 0]], position[layout.pairs[rows, 1]]
    low, high = np.minimum(a, b), np.maximum(a, b)
    flat = np.where(a == b, -1, low * n - low * (low + 1) // 2 + (high - low - 1))
    measure = load_measure(
        store,
        frame=test_set.frame,
        strata=test_set.strata,
        n_units=size.n_units,
        systems=column.systems,
        metric=column.metric.name,
        options=dict(column.metric.options),
        margin=None,
        pairs=np.stack([low, high], axis=1),
        keep=np.zeros(n, np.bool_),
    )
    tested = replace(family_pairs(layout, rows), tails=_tails(store, test_set, size, measure))
    moments = pair_moments(left_out_of(measure), measure.pairs, stratum=measure.stratum)
    observed = observe(measure, se=moments.se)
    flips = sign_flips_of_few(measure, observed)
    return Part(column.metric.name, size, position, flat, a > b, measure, observed, moments, tested, flips, rows)


def family_pairs(layout: CubeLayout, rows: slice = slice(None)) -> Tested:
    """Return the family among some of a cube's pairs."""
    pairs = layout.pairs[rows]
    baseline, systems = str(layout.attrs.get("baseline") or ""), list(layout.systems)
    if not baseline:
        return Tested(np.ones(len(pairs), np.bool_))
    # A baseline whose training failed is in no pair.
    place = systems.index(baseline) if baseline in systems else -1
    return Tested((pairs == place).any(axis=1))


def _tails(store: Store, test_set: TestSetInputs, size: Size, measure: Measure) -> StudentTails:
    """Describe the units of a test size as they are drawn, which does not depend on the systems."""
    items = np.bincount(load_frame(store, test_set.frame).unit_of_item)[: size.n_units]
    return StudentTails(effective_units(items), 1 if measure.stratum is None else int(measure.stratum.max()) + 1)
