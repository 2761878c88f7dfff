"""Metrics by name: those that are installed, and those of the user's own code.

Options are checked before anything is read. A metric of one's own becomes an `OwnMetric`, which holds the object to the `Metric`
protocol and names it where it fails.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from math import inf
from pathlib import Path
from typing import Any, Literal, cast

import numpy as np
from numpy.typing import NDArray

from pipeline.errors import PipelineError, PluginError, Problem, StudyError, TaskError
from pipeline.interfaces import Items, Metric, ScoreFunction, Statistics
from pipeline.options import check_options
from pipeline.own_code import import_object, packaged_files
from pipeline.plugins import check_members, complete_class, import_plugin, list_plugins, refuse_unknown

__all__ = ["PLACES", "OwnMetric", "is_metric", "is_own", "load_metric", "pin_options", "refuse_unknown_metric"]

_METHODS = ("prepare", "extract", "scorer")
_MOST_DECIMALS = 9


class OwnMetric(Metric):
    """An object that is a `Metric`, under the name that the study gives it.

    What it counts is checked, and its score function is given sums in float64, whatever the resampling added them in: 100 × a
    float32 would be a float32.

    Parameters
    ----------
    name : str
        ``module:name``, as the study has it.
    made : object
        What that made. It may lack ``name`` and ``signature``, and in place of `Statistics` give rows of whole numbers.
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
        own = " ".join(str(getattr(made, "signature", "")).split())
        self._signature = "|".join(part for part in (name, f"code:{code}", own) if part)

    @property
    def signature(self) -> str:
        """The name, the digest of the code and what the object says of itself."""
        return self._signature

    def prepare(self, gold: Items | None) -> Any:
        """Prepare as the object does."""
        with self._named("prepare", gold):
            return self._made.prepare(gold)

    def extract(self, prepared: Any, output: Items) -> Statistics:
        """Count as the object does, and hold what it counts against the items."""
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
        """Refuse a score that is no positive constant times the first sum over the second: tests of ratios look at sums alone."""
        first, *others = score(np.array([[4.0, 8.0, 12.0, 0.0, 4.0], [8.0, 8.0, 24.0, 8.0, 4.0]])).tolist()
        wanted = [2 * first, first, 0.0, 2 * first]
        if not (0 < first < inf and np.allclose(others, wanted, rtol=1e-9, atol=1e-9 * first)):
            raise TaskError.of(
                "P406",
                f"the form of the metric '{self.name}' is 'ratio', and its score is no positive constant times the sum of "
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
    """Say what an object has not, or has otherwise, of what a metric has."""
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
        yield "its `follows` is no mapping of statistic to statistic"
    for member in ("needs_of_outputs", "needs_of_gold"):
        columns = getattr(made, member, ())
        if not isinstance(columns, (tuple, list)) or not all(isinstance(name, str) for name in columns):
            yield f"its `{member}` are no tuple of names"
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


_KIND, _PATH, _CODE = "metric", "path", "code digest"

PLACES = (_PATH, _CODE)
"""Options of a metric of one's own that are none of its class: its folder, and what its code was when the study was planned."""


def is_metric(name: str) -> bool:
    """Tell whether a metric is called by this name, or it is the path of one of the user's own."""
    return ":" in name or name in list_plugins("metrics")


def refuse_unknown_metric(name: str) -> None:
    """Refuse a name that `is_metric` does not know; nothing is imported.

    Raises
    ------
    PluginError
        P301.
    """
    if not is_metric(name):
        refuse_unknown("metrics", name)


def load_metric(name: str, options: Mapping[str, Any] | None = None) -> Metric:
    """Make a metric from its name and the options of the study file.

    Parameters
    ----------
    name : str
        Name of an entry point of the group ``pipeline.metrics``, or ``module:name`` of a class or function of one's own.
    options : mapping, optional
        Keyword arguments of the metric's class. With ``metric``, that is the metric, and ``name`` only what it goes by: a study may
        so ask for one metric with several options. With ``module:name`` also ``path``, the folder of the module.

    Returns
    -------
    Metric
        Ready to prepare and extract.

    Raises
    ------
    PluginError
        P301 where no metric has this name, P302 where it is there but cannot be imported; P308 where an object is no metric, P309
        where it cannot be imported or has changed since the study was planned.
    StudyError
        P150 for options the metric does not have (all of them at once), P151 for those it needs and values it refuses.
    """
    given = dict(options or {})
    if is_own(name):
        return _load_own(name, given)
    kind = given.pop(_KIND, name)
    if not isinstance(kind, str) or is_own(kind):
        raise StudyError.of(
            "P151",
            f"metric '{name}': option 'metric' is the name of an installed metric, not {kind!r}",
            help="see `pipeline metrics`",
        )
    metric = _make(name, complete_class(import_plugin("metrics", kind), Metric), given)
    check_members("metric", kind, metric, Metric)
    return metric


def is_own(name: str) -> bool:
    """Tell whether a metric is named by the place of its code, and not by an entry point."""
    return ":" in name


def pin_options(name: str, options: Mapping[str, Any], base: Path) -> dict[str, Any]:
    """Return the options with which a metric is the same wherever it is loaded, for `load_metric`.

    Of a metric of one's own the folder becomes an absolute one, taken from ``base``, the folder of the study file, and its code is
    that which it has now: where it is another, as after a change of the file, loading it is refused.
    """
    if not is_own(name):
        return dict(options)
    path = options.get(_PATH)
    placed = {**options, _PATH: str((base / path).absolute())} if isinstance(path, str) else dict(options)
    own: Any = load_metric(name, placed)
    return {**placed, _CODE: own.code}


def _load_own(name: str, given: dict[str, Any]) -> Metric:
    path, planned = given.pop(_PATH, None), given.pop(_CODE, None)
    if path is not None and not isinstance(path, str):
        raise StudyError.of("P151", f"metric '{name}': option 'path' is a folder, not {path!r}")
    made, code = import_object(name, None if path is None else Path(path).absolute(), files=packaged_files)
    if planned not in (None, code):
        raise PluginError.of(
            "P309",
            f"the code of '{name}' has changed since the study was planned",
            where=path,
            help="`pipeline run` plans the study with the code as it is: its statistics are counted again",
        )
    try:
        own = _make(name, made, given)
    except PipelineError:
        raise
    except Exception as error:  # foreign code runs here: whatever it raises, the metric cannot be had
        message = f"the metric '{name}' cannot be loaded with these options: {type(error).__name__}: {error}"
        raise PluginError.of("P302", message) from error
    # The protocol has a name of the class; here each object has the study's.
    return cast(Metric, OwnMetric(name, own, code))


def _make(name: str, made: Any, given: dict[str, Any]) -> Metric:
    check_options("metric", name, made, given)
    try:
        metric: Metric = made(**given)
    except (TypeError, ValueError) as error:
        raise StudyError.of("P151", f"metric '{name}': {error}") from error
    except ImportError as error:
        raise PluginError.of("P302", f"the metric '{name}' cannot be loaded with these options: {error}") from error
    return metric
