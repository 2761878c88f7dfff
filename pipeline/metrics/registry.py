"""Metrics by name. This module finds them through entry points and checks their options before anything is read."""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Mapping
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from pipeline.errors import PluginError, Problem, StudyError
from pipeline.interfaces import Metric

__all__ = ["GROUP", "list_metrics", "load_metric"]

GROUP = "pipeline.metrics"


def list_metrics() -> dict[str, EntryPoint]:
    """Give the installed metrics by name, sorted; nothing is imported."""
    return {point.name: point for point in sorted(entry_points(group=GROUP), key=lambda point: point.name)}


def load_metric(name: str, options: Mapping[str, Any] | None = None) -> Metric:
    """Make a metric from its name and the options of the study file.

    Parameters
    ----------
    name : str
        Name of an entry point of the group ``pipeline.metrics``.
    options : mapping, optional
        Keyword arguments of the metric's class.

    Returns
    -------
    Metric
        Ready to prepare and extract.

    Raises
    ------
    PluginError
        P301 where no metric has this name, P302 where it is there but cannot be imported.
    StudyError
        P150 for options the metric does not have (all of them at once), P151 for those it needs and values it refuses.
    """
    known = list_metrics()
    if name not in known:
        raise PluginError.of("P301", f"there is no metric '{name}'", help=_suggest(name, list(known)))
    try:
        made = known[name].load()
    except (ImportError, AttributeError) as exc:
        raise PluginError.of(
            "P302", f"the metric '{name}' cannot be loaded: {exc}", where=known[name].value, help="install what it needs"
        ) from exc
    given = dict(options or {})
    _check_names(name, made, given)
    try:
        metric: Metric = made(**given)
    except (TypeError, ValueError) as exc:
        raise StudyError.of("P151", f"metric '{name}': {exc}") from exc
    except ImportError as exc:
        raise PluginError.of("P302", f"the metric '{name}' cannot be loaded with these options: {exc}") from exc
    return metric


def _check_names(name: str, made: Any, given: Mapping[str, Any]) -> None:
    parameters = inspect.signature(made).parameters
    if any(parameter.kind is inspect.Parameter.VAR_KEYWORD for parameter in parameters.values()):
        return
    unknown = [option for option in given if option not in parameters]
    problems = [
        Problem("P150", f"metric '{name}' has no option '{option}'", help=_suggest(option, list(parameters))) for option in unknown
    ]
    problems += [
        Problem("P151", f"metric '{name}' needs the option '{option}'", help="write it beside `name:`")
        for option, parameter in parameters.items()
        if parameter.default is inspect.Parameter.empty and option not in given
    ]
    if problems:
        raise StudyError(*problems)


def _suggest(word: str, known: list[str]) -> str:
    close = difflib.get_close_matches(word, known, n=1)
    there_is = f"there are: {', '.join(known)}" if known else "there are none"
    return f"did you mean '{close[0]}'? ({there_is})" if close else there_is
