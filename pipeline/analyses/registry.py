"""Analyses by name, those of other installed packages too, those that are asked where a study names none, and what they return."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np

from pipeline.errors import PipelineError, PluginError, StudyError
from pipeline.interfaces import Analysis, Finding
from pipeline.options import suggest
from pipeline.plugins import check_members, complete_class, import_plugin, in_tree, list_plugins

__all__ = [
    "accept_finding",
    "analyses_of_compare",
    "analyses_of_test_sets",
    "are_own",
    "default_analyses",
    "load_analysis",
    "null_laboratories",
]

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
        P301 where there is no such analysis, P302 where it cannot be loaded, has another name or fails on its options, P308 where
        it has no `find`.
    StudyError
        Where an option is unknown or its value is of no use.
    """
    analysis: Analysis = complete_class(import_plugin(_FAMILY, name), Analysis)()
    check_members("analysis", name, analysis, Analysis)
    if analysis.name != name:
        message = f"the analysis '{name}' names itself {analysis.name!r}"
        raise PluginError.of("P302", message, help="give the class the name of its entry point: studies and reports use it")
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
                f"an option of the analysis {name!r} names {named!r}, which is not a test set of the study",
                where=f"analyses.{name}",
                help=suggest(named, known),
            )
    return analysis


def accept_finding(name: str, found: Any) -> Finding:
    """Return the finding of an analysis, with a reason in every row that has a number which is not finite.

    A report shows such a number as missing, and says why: by the row's own ``reason``, or else by naming its keys.

    Raises
    ------
    PluginError
        P314 where it is no finding, or that of another analysis: rows, figures and files of two analyses would be mixed up.

    Examples
    --------
    >>> accept_finding("gaps", Finding("gaps", ({"gap": float("nan")},))).rows[0]["reason"]
    'no finite number was found for gap'
    """
    if not isinstance(found, Finding) or found.analysis != name:
        what = f"a finding of {found.analysis!r}" if isinstance(found, Finding) else f"a {type(found).__name__}"
        raise PluginError.of(
            "P314", f"the analysis '{name}' returned {what}", help=f"return pipeline.interfaces.Finding({name!r}, …)"
        )
    return replace(
        found,
        rows=tuple(map(_reasoned, found.rows)),
        details=_reasoned(found.details),
        tables=tuple(one if one.rows is None else replace(one, rows=tuple(map(_reasoned, one.rows))) for one in found.tables),
        csv=None if found.csv is None else {file: tuple(map(_reasoned, rows)) for file, rows in found.csv.items()},
    )


def _reasoned(row: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a row with the reason why a number is missing, where one is and the row gives none."""
    absent = [str(key) for key, value in row.items() if not _is_finite(value)]
    if not absent or row.get("reason"):
        return row
    return {**row, "reason": f"no finite number was found for {', '.join(absent)}"}


def _is_finite(value: Any) -> bool:
    """Return whether there is no nan or infinity in a value, nor within it."""
    kind = type(value)  # these first: to ask for a mapping or an array takes longer than all else
    if kind is float:
        return math.isfinite(value)
    if kind is str or kind is int or value is None:
        return True
    if isinstance(value, Mapping):
        return all(map(_is_finite, value.values()))
    if isinstance(value, list | tuple | set | frozenset):
        return all(map(_is_finite, value))
    if isinstance(value, float | np.floating | np.ndarray):
        numbers = np.asarray(value)
        return numbers.dtype.kind != "f" or bool(np.isfinite(numbers).all())
    return True


def are_own(names: Iterable[str]) -> bool:
    """Say whether all of some analyses are the package's own."""
    return all(in_tree(_FAMILY, name) for name in names)


def default_analyses() -> tuple[str, ...]:
    """Return the analyses of studies that name none, in their order."""
    placed = _own_with("DEFAULT_PLACE")
    return tuple(sorted(placed, key=lambda name: int(placed[name])))


def analyses_of_compare(*, runs: bool = False) -> tuple[str, ...]:
    """Return the analyses of comparisons without a study; with ``runs``, where outputs are runs of models."""
    asked = {*_own_with("OF_COMPARE"), *(_own_with("OF_RUNS") if runs else ())}
    return tuple(sorted(asked))


def analyses_of_test_sets(common: int) -> tuple[str, ...]:
    """Return the analyses that a first study of several test sets with so many systems in common asks besides."""
    return tuple(sorted(name for name, fewest in _own_with("OF_TEST_SETS").items() if common >= fewest))


def null_laboratories() -> tuple[str, ...]:
    """Return the analyses that are asked of every study that does not refuse them."""
    return tuple(_own_with("NULL_LABORATORY"))


@cache
def _own_with(fact: str) -> Mapping[str, Any]:
    """Return what the folders of the package's own analyses say under this name: what is installed beside it changes no study.

    The folder says so, and not the class: importing all analyses takes a tenth of a small comparison.
    """
    own = {name: point for name, point in list_plugins(_FAMILY).items() if in_tree(_FAMILY, name)}
    said = {name: vars(import_module(point.module.rpartition(".")[0])).get(fact) for name, point in own.items()}
    return {name: value for name, value in said.items() if value}
