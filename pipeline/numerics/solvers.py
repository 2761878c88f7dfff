"""SciPy's solvers that this package calls, without `scipy.optimize`, which takes a quarter of a second and more to import.

Each is a compiled function within, called here as the package calls it: the bits are the same.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pipeline.numerics.alone import load_alone

__all__ = ["find_root", "fit_increasing"]

_ROUNDS = 100  # those of `scipy.optimize.brentq`, as are the tolerances below


def find_root(
    function: Callable[[float], float], low: float, high: float, *, xtol: float = 2e-12, rtol: float = 4 * np.finfo(float).eps
) -> float:
    """Return where a function is 0 between two places at which it has opposite signs, by Brent's method.

    Raises
    ------
    ValueError
        Where it has one sign at both, or is nan.

    Examples
    --------
    >>> round(find_root(lambda x: x * x - 2, 0.0, 2.0), 9)
    1.414213562
    """
    compiled = load_alone("scipy.optimize._zeros", ("_brentq",))
    if compiled is None:
        return float(import_module("scipy.optimize").brentq(function, low, high, xtol=xtol, rtol=rtol))

    def known(x: float) -> float:
        value = function(x)
        if math.isnan(value):
            raise ValueError(f"the function is nan at {x}")
        return value

    return float(compiled._brentq(known, low, high, xtol, rtol, _ROUNDS, (), False, True))


def fit_increasing(values: ArrayLike, weights: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return the increasing values nearest to these by weighted least squares, and where blocks of equal ones begin and end.

    Examples
    --------
    >>> fitted, blocks = fit_increasing([1.0, 3.0, 2.0], [1, 1, 1])
    >>> fitted.tolist(), blocks.tolist()
    ([1.0, 2.5, 2.5], [0, 1, 3])
    """
    x, w = (np.array(given, dtype=np.float64) for given in (values, weights))
    if x.ndim != 1 or x.shape != w.shape or (w <= 0).any():
        raise ValueError(f"values of shape {x.shape} and weights of shape {w.shape} are rows of one length, and weights above 0")
    compiled: Any = load_alone("scipy.optimize._pava_pybind", ("pava",))
    if compiled is None:
        found = import_module("scipy.optimize").isotonic_regression(x, weights=w)
        return found.x, np.asarray(found.blocks, np.int64)
    fitted, _, blocks, count = compiled.pava(x, w, np.full(len(x) + 1, -1, np.intp))
    return fitted, np.asarray(blocks[: count + 1], np.int64)
