"""Integers of exact laws. This module checks that their sums fit, and takes common factors out."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pipeline.resampling.contract import largest_magnitude

__all__ = ["INT64_LIMIT", "check_sums", "common_step", "one_dimensional"]

INT64_LIMIT = 2**63


def common_step(values: NDArray[np.int64]) -> int:
    """Return the greatest common divisor, 1 of zeros."""
    return int(np.gcd.reduce(values)) or 1 if len(values) else 1


def one_dimensional(values: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return one or more integers as int64, and refuse anything else."""
    if values.ndim != 1 or not values.size or not np.issubdtype(values.dtype, np.integer):
        raise ValueError(f"one or more integers are needed, not {values.dtype} of shape {values.shape}")
    return values.astype(np.int64)


def check_sums(values: NDArray[np.int64]) -> None:
    """Refuse values of which four times the sum of any n could leave int64."""
    bound = 4 * len(values) * largest_magnitude(values)
    if bound >= INT64_LIMIT:
        raise ValueError(f"sums up to {bound} do not fit: int64 ends at {INT64_LIMIT}")
