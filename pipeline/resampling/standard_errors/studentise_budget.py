"""The cost of standard errors of replicates, known before anything is drawn: replicates drawn again, and products.

A product is a weight times an influence value, for each pair, unit and replicate. Their number grows with the square of the number
of systems. If there are too many, none are computed: max-T leaves the decision to Holm, and says so.
"""

from __future__ import annotations

__all__ = ["MOST_PRODUCTS", "REPLICATES_AGAIN", "products", "replicates_again", "replicates_within"]

REPLICATES_AGAIN = 9999
"""Of the kept replicates so many are drawn again, the first ones: a quantile needs them by the thousand, not by the million."""

_FEWEST = 399
"""Below so many a quantile of t* is not worth having: fewer are never proposed."""

MOST_PRODUCTS = 2**41
"""Of one metric on one test size; `pipeline.plan.costs` knows what one takes."""


def replicates_again(kept: int) -> int:
    """Return how many of the kept replicates are drawn again.

    Examples
    --------
    >>> replicates_again(131_072), replicates_again(500)
    (9999, 500)
    """
    return min(kept, REPLICATES_AGAIN)


def products(*, systems: int, units: int, kept: int) -> int:
    """Return the number of products for all pairs.

    Examples
    --------
    >>> products(systems=31, units=1000, kept=131_072)
    4649535000
    """
    return systems * (systems - 1) // 2 * units * replicates_again(kept)


def replicates_within(*, systems: int, units: int, kept: int) -> int | None:
    """Return how many replicates fit into `MOST_PRODUCTS`, 0 if too few to be proposed; None if those that are kept fit.

    Examples
    --------
    >>> replicates_within(systems=150, units=2000, kept=131_072), replicates_within(systems=1000, units=1000, kept=131_072)
    (None, 4402)
    """
    if products(systems=systems, units=units, kept=kept) <= MOST_PRODUCTS:
        return None
    fitting = MOST_PRODUCTS * 2 // (systems * (systems - 1) * units)
    return fitting if fitting >= _FEWEST else 0
