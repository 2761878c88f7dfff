"""The numbers as CSV in UTF-8: every row, every digit, a header, and empty cells for what is missing."""

from __future__ import annotations

import csv
import io
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, fields
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

from pipeline.analyses.pairs import list_slices, read_units
from pipeline.interfaces import Finding
from pipeline.report.adjustment import FamilyOf
from pipeline.report.cube_facts import FULL
from pipeline.report.document import Report, to_document
from pipeline.report.facts import Cells
from pipeline.report.findings import files_of
from pipeline.report.pair_fields import read_columns
from pipeline.report.rows import ClusterRow, RawP
from pipeline.report.values import plain

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["encode_csv", "make_tables"]


def encode_csv(rows: Iterable[Cells]) -> bytes:
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


def _flatten(rows: Sequence[Cells], prefix: str = "") -> Iterator[_Column]:
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


def make_tables(report: Report, cubes: Mapping[str, xr.Dataset], findings: Sequence[Finding] = ()) -> dict[str, bytes]:
    """Return the files of ``tables/``; ``pair_sizes.csv`` has the pairs at the smaller test sizes."""
    document = to_document(report)
    tables: dict[str, Sequence[Cells]] = {
        "pairs.csv": document["pairs"],
        "systems.csv": document["systems"],
        "models.csv": document["models"],
        "model_pairs.csv": document["model_pairs"],
        "leaderboard.csv": document["leaderboard"],
        "clusters.csv": [{**asdict(row), "groups": _join(row)} for row in report.clusters],
        "alignment.csv": document["alignment"],
        "trainings.csv": document["trainings"],
    }
    for finding, names in zip(findings, files_of(findings), strict=True):
        tables |= {names[name]: plain(rows) for name, rows in finding.files.items()}
    files = {name: encode_csv(rows) for name, rows in tables.items() if rows}
    smaller = _smaller(cubes, report.alpha, FamilyOf(report.family.name, report.family.baseline))
    return files | {"pair_sizes.csv": _write(smaller)} if smaller["delta"] else files


def _join(cluster: ClusterRow) -> str:
    """Return a cell for the groups of one definition: systems within a group parted by commas, groups by bars."""
    return " | ".join(", ".join(group) for group in cluster.groups or ())


def _smaller(cubes: Mapping[str, xr.Dataset], alpha: float, family: FamilyOf) -> dict[str, list[Any]]:
    """Return the columns of all pairs at all smaller test sizes; a family is the pairs at that size."""
    table: dict[str, list[Any]] = defaultdict(list)
    for name, cube in cubes.items():
        for metric, procedure in list_slices(cube):
            for size, units in read_units(cube).items():
                if size == FULL:
                    continue
                of = read_columns(cube, metric=metric, test_size=size, procedure=procedure, alpha=alpha, margin=None, family=family)
                pairs = len(of.delta)
                cells: dict[str, list[Any]] = {
                    "test_set": [name] * pairs,
                    "metric": [metric] * pairs,
                    "test_size": [size] * pairs,
                    "units": [units] * pairs,
                    "procedure": [procedure] * pairs,
                    "system_a": of.system_a,
                    "system_b": of.system_b,
                    "delta": of.delta,
                    "se": of.se,
                    "discordant": of.discordant,
                    "p": of.p,
                    "p_adjusted": of.p_adjusted,
                    "adjusted_by": [of.adjusted_by] * pairs,
                    "max_t": of.max_t,
                    "holm": of.holm,
                    "monte_carlo_error": of.monte_carlo_error,
                    "stable": of.stable,
                    "identical": of.identical,
                }
                cells |= {f"p_raw.{field.name}": [getattr(p, field.name) for p in of.p_raw] for field in fields(RawP)}
                for head, values in cells.items():
                    table[head] += values
    return table
