"""Fitted models as files of plain data: texts and numbers as JSON, arrays as they are.

A model is dataclasses and named tuples of this package, made of mappings, tuples, texts, numbers and arrays. Reading one makes such
values and nothing else, so that a file which somebody has changed can spoil a model but runs no code.
"""

from __future__ import annotations

import importlib
import json
import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["PlainModels", "read_model", "write_model"]

_PACKAGE = __name__.partition(".")[0]
_TREE, _VECTORS = "model.json", "vectors.npz"
_SCALARS = frozenset({type(None), bool, int, float, str})


class PlainModels:
    """Makes a trainer's models ones that are kept: see `pipeline.interfaces.KeepsModels`."""

    def save_model(self, model: Any, folder: Path) -> None:
        """Write a model into a folder."""
        write_model(model, folder)

    def load_model(self, folder: Path, workdir: Path) -> Any:
        """Return a model that was written into a folder; nothing is written to ``workdir``."""
        return read_model(folder)


def write_model(model: Any, folder: Path) -> None:
    """Write a model as plain data; TypeError where it holds anything else."""
    writer = _Writer()
    (folder / _TREE).write_text(json.dumps(writer.plain(model), separators=(",", ":")), encoding="utf-8")
    # One vector a kind of number: a lexicon has thousands of short arrays. It is called by its kind, whatever it is stored as.
    vectors = {kind: _narrow(np.concatenate(parts)) for kind, parts in writer.parts.items()}
    with (folder / _VECTORS).open("wb") as file:
        np.savez(file, allow_pickle=False, **vectors)


def read_model(folder: Path) -> Any:
    """Return a model that `write_model` wrote; ValueError, KeyError or TypeError where it is no such one."""
    with np.load(folder / _VECTORS, allow_pickle=False) as stored:
        vectors = {kind: stored[kind].astype(kind, copy=False) for kind in stored.files}
    return _restore(json.loads((folder / _TREE).read_text(encoding="utf-8")), vectors)


def _narrow(vector: NDArray[Any]) -> NDArray[Any]:
    """Return whole numbers in the fewest bytes that hold all of them; any other vector as it is.

    Examples
    --------
    >>> [str(_narrow(np.array(numbers)).dtype) for numbers in ([-128, 127], [0, 128], [-1, 2**31], [0.5])]
    ['int8', 'int16', 'int64', 'float64']
    """
    if vector.dtype.kind not in "iu" or not vector.size:
        return vector
    least, most = int(vector.min()), int(vector.max())
    fitting = (kind for kind in (np.int8, np.int16, np.int32) if np.iinfo(kind).min <= least and most <= np.iinfo(kind).max)
    return vector.astype(next(fitting, vector.dtype), copy=False)


class _Writer:
    """Turns values into what JSON can say, and collects their arrays by kind of number."""

    def __init__(self) -> None:
        self.parts: dict[str, list[NDArray[Any]]] = {}
        self._lengths: Counter[str] = Counter()

    def plain(self, value: Any) -> Any:
        if type(value) in _SCALARS:  # most values by far
            return value
        if isinstance(value, (bool, int, float, str)):
            return value.item() if isinstance(value, np.generic) else value
        if isinstance(value, np.generic):
            return value.item()
        if isinstance(value, np.ndarray):
            return self._array(value)
        if isinstance(value, bytes):
            return {"bytes": self._array(np.frombuffer(value, np.uint8))}
        if isinstance(value, Mapping):
            kind = "counter" if isinstance(value, Counter) else "mapping"
            return {kind: list(zip(map(self.plain, value), map(self.plain, value.values()), strict=True))}
        if is_dataclass(value) and not isinstance(value, type):
            parts = {part.name: self.plain(getattr(value, part.name)) for part in fields(value)}
            return {"of": _address(type(value)), "parts": parts}
        if isinstance(value, tuple) and hasattr(value, "_asdict"):
            return {"of": _address(type(value)), "parts": {name: self.plain(part) for name, part in value._asdict().items()}}
        if isinstance(value, tuple):
            return {"tuple": [self.plain(part) for part in value]}
        raise TypeError(f"a model holds a {type(value).__name__}, which is no plain data")

    def _array(self, value: NDArray[Any]) -> dict[str, Any]:
        kind = value.dtype.name
        if value.dtype.kind not in "biuf":
            raise TypeError(f"a model holds an array of {kind}, which is no plain data")
        begin = self._lengths[kind]
        self._lengths[kind] += value.size
        self.parts.setdefault(kind, []).append(value.reshape(-1))
        return {"array": kind, "begin": begin, "shape": value.shape}


def _restore(value: Any, vectors: Mapping[str, NDArray[Any]]) -> Any:
    if not isinstance(value, dict):
        return value
    if "array" in value:
        begin, shape = value["begin"], tuple(value["shape"])
        # A copy: arrays are then aligned and of their own, as after a training.
        return vectors[value["array"]][begin : begin + math.prod(shape)].reshape(shape).copy()
    if "bytes" in value:
        return _restore(value["bytes"], vectors).tobytes()
    if "tuple" in value:
        return tuple(_restore(part, vectors) for part in value["tuple"])
    if "of" in value:
        return _class(value["of"])(**{name: _restore(part, vectors) for name, part in value["parts"].items()})
    kind = Counter if "counter" in value else dict
    (pairs,) = value.values()
    return kind({_restore(name, vectors): _restore(part, vectors) for name, part in pairs})


def _address(kind: type) -> str:
    if kind.__module__.partition(".")[0] != _PACKAGE:
        raise TypeError(f"a model holds a {kind.__qualname__} of {kind.__module__}, which is not of this package")
    return f"{kind.__module__}:{kind.__name__}"


def _class(address: str) -> type:
    module, _, name = address.partition(":")
    if module.partition(".")[0] != _PACKAGE:
        raise ValueError(f"{address} is not of this package")
    kind = getattr(importlib.import_module(module), name)
    if not isinstance(kind, type) or not (is_dataclass(kind) or (issubclass(kind, tuple) and hasattr(kind, "_fields"))):
        raise ValueError(f"{address} is no part of a model")
    return kind
