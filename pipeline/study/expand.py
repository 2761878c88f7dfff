"""Paths that name environment variables. This module replaces ``${NAME}`` and ``${NAME:-default}`` in a study's paths."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from typing import Any

from pipeline.errors import Problem
from pipeline.study.marks import Document, KeyPath

__all__ = ["expand_paths"]

VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}")

PATH_KEYS = ("references", "gold", "outputs", "documents")


def expand_paths(document: Document) -> list[Problem]:
    """Replace variables in the paths of a document, and list those that are not set and have no default."""
    problems: list[Problem] = []

    def expand(text: str, path: KeyPath) -> str:
        def value_of(match: re.Match[str]) -> str:
            value = os.environ.get(match[1]) or match[2]
            if value is None:
                where = document.where(path)
                problems.append(
                    Problem(
                        "P113",
                        f"the environment variable {match[1]} is not set",
                        where,
                        f"set it, or write ${{{match[1]}:-a default}}",
                    )
                )
                return match[0]
            return value

        return VARIABLE.sub(value_of, text)

    for holder, key, path in _paths(document.value):
        holder[key] = expand(holder[key], path)
    return problems


def _paths(value: Any) -> Iterator[tuple[Any, Any, KeyPath]]:
    """Yield every path in a study as the container and key that hold it, and where it stands."""
    if not isinstance(value, Mapping):
        return
    test_sets = value.get("test_sets")
    for name, test_set in test_sets.items() if isinstance(test_sets, Mapping) else ():
        for key in PATH_KEYS if isinstance(test_set, Mapping) else ():
            yield from _strings(test_set, key, ("test_sets", name, key))
    training = value.get("training")
    data = training.get("data") if isinstance(training, Mapping) else None
    for key in ("path", "gold") if isinstance(data, Mapping) else ():
        yield from _strings(data, key, ("training", "data", key))
    models = training.get("models") if isinstance(training, Mapping) else None
    for name, model in models.items() if isinstance(models, Mapping) else ():
        if isinstance(model, Mapping):
            yield from _strings(model, "path", ("training", "models", name, "path"))
    metrics = value.get("metrics")
    for k, metric in enumerate(metrics if isinstance(metrics, list) else ()):
        if isinstance(metric, Mapping):
            yield from _strings(metric, "path", ("metrics", k, "path"))
    systems = value.get("systems")
    if isinstance(systems, Mapping):
        yield from _strings(systems, "table", ("systems", "table"))


def _strings(holder: Any, key: Any, path: KeyPath) -> Iterator[tuple[Any, Any, KeyPath]]:
    found = holder.get(key) if isinstance(holder, Mapping) else holder[key]
    if isinstance(found, str):
        yield holder, key, path
    elif isinstance(found, list):
        for i in range(len(found)):
            yield from _strings(found, i, (*path, i))
    elif isinstance(found, Mapping) and path[-1] == "outputs":
        for name in found:
            yield from _strings(found, name, (*path, name))
