"""Find an analysis by its name. This module reads the entry points of the group ``pipeline.analyses``."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from pipeline.errors import PluginError
from pipeline.interfaces import Analysis

__all__ = ["GROUP", "list_analyses", "load_analysis"]

GROUP = "pipeline.analyses"


def list_analyses() -> dict[str, str]:
    """Give the object reference of every installed analysis, by name, sorted."""
    return {point.name: point.value for point in sorted(entry_points(group=GROUP), key=lambda p: p.name)}


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
        P303 where there is no such analysis, or it cannot be loaded.
    StudyError
        Where an option is unknown or its value is of no use.
    """
    points = {point.name: point for point in entry_points(group=GROUP)}
    if name not in points:
        near = difflib.get_close_matches(name, points, n=1, cutoff=0.5)
        raise PluginError.of(
            "P303",
            f"there is no analysis named {name!r}",
            help=(f"did you mean {near[0]!r}? " if near else "") + f"installed: {', '.join(sorted(points)) or 'none'}",
        )
    analysis: Analysis = _load(points[name])()
    check = getattr(analysis, "check", None)
    if check is not None:
        check(options or {})
    return analysis


def _load(point: EntryPoint) -> Any:
    try:
        return point.load()
    except (ImportError, AttributeError) as error:
        raise PluginError.of(
            "P303",
            f"the analysis {point.name!r} cannot be loaded: {error}",
            where=point.value,
            help="install what it needs, or leave it out of the study",
        ) from error
