"""Collect what is known of each system from `systems.table` and from its training, and report what is wrong with it."""

from __future__ import annotations

import csv
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pipeline.errors import DataError, Problem, name_some
from pipeline.inputs import locate_input, read_input, size_text
from pipeline.items.discover import is_excluded
from pipeline.options import meant, suggest
from pipeline.plan.trainings import make_trainings
from pipeline.study.schema import Study

__all__ = ["read_coordinates"]

_MOST_SHOWN = 5
_MOST_BYTES = 64 << 20
"""Bytes of a table of systems: one of a hundred thousand has some megabytes."""


def read_coordinates(
    study: Study,
    base: Path,
    systems: Sequence[str],
    *,
    trained: Collection[str] = (),
    said: Mapping[str, Mapping[str, str]] | None = None,
    left_out: Collection[str] = (),
) -> tuple[dict[str, dict[str, str]], list[str]]:
    """Return the coordinates of each system, and what is odd about the table of them.

    Parameters
    ----------
    study : Study
    base : Path
        The folder that relative paths start from.
    systems : sequence of str
        All systems of all test sets.
    trained : collection of str
        Those that are made by training: they need no row.
    said : mapping, optional
        What files and their paths say of systems, which the table may overrule.
    left_out : collection of str
        Systems that ``systems.exclude`` leaves out.

    Raises
    ------
    DataError
        P212, P233 to P236 where the table is not in order; P232 where systems lack what ``systems.relation`` names.
    """
    known: dict[str, dict[str, str]] = {system: dict((said or {}).get(system, {})) for system in systems}
    told: list[str] = []
    not_compared = set(left_out)
    if study.training is not None:
        for name, task in make_trainings(study, "", {}, {}).items():
            spec: Any = task.spec
            if name in known:
                known[name] |= {
                    "model": spec.model,
                    "sample": spec.method,
                    "fraction": f"{spec.fraction:g}",
                    "replica": str(spec.replica),
                }
    if study.systems.table is not None:
        table = _read_table(locate_input(base, study.systems.table))
        not_compared |= set(table)
        for system, (_, row) in table.items():
            if system in known:
                known[system] |= row
        told = [*_no_systems(study, table, systems), *_no_rows(study, table, [s for s in systems if s not in trained])]
        told += _no_runs(study, table)
    told += _excludes_nothing(study, systems, not_compared)
    if any(spec.predicted and spec.outputs is not None for spec in study.test_sets.values()):
        for name in known:  # whatever a table calls by that name: classes of pairs are said to be made of these
            known[name]["origin"] = "trained" if name in trained else "given"
    relation = study.systems.relation
    if relation is not None:
        lacking = [system for system in systems if not known[system].get(relation)]
        if lacking:
            how_many = (
                f"{len(lacking)} of {len(systems)} systems have no {relation}: {name_some(list(map(repr, lacking)), _MOST_SHOWN)}"
            )
            raise DataError.of(
                "P232",
                f"systems.relation is {relation!r}, but {how_many}",
                where=study.systems.table,
                help=f"give systems.table a column {relation!r}, or drop systems.relation",
                note="; ".join(told) or None,
            )
    return known, told


_Row = tuple[int, dict[str, str]]
"""The line of a row, and what it says."""


def _no_systems(study: Study, table: Mapping[str, _Row], systems: Sequence[str]) -> Iterator[str]:
    """Tell which rows are about no system: what they say is lost."""
    unknown = [name for name in table if name not in set(systems) and not is_excluded(name, study.systems.exclude)]
    for name in unknown[:_MOST_SHOWN]:
        help_ = suggest(name, [system for system in systems if system not in table]) or ""
        close = f"; {help_}" if help_.startswith("did you mean") else ""
        yield f"{study.systems.table}, line {table[name][0]}: {name!r} is not a system{close}"
    if len(unknown) > _MOST_SHOWN:
        yield f"{study.systems.table} has {len(unknown) - _MOST_SHOWN} more rows of no system"


def _excludes_nothing(study: Study, systems: Sequence[str], not_compared: Collection[str]) -> Iterator[str]:
    """Tell which names and patterns of ``systems.exclude`` leave out nothing: what was meant is compared after all."""
    for pattern in study.systems.exclude:
        if not any(is_excluded(name, [pattern]) for name in not_compared):
            close = meant(pattern, [*systems])
            yield f"`systems.exclude`: no system matches {pattern!r}{f'; {close}' if close else ''}"


_RUNS_ARE = ("trainings", "samples", "prompts")


def _no_runs(study: Study, table: Mapping[str, _Row]) -> Iterator[str]:
    """Tell which rows say of runs what nobody knows: they count as trainings."""
    unknown = {row["runs_are"]: line for line, row in table.values() if row.get("runs_are", _RUNS_ARE[0]) not in _RUNS_ARE}
    for said, line in unknown.items():
        known = ", ".join(map(repr, _RUNS_ARE))
        yield f"{study.systems.table}, line {line}: runs_are is {said!r}, and counts as 'trainings'; known are {known}"


def _no_rows(study: Study, table: Mapping[str, _Row], systems: Sequence[str]) -> Iterator[str]:
    lacking = [system for system in systems if system not in table]
    if lacking:
        shown = name_some(list(map(repr, lacking)), _MOST_SHOWN)
        yield f"{study.systems.table} has no row for {len(lacking)} of {len(systems)} systems: {shown}"


def _read_table(path: Path) -> dict[str, _Row]:
    try:
        data = read_input(path, _MOST_BYTES)
        if data is None:
            message = f"systems.table has more than {size_text(_MOST_BYTES)}"
            raise DataError.of("P286", message, where=str(path), help="give it one row for each system")
        text = data.decode("utf-8-sig")
    except OSError as error:
        raise DataError.of(
            "P233", f"systems.table cannot be read: {error.strerror}", where=str(path), help="correct the path"
        ) from error
    except UnicodeDecodeError as error:
        raise DataError.of(
            "P234", f"systems.table is not UTF-8: {error.reason}", where=str(path), help="save it as UTF-8"
        ) from error
    header = text.split("\n", 1)[0]
    rows = csv.reader(text.splitlines(), delimiter="\t" if "\t" in header else ",")
    names = next(rows, [])
    if "system" not in names:
        semicolons = "system" in (name.strip().strip('"') for name in header.split(";")) and ";" in header
        raise DataError.of(
            "P235",
            f"systems.table has no column 'system'{': its columns are separated by semicolons' if semicolons else ''}",
            where=f"{path}:1",
            help="separate them by commas or tabs" if semicolons else "name its first column system",
        )
    table: dict[str, _Row] = {}
    problems = []
    for row in rows:
        if row and len(row) != len(names):
            message = f"the row of systems.table has {len(row)} fields, its header has {len(names)}"
            problems.append(Problem("P212", message, f"{path}:{rows.line_num}", "an empty field stands between two separators"))
        if len(row) != len(names):
            continue
        known = dict(zip(names, row, strict=True))
        system = known.pop("system")
        if system in table:
            message = f"systems.table names {system!r} twice"
            problems.append(Problem("P236", message, f"{path}:{rows.line_num}", "drop one row"))
        table[system] = (rows.line_num, {key: value for key, value in known.items() if value != ""})
    if problems:
        raise DataError(*problems)
    return table
