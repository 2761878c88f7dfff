"""The numbers as CSV: every row, every digit. This module writes UTF-8 with a head line and empty cells for what is missing."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple

import xarray as xr

from pipeline.analyses.pairs import list_slices, read_units
from pipeline.inference.p_values import CONVENTIONS
from pipeline.interfaces import Finding
from pipeline.report.adjustment import FamilyOf
from pipeline.report.findings import files_of
from pipeline.report.pair_fields import read_columns
from pipeline.report.values import plain

__all__ = ["encode_csv", "make_tables"]

SMALLER = (
    "system_a",
    "system_b",
    "delta",
    "se",
    "discordant",
    "p",
    "p_adjusted",
    "adjusted_by",
    "max_t",
    "holm",
    "monte_carlo_error",
    "stable",
    "identical",
)
"""What is reported of a pair at a smaller test size; a family is the pairs at that size."""


def encode_csv(rows: Iterable[Mapping[str, Any]]) -> bytes:
    """Return rows as CSV; a mapping within a row becomes columns named ``outer.inner``.

    Examples
    --------
    >>> print(encode_csv([{"a": "x, y", "b": {"lo": 1.5, "hi": None}}]).decode(), end="")
    a,b.lo,b.hi
    "x, y",1.5,
    """
    # In the order in which rows bring them: an interval that the first row lacks has its columns at the end.
    columns = sorted(_flatten(list(rows)), key=lambda column: column.first)
    return _write({column.name: column.cells for column in columns})


def _write(columns: Mapping[str, Sequence[Any]]) -> bytes:
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))
    return buffer.getvalue().encode()


class _Column(NamedTuple):
    name: str
    first: int  # the first row that has it
    cells: Sequence[Any]


def _flatten(rows: Sequence[Mapping[str, Any]], prefix: str = "") -> Iterator[_Column]:
    """Yield the columns of rows, with None where a row has no such key."""
    for key in dict.fromkeys(chain.from_iterable(rows)):
        cells = [row.get(key) for row in rows]
        kinds = set(map(type, cells))
        if any(issubclass(kind, Mapping) for kind in kinds):
            # A mapping that a row lacks is None there: it has no column of its own.
            yield from _flatten([cell if isinstance(cell, Mapping) else {} for cell in cells], f"{prefix}{key}.")
            continue
        if list in kinds:
            cells = ["; ".join(map(str, cell)) if isinstance(cell, list) else cell for cell in cells]
        yield _Column(prefix + key, next(position for position, row in enumerate(rows) if key in row), cells)


def make_tables(document: Mapping[str, Any], cubes: Mapping[str, xr.Dataset], findings: Sequence[Finding] = ()) -> dict[str, bytes]:
    """Return the files of ``tables/``; ``pair_sizes.csv`` has the pairs at the smaller test sizes."""
    tables: dict[str, Sequence[Mapping[str, Any]]] = {
        "pairs.csv": document["pairs"],
        "systems.csv": document["systems"],
        "leaderboard.csv": document["leaderboard"],
        "clusters.csv": [_join(row) for row in document["clusters"]],
        "alignment.csv": document["alignment"],
        "trainings.csv": document["trainings"],
    }
    for finding, names in zip(findings, files_of(findings), strict=True):
        tables |= {names[name]: plain(rows) for name, rows in finding.files.items()}
    files = {name: encode_csv(rows) for name, rows in tables.items() if rows}
    smaller = _smaller(cubes, document["alpha"], FamilyOf(**document["family"]))
    return files | {"pair_sizes.csv": _write(smaller)} if smaller["delta"] else files


def _join(cluster: Mapping[str, Any]) -> dict[str, Any]:
    """Return a cell for the groups of one definition: systems within a group parted by commas, groups by bars."""
    return {**cluster, "groups": " | ".join(", ".join(group) for group in cluster["groups"] or ())}


def _smaller(cubes: Mapping[str, xr.Dataset], alpha: float, family: FamilyOf) -> dict[str, list[Any]]:
    """Return the columns of all pairs at all smaller test sizes."""
    raw = {name: f"p_raw.{name.replace('-', '_')}" for name in CONVENTIONS}
    heads = ("test_set", "metric", "test_size", "units", "procedure", *SMALLER, *raw.values())
    table: dict[str, list[Any]] = {key: [] for key in heads}
    for name, cube in cubes.items():
        for metric, procedure in list_slices(cube):
            for size, units in read_units(cube).items():
                if size == "full":
                    continue
                where: dict[str, Any] = {"metric": metric, "test_size": size, "procedure": procedure}
                columns = read_columns(cube, **where, alpha=alpha, margin=False, family=family)
                head = {"test_set": name, "metric": metric, "test_size": size, "units": units, "procedure": procedure}
                for key, value in head.items():
                    table[key] += [value] * len(columns["delta"])
                for key in SMALLER:
                    table[key] += columns[key]
                for convention, key in raw.items():
                    table[key] += [p[convention.replace("-", "_")] for p in columns["p_raw"]]
    return table
