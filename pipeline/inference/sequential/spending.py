"""Spending a level over looks: how small p must be at each look, so that the chance of any false alarm is at most α.

Every look at a leaderboard or a nightly build is a test with a chance of a false alarm. If look k rejects at α w_k, and the shares
w add up to at most 1, the chance that any look rejects although nothing differs is at most α (Bonferroni). This assumes nothing
about how looks depend on one another: the same items again, overlapping items, new builds and new systems are all allowed. It does
assume that p is valid at each look, and that the shares do not depend on what earlier looks showed.
"""

from __future__ import annotations

import math

from pipeline.dataclass import dataclass

__all__ = ["Spending"]

_NORM = 2.11
"""Above Σ 1/(n log² n) over n ≥ 2, which is 2.1097…, so that the shares of endless looks add up to less than 1."""


@dataclass(frozen=True)
class Spending:
    """The share of α that each look may spend.

    Parameters
    ----------
    looks : int, optional
        Looks of a period: each spends α/looks, and after the last a new period begins with an α of its own. None: looks without end
        share one α, and look k spends α/(2.11 n log² n), n = k + 1: 49 % at the first look, .13 % at the thirtieth.

    Examples
    --------
    >>> Spending(30).share(1) == Spending(30).share(30) == 1 / 30
    True
    >>> [round(Spending(None).share(look), 4) for look in (1, 2, 30)]
    [0.4932, 0.1309, 0.0013]
    """

    looks: int | None

    def __post_init__(self) -> None:
        if self.looks is not None and self.looks < 1:
            raise ValueError(f"a period has at least one look, not {self.looks}")

    def share(self, look: int) -> float:
        """Return the share of a look; looks are counted from 1."""
        if look < 1:
            raise ValueError(f"looks are counted from 1 on, not {look}")
        if self.looks is not None:
            return 1 / self.looks
        return 1 / (_NORM * (look + 1) * math.log(look + 1) ** 2)
