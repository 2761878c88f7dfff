"""Make and test null data sets of runs: those of one model in two halves, or those of two models mixed.

Two groups of runs of one model do not differ as models, whatever runs have in common; nor do two groups of the mixed runs of two
models, among which the difference of the models is one more thing that runs differ in.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.analyses.replicas.data import Model
from pipeline.analyses.type_one.tests import Tested
from pipeline.dataclass import dataclass
from pipeline.interfaces import ScoredStatistics
from pipeline.resampling.draws import Draws
from pipeline.resampling.replicas.nulls import NULLS
from pipeline.resampling.replicas.outputs import Replicas, mean_of, observe_replicas, score_sums
from pipeline.resampling.replicas.p_values import find_p
from pipeline.resampling.replicas.permutations import draw_orders
from pipeline.resampling.replicas.splits import Splits

__all__ = ["MIXED", "SPLIT", "RunPool", "ask_runs", "ask_single_runs", "choose_pools"]

SPLIT, MIXED = "runs of one model in two halves", "runs of two models mixed"
"""What a pool is, and how its data sets are made."""

_MEMORY = 2**26  # bytes of the data sets that are made at a time


@dataclass(frozen=True, eq=False)
class RunPool:
    """Runs that are parted into two groups.

    Parameters
    ----------
    design : str
        `SPLIT` or `MIXED`.
    models : tuple of str
    systems : tuple of str
        The runs, as systems of the study; copies of a run are left out.
    statistics : (run, unit, statistic) int64
    sizes : tuple of int
        Of the groups.
    """

    design: str
    models: tuple[str, ...]
    systems: tuple[str, ...]
    statistics: NDArray[np.int64]
    sizes: tuple[int, int]

    def describe(self) -> Mapping[str, Any]:
        """Return the fields of its rows."""
        first, second = self.sizes
        return {
            "design": self.design,
            "pair": f"{' / '.join(self.models)}: {first} + {second} of {len(self.systems)} runs",
            "system_a": self.models[0],
            "system_b": self.models[-1],
            "units": self.statistics.shape[1],
        }


def choose_pools(models: Sequence[Model], replicas: Replicas, most: int) -> list[RunPool]:
    """Choose up to ``most`` models with four runs or more, and as many pairs of neighbours in rank with two or more each.

    Models with the most runs come first, pairs with the smallest gains; names break ties. A run that is a copy is no run.
    """
    distinct = [_distinct(array) for array in replicas.statistics]
    by_size = sorted(range(len(models)), key=lambda place: (-len(distinct[place]), models[place].name))
    pools = []
    for place in by_size[:most]:
        runs = distinct[place]
        if len(runs) > 3:
            systems = tuple(models[place].systems[run] for run in runs)
            half = len(runs) // 2
            pools.append(RunPool(SPLIT, (models[place].name,), systems, replicas.statistics[place][runs], (half, half)))
    score = [mean_of(score_sums(replicas.score, array.sum(axis=1).T)) for array in replicas.statistics]
    several = [place for place in range(len(models)) if len(distinct[place]) > 1 and np.isfinite(score[place])]
    ranked = sorted(several, key=lambda place: (-score[place] if replicas.higher_is_better else score[place], models[place].name))
    near = sorted(pairwise(ranked), key=lambda pair: abs(score[pair[0]] - score[pair[1]]))  # stable: ranks break ties
    mixed = (_mix(models, replicas, distinct, *pair) for pair in near)
    return pools + [pool for pool in mixed if pool is not None][:most]


def _mix(models: Sequence[Model], replicas: Replicas, distinct: Sequence[Sequence[int]], first: int, second: int) -> RunPool | None:
    """Put the runs of two models together; None where they have a run in common."""
    joined = np.concatenate([replicas.statistics[place][distinct[place]] for place in (first, second)])
    if len(_distinct(joined)) < len(joined):
        return None
    systems = tuple(models[place].systems[run] for place in (first, second) for run in distinct[place])
    names = (models[first].name, models[second].name)
    return RunPool(MIXED, names, systems, joined, (len(distinct[first]), len(distinct[second])))


def _distinct(array: NDArray[np.int64]) -> list[int]:
    first: dict[bytes, int] = {}
    for place, run in enumerate(array):
        first.setdefault(run.tobytes(), place)
    return list(first.values())


def ask_runs(
    pool: RunPool, scored: ScoredStatistics, draws: Mapping[str, Draws], splits: Splits, *, replicates: int
) -> list[Tested]:
    """Return the p of every null of replicas for every split.

    Parameters
    ----------
    pool : RunPool
    scored : ScoredStatistics
        Score, form and direction of the metric.
    draws : mapping of str to Draws
        By name of the null.
    splits : Splits
    replicates : int
        Of each null that is not enumerated; all data sets meet the same draws.
    """
    p: dict[str, list[NDArray[np.float64]]] = {null.name: [] for null in NULLS}
    exact = dict.fromkeys(p, True)
    unequal = pool.sizes[0] != pool.sizes[1]
    step = max(_MEMORY // (8 * sum(pool.sizes) * pool.statistics[0].size), 1)
    for start in range(0, len(splits), step):
        made = _make(pool, scored, splits, slice(start, start + step))
        seen = observe_replicas(made)
        for null in NULLS:
            if not (null.needs_equal_runs and unequal):
                found = find_p(null.name, draws[null.name], made, replicates=replicates, observed=seen)
                p[null.name].append(found.p)
                exact[null.name] &= found.exact
    return [
        Tested(
            null.name,
            "two-sided" if exact[null.name] else "two-sided-plus-one",
            in_study=False,
            decides=False,
            p=np.concatenate(p[null.name]) if p[null.name] else None,
            replicates=None if exact[null.name] else replicates,
            reason=None if p[null.name] else "this null needs as many runs of one side as of the other",
        )
        for null in NULLS
    ]


def _make(pool: RunPool, scored: ScoredStatistics, splits: Splits, some: slice) -> Replicas:
    """Return data sets as pairs of systems; a group of runs that several have is one system."""
    groups: dict[tuple[int, ...], int] = {}
    pairs = [
        [groups.setdefault(tuple(group), len(groups)) for group in sides]
        for sides in zip(splits.first[some].tolist(), splits.second[some].tolist(), strict=True)
    ]
    statistics = tuple(pool.statistics[list(group)] for group in groups)
    return Replicas(statistics, scored.score, scored.form, scored.higher_is_better, np.array(pairs, np.int64))


def ask_single_runs(
    pool: RunPool, p: Mapping[str, Mapping[frozenset[str], float]], conventions: Mapping[str, str], picks: Draws, splits: Splits
) -> Iterator[Tested]:
    """Yield the study's own p of one run of either group, drawn at random, for every procedure of the study.

    Parameters
    ----------
    pool : RunPool
    p : mapping of str to mapping of frozenset of str to float
        By procedure and pair of systems.
    conventions : mapping of str to str
        That of each procedure.
    picks : Draws
        Address of which run is taken; only its key matters.
    splits : Splits
    """
    first, second = pool.sizes
    place = draw_orders(picks, 0, len(splits), first + second)
    rows = np.arange(len(splits))
    # The first of the places below `first` is uniform among them, and so is the first of the others.
    one = splits.first[rows, place[rows, np.argmax(place < first, axis=1)]]
    other = splits.second[rows, place[rows, np.argmax(place >= first, axis=1)] - first]
    drawn = [frozenset((pool.systems[a], pool.systems[b])) for a, b in zip(one.tolist(), other.tolist(), strict=True)]
    for procedure, known in p.items():
        lacking = any(pair not in known for pair in drawn)
        yield Tested(
            procedure,
            conventions[procedure],
            in_study=True,
            decides=False,
            p=None if lacking else np.array([known[pair] for pair in drawn]),
            reason="the study does not compare these runs with each other" if lacking else None,
        )
