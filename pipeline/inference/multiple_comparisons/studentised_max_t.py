"""Studentised step-down max-T: the p-values by which the bootstrap judges the pairs of a family.

Each pair has t = |δ| / se, each replicate t* = |δ* − δ| / se* with se* the standard error *of the replicate*
(`pipeline.resampling.standard_errors.studentise`). The maximum over pairs has on the replicates the law that it has in the data,
few units and skewed scores included, as far as they show in the data (Romano and Wolf 2005, doi:10.1198/016214504000000539; Hall
1988, doi:10.1214/aos/1176350933). A family of one pair goes the same way: its p is that of the symmetric bootstrap-t.

*A further system never lowers a p.* All families have the same replicates. A replicate without a t*, as its score is undefined or
it has no spread, reaches every t. And pairs are compared by min(t, cap), with the cap of each pair a matter of its own data.

*Caps.* What a pair cannot show, its replicates do not either: otherwise one pair of near copies, whose units all are missing from
many replicates, would keep a whole family from being separated.

- A pair that differs on m < 20 units which score one of two values has the exact p of its wins. It counts for the quantile of that
  p, and its replicates for that of their own chances, at most for the quantile of m wins without a loss (`few_wins`).
- Of other scores, a pair that differs on m < 20 units has no evidence beyond 2^(1 − m), the smallest p of an exact test: t and t*
  of it count for at most what its own t* reach with that chance. Where the exact p itself is known (`few_units.evidence_floor`), t
  is held to what t* reach with that chance, but never the replicates: what is seen to be weak evidence must not make others look
  stronger.
- One whose scores are undefined in a share q of the replicates has no evidence beyond q, and counts for at most z with 2Φ(−z) = q.

Nothing here goes below the floor of few units: who decides takes the larger of p and the floor.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pipeline.compiled import kernel
from pipeline.dataclass import dataclass
from pipeline.inference.multiple_comparisons.families import PairFamily, order_family
from pipeline.inference.unit_diagnostics.few_units import FEW_DISCORDANT, sign_flip_floor
from pipeline.inference.unit_diagnostics.few_wins import FewWins
from pipeline.numerics.special import ndtri
from pipeline.resampling.draws import Draws
from pipeline.resampling.measures import Measure, Observed
from pipeline.resampling.observe import TOLERANCE
from pipeline.resampling.standard_errors.influence_spread import linear_errors
from pipeline.resampling.standard_errors.studentise import BEYOND, Studentised, studentise
from pipeline.resampling.standard_errors.studentise_budget import replicates_again
from pipeline.resampling.strata import StratifiedDraws

__all__ = ["StudentisedMaxT", "critical_value", "replicates_in_use", "studentised_max_t"]

_FEW = 64  # pairs, whose t* NumPy counts before a kernel is loaded


@dataclass(frozen=True, eq=False)
class StudentisedMaxT:
    """The family's p-values, in the order of the measure's pairs.

    Parameters
    ----------
    family : PairFamily
        ``family.reason`` says why a pair is no member.
    p : (pair,) float64
        (#(max_{k ≥ j} min(t*_k, cap_k) ≥ min(t_j, cap_j)) + 1) / (b + 1), made monotone, and no smaller than ``alone``; 1 where
        known without a replicate, nan where there is none.
    alone : (pair,) float64
        (#(min(t*_j, cap_j) ≥ min(t_j, cap_j)) + 1) / (b + 1): of each pair by itself, of those outside the family too; where few
        units differ that are right or wrong McNemar's exact p. It is ``p`` where a family has no other pair.
    replicates : int
        b, of all pairs.
    se : (pair,) float64
        What t divides the gain by, in the metric's points; nan where there is none.
    largest : (replicate,) float64
        max_k min(t*_k, cap_k) over all members, ascending; infinite where any is undefined. A single step compares with it. Of
        pairs of `pipeline.inference.unit_diagnostics.few_wins` t and t* are what these count for.
    """

    family: PairFamily
    p: NDArray[np.float64]
    alone: NDArray[np.float64]
    replicates: int
    se: NDArray[np.float64]
    largest: NDArray[np.float64]


def studentised_max_t(
    measure: Measure,
    observed: Observed,
    *,
    draws: Draws | StratifiedDraws,
    scores: NDArray[np.float64],
    floor: NDArray[np.float64],
    member: NDArray[np.bool_] | None = None,
    memory_bytes: int = 2**28,
    show: Callable[[Studentised], None] | None = None,
) -> StudentisedMaxT:
    """Adjust the p-values of one family by studentised step-down max-T.

    Parameters
    ----------
    measure, observed
        The pairs, and their gains.
    draws : Draws or StratifiedDraws
        The stream of the paired bootstrap: its first replicates are drawn again.
    scores : (system, replicate) float64
        Kept scores of these replicates, nan where undefined. As many are used as `replicates_again` says, whatever the family.
    floor : (pair,) float64
        From `pipeline.inference.unit_diagnostics.few_units.evidence_floor`: no p goes below it, as far as this family is concerned.
    member : (pair,) bool, optional
        The pairs that are tested together; all by default.
    memory_bytes : int, optional
        As of `pipeline.resampling.standard_errors.studentise.studentise`.
    show : callable, optional
        Given the t* of every pair that is counted, some at a time and each once: most of the time goes into making them.
    """
    replicates = replicates_again(scores.shape[1])
    scores = np.ascontiguousarray(scores[:, :replicates])
    asked: dict[str, Any] = {"replicates": replicates, "scores": scores, "memory_bytes": memory_bytes}
    se, cap = linear_errors(measure), _caps(measure.pairs, scores)
    wins = FewWins.of(measure, observed, se)
    cap, reach = np.minimum(cap, wins.most), np.full(len(se), np.inf)
    few = np.flatnonzero((observed.discordant > 0) & (observed.discordant < FEW_DISCORDANT) & ~wins.chosen)
    for block in studentise(draws, measure, chosen=few, **asked) if len(few) else ():
        own = block.pair
        with np.errstate(divide="ignore", invalid="ignore"):  # pairs without a standard error are no members
            slack = 2 * TOLERANCE * np.abs(observed.score[measure.pairs[own]]).sum(axis=1) / se[own]
        least = sign_flip_floor(observed.discordant[own])
        held, reach[own] = (_reached_in(block.t, share) + slack for share in (least, np.fmax(floor[own], least)))
        cap[own] = np.minimum(cap[own], np.where(held < BEYOND, held, _gauss(least)))
    tested = np.ones(len(se), np.bool_) if member is None else member
    counted: dict[str, Any] = {"cap": cap, "reach": np.minimum(cap, reach), "se": se, "wins": wins, "show": show}
    family, inside = _count(draws, measure, observed, asked, chosen=tested, **counted)
    p = np.where(family.certain, 1.0, np.nan)
    alone, exact = p.copy(), wins.p[family.pair]
    p[family.pair] = np.maximum.accumulate((inside.successive + 1) / (replicates + 1))
    alone[family.pair] = np.where(np.isnan(exact), (inside.own + 1) / (replicates + 1), exact)
    p[family.pair] = np.maximum(p, alone)[family.pair] if len(family.pair) > 1 else alone[family.pair]
    if not tested.all():
        others, outside = _count(draws, measure, observed, asked, chosen=~tested, **counted)
        exact = wins.p[others.pair]
        alone[others.certain] = 1.0
        alone[others.pair] = np.where(np.isnan(exact), (outside.own + 1) / (replicates + 1), exact)
    return StudentisedMaxT(family, p, alone, replicates, se, np.sort(inside.largest))


def replicates_in_use(kept: int) -> int:
    """Return on how many of the kept replicates p is counted: those that are drawn again, each for a standard error of its own."""
    return replicates_again(kept)


def critical_value(largest: NDArray[np.float64], alpha: float) -> float:
    """Return c, beyond which a single step separates: t > c where and only where (#(largest ≥ t) + 1) / (b + 1) ≤ α.

    Parameters
    ----------
    largest : (replicate,) float64
        As of `StudentisedMaxT`, ascending.
    alpha : float

    Returns
    -------
    float
        Infinite where so few replicates separate nothing, and where too many have no t*.

    Examples
    --------
    >>> critical_value(np.arange(99.0), 0.05), critical_value(np.arange(9.0), 0.05)
    (94.0, inf)
    """
    allowed = int(alpha * (len(largest) + 1) * (1 + 1e-12)) - 1
    found = float(largest[len(largest) - 1 - allowed]) if allowed >= 0 else np.inf
    return found if found < BEYOND else np.inf


class _Counted(NamedTuple):
    """In how many replicates the pairs of a family are reached, the largest t first."""

    own: NDArray[np.int64]  # (member,) by its own t*
    successive: NDArray[np.int64]  # (member,) by the largest t* of it and of all with a smaller t
    largest: NDArray[np.float64]  # (replicate,) of all


def _count(
    draws: Draws | StratifiedDraws,
    measure: Measure,
    observed: Observed,
    asked: Mapping[str, Any],
    *,
    chosen: NDArray[np.bool_],
    cap: NDArray[np.float64],
    reach: NDArray[np.float64],
    se: NDArray[np.float64],
    wins: FewWins,
    show: Callable[[Studentised], None] | None,
) -> tuple[PairFamily, _Counted]:
    family = order_family(
        measure.pairs,
        score=observed.score,
        delta=observed.delta,
        se=se,
        identical=observed.identical,
        higher_is_better=measure.higher_is_better,
        chosen=chosen,
        counts=wins.counts,
        reach=reach,
    )
    # From the smallest t to the largest: the maximum so far is that of the pair and all below it.
    pair, least = family.pair[::-1], family.members.least[::-1]
    own, successive = np.zeros((2, len(pair)), np.int64)
    largest, done = np.zeros(asked["replicates"]), 0
    if len(pair):
        for block in studentise(draws, measure, chosen=pair, **asked):
            rows = slice(done, done + len(block.pair))
            if show is not None:
                show(block)
            wins.put_on_scale(block)  # nobody asks for these t* again
            count_reaching = _count_few if len(pair) <= _FEW else _count_reaching
            count_reaching(block.t, cap[block.pair], least[rows], largest, own[rows], successive[rows])
            done = rows.stop
    return family, _Counted(own[::-1], successive[::-1], largest)


def _count_few(
    t: NDArray[np.float64],
    cap: NDArray[np.float64],
    least: NDArray[np.float64],
    largest: NDArray[np.float64],
    own: NDArray[np.int64],
    successive: NDArray[np.int64],
) -> None:
    """Do what `_count_reaching` does in NumPy, and so with the same counts."""
    for pair, values in enumerate(np.abs(t)):
        size = np.where(values < cap[pair], values, cap[pair])
        own[pair] = np.count_nonzero(size >= least[pair])
        largest[:] = np.where(size > largest, size, largest)
        successive[pair] = np.count_nonzero(largest >= least[pair])


def _caps(pairs: NDArray[np.integer], scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the largest t that counts of each pair with undefined scores; infinite where all are defined."""
    lacking = np.isnan(scores)
    if not lacking.any():
        return np.full(len(pairs), np.inf)
    hits = np.array([np.count_nonzero(lacking[a] | lacking[b]) for a, b in pairs.tolist()])
    return _gauss(np.where(hits > 0, (hits + 1) / (scores.shape[1] + 1), 0.0))


def _reached_in(t: NDArray[np.float64], share: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the least z that (pair, replicate) t* reach in at most this share of the p they give; infinite where none is."""
    replicates, found = t.shape[1], np.full(len(t), np.inf)
    size = np.where(np.isnan(t), np.inf, np.abs(t))
    for pair, allowed in enumerate((share * (replicates + 1)).astype(np.int64) - 1):
        if allowed >= replicates:
            found[pair] = 0.0
        elif allowed >= 0:
            # Above the largest that is one too many.
            found[pair] = np.nextafter(np.partition(size[pair], replicates - 1 - allowed)[replicates - 1 - allowed], np.inf)
    return found


def _gauss(p: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return z with 2Φ(−z) = p; infinite where p is 0."""
    with np.errstate(divide="ignore"):
        return np.asarray(-ndtri(np.clip(p, 0.0, 1.0) / 2), np.float64)


@kernel
def _count_reaching(
    t: NDArray[np.float64],
    cap: NDArray[np.float64],
    least: NDArray[np.float64],
    largest: NDArray[np.float64],
    own: NDArray[np.int64],
    successive: NDArray[np.int64],
) -> None:
    """Fill how often |t*| of a pair, and the largest of it and of those before it, reach what counts as its t.

    Parameters
    ----------
    t : (pair, replicate) float64
        The smallest t first; nan and infinite ones count as the cap.
    cap, least : (pair,) float64
    largest : (replicate,) float64
        Of the pairs before; of these too when it is done.
    own, successive : (pair,) int64
    """
    for pair in range(len(t)):
        most, threshold, alone, reached = cap[pair], least[pair], 0, 0
        for i in range(t.shape[1]):
            size = abs(t[pair, i])
            size = size if size < most else most  # not so of nan
            alone += size >= threshold
            highest = size if size > largest[i] else largest[i]
            largest[i] = highest
            reached += highest >= threshold
        own[pair] = alone
        successive[pair] = reached
