"""Every value of a study with its origin: a line of the file, a flag, a preset, or the default."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, NamedTuple

from pipeline.study.load import LoadedStudy, resolve
from pipeline.study.marks import Document, KeyPath, dotted, look_up

__all__ = ["DEFAULT", "Origin", "list_origins"]

DEFAULT = "default"


class Origin(NamedTuple):
    """A value of a resolved study, its key as ``--set`` takes it, and where it comes from."""

    key: str
    value: Any
    origin: str

    @property
    def line(self) -> str:
        """The key and the value on a line, as YAML takes it."""
        return f"{self.key}: {json.dumps(self.value, ensure_ascii=False)}"


def list_origins(loaded: LoadedStudy) -> list[Origin]:
    """Return all values of a study, defaults included, in the order of its schema.

    Parameters
    ----------
    loaded : LoadedStudy
        As `load_study` gives it.

    Returns
    -------
    list of Origin
        The origin is ``file:line:column``, ``--set key=value``, ``preset NAME`` or ``default``.
    """
    return [Origin(dotted(path), value, _origin(loaded.document, path)) for path, value in _leaves(resolve(loaded.study), ())]


def _leaves(value: Any, path: KeyPath) -> Iterator[tuple[KeyPath, Any]]:
    """Yield what is not a mapping and no list of mappings; an empty one, and a list of plain values, is a value itself."""
    if isinstance(value, dict) and value:
        for key, part in value.items():
            yield from _leaves(part, (*path, key))
    elif isinstance(value, list) and any(isinstance(part, (dict, list)) for part in value):
        for position, part in enumerate(value):
            yield from _leaves(part, (*path, position))
    else:
        yield path, value


def _origin(document: Document, path: KeyPath) -> str:
    followed, written, passed = look_up(document.value, path)
    # A shorthand holds what it stands for: `bleu` is the name of a metric. A mapping that lacks a key has its default,
    # unless its only key is what the schema calls the name.
    if passed and (written is None or (isinstance(written, dict) and not _is_named_by_key(written, passed))):
        return DEFAULT
    if passed and passed[-1] == "options" and not isinstance(written, dict):
        return DEFAULT
    return document.where(followed, key=True) or DEFAULT


def _is_named_by_key(written: dict[str, Any], passed: KeyPath) -> bool:
    return len(written) == 1 and passed[0] in ("name", "options")
