"""Options of the calibration across test sets."""

from __future__ import annotations

from itertools import pairwise

from pipeline.analyses.pairs import BORDERLINE
from pipeline.analyses.system_bootstrap import REPLICATES
from pipeline.dataclass import dataclass
from pipeline.options import check_names

__all__ = ["CalibrationOptions"]


@dataclass(frozen=True)
class CalibrationOptions:
    """Options: the ``base`` test set (the first), those ``against`` it (all others), upper edges of the ``bins`` of p.

    ``levels`` are shares of kept signs for which the p that reaches them is found.
    """

    base: str | None = None
    against: tuple[str, ...] | str | None = None
    bins: tuple[float, ...] = (0.00125, 0.0025, 0.005, 0.01, 0.02, 0.04, 0.08)
    window: tuple[float, float] = BORDERLINE
    levels: tuple[float, ...] = (0.8, 0.95)
    interval_replicates: int = REPLICATES

    def __post_init__(self) -> None:
        edges = (0.0, *self.bins)
        if not self.bins or any(b <= a for a, b in pairwise(edges)) or edges[-1] > 1:
            raise ValueError(f"bins must be increasing numbers above 0 and not above 1, got {list(self.bins)}")
        if len(self.window) != 2 or not 0 <= self.window[0] < self.window[1] <= 1:
            raise ValueError(f"window must be two increasing numbers between 0 and 1, got {list(self.window)}")
        if any(not 0 < level < 1 for level in self.levels) or len(set(self.levels)) < len(self.levels):
            raise ValueError(f"levels must be different numbers between 0 and 1, got {list(self.levels)}")
        if len({*self.others}) < len(self.others):
            raise ValueError(f"against names a test set twice: {list(self.others)}")
        if not 100 <= self.interval_replicates <= 100_000:
            raise ValueError(f"interval_replicates {self.interval_replicates} must be between 100 and 100000")

    @property
    def others(self) -> tuple[str, ...]:
        """The other test sets that are named."""
        return check_names("against", self.against)
