"""The options of the comparison of measures; those of no use are refused."""

from __future__ import annotations

from pipeline.dataclass import dataclass

__all__ = ["SensitivityOptions"]


@dataclass(frozen=True)
class SensitivityOptions:
    """Options: which measures are compared, by what, and with which reference.

    Parameters
    ----------
    across_test_sets : bool
        Compare measures of different test sets too: where each test set holds the scores of another metric on the same items.
    reference : str or None
        The measure that the others should agree with: a metric, a test set with one metric, or ``test set/metric``.
    alpha : float or None
        The level at which pairs are counted; the study's where nothing is said.
    permutations : int
        Of the test of two measures against the reference.
    interval_replicates : int
        Draws of systems for the intervals.
    """

    across_test_sets: bool = False
    reference: str | None = None
    alpha: float | None = None
    permutations: int = 999
    interval_replicates: int = 2000

    def __post_init__(self) -> None:
        if self.alpha is not None and not 0 < self.alpha < 1:
            raise ValueError(f"alpha {self.alpha} must be between 0 and 1")
        if not 99 <= self.permutations <= 1_000_000:
            raise ValueError(f"permutations {self.permutations} must be between 99 and 1000000")
        if not 100 <= self.interval_replicates <= 100_000:
            raise ValueError(f"interval_replicates {self.interval_replicates} must be between 100 and 100000")
