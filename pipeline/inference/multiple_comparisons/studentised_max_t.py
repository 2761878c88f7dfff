"""Studentised step-down max-T: the p-values by which the bootstrap judges the pairs of a family.

Each pair has t = |δ| / se, each replicate t* = |δ* − δ| / se* with se* the standard error *of the replicate*
(`pipeline.resampling.standard_errors.studentise`). On the replicates, the maximum over pairs has the distribution that it has in
the data, including the effects of few units and skewed scores as far as these show in the data (Romano and Wolf 2005,
doi:10.1198/016214504000000539; Hall 1988, doi:10.1214/aos/1176350933). For a family of one pair, p is that of the symmetric
bootstrap-t.

*A further system never lowers a p.* All families use the same replicates. A replicate without a t*, because its score is undefined
or it has no spread, reaches every t. And pairs are compared by min(t, cap), where the cap of a pair depends only on its own data.

*Caps.* A pair's replicates count for no more evidence than the pair itself can show. Otherwise one pair of near copies, all of
whose differing units are missing from many replicates, would keep a whole family from being separated.

- A pair that differs on m < 20 units with one of two values each has the exact p of its wins. Its t is the quantile of that p, and
  its t* are those of their own chances, capped at the quantile of m wins without a loss (`few_wins`).
- With other scores, a pair that differs on m < 20 units has no evidence beyond 2^(1 − m), the smallest p of an exact test: its t
  and t* are capped at what its own t* reach with that chance. If the exact p itself is known (`few_units.evidence_floor`), t is
  also capped at what t* reach with that chance, but t* are not: weak evidence for one pair must not make others look stronger.
- A pair whose scores are undefined in a share q of the replicates has no evidence beyond q, and is capped at z with 2Φ(−z) = q.

Nothing here goes below the floor of few units: who decides takes the larger of p and the floor.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.dataclass import dataclass
from pipeline.inference.multiple_comparisons.families import PairFamily, order_family
from pipeline.inference.multiple_comparisons.reached import Reached, count_all, count_enclosed
from pipeline.inference.multiple_comparisons.reached_in_bits import count_in_bits
from pipeline.inference.unit_diagnostics.few_units import FEW_DISCORDANT, sign_flip_floor
from pipeline.inference.unit_diagnostics.few_wins import FewWins
from pipeline.numerics.special import ndtri
from pipeline.resampling.draws import Draws
from pipeline.resampling.measures import Measure, Observed
from pipeline.resampling.observe import TOLERANCE
from pipeline.resampling.standard_errors.enclosures import enclosures
from pipeline.resampling.standard_errors.influence_spread import linear_errors
from pipeline.resampling.standard_errors.studentise import BEYOND, Studentised, studentise
from pipeline.resampling.standard_errors.studentise_budget import replicates_again
from pipeline.resampling.strata import StratifiedDraws

__all__ = [
    "StudentisedMaxT",
    "critical_maximum",
    "largest_counted",
    "least_reached",
    "replicates_in_use",
    "studentised_max_t",
    "z_of_p",
]

_FEW_HELD = 0.02
"""Of the pairs of a family: where more have a cap, all t* are made."""


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
        Given the t* of every pair that is counted, some at a time and each once: most of the time goes into making them. Of a
        metric that is no ratio it may be given none, as most of these need not be made.
    """
    replicates = replicates_again(scores.shape[1])
    scores = np.ascontiguousarray(scores[:, :replicates])
    asked: dict[str, Any] = {"replicates": replicates, "scores": scores, "memory_bytes": memory_bytes}
    se, cap = linear_errors(measure), largest_counted(measure.pairs, scores)
    wins = FewWins.of(measure, observed, se)
    cap, reach = np.minimum(cap, wins.most), np.full(len(se), np.inf)
    few = np.flatnonzero((observed.discordant > 0) & (observed.discordant < FEW_DISCORDANT) & ~wins.chosen)
    for block in studentise(draws, measure, chosen=few, **asked) if len(few) else ():
        own = block.pair
        with np.errstate(divide="ignore", invalid="ignore"):  # pairs without a standard error are no members
            slack = 2 * TOLERANCE * np.abs(observed.score[measure.pairs[own]]).sum(axis=1) / se[own]
        least = sign_flip_floor(observed.discordant[own])
        held, reach[own] = (least_reached(block.t, share) + slack for share in (least, np.fmax(floor[own], least)))
        cap[own] = np.minimum(cap[own], np.where(held < BEYOND, held, z_of_p(least)))
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
    """Return how many of the kept replicates p is counted on: those that are drawn again, each for its own standard error."""
    return replicates_again(kept)


