"""The budget of exact tails, in points of transforms: a budget in seconds would make results depend on the machine."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["OF_TAILS", "PATIENT", "POINT_SECONDS", "QUICK", "Budget", "tails_budget"]

POINT_SECONDS = 3e-8
"""Seconds that a point takes on a slow machine, everything included."""

_LEAST = 2**23
"""The budget that the tails of a metric always have: a quarter of a second."""

_REPLICATES = 256
"""Comparisons of a pair on a replicate that are worth one point: tails take some tenth of the resampling of a large study."""


@dataclass(frozen=True, kw_only=True)
class Budget:
    """How large a transform may be before a tail is enclosed instead.

    Parameters
    ----------
    points : int
        Points of a line, on which a tail is exact: 2**20 take some 30 ms, 2**24 a second.
    work : int
        Rows times points of a plane of numerators and denominators, on which it is exact too; 0 rules planes out.
    halves : int
        Sums of half of the draws, with which it is exact on any lattice if there are few units: those of fourteen units, some 60
        ms, are within 2**17; 0 rules them out.
    frequencies : int
        Most frequencies of an enclosure: 2**18 take some 20 ms. Twice as many halve the width of the interval.
    width : float
        The width of the interval, relative to the tail, that is narrow enough: fewer frequencies are used if they reach it.
    """

    points: int = 2**20
    work: int = 2**22
    halves: int = 2**17
    frequencies: int = 2**18
    width: float = 3e-4


QUICK = Budget()
"""At most about .2 s for each pair."""

OF_TAILS = Budget(points=2**17, work=2**19, halves=2**16, frequencies=2**15, width=2e-3)
"""Of a tail that stands beside a counted p: it is shown with two digits, and known to three. Some 10 ms a pair."""

PATIENT = Budget(points=2**24, work=2**25, halves=2**20, frequencies=2**21, width=3e-5)
"""Exact wherever memory allows; takes seconds for each pair."""


def tails_budget(*, replicates: int, pairs: int, is_full: bool) -> int:
    """Return the points that the default tails of one metric may take together at a test size: 0 unless it is the full one.

    Reports and tables show tails at the full size only.

    Examples
    --------
    >>> tails_budget(replicates=100_000, pairs=1326, is_full=True) == 2**23
    True
    >>> tails_budget(replicates=1_000_000, pairs=499_500, is_full=True)
    1951171875
    """
    return max(_LEAST, replicates * pairs // _REPLICATES) if is_full else 0
