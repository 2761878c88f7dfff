"""What a training set is made of besides items. This module counts instances and numbers units; it is pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.errors import Problem, StudyError
from pipeline.interfaces import TrainingItems
from pipeline.plugins import suggest

__all__ = ["count_instances", "number_units"]

_TOO_MANY = 2**62  # a quota is met by sums of 64 bits

ITEMS = ("item", "sentence")
"""Names of the unit that is one item."""


def count_instances(items: TrainingItems, instances: str) -> NDArray[np.int64]:
    """Count what a quota is made of, item by item.

    Parameters
    ----------
    items : TrainingItems
    instances : str
        ``items``: one each. ``tokens``: the entries of an item's tuples. ``chunks:NP``: chunks of a type, by the ``B-NP`` in the
        column ``chunk``; ``chunks`` counts all types. Else a column of whole numbers.

    Returns
    -------
    (item,) int64

    Raises
    ------
    StudyError
        P122 where the items have no such instances.

    Examples
    --------
    >>> words, chunks = (("the", "cat", "sat"), ("it", "ran")), (("B-NP", "I-NP", "B-VP"), ("B-NP", "B-VP"))
    >>> items = TrainingItems(("1", "2"), {"word": words, "chunk": chunks})
    >>> [count_instances(items, what).tolist() for what in ("items", "tokens", "chunks:NP", "chunks")]
    [[1, 1], [3, 2], [1, 1], [2, 2]]
    """
    kind, colon, label = instances.partition(":")
    if instances == "items":
        return np.ones(len(items), np.int64)
    if instances == "tokens":
        return _whole([len(value) for value in _tuples(items, instances)])
    if kind == "chunks" and "chunk" in items.columns:
        begins = f"B-{label}" if colon else "B-"
        found = [sum(tag == begins or (not colon and tag.startswith(begins)) for tag in tags) for tags in items.columns["chunk"]]
        return _whole(found)
    values = items.columns.get(instances)
    if values is None or not len(values):
        raise _no_instances(items, instances)
    try:
        numbers = [int(value) for value in values]
    except (TypeError, ValueError):
        numbers = [-1]
    if min(numbers) < 0 or sum(numbers) >= _TOO_MANY:
        raise _no_instances(items, instances, "it holds other values than whole numbers from 0, or their sum is beyond 2^62")
    return _whole(numbers)


def number_units(items: TrainingItems, unit: str) -> NDArray[np.int64]:
    """Give the number of each item's unit; units are numbered in the order of their first item.

    Raises
    ------
    StudyError
        P123 where no column has this name; where an item lacks a value, P123 too.

    Examples
    --------
    >>> number_units(TrainingItems(("1", "2", "3"), {"document": ("b", "a", "b")}), "document").tolist()
    [0, 1, 0]
    """
    if unit in ITEMS:
        return np.arange(len(items))
    values = items.columns.get(unit)
    if values is None:
        known = sorted({"item", *items.columns})
        raise StudyError.of(
            "P123", f"the training data have no column {unit!r} to resample by", where="training.unit", help=suggest(unit, known)
        )
    empty = next((name for name, value in zip(items.ids, values, strict=True) if value in ("", None)), None)
    if empty is not None:
        raise StudyError.of(
            "P123",
            f"item {empty!r} of the training data has no {unit}",
            where="training.unit",
            help="give it one, or resample items",
        )
    numbers: dict[Any, int] = {}
    return np.array([numbers.setdefault(value, len(numbers)) for value in values], np.int64)


def _tuples(items: TrainingItems, instances: str) -> Sequence[Any]:
    for name in ("word", *items.columns):
        values = items.columns.get(name, ())
        if len(values) and all(isinstance(value, tuple) for value in values):
            return values
    raise _no_instances(items, instances)


def _no_instances(items: TrainingItems, instances: str, why: str = "there is no such column") -> StudyError:
    problem = Problem(
        "P122",
        f"the training data have no {instances!r} that a quota could count: {why}",
        "training.resamples",
        f"items, tokens, chunks:TYPE, or a column of whole numbers; the data have {', '.join(sorted(items.columns))}",
    )
    return StudyError(problem)


def _whole(values: Sequence[int]) -> NDArray[np.int64]:
    return np.array(values, np.int64)
