"""A metric of the user's own code: what it must define, and the checks while it counts and scores."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from math import inf
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from pipeline.errors import PipelineError, PluginError, Problem, TaskError
from pipeline.interfaces import Items, Metric, ScoreFunction, Statistics

__all__ = ["OwnMetric"]

_METHODS = ("prepare", "extract", "scorer")
_MOST_DECIMALS = 9


class OwnMetric(Metric):
    """An object that is a `Metric`, under the name that the study gives it.

    Its counts are checked, and its score function gets sums in float64, whatever type the resampling added them in: 100 × a float32
    would be a float32.

    Parameters
    ----------
    name : str
        ``module:name``, as the study has it.
    made : object
        The object made by that class or function. It may lack ``name`` and ``signature``, and may give rows of whole numbers
        in place of `Statistics`.
    code : str
        The digest of its code, which goes into the signature.

    Raises
    ------
    PluginError
        P308, with everything that it lacks.
    """

    def __init__(self, name: str, made: Any, code: str) -> None:
        lacking = list(_lacking(made))
        if lacking:
            help_ = "docs/metrics/your-own.md has an example to start from"
            raise PluginError(*(Problem("P308", f"'{name}' is not a metric: {what}", None, help_) for what in lacking))
        self._made = made
        self.name = name
        self.code = code
        self.statistics: tuple[str, ...] = tuple(made.statistics)
        self.higher_is_better: bool = made.higher_is_better
        self.form: Literal["ratio", "general"] = made.form
        self.denominators: Literal["unknown", "own", "shared", "items"] = getattr(made, "denominators", "unknown")
        self.follows: Mapping[str, str] = dict(getattr(made, "follows", {}))
        self.checks_gold = bool(getattr(made, "checks_gold", False))
        self.needs_of_outputs: tuple[str, ...] = tuple(getattr(made, "needs_of_outputs", ()))
        self.needs_of_gold: tuple[str, ...] = tuple(getattr(made, "needs_of_gold", ()))
        self.title = getattr(made, "title", "")
        own = " ".join(str(getattr(made, "signature", "")).split())
        self._signature = "|".join(part for part in (name, f"code:{code}", own) if part)

    @property
    def signature(self) -> str:
        """The name, the digest of the code and the object's own signature."""
        return self._signature

    def prepare(self, gold: Items | None) -> Any:
        """Prepare as the object does."""
        with self._named("prepare", gold):
            return self._made.prepare(gold)

    def extract(self, prepared: Any, output: Items) -> Statistics:
        """Count as the object does, and check the counts against the items."""
        with self._named("extract", output):
            found = self._made.extract(prepared, output)
            wrong, statistics = _as_statistics(found, len(output), len(self.statistics))
        if wrong:
            raise TaskError.of("P406", f"the metric '{self.name}' counts what it should not: {wrong}", where=output.source)
        return statistics

    def scorer(self, decimals: tuple[int, ...]) -> ScoreFunction:
        """Return the object's score function, for sums of any type."""
        with self._named("scorer"):
            score: Callable[[NDArray[np.float64]], Any] = self._made.scorer(decimals)

        def score_sums(sums: NDArray[Any]) -> NDArray[np.float64]:
            exact = np.ascontiguousarray(sums, dtype=np.float64)
            # A score of sums of 0 is undefined, which is no news.
            with self._named("scorer"), np.errstate(all="ignore"):
                scores = np.asarray(score(exact), dtype=np.float64)
            if scores.shape != exact.shape[1:]:
                message = f"the metric '{self.name}' gives scores of shape {scores.shape} for sums of shape {exact.shape}"
                raise TaskError.of("P406", message, help="one score for each column of sums; the first axis is the statistic's")
            return scores

        if self.form == "ratio":
            self._refuse_other_forms(score_sums)
        return score_sums

    def _refuse_other_forms(self, score: ScoreFunction) -> None:
        """Refuse a score other than a positive constant times the first sum over the second: tests of ratios look at sums alone."""
        first, *others = score(np.array([[4.0, 8.0, 12.0, 0.0, 4.0], [8.0, 8.0, 24.0, 8.0, 4.0]])).tolist()
        wanted = [2 * first, first, 0.0, 2 * first]
        if not (0 < first < inf and np.allclose(others, wanted, rtol=1e-9, atol=1e-9 * first)):
            raise TaskError.of(
                "P406",
                f"the form of the metric '{self.name}' is 'ratio', and its score is not a positive constant times the sum of "
                f"'{self.statistics[0]}' over that of '{self.statistics[1]}'",
                help="its `form` is 'general'; an error rate is a ratio with `higher_is_better = False`",
                note=f"it is {first:g} of 4 and 8, {others[0]:g} of 8 and 8, {others[1]:g} of 12 and 24, {others[2]:g} of 0 and 8",
            )

    @contextmanager
    def _named(self, method: str, items: Items | None = None) -> Iterator[None]:
        """Turn whatever the object raises into the failure of a task that names it, and the columns it was given."""
        try:
            yield
        except (PipelineError, MemoryError):
            raise
        except Exception as error:  # foreign code runs here: whatever it raises, the metric cannot be had of this output
            raise TaskError.of(
                "P406",
                f"the metric '{self.name}' failed in {method}: {type(error).__name__}: {error}",
                where=None if items is None else items.source,
                help="`pipeline logs` has the traceback; the rest of the study goes on without it",
                note=None if items is None else f"it was given the columns {', '.join(map(repr, items.columns))}",
            ) from error


