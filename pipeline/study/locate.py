"""Find the line of a study file for a problem that was found after the file was read."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from pipeline.errors import PipelineError, Problem
from pipeline.study.complaints import keys_at
from pipeline.study.load import LoadedStudy
from pipeline.study.marks import Document, KeyPath, look_up
from pipeline.study.schema import Study

__all__ = ["locating", "placed"]

_PART = re.compile(r'\.?"(?P<quoted>[^"]*)"|\[(?P<position>\d+)\]|\.?(?P<plain>[^."\[\]]+)')


@contextmanager
def placed(path: str) -> Iterator[None]:
    """Say which key of the study is meant, as ``metrics[1]``, where what is raised names no place."""
    try:
        yield
    except PipelineError as error:
        raise type(error)(*(replace(each, where=each.where or path) for each in error.problems)) from error


@contextmanager
def locating(loaded: LoadedStudy) -> Iterator[None]:
    """Raise what is wrong with the line of the study file where it names a key; a study that is in no file has no lines."""
    try:
        yield
    except PipelineError as error:
        problems = [_locate(problem, loaded.document) for problem in error.problems]
        if problems == list(error.problems):
            raise
        raise type(error)(*problems) from error


def _locate(problem: Problem, document: Document) -> Problem:
    path = _parse(problem.where or "", document)
    place = document.where(path) if path else None
    return problem if place is None else replace(problem, where=place)


def _parse(text: str, document: Document) -> KeyPath:
    """Return the path that `dotted` wrote, as far as the study has it; nothing where the text begins with no key of a study."""
    path = tuple(
        int(part["position"]) if part["position"] else part["quoted"] if part["plain"] is None else part["plain"]
        for part in _PART.finditer(text)
    )
    if not path or "".join(part[0] for part in _PART.finditer(text)) != text or path[0] not in keys_at(Study, ()):
        return ()
    found = look_up(document.value, _by_position(path, document.value))[0]
    # A file may be called `systems.csv`.
    known = len(path) == 1 or len(found) > 1 or path[1] in keys_at(Study, path[:1])
    return found if known else ()


def _by_position(path: KeyPath, value: Any) -> KeyPath:
    """Return a path with the position of an analysis in place of its name: ``analyses.size-curve``."""
    first, *rest = path
    listed = value.get(first) if isinstance(value, Mapping) else None
    if not rest or not isinstance(rest[0], str) or not isinstance(listed, list):
        return path
    names = [one.get("name", next(iter(one), None)) if isinstance(one, Mapping) else one for one in listed]
    return (first, names.index(rest[0]), *rest[1:]) if rest[0] in names else path
