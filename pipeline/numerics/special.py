"""SciPy's special functions, without the half of `scipy.special` that this package never calls.

Importing `scipy.special` loads wrappers for other array libraries too. For these it parses the docstring of every function and
imports all of NumPy, down to its interface to Fortran, which takes a tenth of the time of a small comparison. The functions are
in compiled modules within that package, which load in a tenth of that. These are the same objects, and give the same bits.
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

import scipy

from pipeline.numerics.alone import load_alone

if TYPE_CHECKING:
    from scipy.special import (
        betainc,
        betaincinv,
        betaln,
        chdtrc,
        chdtri,
        erfcx,
        expit,
        fdtrc,
        gammaln,
        log_ndtr,
        logit,
        nbdtrik,
        nctdtr,
        ndtr,
        ndtri,
        ndtri_exp,
        stdtr,
        stdtrit,
        xlog1py,
        xlogy,
    )

__all__ = [
    "betainc",
    "betaincinv",
    "betaln",
    "chdtrc",
    "chdtri",
    "erfcx",
    "expit",
    "fdtrc",
    "gammaln",
    "log_ndtr",
    "logit",
    "nbdtrik",
    "nctdtr",
    "ndtr",
    "ndtri",
    "ndtri_exp",
    "stdtr",
    "stdtrit",
    "xlog1py",
    "xlogy",
]

_LINALG = ("scipy.linalg.cython_blas", "scipy.linalg.cython_lapack")
"""What `_ufuncs` imports from SciPy 1.18 on: with the package around it that takes a quarter of a second."""

_COMPILED = tuple(f"scipy.special.{name}" for name in ("_special_ufuncs", "_gufuncs", "_ufuncs_cxx", "_ellip_harm_2", "_ufuncs"))
"""Each after those that it imports: what is in `sys.modules` is imported without the package around it."""


def _find_functions() -> Any:
    """Return what has the functions: the package where it is imported already, or where this version of it is built differently."""
    if "scipy.special" not in sys.modules:
        needs_linalg = tuple(map(int, scipy.__version__.split(".")[:2])) >= (1, 18)
        for name in _LINALG + _COMPILED if needs_linalg else _COMPILED:
            load_alone(name)  # None of one that this version does not have
        found = load_alone("scipy.special._ufuncs", tuple(__all__))
        if found is not None:
            return found
    return import_module("scipy.special")


if not TYPE_CHECKING:
    _functions = _find_functions()
    globals().update({name: getattr(_functions, name) for name in __all__})
