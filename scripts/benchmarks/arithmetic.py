"""What figures are made of measured times: marginal costs, spreads and straight lines."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

import numpy as np

__all__ = ["MILLION", "fit_line", "marginal", "spread"]

MILLION = 1_000_000


def marginal(low: float, high: float, *, replicates: tuple[int, int]) -> float:
    """Return what 10^6 replicates cost beyond what a run costs anyway.

    Parameters
    ----------
    low, high : float
        The cost of the same run with few and with many replicates.
    replicates : (int, int)
        How many.

    Examples
    --------
    >>> marginal(4.0, 13.0, replicates=(100_000, 1_000_000))
    10.0
    """
    few, many = replicates
    if not 0 <= few < many:
        raise ValueError(f"a marginal cost needs few and many replicates, not {few} and {many}")
    return (high - low) * MILLION / (many - few)


def spread(values: Sequence[float], *, digits: int = 3) -> dict[str, float]:
    """Return the median and the range."""
    return {name: round(function(values), digits) for name, function in (("median", median), ("min", min), ("max", max))}


def fit_line(x: Sequence[float], y: Sequence[float]) -> dict[str, float]:
    """Fit y = intercept + slope x by least squares of relative errors.

    Returns
    -------
    dict
        ``slope``, ``intercept``, and ``worst_residual``: the largest share by which a point lies off the line.

    Examples
    --------
    >>> fit_line([1, 2, 4], [3, 5, 9])["slope"]
    2.0
    """
    wide, tall = np.asarray(x, float), np.asarray(y, float)
    design = np.stack([np.ones(len(wide)), wide], axis=1) / tall[:, np.newaxis]
    (intercept, slope), *_ = np.linalg.lstsq(design, np.ones(len(wide)))
    residual = np.abs((intercept + slope * wide) / tall - 1).max()
    return {"slope": float(f"{slope:.6g}"), "intercept": float(f"{intercept:.6g}"), "worst_residual": round(float(residual), 4)}
