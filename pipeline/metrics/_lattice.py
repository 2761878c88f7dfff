"""Numbers of a file as integers with a decimal scale, rounded once, and by how much."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import ROUND_HALF_EVEN, Context, Decimal, InvalidOperation

import numpy as np
from numpy.typing import NDArray

from pipeline.dataclass import dataclass
from pipeline.errors import DataError

__all__ = ["MOST_ADDED", "Lattice", "put_on_lattice", "round_to_lattice"]

_EXACT = 2**53
MOST_ADDED = 2**52
"""Items times their largest number stay below this: so a difference of two outputs on any resample is exact in a float."""
_COMFORTABLE = 2**43
"""Sums of one output stay below this: systems hundreds of times larger or finer can still be added on one lattice."""
_USUAL = 9
"""Decimals that computed numbers are rounded to."""
_SMALL = Decimal("0.001")
# The default context rounds to 28 digits; a number of a file may have more.
_CONTEXT = Context(prec=400)


@dataclass(frozen=True)
class Lattice:
    """Integers in units of ``10 ** -decimals``, and the largest error of rounding to them."""

    values: NDArray[np.int64]
    decimals: int
    rounding_error: float


def put_on_lattice(numbers: Sequence[str], *, source: str, column: str) -> Lattice:
    """Return the numbers of a column as integers.

    The scale is the largest number of decimals in the file, and less where the sum of as many times the largest number would
    pass 2^43: numbers then keep nine digits for a thousand items, however small or large they are. What has to be rounded keeps
    nine decimals at most, unless all numbers are below a thousandth: a number that two systems share is then one integer, though
    the largest number of one system is .8 and of the other 1.

    Examples
    --------
    >>> put_on_lattice(["0.5", "1.25", "-3"], source="scores.csv", column="score")
    Lattice(values=array([  50,  125, -300]), decimals=2, rounding_error=0.0)
    """
    exact = [_parse(number, place, source, column) for place, number in enumerate(numbers)]
    largest = max((abs(number) for number in exact), default=Decimal(0))
    wanted = max((_count_decimals(number) for number in exact), default=0)
    items = Decimal(max(len(exact), 1))
    # A count of items brought to the same scale must be exact as well; whole numbers may use all there is.
    decimals = next(
        (
            k
            for k in range(wanted, -1, -1)
            if (largest * items).scaleb(k, _CONTEXT) < (_COMFORTABLE if k else MOST_ADDED) and items.scaleb(k, _CONTEXT) < _EXACT
        ),
        None,
    )
    if decimals is None:
        raise DataError.of(
            "P227",
            f"the numbers of column '{column}' are too large to be added exactly: {len(exact)} times {largest:g} exceeds 2^52",
            where=source,
            help="give them in a larger unit",
        )
    if _USUAL < decimals < wanted and largest >= _SMALL:
        decimals = _USUAL
    scaled = [number.scaleb(decimals, _CONTEXT) for number in exact]
    rounded = [number.to_integral_value(ROUND_HALF_EVEN) for number in scaled]
    error = max((abs(a - b) for a, b in zip(scaled, rounded, strict=True)), default=Decimal(0))
    return Lattice(np.array([int(r) for r in rounded], dtype=np.int64), decimals, float(error.scaleb(-decimals, _CONTEXT)))


def _parse(number: str, place: int, source: str, column: str) -> Decimal:
    try:
        value = Decimal(number.strip())
    except InvalidOperation:
        value = Decimal("nan")
    if not value.is_finite():
        raise DataError.of(
            "P210",
            f"column '{column}' has {number!r} at item {place + 1}, which is not a finite number",
            where=source,
            help="choose a column of numbers; a missing score is not a number",
        )
    return value


def _count_decimals(number: Decimal) -> int:
    """Count decimal places without trailing zeros: 0.50 has one."""
    if not number:
        return 0
    exponent = number.normalize(_CONTEXT).as_tuple().exponent
    return max(0, -exponent) if isinstance(exponent, int) else 0


def round_to_lattice(numbers: NDArray[np.float64], decimals: int) -> Lattice:
    """Return computed numbers as integers, on a lattice that is the same for all items, outputs and test sets.

    A computed number has no decimals of its own: values that differ by the last bit only, as 2/3 by way of 4/6, are one value
    here, and what is added is exact.

    Examples
    --------
    >>> round_to_lattice(np.array([0.5, 2 / 3]), 3).values
    array([500, 667])
    """
    scaled = numbers * float(10**decimals)
    rounded = np.rint(scaled)
    error = float(np.abs(scaled - rounded).max(initial=0.0)) / 10**decimals
    return Lattice(rounded.astype(np.int64), decimals, error)
