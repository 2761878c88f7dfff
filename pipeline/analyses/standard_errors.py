"""Standard errors of gains as analyses use them: the jackknife's, or the replicates' where the two disagree."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pipeline.analyses.exact import drawn_replicates
from pipeline.procedures.registry import PROCEDURES

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["describe_replaced", "read_standard_errors"]

APART = 0.05
"""The jackknife is set aside where it is off by more than this share of the replicates' standard error."""

FEWEST_REPLICATES = 5000
"""A standard deviation of so many replicates is known within 1 %: five times less than what is looked for."""


def read_standard_errors(cube: xr.Dataset, *, metric: str, test_size: str) -> NDArray[np.float64]:
    """Return (pair,) the standard errors of the gains, whichever procedure is asked about.

    The jackknife takes the score for nearly linear in what each unit adds. BLEU is not where few 4-grams match, or where outputs
    are about as long as their references: its brevity penalty has a kink there. Where the standard deviation of the bootstrap's
    replicates, times √(n/(n − 1)) of n units, differs by more than 5 %, it stands in place of the jackknife's standard error
    (Efron 1979, doi:10.1214/aos/1176344552). Units that are drawn within strata keep the jackknife's: how far a standard deviation
    of such replicates is too small depends on the strata.
    """
    se, other = _read_both(cube, metric, test_size)
    return np.where(_apart(se, other), other, se)


def describe_replaced(cubes: Mapping[str, xr.Dataset]) -> str | None:
    """Say how many standard errors are the replicates' where the jackknife's are not near them; None where all are near."""
    told = []
    for name, cube in cubes.items():
        for metric in map(str, cube["metric"].values.tolist()):
            both = [_read_both(cube, metric, str(size)) for size in cube["test_size"].values.tolist()]
            count, all_ = sum(int(_apart(*two).sum()) for two in both), sum(len(se) for se, _ in both)
            if count:
                told.append(f"{count:,} of {all_:,} on {name}, {metric}")
    if not told:
        return None
    return (
        f"Standard errors are the jackknife's, but for those that differ by more than {100 * APART:g} % from the standard "
        f"deviation of the bootstrap's replicates, which stands in their place: {'; '.join(told)}."
    )


def _apart(se: NDArray[np.float64], other: NDArray[np.float64]) -> NDArray[np.bool_]:
    with np.errstate(invalid="ignore"):
        return np.isfinite(se) & (other > 0) & (np.abs(se - other) > APART * other)


def _read_both(cube: xr.Dataset, metric: str, test_size: str) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the jackknife's standard errors and the replicates', nan where there are none or too few."""
    where = {"metric": metric, "test_size": test_size}
    se = cube["se"].sel(where).values.astype(np.float64)
    if "replicate_se" in cube and "strata" not in cube.attrs:  # older cubes lack it
        units = int(cube["n_units"].sel(test_size=test_size).item())
        for procedure in map(str, cube["procedure"].values.tolist()):
            at = where | {"procedure": procedure}
            if PROCEDURES[procedure].centred_at_gain and units > 1 and drawn_replicates(cube, at) >= FEWEST_REPLICATES:
                return se, cube["replicate_se"].sel(at).values.astype(np.float64) * np.sqrt(units / (units - 1))
    return se, np.full(len(se), np.nan)
