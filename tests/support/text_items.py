"""Items of texts: any columns in the order of their values, references, and four sentences with a better and a worse output."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pipeline.interfaces import Items

__all__ = ["BETTER", "GOLD", "WORSE", "items", "references"]

GOLD = ("the cat sat on the mat .", "a dog barked at the moon all night", "it rains in Spain", "nobody came , so we left early")
BETTER = ("the cat sat on the mat .", "a dog barked at a moon all night", "it rains in Spain", "nobody came and so we left")
WORSE = ("cat the on mat", "a dog barked", "", "so we left early , and nobody came back")


def items(**columns: Sequence[Any]) -> Items:
    """Return items with these columns; ``reference_0`` stands for the column ``reference.0``."""
    count = len(next(iter(columns.values())))
    named = {name.replace("_", "."): tuple(values) for name, values in columns.items()}
    return Items(tuple(map(str, range(count))), named, "test", tuple(range(1, count + 1)))


def references(*texts: Sequence[str]) -> Items:
    """Return gold items with so many references each."""
    return items(**{f"reference_{k}": text for k, text in enumerate(texts)})
