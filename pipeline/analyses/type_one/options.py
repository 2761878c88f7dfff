"""The options of the null laboratory; those without effect are refused."""

from __future__ import annotations

from pipeline.analyses.type_one.pairs import RULES
from pipeline.dataclass import dataclass

__all__ = ["TypeOneOptions"]


@dataclass(frozen=True)
class TypeOneOptions:
    """Options: of pairs of outputs, of runs, and of what both may cost.

    Parameters
    ----------
    nulls, pairs : int
        Null data sets of a pair of systems, and pairs of each test set and metric; as many models, and pairs of models, have
        their runs parted.
    replicates : int
        Of each bootstrap or permutation test of a null data set.
    budget : float
        Products of null data sets, resamples, units and statistics.
    run_nulls : int
        Null data sets made of runs, of each model and of each pair of models: all ways to part the runs where they are no more.
        0: none.
    model, replica : str
        The coordinates that say which systems are runs of one model.
    """

    nulls: int = 2000
    pairs: int = 3
    replicates: int = 499
    budget: float = 2e11
    run_nulls: int = 200
    model: str = "model"
    replica: str = "replica"

    def __post_init__(self) -> None:
        if not 100 <= self.nulls <= 100_000:
            raise ValueError(f"nulls {self.nulls} must be between 100 and 100000")
        if not 1 <= self.pairs <= len(RULES):
            raise ValueError(f"pairs {self.pairs} must be between 1 and {len(RULES)}")
        if not 99 <= self.replicates <= 100_000:
            raise ValueError(f"replicates {self.replicates} must be between 99 and 100000")
        if not self.budget > 0:
            raise ValueError(f"budget {self.budget} must be above 0")
        if self.run_nulls and not 20 <= self.run_nulls <= 100_000:
            raise ValueError(f"run_nulls {self.run_nulls} must be 0 or between 20 and 100000")
        for name, value in (("model", self.model), ("replica", self.replica)):
            if not isinstance(value, str) or not value:
                raise ValueError(f"{name} {value!r} must be the name of a column")
