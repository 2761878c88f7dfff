"""Resampled training sets: the items that a base model is trained on, drawn for any replica alone.

Units are drawn, items follow: a unit is an item, a document, or whatever a column names, and its items come in the order of the
file. The base model is in no address: every base model is trained on the same samples, so that two of them differ by what they
are and not by what they saw.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from pipeline.dataclass import dataclass
from pipeline.resampling.address import draw_key
from pipeline.resampling.draws import Draws, draw_units
from pipeline.resampling.replicas.permutations import draw_permutations

__all__ = ["Rule", "Sample", "TrainingSet", "draw_sample", "sample_size", "training_seed"]

ITEM = "item"
_SAME_AS_ITEM = frozenset({ITEM, "sentence"})


@dataclass(frozen=True)
class Rule:
    """How the training sets of a study are drawn.

    Parameters
    ----------
    method : str
        ``bootstrap``: a share of the units, drawn independently with replacement. ``quota``: units drawn with replacement until
        their instances reach those of the whole set. ``cross-validation``: all units but those of one fold. ``seed``: the whole
        set as it is.
    fraction : float
        Of a bootstrap sample.
    folds : int
        Of cross-validation; 0 for the others.
    instances : str
        What a quota counts.
    unit : str
        What is drawn: ``item`` (or ``sentence``), ``document``, or a column of the data.
    """

    method: str
    fraction: float = 1.0
    folds: int = 0
    instances: str = "items"
    unit: str = ITEM

    def __post_init__(self) -> None:
        if self.method not in _DRAW:
            raise ValueError(f"training sets are resampled by {', '.join(_DRAW)}, got {self.method!r}")
        if not 0.0 < self.fraction <= 1.0:
            raise ValueError(f"a sample is a fraction above 0 and up to 1 of the training set, got {self.fraction}")
        if self.method == "cross-validation" and self.folds < 2:
            raise ValueError(f"cross-validation has at least 2 folds, got {self.folds}")

    @property
    def address(self) -> str:
        """What of the rule the draws depend on."""
        what = {
            "bootstrap": f"{float(self.fraction)!r}",
            "quota": self.instances,
            "cross-validation": str(self.folds),
            "seed": "",
        }[self.method]
        # Draws of items keep the address they had before there were other units.
        return f"{self.method}:{what}" if self.unit in _SAME_AS_ITEM else json.dumps([self.method, what, self.unit])


@dataclass(frozen=True)
class TrainingSet:
    """What is drawn from.

    Parameters
    ----------
    data : str
        What it is called in the address of its draws.
    unit_of_item : (item,) int64
        Units are numbered in the order of their first item.
    instances : (item,) int64
        What each item counts for a quota.
    """

    data: str
    unit_of_item: NDArray[np.int64]
    instances: NDArray[np.int64]

    @classmethod
    def of_items(cls, data: str, n_items: int) -> TrainingSet:
        """Return a set of which every item is a unit and an instance."""
        return cls(data, np.arange(n_items), np.ones(n_items, np.int64))

    @property
    def n_units(self) -> int:
        """Number of units."""
        return int(self.unit_of_item.max(initial=-1)) + 1


@dataclass(frozen=True)
class Sample:
    """A resampled training set.

    Parameters
    ----------
    units : (draw,) int64
        Units in the order drawn.
    items : (item drawn,) int64
        Positions in the training set, with repetitions: the items of each unit in the order of the file.
    counts : mapping of str to number
        ``items``, ``units`` and ``instances`` of the sample; ``distinct`` items and ``distinct_units`` as a share of the whole set.
    """

    units: NDArray[np.int64]
    items: NDArray[np.int64]
    counts: Mapping[str, float]


def sample_size(fraction: float, n_units: int) -> int:
    """Return the number of units in a bootstrap sample: the fraction of the training set, halves rounded up, at least one.

    Examples
    --------
    >>> [sample_size(fraction, 905) for fraction in (1.0, 0.5, 0.25)]
    [905, 453, 226]
    """
    if not 0.0 < fraction <= 1.0:
        raise ValueError(f"a sample is a fraction above 0 and up to 1 of the training set, got {fraction}")
    if n_units < 1:
        raise ValueError(f"a training set has at least one unit, got {n_units}")
    return max(1, math.floor(fraction * n_units + 0.5))


def draw_sample(rule: Rule, training: TrainingSet, *, seed: int, replica: int) -> Sample:
    """Draw the training set of one replica.

    For a bootstrap sample of ``m = fraction · n`` units of ``n``, the share of distinct ones is expected to be
    ``1 − (1 − 1/n)^m ≈ 1 − exp(−fraction)``: 63 % at 1, 39 % at ½, 22 % at ¼. In cross-validation replica ``r`` leaves out fold
    ``r mod folds`` of repeat ``r div folds``; each repeat deals all units anew into folds whose sizes differ by one at most.

    Parameters
    ----------
    rule : Rule
    training : TrainingSet
    seed : int
        The study's seed.
    replica : int
        Which sample, from 0.

    Raises
    ------
    ValueError
        Where the set is too small for the rule, or has none of the instances that are counted.

    Examples
    --------
    >>> draw_sample(Rule("cross-validation", folds=2), TrainingSet.of_items("letters", 4), seed=1, replica=0).items
    array([2, 3])
    """
    if replica < 0:
        raise ValueError(f"replicas are counted from 0, got {replica}")
    if not len(training.unit_of_item):
        raise ValueError("a training set has at least one item, got 0")
    key = draw_key(seed=seed, purpose="training-sample", test_set=training.data, size=str(training.n_units), rule=rule.address)
    units = _DRAW[rule.method](rule, training, key, replica)
    items = _items_of(training.unit_of_item, units)
    counts = {
        "items": len(items),
        "units": len(units),
        "instances": int(training.instances[items].sum()),
        "distinct": len(np.unique(items)) / len(training.unit_of_item),
        "distinct_units": len(np.unique(units)) / training.n_units,
    }
    return Sample(units, items, counts)


def training_seed(rule: Rule, *, seed: int, data: str, model: str, replica: int) -> int:
    """Return the seed of one training, from 0 to 2**31 − 1: its own for each base model, sample and study seed."""
    method = f"{rule.method}-{rule.folds}" if rule.folds else rule.method
    # JSON keeps model names with any characters apart: no two different trainings share a rule.
    address = json.dumps([model, method, float(rule.fraction), replica], ensure_ascii=True)
    return draw_key(seed=seed, purpose="training-seed", test_set=data, size="", rule=address) >> 33


def _draw_bootstrap(rule: Rule, training: TrainingSet, key: int, replica: int) -> NDArray[np.int64]:
    return draw_units(Draws(key, training.n_units, sample_size(rule.fraction, training.n_units)), replicate=replica)


def _draw_quota(rule: Rule, training: TrainingSet, key: int, replica: int) -> NDArray[np.int64]:
    of_unit = np.zeros(training.n_units, np.int64)
    np.add.at(of_unit, training.unit_of_item, training.instances)
    wanted = int(of_unit.sum())
    if wanted < 1:
        raise ValueError(f"the training set has no {rule.instances}")
    draws = training.n_units
    while True:
        # More draws of one address begin with the fewer: how many are asked for at once decides nothing.
        units = draw_units(Draws(key, training.n_units, draws), replicate=replica)
        reached = np.cumsum(of_unit[units])
        if reached[-1] >= wanted:
            return units[: int(np.searchsorted(reached, wanted)) + 1]
        draws *= 2


def _draw_folds(rule: Rule, training: TrainingSet, key: int, replica: int) -> NDArray[np.int64]:
    if rule.folds > training.n_units:
        raise ValueError(f"{rule.folds} folds of {training.n_units} units")
    repeat, fold = divmod(replica, rule.folds)
    order = draw_permutations(Draws(key, 1, 1), repeat, training.n_units)[0]
    bounds = [training.n_units * k // rule.folds for k in (fold, fold + 1)]
    return np.sort(np.delete(order, slice(*bounds)))


def _take_all(rule: Rule, training: TrainingSet, key: int, replica: int) -> NDArray[np.int64]:
    return np.arange(training.n_units)


_DRAW: dict[str, Callable[[Rule, TrainingSet, int, int], NDArray[np.int64]]] = {
    "bootstrap": _draw_bootstrap,
    "quota": _draw_quota,
    "cross-validation": _draw_folds,
    "seed": _take_all,
}


def _items_of(unit_of_item: NDArray[np.int64], units: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the items of units, those of each in the order of the file."""
    by_unit = np.argsort(unit_of_item, kind="stable")
    sizes = np.bincount(unit_of_item)
    starts = np.cumsum(sizes) - sizes
    drawn = sizes[units]
    # Each item is its unit's start plus its place within the unit.
    within = np.arange(drawn.sum()) - np.repeat(np.cumsum(drawn) - drawn, drawn)
    items: NDArray[np.int64] = by_unit[np.repeat(starts[units], drawn) + within]
    return items
