"""Analyses by name. This module makes them and lets them refuse their options before anything is computed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pipeline.interfaces import Analysis
from pipeline.plugins import import_plugin

__all__ = ["load_analysis"]


def load_analysis(name: str, options: Mapping[str, Any] | None = None) -> Analysis:
    """Load an analysis and check the options it is to be called with.

    An analysis may have a method ``check(options)`` that raises `StudyError`; it is called here, so that a study with a
    misspelt option fails before anything is computed.

    Parameters
    ----------
    name : str
        Name of the entry point, for example ``thresholds``.
    options : mapping, optional
        What the study says under this analysis.

    Raises
    ------
    PluginError
        P301 where there is no such analysis, P302 where it cannot be loaded.
    StudyError
        Where an option is unknown or its value is of no use.
    """
    analysis: Analysis = import_plugin("analyses", name)()
    check = getattr(analysis, "check", None)
    if check is not None:
        check(options or {})
    return analysis
