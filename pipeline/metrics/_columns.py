"""The columns that metrics count in: those of the gold and of an output, checked in the words of the study file."""

from __future__ import annotations

from collections.abc import Sequence

from pipeline.errors import DataError, Problem
from pipeline.interfaces import Items

__all__ = ["check_tokens", "gold_columns", "output_column"]

_MOST_SHOWN = 10


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
    wanted = {"reference": "references", "label": "gold labels"}.get(prefix, f"gold values of '{prefix}'")
    raise DataError.of(
        "P225",
        f"{metric} needs {wanted}, and the test set has none",
        where=gold.source if gold is not None else None,
        help="give `references:` to a test set of format text, `gold:` to one of another format that has them",
    )


def output_column(metric: str, output: Items, column: str) -> Sequence[str]:
    """Return a column of an output that a metric needs."""
    if column not in output.columns:
        there = ", ".join(repr(name) for name in output.columns)
        raise DataError.of(
            "P226",
            f"{metric} needs the column '{column}', and the outputs have {there}",
            where=output.source,
            help="name the column in the options of the metric (a score: `-m NAME` of `compare`), or the `format:` that gives it",
        )
    return output.columns[column]
