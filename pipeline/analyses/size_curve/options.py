"""The options of the curve of test sizes; those of no use are refused."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Literal

import numpy as np

from pipeline.analyses.pairs import BORDERLINE, Window
from pipeline.dataclass import dataclass

__all__ = ["Rule", "SizeCurveOptions"]

Rule = Literal["prefix", "random", "with-replacement"]
"""How a test set of some size is made of the units that there are."""


@dataclass(frozen=True)
class SizeCurveOptions:
    """Options of the analysis.

    Parameters
    ----------
    window, percentile
        As of `thresholds`.
    gains : tuple of float, optional
        Gains for which the units needed are read off, in metric points; by default a quarter and a half of the threshold at the
        largest size, since half a point is little of BLEU and all of a score from 0 to 1. None are read off for an empty list.
    draw : tuple of str
        ``prefix``: the first n units, at the study's test sizes. ``random``: subsets drawn without replacement.
        ``with-replacement``: n units drawn from all, also more than there are; standard errors only.
    sizes : tuple of int, optional
        Units of the drawn test sets; the study's smaller test sizes where nothing is said, or five from a twentieth to a half.
    repeats : int
        Random subsets of each size.
    replicates : int
        Of the bootstrap of each drawn test set.
    budget : float
        Of each test set and metric: subsets × replicates × (units × systems × statistics + pairs), over all sizes.
    most_pairs : int
        The figure of confidence against gain by test size is drawn of no more pairs than this.
    alpha : float or None
        Between the smallest gain that is significant and the largest that is not; the study's where nothing is said.
    """

    window: tuple[float, float] = BORDERLINE
    percentile: float = 95.0
    gains: tuple[float, ...] | None = None
    draw: tuple[Rule, ...] | Rule = ("prefix",)
    sizes: tuple[int, ...] | None = None
    repeats: int = 20
    replicates: int = 2000
    budget: float = 2e12
    most_pairs: int = 500
    alpha: float | None = None

    def __post_init__(self) -> None:
        if len(self.window) != 2:
            raise ValueError(f"window takes two numbers, got {len(self.window)}")
        self.spec.holds(np.zeros(1))
        if self.gains is not None and not all(0 < gain < math.inf for gain in self.gains):
            raise ValueError(f"gains must be numbers above 0, got {list(self.gains)}")
        if not self.rules or len(set(self.rules)) < len(self.rules):
            raise ValueError(f"draw must name each rule once, got {list(self.rules)}")
        if self.sizes is not None:
            if not self.sizes:
                raise ValueError("sizes is an empty list: leave it out for the sizes of the study, or name some")
            if not all(2 <= n < 2**31 for n in self.sizes) or any(b <= a for a, b in pairwise(self.sizes)):
                raise ValueError(f"sizes must be increasing whole numbers of at least 2, got {list(self.sizes)}")
            if set(self.rules) == {"prefix"}:
                raise ValueError("sizes are those of drawn test sets: prefixes have the study's test sizes (resampling.test_sizes)")
        if not 1 <= self.repeats <= 10_000:
            raise ValueError(f"repeats {self.repeats} must be between 1 and 10000")
        if not 100 <= self.replicates <= 10_000_000:
            raise ValueError(f"replicates {self.replicates} must be between 100 and 10000000")
        if not self.budget > 0:
            raise ValueError(f"budget {self.budget} must be above 0")
        if self.most_pairs < 0:
            raise ValueError(f"most_pairs {self.most_pairs} must be at least 0")
        if self.alpha is not None and not 0 < self.alpha < 1:
            raise ValueError(f"alpha {self.alpha} must be between 0 and 1")

    @property
    def spec(self) -> Window:
        """The window and the percentile."""
        return Window(*self.window, percentile=self.percentile)

    @property
    def rules(self) -> tuple[Rule, ...]:
        """How test sets are made."""
        return (self.draw,) if isinstance(self.draw, str) else tuple(self.draw)
