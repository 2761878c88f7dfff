"""Pairs that gain the same on every unit. This module finds them: resampling such units always gives the gain that was observed."""

from __future__ import annotations

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from pipeline.inference.direct.result import REASONS as WORDS
from pipeline.inference.families import lacks_spread
from pipeline.report.cube_facts import read_variable

__all__ = ["NOT_TESTABLE", "NO_SPREAD", "without_spread"]

NO_SPREAD = WORDS["no spread"]
"""Why such a pair has no p of resampling, in words."""

NOT_TESTABLE = "not testable"
"""The verdict of such a pair by a procedure that rests on the spread of units."""


def without_spread(cube: xr.Dataset, **where: str) -> NDArray[np.bool_]:
    """Tell which pairs have a gain and a standard error of 0, but for rounding.

    It is what the family of max-T leaves out, asked of all pairs, so that Holm and max-T have one rule.

    Parameters
    ----------
    cube : Dataset
    **where : str
        Metric and test size.
    """
    order = {str(name): place for place, name in enumerate(cube["system"].values.tolist())}
    pairs = np.array([[order[str(name)] for name in cube[side].values.tolist()] for side in ("system_a", "system_b")], np.int64).T
    return lacks_spread(
        pairs,
        score=np.asarray(read_variable(cube, "observed_score", **where), np.float64),
        delta=np.asarray(read_variable(cube, "observed_delta", **where), np.float64),
        se=np.asarray(read_variable(cube, "se", **where), np.float64),
        identical=np.asarray(read_variable(cube, "identical", **where), np.bool_),
    )
