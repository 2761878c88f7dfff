"""Outputs for those who write no study: the names and paths that `compare` was given, as a user or a program gives them."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from pipeline.errors import Problem, UsageError
from pipeline.items.names import name_outputs
from pipeline.metrics.registry import is_metric
from pipeline.study.load import parse_flow

__all__ = ["as_paths", "name_outputs", "name_systems", "parse_columns", "parse_named"]

OneOrMore = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]
"""One path, or several."""


def as_paths(given: OneOrMore) -> list[str]:
    """Give paths as strings; one alone need not stand in a list, and is not taken letter by letter."""
    return [os.fspath(given)] if isinstance(given, (str, os.PathLike)) else [os.fspath(path) for path in given]


def name_systems(outputs: Mapping[str, str | os.PathLike[str]] | OneOrMore) -> dict[str, str]:
    """Give the paths of outputs by system; the key ``*`` has a single file, which may hold all systems.

    Examples
    --------
    >>> name_systems("scores.csv"), name_systems({"ours": Path("a.txt"), "base": "b.txt"})
    ({'*': 'scores.csv'}, {'ours': 'a.txt', 'base': 'b.txt'})
    """
    if isinstance(outputs, Mapping):
        return {str(name): os.fspath(path) for name, path in outputs.items()}
    paths = as_paths(outputs)
    return {"*": paths[0]} if len(paths) == 1 else name_outputs(paths)


def parse_named(arguments: Sequence[str], *, base: Path) -> dict[str, str]:
    """Give the paths of systems by name, from what was typed: paths, and ``NAME=PATH``; a single path as `name_systems` does.

    Where a file has the whole argument for its name it is that file, and what has a slash before its first ``=`` is a path.

    Raises
    ------
    UsageError
        P013 where a path without a name is there twice, P017 where two outputs have one name, P018 where one side of ``=`` is
        empty, P019 where what is no file is a metric.
    """
    given: list[tuple[str, str]] = []
    problems: list[Problem] = []
    for argument in arguments:
        name, equals, path = argument.partition("=")
        if ":" not in argument and is_metric(argument) and not os.path.exists(base / argument):
            help_ = f"give -m with each metric: -m {argument}"
            problems.append(Problem("P019", f"there is no file {argument}, which is a metric", help=help_))
        elif not equals or "/" in name or os.path.exists(base / argument):
            given.append(("", argument))
        elif name and path:
            given.append((name, path))
        else:
            lacking = "path" if name else "name"
            problems.append(
                Problem("P018", f"the {lacking} is missing", argument, "write NAME=PATH, for example base=out/base.txt")
            )
    if problems:
        raise UsageError(*problems)
    unnamed = [path for name, path in given if not name]
    if len(unnamed) == len(given) == 1:
        return {"*": unnamed[0]}
    derived = {path: name for name, path in name_outputs(unnamed).items()}
    files: dict[str, list[str]] = {}
    for name, path in given:
        files.setdefault(name or derived[path], []).append(path)
    problems = [
        Problem(
            "P017",
            f"{len(paths)} outputs have the name '{name}'",
            " and ".join(paths),
            f"give each a name of its own: {' '.join(f'{name}-{k}={path}' for k, path in enumerate(paths, start=1))}",
        )
        for name, paths in files.items()
        if len(paths) > 1
    ]
    if problems:
        raise UsageError(*problems)
    return {name: path for name, (path,) in files.items()}


def parse_columns(text: str | None) -> dict[str, str]:
    """Give columns by role from what was typed in braces.

    Raises
    ------
    UsageError
        P018 where it is no mapping of names to names.
    """
    found = parse_flow(text, "--columns") if text is not None else {}
    if isinstance(found, str) or not all(isinstance(name, str) for name in found.values()):
        help_ = "write roles and names in braces, --columns '{system: llm, item: question}'"
        raise UsageError.of("P018", f"these are no names of columns: {text}", where="--columns", help=help_)
    return found
