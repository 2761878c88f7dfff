"""What to do where files can be meant otherwise than they were taken."""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence

from pipeline.errors import name_some
from pipeline.items.names import name_without_ending
from pipeline.study.grouping import DOCUMENT

__all__ = ["offer_pattern", "offer_sets"]

_JOINTS = "_-."
"""What stands between the parts of a file's name."""


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


def offer_pattern(paths: Sequence[str]) -> str | None:
    """Say what to do where files may be those of every test set and system; nothing where their names have not two such parts.

    Examples
    --------
    >>> offer_pattern([f"{name}_{system}.csv" for name in ("arc", "quiz") for system in ("old", "new")])
    "if the names are those of test sets and systems in this order, `pipeline init '{test_set}_{system}.csv'` takes them so"
    """
    near = [os.path.relpath(path) if os.path.isabs(path) else path for path in paths]
    folders = {os.path.dirname(path) for path in near}
    names = {name: name_without_ending(name) for name in map(os.path.basename, near)}
    endings = {name.removeprefix(stem) for name, stem in names.items()}
    if len(folders) != 1 or len(endings) != 1 or len(names) != len(paths):
        return None
    for joint in _JOINTS:
        for cut in (str.rpartition, str.partition):
            parts = [cut(stem, joint) for stem in names.values()]
            first, second = ({part[place] for part in parts} for place in (0, 2))
            if (
                all(part[1] and part[0] and part[2] for part in parts)
                and len(names) == len(first) * len(second) >= 2 * len(first) > 2
            ):
                pattern = os.path.join(*folders, f"{{test_set}}{joint}{{system}}{''.join(endings)}")
                return f"if the names are those of test sets and systems in this order, `pipeline init '{pattern}'` takes them so"
    return None
