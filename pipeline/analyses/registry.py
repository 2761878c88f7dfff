"""Analyses by name, those of other installed packages too, and those that are asked where a study names none."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

from pipeline.errors import PipelineError, PluginError, StudyError
from pipeline.interfaces import Analysis
from pipeline.options import suggest
from pipeline.plugins import check_members, complete_class, import_plugin, in_tree, list_plugins

__all__ = ["analyses_of_compare", "default_analyses", "load_analysis", "null_laboratories"]

_FAMILY = "analyses"


def load_analysis(name: str, options: Mapping[str, Any] | None = None, *, test_sets: Iterable[str] | None = None) -> Analysis:
    """Return an analysis that takes the options it is to be called with: a misspelt one fails before anything is computed.

    Parameters
    ----------
    name : str
        Name of the entry point.
    options : mapping, optional
        What the study says under this analysis.
    test_sets : iterable of str, optional
        Those of the study, where it is known what there is: others that the options name are refused.

    Raises
    ------
    PluginError
        P301 where there is no such analysis, P302 where it cannot be loaded or fails on its options, P308 where it has no `find`.
    StudyError
        Where an option is unknown or its value is of no use.
    """
    analysis: Analysis = complete_class(import_plugin(_FAMILY, name), Analysis)()
    check_members("analysis", name, analysis, Analysis)
    known = [] if test_sets is None else list(test_sets)
    try:
        analysis.check(options or {})
        asked = () if test_sets is None else tuple(analysis.named_test_sets(options or {}))
    except PipelineError:
        raise
    except Exception as error:  # foreign code runs here: any exception means that the plugin is unusable
        message = f"the analysis '{name}' failed on its options: {type(error).__name__}: {error}"
        raise PluginError.of("P302", message, help="raise a StudyError for options of no use, as pipeline.options does") from error
    for named in asked:
        if named not in known:
            raise StudyError.of(
                "P104",
                f"an option of the analysis {name!r} names {named!r}, which is no test set of the study",
                where=f"analyses.{name}",
                help=suggest(named, known),
            )
    return analysis


def default_analyses() -> tuple[str, ...]:
    """Return the analyses of studies that name none, in their order."""
    placed = [(made.default_place, name) for name, made in _own().items() if made.default_place is not None]
    return tuple(name for _, name in sorted(placed))


def analyses_of_compare() -> tuple[str, ...]:
    """Return the analyses of comparisons without a study."""
    return tuple(name for name, made in _own().items() if made.of_compare)


def null_laboratories() -> tuple[str, ...]:
    """Return the analyses that are asked of every study that does not refuse them."""
    return tuple(name for name, made in _own().items() if made.null_laboratory)


@cache
def _own() -> Mapping[str, type[Analysis]]:
    """Return the package's own analyses: what is installed beside it changes no study."""
    return {name: import_plugin(_FAMILY, name) for name in list_plugins(_FAMILY) if in_tree(_FAMILY, name)}
