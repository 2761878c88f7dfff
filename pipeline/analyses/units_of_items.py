"""What a cube knows of its items: their units, the strata of these, their documents. This module reads it."""

from __future__ import annotations

import numpy as np
import xarray as xr
from numpy.typing import NDArray

__all__ = ["EARLIER", "read_documents", "read_strata", "read_units_of_items"]

EARLIER = "these cubes, of an earlier version, do not know the {what} of items: `pipeline run` makes them anew"
"""Why nothing can be said of a cube; ``what`` it lacks."""


def read_units_of_items(data: xr.Dataset, unit: str) -> NDArray[np.int64] | None:
    """Give the unit of each item of a metric's statistics; None where units are not items and the cube does not know them.

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


def read_strata(data: xr.Dataset, unit_of_item: NDArray[np.int64]) -> NDArray[np.int64] | None:
    """Give the stratum of each unit, numbered from 0 in the order of their first units; None where the cube does not know them."""
    if "stratum" not in data.coords:
        return None
    of_item = np.asarray(data["stratum"].values, np.int64)
    _, first = np.unique(unit_of_item, return_index=True)
    return _number(of_item[first])


def read_documents(data: xr.Dataset) -> NDArray[np.int64] | None:
    """Give the document of each item, numbered from 0 in the order of their first items; None where nobody knows them."""
    return _number(np.asarray(data["document"].values, np.int64)) if "document" in data.coords else None


def _number(group_of: NDArray[np.int64]) -> NDArray[np.int64]:
    _, first, inverse = np.unique(group_of, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[inverse].astype(np.int64)
