"""The paired t-test, on jackknife pseudo-values where the score is no mean."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from pipeline.interfaces import Method, Procedure

if TYPE_CHECKING:
    from pipeline.inference.direct.result import DirectP
    from pipeline.resampling.exact.budget import Budget
    from pipeline.resampling.measures import Measure, Observed

__all__ = ["PROCEDURE", "compute"]

PROCEDURE = Procedure(
    name="paired-t",
    title="the paired t-test",
    null="the expected scores of A and B are equal",
    when="to check another one: every reader knows it",
    formula="2 P(t ≥ δ / se)",
    methods=(
        Method(
            "Paired t-test",
            "2 P(t ≥ δ / se)",
            "Student's law with n − 1 degrees of freedom, se the jackknife's: exact for means of Gaussian differences, "
            "else asymptotic.",
            "Student 1908, doi:10.1093/biomet/6.1.1; Miller 1974, doi:10.1093/biomet/61.1.1",
            "https://doi.org/10.1093/biomet/6.1.1",
        ),
    ),
    page="docs/procedures/paired-t.md",
    compute="pipeline.procedures.paired_t:compute",
    also_called=("t-test", "Student's t-test", "dependent t-test", "ttest_rel", "Student"),
    one_sided="P(t_{n−1} ≥ δ / se)",
    needs_units=True,
)


def compute(measure: Measure, observed: Observed, *, budget: Budget, memory_bytes: int) -> DirectP:
    """Compute the paired t-test: the gain over its standard error, Student's law with n − 1 degrees of freedom.

    Where the score is a mean of units this is `scipy.stats.ttest_rel`, because the jackknife standard error is the usual one
    then. Elsewhere it is the same test on the jackknife pseudo-values δ + (n − 1)(mean δ₋ᵢ − δ₋ᵢ), for a ratio
    δ + (n − 1)(dᵢ − δcᵢ)/(C − cᵢ), centred: the ordinary linearisation within 1/n (Miller 1974, doi:10.1093/biomet/61.1.1).

    Parameters
    ----------
    measure : Measure
    observed : Observed
    budget, memory_bytes
        As of other procedures; of no use here.

    Returns
    -------
    DirectP
    """
    # Lists, checks and plans read the value above; what computes takes longer to import than they do.
    import numpy as np

    from pipeline.inference.direct.result import LABELS, REASONS, assemble, code_of
    from pipeline.inference.direct.scores import is_mean
    from pipeline.inference.direct.unit_tests import log_student_tail
    from pipeline.resampling.observe import TOLERANCE

    units = len(measure.statistics)
    first, second = np.abs(observed.score[measure.pairs.T])
    with np.errstate(invalid="ignore"):  # undefined scores are nan, and stay it
        flat = observed.se <= TOLERANCE * (first + second)
    reason = np.select(
        [
            np.full(flat.shape, measure.stratum is not None),  # the standard error then has no n − 1 degrees of freedom
            np.full(flat.shape, units < 2),
            np.isnan(observed.se),
            flat & (observed.delta != 0),
        ],
        [code_of(name, REASONS) for name in ("within strata", "one unit", "undefined without a unit", "no spread")],
        np.int8(0),
    ).astype(np.int8)
    t = np.divide(np.abs(observed.delta), observed.se, out=np.zeros(len(reason)), where=(reason == 0) & ~flat)
    tail = log_student_tail(t, max(units - 1, 1))
    both = np.minimum(tail + math.log(2), 0.0)
    label = np.where(is_mean(measure), code_of("t law", LABELS), code_of("jackknife t", LABELS))
    found = {"one-sided": (tail, tail), "two-sided": (both, both)}
    return assemble(found, observed=observed, reason=reason, method="asymptotic", label=label)
