"""What a cube knows of its units: the items of each, their strata and documents, and p corrected for few of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pipeline.inference.unit_diagnostics.few_units import StudentTails
from pipeline.interfaces.analyses import FULL
from pipeline.procedures.registry import PROCEDURES
from pipeline.resampling.measures import sum_by_unit

if TYPE_CHECKING:
    import xarray as xr

__all__ = [
    "EARLIER",
    "count_shared",
    "read_documents",
    "read_few_units",
    "read_strata",
    "read_student_tails",
    "read_unit_statistics",
    "read_units_of_items",
]

EARLIER = "these cubes, of an earlier version, do not know the {what} of items: `pipeline run STUDY` makes them anew"
"""Why nothing can be said of a cube; ``what`` it lacks."""


def read_units_of_items(data: xr.Dataset, unit: str) -> NDArray[np.int64] | None:
    """Return the unit of each item of a metric's statistics; None where units are not items and the cube does not know them.

    Parameters
    ----------
    data : Dataset
        From `pipeline.interfaces.ScoredStatistics`.
    unit : str
        The study's ``resampling.unit``.
    """
    if "unit" in data.coords:
        return np.asarray(data["unit"].values, np.int64)
    return np.arange(data.sizes["item"]) if unit == "item" else None


def read_unit_statistics(data: xr.Dataset, unit_of_item: NDArray[np.int64], systems: Sequence[str]) -> NDArray[np.int64]:
    """Return (unit, system, statistic) sums over the items of each unit, of these systems in this order; read one by one."""
    place = {str(name): position for position, name in enumerate(data["system"].values.tolist())}
    of_system = [sum_by_unit(data["statistics"][place[name]].values, unit_of_item) for name in systems]
    return np.stack(of_system, axis=1).astype(np.int64, copy=False)


def read_strata(data: xr.Dataset, unit_of_item: NDArray[np.int64]) -> NDArray[np.int64] | None:
    """Return the stratum of each unit, numbered from 0 in the order of their first units; None where they are unknown."""
    if "stratum" not in data.coords:
        return None
    of_item = np.asarray(data["stratum"].values, np.int64)
    _, first = np.unique(unit_of_item, return_index=True)
    return _number(of_item[first])


def read_documents(data: xr.Dataset) -> NDArray[np.int64] | None:
    """Return the document of each item, numbered from 0 in the order of their first items; None where they are not known."""
    return _number(np.asarray(data["document"].values, np.int64)) if "document" in data.coords else None


def count_shared(base: Sequence[str], other: Sequence[str]) -> int | None:
    """Count the items of a test set that another has too, by name; None where names are unknown or mere line numbers.

    Examples
    --------
    >>> count_shared(["q1", "q2", "q3"], ["q3", "q4"]), count_shared(["1", "2"], ["1", "2", "3"])
    (1, None)
    """
    if not base or not other or any(list(ids) == [str(line) for line in range(1, len(ids) + 1)] for ids in (base, other)):
        return None
    return len(set(base) & set(other))


def _number(group_of: NDArray[np.int64]) -> NDArray[np.int64]:
    _, first, inverse = np.unique(group_of, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[inverse].astype(np.int64)


def read_few_units(
    cube: xr.Dataset, *, metric: str, test_size: str, procedure: str, units: float | None = None
) -> NDArray[np.float64]:
    """Return the two-sided p by Student's t of every pair; nan of procedures that need no correction, and where units are unknown.

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
    tails = read_student_tails(cube, test_size=test_size, units=units)
    if tails is None:
        return nothing
    delta, se = (np.asarray(cube[name].sel(where).values, np.float64) for name in ("observed_delta", "se"))
    return tails.p_value(delta, se)


def read_student_tails(cube: xr.Dataset, *, test_size: str, units: float | None = None) -> StudentTails | None:
    """Return the tails that the units of a test set give t; None where they are unknown.

    Parameters
    ----------
    cube : Dataset
    test_size : str
    units : float, optional
        Effective ones, where the cube is silent.
    """
    known = cube.attrs.get("effective_units") if test_size == FULL else None
    worth = units if known is None else float(known)
    if worth is None:
        return None
    strata = cube.attrs.get("strata")
    return StudentTails(max(worth, 1.0), int(strata["count"]) if strata else 1)
