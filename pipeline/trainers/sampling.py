"""Resampled training sets. This module draws, for any replica alone, the positions a base model is trained on."""

from __future__ import annotations

import json
import math

import numpy as np
from numpy.typing import NDArray

from pipeline.resampling.address import draw_key
from pipeline.resampling.draws import Draws, draw_units

__all__ = ["distinct_share", "draw_sample", "sample_size", "training_seed"]


def sample_size(fraction: float, n_items: int) -> int:
    """Give the number of items in a sample: the fraction of the training set, halves rounded up, at least one.

    Examples
    --------
    >>> [sample_size(fraction, 905) for fraction in (1.0, 0.5, 0.25)]
    [905, 453, 226]
    """
    if not 0.0 < fraction <= 1.0:
        raise ValueError(f"a sample is a fraction above 0 and up to 1 of the training set, got {fraction}")
    if n_items < 1:
        raise ValueError(f"a training set has at least one item, got {n_items}")
    return max(1, math.floor(fraction * n_items + 0.5))


def draw_sample(*, seed: int, data: str, method: str, fraction: float, replica: int, n_items: int) -> NDArray[np.int64]:
    """Draw the training set of one replica: positions with repetitions, in the order drawn.

    The base model is not in the address: every base model is trained on the same samples, so that two of them differ by
    what they are and not by what they saw. Replica and fraction are, and so is the name of the data.

    Parameters
    ----------
    seed : int
        The study's seed.
    data : str
        Name of the training data.
    method : str
        ``bootstrap``: items drawn independently with replacement.
    fraction : float
        Size of the sample as a share of the training set.
    replica : int
        Which sample, from 0.
    n_items : int
        Items in the training set.

    Returns
    -------
    (sample_size(fraction, n_items),) int64
        Positions in the training set.
    """
    if method != "bootstrap":
        raise ValueError(f"training sets are resampled by 'bootstrap', got {method!r}")
    if replica < 0:
        raise ValueError(f"replicas are counted from 0, got {replica}")
    rule = f"{method}:{float(fraction)!r}"
    key = draw_key(seed=seed, purpose="training-sample", test_set=data, size=str(n_items), rule=rule)
    return draw_units(Draws(key, n_items, sample_size(fraction, n_items)), replicate=replica)


def training_seed(*, seed: int, data: str, model: str, method: str, fraction: float, replica: int) -> int:
    """Give the seed of one training, from 0 to 2**31 − 1: its own for each base model, sample and study seed."""
    # JSON keeps model names with any characters apart: no two different trainings share a rule.
    rule = json.dumps([model, method, float(fraction), replica], ensure_ascii=True)
    return draw_key(seed=seed, purpose="training-seed", test_set=data, size="", rule=rule) >> 33


def distinct_share(sample: NDArray[np.int64], n_items: int) -> float:
    """Give the number of different items in a sample as a share of the training set.

    For ``fraction · n`` draws of ``n`` items it is expected to be ``1 − (1 − 1/n)^(fraction · n) ≈ 1 − exp(−fraction)``:
    63 % at 1, 39 % at ½, 22 % at ¼.

    Examples
    --------
    >>> distinct_share(np.array([0, 0, 3]), 4)
    0.5
    """
    return len(np.unique(sample)) / n_items
