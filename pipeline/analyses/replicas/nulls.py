"""p of all pairs of models under one null, drawn at the null's own address, as rows with the cautions for it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.analyses.replicas.data import Model
from pipeline.analyses.replicas.quasi_f import head_of, quasi_f_rows
from pipeline.analyses.replicas.variance import Variances
from pipeline.dataclass import dataclass
from pipeline.inference.decision import stable_level
from pipeline.inference.multiple_comparisons.multiplicity import holm
from pipeline.inference.p_values import clopper_pearson
from pipeline.interfaces.analyses import FULL
from pipeline.numerics.special import ndtr, ndtri
from pipeline.resampling.address import count_cells, draw_key
from pipeline.resampling.draws import Draws
from pipeline.resampling.replicas.count import count_null
from pipeline.resampling.replicas.nulls import FEWEST_RUNS, REASONS, NullCounts, null_named
from pipeline.resampling.replicas.outputs import ObservedReplicas, Replicas
from pipeline.resampling.replicas.randomized import count_shuffled
from pipeline.resampling.replicas.shuffles import shuffled_share

__all__ = ["FEW_FOR_CROSSED", "Draw", "bound_p", "null_rows"]

FEW_FOR_CROSSED = 10
"""Below so many runs the crossed bootstrap rejects too often where runs are most of the noise: 19, 11, 8 % with 3, 5, 10 at .05."""

_DOMINATES = 0.5
_NOTICEABLE = 0.15  # a share of the variance that is left out: a test at .05 then rejects 7.1 %
_LEVEL = 0.95
_ABSENT = {
    "per-output": ("run", "system_unit"),
    "r-of-2r": ("run", "system_unit"),
    "multeval": ("run", "system_unit"),
    "segment-block": ("run",),
}
"""Effects that must be absent for a null to hold its level; what whole and paired runs leave out is in their claim."""
_WORDS = {"run": "run effects", "system_unit": "S×unit"}


@dataclass(frozen=True)
class Draw:
    """Where draws are made: the study's seed, the test set, and how many replicates."""

    seed: int
    test_set: str
    replicates: int

    def at(self, purpose: str, units: int, *, rule: str = "prefix") -> Draws:
        """Return the address of a purpose: a null, or the study's own bootstrap."""
        key = draw_key(seed=self.seed, purpose=purpose, test_set=self.test_set, size=FULL, rule=rule)
        return Draws(key, units, units)

    def subsets_of(self, model: str) -> Draws:
        """Return the address at which runs of a model are chosen: no other model has a part in it."""
        return self.at("subsets of runs", 1, rule=model)


def null_rows(
    null: str,
    draw: Draw,
    replicas: Replicas,
    models: Sequence[Model],
    *,
    seen: ObservedReplicas,
    variances: Variances,
    copies: Sequence[str | None],
    alpha: float,
) -> Iterator[dict[str, Any]]:
    """Yield what one null says of every pair, the better model first, and what its p cannot say; ``copies`` is said of models."""
    if null_named(null).computed:
        yield from quasi_f_rows(null, replicas, models, seen=seen, copies=copies, alpha=alpha)
        return
    draws, cells = draw.at(null, replicas.n_units), range(count_cells(draw.replicates))
    above = None
    if null == "multeval":
        counts, above = count_shuffled(null, draws, replicas, cells=cells, replicates=draw.replicates, observed=seen)
    else:
        counts = count_null(null, draws, replicas, cells=cells, replicates=draw.replicates, observed=seen)
    pairs = replicas.pairs.tolist()
    unpaired = [null == "paired-runs" and not _are_paired(models[a], models[b]) for a, b in pairs]
    p = np.where(unpaired, np.nan, counts.p)
    tied = (counts.delta == 0) & np.isfinite(p)
    p[tied] = 1.0  # every replicate reaches |δ| = 0
    lo, hi = bound_p(counts, p, tied)
    family = int(np.isfinite(p).sum())
    low, high = bound_p(counts, p, tied, level=stable_level(family))
    adjusted = holm(p)
    hits, compared, empty = (array.sum(axis=1) for array in (counts.hits, counts.compared, counts.empty))
    for pair, (a, b) in enumerate(pairs):
        turned = seen.delta[pair] < 0
        better, worse = (models[b], models[a]) if turned else (models[a], models[b])
        reason = _why_unpaired(better, worse) if unpaired[pair] else _why_none(counts, pair, better, worse)
        known = reason is None
        yield {
            **head_of(null, better, worse),
            "delta": (-counts.delta[pair] if turned else counts.delta[pair]) + 0.0,
            "se": None,
            "df": None,
            "interval": None,
            "p": p[pair],
            "p_bounds": {"lo": lo[pair], "hi": hi[pair]} if known else None,
            "stable": bool((high[pair] <= alpha) | (low[pair] > alpha)) if known else None,
            "holm": adjusted[pair],
            "family_size": family,
            "floor": counts.floor[pair] if known else None,
            "exact": bool(counts.enumerated[pair]) if known else None,
            "hits": int(hits[pair]) if known else None,
            "replicates": int(compared[pair]) if known else None,
            "empty": int(empty[pair]) if known else None,
            "multeval": _tool_p(above, compared, pair) if above is not None and known else None,
            "note": _note(counts, pair, tied),
            "warning": "; ".join(filter(None, (*_warnings(counts, pair, variances, alpha), copies[a], copies[b]))) or None
            if known
            else None,
            "reason": reason,
        }


