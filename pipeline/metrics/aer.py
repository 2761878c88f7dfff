"""Alignment error rate in percent, from counts of links that are sure, possible, or neither."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from pipeline.compiled.bare import bare_kernel
from pipeline.dataclass import dataclass
from pipeline.errors import DataError, Problem
from pipeline.interfaces import Items, Metric, ScoreFunction, Statistics
from pipeline.metrics._columns import gold_columns, output_column
from pipeline.metrics.kernels import apply_kernel

__all__ = ["Aer"]

_Link = tuple[int, int]
_MOST_SHOWN = 10


@dataclass(frozen=True)
class Gold:
    """The sure and the possible links of each pair (which include the sure ones), and the numbers of words in its sentences.

    ``sizes`` is empty if the sentences are unknown: links beyond them are then simply wrong.
    """

    sure: tuple[frozenset[_Link], ...]
    possible: tuple[frozenset[_Link], ...]
    sizes: tuple[_Link, ...]


class Aer(Metric):
    """Alignment error rate: 100 · (1 − (|A∩S| + |A∩P|) / (|A| + |S|)), in percent; lower is better.

    A are the links of the output, S the sure links of the gold and P the possible ones, which include the sure ones (Och and Ney
    2003, doi:10.1162/089120103321337421). Undefined (nan) if the output has no link and the gold no sure one.
    """

    name = "aer"
    form: Literal["ratio", "general"] = "general"
    needs_of_outputs: tuple[str, ...] = ("link",)
    needs_of_gold: tuple[str, ...] = ("sure", "possible")
    higher_is_better = False
    statistics: tuple[str, ...] = ("found_sure", "found_possible", "found", "sure")

    @property
    def signature(self) -> str:
        """The name: there are no options."""
        return "aer|possible:with-sure|unit:percent"

    def prepare(self, gold: Items | None) -> Gold:
        """Make sets of the gold links."""
        sure, possible = (gold_columns(self.name, gold, name)[0] for name in ("sure", "possible"))
        assert gold is not None
        sides = [gold.columns[name] for name in ("source", "target") if name in gold.columns]
        certain: tuple[frozenset[Any], ...] = tuple(map(frozenset, sure))
        every: tuple[frozenset[Any], ...] = tuple(one | frozenset(other) for one, other in zip(certain, possible, strict=True))
        sizes = tuple((len(one), len(other)) for one, other in zip(*sides, strict=True)) if len(sides) == 2 else ()
        return Gold(certain, every, sizes)

    def extract(self, prepared: Gold, output: Items) -> Statistics:
        """Count the links of each pair; a missing pair has none.

        Raises
        ------
        DataError
            P254, if a link is beyond the words of its sentences.
        """
        found: Sequence[frozenset[Any]] = [frozenset(links) for links in output_column(self.name, output, "link")]
        if prepared.sizes:
            _refuse_strays(prepared, found, output)
        rows = [
            (len(links & sure), len(links & possible), len(links), len(sure))
            for links, sure, possible in zip(found, prepared.sure, prepared.possible, strict=True)
        ]
        return Statistics(np.array(rows, dtype=np.int64).reshape(-1, 4), (0, 0, 0, 0))

    def scorer(self, decimals: tuple[int, ...]) -> ScoreFunction:
        """Return the rate in percent of summed counts."""
        if any(decimals):
            raise ValueError(f"aer has counts, not numbers with {max(decimals)} decimals")
        return partial(apply_kernel, _aer_kernel, n_statistics=4)


@bare_kernel(error_model="numpy")
def _aer_kernel(statistics: NDArray[Any], out: NDArray[np.float64]) -> None:
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            # Sums of counts are exact: the division is all that rounds, where 1 − ratio would round twice.
            right = np.float64(statistics[0, i, j]) + np.float64(statistics[1, i, j])
            every = np.float64(statistics[2, i, j]) + np.float64(statistics[3, i, j])
            out[i, j] = np.nan if every == 0.0 else 100.0 * ((every - right) / every)


def _refuse_strays(prepared: Gold, found: Sequence[frozenset[_Link]], output: Items) -> None:
    """Refuse links of words that are not there: most often the file counts words from another number."""
    problems = []
    for k, (links, possible, (rows, columns)) in enumerate(zip(found, prepared.possible, prepared.sizes, strict=True)):
        beyond = [(i, j) for i, j in links - possible if not (0 <= i < rows and 0 <= j < columns)]
        if beyond:
            i, j = min(beyond)
            message = f"the link {i}-{j} of item '{output.ids[k]}', counted from 0, is beyond its {rows} and {columns} words"
            problems.append(Problem("P254", message, f"{output.source}:{output.lines[k]}", _help(prepared, found)))
            if len(problems) == _MOST_SHOWN:
                break
    if problems:
        raise DataError(*problems)


def _help(prepared: Gold, found: Sequence[frozenset[_Link]]) -> str:
    fits = all(
        1 <= i <= rows and 1 <= j <= columns for links, (rows, columns) in zip(found, prepared.sizes, strict=True) for i, j in links
    )
    if fits:
        return 'all links of the file fit if the first word has the number 1: `columns: {base: "1"}`'
    return "check that the links are of this bitext, and which word has the number 0 or 1"
