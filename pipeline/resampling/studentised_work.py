"""What bootstrap-t costs: replicates that are drawn again, and products of a weight and an influence value. This module is pure."""

from __future__ import annotations

__all__ = ["MOST_PRODUCTS", "REPLICATES_AGAIN", "products", "replicates_again"]

REPLICATES_AGAIN = 9999
"""Of the kept replicates so many are drawn again, the first ones: a quantile needs them by the thousand, not by the million."""

MOST_PRODUCTS = 2**41
"""Of one metric on one test size: two minutes on one core where systems share denominators, a quarter of an hour where not."""


def replicates_again(kept: int) -> int:
    """Return how many of the kept replicates are drawn again.

    Examples
    --------
    >>> replicates_again(131_072), replicates_again(500)
    (9999, 500)
    """
    return min(kept, REPLICATES_AGAIN)


def products(*, systems: int, units: int, kept: int) -> int:
    """Return the products of all pairs.

    Examples
    --------
    >>> products(systems=31, units=1000, kept=131_072)
    4649535000
    """
    return systems * (systems - 1) // 2 * units * replicates_again(kept)
