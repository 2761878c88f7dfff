"""The numbers as CSV: every row, every digit. This module writes UTF-8 with a head line and empty cells for what is missing."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import xarray as xr

from pipeline.analysis.pairs import list_slices, read_units
from pipeline.report.columns import read_columns

__all__ = ["encode_csv", "make_tables"]

SMALLER = (
    "system_a",
    "system_b",
    "delta",
    "se",
    "discordant",
    "p_one_sided",
    "p_two_sided",
    "p_plus_one",
    "holm",
    "monte_carlo_error",
    "stable",
    "identical",
)
"""What is told of a pair at a smaller test size; Holm's family is the pairs at that size."""


def encode_csv(rows: Iterable[Mapping[str, Any]]) -> bytes:
    """Give rows as CSV; a mapping within a row becomes columns named ``outer.inner``.

    Examples
    --------
    >>> print(encode_csv([{"a": "x, y", "b": {"lo": 1.5, "hi": None}}]).decode(), end="")
    a,b.lo,b.hi
    "x, y",1.5,
    """
    flat = [dict(_flatten(row)) for row in rows]
    columns = list(dict.fromkeys(key for row in flat for key in row))
    # An interval that is missing in one row has inner columns in another: its own column would stay empty everywhere.
    columns = [key for key in columns if not any(other.startswith(key + ".") for other in columns)]
    buffer = io.StringIO()
    writer = csv.DictWriter(buffer, columns, restval="", extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    writer.writerows(flat)
    return buffer.getvalue().encode()


def _flatten(row: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in row.items():
        if isinstance(value, Mapping):
            yield from _flatten(value, f"{prefix}{key}.")
        elif isinstance(value, list):
            yield prefix + key, "; ".join(map(str, value))
        else:
            yield prefix + key, "" if value is None else value


def make_tables(document: Mapping[str, Any], cubes: Mapping[str, xr.Dataset]) -> dict[str, bytes]:
    """Give the files of ``tables/``; ``pair_sizes.csv`` has the pairs at the smaller test sizes."""
    tables: dict[str, Sequence[Mapping[str, Any]]] = {
        "pairs.csv": document["pairs"],
        "pair_sizes.csv": list(_smaller(cubes, document["alpha"])),
        "systems.csv": document["systems"],
        "leaderboard.csv": document["leaderboard"],
        "thresholds.csv": document["thresholds"],
        "size_curve.csv": [_head(curve) | point for curve in document["size_curve"] for point in curve["points"]],
        "size_fits.csv": [_head(curve) | fit for curve in document["size_curve"] for fit in curve["fits"]],
        "calibration.csv": document["calibration"],
        "alignment.csv": document["alignment"],
    }
    return {name: encode_csv(rows) for name, rows in tables.items() if rows}


def _head(curve: Mapping[str, Any]) -> dict[str, Any]:
    return {key: curve[key] for key in ("test_set", "metric", "procedure")}


def _smaller(cubes: Mapping[str, xr.Dataset], alpha: float) -> Iterator[dict[str, Any]]:
    for name, cube in cubes.items():
        for metric, procedure in list_slices(cube):
            for size, units in read_units(cube).items():
                if size == "full":
                    continue
                columns = read_columns(cube, metric=metric, test_size=size, procedure=procedure, alpha=alpha, margin=False)
                head = {"test_set": name, "metric": metric, "test_size": size, "units": units, "procedure": procedure}
                for cells in zip(*(columns[key] for key in SMALLER), strict=True):
                    yield head | dict(zip(SMALLER, cells, strict=True))
