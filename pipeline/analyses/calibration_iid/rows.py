"""Rows of the calibration on drawn test sets: the share of right signs by p, the share expected, and their interval."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit, stdtrit

from pipeline.analyses.calibration_iid.draws import PairsOnDraws
from pipeline.analyses.calibration_iid.options import CalibrationIidOptions
from pipeline.analyses.pairs import FEW_PAIRS
from pipeline.inference.sign_agreement import expected_agreement, share_error

__all__ = ["LEVEL", "Population", "list_rows", "nothing"]

LEVEL = 0.95


@dataclass(frozen=True, eq=False)
class Population:
    """The pairs of a population whose scores differ.

    Parameters
    ----------
    pairs : (pair, 2) int64
        Positions of systems.
    sign : (pair,) int8
        Of the gain of the first over the second.
    effect : (pair,) float64
        The gain over its standard error on a test set as large as the drawn ones; nan where that is unknown.
    """

    pairs: NDArray[np.int64]
    sign: NDArray[np.int8]
    effect: NDArray[np.float64]


def nothing(where: Mapping[str, Any], reason: str) -> dict[str, Any]:
    """Return a row that says why there is no share."""
    empty = dict.fromkeys(
        ("units", "population_units", "p_low", "p_high", "share", "interval", "expected", "interval_note", "warning")
    )
    counts = dict.fromkeys(("drawn", "pairs", "same_sign", "ties", "systems", "test_sets"), 0)
    return {**where, "kind": "none", **empty, **counts, "reason": reason}


def list_rows(
    where: Mapping[str, Any], population: Population, found: PairsOnDraws, options: CalibrationIidOptions
) -> Iterator[dict[str, Any]]:
    """Go through the rows of a population and metric: all pairs, each bin of p, and the window."""
    edges = (0.0, *options.bins, *((1.0,) if options.bins[-1] < 1 else ()))
    known = np.isfinite(found.p)
    yield _row({**where, "kind": "all", "p_low": 0.0, "p_high": 1.0}, population, found, known)
    for number, (low, high) in enumerate(pairwise(edges)):
        inside = known & (found.p <= high) & ((found.p > low) | (number == 0))
        yield _row({**where, "kind": "bin", "p_low": low, "p_high": high}, population, found, inside)
    low, high = options.window
    inside = known & (found.p >= low) & (found.p <= high)
    yield _row({**where, "kind": "window", "p_low": low, "p_high": high}, population, found, inside)


def _row(where: Mapping[str, Any], population: Population, found: PairsOnDraws, inside: NDArray[np.bool_]) -> dict[str, Any]:
    drawn, pair = np.nonzero(inside)
    hits = found.sign[drawn, pair] == population.sign[pair]
    first, second = population.pairs[pair].T
    systems, test_sets = len({*first.tolist(), *second.tolist()}), len(set(drawn.tolist()))
    share = float(hits.mean()) if len(hits) else None
    interval, why = _interval(hits, share_error(hits, first, second, drawn), min(systems, test_sets))
    effects = population.effect[np.isfinite(population.effect)]
    return {
        **where,
        "pairs": len(hits),
        "same_sign": int(hits.sum()),
        "ties": int((found.sign == 0).sum()) if where["kind"] == "all" else 0,
        "systems": systems,
        "test_sets": test_sets,
        "share": share,
        "interval": interval,
        "expected": expected_agreement(effects, where["p_low"], where["p_high"]),
        "interval_note": why,
        "reason": None if len(hits) else "no pair on a drawn test set has such a p",
        "warning": f"only {len(hits)} pairs" if 0 < len(hits) < FEW_PAIRS else None,
    }


def _interval(hits: NDArray[np.bool_], error: float | None, groups: int) -> tuple[dict[str, Any] | None, str | None]:
    """Return a 95 % interval of a share on the logit scale, or the reason why there is none."""
    if not len(hits):
        return None, None
    share = float(hits.mean())
    if share in (0.0, 1.0):
        return None, f"no interval: {'every' if share else 'no'} pair has the right sign"
    if error is None or groups < 3:
        return None, f"no interval from {groups} {'systems or test sets' if groups != 1 else 'system or test set'}"
    reach = float(stdtrit(groups - 1, (1 + LEVEL) / 2)) * error / (share * (1 - share))
    lo, hi = expit([logit(share) - reach, logit(share) + reach])
    method = "logit, systems and drawn test sets as clusters"
    return {"method": method, "level": LEVEL, "lo": float(lo), "hi": float(hi)}, None
