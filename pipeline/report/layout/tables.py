"""The numbers as CSV in UTF-8: every row, every digit, a header, and empty cells for what is missing."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, fields
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

from pipeline.analyses.pairs import list_slices, read_units
from pipeline.interfaces import Finding
from pipeline.interfaces.analyses import FULL
from pipeline.report.document import FullReport, Report, to_document
from pipeline.report.facts import Cells
from pipeline.report.families.adjustment import FamilyOf
from pipeline.report.findings import files_of
from pipeline.report.layout.csv_cells import lines_of
from pipeline.report.layout.files import Files, csv_lines
from pipeline.report.pairs.columns import constant
from pipeline.report.pairs.pair_fields import read_columns
from pipeline.report.pairs.pair_files import pair_files
from pipeline.report.pairs.pair_set import CHUNK
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
    return csv_lines([[column.name, *column.cells] for column in columns])


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


def make_tables(report: Report, cubes: Mapping[str, xr.Dataset], findings: Sequence[Finding] = ()) -> Files:
    """Return the files of ``tables/``; ``pair_sizes.csv`` has the pairs at the smaller test sizes."""
    document = to_document(report, without=("pairs",))
    tables: dict[str, Sequence[Cells]] = {
        "systems.csv": document["systems"],
        "models.csv": document["models"],
        "model_pairs.csv": document["model_pairs"],
        "leaderboard.csv": document["leaderboard"],
        "experiment_wise.csv": document["experiment_wise"],
        "clusters.csv": [{**asdict(row), "groups": _join(row)} for row in report.clusters],
        "alignment.csv": document["alignment"],
        "trainings.csv": document["trainings"],
    }
    for finding, names in zip(findings, files_of(findings), strict=True):
        tables |= {names[name]: plain(rows) for name, rows in finding.files.items()}
    files: dict[str, Callable[[], Iterable[bytes]]]
    if isinstance(report, FullReport):
        files = pair_files(report)
    else:  # a document that was read back has those that it lists
        files = {"pairs.csv": lambda: _encode(to_document(report)["pairs"])} if report.pairs else {}
    files |= {name: partial(_encode, rows) for name, rows in tables.items() if rows}
    if any(cube.sizes["test_size"] > 1 and cube.sizes["pair"] for cube in cubes.values()):
        family = FamilyOf(report.family.name, report.family.baseline)
        files["pair_sizes.csv"] = partial(_smaller, cubes, report.alpha, family)
    return Files(files)


def _encode(rows: Sequence[Cells]) -> Iterator[bytes]:
    yield encode_csv(rows)


def _join(cluster: ClusterRow) -> str:
    """Return a cell for the groups of one definition: systems within a group parted by commas, groups by bars."""
    return " | ".join(", ".join(group) for group in cluster.groups or ())


def _smaller(cubes: Mapping[str, xr.Dataset], alpha: float, family: FamilyOf) -> Iterator[bytes]:
    """Yield all pairs at all smaller test sizes as CSV, a chunk at a time; a family is the pairs at that size."""
    yield csv_lines([[name] for name in SMALLER])
    read = partial(read_columns, alpha=alpha, margin=None, family=family, brief=True)
    for name, cube in cubes.items():
        for metric, procedure in list_slices(cube):
            for size, units in read_units(cube).items():
                if size == FULL:
                    continue
                of = read(cube, metric=metric, test_size=size, procedure=procedure)
                pairs = len(of.against)
                known = {"test_set": name, "metric": metric, "test_size": size, "units": units, "procedure": procedure}
                columns = of.columns | {key: constant(value, pairs) for key, value in known.items()}
                for first in range(0, pairs, CHUNK):
                    at = slice(first, min(first + CHUNK, pairs))
                    yield lines_of([columns[path] for path in SMALLER.values()], at, at.stop - first)
                del of, columns  # before the next size is read: of many pairs there is no room for two


SMALLER = {name: name for name in ("test_set", "metric", "test_size", "units", "procedure", "system_a", "system_b")}
SMALLER |= {name: name for name in ("delta", "se", "discordant", "p", "p_adjusted")}
SMALLER |= {
    "adjusted_by": "adjustment.by",
    "max_t": "adjustment.others.max_t",
    "holm": "adjustment.others.holm",
    **{name: name for name in ("monte_carlo_error", "stable", "identical")},
    **{f"p_raw.{field.name}": f"p_raw.{field.name}" for field in fields(RawP)},
}
"""The columns of ``pair_sizes.csv``, with the paths of what they hold."""
