"""Bootstrap and sign-flip p-values without Monte-Carlo error, for the pairs that have them.

The exact tests need two systems with the same denominators: accuracy, attachment or recall over gold, errors over references.

Pairs with few discordant units get their exact sign-flip p too, whatever procedures are requested (`sign_flips_of_few`): all 2^m
swaps are counted. With the same denominators a swap changes the gain by ± the difference of a unit; otherwise (F1, BLEU) the
outputs of the units are swapped and both systems are scored again.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator
from dataclasses import replace
from math import comb

import numpy as np
from numpy.typing import NDArray

from pipeline.inference.direct.result import LABELS, METHODS, REASONS, Bounds, DirectP, assemble, code_of
from pipeline.inference.direct.scores import MEMORY, denominator_groups, differences, why_no_numerators
from pipeline.inference.unit_diagnostics.few_units import FEW_DISCORDANT, SMALLEST
from pipeline.resampling.exact.budget import QUICK, Budget
from pipeline.resampling.exact.flips import count_reaching, sign_flip_chances
from pipeline.resampling.exact.pairs import EXACT, PairChances, compare_pairs
from pipeline.resampling.measures import Measure, Observed
from pipeline.resampling.observe import TOLERANCE

__all__ = ["exact_tests", "mark_model_tails", "sign_flips_of_few"]

PARTS = ("bootstrap", "sign-flip")
"""The laws that can be computed together: that of the bootstrap, and that of random swaps."""
"""Their names."""

_MODEL_TAIL = 1e-6

_Indices = NDArray[np.int64]


def exact_tests(
    measure: Measure, observed: Observed, *, parts: Collection[str] = PARTS, budget: Budget = QUICK, memory_bytes: int = MEMORY
) -> dict[str, DirectP]:
    """Compute the exact bootstrap, the exact sign-flip test or both, for all pairs with common denominators.

    The bootstrap gives: one-sided P(δ* > 2δ), two-sided P(|δ* − δ| ≥ δ), below-zero P(δ* < 0), at-or-below-zero P(δ* ≤ 0), each
    given that the resample is not empty. The sign-flip test gives: two-sided P(|δ°| ≥ δ), and one-sided P(δ° ≥ δ), ties included,
    which is half of it; its level is exact if the outputs of a unit are exchangeable. Beyond the budget a p-value is an enclosure,
    ``lo`` to ``hi``. Within strata there is no exact bootstrap; the sign-flip test is the same.

    Parameters
    ----------
    measure : Measure
    observed : Observed
        From `pipeline.resampling.observe.observe`.
    parts : collection of str, optional
        Those of `PARTS` to compute; with wide laws each takes time.
    budget : Budget, default QUICK
        For one tail. With constant denominators and few distinct differences a pair takes some 40 µs; otherwise up to .2 s.
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
        # This is the law of draws from all units together, which strata change; swaps are the same with strata.
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
    """Label the bootstrap p-values that are so small that they describe the resampling model, not the data."""
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


