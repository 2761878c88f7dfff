"""Questions and their answers: findings with everything that a report shows of them, and the protocol of analyses."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Protocol, runtime_checkable

from pipeline.dataclass import dataclass, field
from pipeline.interfaces.figures import Figure, Mark
from pipeline.interfaces.metrics import ScoreFunction

if TYPE_CHECKING:
    import xarray as xr

__all__ = [
    "FULL",
    "Analysis",
    "Check",
    "Column",
    "Finding",
    "Headline",
    "ScoredStatistics",
    "Section",
    "Table",
    "TakesStatistics",
]

FULL = "full"
"""The label of a cube's ``test_size`` at which the whole test set counts; labels of smaller sizes are their numbers of units."""


@dataclass(frozen=True)
class Column:
    """A column of a `Table`.

    Parameters
    ----------
    key : str
        Of the rows.
    head : str
    form : str
        How its cells are printed; an interval, of scores, of p or of shares, is a mapping with ``lo`` and ``hi``; ``written`` is
        text that holds numbers and is aligned as they are. None is printed as a dash.
    later : bool
        Whether a page shows the column only once it is asked for all columns.
    """

    key: str
    head: str
    form: Literal["text", "written", "count", "score", "p", "number", "share", "interval", "p-interval", "share-interval"] = "text"
    later: bool = False


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
    section : str
        Where it stands: a section of the finding or a chapter of the report.
    rows : tuple of mapping, optional
        The rows that are shown, where they are not those of the finding.
    """

    title: str
    where: Mapping[str, Any]
    columns: tuple[Column, ...]
    caption: str = ""
    section: str = "findings"
    rows: tuple[Mapping[str, Any], ...] | None = None


@dataclass(frozen=True)
class Section:
    """A section of the report that belongs to an analysis.

    Parameters
    ----------
    key : str
        Small letters, digits and hyphens; the anchor on the page.
    title : str
    after : str
        The chapter of the report behind which it stands: ``leaderboard``, ``figures``, ``findings``, ``trainings`` or ``pairs``.
        Sections behind the same chapter stand in the study's order of analyses.
    """

    key: str
    title: str
    after: str = "figures"


@dataclass(frozen=True)
class Headline:
    """A sentence that belongs to a verdict, or stands before those of all test sets.

    Parameters
    ----------
    where : mapping
        ``test_set``, ``metric`` and ``procedure`` of the verdict; without ``test_set`` it is about all of them together.
    sentence : str
    """

    where: Mapping[str, str]
    sentence: str


@dataclass(frozen=True)
class Check:
    """A line of "How far to trust it".

    Parameters
    ----------
    check : str
        What was checked.
    status : {"ok", "check", "not checked"}
    detail : str
    """

    check: str
    status: Literal["ok", "check", "not checked"]
    detail: str


@dataclass(frozen=True)
class Finding:
    """What an analysis found: rows of plain values, ready for JSON, and all that a report shows of them.

    Parameters
    ----------
    analysis : str
        Name of the analysis.
    rows : tuple of mapping
        One mapping a row; missing numbers are None and come with a ``reason``.
    notes : tuple of str
        Sentences that must stand beside the numbers.
    details : mapping
        What is known beyond the rows, ready for JSON.
    tables, figures : tuple of Table, tuple of Figure
        What pages show, each in a section of this finding or in a chapter of the report.
    sections : tuple of Section
        Those that this finding opens; without one its tables and figures stand among the report's findings.
    csv : mapping of str to sequence of mapping, optional
        Rows by the name of their file in ``tables/``, without ``.csv``; one file of all rows, named after the analysis, where
        nothing is said.
    interval_of : mapping of str to str
        By the name of a file, the column whose interval its plain ``interval`` is. That of another column ``x`` is ``x_interval``.
    headlines : tuple of Headline
        Sentences for the verdicts.
    marks : tuple of Mark
        Lines and bands for the scatters of the report.
    checks : tuple of Check
        Lines for "How far to trust it".
    """

    analysis: str
    rows: tuple[Mapping[str, Any], ...]
    notes: tuple[str, ...] = ()
    details: Mapping[str, Any] = field(default_factory=dict)
    tables: tuple[Table, ...] = ()
    figures: tuple[Figure, ...] = ()
    sections: tuple[Section, ...] = ()
    csv: Mapping[str, Sequence[Mapping[str, Any]]] | None = None
    interval_of: Mapping[str, str] = field(default_factory=dict)
    headlines: tuple[Headline, ...] = ()
    marks: tuple[Mark, ...] = ()
    checks: tuple[Check, ...] = ()

    @property
    def files(self) -> Mapping[str, Sequence[Mapping[str, Any]]]:
        """The rows of each CSV file by its name."""
        return {self.analysis.replace("-", "_"): self.rows} if self.csv is None else self.csv


class Analysis(ABC):
    """A question asked of the cubes; pure.

    An analysis of an entry point inherits this class, or has all of its members that have no default; it is refused (P308)
    otherwise. A study that names no analysis is asked those of this package.

    Attributes
    ----------
    name : str
        As studies have it: that of the entry point.
    of_single_runs : bool
        Whether it compares systems one by one, also where they are runs of models: the report then says that it is not about these.
    """

    name: ClassVar[str]
    of_single_runs: ClassVar[bool] = False

    @abstractmethod
    def find(self, cubes: Mapping[str, xr.Dataset], options: Mapping[str, Any]) -> Finding:
        """Answer from the cubes, by test set name."""

    def check(self, options: Mapping[str, Any]) -> None:  # noqa: B027  # whatever it is given is taken
        """Raise `StudyError` for options that are unknown or of no use, before anything is computed."""

    def named_test_sets(self, options: Mapping[str, Any]) -> Iterable[str]:
        """Return the test sets that options name, which must be there."""
        return ()


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
        """Return the analysis that has them, by test set and metric; `find` is called on it."""
        ...
