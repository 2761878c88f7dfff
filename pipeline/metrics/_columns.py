"""The columns that metrics count in: those of the gold and of an output, checked in the words of the study file.

For metrics of texts: the references of each item, of which there may be fewer than of others.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pipeline.errors import DataError, Problem
from pipeline.interfaces import Items
from pipeline.options import nearest
from pipeline.plugins import list_plugins

__all__ = ["OF_NUMBERS", "check_tokens", "gold_columns", "output_column", "reference_columns", "reference_rows"]

_MOST_SHOWN = 10
OF_NUMBERS = frozenset({"mean", "ratio", "win-rate"})
"""Metrics of the numbers in an output; any other needs a gold, which scores do not have."""


def check_tokens(metric: str, gold: Items, output: Items, column: str) -> None:
    """Refuse an output whose sentences are not those of the gold: other words, or another number of values in a column.

    A blank value is an item that the output lacks.

    Raises
    ------
    DataError
        P245, with the first items that differ.
    """
    values = output_column(metric, output, column)
    wanted = gold.columns.get("word", gold.columns[column])
    given = output.columns["word"] if "word" in output.columns and "word" in gold.columns else None
    problems: list[Problem] = []
    for k, (value, words) in enumerate(zip(values, wanted, strict=True)):
        if not value:
            continue
        message = ""
        if len(value) != len(words):
            message = f"{metric}: item '{output.ids[k]}' has {len(value)} tokens, and {len(words)} in the gold"
        elif given is not None and given[k] != words:
            at = next(n for n, (one, other) in enumerate(zip(given[k], words, strict=False)) if one != other)
            message = f"{metric}: token {at + 1} of item '{output.ids[k]}' is '{given[k][at]}', and '{words[at]}' in the gold"
        if message:
            help_ = "outputs have the tokens of the gold, in its order: only what is predicted differs"
            problems.append(Problem("P245", message, f"{output.source}:{output.lines[k]}", help_))
            if len(problems) == _MOST_SHOWN:
                break
    if problems:
        raise DataError(*problems)


def gold_columns(metric: str, gold: Items | None, prefix: str) -> list[Sequence[str]]:
    """Return the gold columns a metric needs: those whose name is the prefix, or the prefix and a number."""
    if gold is not None:
        numbered = (f"{prefix}.{k}" for k in range(len(gold.columns)))
        found = [gold.columns[name] for name in (prefix, *numbered) if name in gold.columns]
        if found:
            return found
    wanted = _CALLED.get(prefix, f"gold values of '{prefix}'")
    if gold is not None and gold.columns:
        raise DataError.of(
            "P225",
            f"{metric} needs {wanted}, and the file has {', '.join(dict.fromkeys(map(_called, gold.columns)))}",
            where=gold.source,
            help="choose a metric of what the files hold, or name the `format:` that gives it",
        )
    raise DataError.of(
        "P225",
        f"{metric} needs {wanted}, and the test set has none",
        help="give `references:` to a test set of format text, `gold:` to one of another format that has them",
    )


_CALLED = {"reference": "references", "label": "gold labels"}
"""What columns of gold hold, by the beginning of their names."""


def _called(column: str) -> str:
    return _CALLED.get(column.partition(".")[0], repr(column))


def output_column(metric: str, output: Items, column: str) -> Sequence[str]:
    """Return a column of an output that a metric needs."""
    if column not in output.columns:
        if metric == "mean" and set(output.columns) == {"score"}:
            raise DataError.of(
                "P226",
                f"there is no score '{column}': each item of an output has one number",
                where=output.source,
                help=_meant(metric, column, output)
                or "the metric `mean` takes it (without `-m`, `compare` does); other metrics are computed from texts or labels",
            )
        there = ", ".join(repr(name) for name in output.columns)
        raise DataError.of(
            "P226",
            f"{metric} needs the column '{column}', and the outputs have {there}",
            where=output.source,
            help=_meant(metric, column, output)
            or "name the column in the options of the metric (a score: `-m NAME` of `compare`), or the `format:` that gives it",
        )
    return output.columns[column]


def _meant(metric: str, column: str, output: Items) -> str | None:
    """Return the help for a column that is not there: the column or the metric with such a name; nothing where there is none."""
    if (there := nearest(column, output.columns)) is not None:
        return f"did you mean '{there}'?"
    # `compare -m NAME` is the mean of a column where outputs are scores: only then may the name have been a metric's.
    other = nearest(column, [name for name in list_plugins("metrics") if name not in OF_NUMBERS]) if metric == "mean" else None
    return other and f"did you mean the metric '{other}'? it is computed from texts or labels; `mean` takes numbers like these"


def reference_columns(metric: str, gold: Items | None) -> list[Sequence[Any]]:
    """Return the references as text, with None where one is not there: its line is blank, and another of the segment is not.

    sacreBLEU leaves out None and takes an empty line for a reference of no words, which halves the reference length of TER, and
    is the nearest in length to short outputs for BLEU. A segment all of whose references are blank keeps them: that it is
    translated as nothing may be what they say.
    """
    columns = gold_columns(metric, gold, "reference")
    if len(columns) == 1 or all(value and not value.isspace() for column in columns for value in column):
        return list(columns)
    rows = (_there(row) for row in zip(*columns, strict=True))
    return [tuple(column) for column in zip(*rows, strict=True)]


def _there(row: tuple[str, ...]) -> tuple[str | None, ...]:
    blank = [not value or value.isspace() for value in row]
    return row if all(blank) else tuple(None if lacks else value for value, lacks in zip(row, blank, strict=True))


def reference_rows(metric: str, gold: Items | None) -> list[tuple[str, ...]]:
    """Return the references of each item, those that are there.

    Raises
    ------
    DataError
        P225, where there are none at all.
    """
    rows = zip(*reference_columns(metric, gold), strict=True)
    return [tuple(text for text in row if text is not None) for row in rows]