def sign_flips_of_few(measure: Measure, observed: Observed, *, memory_bytes: int = MEMORY) -> NDArray[np.float64]:
    """Compute P(|δ°| ≥ |δ|) over all swaps, for pairs that differ on fewer than `FEW_DISCORDANT` units or have no spread.

    Where the standard error is 0 and all differences have one sign, it is 2^(1 − m) with any number of units. Where denominators
    are shared it is the p of the exact sign-flip test, exact in binary: a count over a power of two. On 0/1 scores it is McNemar's
    exact test. For other scores it is what approximate randomization estimates; swaps with an undefined score are left out.

    Parameters
    ----------
    measure : Measure
    observed : Observed
        From `pipeline.resampling.observe.observe`.
    memory_bytes : int, optional
        Of a block of pairs × units; changes no result.

    Returns
    -------
    (pair,) float64
        nan where more units differ, unless all by the same, and where a score is undefined.

    Examples
    --------
    >>> from pipeline.resampling.observe import observe
    >>> right = np.repeat([[1, 0], [0, 1], [1, 1]], [8, 4, 88], axis=0)
    >>> statistics = np.stack([right, np.ones_like(right)], axis=2)
    >>> accuracy = Measure(statistics, lambda sums: sums[0] / sums[1], "ratio", True, np.array([[0, 1]]), np.zeros(2, bool))
    >>> sign_flips_of_few(accuracy, observe(accuracy)).round(4).tolist()
    [0.3877]
    """
    found = np.full(len(measure.pairs), np.nan)
    noise = TOLERANCE * np.abs(observed.score[measure.pairs]).sum(axis=1)
    with np.errstate(invalid="ignore"):  # undefined scores are nan, and stay it
        flat = (observed.se <= noise) & (observed.delta != 0)
    few = ((observed.discordant < FEW_DISCORDANT) | flat) & np.isfinite(observed.delta)
    if not few.any():
        return found
    ratios = why_no_numerators(measure) == 0
    for pair in np.flatnonzero(few & ~ratios & (observed.discordant > 0) & (observed.discordant < FEW_DISCORDANT)).tolist():
        found[pair] = _share_of_scores(measure, pair, abs(float(observed.delta[pair])) - float(noise[pair]))
    members = np.flatnonzero(few & ratios)
    known: dict[tuple[int, ...], float] = {}  # pairs of accuracy have few different laws
    for block, rows in differences(measure, observed, members, memory_bytes=memory_bytes):
        for pair, row in zip(block.tolist(), rows, strict=True):
            moved = row[row != 0]
            if len(moved) >= FEW_DISCORDANT:
                if (moved > 0).all() or (moved < 0).all():
                    found[pair] = max(2.0 ** (1 - len(moved)), SMALLEST)
                continue
            key = (int(moved.sum()), *np.sort(np.abs(moved)).tolist())
            if key not in known:
                known[key] = _share(moved)
            found[pair] = known[key]
    return found


def _share(moved: NDArray[np.int64]) -> float:
    """Return the share of swaps with a sum as far from 0: exact in binary, one side's subsets counted twice."""
    gain, sizes = abs(int(moved.sum())), np.abs(moved)
    # Σ ±v ≥ g is Σ bv ≥ (g + Σv)/2 with b in {0, 1}; both have the same parity.
    return 2 * count_reaching(sizes, (gain + int(sizes.sum())) // 2) / 2.0 ** len(moved) if gain else 1.0


_AT_ONCE = 2**13
"""Swaps that are scored together, but for the kind of unit that has more: their sums stay in the cache."""


def _share_of_scores(measure: Measure, pair: int, least: float) -> float:
    """Return the share of swaps of a pair's units whose scores differ by ``least`` or more, of those with two scores.

    Units that differ alike are interchangeable: k of c of them are swapped in comb(c, k) ways. Swapping everything only exchanges
    the two systems, so that of one kind of unit at most half are swapped.
    """
    first, second = (measure.statistics[:, system] for system in measure.pairs[pair])
    moved = first - second
    kinds, counts = np.unique(moved[moved.any(axis=1)], axis=0, return_counts=True)
    # Whole numbers below 2**53, by the check of `observe`. One swap is a column: what it moves, and in how many ways.
    change, ways = np.zeros((moved.shape[1], 1)), np.ones(1, np.int64)
    outer, halved = [(change[:, 0], 1)], False
    for kind, c in zip(kinds.astype(np.float64), counts.tolist(), strict=True):
        some = [(k, comb(c, k)) for k in range(c + 1)]
        if not halved:  # with an even count the middle is its own mirror image
            some, halved = [(k, n if 2 * k == c else 2 * n) for k, n in some[: c // 2 + 1]], True
        if change.shape[1] * len(some) <= _AT_ONCE:
            change = np.concatenate([change + k * kind[:, None] for k, _ in some], axis=1)
            ways = np.concatenate([ways * n for _, n in some])
        else:
            outer = [(far + k * kind, many * n) for far, many in outer for k, n in some]
    base = np.stack([first.sum(axis=0), second.sum(axis=0)], axis=1).astype(np.float64)
    sums = np.empty((len(base), 2, change.shape[1]))
    hits = defined = 0
    for far, many in outer:
        np.subtract((base[:, 0] - far)[:, None], change, out=sums[:, 0])
        np.add((base[:, 1] + far)[:, None], change, out=sums[:, 1])
        with np.errstate(divide="ignore", invalid="ignore"):  # 0/0 is a defined outcome: nan
            score = np.asarray(measure.score(sums), np.float64)
        gap = np.abs(score[0] - score[1])
        hits += many * int(ways[gap >= least].sum())
        defined += many * int(ways[np.isfinite(gap)].sum())
    return hits / defined
