"""Systems of one model as its runs: group the systems of a cube, and sum their statistics by unit."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, pairwise
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pipeline.analyses.pairs import read_coordinate
from pipeline.analyses.units import read_units_of_items
from pipeline.dataclass import dataclass
from pipeline.interfaces import ScoredStatistics
from pipeline.resampling.measures import sum_by_unit
from pipeline.resampling.replicas.outputs import Replicas

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["Model", "count_distinct", "group_runs", "load_replicas", "pair_models", "say_copies"]

_APART = ("sample", "fraction")
"""Runs that differ in these were trained on samples of another kind or size: they are runs of different models."""


@dataclass(frozen=True)
class Model:
    """The systems that are runs of one model, in the order of their names as replicas.

    Parameters
    ----------
    name : str
    systems : tuple of str
    runs : tuple of str
        Their names as replicas, or as systems where they have none.
    named : bool
        Every run has a name as a replica, and no two have the same: runs can be paired with those of another model.
    doubled : str, optional
        A name that two runs have; None where no two have the same.
    sample : tuple of str
        What their training samples are, where models differ in it: runs of a number share none if this is another one.
    """

    name: str
    systems: tuple[str, ...]
    runs: tuple[str, ...]
    named: bool
    doubled: str | None = None
    sample: tuple[str, ...] = ()


def count_distinct(statistics: NDArray[np.int64]) -> int:
    """Return how many of the runs (run, unit, statistic) of a model differ: a copy is no run."""
    return len({array.tobytes() for array in statistics})


def say_copies(model: str, runs: int, distinct: int) -> str | None:
    """Say that runs are copies of one another; None where none is."""
    return f"only {distinct} of {runs} runs of {model} differ: copies are no replicas" if distinct < runs else None


def group_runs(cube: xr.Dataset, *, model: str, replica: str) -> list[Model]:
    """Return the models of a cube by name, each with its runs; neither order knows the order of systems.

    Parameters
    ----------
    cube : xarray.Dataset
    model, replica : str
        Coordinates of the systems. A system without a model is left out.
    """
    systems = [str(name) for name in cube["system"].values.tolist()]
    models, names = read_coordinate(cube, model), read_coordinate(cube, replica)
    apart = [values for values in (read_coordinate(cube, name) for name in _APART) if len(set(values)) > 1]
    groups: dict[tuple[str, ...], list[tuple[str, str]]] = {}
    for place, system in enumerate(systems):
        if models[place]:
            key = (models[place], *(values[place] for values in apart))
            groups.setdefault(key, []).append((names[place], system))
    return [_model(key, groups[key]) for key in sorted(groups)]


def _model(key: tuple[str, ...], runs: list[tuple[str, str]]) -> Model:
    ordered = sorted(runs, key=lambda run: (_natural(run[0]), run[1]))
    names = [run for run, _ in ordered]
    doubled = next((one for one, other in pairwise(names) if one == other and one), None)
    named = all(names) and doubled is None
    systems = tuple(system for _, system in ordered)
    return Model(" · ".join(filter(None, key)), systems, tuple(names) if named else systems, named, doubled, key[1:])


def _natural(name: str) -> tuple[int, str, str]:
    """Sort 10 after 9."""
    return (0, name.zfill(20), name) if name.isdecimal() else (1, name, name)


def pair_models(models: Sequence[Model]) -> NDArray[np.int64]:
    """Return the pairs of models with at least two runs each, (pair, 2) positions."""
    several = [place for place, model in enumerate(models) if len(model.runs) > 1]
    return np.array(list(combinations(several, 2)), np.int64).reshape(-1, 2)


def load_replicas(scored: ScoredStatistics, models: Sequence[Model], pairs: NDArray[np.int64], *, unit: str) -> Replicas | None:
    """Read the statistics of the models' runs and sum them by unit; None where the cube does not know the units of its items.

    Parameters
    ----------
    scored : ScoredStatistics
    models : sequence of Model
    pairs : (pair, 2) int64
        Positions of models.
    unit : str
        The study's ``resampling.unit``.
    """
    data, unit_of_item = scored.data, read_units_of_items(scored.data, unit)
    if unit_of_item is None:
        return None
    place = {str(name): position for position, name in enumerate(data["system"].values.tolist())}
    statistics = tuple(
        np.stack([sum_by_unit(data["statistics"][place[system]].values, unit_of_item) for system in model.systems])
        for model in models
    )
    return Replicas(statistics, scored.score, scored.form, scored.higher_is_better, pairs)
