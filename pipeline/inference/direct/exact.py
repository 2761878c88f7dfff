"""Bootstrap and sign-flip p-values without Monte-Carlo error. This module finds the pairs that have them.

They are those whose two systems have the same denominators: accuracy, attachment or recall over gold, errors over references.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from pipeline.inference.direct.result import LABELS, METHODS, REASONS, Bounds, DirectP, assemble, code_of
from pipeline.inference.direct.scores import MEMORY, denominator_groups, why_no_numerators
from pipeline.resampling.exact.budget import QUICK, Budget
from pipeline.resampling.exact.flips import sign_flip_chances
from pipeline.resampling.exact.pairs import EXACT, PairChances, compare_pairs
from pipeline.resampling.measures import Measure, Observed

__all__ = ["exact_tests", "mark_model_tails"]

PARTS = ("bootstrap", "sign-flip")
"""What is computed together: the exact law of the bootstrap, and that of random swaps."""
"""Their names."""

_MODEL_TAIL = 1e-6

_Indices = NDArray[np.int64]


def exact_tests(
    measure: Measure, observed: Observed, *, parts: Collection[str] = PARTS, budget: Budget = QUICK, memory_bytes: int = MEMORY
) -> dict[str, DirectP]:
    """Compute the exact bootstrap, the exact sign-flip test or both, of all pairs with common denominators.

    Of the bootstrap: one-sided P(δ* > 2δ), two-sided P(|δ* − δ| ≥ δ), below-zero P(δ* < 0), at-or-below-zero P(δ* ≤ 0), each given
    that the resample is not empty. Of the sign-flip: two-sided P(|δ°| ≥ δ), and one-sided P(δ° ≥ δ), ties included, which is half
    of it; exact in level where the outputs of a unit are exchangeable. Beyond the budget a p-value is an enclosure, ``lo`` to
    ``hi``. Within strata there is no exact bootstrap; the sign-flip is what it was.

    Parameters
    ----------
    measure : Measure
    observed : Observed
        From `pipeline.resampling.observe.observe`.
    parts : collection of str, optional
        Of `PARTS`: of wide laws each takes its time, and only what is named is computed.
    budget : Budget, default QUICK
        Of one tail. With constant denominators and few distinct differences a pair takes some 40 µs; otherwise up to .2 s.
    memory_bytes : int, optional
        As of other procedures; of no use here.

    Returns
    -------
    dict of str to DirectP

    Examples
    --------
    >>> from pipeline.resampling.observe import observe
    >>> right = np.repeat([[1, 0], [0, 1], [1, 1]], [8, 4, 88], axis=0)
    >>> statistics = np.stack([right, np.ones_like(right)], axis=2)
    >>> accuracy = Measure(statistics, lambda sums: sums[0] / sums[1], "ratio", True, np.array([[0, 1]]), np.zeros(2, bool))
    >>> found = exact_tests(accuracy, observe(accuracy))
    >>> found["bootstrap"].two_sided.round(4), found["sign-flip"].two_sided.round(4)
    (array([0.3054]), array([0.3877]))
    """
    events = (*(EXACT[:-1] if "bootstrap" in parts else ()), *(EXACT[-1:] if "sign-flip" in parts else ()))
    refused = why_no_numerators(measure)
    low, high = np.full((2, len(measure.pairs), len(EXACT)), np.nan)
    usable = np.flatnonzero((refused == 0) & np.isfinite(observed.delta))
    for members, found in _compare_groups(measure, usable, events, budget):
        low[members], high[members] = found.log10_low * math.log(10), found.log10_high * math.log(10)
    too_large = code_of("integers too large", REASONS)
    reason = {
        name: np.where((refused == 0) & np.isnan(low[:, EXACT.index(event)]), too_large, refused).astype(np.int8)
        for name, event in (("bootstrap", "two_sided"), ("sign-flip", "sign_flip"))
    }
    if measure.stratum is not None:
        # The law of draws from all units alike is another one; swaps do not know strata.
        reason["bootstrap"][:] = code_of("within strata", REASONS)
    above, _, below, at_zero, two_sided, flipped = zip(low.T, high.T, strict=True)
    bootstrap = assemble(
        {"one-sided": above, "two-sided": two_sided, "below-zero": below, "at-or-below-zero": _add(below, at_zero)},
        observed=observed,
        reason=reason["bootstrap"],
        method="exact",
    )
    half = flipped[0] - math.log(2), flipped[1] - math.log(2)
    flips = assemble({"one-sided": half, "two-sided": flipped}, observed=observed, reason=reason["sign-flip"], method="exact")
    found_by_part = {"bootstrap": mark_model_tails(bootstrap), "sign-flip": flips}
    return {part: found_by_part[part] for part in PARTS if part in parts}


def mark_model_tails(found: DirectP) -> DirectP:
    """Label the bootstrap p-values that are too small to be about the data."""
    is_deep = (found.p < _MODEL_TAIL) & (found.label == 0) & (found.method != code_of("definition", METHODS))
    return replace(found, label=np.where(is_deep, code_of("model tail", LABELS), found.label).astype(np.int8))


def _add(one: Bounds, other: Bounds) -> Bounds:
    with np.errstate(invalid="ignore"):  # nan, where a pair has no law, stays nan
        return np.logaddexp(one[0], other[0]), np.logaddexp(one[1], other[1])


def _compare_groups(
    measure: Measure, usable: _Indices, events: Collection[str], budget: Budget
) -> Iterator[tuple[_Indices, PairChances]]:
    """Compare the pairs of systems with one set of denominators together; the order of a pair and the direction do not matter."""
    if not len(usable):
        return
    groups = denominator_groups(measure)[measure.pairs[usable, 0]]
    for group in np.unique(groups).tolist():
        members = usable[groups == group]
        systems, places = np.unique(measure.pairs[members], return_inverse=True)
        numerators = np.ascontiguousarray(measure.statistics[:, systems, 0])
        denominators = np.ascontiguousarray(measure.statistics[:, systems[0], 1])
        pairs = places.reshape(-1, 2).astype(np.int64)
        try:
            yield members, compare_pairs(numerators, pairs, denominators=denominators, events=events, budget=budget)
        except ValueError:
            # Shapes were checked and denominators are fit: some pair's integers are too large. The others have their p-values.
            for member, pair in zip(members, pairs, strict=True):
                found = _compare_alone(numerators[:, pair], denominators, events, budget)
                if found is not None:
                    yield np.array([member]), found


def _compare_alone(
    numerators: NDArray[np.int64], denominators: NDArray[np.int64], events: Collection[str], budget: Budget
) -> PairChances | None:
    try:
        return compare_pairs(numerators, np.array([[0, 1]]), denominators=denominators, events=events, budget=budget)
    except ValueError:
        if EXACT[-1] not in events:
            return None
    # Thresholds of a bootstrap multiply differences by the sum of the denominators; swaps do not.
    difference = numerators[:, 0] - numerators[:, 1]
    try:
        flipped = sign_flip_chances(difference, budget=budget).two_sided
    except ValueError:
        return None
    low, high = np.full((2, 1, len(EXACT)), np.nan)
    low[0, -1], high[0, -1] = flipped.log_low / math.log(10), flipped.log_high / math.log(10)
    return PairChances(low, high, difference.sum(keepdims=True), np.count_nonzero(difference, keepdims=True))
