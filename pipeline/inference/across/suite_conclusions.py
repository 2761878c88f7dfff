"""Both directions of many pairs over a suite of test sets, corrected over test sets, directions and pairs.

A question is a pair in one direction: "A is better than B". Within a question, partial conjunction says on how many test sets it
holds, and Holm on which. There are two corrections over all questions: Holm over their p_{1/T} says which hold anywhere; partial
conjunction of each at its share of α says on how many, for all questions together.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pipeline.dataclass import dataclass
from pipeline.inference.across.suites import conclude_suite
from pipeline.inference.multiple_comparisons.multiplicity import holm

__all__ = ["CONCLUSIONS", "SuiteConclusion", "conclude_questions", "count_alone", "count_together"]

CONCLUSIONS = ("not measured", "better", "worse", "not separated")


_ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class SuiteConclusion:
    """The conclusion about every pair, in each direction asked for.

    Parameters
    ----------
    p : (direction, u, pair) float64
        p_{u/T} times the number of directions, at most 1: compare with α.
    at_least : (direction, pair) int64
        "Better on at least u of T", each pair at level 1 − α, both directions together.
    test_sets : (pair,) int64
        T.
    holm : (direction, test_set, pair) float64
        Holm over the test sets of a pair, times the number of directions: at most α on ``at_least`` of them.
    conclusion : (test_set, pair) int8
        Position in `CONCLUSIONS`.
    over_pairs : (direction, pair) float64
        p_{1/T}, "better on any", by Holm over all pairs and directions.
    together : (direction, pair) int64
        "Better on at least u of T" for all pairs and directions together, at level 1 − α; never more than ``at_least``.
    """

    p: NDArray[np.float64]
    at_least: NDArray[np.int64]
    test_sets: NDArray[np.int64]
    holm: NDArray[np.float64]
    conclusion: NDArray[np.int8]
    over_pairs: NDArray[np.float64]
    together: NDArray[np.int64]


def conclude_questions(p: NDArray[np.float64], *, alpha: float) -> SuiteConclusion:
    """Conclude over a suite from the one-sided p-values of one direction, or of both.

    Each of two directions is tested at α/2. This holds whatever the dependence of the test sets, of the pairs and of the two
    sides. Two-sided p-values whose sign is read off the data have no such proof for the sign (Shaffer 1980,
    doi:10.1214/aos/1176345205, needs independent tests), and would not agree with the numbers of partial conjunction.

    Parameters
    ----------
    p : (direction, test_set, pair) float64
        One or two directions, better and worse; nan in all of them where the pair was not measured. The two of a pair add up to 1
        or more, because both count ties and + 1.
    alpha : float

    Examples
    --------
    >>> better = np.array([[0.001], [0.004], [0.9], [0.2]])
    >>> found = conclude_questions(np.stack([better, 1 - better]), alpha=0.05)
    >>> found.at_least[:, 0].tolist(), [CONCLUSIONS[code] for code in found.conclusion[:, 0]]
    ([2, 0], ['better', 'better', 'not separated', 'not separated'])
    >>> found.over_pairs[:, 0].round(3).tolist(), found.together[:, 0].tolist()
    ([0.008, 0.4], [2, 0])
    """
    if p.ndim != 3 or len(p) not in (1, 2):
        raise ValueError(f"p-values are (direction, test_set, pair) of one or two directions, not {p.shape}")
    if np.any(np.isnan(p) != np.isnan(p[0])):
        raise ValueError("a pair is measured in one direction and not in the other")
    if len(p) == 2 and np.any(p.sum(axis=0) < 1 - _ROUNDING):
        raise ValueError("the p-values of two directions add up to less than 1")
    sides, _, pairs = p.shape
    # Every question at α/sides.
    found = [conclude_suite(of_direction, alpha=alpha / sides) for of_direction in p]
    partial = np.stack([np.minimum(sides * suite.p, 1.0) for suite in found])
    adjusted = np.stack([np.minimum(sides * suite.holm, 1.0) for suite in found])
    at_least = np.stack([suite.at_least for suite in found])
    with np.errstate(invalid="ignore"):  # nan is not rejected
        rejected = np.stack([suite.holm <= alpha / sides for suite in found])
    none = np.zeros_like(rejected[0])
    conclusion = np.select([np.isnan(p[0]), rejected[0], rejected[1] if sides == 2 else none], [0, 1, 2], 3)
    anywhere = np.stack([suite.p[0] if len(suite.p) else np.full(pairs, np.nan) for suite in found])
    return SuiteConclusion(
        p=partial,
        at_least=at_least,
        test_sets=found[0].test_sets,
        holm=adjusted,
        conclusion=conclusion.astype(np.int8),
        over_pairs=holm(anywhere.ravel()).reshape(anywhere.shape),
        together=count_together(p, alpha=alpha),
    )


def count_alone(p: NDArray[np.float64], *, alpha: float) -> NDArray[np.int64]:
    """Return "on at least u of T" of each question, every pair at level 1 − α: (direction, pair).

    It never rises when any p does, so bounds of all p bound it.

    Parameters
    ----------
    p : (direction, test_set, pair) float64
    alpha : float
    """
    return np.stack([conclude_suite(of_direction, alpha=alpha / len(p)).at_least for of_direction in p])


def count_together(p: NDArray[np.float64], *, alpha: float) -> NDArray[np.int64]:
    """Return "on at least u of T" of all questions together, at level 1 − α: (direction, pair).

    Each question is tested at α / (directions × pairs); a pair that is decided on all of its test sets leaves, and the others share
    its part. This is a sequentially rejective procedure (Goeman and Solari 2010, doi:10.1214/10-AOS829): once all false nulls are
    rejected, a pair that has left has no null that could still be rejected wrongly, since two directions are never rejected on one
    test set; of each other pair at most the first true null in either direction counts.

    Parameters
    ----------
    p : (direction, test_set, pair) float64
        The two of a pair add up to 1 or more.
    alpha : float

    Examples
    --------
    >>> better = np.array([[0.001, 0.02], [0.002, 0.5]])  # the first pair takes .025/2, and the second one then .025
    >>> count_together(np.stack([better, 1 - better]), alpha=0.05).tolist()
    [[2, 0], [0, 0]]
    >>> better[0, 1] = 0.01
    >>> count_together(np.stack([better, 1 - better]), alpha=0.05).tolist()
    [[2, 1], [0, 0]]
    """
    adjusted = np.stack([conclude_suite(of_direction, alpha=alpha).holm for of_direction in p])
    total = np.isfinite(p[0]).sum(axis=0)
    left, counts = int((total > 0).sum()), np.zeros((len(p), p.shape[2]), np.int64)
    while left:
        with np.errstate(invalid="ignore"):  # nan is not rejected
            counts = (adjusted <= alpha / (len(p) * left)).sum(axis=1).astype(np.int64)
        undecided = int(((total > 0) & (counts.max(axis=0) < total)).sum())
        if undecided == left:
            break
        left = undecided
    return counts
