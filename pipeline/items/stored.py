"""Frames and groupings in the store, each under the digest of its content.

A frame is the items of a test set and their units; groupings are the stratum of each unit and the document of each item. What is
read back is checked against its name.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.errors import StoreError
from pipeline.items.frame import Frame
from pipeline.store.addresses import digest
from pipeline.store.files import RECOMPUTE, read_json, write_json
from pipeline.store.runs import Store

__all__ = [
    "frame_key",
    "grouping_key",
    "load_frame",
    "load_grouping",
    "number_groups",
    "read_addressed",
    "read_frame",
    "store_frame",
    "store_grouping",
    "strata_of",
    "write_addressed",
]

Address = Callable[[Any], str]
"""Gives the address of a value; KeyError, TypeError or ValueError where it is no such value."""


def read_addressed(path: Path, key: str, address: Address) -> Any:
    """Read a value that is what its address says.

    Raises
    ------
    StoreError
        P704 where it is not there; P705 where it is damaged.
    """
    value = read_json(path)
    try:
        found = address(value)
    except (KeyError, TypeError, ValueError):
        found = ""
    if found != key:
        raise StoreError.of(
            "P705", "a stored file is damaged: its content is not what its name says", where=str(path), help=RECOMPUTE
        )
    return value


def write_addressed(path: Path, key: str, value: Any, address: Address) -> None:
    """Write a value unless it is there, whole: what was damaged is written again."""
    try:
        read_addressed(path, key, address)
    except StoreError:
        write_json(path, value)


def grouping_key(group_of: Sequence[int]) -> str:
    """Return the address of a grouping; empty where nothing is grouped. Names of groups are not in it: they change no number."""
    return digest(["grouping", list(group_of)]) if group_of else ""


def store_grouping(group_of: Sequence[int], store: Store) -> None:
    """Write a grouping under its address, unless it is there and whole; nothing where nothing is grouped."""
    key = grouping_key(group_of)
    if key:
        write_addressed(store.path("frames", key, ".json"), key, {"group_of": list(group_of)}, _grouping_address)


def read_grouping(store: Store, key: str) -> NDArray[np.int64]:
    """Read a grouping that `store_grouping` wrote.

    Raises
    ------
    StoreError
        P704 where it is not there; P705 where it is damaged.
    """
    value = read_addressed(store.path("frames", key, ".json"), key, _grouping_address)
    group_of = np.array(value["group_of"], np.int64)
    group_of.flags.writeable = False
    return group_of


load_grouping = lru_cache(maxsize=8)(read_grouping)
"""`read_grouping`, once a process."""


def _grouping_address(value: Any) -> str:
    return grouping_key(value["group_of"])


def number_groups(group_of: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return groups the numbers 0 … H − 1 in the order of their first member.

    Examples
    --------
    >>> number_groups(np.array([7, 2, 7, 3])).tolist()
    [0, 1, 0, 2]
    """
    _, first, inverse = np.unique(group_of, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[inverse].astype(np.int64)


def strata_of(store: Store, key: str, n_units: int) -> NDArray[np.int64] | None:
    """Return the strata of the first ``n_units`` units, those that none of them is in left out; None without a key."""
    return number_groups(load_grouping(store, key)[:n_units]) if key else None


def frame_key(frame: Frame) -> str:
    """Return the address of a frame: its items and their units. Names of test sets and of units are not in it."""
    return digest([list(frame.ids), list(frame.unit_of_item)])


def store_frame(frame: Frame, store: Store) -> str:
    """Write a frame under its address, unless it is there and whole; give the address."""
    key = frame_key(frame)
    value = {"test_set": frame.test_set, "ids": frame.ids, "unit_of_item": frame.unit_of_item, "units": frame.units}
    write_addressed(store.path("frames", key, ".json"), key, value, lambda stored: frame_key(_frame(stored)))
    return key


def read_frame(store: Store, key: str) -> Frame:
    """Read a frame that `store_frame` wrote.

    Raises
    ------
    StoreError
        P704 where it is not there; P705 where it is damaged.
    """
    return _frame(read_addressed(store.path("frames", key, ".json"), key, lambda stored: frame_key(_frame(stored))))


load_frame = lru_cache(maxsize=8)(read_frame)
"""`read_frame`, once a process."""


def _frame(value: Any) -> Frame:
    frame = Frame(value["test_set"], tuple(value["ids"]), tuple(value["unit_of_item"]), tuple(value["units"]))
    if len(frame.units) != len(set(frame.unit_of_item)):
        raise ValueError(f"{len(frame.units)} units have names, and items are of {len(set(frame.unit_of_item))}")
    return frame
