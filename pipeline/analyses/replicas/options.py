"""The options of the analysis of replicas; those without effect are refused."""

from __future__ import annotations

from typing import Any

from pipeline.dataclass import dataclass
from pipeline.resampling.replicas.nulls import null_named

__all__ = ["DEFAULT_NULLS", "DEFAULT_RUNS", "ReplicaOptions"]

DEFAULT_NULLS = ("quasi-f", "segment-block", "whole-run", "paired-runs", "crossed")
"""Where nothing is asked for; paired runs only of models whose runs have the same names."""

DEFAULT_RUNS = (1, 2, 3, 5, 10, 20, 50)
"""Numbers of runs for which gains and p are given, as far as the pool of runs allows."""


@dataclass(frozen=True)
class ReplicaOptions:
    """Options: which runs, which nulls, and what fewer or more runs would say.

    Parameters
    ----------
    nulls : tuple of str
    replicates : int
        Of each null.
    model, replica : str
        The coordinates that name a system's model, and its run.
    more_runs, more_units : int
        What the variance of the gain is asked for.
    development : str, optional
        The test set that runs were tuned on, for s_dev.
    runs_each : tuple of int
        Numbers of runs for which gains and p are given; those of `DEFAULT_RUNS` that the pool allows where nothing is asked for.
    subsets, subset_replicates : int
        Subsets of runs of each number, and replicates of each p; 0 subsets: no p.
    subset_nulls : tuple of str
    budget : float
        Products of subsets, replicates, runs, units and statistics, of each test set and metric.
    """

    nulls: tuple[str, ...] | str = ()
    replicates: int = 10_000
    model: str = "model"
    replica: str = "replica"
    more_runs: int = 10
    more_units: int = 500
    development: str | None = None
    runs_each: tuple[int, ...] | int = ()
    subsets: int = 250
    subset_nulls: tuple[str, ...] | str = ("per-output",)
    subset_replicates: int = 999
    budget: float = 2e10

    def __post_init__(self) -> None:
        for name in (*self.chosen, *self.chosen_for_subsets):
            null_named(name)
        if len(set(self.chosen)) < len(self.chosen) or len(set(self.chosen_for_subsets)) < len(self.chosen_for_subsets):
            raise ValueError("a null is given twice")
        if not 100 <= self.replicates <= 10_000_000:
            raise ValueError(f"replicates {self.replicates} must be between 100 and 10000000")
        if min(self.more_runs, self.more_units) < 1:
            raise ValueError("more_runs and more_units are at least 1")
        if self.development is not None and (not isinstance(self.development, str) or not self.development):
            raise ValueError(f"development {self.development!r} must be the name of a test set")
        if any(not _is_whole(number) or not 1 <= number <= 10_000 for number in self.asked_runs):
            raise ValueError(f"runs_each {list(self.asked_runs)} must be whole numbers between 1 and 10000")
        if len(set(self.asked_runs)) < len(self.asked_runs):
            raise ValueError("a number of runs_each is given twice")
        if not _is_whole(self.subsets) or (self.subsets and not 40 <= self.subsets <= 100_000):
            raise ValueError(f"subsets {self.subsets} must be 0 or between 40 and 100000: 2.5 % of fewer is no subset")
        if "paired-runs" in self.chosen_for_subsets:
            raise ValueError("subset_nulls: paired-runs has no subsets, which are drawn for each model apart")
        if not 99 <= self.subset_replicates <= 100_000:
            raise ValueError(f"subset_replicates {self.subset_replicates} must be between 99 and 100000")
        if not self.budget > 0:
            raise ValueError(f"budget {self.budget} must be above 0")

    @property
    def chosen(self) -> tuple[str, ...]:
        """The nulls that were asked for."""
        return (self.nulls,) if isinstance(self.nulls, str) else self.nulls

    @property
    def chosen_for_subsets(self) -> tuple[str, ...]:
        """The nulls whose p is given of subsets of runs."""
        return (self.subset_nulls,) if isinstance(self.subset_nulls, str) else self.subset_nulls

    @property
    def asked_runs(self) -> tuple[int, ...]:
        """The numbers of runs that were asked for."""
        return self.runs_each if isinstance(self.runs_each, tuple) else (self.runs_each,)


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)
