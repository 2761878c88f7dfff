"""Test sets in the names of files: one file for each task and system, found by a pattern with ``{test_set}``."""

from __future__ import annotations

import glob
import os
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

from pipeline.errors import DataError
from pipeline.items.discover import find_outputs, pattern_of_names
from pipeline.items.names import name_without_ending
from pipeline.survey.folders import FolderFiles

__all__ = ["find_sets_in_names"]

_SET = "{test_set}"
_SYSTEM = "{system}"


def find_sets_in_names(outputs: Sequence[str], references: Sequence[str], *, base: Path) -> dict[str, FolderFiles]:
    """Return the files of each test set, by its name, where the only output is a pattern with ``{test_set}``; else nothing.

    A name may be cut in several ways, as ``arc_easy_base``: it is cut where its two parts are those of the most other names, and
    of several such ways where both parts are common.

    Raises
    ------
    DataError
        P207 where no file matches; P219 where systems or runs have no name that tells them apart.
    """
    if len(outputs) != 1 or _SET not in outputs[0]:
        return {}
    (pattern,) = outputs
    cuts = {path: list(_cut(path, pattern)) for path in sorted(_there(pattern, base))}
    cuts = {path: ways for path, ways in cuts.items() if ways}
    if not cuts:
        _, problems = find_outputs(pattern.replace(_SET, "*" if _SYSTEM in pattern else _SYSTEM), base=base)
        raise DataError(*problems)
    sets_of, systems_of = defaultdict(set), defaultdict(set)
    for name, system in (way for ways in cuts.values() for way in ways):
        sets_of[system].add(name)
        systems_of[name].add(system)
    found: dict[str, dict[str, str]] = defaultdict(dict)
    for path, ways in cuts.items():
        name, system = max(ways, key=lambda way: _rank(len(systems_of[way[0]]), len(sets_of[way[1]]), way[0]))
        if system in found[name]:
            message = f"the pattern finds '{found[name][system]}' and '{path}' of one test set, and does not name their systems"
            raise DataError.of("P219", message, where=pattern, help="write {system} where the name of the system is")
        found[name][system] = path
    return {
        name: FolderFiles(_name_outputs(pattern.replace(_SET, name), files, base), [one.replace(_SET, name) for one in references])
        for name, files in sorted(found.items())
    }


def _rank(systems: int, sets: int, name: str) -> tuple[int, int, int]:
    """Return how well a cut fits: in ``mmlu_pro_a`` of two sets and two systems each way has four files, and one is even."""
    return systems * sets, min(systems, sets), -len(name)


def _there(pattern: str, base: Path) -> Iterator[str]:
    """Yield the paths of files that a pattern may find, as it is written."""
    wild = re.sub(r"\{(test_set|system|replica)\}", "*", pattern.replace("[", "[[]"))
    for path in glob.glob(wild, root_dir=base):
        if os.path.isfile(base / path):
            yield path


def _cut(path: str, pattern: str) -> Iterator[tuple[str, str]]:
    """Yield each test set and system, with its run, that a path may be of."""
    expression = pattern_of_names(pattern).pattern
    first, *others = expression.split(re.escape(_SET))
    for length in range(1, max(map(len, path.split("/"))) + 1):
        named = f"{first}(?P<test_set>[^/]{{{length}}}){'(?P=test_set)'.join(others)}"
        if match := re.fullmatch(named, path, re.DOTALL):
            groups = match.groupdict()
            yield groups["test_set"], "/".join(groups[key] for key in ("system", "replica") if key in groups)


def _name_outputs(pattern: str, files: dict[str, str], base: Path) -> list[str]:
    """Return the pattern of a test set's own outputs; each with its name where the pattern finds those of another one too."""
    there, _ = find_outputs(pattern, base=base)
    if {os.path.abspath(one.path) for one in there} == {os.path.abspath(base / path) for path in files.values()}:
        return [pattern]
    if "{replica}" in pattern:
        message = f"the pattern '{pattern}' finds files of other test sets too, and runs are not named one by one"
        raise DataError.of("P219", message, where=pattern, help="put the files of each test set into a folder of its own")
    return [f"{name_without_ending(system)}={path}" for system, path in files.items()]
