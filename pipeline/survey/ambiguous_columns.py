"""Columns that group items and might be systems. This module tells of them, and refuses those that are systems elsewhere."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from pipeline.errors import DataError, Problem
from pipeline.study.grouping import choosing_columns
from pipeline.study.schema import Study

__all__ = ["refuse_systems_as_groups", "tell_taken"]


def tell_taken(study: Study, test_set: str, taken: Collection[str]) -> tuple[str, ...]:
    """Say which columns of a table of systems are none because units or strata are made of them, or items chosen by them.

    Nothing is said of those that ``columns:`` names: it is said there.

    Parameters
    ----------
    study : Study
    test_set : str
        Its name.
    taken : collection of str
        Groups of its items that hold what an output would hold.
    """
    asked: dict[str | None, str] = {
        **dict.fromkeys(choosing_columns(study.test_sets[test_set]), "items"),
        study.resampling.unit: "resampling.unit",
        study.resampling.strata: "resampling.strata",
    }
    return tuple(
        f"the column '{name}' is no system, because {asked.get(name, 'columns')} names it; if that is meant, "
        f"say so: `columns: {{{name}: {name}}}`"
        for name in _unsaid(study, test_set, taken)
    )


def refuse_systems_as_groups(study: Study, taken: Mapping[str, Collection[str]], systems: Collection[str]) -> None:
    """Refuse a group of one test set that is a system of another: it would be left out of the first without a word.

    Parameters
    ----------
    study : Study
    taken : mapping of str to collection of str
        Groups that hold what an output would hold, by test set.
    systems : collection of str
        All systems of all test sets.
    """
    problems = [
        Problem(
            "P238",
            f"'{name}' is a system, and in test set '{test_set}' a column that groups the items",
            str(study.test_sets[test_set].outputs),
            f"rename the column, or say that it is no system there: `columns: {{{name}: {name}}}`",
        )
        for test_set, names in taken.items()
        for name in _unsaid(study, test_set, names)
        if name in systems
    ]
    if problems:
        raise DataError(*problems)


def _unsaid(study: Study, test_set: str, taken: Collection[str]) -> list[str]:
    return [name for name in taken if name not in study.test_sets[test_set].columns]
