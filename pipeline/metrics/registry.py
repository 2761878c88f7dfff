"""Metrics by name. This module makes them and checks their options before anything is read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pipeline.errors import PluginError, StudyError
from pipeline.interfaces import Metric
from pipeline.plugins import check_options, import_plugin

__all__ = ["load_metric"]


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
    made = import_plugin("metrics", name)
    given = dict(options or {})
    check_options("metric", name, made, given)
    try:
        metric: Metric = made(**given)
    except (TypeError, ValueError) as error:
        raise StudyError.of("P151", f"metric '{name}': {error}") from error
    except ImportError as error:
        raise PluginError.of("P302", f"the metric '{name}' cannot be loaded with these options: {error}") from error
    return metric
