"""Statistics of items, and the base class of metrics, which score their sums."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from pipeline.dataclass import dataclass
from pipeline.interfaces.items import Items

if TYPE_CHECKING:  # so that a mistyped name is reported without NumPy
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["Metric", "ScoreFunction", "Statistics"]

ScoreFunction: TypeAlias = "Callable[[NDArray[Any]], NDArray[np.float64]]"
"""Summed statistics ``(statistic, ...)`` to scores ``(...)``, float64; pure, called on cache-sized batches."""


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


class Metric(ABC):
    """Turns items into additive integer statistics, and summed statistics into a score.

    A metric of an entry point inherits this class, or has all of its members; it is refused (P308) otherwise. A metric that a study
    names by ``module:name`` may be any object with the members that docs/metrics/your-own.md lists.

    Attributes
    ----------
    name : str
        What studies call it.
    statistics : tuple of str
        Names of what is counted.
    higher_is_better : bool
        Whether a larger score is a better one.
    form : {"ratio", "general"}
        ``ratio`` where the score is ``factor × statistics[0] / statistics[1]``: comparisons of systems with equal denominators are
        then exact in integers. Any other score is ``general``.
    denominators : {"unknown", "own", "shared", "items"}
        Of a ratio, what the second statistic is: ``own`` where each output has one of its own, such as what was found; ``shared``
        where it is the same for all systems, such as what the gold has; ``items`` where besides every item counts 1 of it, and 0 or
        1 of the first. Where it is shared, p-values of resampling have exact laws and can do without replicates.
    follows : mapping of str to str
        By statistic, one that differs from it in nearly all items by something that is the same for all systems:
        ``{"total.2": "hypothesis_length"}``. Resampling then saves the product of the first; where it is not so, nothing is saved,
        and no number depends on it.
    checks_gold : bool
        Whether `prepare` is cheap and refuses a gold that the metric cannot count in: it is called before anything is computed.
    needs_of_outputs, needs_of_gold : tuple of str
        Columns that it cannot do without, of each output and of the gold (``reference`` is any number of references); none where it
        does not say. A study whose files lack one is refused before anything is computed.
    title : str
        What people call it with its options, on pages and in figures: ``chrF++``. Empty where it is called as studies call it.
    """

    name: str
    statistics: tuple[str, ...]
    higher_is_better: bool
    form: Literal["ratio", "general"]
    denominators: Literal["unknown", "own", "shared", "items"] = "unknown"
    follows: Mapping[str, str] = MappingProxyType({})
    checks_gold: bool = False
    needs_of_outputs: tuple[str, ...] = ()
    needs_of_gold: tuple[str, ...] = ()
    title: str = ""

    @property
    @abstractmethod
    def signature(self) -> str:
        """One line that pins the metric: name, options, version of what counts the statistics."""

    @abstractmethod
    def prepare(self, gold: Items | None) -> Any:
        """Process references once; the result is passed to every `extract`."""

    @abstractmethod
    def extract(self, prepared: Any, output: Items) -> Statistics:
        """Count the statistics of each item of one output, aligned with the gold items."""

    @abstractmethod
    def scorer(self, decimals: tuple[int, ...]) -> ScoreFunction:
        """Return the score function for statistics on these decimal lattices."""