def _lacking(made: Any) -> Iterator[str]:
    """Say which parts of a metric an object lacks, or defines in another way."""
    names = getattr(made, "statistics", None)
    if not isinstance(names, (tuple, list)) or not names or not all(isinstance(name, str) for name in names):
        yield "it has no `statistics`, a tuple of names"
    if not isinstance(getattr(made, "higher_is_better", None), bool):
        yield "it has no `higher_is_better` that is true or false"
    form = getattr(made, "form", None)
    if form not in ("ratio", "general"):
        yield "it has no `form`, which is 'ratio' or 'general'"
    elif form == "ratio" and isinstance(names, (tuple, list)) and len(names) != 2:
        yield f"its `form` is 'ratio', and it has {len(names)} statistics in place of two"
    if getattr(made, "denominators", "unknown") not in ("unknown", "own", "shared", "items"):
        yield "its `denominators` are none of 'unknown', 'own', 'shared' and 'items'"
    follows = getattr(made, "follows", {})
    if not isinstance(follows, Mapping) or not {*follows, *follows.values()} <= set(names or ()):
        yield "its `follows` is not a mapping of statistic to statistic"
    for member in ("needs_of_outputs", "needs_of_gold"):
        columns = getattr(made, member, ())
        if not isinstance(columns, (tuple, list)) or not all(isinstance(name, str) for name in columns):
            yield f"its `{member}` are not a tuple of names"
    for method in _METHODS:
        if not callable(getattr(made, method, None)):
            yield f"it has no method `{method}`"


def _as_statistics(found: Any, items: int, statistics: int) -> tuple[str, Statistics]:
    """Return what is wrong with statistics, or nothing; and the statistics, where plain rows are counts."""
    given = found if isinstance(found, Statistics) else Statistics(np.asarray(found), (0,) * statistics)
    values = np.asarray(given.values)
    decimals = tuple(int(places) for places in given.decimals)
    wrong = ""
    if values.shape != (items, statistics):
        wrong = f"statistics of shape {values.shape} for {items} items and {statistics} statistics"
    elif values.dtype.kind not in "iub":
        wrong = f"statistics of type {values.dtype}, which are not whole numbers"
    elif len(decimals) != statistics or not all(0 <= places <= _MOST_DECIMALS for places in decimals):
        wrong = f"decimals {decimals} for {statistics} statistics"
    return wrong, Statistics(values if wrong else values.astype(np.int64), decimals, float(given.rounding_error))
