"""SciPy's Fourier transforms, without the packages that `scipy.fft` imports for other array libraries and transforms.

Importing `scipy.fft` takes a fifth of a second: it imports all of `scipy.special`, for a transform that this package never calls.
Transforms are made by one compiled module within, which loads in a hundredth of that, and is called here as `scipy.fft` calls it:
the bits are the same.
"""

from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.numerics.alone import load_alone

__all__ = ["fft", "ifft", "irfft", "next_fast_len", "rfft"]

_COMPILED = ("scipy.fft._pocketfft.pypocketfft", "scipy.fft._duccfft.pyduccfft")
_LAST, _PLAIN, _BY_LENGTH = (-1,), 0, 2  # the axis, and how a transform is normalised


def next_fast_len(length: int, real: bool = False) -> int:
    """Return the smallest length, no smaller than this one, that is transformed fast."""
    found = _find_transforms()
    return int(import_module("scipy.fft").next_fast_len(length, real) if found is None else found.good_size(length, real))


def fft(values: NDArray[Any]) -> NDArray[np.complex128]:
    """Return the transform of complex numbers, or of each row of them."""
    found: NDArray[np.complex128] = _transform("fft", "c2c", values, True, _PLAIN)
    return found


def ifft(values: NDArray[Any]) -> NDArray[np.complex128]:
    """Return the inverse of `fft`."""
    found: NDArray[np.complex128] = _transform("ifft", "c2c", values, False, _BY_LENGTH)
    return found


def rfft(values: NDArray[Any]) -> NDArray[np.complex128]:
    """Return the first half of the transform of real numbers, which tells the other."""
    found: NDArray[np.complex128] = _transform("rfft", "r2c", values, True, _PLAIN)
    return found


def irfft(values: NDArray[Any], length: int) -> NDArray[np.float64]:
    """Return the inverse of `rfft`, of so many real numbers."""
    found: NDArray[np.float64] = _transform("irfft", "c2r", values, False, _BY_LENGTH, length)
    return found


def _transform(name: str, compiled: str, values: NDArray[Any], forward: bool, normalised: int, *length: int) -> Any:
    found = _find_transforms()
    kept = values.shape[-1] if not length else length[0] // 2 + 1
    # Whatever asks for more than this is left to the package: other types, more axes, another length than there is.
    if (
        found is None
        or values.ndim > 2
        or values.shape[-1] != kept
        or values.dtype != (np.float64 if name == "rfft" else np.complex128)
    ):
        return getattr(import_module("scipy.fft"), name)(values, *length)
    return getattr(found, compiled)(values, _LAST, *length, forward, normalised, None, 1)


def _find_transforms() -> ModuleType | None:
    """Return SciPy's compiled transforms, which are others from 1.18 on and are called alike."""
    return next((found for name in _COMPILED if (found := load_alone(name, ("c2c", "r2c", "c2r", "good_size")))), None)
