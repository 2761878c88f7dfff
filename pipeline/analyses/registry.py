"""Analyses by name. This module makes them and lets them refuse their options before anything is computed."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from typing import Any

from pipeline.errors import StudyError
from pipeline.interfaces import Analysis
from pipeline.plugins import import_plugin

__all__ = ["load_analysis"]


def load_analysis(name: str, options: Mapping[str, Any] | None = None, *, test_sets: Iterable[str] | None = None) -> Analysis:
    """Load an analysis and check the options it is to be called with.

    An analysis may have a method ``check(options)`` that raises `StudyError`; it is called here, so that a study with a
    misspelt option fails before anything is computed. One whose options name test sets has a method ``named_test_sets(options)``.

    Parameters
    ----------
    name : str
        Name of the entry point, for example ``thresholds``.
    options : mapping, optional
        What the study says under this analysis.
    test_sets : iterable of str, optional
        Those of the study, where it is known what there is: others that the options name are refused.

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
    named = getattr(analysis, "named_test_sets", None)
    if test_sets is not None and named is not None:
        _refuse_unknown(name, named(options or {}), list(test_sets))
    return analysis


def _refuse_unknown(analysis: str, named: Iterable[str], test_sets: list[str]) -> None:
    for name in named:
        if name not in test_sets:
            near = difflib.get_close_matches(name, test_sets, n=1)
            raise StudyError.of(
                "P104",
                f"an option of the analysis {analysis!r} names {name!r}, which is no test set of the study",
                where=f"analyses.{analysis}",
                help=f"did you mean {near[0]!r}?" if near else f"there are: {', '.join(test_sets)}",
            )
