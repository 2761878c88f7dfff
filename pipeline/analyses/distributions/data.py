"""The trained systems of a cube by base model and kind of training sample, each replica with its score."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pipeline.analyses.pairs import read_coordinate
from pipeline.dataclass import dataclass
from pipeline.interfaces.analyses import FULL

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["RUNS", "WHOLE", "Group", "Sampling", "find_whole", "list_groups", "read_direction"]

WHOLE = "seed"
"""The method whose sample is the whole training set."""
RUNS = "runs"
"""What systems of one model are that a table names, of whose training nothing is known."""
_FOLDS = "cross-validation"
_METHODS = frozenset({"bootstrap", "quota", _FOLDS, WHOLE})
_MOST_DIGITS = 18  # of the number of a replica


@dataclass(frozen=True, order=True)
class Sampling:
    """How training sets were sampled.

    Parameters
    ----------
    method : str
        As in `training.resamples`, or ``runs``.
    fraction : float
        Of the training set.
    written : str
        What a table says of ``runs``, where that is no way of sampling a training set.
    """

    method: str
    fraction: float = 1.0
    written: str = ""

    @classmethod
    def read(cls, sample: str, fraction: str) -> Sampling:
        """Read the coordinates of a system; a table's columns of these names may say anything.

        Examples
        --------
        >>> Sampling.read("bootstrap", "0.5")
        Sampling(method='bootstrap', fraction=0.5, written='')
        >>> Sampling.read("nucleus", "50 %")
        Sampling(method='runs', fraction=1.0, written='nucleus 50 %')
        """
        if not sample:
            return cls(RUNS)
        try:
            share = float(fraction or 1)
        except ValueError:
            share = np.nan
        if sample in _METHODS and 0 < share <= 1:
            return cls(sample, share)
        return cls(RUNS, written=f"{sample} {fraction}".strip())

    @property
    def folds(self) -> int | None:
        """How many folds there are, of cross-validation; None where they are not known."""
        return round(1 / (1 - self.fraction)) if self.method == _FOLDS and 0.5 <= self.fraction < 1 else None

    @property
    def label(self) -> str:
        """Its name.

        Examples
        --------
        >>> Sampling("bootstrap", 0.5).label, Sampling("cross-validation", 0.8).label, Sampling("seed").label
        ('bootstrap 0.5', '5-fold', 'whole')
        """
        if self.method == WHOLE:
            return "whole"
        if self.folds is not None:
            return f"{self.folds}-fold"
        return self.written or (self.method if self.fraction == 1 else f"{self.method} {self.fraction:g}")

    @property
    def independent(self) -> bool:
        """Whether samples are drawn independently of one another: folds of one repetition are not."""
        return self.method != _FOLDS


@dataclass(frozen=True, eq=False)
class Group:
    """The replicas of one base model on one kind of sample.

    Parameters
    ----------
    model : str
    sampling : Sampling
    systems, replicas : tuple of str
        Names, in the order of the replicas.
    score : (replica,) float64
        On the full test set.
    """

    model: str
    sampling: Sampling
    systems: tuple[str, ...]
    replicas: tuple[str, ...]
    score: NDArray[np.float64]

    @property
    def means(self) -> NDArray[np.float64]:
        """Return independent values of the mean: scores, or means over the folds of each repetition that is whole.

        None of cross-validation whose repetitions are not known.
        """
        if self.sampling.independent:
            return self.score
        folds = self.sampling.folds
        if folds is None or not self.numbered:
            return np.zeros(0)
        repetition = np.array([int(name) // folds for name in self.replicas])
        numbers, counts = np.unique(repetition, return_counts=True)
        return np.array([self.score[repetition == number].mean() for number in numbers[counts == folds].tolist()])

    @property
    def numbered(self) -> bool:
        """Whether the replicas are named by numbers."""
        return all(name.isdecimal() and len(name) <= _MOST_DIGITS for name in self.replicas)


def list_groups(cube: xr.Dataset, metric: str) -> list[Group]:
    """Return the groups of a cube by model and sampling; systems without a model or a score are left out."""
    scores = cube["observed_score"].sel(metric=metric, test_size=FULL).values.astype(np.float64)
    model, method, fraction, replica = (read_coordinate(cube, name) for name in ("model", "sample", "fraction", "replica"))
    found: dict[tuple[str, Sampling], list[tuple[str, str, float]]] = {}
    for place, system in enumerate(map(str, cube["system"].values.tolist())):
        if model[place] and np.isfinite(scores[place]):
            sampling = Sampling.read(method[place], fraction[place])
            found.setdefault((model[place], sampling), []).append((replica[place] or system, system, float(scores[place])))
    groups = []
    for model_name, sampling in sorted(found):
        runs = sorted(found[model_name, sampling], key=lambda run: (run[0].zfill(20) if run[0].isdecimal() else run[0], run[1]))
        names, systems, own = zip(*runs, strict=True)
        groups.append(Group(model_name, sampling, systems, names, np.array(own)))
    return groups


def find_whole(groups: Sequence[Group], model: str) -> float | None:
    """Return the mean score of a model that was trained on the whole training set; None where none was."""
    own = [group for group in groups if group.model == model and group.sampling.method == WHOLE]
    return float(own[0].score.mean()) if own else None


def read_direction(cube: xr.Dataset, metric: str) -> float:
    """Return 1 where a larger score is better, −1 where it is worse."""
    known = cube.attrs.get("higher_is_better")
    return -1.0 if isinstance(known, Mapping) and known.get(metric) is False else 1.0
