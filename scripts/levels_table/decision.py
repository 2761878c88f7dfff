"""What `pipeline compare` decides of a family by the paired bootstrap, from a measure and an address of draws alone."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pipeline.inference.direct.exact import sign_flips_of_few
from pipeline.inference.multiple_comparisons.studentised_max_t import StudentisedMaxT, studentised_max_t
from pipeline.inference.unit_diagnostics.few_units import evidence_floor
from pipeline.inference.unit_diagnostics.undecided import UnitShape, find_undecided
from pipeline.resampling.address import count_cells
from pipeline.resampling.draws import Draws
from pipeline.resampling.measures import Measure, Observed
from pipeline.resampling.observe import observe
from pipeline.resampling.resample import resample
from pipeline.resampling.standard_errors.influence import leave_one_out, pair_moments
from pipeline.resampling.standard_errors.studentise_budget import REPLICATES_AGAIN
from pipeline.resampling.strata import StratifiedDraws

__all__ = ["Decided", "decide_as_compare"]


@dataclass(frozen=True, eq=False)
class Decided:
    """The pairs of one family, judged.

    Parameters
    ----------
    observed : Observed
    p : (pair,) float64
        p_adjusted: two-sided, of a pair without a standard error nan.
    undecided : (pair,) int8
        Position in `pipeline.inference.unit_diagnostics.undecided.UNDECIDED`.
    max_t : StudentisedMaxT
        What they are judged by.
    """

    observed: Observed
    p: NDArray[np.float64]
    undecided: NDArray[np.int8]
    max_t: StudentisedMaxT

    def separated(self, alpha: float) -> NDArray[np.bool_]:
        """Tell which pairs are separated at a level."""
        with np.errstate(invalid="ignore"):  # nan is not rejected
            return np.asarray((self.p <= alpha) & (self.undecided == 0) & (self.observed.delta != 0))


def decide_as_compare(
    measure: Measure, draws: Draws | StratifiedDraws, *, units: float | None = None, replicates: int = REPLICATES_AGAIN
) -> Decided:
    """Judge all pairs of a measure, whose ``keep`` is True of all systems, as a comparison of so many replicates does.

    ``units`` are the effective ones; by default as many as there are.
    """
    seen = observe(measure)
    cells = range(count_cells(replicates))
    counted = resample(draws, [measure], cells=cells, replicates=replicates, keep_replicates=replicates, observed=[seen])
    scores = counted[0].score
    floor = evidence_floor(seen.discordant, sign_flips_of_few(measure, seen))
    found = studentised_max_t(measure, seen, draws=draws, scores=scores, floor=floor)
    moments = pair_moments(leave_one_out(measure.statistics, measure.score), measure.pairs, stratum=measure.stratum)
    shape = UnitShape.of(measure, seen, moments, effective=units)
    return Decided(seen, np.maximum(found.p, floor), find_undecided(shape), found)
