"""The quasi-F of all pairs of models, as rows like those of counted nulls: gain, standard error, interval and p."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from pipeline.analyses.replicas.data import Model
from pipeline.inference.multiple_comparisons.multiplicity import holm
from pipeline.resampling.replicas.nulls import REASONS, null_named
from pipeline.resampling.replicas.outputs import ObservedReplicas, Replicas
from pipeline.resampling.replicas.quasi_f import quasi_f

__all__ = ["head_of", "quasi_f_rows"]

_FEW_DEGREES = 3
_WHY = {
    "undefined score": "a run has no score (0/0)",
    "one run": "a model has one run: how far its runs spread is not known",
    "one unit": "there is one unit: how far units spread is not known",
    "undefined without a unit": "a run has no score without one of its units",
    "no spread": "all runs and units differ by the same: there is no spread to compare the gain with",
}
"""Why there is no p."""


def head_of(null: str, better: Model, worse: Model) -> dict[str, Any]:
    """Return the first fields of a row of a null and two models."""
    return {
        "model_a": better.name,
        "model_b": worse.name,
        "runs_a": len(better.runs),
        "runs_b": len(worse.runs),
        "null": null,
        "null_in_words": null_named(null).null,
        "statistic": null_named(null).statistic,
    }


def quasi_f_rows(
    null: str, replicas: Replicas, models: Sequence[Model], *, seen: ObservedReplicas, copies: Sequence[str | None], alpha: float
) -> Iterator[dict[str, Any]]:
    """Yield a row a pair, the better model first; the interval is that of 1 − α, which leaves out 0 exactly where p < α."""
    found = quasi_f(replicas, observed=seen)
    low, high = found.interval(1 - alpha)
    adjusted, family = holm(found.p), int(np.isfinite(found.p).sum())
    for pair, (a, b) in enumerate(replicas.pairs.tolist()):
        turned = seen.delta[pair] < 0
        better, worse = (models[b], models[a]) if turned else (models[a], models[b])
        ends = (-high[pair], -low[pair]) if turned else (low[pair], high[pair])
        why, p = REASONS[int(found.reason[pair])], found.p[pair]
        known, spread = bool(np.isfinite(p)), bool(np.isfinite(found.se[pair]))
        few = f"{found.degrees[pair]:.1f} degrees of freedom: how far runs spread is hardly known"
        warnings = [few if spread and found.degrees[pair] < _FEW_DEGREES else None, copies[a], copies[b]]
        identical = "identical: run by run the two have the same statistics on every unit, so p = 1"
        tied = "the two score the same, so p = 1" if seen.delta[pair] == 0 and known else None
        yield {
            **head_of(null, better, worse),
            "delta": abs(seen.delta[pair]),
            "se": found.se[pair],
            "df": found.degrees[pair],
            "interval": {"lo": ends[0], "hi": ends[1]} if spread else None,
            "p": p,
            "p_bounds": {"lo": p, "hi": p} if known else None,
            "stable": True if known else None,
            "holm": adjusted[pair],
            "family_size": family,
            "floor": None,
            "exact": True if known else None,
            "hits": None,
            "replicates": None,
            "empty": None,
            "multeval": None,
            "note": identical if why == "identical" else tied,
            "warning": "; ".join(filter(None, warnings)) or None if known else None,
            "reason": None if known else _WHY[why],
        }
