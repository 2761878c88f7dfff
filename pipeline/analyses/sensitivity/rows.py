"""Rows of the comparison of measures: each one, each two of them, and each against a reference."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.analyses.sensitivity.data import CommonPairs, Ruler
from pipeline.analyses.system_bootstrap import SystemBootstrap, system_interval
from pipeline.inference.across.pairwise_accuracy import soft_accuracy
from pipeline.interfaces.wording import name_metric

__all__ = ["compare_rulers", "describe_rulers", "judge_rulers", "name_ruler", "say_measure"]


def name_ruler(ruler: Ruler, rulers: tuple[Ruler, ...]) -> str:
    """Return what a measure is called among others: what sets it apart."""
    if len({one.test_set for one in rulers}) == 1:
        return ruler.metric
    return ruler.test_set if len({one.metric for one in rulers}) == 1 else f"{ruler.test_set}/{ruler.metric}"


def say_measure(name: str) -> str:
    """Return what people call a measure that rows call so.

    Examples
    --------
    >>> say_measure("bleu"), say_measure("newstest2021/bleu")
    ('BLEU', 'newstest2021/BLEU')
    """
    test_set, slash, metric = name.rpartition("/")
    return f"{test_set}{slash}{name_metric(metric)}"


def describe_rulers(found: CommonPairs, where: Mapping[str, Any], alpha: float) -> Iterator[dict[str, Any]]:
    """Go through the measures: how many of the common pairs each tells apart, and how large gains are in standard errors."""
    for place, ruler in enumerate(found.rulers):
        p, verdicts = found.p[place], found.separated[place]
        judged = verdicts >= 0
        yield {
            **where,
            "kind": "measure",
            "measure": name_ruler(ruler, found.rulers),
            "test_set": ruler.test_set,
            "metric": ruler.metric,
            "alpha": alpha,
            "pairs": len(found.pairs),
            "at_most_alpha": int((p <= alpha).sum()) if np.isfinite(p).any() else None,
            "separated": int((verdicts == 1).sum()) if judged.any() else None,
            "median_ratio": float(np.median(np.abs(found.z[place]))) if len(found.pairs) else None,
        }


def compare_rulers(
    found: CommonPairs, where: Mapping[str, Any], alpha: float, systems: SystemBootstrap, replicates: int
) -> Iterator[dict[str, Any]]:
    """Go through every two measures: whose gains are larger in standard errors, and which pairs only one tells apart."""
    size = np.abs(found.z)
    for one, other in combinations(range(len(found.rulers)), 2):
        both = (size[one] > 0) & (size[other] > 0)
        log = np.log(size[one, both] / size[other, both])
        interval, why = _interval(systems, found.pairs[both], log, replicates)
        p = found.p[[one, other]]
        significant = p <= alpha
        known = np.isfinite(p).any(axis=1).all()
        yield {
            **where,
            "kind": "two",
            "first": name_ruler(found.rulers[one], found.rulers),
            "second": name_ruler(found.rulers[other], found.rulers),
            "pairs": len(found.pairs),
            "ratio": float(np.exp(log.mean())) if len(log) else None,
            "interval": None if interval is None else interval | {end: float(np.exp(interval[end])) for end in ("lo", "hi")},
            "larger_under_first": int((size[one] > size[other]).sum()),
            "same_sign": int((np.sign(found.z[one]) == np.sign(found.z[other])).sum()),
            "both": int((significant[0] & significant[1]).sum()) if known else None,
            "only_first": int((significant[0] & ~significant[1]).sum()) if known else None,
            "only_second": int((significant[1] & ~significant[0]).sum()) if known else None,
            "interval_note": why,
        }


def judge_rulers(
    found: CommonPairs, reference: Ruler, where: Mapping[str, Any], systems: SystemBootstrap, replicates: int
) -> Iterator[dict[str, Any]]:
    """Go through the measures but the reference: how well each agrees with it."""
    of_reference = found.rulers.index(reference)
    truth = found.one_sided[of_reference]
    for place, ruler in enumerate(found.rulers):
        if place == of_reference:
            continue
        own = found.one_sided[place]
        known = np.isfinite(own) & np.isfinite(truth)
        agreed = 1 - np.abs(own - truth)[known]
        interval, why = _interval(systems, found.pairs[known], agreed, replicates)
        same = np.sign(found.z[place]) == np.sign(found.z[of_reference])
        yield {
            **where,
            "kind": "validity",
            "measure": name_ruler(ruler, found.rulers),
            "reference": name_ruler(reference, found.rulers),
            "pairs": int(known.sum()),
            "soft_pairwise_accuracy": soft_accuracy(own[known], truth[known]) if known.any() else None,
            "interval": interval,
            "pairwise_accuracy": float(same[known].mean()) if known.any() else None,
            "interval_note": why,
        }


def _interval(
    systems: SystemBootstrap, pairs: NDArray[np.int64], values: NDArray[np.float64], replicates: int
) -> tuple[dict[str, Any] | None, str | None]:
    """Return an interval of the mean of values of pairs, with the systems resampled."""

    def mean(weights: NDArray[np.float64]) -> NDArray[np.float64]:
        total = weights.sum(axis=1)
        return np.where(total > 0, weights @ values / np.where(total > 0, total, 1.0), np.nan)

    return system_interval(systems, pairs[:, 0], pairs[:, 1], mean, replicates=replicates)
