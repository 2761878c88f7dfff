"""Which pairs are tested together, and how often the maxima of their replicates reach their t.

`order_family` chooses the pairs that can be tested and orders them by t. The loops below it go through kept scores block by block:
`count_step_down` counts successive maxima, `count_any` whether any pair exceeds its critical value. Replicates with an undefined
score are counted separately, so p can be conditional on those in which all scores that it needs are defined.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pipeline.compiled.bare import bare_kernel
from pipeline.dataclass import dataclass
from pipeline.inference.unit_diagnostics.few_units import StudentTails
from pipeline.resampling.observe import TOLERANCE

__all__ = [
    "ALTERNATIVES",
    "FAMILIES",
    "REASONS",
    "Members",
    "PairFamily",
    "count_any",
    "count_step_down",
    "lacks_spread",
    "order_family",
]

_TILE = 1024  # replicates: 150 systems are 1.2 MB, and the running maxima stay in the level-1 cache


class Members(NamedTuple):
    """The pairs of a family, the largest t first; t* is ((first − second) − center) · scale, or its absolute value if two-sided."""

    first: NDArray[np.int64]  # (member,) row of scores
    second: NDArray[np.int64]
    center: NDArray[np.float64]  # (member,) δ
    scale: NDArray[np.float64]  # (member,) 1 / se
    least: NDArray[np.float64]  # (member,) what counts as reaching t


@bare_kernel
def count_step_down(
    scores: NDArray[np.float64],
    members: Members,
    two_sided: bool,
    hits: NDArray[np.int64],
    defined: NDArray[np.int64],
    largest: NDArray[np.float64],
) -> None:
    """Add to ``hits`` how often max_{k ≥ j} t*_k reaches t_j, and to ``defined`` how often all t*_k of k ≥ j are defined.

    The last of the successive maxima, that of the whole family, is written to ``largest`` for single-step procedures.

    Parameters
    ----------
    scores : (row, replicate) float64
        nan where undefined: the replicate then counts for no member from the smallest t up to and above the one that lacks it.
    members : Members
    two_sided : bool
    hits, defined : (member,) int64
    largest : (replicate,) float64
        nan where any t* is undefined, −inf without members.
    """
    first, second, center, scale, least = members
    largest[:] = -np.inf
    for start in range(0, scores.shape[1], _TILE):
        stop = min(start + _TILE, scores.shape[1])
        maxima = largest[start:stop]
        for member in range(len(first) - 1, -1, -1):
            a, b = scores[first[member], start:stop], scores[second[member], start:stop]
            middle, times, threshold = center[member], scale[member], least[member]
            reached = there = 0
            for i in range(stop - start):
                t = ((a[i] - b[i]) - middle) * times
                t = abs(t) if two_sided else t
                # nan enters where t is nan, and stays: no comparison with it is true.
                highest = t if (t > maxima[i] or t != t) else maxima[i]
                maxima[i] = highest
                reached += highest >= threshold
                there += highest == highest
            hits[member] += reached
            defined[member] += there


@bare_kernel
def count_any(scores: NDArray[np.float64], members: Members, two_sided: bool, critical: NDArray[np.float64]) -> tuple[int, int]:
    """Count the replicates in which all t* are defined, and those of them in which any exceeds its critical value.

    Parameters
    ----------
    scores : (row, replicate) float64
    members : Members
        ``least`` is not used.
    two_sided : bool
    critical : (member,) float64
    """
    exceeded, undefined = np.empty(_TILE, np.bool_), np.empty(_TILE, np.bool_)
    found = there = 0
    for start in range(0, scores.shape[1], _TILE):
        stop = min(start + _TILE, scores.shape[1])
        exceeded[:] = False
        undefined[:] = False
        for member in range(len(members.first)):
            a, b = scores[members.first[member], start:stop], scores[members.second[member], start:stop]
            middle, times, threshold = members.center[member], members.scale[member], critical[member]
            for i in range(stop - start):
                t = ((a[i] - b[i]) - middle) * times
                t = abs(t) if two_sided else t
                exceeded[i] |= t > threshold
                undefined[i] |= t != t
        for i in range(stop - start):
            found += exceeded[i] and not undefined[i]
            there += not undefined[i]
    return found, there


FAMILIES = ("all-pairs", "against-baseline")

ALTERNATIVES = ("two-sided", "better", "worse")
"""The two differ · the other system is better than the baseline · it is worse; a side is fixed before looking."""

REASONS = ("", "identical", "no order", "no spread", "undefined", "not in the family")
"""Why a pair is not a member: its systems are identical; δ = 0 and there is no se; se = 0 although δ is not; δ or se is undefined;
it is not tested. The first three have p = 1, the others none."""

_CERTAIN = (1, 2, 3)


@dataclass(frozen=True, eq=False)
class PairFamily:
    """The pairs tested together, the largest t first.

    Parameters
    ----------
    name : str
        One of `FAMILIES`.
    alternative : str
        One of `ALTERNATIVES`.
    pair : (member,) int64
        Positions among the pairs that were given.
    t : (member,) float64
        |δ| / se, or δ / se in the direction of the alternative; in falling order except where a floor holds a pair back.
    members : Members
        The same pairs in the form that kernels need; ``first − second`` points in the direction of the alternative.
    reason : (pair,) int8
        Position in `REASONS`; 0 for members.
    tails : StudentTails or None
        Corrects ``members.least`` for few units; ``t`` is not corrected.

    Notes
    -----
    ``members.least`` is what t* must reach. It determines the order, the largest first.
    """

    name: str
    alternative: str
    pair: NDArray[np.int64]
    t: NDArray[np.float64]
    members: Members
    reason: NDArray[np.int8]
    tails: StudentTails | None = None

    @property
    def two_sided(self) -> bool:
        """No direction is fixed."""
        return self.alternative == "two-sided"

    @property
    def certain(self) -> NDArray[np.bool_]:
        """(pair,): p is 1 without any replicate."""
        return np.isin(self.reason, _CERTAIN)


def order_family(
    pairs: NDArray[np.integer],
    *,
    score: NDArray[np.float64],
    delta: NDArray[np.float64],
    se: NDArray[np.float64],
    identical: NDArray[np.bool_],
    higher_is_better: bool = True,
    chosen: NDArray[np.bool_] | None = None,
    baseline: int | None = None,
    alternative: str = "two-sided",
    tails: StudentTails | None = None,
    counts: NDArray[np.float64] | None = None,
    reach: NDArray[np.float64] | None = None,
) -> PairFamily:
    """Choose the members of a family and order them by t = |δ| / se.

    Parameters
    ----------
    pairs : (pair, 2) int
        Rows of ``score``.
    score : (system,) float64
        As observed; replicates tie within `TOLERANCE` times these.
    delta : (pair,) float64
        Signed gain, > 0 where the first of the pair is better.
    se : (pair,) float64
    identical : (pair,) bool
    higher_is_better : bool, optional
    chosen : (pair,) bool, optional
        The pairs that are tested together, if these are not all pairs, or not all of the baseline's.
    baseline : int, optional
        Row of the system that all others are compared with. Without it, all pairs are the family.
    alternative : str, optional
        One of `ALTERNATIVES`; a side needs a baseline.
    tails : StudentTails, optional
        Of the test set's units: t is corrected for their number before replicates are compared with it. All pairs share them, so
        the order is that of t. Without it, t is not corrected.
    counts : (pair,) float64, optional
        What replaces the t of a pair, also for the order; nan where t is kept.
    reach : (pair,) float64, optional
        Upper limit of a pair's t: what its own replicates reach with the chance of its floor. It applies to the order too, so no
        pair precedes one with more evidence.

    Examples
    --------
    >>> pairs = np.array([[0, 1], [0, 2], [1, 2]])
    >>> observed = {"score": np.array([3.0, 2.0, 0.0]), "delta": np.array([1.0, 3.0, 2.0]), "se": np.array([1.0, 1.0, 0.5])}
    >>> family = order_family(pairs, **observed, identical=np.zeros(3, bool))
    >>> family.pair.tolist(), family.t.tolist()
    ([2, 1, 0], [4.0, 3.0, 1.0])
    >>> order_family(pairs, **observed, identical=np.zeros(3, bool), baseline=1, alternative="better").t.tolist()
    [1.0, -4.0]
    """
    rows: NDArray[np.int64] = np.asarray(pairs, dtype=np.int64)
    _check(rows, score, delta, se, identical, baseline, alternative)
    tested = np.ones(len(rows), np.bool_) if chosen is None else chosen
    if baseline is not None:
        tested = tested & (rows == baseline).any(axis=1)
    reason = np.where(tested, _reasons(rows, score, delta, se, identical), np.int8(5))
    pair = np.flatnonzero(reason == 0)
    turn = np.ones(len(pair))
    if alternative != "two-sided":
        turn = np.where(rows[pair, 1] == baseline, 1.0, -1.0) * (1.0 if alternative == "better" else -1.0)
    center = turn * delta[pair]
    t = (np.abs(center) if alternative == "two-sided" else center) / se[pair]
    slack = TOLERANCE * np.abs(score[rows[pair]]).sum(axis=1)
    z = t if tails is None else tails.to_replicates(t)
    if counts is not None:
        z = np.where(np.isnan(counts[pair]), z, counts[pair])
    if reach is not None:
        z = np.minimum(z, reach[pair])
    least = z - slack / se[pair]
    # Equal t in the order of what reaches them: then no p depends on the order of the pairs, not even by rounding.
    held = np.zeros(len(t)) if reach is None and counts is None else z
    order = np.lexsort((-least, -t, -held))
    forward = turn[order] * (1.0 if higher_is_better else -1.0) > 0
    pair = pair[order]
    members = Members(
        first=np.where(forward, rows[pair, 0], rows[pair, 1]),
        second=np.where(forward, rows[pair, 1], rows[pair, 0]),
        center=center[order],
        scale=1.0 / se[pair],
        least=least[order],
    )
    return PairFamily(FAMILIES[baseline is not None], alternative, pair, t[order], members, reason, tails)


def lacks_spread(
    pairs: NDArray[np.integer],
    *,
    score: NDArray[np.float64],
    delta: NDArray[np.float64],
    se: NDArray[np.float64],
    identical: NDArray[np.bool_],
) -> NDArray[np.bool_]:
    """Tell which pairs have a gain and a standard error of 0 up to rounding: all units differ by the same.

    No family includes them, since resampling them always gives the observed gain.

    Examples
    --------
    >>> given = {"score": np.array([2.0, 1.0]), "delta": np.ones(1), "identical": np.zeros(1, bool)}
    >>> [lacks_spread(np.array([[0, 1]]), **given, se=np.array([se])).tolist() for se in (0.0, 0.1)]
    [[True], [False]]
    """
    reason = _reasons(np.asarray(pairs, dtype=np.int64), score, delta, se, identical)
    return np.asarray(reason == REASONS.index("no spread"))


def _reasons(
    rows: NDArray[np.int64],
    score: NDArray[np.float64],
    delta: NDArray[np.float64],
    se: NDArray[np.float64],
    identical: NDArray[np.bool_],
) -> NDArray[np.int8]:
    undefined = ~np.isfinite(delta) | ((delta != 0) & ~np.isfinite(se))
    noise = TOLERANCE * np.abs(np.nan_to_num(score[rows])).sum(axis=1)
    spread = np.isfinite(se) & (se > noise)  # a spread that comes from rounding does not count
    return np.select([identical, undefined, spread, delta == 0], [1, 4, 0, 2], 3).astype(np.int8)


def _check(
    pairs: NDArray[np.int64],
    score: NDArray[np.float64],
    delta: NDArray[np.float64],
    se: NDArray[np.float64],
    identical: NDArray[np.bool_],
    baseline: int | None,
    alternative: str,
) -> None:
    if pairs.ndim != 2 or pairs.shape[1] != 2:
        raise ValueError(f"pairs are (pair, 2), not {pairs.shape}")
    if not delta.shape == se.shape == identical.shape == (len(pairs),):
        raise ValueError(f"delta {delta.shape}, se {se.shape} and identical {identical.shape} are not of {len(pairs)} pairs")
    if pairs.size and not (pairs.min() >= 0 and pairs.max() < len(score)):
        raise ValueError(f"pairs name systems {pairs.min()} … {pairs.max()}, there are {len(score)}")
    if alternative not in ALTERNATIVES:
        raise ValueError(f"an alternative is one of {', '.join(ALTERNATIVES)}, not {alternative!r}")
    if baseline is None and alternative != "two-sided":
        raise ValueError(f"{alternative!r} than what? a side is one against a baseline; all pairs have none")
    if baseline is not None and not (pairs == baseline).any():
        raise ValueError(f"system {baseline} is the baseline and in none of the {len(pairs)} pairs")
