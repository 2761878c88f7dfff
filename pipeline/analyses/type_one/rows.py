"""What a test made of null data sets, as a row: how many it rejected, and whether that is too many."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.analyses.type_one.tests import LEVELS, Tested
from pipeline.inference.p_values import clopper_pearson
from pipeline.numerics.special import betaincinv

__all__ = ["PROBABILITIES", "band_of", "describe", "interval", "nothing"]

PROBABILITIES = (
    0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.975, 0.99,
)  # fmt: skip
"""At which quantiles of p are given: where the test has its level they are these numbers."""

_LEVEL = 0.95
_WHERE = ("design", "pair", "system_a", "system_b", "chosen", "discordant", "units", "arrangements", "remark")
_FIELDS = (
    "procedure", "convention", "in_study", "decides", "nulls", "replicates", "reference", "says", "quantiles", "reason",
    *(f"{what}_{level}" for level in ("01", "05", "10") for what in ("rejected", "rate", "interval")),
)  # fmt: skip


def nothing(where: Mapping[str, Any], reason: str) -> dict[str, Any]:
    """Return a row without a test, and why there is none."""
    return {**dict.fromkeys((*_WHERE, *_FIELDS)), **where, "reason": reason}


def describe(where: Mapping[str, Any], test: Tested, *, every: bool = False) -> dict[str, Any]:
    """Return the row of one test.

    Parameters
    ----------
    where : mapping
        What its null data sets are.
    test : Tested
    every : bool, optional
        The data sets are not drawn: they are all that there are, and their rate has no interval.
    """
    row: dict[str, Any] = dict.fromkeys((*_WHERE, *_FIELDS))
    row |= where
    row |= {
        "procedure": test.procedure,
        "convention": test.convention,
        "in_study": test.in_study,
        "decides": test.decides,
        "replicates": test.replicates,
        "reference": test.reference,
        "reason": test.reason,
    }
    if test.p is None:
        return row
    p = np.where(np.isnan(test.p), 1.0, test.p)  # without a p nothing is rejected
    row["nulls"] = len(p)
    row["quantiles"] = np.quantile(p, PROBABILITIES, method="inverted_cdf").tolist()
    for level in LEVELS:
        label, hits = f"{100 * level:02.0f}", int(np.count_nonzero(p <= level + 1e-12))
        row |= {f"rejected_{label}": hits, f"rate_{label}": hits / len(p)}
        if not every:
            low, high = interval(hits, len(p), test.reference, _LEVEL)
            row[f"interval_{label}"] = {"lo": low, "hi": high}
    row["says"] = None if every else _judge(row["interval_05"])
    return row


def interval(hits: int, nulls: int, reference: int | None, level: float) -> tuple[float, float]:
    """Return the Clopper-Pearson interval of a rate.

    Where all p-values share a law of so many draws, its error is in them too: the variance of the rate is that of fewer trials.
    """
    share = 1.0 if reference is None else reference / (reference + nulls)
    counts: NDArray[Any] = np.array([hits, nulls]) * share
    lo, hi = clopper_pearson(counts[:1], counts[1:], level)
    return float(lo[0]), float(hi[0])


def _judge(found: Mapping[str, float]) -> str:
    if found["lo"] > 0.05:
        return "liberal"
    return "conservative" if found["hi"] < 0.05 else "as it should"


def band_of(nulls: int) -> list[tuple[float, float]]:
    """Return the pointwise 95 % band of the quantiles of so many p-values that are uniform.

    The quantile is an order statistic, the k-th of n: its law is Beta(k, n + 1 − k).

    Examples
    --------
    >>> [round(bound, 3) for bound in band_of(2000)[PROBABILITIES.index(0.05)]]
    [0.041, 0.06]
    """
    rank = np.maximum(np.ceil(np.array(PROBABILITIES) * nulls - 1e-9), 1.0)
    low, high = (betaincinv(rank, nulls + 1 - rank, share) for share in ((1 - _LEVEL) / 2, (1 + _LEVEL) / 2))
    return list(zip(low.tolist(), high.tolist(), strict=True))
