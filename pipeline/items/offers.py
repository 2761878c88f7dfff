"""What to do where files can be meant otherwise than they were taken."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from pipeline.errors import name_some
from pipeline.study.grouping import DOCUMENT

__all__ = ["offer_sets"]


def offer_sets(tables: Sequence[tuple[str, Collection[str]]]) -> str | None:
    """Say what to do where each of several tables is a test set of its own; nothing where they do not look like that.

    Parameters
    ----------
    tables : sequence of (str, collection of str)
        The path of each system's file, and its columns.

    Examples
    --------
    >>> offer_sets([("arc.csv", ["old", "new"]), ("quiz.csv", ["old", "new"])])
    "if 'old', 'new' are systems, each file is a test set: `pipeline init --sets` takes them so"
    """
    columns = {tuple(name for name in each if name != DOCUMENT) for _, each in tables}
    files = {path for path, _ in tables}
    if len(columns) != 1 or len(files) < max(2, len(tables)) or len(*columns) < 2:
        return None
    return f"if {name_some([*map(repr, *columns)])} are systems, each file is a test set: `pipeline init --sets` takes them so"
