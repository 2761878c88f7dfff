"""Results of SWE-bench: which instances are resolved, from lists of them or from details of each."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from pipeline.errors import DataError, Problem, name_some
from pipeline.interfaces import FileSample, Items, Recognised
from pipeline.items.readers._files import read_text, with_warnings
from pipeline.items.readers._join import need_system
from pipeline.items.readers._json import need, read_json, read_json_lines, refuse_shape
from pipeline.items.readers._records import (
    ScoredFormat,
    asked_groups,
    check_name,
    choose_one,
    find_beside,
    name_of,
    score_of,
    twice,
)
from pipeline.items.readers._repeated_keys import repeated_in_outermost
from pipeline.items.readers._tables import refuse

__all__ = ["SweBenchReader"]

_RESOLVED = ("resolved_ids", "resolved")
_UNRESOLVED = "unresolved_ids"
_OPEN = ("submitted_ids", "completed_ids", "generated", "with_logs", "applied")
"""Lists that have resolved instances and others."""

_FAILED = (
    *(
        _UNRESOLVED,
        "error_ids",
        "empty_patch_ids",
        "incomplete_ids",
        "pending_ids",
        "failed_ids",
        "infra_failure_ids",
        "ambiguous_failure_ids",
    ),
    *("no_generation", "no_logs", "install_fail", "reset_failed", "no_apply", "test_errored", "test_timeout"),
)
_NO_INSTANCES = ("unstopped_containers", "unremoved_images")
_HEADS = (b'"resolved_ids"', b'"resolved_instances"', b'"no_generation"', b'"no_logs"')
_DETAILS = re.compile(rb'\{\s*"[^"]+__[^"]+"\s*:\s*\{\s*"(resolved|cost|api_calls|patch_is_None)"')
_STRING = re.compile(r'"((?:[^"\\]|\\.)*)"')
_INSTANCE = re.compile(r"(.+?)__(.+?)(?:-[0-9]+|\.[0-9a-f]{6,40}\..+)")
_REPOSITORY = "repository"
_MOST = 10**9


class SweBenchReader(ScoredFormat):
    """``results.json`` or ``per_instance_details.json`` of a submission, or the report of the harness.

    Items have the column ``resolved``. Of lists, every instance that one names is an item: 1 where it is resolved, else 0. The gold
    is a list of all instances: without it, those that no list names are not known. The repository of an instance is its
    ``document``, and ``repository`` where the study asks for it.

    Parameters
    ----------
    metric : str
        ``resolved``; of details also another field that is a number, as ``cost``.
    """

    name: ClassVar[str] = "swe-bench"
    endings: ClassVar[tuple[str, ...]] = (".json", ".jsonl")
    gold_lists_items: ClassVar[bool] = True

    def __init__(self, *, metric: str = "resolved") -> None:
        super().__init__()
        self.metric = check_name("metric", metric) or "resolved"

    @staticmethod
    def recognise(sample: FileSample) -> Recognised | None:
        """Take an object with lists that the leaderboard or the harness write, or with details of instances."""
        head = sample.head.removeprefix(b"\xef\xbb\xbf").lstrip()
        found = next((key.decode() for key in _HEADS if key in head), None)
        if head.startswith(b"{") and found is not None:
            return Recognised(0.95, f"an object with {found}")
        if _DETAILS.match(head):
            return Recognised(0.95, "an object of instances, with what became of each")
        return None

    @with_warnings
    def read_gold(self, paths: Sequence[Path], options: Mapping[str, Any]) -> Items | None:
        """Return all instances there are, one a line or a list in JSON, with their repositories; None without a file."""
        if not paths:
            return None
        if len(paths) > 1:
            raise DataError.of(
                "P219", "one file names all instances, and several are given", where=str(paths[1]), help="leave it out"
            )
        source = str(paths[0])
        text, odd = read_text(paths[0])
        self._told.extend(odd)
        first: dict[str, int] = {}
        problems = []
        for line, name in _list_instances(text, paths[0]):
            if name in first:
                problems.append(twice(name, source, first[name], line, help_="name every instance once"))
            first.setdefault(name, line)
        refuse(problems)
        ids = tuple(first)
        return Items(ids, _groups(ids, options), source, tuple(first.values()), numbered=False)

    @with_warnings
    def read_outputs(self, path: Path, *, system: str | None, options: Mapping[str, Any]) -> dict[str, Items]:
        """Return what became of each instance with one system."""
        named = need_system(system, path, "results of SWE-bench")
        source = str(path)
        value, odd = read_json(path)
        self._told.extend(odd)
        text, _ = read_text(path)
        where = _find_lines(text)
        repeated = repeated_in_outermost(text)
        if isinstance(value, dict) and any(isinstance(value.get(key), list) for key in _RESOLVED):
            if repeated:
                raise DataError.of(
                    "P257", f"the list '{repeated[0]}' stands twice", where=source, help="copy or make the file again"
                )
            choose_one(self.metric, ["resolved"], option="metric", what="metric", source=source)
            values = self._read_lists(value, source, where)
            published = self._published(value, values, path)
        elif isinstance(value, dict) and value and all(isinstance(one, dict) for one in value.values()):
            refuse([Problem("P209", f"the instance '{name}' stands twice", source, "keep one of them") for name in repeated])
            values, published = self._read_details(value, source, where), None
        else:
            wanted = f"an object with a list '{_RESOLVED[0]}' or '{_RESOLVED[1]}', or of instances with details"
            raise refuse_shape(source, 1, "the file", wanted, value)
        ids = tuple(sorted(values))
        columns = {self.metric: tuple(values[name] for name in ids), **_groups(ids, options)}
        lines = tuple(where.get(name, 1) for name in ids)
        told = {} if published is None else {"resolved": published}
        return {named: Items(ids, columns, source, lines, numbered=False, published=told)}

    def _read_lists(self, value: Mapping[str, Any], source: str, where: Mapping[str, int]) -> dict[str, str]:
        """Return 1 or 0 for every instance that a list names, and tell how many of them failed and why."""
        named: dict[str, list[str]] = {}
        failed = []
        for key, given in value.items():
            if key not in {*_RESOLVED, *_OPEN, *_FAILED}:
                if isinstance(given, list) and key not in _NO_INSTANCES:
                    self._told.append(f"{source}: the list '{key}' is none that is known, and was left out")
                continue
            names = [name_of({key: name}, key, source, 0) for name in need(value, key, list, source)]
            again = [name for name, times in Counter(names).items() if times > 1]
            if again:
                self._told.append(f"{source}: '{key}' names {len(again)} instances several times, {name_some(again)}: each is one")
            for name in dict.fromkeys(names):
                named.setdefault(name, []).append(key)
            if names and key in _FAILED and key != _UNRESOLVED:
                failed.append(f"{len(set(names))} in {key}")
        problems = [
            Problem(
                "P209",
                f"the instance '{name}' is resolved, and in the list '{against}' of those that are not",
                f"{source}:{where.get(name, 1)}",
                "the file is of two runs: make it again, or take the name out of one of the lists",
            )
            for name, keys in named.items()
            for against in keys
            if against in _FAILED and any(key in _RESOLVED for key in keys)
        ]
        refuse(problems)
        if failed:
            self._told.append(f"{source}: counted as not resolved: {', '.join(failed)}")
        if not any(key in value for key in (_UNRESOLVED, *_OPEN)):
            self._told.append(
                f"{source} names instances that are resolved, and of the others only some: those in no list are missing items; "
                "`gold:`, a file of all instances, and `missing: zero` is how the leaderboard counts"
            )
        return {name: str(int(any(key in _RESOLVED for key in keys))) for name, keys in named.items()}

    def _read_details(self, value: Mapping[str, Any], source: str, where: Mapping[str, int]) -> dict[str, str]:
        """Return one field of the details of each instance."""
        there = [key for details in value.values() for key, one in details.items() if isinstance(one, int | float)]
        key = choose_one(self.metric, there, option="metric", what="metric", source=source)
        found, lacking = {}, []
        for name in value:
            name_of({"instance": name}, "instance", source, where.get(name, 1))
            given = value[name].get(key)
            if given is None:
                lacking.append(name)
            else:
                found[name] = score_of(given, f"'{key}' of '{name}'", f"{source}:{where.get(name, 1)}")
        self.tell_missing(source, lacking, len(value), f"for they have no '{key}'")
        return found

    def _published(self, value: Mapping[str, Any], values: Mapping[str, str], path: Path) -> float | None:
        """Return the rate that a report tells of itself, or that the file by repositories beside it tells of the same instances."""
        counts = [value.get(f"{key}_instances") for key in ("resolved", "total")]
        if all(isinstance(count, int) and 0 <= count <= _MOST for count in counts) and counts[1]:
            if counts[1] != len(values):
                self._told.append(f"{path} is of {counts[1]} instances, and names {len(values)}")
            return float(counts[0] / counts[1])
        beside = find_beside([path.with_name("resolved_by_repo.json")], _add_repositories, self._told)
        if beside is None:
            return None
        resolved, total = beside
        named = sum(one == "1" for one in values.values())
        if resolved != named:
            self._told.append(f"{path} names {named} resolved instances, and resolved_by_repo.json beside it counts {resolved}")
        return resolved / total if resolved <= total == len(values) > 0 else None


def _list_instances(text: str, path: Path) -> Iterator[tuple[int, str]]:
    """Yield line and name of each instance of a file: names or objects in a list, objects one a line, or names one a line."""
    source, begin = str(path), text.lstrip()[:1]
    if begin == "[":
        value, _ = read_json(path)
        where = _find_lines(text)
        for one in value:
            name = name_of({"instance_id": one} if isinstance(one, str) else one, "instance_id", source, 1)
            yield where.get(name, 1), name
    elif begin == "{":
        for line, record in read_json_lines(path)[0]:
            yield line, name_of(record, "instance_id", source, line)
    else:
        for line, name in enumerate(map(str.strip, text.split("\n")), start=1):
            if name:
                yield line, name_of({"instance_id": name}, "instance_id", source, line)


def _add_repositories(path: Path) -> tuple[int, int]:
    """Return how many instances are resolved, of how many, in all repositories."""
    value, _ = read_json(path)
    source = str(path)
    if not isinstance(value, dict):
        raise refuse_shape(source, 1, "the file", "an object", value)
    counts = [(need(one, "resolved", int, source, 1), need(one, "total", int, source, 1)) for one in value.values()]
    return sum(resolved for resolved, _ in counts), sum(total for _, total in counts)


def _groups(ids: Collection[str], options: Mapping[str, Any]) -> dict[str, Sequence[str]]:
    """Return the repository of each instance, as the document it belongs to and as what the study asks for."""
    matches = [_INSTANCE.fullmatch(name) for name in ids]
    repositories = tuple(f"{match[1]}/{match[2]}" if match else "" for match in matches)
    columns: dict[str, Sequence[str]] = {"document": repositories} if all(repositories) else {}
    return columns | {role: repositories for role, key in asked_groups(options).items() if key == _REPOSITORY}


def _find_lines(text: str) -> dict[str, int]:
    """Return the first line on which each string of a text in JSON stands."""
    found: dict[str, int] = {}
    line, counted = 1, 0
    for match in _STRING.finditer(text):
        line += text.count("\n", counted, match.start())
        counted = match.start()
        found.setdefault(match[1], line)
    return found
