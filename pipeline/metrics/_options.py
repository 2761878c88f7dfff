"""Checks that metrics share. This module refuses option values and columns in the words of the study file."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from pipeline.errors import DataError
from pipeline.interfaces import Items

__all__ = ["check_choice", "check_count", "check_flag", "check_number", "gold_columns", "output_column"]


def check_flag(option: str, value: Any) -> bool:
    """Give a true or false, nothing that merely looks like one."""
    if not isinstance(value, bool):
        raise ValueError(f"option '{option}' is true or false, not {value!r}")
    return value


def check_count(option: str, value: Any, *, least: int, most: int) -> int:
    """Give a whole number within bounds."""
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise ValueError(f"option '{option}' is a whole number from {least} to {most}, not {value!r}")
    return value


def check_number(option: str, value: Any, *, above: float) -> float:
    """Give a finite number above a bound."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not above < value < float("inf"):
        raise ValueError(f"option '{option}' is a number above {above:g}, not {value!r}")
    return float(value)


def check_choice(option: str, value: Any, choices: Collection[str]) -> str:
    """Give one of the words that are allowed."""
    if value not in choices:
        raise ValueError(f"option '{option}' is one of {', '.join(choices)}, not {value!r}")
    return str(value)


def gold_columns(metric: str, gold: Items | None, prefix: str) -> list[Sequence[str]]:
    """Give the gold columns a metric needs: those whose name is the prefix, or the prefix and a number."""
    if gold is not None:
        numbered = (f"{prefix}.{k}" for k in range(len(gold.columns)))
        found = [gold.columns[name] for name in (prefix, *numbered) if name in gold.columns]
        if found:
            return found
    wanted = {"reference": "references", "label": "gold labels"}.get(prefix, prefix)
    raise DataError.of(
        "P225",
        f"{metric} needs {wanted}, and the test set has none",
        where=gold.source if gold is not None else None,
        help="give `references:` to a test set of format text, `gold:` to one of format labels",
    )


def output_column(metric: str, output: Items, column: str) -> Sequence[str]:
    """Give a column of an output that a metric needs."""
    if column not in output.columns:
        there = ", ".join(repr(name) for name in output.columns)
        raise DataError.of(
            "P226",
            f"{metric} needs the column '{column}', and the outputs have {there}",
            where=output.source,
            help="name the column in the options of the metric, or choose the `format:` that gives it",
        )
    return output.columns[column]
