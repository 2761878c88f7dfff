"""Which p-values of a cube are exact laws, and how many replicates were drawn beside them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import xarray as xr


__all__ = ["drawn_replicates", "is_exact"]


def is_exact(cube: xr.Dataset, where: Mapping[str, str]) -> bool:
    """Tell whether p-values of a metric and a procedure that draws are exact; cubes that say nothing of it have counted ones.

    Parameters
    ----------
    cube : Dataset
    where : mapping of str to str
        With ``metric`` and ``procedure``.
    """
    return where["metric"] in _beside(cube, where["procedure"])


def drawn_replicates(cube: xr.Dataset, where: Mapping[str, str]) -> int:
    """Return how many replicates were drawn, for p-values or beside exact ones; ``where`` as `is_exact` takes it."""
    return int(_beside(cube, where["procedure"]).get(where["metric"], cube.attrs["replicates"]))


def _beside(cube: xr.Dataset, procedure: str) -> Mapping[str, Any]:
    found: Mapping[str, Any] = dict(cube.attrs.get("exact") or {}).get(procedure, {})
    return found
