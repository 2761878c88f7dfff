"""What a cube says of itself. This module reads its attributes and optional variables, with None where it is silent."""

from __future__ import annotations

from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

__all__ = ["FULL", "count_of", "effective_units_of", "metric_fact", "read_flags", "read_variable", "summed"]

FULL = "full"


def read_variable(cube: xr.Dataset, name: str, **where: str) -> NDArray[Any] | None:
    """Return a variable at some labels, or None where the cube does not hold it."""
    if name not in cube.variables:
        return None
    variable = cube[name]
    return np.asarray(variable.sel({dim: label for dim, label in where.items() if dim in variable.dims}).values)


def summed(cube: xr.Dataset, name: str, **where: str) -> NDArray[Any] | None:
    """Return a variable summed over its cells, in their order."""
    values = read_variable(cube, name, **where)
    if values is None or "cell" not in cube[name].dims:
        return values
    kept = [dim for dim in cube[name].dims if dim not in where]
    kind = np.int64 if np.issubdtype(values.dtype, np.integer) else np.float64
    return np.asarray(values.astype(kind).sum(axis=kept.index("cell")))


def count_of(cube: xr.Dataset, name: str, **where: str) -> NDArray[np.int64] | None:
    """Return a count of replicates by pair, below 0 where it was not written; None where no pair has it."""
    values = summed(cube, f"count_{name}", **where)
    if values is None or not (values >= 0).any():
        return None
    return values.astype(np.int64)


def metric_fact(cube: xr.Dataset, name: str, metric: str) -> Any:
    """Return what an attribute, a mapping by metric, says of one metric."""
    return dict(cube.attrs.get(name, {})).get(metric)


def effective_units_of(cube: xr.Dataset, test_size: str) -> float | None:
    """Return the effective units of a test size; None where the cube does not know them."""
    by_size = dict(cube.attrs.get("effective_units_by_size") or {})
    found = by_size.get(test_size, cube.attrs.get("effective_units") if test_size == FULL else None)
    return None if found is None else float(found)


def read_flags(cube: xr.Dataset, name: str, **where: str) -> list[str | None]:
    """Return the words of a variable of codes by pair; None where nothing was written, or the cube does not hold it."""
    values = read_variable(cube, name, **where)
    if values is None:
        return [None] * cube.sizes["pair"]
    attributes = cube[name].attrs
    words = dict(zip(map(int, attributes["flag_values"]), str(attributes["flag_meanings"]).split(), strict=True))
    return [words.get(int(code)) for code in values.tolist()]
