"""The options of looks again and again."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Literal

from pipeline.dataclass import dataclass

__all__ = ["SequentialOptions"]

_MOST_CURVES = 24


@dataclass(frozen=True)
class SequentialOptions:
    """Options: the bounds of scores, their order, and the looks.

    Parameters
    ----------
    bounds : two numbers, or a mapping of metrics to two numbers
        Bounds of the score of an item, whatever a system does; not needed for scores of 0 and 1.
    alpha : float, optional
        By default that of the study.
    order : {"given", "permuted"}
        The order of units: that of the test set, or one drawn from the study's seed.
    looks : tuple of int
        Numbers of units at which the sequences are listed; about twenty by default. All units are always a look.
    multiply : tuple of str
        Test sets of different items, in the order in which they were looked at: the e-values of a pair are multiplied.
    curves : int
        Pairs of each test set and metric whose sequences are listed and drawn.
    budget : float
        Limit on the product of pairs, units and halvings; pairs beyond it have no interval.
    """

    bounds: tuple[float, ...] | dict[str, Any] | None = None
    alpha: float | None = None
    order: Literal["given", "permuted"] = "given"
    looks: tuple[int, ...] = ()
    multiply: tuple[str, ...] = ()
    curves: int = 6
    budget: float = 2e10

    def __post_init__(self) -> None:
        given = self.bounds.values() if isinstance(self.bounds, dict) else [] if self.bounds is None else [self.bounds]
        for two in given:
            if not _are_bounds(two):
                raise ValueError(f"bounds must be two increasing numbers, got {list(two) if isinstance(two, tuple) else two!r}")
        if self.alpha is not None and not 0 < self.alpha < 1:
            raise ValueError(f"alpha {self.alpha} must be between 0 and 1")
        if any(look < 1 for look in self.looks) or any(b <= a for a, b in pairwise(self.looks)):
            raise ValueError(f"looks must be increasing numbers of units, got {list(self.looks)}")
        if len(set(self.multiply)) != len(self.multiply) or len(self.multiply) == 1:
            raise ValueError(f"multiply must name two test sets or more, each once, got {list(self.multiply)}")
        if not 0 <= self.curves <= _MOST_CURVES:
            raise ValueError(f"curves {self.curves} must be between 0 and {_MOST_CURVES}")
        if not self.budget > 0:
            raise ValueError(f"budget {self.budget} must be above 0")

    def bounds_of(self, metric: str) -> Sequence[float] | None:
        """Return the bounds that the study gives for a metric."""
        return self.bounds.get(metric) if isinstance(self.bounds, dict) else self.bounds


def _are_bounds(two: Any) -> bool:
    numbers = isinstance(two, list | tuple) and all(isinstance(end, int | float) and not isinstance(end, bool) for end in two)
    return numbers and len(two) == 2 and -math.inf < two[0] < two[1] < math.inf
