"""How much may be spent on one tail. This module holds the budget, in points: seconds would change results from run to run."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["PATIENT", "QUICK", "Budget"]


@dataclass(frozen=True, kw_only=True)
class Budget:
    """How large a transform may be before a tail is enclosed instead.

    Parameters
    ----------
    points : int
        Of a line, on which a tail is exact: 2**20 take some 30 ms, 2**24 a second.
    work : int
        Rows times points of a plane of numerators and denominators, on which it is exact as well; 0 rules planes out.
    frequencies : int
        Most of an enclosure: 2**18 take some 20 ms. The width of the interval goes with the inverse.
    width : float
        Of the interval, relative to the tail, that is narrow enough: fewer frequencies are taken where they reach it.
    """

    points: int = 2**20
    work: int = 2**22
    frequencies: int = 2**18
    width: float = 3e-4


QUICK = Budget()
"""At most about .2 s a pair."""

PATIENT = Budget(points=2**24, work=2**25, frequencies=2**21, width=3e-5)
"""Exact wherever memory allows; seconds a pair."""
