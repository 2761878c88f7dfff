"""Shapes of points as SVG paths, so that thousands of points are one path."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

__all__ = ["STROKES", "path_of", "thin_out"]

STROKES = frozenset("x|")
"""Shapes that are lines: they have no inside."""

_CORNERS = {"s": (4, 45), "D": (4, 0), "^": (3, 0), "v": (3, 180), "<": (3, 270), "h": (6, 0), "p": (5, 0)}
"""Number of corners of the regular shapes, and by how many degrees the first is turned from the top."""
_STEPS = (0.25, 0.5, 1.0, 2.0, 4.0)
"""Pixels."""


def path_of(marker: str, x: NDArray[np.float64], y: NDArray[np.float64], size: float) -> str:
    """Return the data of a path with a shape at every point.

    Examples
    --------
    >>> path_of("|", np.array([10.0]), np.array([20.0]), 6)
    'M10 20m0-3v6'
    """
    shape = _shape(marker, size / 2)
    return "".join(f"M{_short(a)} {_short(b)}{shape}" for a, b in zip(x.tolist(), y.tolist(), strict=True))


def thin_out(x: NDArray[np.float64], y: NDArray[np.float64], most: int) -> NDArray[np.int64]:
    """Choose the points to draw where there are too many for a page: the first in each small square.

    The squares are the smallest, of a quarter of a pixel to four, that leave so few.
    """
    kept = np.arange(len(x))
    for step in _STEPS:
        if len(kept) <= most:
            break
        places = np.stack([np.rint(x / step), np.rint(y / step)], axis=1)
        kept = np.sort(np.unique(places, axis=0, return_index=True)[1])
    return kept


def _shape(marker: str, r: float) -> str:
    if marker == "o":
        return f"m-{_short(r)} 0a{_short(r)} {_short(r)} 0 1 0 {_short(2 * r)} 0a{_short(r)} {_short(r)} 0 1 0-{_short(2 * r)} 0"
    if marker == "|":
        return f"m0-{_short(r)}v{_short(2 * r)}"
    if marker == "x":
        half, whole = _short(0.8 * r), _short(1.6 * r)
        return f"m-{half}-{half}l{whole} {whole}m0-{whole}l-{whole} {whole}"
    if marker in "PX":
        third = r / 3
        plus = [(-third, -r), (third, -r), (third, -third), (r, -third), (r, third), (third, third)]
        corners = plus + [(-x, -y) for x, y in plus]
        turn = math.pi / 4 * (marker == "X")
        return _outline([_turned(x, y, turn) for x, y in corners])
    if marker == "*":
        reach = [r * (1.15 if k % 2 == 0 else 0.5) for k in range(10)]
        return _outline([_turned(0, -far, math.pi * k / 5) for k, far in enumerate(reach)])
    number, degrees = _CORNERS[marker]
    far = r * 1.15
    return _outline([_turned(0, -far, math.radians(degrees) + 2 * math.pi * k / number) for k in range(number)])


def _turned(x: float, y: float, angle: float) -> tuple[float, float]:
    return x * math.cos(angle) - y * math.sin(angle), x * math.sin(angle) + y * math.cos(angle)


def _outline(corners: Sequence[tuple[float, float]]) -> str:
    """Return a closed outline by steps from corner to corner, from the centre."""
    rounded = [(round(x, 1), round(y, 1)) for x, y in corners]
    steps = [(b[0] - a[0], b[1] - a[1]) for a, b in zip([(0.0, 0.0), *rounded], rounded, strict=False)]
    (first, *others) = (f"{_short(x)} {_short(y)}" for x, y in steps)
    return f"m{first}l{' '.join(others)}z"


def _short(value: float) -> str:
    """Return a number to a tenth of a pixel, without a zero behind the point."""
    return f"{round(value, 1) + 0.0:g}"
