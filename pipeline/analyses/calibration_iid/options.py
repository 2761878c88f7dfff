"""The options of the calibration on test sets drawn from a population; those of no use are refused."""

from __future__ import annotations

from itertools import pairwise

from pipeline.analyses.pairs import BORDERLINE
from pipeline.dataclass import dataclass
from pipeline.options import check_names

__all__ = ["CalibrationIidOptions"]


@dataclass(frozen=True)
class CalibrationIidOptions:
    """Options: what is drawn, how p is binned, and what it may cost.

    Parameters
    ----------
    populations : tuple of str, optional
        Test sets that are populations; all where nothing is said.
    units : int or None
        Units of a drawn test set; where nothing is said a tenth of the population's, or 20 (at most all) if that is more.
    drawn : int
        Test sets drawn from each population.
    replicates : int
        Of the bootstrap of each drawn test set.
    bins : tuple of float
        Upper edges of the bins of p.
    window : tuple of float
        A row of its own, both ends included.
    budget : float
        Of each population and metric: drawn test sets × replicates × (units × systems × statistics + pairs).
    """

    populations: tuple[str, ...] | str | None = None
    units: int | None = None
    drawn: int = 50
    replicates: int = 10_000
    bins: tuple[float, ...] = (0.00125, 0.0025, 0.005, 0.01, 0.02, 0.04, 0.08)
    window: tuple[float, float] = BORDERLINE
    budget: float = 2e12

    def __post_init__(self) -> None:
        if len(set(self.asked)) < len(self.asked):
            raise ValueError(f"populations must name each test set once, got {list(self.asked)}")
        if self.units is not None and not 2 <= self.units < 2**31:
            raise ValueError(f"units {self.units} must be at least 2")
        if not 2 <= self.drawn <= 10_000:
            raise ValueError(f"drawn {self.drawn} must be between 2 and 10000")
        if not 100 <= self.replicates <= 10_000_000:
            raise ValueError(f"replicates {self.replicates} must be between 100 and 10000000")
        edges = (0.0, *self.bins)
        if not self.bins or not all(a < b <= 1 for a, b in pairwise(edges)):
            raise ValueError(f"bins must be increasing numbers above 0 and not above 1, got {list(self.bins)}")
        if len(self.window) != 2 or not 0 <= self.window[0] < self.window[1] <= 1:
            raise ValueError(f"window must be two increasing numbers between 0 and 1, got {list(self.window)}")
        if not self.budget > 0:
            raise ValueError(f"budget {self.budget} must be above 0")

    @property
    def asked(self) -> tuple[str, ...]:
        """The populations that are named."""
        return check_names("populations", self.populations)
