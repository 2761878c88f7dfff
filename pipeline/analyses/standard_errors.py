"""Standard errors of gains as analyses and reports use them: the jackknife's, or the replicates' where the two disagree."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pipeline.analyses.exact_laws import drawn_replicates
from pipeline.interfaces.wording import name_metric
from pipeline.procedures.registry import PROCEDURES

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["describe_replaced", "prefer_replicates", "read_score_errors", "read_standard_errors"]

APART = 0.05
"""The jackknife is set aside where it is off by more than this share of the replicates' standard error."""

FEWEST_REPLICATES = 5000
"""A standard deviation of so many replicates is known within 1 %: five times less than what is looked for."""

_MOST_KEPT = 2**14
_SYSTEMS = 64  # whose replicates are in memory at a time


def read_standard_errors(cube: xr.Dataset, *, metric: str, test_size: str) -> NDArray[np.float64]:
    """Return (pair,) the standard errors of the gains, whichever procedure is asked about.

    The jackknife takes the score for nearly linear in what each unit adds. BLEU is not where few 4-grams match, or where outputs
    are about as long as their references: its brevity penalty has a kink there. Where the standard deviation of the bootstrap's
    replicates, times √(n/(n − 1)) of n units, differs by more than 5 %, it stands in place of the jackknife's standard error
    (Efron 1979, doi:10.1214/aos/1176344552). Units that are drawn within strata keep the jackknife's: how far a standard deviation
    of such replicates is too small depends on the strata.
    """
    return prefer_replicates(cube, _read_jackknife(cube, metric, test_size), metric=metric, test_size=test_size)


def prefer_replicates(cube: xr.Dataset, se: NDArray[np.float64], *, metric: str, test_size: str) -> NDArray[np.float64]:
    """Return (pair,) standard errors with the replicates' in place of those that are not near them, as `read_standard_errors` does.

    Parameters
    ----------
    cube : Dataset
    se : (pair,) float64
        By whatever approximation that is linear in the units: the jackknife's, or those that max-T divides gains by.
    metric, test_size : str
    """
    other = _read_replicates(cube, metric, test_size)
    return np.where(_apart(se, other), other, se)


def read_score_errors(cube: xr.Dataset, *, metric: str, test_size: str) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Return (system,) the standard errors of the systems' own scores, and which of them are those of the kept replicates.

    They are chosen as `read_standard_errors` does. Of very many kept replicates the first are enough.
    """
    where = {"metric": metric, "test_size": test_size}
    se, units = np.asarray(cube["score_se"].sel(where).values, np.float64), int(cube["n_units"].sel(test_size=test_size).item())
    other = np.full(len(se), np.nan)
    if "score" in cube and "strata" not in cube.attrs and units > 1 and cube.sizes["replicate"] >= FEWEST_REPLICATES:
        kept = cube["score"].sel(where).isel(replicate=slice(0, _MOST_KEPT))
        for first in range(0, len(se), _SYSTEMS):
            scores = np.asarray(kept.isel(system=slice(first, first + _SYSTEMS)).values, np.float64)
            enough = np.flatnonzero(np.isfinite(scores).sum(axis=1) >= FEWEST_REPLICATES)
            other[first + enough] = np.nanstd(scores[enough], axis=1) * np.sqrt(units / (units - 1))
    apart = _apart(se, other)
    return np.where(apart, other, se), apart


def describe_replaced(cubes: Mapping[str, xr.Dataset]) -> str | None:
    """Say how many standard errors are the replicates' where the jackknife's are not near them; None where all are near."""
    told = []
    for name, cube in cubes.items():
        for metric in map(str, cube["metric"].values.tolist()):
            sizes = list(map(str, cube["test_size"].values.tolist()))
            both = [(_read_jackknife(cube, metric, size), _read_replicates(cube, metric, size)) for size in sizes]
            count, all_ = sum(int(_apart(*two).sum()) for two in both), sum(len(se) for se, _ in both)
            if count:
                told.append(f"{count:,} of {all_:,} on {name}, {name_metric(metric)}")
    if not told:
        return None
    return (
        f"Standard errors are the jackknife's, but for those that differ by more than {100 * APART:g} % from the standard "
        f"deviation of the bootstrap's replicates, which stands in their place: {'; '.join(told)}."
    )


def _apart(se: NDArray[np.float64], other: NDArray[np.float64]) -> NDArray[np.bool_]:
    with np.errstate(invalid="ignore"):
        return np.isfinite(se) & (other > 0) & (np.abs(se - other) > APART * other)


def _read_jackknife(cube: xr.Dataset, metric: str, test_size: str) -> NDArray[np.float64]:
    return np.asarray(cube["se"].sel({"metric": metric, "test_size": test_size}).values, np.float64)


def _read_replicates(cube: xr.Dataset, metric: str, test_size: str) -> NDArray[np.float64]:
    """Return (pair,) the standard errors by the bootstrap's replicates, nan where there are none or too few."""
    if "replicate_se" in cube and "strata" not in cube.attrs:  # older cubes lack it
        units = int(cube["n_units"].sel(test_size=test_size).item())
        for procedure in map(str, cube["procedure"].values.tolist()):
            at = {"metric": metric, "test_size": test_size, "procedure": procedure}
            if PROCEDURES[procedure].centred_at_gain and units > 1 and drawn_replicates(cube, at) >= FEWEST_REPLICATES:
                found = np.asarray(cube["replicate_se"].sel(at).values, np.float64) * np.sqrt(units / (units - 1))
                return np.where(_count_empty(cube, at) > drawn_replicates(cube, at) - FEWEST_REPLICATES, np.nan, found)
    return np.full(cube.sizes["pair"], np.nan)


def _count_empty(cube: xr.Dataset, at: Mapping[str, str]) -> NDArray[np.int64]:
    """Return (pair,) on how many replicates a score was undefined: these have no spread."""
    if "count_empty" not in cube:
        return np.zeros(cube.sizes["pair"], np.int64)
    return np.asarray(np.maximum(cube["count_empty"].sel(at).values, 0).sum(-1, dtype=np.int64))
