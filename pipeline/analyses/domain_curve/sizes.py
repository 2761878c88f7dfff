"""At which number of units test sets are compared, and which of a test set's sizes has it."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from pipeline.dataclass import dataclass

__all__ = ["SizeOf", "choose_units", "size_of"]


@dataclass(frozen=True)
class SizeOf:
    """The size of a test set that is looked at.

    Parameters
    ----------
    label : str
        Of the cube: ``full`` or a number.
    units : int
        Its units.
    scale : float
        √(units / wanted): what brings a gain or standard error to the wanted number of units; 1 where the cube has that size.
    """

    label: str
    units: int
    scale: float


def choose_units(sizes: Mapping[str, Mapping[str, int]], asked: int | None) -> int:
    """Return the number of units at which test sets are compared.

    Parameters
    ----------
    sizes : mapping of str to mapping of str to int
        Of each test set the units of each size, by label.
    asked : int or None
        None: the largest number that every test set has as a size, else the units of the smallest test set.

    Examples
    --------
    >>> choose_units({"news": {"100": 100, "full": 900}, "law": {"100": 100, "full": 380}}, None)
    100
    >>> choose_units({"news": {"full": 900}, "law": {"full": 380}}, None)
    380
    """
    if asked is not None:
        return asked
    common = set.intersection(*(set(of_set.values()) for of_set in sizes.values()))
    return max(common) if common else min(max(of_set.values()) for of_set in sizes.values())


def size_of(sizes: Mapping[str, int], wanted: int) -> SizeOf:
    """Return the size of a test set that has the wanted number of units, else its full size with the factor √(units / wanted).

    Examples
    --------
    >>> size_of({"100": 100, "full": 400}, 100), size_of({"full": 400}, 100)
    (SizeOf(label='100', units=100, scale=1.0), SizeOf(label='full', units=400, scale=2.0))
    """
    exact = [label for label, units in sizes.items() if units == wanted]
    if exact:
        return SizeOf(exact[-1], wanted, 1.0)
    label = max(sizes, key=lambda one: sizes[one])
    return SizeOf(label, sizes[label], float(np.sqrt(sizes[label] / wanted)))
