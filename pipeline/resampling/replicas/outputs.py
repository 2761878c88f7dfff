"""Systems with several runs each: their scores without resampling, and which system of a pair comes first.

A replica, or run, is one training, one optimisation or one seed of a system. The score of a system is the mean over its runs
of the score of each run's summed statistics: δ = mean_r s(T_{A,r}) − mean_r s(T_{B,r}).
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from pipeline.dataclass import dataclass, field
from pipeline.resampling.measures import ScoreFunction
from pipeline.resampling.observe import TOLERANCE
from pipeline.resampling.products.bitplanes import BitPlanes
from pipeline.resampling.products.contract import FLOAT64_LIMIT, largest_magnitude

__all__ = ["Distinct", "ObservedReplicas", "Replicas", "compare_scores", "observe_replicas", "score_sums"]


@dataclass(frozen=True, eq=False)
class Distinct:
    """Distinct runs, each stored once though several systems may share it, with its sums and bits.

    Parameters
    ----------
    runs : (distinct, unit, statistic) int64
        In the order in which systems have them first.
    of : tuple of (run,) int64
        One array a system: which of them its runs are.
    pool : Distinct, optional
        Those that these were chosen from, whose sums and bits are made once for all that is chosen.
    places : (distinct,) int64, optional
        Which of them.
    """

    runs: NDArray[np.int64]
    of: tuple[NDArray[np.int64], ...]
    pool: Distinct | None = None
    places: NDArray[np.int64] | None = None
    _planes: dict[int, BitPlanes] = field(default_factory=dict, init=False, repr=False)

    @cached_property
    def sums(self) -> NDArray[np.int64]:
        """(statistic, distinct) sums over the units."""
        if self.pool is not None:
            return self.pool.sums[:, self.places]
        return np.ascontiguousarray(self.runs.sum(axis=1).T)

    def planes(self, width: int) -> BitPlanes:
        """Return the bits of the first statistics of each run, (distinct · statistic) columns."""
        if width not in self._planes:
            units = self.runs.shape[1]
            if self.pool is not None and self.places is not None:
                self._planes[width] = self.pool.planes(width).take((self.places[:, None] * width + np.arange(width)).ravel())
            else:
                self._planes[width] = BitPlanes.of(self.runs[:, :, :width].transpose(0, 2, 1).reshape(-1, units))
        return self._planes[width]

    def choose(self, of: Sequence[NDArray[np.int64]]) -> Distinct:
        """Return the runs of some systems; each array says which runs a system has."""
        number: dict[int, int] = {}  # in the order in which the systems have them first
        own = tuple(np.array([number.setdefault(place, len(number)) for place in array.tolist()], np.int64) for array in of)
        places = np.array(list(number), np.int64)
        return Distinct(self.runs[places], own, self, places)


@dataclass(frozen=True, eq=False)
class Replicas:
    """One metric on one test set, of systems with several runs.

    Parameters
    ----------
    statistics : tuple of (run, unit, statistic) int64
        One array for each system; systems may have different numbers of runs. Statistics are already summed over the items of a
        unit.
    score : ScoreFunction
    form : {"ratio", "general"}
        ``ratio`` where the score is factor × statistics[0] / statistics[1] with a positive factor.
    higher_is_better : bool
    pairs : (pair, 2) int64
        Positions of systems, in the caller's fixed order.
    follows : tuple of int
        As in `Measure`.
    """

    statistics: tuple[NDArray[np.int64], ...]
    score: ScoreFunction
    form: Literal["ratio", "general"]
    higher_is_better: bool
    pairs: NDArray[np.int64]
    follows: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        if not self.statistics:
            raise ValueError("there are 0 systems, at least 1 is needed")
        shapes = {(array.ndim, *array.shape[1:]) for array in self.statistics}
        if len(shapes) > 1 or any(array.ndim != 3 or array.dtype != np.int64 for array in self.statistics):
            found = sorted({f"{array.shape} {array.dtype}" for array in self.statistics})
            raise ValueError(
                f"statistics are (run, unit, statistic) int64 of the same units and statistics, not {', '.join(found)}"
            )
        if any(array.size == 0 for array in self.statistics):
            raise ValueError("a system has no run, no unit or no statistic")
        if self.form not in ("ratio", "general"):
            raise ValueError(f"form is 'ratio' or 'general', not {self.form!r}")
        if self.form == "ratio" and self.statistics[0].shape[2] != 2:
            raise ValueError(f"a ratio has 2 statistics, not {self.statistics[0].shape[2]}")
        if self.pairs.ndim != 2 or self.pairs.shape[1] != 2 or self.pairs.dtype != np.int64:
            raise ValueError(f"pairs are (pair, 2) int64, not {self.pairs.shape} {self.pairs.dtype}")
        if self.pairs.size and not (self.pairs.min() >= 0 and self.pairs.max() < len(self.statistics)):
            raise ValueError(f"pairs name systems {self.pairs.min()} … {self.pairs.max()}, there are {len(self.statistics)}")
        bound = max(largest_magnitude(array) * array.shape[0] for array in self.statistics) * self.n_units
        if 4 * bound >= FLOAT64_LIMIT:  # two systems, and twice a swapped sum
            raise ValueError(f"sums up to {4 * bound} are not exact: float64 holds integers below {FLOAT64_LIMIT}")

    @property
    def n_units(self) -> int:
        """Units of the test set."""
        return int(self.statistics[0].shape[1])

    @property
    def runs(self) -> NDArray[np.int64]:
        """Runs of each system."""
        return np.array([len(array) for array in self.statistics], np.int64)

    @cached_property
    def distinct(self) -> Distinct:
        """The runs of all systems without copies: hundreds of groups of the same ten runs are ten runs to score and sum."""
        numbers: dict[bytes, int] = {}
        first: list[NDArray[np.int64]] = []
        of = []
        for array in self.statistics:
            places = []
            for run in array:
                # By digest: the bytes of all runs would be held beside the runs.
                content = hashlib.sha256(run.tobytes()).digest()
                places.append(numbers.setdefault(content, len(first)))
                if places[-1] == len(first):
                    first.append(run)
            of.append(np.array(places, np.int64))
        return Distinct(np.stack(first), tuple(of))

    def choose(self, systems: Sequence[int], runs: Sequence[NDArray[np.int64]], pairs: NDArray[np.int64]) -> Replicas:
        """Return some runs of some systems, and ``pairs`` of these; what was computed for a run is reused."""
        statistics = tuple(self.statistics[system][own] for system, own in zip(systems, runs, strict=True))
        known = self.distinct.choose([self.distinct.of[system][own] for system, own in zip(systems, runs, strict=True)])
        chosen = replace(self, statistics=statistics, pairs=pairs)
        vars(chosen)["distinct"] = known  # where a cached property keeps its value
        return chosen


@dataclass(frozen=True, eq=False)
class ObservedReplicas:
    """The scores of the test set itself.

    Parameters
    ----------
    by_run : tuple of (run,) float64
        One array a system; nan where undefined.
    score : (system,) float64
        Their mean.
    delta : (pair,) float64
        Signed gain: > 0 where the first of the pair is better. Exactly 0 where the scores are equal within `TOLERANCE`.
    slack : (pair,) float64
        Differences up to this are equal: `TOLERANCE` of |s_A| + |s_B|.
    oriented : (pair, 2) int64
        The pair with the higher score first: draws are applied in this order, so exchanging A and B changes no count.
    identical : (pair,) bool
        Both have the same number of runs, and each run has the statistics of the other system's run of that number.
    """

    by_run: tuple[NDArray[np.float64], ...]
    score: NDArray[np.float64]
    delta: NDArray[np.float64]
    slack: NDArray[np.float64]
    oriented: NDArray[np.int64]
    identical: NDArray[np.bool_]


def observe_replicas(replicas: Replicas) -> ObservedReplicas:
    """Score every run, and compare the means of systems."""
    of = replicas.distinct.of
    scores = score_sums(replicas.score, replicas.distinct.sums)
    by_run = tuple(scores[own] for own in of)
    score = np.array([mean_of(run_scores) for run_scores in by_run])
    contents = [tuple(own.tolist()) for own in of]
    number = {content: place for place, content in enumerate(dict.fromkeys(contents))}
    alike = np.array([number[content] for content in contents])
    delta, slack, oriented = compare_scores(score, replicas)
    return ObservedReplicas(by_run, score, delta, slack, oriented, alike[replicas.pairs[:, 0]] == alike[replicas.pairs[:, 1]])


def compare_scores(
    score: NDArray[np.float64], replicas: Replicas
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.int64]]:
    """Return gain, slack and orientation of each pair, (…, pair), from one score a system, (…, system)."""
    first, second = score[..., replicas.pairs[:, 0]], score[..., replicas.pairs[:, 1]]
    slack = TOLERANCE * (np.abs(first) + np.abs(second))
    difference = first - second
    difference[np.abs(difference) <= slack] = 0.0
    delta = difference if replicas.higher_is_better else -difference
    oriented = np.where((difference < 0)[..., None], replicas.pairs[:, ::-1], replicas.pairs)
    return delta + 0.0, slack, oriented  # no −0.0


def mean_of(scores: NDArray[np.float64]) -> float:
    """Return the mean, added in the order of runs so that its bits depend on nothing else."""
    total = 0.0
    for value in scores.tolist():
        total += value
    return total / len(scores)


def score_sums(score: ScoreFunction, sums: NDArray[np.int64] | NDArray[np.float64]) -> NDArray[np.float64]:
    """Score (statistic, …) sums; nan where undefined."""
    with np.errstate(divide="ignore", invalid="ignore"):  # 0/0 is a defined outcome: nan
        found = np.array(score(np.ascontiguousarray(sums, np.float64)), np.float64)
    if found.shape != sums.shape[1:]:
        raise ValueError(f"the score of {sums.shape} statistics has shape {found.shape}, not {sums.shape[1:]}")
    found[~np.isfinite(found)] = np.nan
    return found
