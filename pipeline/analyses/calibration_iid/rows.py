"""Rows of the calibration on drawn test sets: the share of right signs by p, the share expected, and their interval."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.analyses.calibration_iid.draws import PairsOnDraw
from pipeline.analyses.calibration_iid.options import CalibrationIidOptions
from pipeline.analyses.pairs import FEW_PAIRS
from pipeline.dataclass import dataclass
from pipeline.inference.across.sign_agreement import SignCounts, expected_agreement, share_error
from pipeline.numerics.special import expit, logit, stdtrit

__all__ = ["LEVEL", "Population", "list_rows", "nothing"]

LEVEL = 0.95
_FEWEST_GROUPS = 5  # fewer systems, or test sets, do not say how far others would be off


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
    where: Mapping[str, Any], population: Population, found: Iterable[PairsOnDraw], options: CalibrationIidOptions
) -> Iterator[dict[str, Any]]:
    """Go through the rows of a population and metric: all pairs, each bin of p, and the window.

    ``found`` has one entry a drawn test set; they are counted as they come.
    """
    edges = (0.0, *options.bins, *((1.0,) if options.bins[-1] < 1 else ()))
    places = [("all", 0.0, 1.0), *(("bin", *ends) for ends in pairwise(edges)), ("window", *options.window)]
    counts = [SignCounts.of(population.pairs, sets=options.drawn) for _ in places]
    ties = 0
    for number, one in enumerate(found):
        ties += int((one.sign == 0).sum())
        hits = one.sign == population.sign
        for (kind, low, high), own in zip(places, counts, strict=True):
            # A bin is open below, but for the first; all others have both ends. Comparisons with nan are false.
            above = (one.p > low) if kind == "bin" and low > 0 else (one.p >= low)
            own.add(number, above & (one.p <= high), hits)
    effects = population.effect[np.isfinite(population.effect)]
    for (kind, low, high), own in zip(places, counts, strict=True):
        place = {**where, "kind": kind, "p_low": low, "p_high": high}
        yield _row(place, own, effects, ties if kind == "all" else 0)


def _row(where: Mapping[str, Any], counts: SignCounts, effects: NDArray[np.float64], ties: int) -> dict[str, Any]:
    number = counts.observed
    share = counts.right / number if number else None
    interval, why = _interval(share, share_error(counts), counts.systems, counts.sets)
    return {
        **where,
        "pairs": number,
        "same_sign": counts.right,
        "ties": ties,
        "systems": counts.systems,
        "test_sets": counts.sets,
        "share": share,
        "interval": interval,
        "expected": expected_agreement(effects, where["p_low"], where["p_high"]),
        "interval_note": why,
        "reason": None if number else "no pair on a drawn test set has such a p",
        "warning": f"only {number} pairs" if 0 < number < FEW_PAIRS else None,
    }


def _interval(share: float | None, error: float | None, systems: int, test_sets: int) -> tuple[dict[str, Any] | None, str | None]:
    """Return a 95 % interval of a share on the logit scale, or the reason why there is none."""
    if share is None:
        return None, None
    if share in (0.0, 1.0):
        return None, f"no interval: {'every' if share else 'no'} pair has the right sign"
    groups = min(systems, test_sets)
    if groups < _FEWEST_GROUPS:
        return None, f"no interval from {systems} systems on {test_sets} test set{'' if test_sets == 1 else 's'}"
    if error is None:
        return None, "no interval: every pair and every test set has the same share"
    reach = float(stdtrit(groups - 1, (1 + LEVEL) / 2)) * error / (share * (1 - share))
    lo, hi = expit([logit(share) - reach, logit(share) + reach])
    method = "logit, systems and drawn test sets as clusters"
    return {"method": method, "level": LEVEL, "lo": float(lo), "hi": float(hi)}, None
