"""Outputs of trained systems: checked, packed in the format of the test set, and read back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from functools import lru_cache
from operator import ne
from pathlib import Path
from typing import Any

import numpy as np

from pipeline.errors import DataError, TaskError
from pipeline.interfaces import Items, TrainingItems
from pipeline.items.gold import surveyed_gold
from pipeline.items.readers.registry import load_reader
from pipeline.items.training import items_to_predict, output_columns
from pipeline.store.addresses import canonical_json
from pipeline.store.files import scratch_directory
from pipeline.study.sets import TestSet

__all__ = ["Predicted", "load_predicted", "pack_member", "read_member", "refuse_diverged"]

_FILE = "outputs"
_HELP = "a trainer returns a list or tuple with a value for each item, or entries for each token: see docs/trainers.md"


class Predicted:
    """A test set as trainers are shown it, with the gold and the reader that outputs are written by."""

    def __init__(self, spec: TestSet, gold: Items) -> None:
        self.gold = gold
        self.form = spec.model_dump(mode="json")["format"]
        self.reader = load_reader(spec.format)
        self.items: TrainingItems = items_to_predict(spec, gold)


def load_predicted(test_set: Mapping[str, Any], base: str, gold_digest: str) -> Predicted:
    """Read what a test set shows to trainers, once a process."""
    return _load_predicted(canonical_json(test_set), base, gold_digest)


@lru_cache(maxsize=32)
def _load_predicted(test_set: bytes, base: str, gold_digest: str) -> Predicted:
    import json

    value = json.loads(test_set)
    spec = TestSet.model_validate(value["spec"])
    gold = surveyed_gold(spec, Path(base), gold_digest, where=str(value["name"]))
    if gold is None:
        raise DataError.of("P230", f"test set {value['name']!r} has neither gold nor outputs", where=str(value["name"]))
    return Predicted(spec, gold)


def pack_member(predicted: Predicted, columns: Mapping[str, Sequence[Any]], *, name: str, where: str) -> bytes:
    """Return the bytes of a file of outputs in the format of the test set.

    Raises
    ------
    TaskError
        P420 where there is another number of outputs than of items; P421 where a column lacks; P422 where an output is of another
        length than its item; P423 where what is written would be read as something else; P424 and P425 where they are no outputs
        of a model that has learnt something.
    """
    items, reader = predicted.items, predicted.reader
    wanted = output_columns(reader)
    for column in wanted:
        if column not in columns:
            given = ", ".join(map(repr, columns)) or "nothing"
            message = f"the trainer gave no column {column!r} for test set {name!r}: it gave {given}"
            raise TaskError.of("P421", message, where=where, help=_HELP)
        values = columns[column]
        if isinstance(values, (str, bytes, Mapping, Set)) or not hasattr(values, "__len__") or not hasattr(values, "__getitem__"):
            message = f"the trainer gave a {type(values).__name__} as column {column!r} for test set {name!r}"
            raise TaskError.of("P421", message, where=where, help=_HELP)
        if len(values) != len(items):
            message = f"the trainer gave {len(values)} outputs for {len(items)} items of test set {name!r}"
            raise TaskError.of("P420", message, where=where, help=_HELP)
        _check_lengths(predicted, column, values, name=name, where=where)
        refuse_diverged(column, values, name=name, where=where)
    # Sentences are written with their words; what has a line or an identifier needs no more.
    known = items.columns if any(isinstance(value, tuple) for values in items.columns.values() for value in values[:1]) else {}
    written = {**known, **{column: tuple(map(_plain, columns[column])) for column in wanted}}
    with scratch_directory("outputs") as folder:
        path = folder / _FILE
        try:
            reader.write(path, written, items.ids)
            data = path.read_bytes()
            # Parsing all outputs again can take as long as predicting them. A class with a `write` of its own has to say so itself.
            read = items if reader.exact else _read_file(predicted.form, path)
        except (DataError, ValueError) as error:
            message = f"the outputs for test set {name!r} cannot be written so that they are read back: {error}"
            raise TaskError.of("P423", message, where=where, help="see what the trainer predicts") from error
    if len(read) != len(items):
        raise TaskError.of(
            "P423",
            f"{len(items)} outputs are read back as {len(read)}",
            where=where,
            help="an output must not contain a line feed: it would be read as two",
        )
    return data


def read_member(form: str | Mapping[str, Any], data: bytes) -> Items:
    """Read the outputs that `pack_member` packed."""
    with scratch_directory("outputs") as folder:
        path = folder / _FILE
        path.write_bytes(data)
        return _read_file(form, path)


def _read_file(form: str | Mapping[str, Any], path: Path) -> Items:
    return load_reader(form).read_outputs(path, system=_FILE, options={})[_FILE]


def _plain(value: Any) -> Any:
    """Return a value as readers give it: an array would be asked whether it is blank, which it cannot say."""
    return tuple(value.tolist()) if isinstance(value, np.ndarray) else value


def _check_lengths(predicted: Predicted, column: str, values: Sequence[Any], *, name: str, where: str) -> None:
    """Refuse outputs that are token by token for items of another number of tokens."""
    gold, words = predicted.gold.columns.get(column), predicted.items.columns.get("word")
    if gold is None or words is None:
        return
    for position, (value, expected, tokens) in enumerate(zip(values, gold, words, strict=True)):
        one_a_token = hasattr(value, "__len__") and hasattr(value, "__getitem__") and not isinstance(value, (str, bytes, Mapping))
        if isinstance(expected, tuple) and not (one_a_token and len(value) == len(tokens)):
            item = f"item {predicted.gold.ids[position]!r} of test set {name!r}"
            gave = f"{len(value)} values" if one_a_token else f"a {type(value).__name__}"
            message = f"the trainer gave {gave} of {column!r} for the {len(tokens)} tokens of {item}"
            raise TaskError.of("P422", message, where=where, help=_HELP)


_DIVERGED_HELP = "the training diverged, or learnt nothing: look at its log; `retries:` of the model tries again"
_BLANK = ("", "_", None)


def refuse_diverged(column: str, values: Sequence[Any], *, name: str, where: str) -> None:
    """Refuse a column that holds what is not a number, or nothing but blanks.

    Raises
    ------
    TaskError
        P424 an output is not a number; P425 all outputs are blank.

    Examples
    --------
    >>> refuse_diverged("tag", [("N", "V"), ()], name="test", where="train a/seed/0")
    """
    for position, value in enumerate(values):
        parts = value if isinstance(value, (tuple, list)) else (value,) if isinstance(value, (float, np.floating)) else ()
        if any(map(ne, parts, parts)):
            message = f"the trainer predicts what is not a number: {column!r} of item {position + 1} of test set {name!r}"
            raise TaskError.of("P424", message, where=where, help=_DIVERGED_HELP)
    if len(values) and all(map(_is_blank, values)):
        message = f"the trainer predicts nothing: {column!r} of all {len(values)} items of test set {name!r} is blank"
        raise TaskError.of("P425", message, where=where, help=_DIVERGED_HELP)


def _is_blank(value: Any) -> bool:
    if isinstance(value, str):
        return not value.strip()
    return value is None or (isinstance(value, (tuple, list)) and all(part in _BLANK for part in value))
