"""Metrics by name: installed ones, and those of the user's own code.

Options are checked before anything is read. The user's own metric becomes an `OwnMetric`.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from pipeline.errors import PipelineError, PluginError, StudyError
from pipeline.interfaces import Metric
from pipeline.options import check_options
from pipeline.own_code import import_object, packaged_files
from pipeline.plugins import check_members, complete_class, import_plugin, list_plugins, refuse_unknown

__all__ = ["PLACES", "call_by_options", "is_metric", "is_own", "load_metric", "pin_options", "refuse_unknown_metric", "title_of"]

_KIND, _PATH, _CODE = "metric", "path", "code digest"

PLACES = (_PATH, _CODE)
"""Options of a metric of one's own that are none of its class: its folder, and what its code was when the study was planned."""


_VARIANTS: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    "chrf+": ("chrf", {"word_order": 1}),
    "chrf++": ("chrf", {"word_order": 2}),
}
"""Names that the field has for a metric with certain options."""


def call_by_options(metric: str | Mapping[str, Any]) -> str | Mapping[str, Any]:
    """Return a metric as a study names it, under its usual name with these options.

    Examples
    --------
    >>> call_by_options("chrf++")
    {'name': 'chrf++', 'metric': 'chrf', 'word_order': 2}
    >>> call_by_options({"name": "chrf", "word_order": 2, "beta": 3})
    {'name': 'chrf++', 'word_order': 2, 'beta': 3, 'metric': 'chrf'}
    >>> call_by_options("chrf"), call_by_options({"name": "mine", "metric": "chrf", "word_order": 2})
    ('chrf', {'name': 'mine', 'metric': 'chrf', 'word_order': 2})
    """
    if isinstance(metric, str):
        kind, options = _VARIANTS.get(metric, (None, {}))
        return metric if kind is None else {"name": metric, _KIND: kind, **options}
    for name, (kind, options) in _VARIANTS.items():
        if metric.get("name") == kind and _KIND not in metric and options.items() <= metric.items():
            return {**metric, "name": name, _KIND: kind}
    return metric


def is_metric(name: str) -> bool:
    """Tell whether a metric has this name, or whether it is the path of one of the user's own."""
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
        Name of an entry point of the group ``pipeline.metrics``, or ``module:name`` of the user's own class or function.
    options : mapping, optional
        Keyword arguments of the metric's class. If they include ``metric``, that is the metric, and ``name`` only what the study
        calls it, so a study may use one metric with several options. With ``module:name`` also ``path``, the folder of the module.

    Returns
    -------
    Metric
        Ready to prepare and extract.

    Raises
    ------
    PluginError
        P301 if no metric has this name, P302 if it is installed but cannot be imported; P308 if the user's own object is not a
        metric, P309 if it cannot be imported or has changed since the study was planned.
    StudyError
        P150 for options that the metric does not have (all of them at once), P151 for missing ones and for values it refuses.
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
    if kind in _VARIANTS:
        of, needed = _VARIANTS[kind]
        asked = ", ".join(f"{key}: {value}" for key, value in needed.items())
        raise PluginError.of("P301", f"there is no metric '{kind}'", help=f"write `{{name: {name}, metric: {of}, {asked}}}`")
    metric = _make(name, complete_class(import_plugin("metrics", kind), Metric), given)
    check_members("metric", kind, metric, Metric)
    return metric


def title_of(name: str, metric: Metric) -> str:
    """Return what people call a metric with its options, on one line; nothing if its name says as much.

    A metric to which the study gives a name (``{name: mine, metric: chrf}``) keeps that name.
    """
    its_own = is_own(name) or name in list_plugins("metrics")
    title = getattr(metric, "title", "")
    # A metric of one's own may mean something else by it: a method, or None for nothing.
    return " ".join(title.split()) if its_own and isinstance(title, str) else ""


def is_own(name: str) -> bool:
    """Tell whether a metric is named by the location of its code, not by an entry point."""
    return ":" in name


def pin_options(name: str, options: Mapping[str, Any], base: Path) -> dict[str, Any]:
    """Return options for `load_metric` with which the metric is the same wherever it is loaded.

    For the user's own metric the folder becomes absolute, relative to ``base``, the folder of the study file, and the options
    record its code as it is now: if the code has changed when it is loaded, loading is refused.
    """
    if not is_own(name):
        return dict(options)
    path = options.get(_PATH)
    placed = {**options, _PATH: str((base / path).absolute())} if isinstance(path, str) else dict(options)
    own: Any = load_metric(name, placed)
    return {**placed, _CODE: own.code}


def _load_own(name: str, given: dict[str, Any]) -> Metric:
    from pipeline.metrics.own_metric import OwnMetric  # with NumPy, which a mistyped name does not need

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
