"""What the tables, figures and sentences of several analyses have in common: digits, titles, and rows by their values."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from pipeline.interfaces.analyses import FULL
from pipeline.interfaces.figures import PALETTE
from pipeline.interfaces.wording import name_metric

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["baseline_of", "decimals_of", "in_parts", "name_procedure", "say_intervals", "select", "title_of"]

T = TypeVar("T")


def select(rows: Sequence[Mapping[str, Any]], **where: Any) -> list[Mapping[str, Any]]:
    """Return the rows with these values."""
    return [row for row in rows if where.items() <= row.items()]


def title_of(where: Mapping[str, Any]) -> str:
    """Return the heading of a table of one test set, metric and procedure."""
    return f"{where['test_set']} · {name_metric(where['metric'])} · {where['procedure']}"


_OF_ONE, _OF_POINTS = (3, 4, 5), (2, 3, 3)
"""Decimals of scores that do not pass 1, and of others, such as points of a hundred: at least, of unknown precision, at most."""


def decimals_of(cubes: Mapping[str, xr.Dataset], metric: str) -> int:
    """Return the decimals to print for a metric: as many as its standard errors deserve, within what readers are used to.

    What is printed says two digits of a standard error: that of half of the systems' scores, on the test set that tells most.
    BLEU of 1000 segments, 35.84 ± 0.79, has two decimals, and an accuracy of 200 questions, 0.805 ± 0.028, three.
    """
    there = [cube for cube in cubes.values() if metric in cube["metric"].values.tolist()]
    known = [np.abs(values) for values in _of_systems(there, "observed_score", metric)]
    in_points = not known or max(float(values.max()) for values in known) > 1.5
    least, unknown, most = _OF_POINTS if in_points else _OF_ONE
    errors = [values[values > 0] for values in _of_systems(there, "score_se", metric)]  # none of a system that is always right
    medians = [float(np.median(values)) for values in errors if len(values)]
    return min(most, max(least, 1 - math.floor(math.log10(min(medians))))) if medians else unknown


def _of_systems(cubes: Sequence[xr.Dataset], name: str, metric: str) -> list[NDArray[np.float64]]:
    """Return what is known of the systems of each cube, at full size, where anything is."""
    found = [cube[name].sel(metric=metric, test_size=FULL).values for cube in cubes if name in cube.variables]
    known = [values[np.isfinite(values)] for values in found]
    return [values for values in known if len(values)]


def name_procedure(cubes: Mapping[str, xr.Dataset], procedure: str) -> str:
    """Return what a title must add to say whose numbers are shown: nothing where there is one procedure."""
    several = {str(name) for cube in cubes.values() for name in cube["procedure"].values.tolist()}
    return f", {procedure}" if len(several) > 1 else ""


def baseline_of(cube: xr.Dataset) -> str | None:
    """Return the system with which alone the others are compared, if there is one.

    `pipeline report --set` may ask for another family than the one that a cube was adjusted for.
    """
    return cube.attrs.get("asked_baseline", cube.attrs.get("baseline")) or None


def say_intervals(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return what the intervals of rows do not cover, each once."""
    told = dict.fromkeys(row["interval_note"] for row in rows if row["interval"] and row["interval_note"])
    return [f"Intervals: {note}." for note in told]


def in_parts(title: str, drawn: Sequence[T]) -> Iterator[tuple[str, Sequence[T]]]:
    """Yield figures of as many things as there are colours; where there are several figures, their titles are numbered.

    Examples
    --------
    >>> [(title, len(some)) for title, some in in_parts("Gains", range(8))]
    [('Gains (1 of 2)', 6), ('Gains (2 of 2)', 2)]
    """
    parts = [drawn[at : at + len(PALETTE)] for at in range(0, len(drawn), len(PALETTE))]
    for number, some in enumerate(parts, start=1):
        yield (title if len(parts) == 1 else f"{title} ({number} of {len(parts)})"), some
