"""The p of a bootstrap corrected for few units, as a cube has it. This module computes it for cubes that are older than it."""

from __future__ import annotations

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from pipeline.inference.student_tails import StudentTails
from pipeline.procedures.registry import PROCEDURES

__all__ = ["read_few_units"]


def read_few_units(
    cube: xr.Dataset, *, metric: str, test_size: str, procedure: str, units: float | None = None
) -> NDArray[np.float64]:
    """Give the two-sided p by Student's t of every pair; nan of procedures that need no correction, and where units are unknown.

    Parameters
    ----------
    cube : Dataset
    metric, test_size, procedure : str
    units : float, optional
        Effective ones, where the cube is silent.
    """
    where = {"metric": metric, "test_size": test_size}
    nothing = np.full(cube.sizes["pair"], np.nan)
    reading = PROCEDURES.get(procedure)
    if reading is None or not reading.few_units:
        return nothing
    if "p_few_units" in cube.variables:
        return np.asarray(cube["p_few_units"].sel(where | {"procedure": procedure}).values, np.float64)
    known = cube.attrs.get("effective_units") if test_size == "full" else None
    worth = units if known is None else float(known)
    if worth is None:
        return nothing
    strata = cube.attrs.get("strata")
    tails = StudentTails(max(worth, 1.0), int(strata["count"]) if strata else 1)
    delta, se = (np.asarray(cube[name].sel(where).values, np.float64) for name in ("observed_delta", "se"))
    return tails.p_value(delta, se)
