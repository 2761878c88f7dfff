"""Questions and their answers. This module has findings, their tables, and the protocol of analyses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Protocol, runtime_checkable

from pipeline.interfaces.metrics import ScoreFunction

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["Analysis", "Column", "Finding", "ScoredStatistics", "Table", "TakesStatistics"]


@dataclass(frozen=True)
class Column:
    """A column of a `Table`.

    Parameters
    ----------
    key : str
        Of the rows.
    head : str
    form : {"text", "count", "score", "p", "interval", "p-interval", "number"}
        How its cells are printed; an interval, of scores or of p, is a mapping with ``lo`` and ``hi``. None is printed as a dash.
    """

    key: str
    head: str
    form: Literal["text", "count", "score", "p", "interval", "p-interval", "number"] = "text"


@dataclass(frozen=True)
class Table:
    """How rows of a finding are shown on a page.

    Parameters
    ----------
    title : str
    where : mapping
        Values of the rows that are shown; where ``metric`` is among them, scores have the digits of that metric.
    columns : tuple of Column
    caption : str
        What must stand beside it.
    """

    title: str
    where: Mapping[str, Any]
    columns: tuple[Column, ...]
    caption: str = ""


@dataclass(frozen=True)
class Finding:
    """What an analysis found: rows of plain values, ready for JSON, and the words that belong to them.

    Parameters
    ----------
    analysis : str
        Name of the analysis.
    rows : tuple of mapping
        One mapping a row; missing numbers are None and come with a ``reason``.
    notes : tuple of str
        Sentences that must stand beside the numbers.
    details : mapping
        Anything a figure needs beyond the rows.
    tables : tuple of Table
        The rows as a report shows them, where it has no section made for this analysis.
    """

    analysis: str
    rows: tuple[Mapping[str, Any], ...]
    notes: tuple[str, ...] = ()
    details: Mapping[str, Any] = field(default_factory=dict)
    tables: tuple[Table, ...] = ()


class Analysis(Protocol):
    """A question asked of the cubes; pure."""

    name: ClassVar[str]

    def find(self, cubes: Mapping[str, xr.Dataset], options: Mapping[str, Any]) -> Finding:
        """Answer from the cubes, by test set name."""
        ...


@dataclass(frozen=True, eq=False)
class ScoredStatistics:
    """The statistics of one metric on one test set, and what scores their sums.

    Parameters
    ----------
    data : xarray.Dataset
        ``statistics`` (system, item, statistic) int64, read when it is used, with the coordinates ``system``, ``item``,
        ``statistic`` and ``unit`` (item): the position of the item's unit, by which statistics are summed before anything is drawn.
    score : ScoreFunction
        For statistics on the decimal lattices of ``data``.
    form, higher_is_better
        As of the `Metric`.
    """

    data: xr.Dataset
    score: ScoreFunction
    form: Literal["ratio", "general"]
    higher_is_better: bool


@runtime_checkable
class TakesStatistics(Protocol):
    """An analysis that asks for more than the cubes: the statistics of items, and what scores them."""

    def with_statistics(self, statistics: Mapping[str, Mapping[str, ScoredStatistics]]) -> Analysis:
        """Give the analysis that has them, by test set and metric; `find` is called on it."""
        ...
