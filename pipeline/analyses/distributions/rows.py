"""Rows of the distributions: each model by kind of sample, two models on the same samples, and two test sets under one model."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.analyses.distributions.data import RUNS, WHOLE, Group, find_whole
from pipeline.inference.across.correlation import Estimate, correlate, share_above
from pipeline.numerics.special import stdtrit

__all__ = ["compare_models", "correlate_test_sets", "describe_groups", "list_scores"]

LEVEL = 0.95
_DEPENDENT = "no interval: folds of one repetition share their training items"
_UNKNOWN = "no interval: which folds are of one repetition is not known"
_FEW = "no interval from {n} {what}{s}"


def list_scores(groups: Sequence[Group], where: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Go through the replicas with their scores."""
    for group in groups:
        for system, replica, score in zip(group.systems, group.replicas, group.score.tolist(), strict=True):
            named = {"model": group.model, "sampling": group.sampling.label, "replica": replica, "system": system}
            yield {**where, **named, "score": score}


def describe_groups(groups: Sequence[Group], where: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Go through the models and samplings: mean, standard deviation, and the score of the whole training set."""
    for group in groups:
        whole = find_whole(groups, group.model)
        mean, means = float(group.score.mean()), group.means
        interval, why = _interval_of_mean(means, "replica" if group.sampling.independent else "repetition")
        if not group.sampling.independent and (group.sampling.folds is None or not group.numbered):
            why = _UNKNOWN
        yield {
            **where,
            "kind": "spread",
            "model": group.model,
            "sampling": group.sampling.label,
            "samples": len(group.score),
            "mean": mean,
            "sd": float(group.score.std(ddof=1)) if len(group.score) > 1 else None,
            "lowest": float(group.score.min()),
            "highest": float(group.score.max()),
            "interval": interval,
            "whole": whole,
            "shift": None if whole is None or group.sampling.method == WHOLE else mean - whole,
            "interval_note": why,
        }


def compare_models(groups: Sequence[Group], where: Mapping[str, Any], direction: float) -> Iterator[dict[str, Any]]:
    """Yield a row for every two models on the same training samples: how often each is better, and their correlation."""
    for one, other in combinations(groups, 2):
        if one.sampling != other.sampling or one.model == other.model or one.sampling.method in (RUNS, WHOLE):
            continue
        x, y = _join(one, other)
        names = {"first": one.model, "second": other.model, "sampling": one.sampling.label}
        row: dict[str, Any] = {**where, "kind": "two", **names, "samples": len(x)}
        if not len(x):
            yield row | _nothing("no training sample is common to both")
            continue
        above, rho = share_above(direction * x, direction * y), correlate(x, y)
        independent = one.sampling.independent
        difference = x - y
        yield row | {
            "gain": direction * float(difference.mean()),
            "sd_of_gain": float(difference.std(ddof=1)) if len(x) > 1 else None,
            "better": above.value,
            "better_interval": _ends(above, "Wilson") if independent else None,
            "correlation": None if rho is None else rho.value,
            "interval": _ends(rho, "Fisher's z") if rho is not None and independent else None,
            "reason": None if rho is not None else "no correlation: a model does not vary over these samples",
            "interval_note": None if independent else _DEPENDENT,
        }


def correlate_test_sets(by_test_set: Mapping[str, Sequence[Group]], where: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Go through every two test sets under each model and sampling: whether replicas that are good on one are so on the other."""
    for (one, groups), (other, others) in combinations(by_test_set.items(), 2):
        there = {(group.model, group.sampling): group for group in others}
        for group in groups:
            same = there.get((group.model, group.sampling))
            if same is None or group.sampling.method == WHOLE:
                continue
            score = dict(zip(same.systems, same.score.tolist(), strict=True))
            common = [system for system in group.systems if system in score]
            own = dict(zip(group.systems, group.score.tolist(), strict=True))
            x, y = (np.array([scores[system] for system in common]) for scores in (own, score))
            found = correlate(x, y) if len(common) > 1 else None
            independent = group.sampling.independent
            yield {
                **where,
                "kind": "test-sets",
                "model": group.model,
                "sampling": group.sampling.label,
                "first": one,
                "second": other,
                "samples": len(common),
                "correlation": None if found is None else found.value,
                "interval": _ends(found, "Fisher's z") if found is not None and independent else None,
                "reason": None if found is not None else "no correlation: the scores do not vary, or fewer than two are common",
                "interval_note": None if independent else _DEPENDENT,
            }


def _join(one: Group, other: Group) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the scores of the replicas that both have: a replica of one number is trained on the same sample."""
    there = dict(zip(other.replicas, other.score.tolist(), strict=True))
    common = [(score, there[name]) for name, score in zip(one.replicas, one.score.tolist(), strict=True) if name in there]
    x, y = np.array(common, np.float64).reshape(-1, 2).T
    return x, y


def _nothing(reason: str) -> dict[str, Any]:
    keys = ("gain", "sd_of_gain", "better", "better_interval", "correlation", "interval", "interval_note")
    return {**dict.fromkeys(keys), "reason": reason}


def _ends(found: Estimate, method: str) -> dict[str, Any] | None:
    if found.low is None:
        return None
    return {"method": method, "level": LEVEL, "lo": found.low, "hi": found.high}


def _interval_of_mean(values: NDArray[np.float64], what: str) -> tuple[dict[str, Any] | None, str | None]:
    n = len(values)
    if n < 2:
        return None, _FEW.format(n=n, what=what, s="" if n == 1 else "s")
    reach = float(stdtrit(n - 1, (1 + LEVEL) / 2)) * float(values.std(ddof=1)) / np.sqrt(n)
    mean = float(values.mean())
    return {"method": f"Student's t over {what}s", "level": LEVEL, "lo": mean - reach, "hi": mean + reach}, None
