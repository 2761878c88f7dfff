"""Training items: how they are read, the units and instances counted in them, and what of a test set is shown to trainers."""

from __future__ import annotations

import glob
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.errors import DataError, Problem, StudyError
from pipeline.inputs import locate_input
from pipeline.interfaces import Items, Reader, TrainingItems
from pipeline.items.choices import item_positions, select_items
from pipeline.items.datasets import dataset_digest, load_dataset
from pipeline.items.frame import digest_items
from pipeline.items.readers._files import NeedsNoGold
from pipeline.items.readers.registry import load_reader
from pipeline.options import suggest
from pipeline.study.grouping import ITEM_OR_SENTENCE
from pipeline.study.sets import FormatSpec, TestSet
from pipeline.study.training_schema import DataFiles, DatasetSpec

__all__ = [
    "count_instances",
    "expand_files",
    "items_to_predict",
    "lend_items",
    "load_training_items",
    "number_units",
    "output_columns",
    "read_columns",
    "read_training_items",
    "training_digest",
]

_AGAIN = "start the study again: the changed file makes it a new run, which reuses what is still valid"


def read_training_items(spec: DatasetSpec | DataFiles, base: Path) -> TrainingItems:
    """Read the items that base models are trained on.

    Parameters
    ----------
    spec : DatasetSpec or DataFiles
        Several files are one after the other, in the order they are named, those of a pattern sorted.
    base : Path
        The folder that relative paths start from.

    Raises
    ------
    DataError
        What the reader finds, with file and line; P271, P273, P274.
    """
    if isinstance(spec, DatasetSpec):
        return load_dataset(spec)
    reader, files = load_reader(spec.format), expand_files(spec, base)
    try:
        gold = [locate_input(base, spec.gold)] if spec.gold is not None else []
        items = reader.read_gold([*files, *gold], {"columns": dict(spec.columns)})
    except NeedsNoGold:  # a test set can leave it out, and training data are nothing else
        items = None
    if items is None:
        message = f"the format {spec.format} has no gold, so nothing can be learnt from it"
        raise DataError.of("P274", message, where=str(files[0]), help="name another format")
    if spec.items is not None:
        items = select_items(items, spec.items, where="training.data.items")
    if not len(items):
        raise DataError.of("P273", "the training data have no items", where=items.source, help="correct `training.data`")
    return TrainingItems(items.ids, items.columns, writer=reader.write, reads=partial(read_columns, spec.format))


def training_digest(spec: DatasetSpec | DataFiles, items: TrainingItems) -> str:
    """Return 32 hex characters that stand for what training data hold, wherever they lie."""
    if isinstance(spec, DatasetSpec):
        return dataset_digest(spec)
    numbered = items.ids == tuple(map(str, range(1, len(items) + 1)))
    return digest_items(Items(items.ids, items.columns, "", (), numbered))[:32]


def load_training_items(data: Mapping[str, Any], base: str, digest: str) -> TrainingItems:
    """Read training items once a process.

    Raises
    ------
    DataError
        P270 where they are not those that were surveyed; an empty digest holds them to nothing.
    """
    return _load_training_items(json.dumps(data, sort_keys=True), base, digest)


@lru_cache(maxsize=2)
def _load_training_items(data: str, base: str, digest: str) -> TrainingItems:
    value = json.loads(data)
    spec: DatasetSpec | DataFiles = (DatasetSpec if "dataset" in value else DataFiles).model_validate(value)
    items = read_training_items(spec, Path(base))
    if digest and training_digest(spec, items) != digest:
        where = spec.dataset if isinstance(spec, DatasetSpec) else ", ".join(spec.paths)
        raise DataError.of("P270", "the training data changed after they were surveyed", where=where, help=_AGAIN)
    return items


def lend_items(items: TrainingItems) -> TrainingItems:
    """Return items for one trainer: its changes to their columns or features are not seen by later trainings."""
    features = items.features
    if features is not None:
        features = features.view()
        features.setflags(write=False)
    return replace(items, columns={name: tuple(values) for name, values in items.columns.items()}, features=features)


def items_to_predict(spec: TestSet, gold: Items) -> TrainingItems:
    """Return what of a test set a trainer is shown: its items without what it is to predict."""
    reader = load_reader(spec.format)
    hidden = set(reader.targets)
    shown = {name: values for name, values in gold.columns.items() if name not in hidden and not name.startswith("reference.")}
    features = load_dataset(spec.gold).features if isinstance(spec.gold, DatasetSpec) else None
    if features is not None and isinstance(spec.items, str):
        features = features[item_positions(spec.items, len(features), where="items")]
    return TrainingItems(gold.ids, shown, features, writer=reader.write, reads=partial(read_columns, spec.format))


def read_columns(form: FormatSpec | str, path: Path) -> Mapping[str, Sequence[Any]]:
    """Return the columns of a file of this format, as some program wrote it."""
    return load_reader(form).read_outputs(path, system=path.name, options={})[path.name].columns


def expand_files(spec: DataFiles, base: Path) -> tuple[Path, ...]:
    """Return the files of training data; P271 where nothing matches a pattern."""
    files: list[Path] = []
    for path in spec.paths:
        place = locate_input(base, path)
        if any(wild in path for wild in "*?") and not os.path.isfile(place):
            # Only * and ? are wild: a bracket in a folder's name is a bracket.
            found = sorted(found for found in glob.glob(str(place).replace("[", "[[]")) if Path(found).is_file())
            if not found:
                raise DataError.of(
                    "P271",
                    "no file matches the pattern of the training data",
                    where=str(place),
                    help="correct `training.data.path`",
                )
            files.extend(map(Path, found))
        else:
            files.append(place)
    return tuple(dict.fromkeys(files))


_TOO_MANY = 2**62  # a quota is met by sums of 64 bits


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
    """Return the number of each item's unit; units are numbered in the order of their first item.

    Raises
    ------
    StudyError
        P123 where no column has this name; where an item lacks a value, P123 too.

    Examples
    --------
    >>> number_units(TrainingItems(("1", "2", "3"), {"document": ("b", "a", "b")}), "document").tolist()
    [0, 1, 0]
    """
    if unit in ITEM_OR_SENTENCE:
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


def output_columns(reader: Reader) -> tuple[str, ...]:
    """Return the columns of outputs of a format: the targets of its gold, unless the reader names others in ``outputs``."""
    return reader.targets if reader.outputs is None else reader.outputs
