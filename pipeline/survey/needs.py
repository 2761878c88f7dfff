"""Check that files have what metrics need, columns and numbers that can be added exactly, before anything is computed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import product
from typing import Any

from pipeline.errors import DataError, Problem, name_some
from pipeline.interfaces import Items, usual_column
from pipeline.items.frame import Survey
from pipeline.items.offers import offer_sets
from pipeline.metrics._columns import OF_NUMBERS, gold_columns, output_column
from pipeline.metrics._lattice import MOST_ADDED
from pipeline.metrics.registry import load_metric
from pipeline.plan.inputs import MetricInputs
from pipeline.study.grouping import DOCUMENT

__all__ = ["refuse_lacking_columns", "refuse_numbers"]


def refuse_lacking_columns(metrics: Sequence[MetricInputs], survey: Survey) -> None:
    """Refuse files that lack what a metric needs, before anything is computed.

    Raises
    ------
    DataError
        P225 and P226, once for each metric.
    """
    problems: list[Problem] = []
    there = Items((), dict.fromkeys(survey.gold.columns, ()), survey.gold.source, ()) if survey.gold is not None else None
    for metric in metrics:
        loaded = load_metric(metric.name, metric.options)
        lacking = list(_problems_of(gold_columns, loaded.name, there, loaded.needs_of_gold))
        for output in survey.outputs if not lacking else ():
            own = Items((), dict.fromkeys(output.columns, ()), output.path, ())
            lacking += _problems_of(output_column, loaded.name, own, loaded.needs_of_outputs)
        # The same problem in many files is reported once.
        places = {(p.code, p.message, p.help): [q.where for q in lacking if q.where and q.message == p.message] for p in lacking}
        problems += [Problem(code, text, name_some(found) or None, help_) for (code, text, help_), found in places.items()]
    if problems:
        raise DataError(*problems)


def _problems_of(
    look: Callable[[str, Any, str], object], metric: str, items: Items | None, columns: Sequence[str]
) -> Iterator[Problem]:
    """Yield what is wrong with the first column that is not there."""
    try:
        for column in columns:
            look(metric, items, column)
    except DataError as error:
        yield from error.problems


def refuse_numbers(metrics: Sequence[MetricInputs], survey: Survey) -> None:
    """Refuse scores that are not numbers, or too large for exact sums, before anything is computed.

    Only outputs all of whose items are scored are looked at: what is left out may be anything.

    Raises
    ------
    DataError
        P210, P226, P227, once for each metric and system.
    """
    items = len(survey.frame.ids)
    problems: list[Problem] = []
    for metric, output in product(metrics, survey.outputs):
        if metric.options.get("metric", metric.name) not in OF_NUMBERS or output.n_items != items:
            continue
        needs = load_metric(metric.name, metric.options).needs_of_outputs
        for column in needs or (usual_column([name for name in output.columns if name != DOCUMENT]),):
            found = survey.largest[output.system].get(column)
            if found is None and column not in output.columns:  # the usual one: of several, nobody has said which
                own = Items((), dict.fromkeys(output.columns, ()), output.path, ())
                note = offer_sets([(each.path, each.columns) for each in survey.outputs])
                problems += (replace(one, note=note) for one in _problems_of(output_column, metric.name, own, (column,)))
            elif found is None:
                message = f"{metric.name} needs numbers, and column '{column}' of '{output.system}' has others too"
                problems.append(Problem("P210", message, output.path, "choose a column of numbers, or another metric"))
            elif found[0] * items >= MOST_ADDED:
                message = f"a score of '{output.system}' is too large to be added exactly: {items} times {found[0]:g} exceeds 2^52"
                help_ = "correct it, or leave the system out; if all scores are so large, give them in a larger unit"
                problems.append(Problem("P227", message, f"{output.path}:{found[1]}", help_))
    if problems:
        raise DataError(*problems)
