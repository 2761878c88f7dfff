"""What lies beside a frame: the stratum of each unit, the document of each item. This module stores both under their content."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.errors import DataError
from pipeline.items.frame import Frame
from pipeline.store.addresses import digest
from pipeline.store.runs import Store
from pipeline.study.schema import Study
from pipeline.tasks.addressed import read_addressed, write_addressed

__all__ = ["grouping_key", "load_grouping", "number_groups", "store_grouping", "strata_of", "tell_strata"]


def grouping_key(group_of: Sequence[int]) -> str:
    """Give the address of a grouping; empty where nothing is grouped. Names of groups are not in it: they change no number."""
    return digest(["grouping", list(group_of)]) if group_of else ""


def store_grouping(group_of: Sequence[int], store: Store) -> None:
    """Write a grouping under its address, unless it is there and whole; nothing where nothing is grouped."""
    key = grouping_key(group_of)
    if key:
        write_addressed(store.path("frames", key, ".json"), key, {"group_of": list(group_of)}, _address)


def read_grouping(store: Store, key: str) -> NDArray[np.int64]:
    """Read a grouping that `store_grouping` wrote.

    Raises
    ------
    StoreError
        P704 where it is not there; P705 where it is damaged.
    """
    value = read_addressed(store.path("frames", key, ".json"), key, _address)
    group_of = np.array(value["group_of"], np.int64)
    group_of.flags.writeable = False
    return group_of


load_grouping = lru_cache(maxsize=8)(read_grouping)
"""`read_grouping`, once a process."""


def _address(value: Any) -> str:
    return grouping_key(value["group_of"])


def number_groups(group_of: NDArray[np.int64]) -> NDArray[np.int64]:
    """Give groups the numbers 0 … H − 1 in the order of their first member.

    Examples
    --------
    >>> number_groups(np.array([7, 2, 7, 3])).tolist()
    [0, 1, 0, 2]
    """
    _, first, inverse = np.unique(group_of, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[inverse].astype(np.int64)


def tell_strata(study: Study, frame: Frame) -> tuple[str, ...]:
    """Say how many units are alone in their stratum, at each test size where any are: they add nothing to any variance.

    Raises
    ------
    DataError
        P229, where all units of a smaller test size are.
    """
    if not frame.stratum_of_unit:
        return ()
    words = []
    numbers = sorted(v for v in study.resampling.test_sizes.values if isinstance(v, int) and v < len(frame.units))
    for n in (*numbers, len(frame.units)):
        members = np.bincount(frame.stratum_of_unit[:n])
        alone = int(np.sum(members == 1))
        if alone == n:
            raise DataError.of(
                "P229",
                f"at test size {n} of '{frame.test_set}' every unit is alone in its stratum: resampling always gives the same",
                where="resampling.test_sizes",
                help=f"take larger test sizes, or larger strata than those of `{study.resampling.strata}`",
            )
        if alone:
            words.append(f"{alone} of {n} units are alone in their stratum of {study.resampling.strata}: they never vary")
    return tuple(words)


def strata_of(store: Store, key: str, n_units: int) -> NDArray[np.int64] | None:
    """Give the strata of the first ``n_units`` units, those that none of them is in left out; None without a key."""
    return number_groups(load_grouping(store, key)[:n_units]) if key else None