def _are_paired(first: Model, second: Model) -> bool:
    return first.named and second.named and first.runs == second.runs and first.sample == second.sample


def _why_unpaired(first: Model, second: Model) -> str:
    for model in (first, second):
        if model.doubled is not None:
            return f"two runs of {model.name} have the same name {model.doubled!r}: runs are paired by name"
    if first.sample != second.sample:
        return "the runs of the two were trained on samples of another kind or size: those of a number have nothing in common"
    return "the runs of the two have other names"


def bound_p(
    counts: NullCounts, p: NDArray[np.float64], tied: NDArray[np.bool_], *, level: float = _LEVEL
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return Clopper and Pearson's bounds of the p of infinitely many replicates; what is exact has no width."""
    hits, compared = counts.hits.sum(axis=1), counts.compared.sum(axis=1)
    lo, hi = clopper_pearson(np.where(compared > 0, hits, 0), np.maximum(compared, 1), level)
    certain = counts.enumerated | tied | (counts.reason == REASONS.index("identical")) | np.isnan(p)
    return np.where(certain, p, lo), np.where(certain, p, hi)


def _tool_p(above: NDArray[np.int64], compared: NDArray[np.int64], pair: int) -> float:
    """Return (#(|δ°| > |δ|) + 1)/(b + 1) as the tool prints it, of identical systems too."""
    return float((above[pair].sum() + 1) / (compared[pair] + 1))


def _why_none(counts: NullCounts, pair: int, better: Model, worse: Model) -> str | None:
    why = REASONS[int(counts.reason[pair])]
    if why == "unequal runs":
        return f"this null needs as many runs of one model as of the other, not {len(better.runs)} and {len(worse.runs)}"
    if why == "undefined score":
        return "a run has no score (0/0)"
    return "every replicate was empty (0/0)" if not counts.compared[pair].sum() else None


def _note(counts: NullCounts, pair: int, tied: NDArray[np.bool_]) -> str | None:
    if REASONS[int(counts.reason[pair])] == "identical":
        return "identical: run by run the two have the same statistics on every unit, so p = 1"
    return "the two score the same, so p = 1" if tied[pair] else None


def _warnings(counts: NullCounts, pair: int, variances: Variances, alpha: float) -> Iterator[str]:
    if REASONS[int(counts.reason[pair])] == "identical":
        return
    null, runs = counts.null, variances.runs[pair]
    if counts.floor[pair] > alpha:
        yield f"p cannot be below {counts.floor[pair]:.3g} with these runs: nothing is rejected at {alpha:g}"
    if counts.few_runs[pair]:
        yield f"fewer than {FEWEST_RUNS} runs of a model: how far runs spread is hardly known"
    if null == "crossed" and runs.min() < FEW_FOR_CROSSED and (share := variances.share(pair, ("run",))) > _DOMINATES:
        yield (
            f"runs make {100 * share:.0f} % of the variance of the gain, and there are fewer than {FEW_FOR_CROSSED}: "
            "it rejects more often than it says"
        )
    absent = _ABSENT.get(null, ())
    if absent and (share := variances.share(pair, absent)) >= _NOTICEABLE:
        words = " and ".join(_WORDS[part] for part in absent)
        rate = 2 * ndtr(ndtri(alpha / 2) * np.sqrt(max(1 - share, 0.0)))
        yield (
            f"{words}, which this null takes to be absent, make {100 * share:.0f} % of the variance of the gain: if {words} are "
            f"not part of the claim, it rejects about {100 * rate:.0f} % of true nulls at {alpha:g}"
        )
    if null == "multeval" and runs[0] > 2:
        rate = 2 * ndtr(ndtri(alpha / 2) * np.sqrt(shuffled_share(int(runs[0]))))
        yield f"liberal: with {runs[0]} runs it rejects {100 * rate:.1f} % at {alpha:g} even where outputs are independent"