def critical_maximum(largest: NDArray[np.float64], alpha: float) -> float:
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
    >>> critical_maximum(np.arange(99.0), 0.05), critical_maximum(np.arange(9.0), 0.05)
    (94.0, inf)
    """
    allowed = int(alpha * (len(largest) + 1) * (1 + 1e-12)) - 1
    found = float(largest[len(largest) - 1 - allowed]) if allowed >= 0 else np.inf
    return found if found < BEYOND else np.inf


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
) -> tuple[PairFamily, Reached]:
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
    asked, limits = {**asked, "chosen": pair}, {"cap": cap[pair], "least": least}
    replicates = asked["replicates"]
    bounds = enclosures(draws, measure, **asked) if len(pair) else None
    if bounds is not None:  # not a ratio, and nothing else needs its t*
        return family, count_enclosed(bounds, replicates=replicates, **limits).reversed()
    counted = None if show is not None else _count_rates(draws, measure, wins, asked, **limits)
    if counted is None:
        counted = count_all(_shown(studentise(draws, measure, **asked), wins, show), replicates=replicates, **limits)
    return family, counted.reversed()


def _count_rates(
    draws: Draws | StratifiedDraws,
    measure: Measure,
    wins: FewWins,
    asked: Mapping[str, Any],
    *,
    cap: NDArray[np.float64],
    least: NDArray[np.float64],
) -> Reached | None:
    """Count where each unit is right or wrong, without making most t*; None where all must be made."""
    pair, replicates = asked["chosen"], asked["replicates"]
    held = np.flatnonzero(np.isfinite(cap))
    if measure.form != "ratio" or len(held) > _FEW_HELD * len(pair) or 32 * len(held) * replicates > asked["memory_bytes"]:
        return None
    known = {}
    if len(held):
        t = np.concatenate([*_shown(studentise(draws, measure, **{**asked, "chosen": pair[held]}), wins, None)])
        known = {place: np.fmin(np.abs(own), cap[place]) for place, own in zip(held.tolist(), t, strict=True)}
    return count_in_bits(draws, measure, replicates=replicates, chosen=pair, least=least, known=known)


def _shown(
    blocks: Iterator[Studentised], wins: FewWins, show: Callable[[Studentised], None] | None
) -> Iterator[NDArray[np.float64]]:
    """Yield the (pair, replicate) t* of blocks, on the scale on which they are compared."""
    for block in blocks:
        if show is not None:
            show(block)
        wins.put_on_scale(block)  # these t* are not needed again
        yield block.t


def largest_counted(pairs: NDArray[np.integer], scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the largest t that counts of each pair with undefined scores; infinite where all are defined."""
    lacking = np.isnan(scores)
    if not lacking.any():
        return np.full(len(pairs), np.inf)
    hits = np.array([np.count_nonzero(lacking[a] | lacking[b]) for a, b in pairs.tolist()])
    return z_of_p(np.where(hits > 0, (hits + 1) / (scores.shape[1] + 1), 0.0))


def least_reached(t: NDArray[np.float64], share: NDArray[np.float64]) -> NDArray[np.float64]:
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


def z_of_p(p: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return z with 2Φ(−z) = p; infinite where p is 0."""
    with np.errstate(divide="ignore"):
        return np.asarray(-ndtri(np.clip(p, 0.0, 1.0) / 2), np.float64)
