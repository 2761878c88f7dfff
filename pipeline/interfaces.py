"""What a plugin meets: the values that cross the borders and the protocols of each family.

This module imports nothing of the package. Readers, trainers, metrics and analyses import it, and never one another.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import xarray as xr

__all__ = [
    "Analysis",
    "Column",
    "Finding",
    "Items",
    "Metric",
    "Reader",
    "ScoreFunction",
    "ScoredStatistics",
    "Statistics",
    "Table",
    "TakesStatistics",
    "Trainer",
    "TrainingItems",
]

ScoreFunction = Callable[[NDArray[Any]], NDArray[np.float64]]
"""Summed statistics ``(statistic, ...)`` to scores ``(...)``, float64; pure, called on cache-sized batches."""


@dataclass(frozen=True)
class Items:
    """The items of one file in file order: identifiers and named columns of values.

    Parameters
    ----------
    ids : tuple of str
        One identifier an item, in file order. Files without identifiers number their items from ``"1"``.
    columns : mapping of str to sequence
        Values by name, one an item: ``text`` (outputs), ``reference.0`` … (references), ``label``, or the numeric
        columns of a score table as the *strings* of the file (so that decimals are not lost before they are counted).
    source : str
        The file, as the user named it.
    lines : tuple of int
        1-based line of each item, for messages.
    numbered : bool
        True where the identifiers are line numbers.
    """

    ids: tuple[str, ...]
    columns: Mapping[str, Sequence[Any]]
    source: str
    lines: tuple[int, ...]
    numbered: bool = True

    def __len__(self) -> int:
        return len(self.ids)


@dataclass(frozen=True)
class Statistics:
    """Additive integer statistics of the items of one output.

    Parameters
    ----------
    values : (item, statistic) int64
        The statistic in units of ``10 ** -decimals``.
    decimals : tuple of int
        Decimal places of each statistic; 0 for counts.
    rounding_error : float
        The largest absolute error made when a float was put on its lattice; 0.0 for counts.
    """

    values: NDArray[np.int64]
    decimals: tuple[int, ...]
    rounding_error: float = 0.0


class Reader(Protocol):
    """Reads one family of files into `Items`, and writes outputs of trainings in the same form.

    ``targets`` names the columns of the gold that systems predict: a trainer that predicts a test set is not shown them.
    """

    name: ClassVar[str]
    targets: ClassVar[tuple[str, ...]]

    def read_gold(self, paths: Sequence[Path], options: Mapping[str, Any]) -> Items | None:
        """Give references or gold values, or None where the outputs need none."""
        ...

    def read_outputs(self, path: Path, *, system: str | None, options: Mapping[str, Any]) -> dict[str, Items]:
        """Give the outputs in a file by system name; ``system`` names a file that holds one system."""
        ...

    def write(self, path: Path, columns: Mapping[str, Sequence[Any]], ids: Sequence[str]) -> None:
        """Write items as a file of this format, which `read_outputs` and `read_gold` read; a target that is not there is blank."""
        ...


class Metric(Protocol):
    """Turns items into additive integer statistics, and summed statistics into a score.

    ``form`` is ``ratio`` where the score is ``factor × statistics[0] / statistics[1]``: comparisons of systems with equal
    denominators are then exact in integers. Any other score is ``general``.

    A metric may also have ``follows``, a mapping of statistic to statistic: ``{"total.2": "hypothesis_length"}`` says that
    the two differ in nearly all items by something that is the same for all systems. Resampling then saves the product of the
    first; where it is not so, nothing is saved, and no number depends on it.
    """

    name: ClassVar[str]
    statistics: tuple[str, ...]
    higher_is_better: bool
    form: Literal["ratio", "general"]

    @property
    def signature(self) -> str:
        """One line that pins the metric: name, options, version of what counts the statistics."""
        ...

    def prepare(self, gold: Items | None) -> Any:
        """Process references once; the result is passed to every `extract`."""
        ...

    def extract(self, prepared: Any, output: Items) -> Statistics:
        """Count the statistics of each item of one output, aligned with the gold items."""
        ...

    def scorer(self, decimals: tuple[int, ...]) -> ScoreFunction:
        """Give the score function for statistics on these decimal lattices."""
        ...


@dataclass(frozen=True)
class TrainingItems:
    """Items a trainer learns from, or a test set it is to predict; then what it is to predict is not among the columns.

    Parameters
    ----------
    ids : tuple of str
        Identifiers, as in the test set's `Items`.
    columns : mapping of str to sequence
        Values by name, one an item, as the reader of the format gives them: ``label``, ``text``; of sentences, one tuple with an
        entry a token: ``word``, ``tag``, ``chunk``, ``head``, ``relation``.
    features : (item, …) ndarray, optional
        One row an item, for data sets that have them.
    writer : callable ``(path, columns, ids)``, optional
        Writes items as a file of the format they were read in, for a trainer that hands files to a program outside. A target
        that is not there is blank.
    reads : callable ``(path) -> columns``, optional
        Reads the columns of such a file, as that program wrote it, in file order.
    """

    ids: tuple[str, ...]
    columns: Mapping[str, Sequence[Any]]
    features: NDArray[Any] | None = None
    writer: Callable[[Path, Mapping[str, Sequence[Any]], Sequence[str]], None] | None = field(
        default=None, compare=False, repr=False
    )
    reads: Callable[[Path], Mapping[str, Sequence[Any]]] | None = field(default=None, compare=False, repr=False)

    def __len__(self) -> int:
        return len(self.ids)


class Trainer(Protocol):
    """Fits a model to sampled training items and predicts test sets.

    ``takes`` names the columns that it fits to, ``gives`` those that it predicts; a study that lacks one is refused before
    anything is trained. A trainer of scikit-learn takes ``label`` and features or ``text``. ``same_bits`` says whether the same
    sample and seed give the same outputs, bit for bit, on whatever machine of the same kind.
    """

    name: ClassVar[str]
    takes: tuple[str, ...]
    gives: tuple[str, ...]
    same_bits: bool

    @property
    def signature(self) -> str:
        """One line that pins what a model depends on besides its options: the name, and versions."""
        ...

    def fit(self, items: TrainingItems, sample: NDArray[np.int64], *, seed: int, workdir: Path) -> Any:
        """Fit to ``items`` drawn at the positions ``sample`` (with repetitions) and return the model.

        A model may have ``notes``, a tuple of sentences for the report: a solver that did not converge, a class too rare.
        """
        ...

    def predict(self, model: Any, items: TrainingItems) -> Mapping[str, Sequence[Any]]:
        """Predict the columns it gives, one value an item."""
        ...


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
