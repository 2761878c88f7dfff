"""The files of a report, each made when it is asked for and a part at a time, so that none of them must fit into memory."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

__all__ = ["Files", "csv_lines", "defuse"]

FORMULA = frozenset("=+-@\t\r\n")
"""First characters of texts that a spreadsheet may evaluate."""


class Files(Mapping[str, bytes]):
    """The content of files by name.

    Parameters
    ----------
    parts : mapping of str to callable
        What gives the content of each file, one part after the other.
    """

    def __init__(self, parts: Mapping[str, Callable[[], Iterable[bytes]]]) -> None:
        self._parts = parts

    def __iter__(self) -> Iterator[str]:
        return iter(self._parts)

    def __len__(self) -> int:
        return len(self._parts)

    def __getitem__(self, name: str) -> bytes:
        return b"".join(self.stream(name))

    def stream(self, name: str) -> Iterable[bytes]:
        """Return the content of a file in parts."""
        return self._parts[name]()


def csv_lines(columns: Sequence[Sequence[Any]]) -> bytes:
    """Return lines of CSV in UTF-8 from their columns."""
    buffer = io.StringIO()
    rows = ([defuse(value) for value in row] for row in zip(*columns, strict=True))
    csv.writer(buffer, lineterminator="\n").writerows(rows)
    return buffer.getvalue().encode()


def defuse(value: Any) -> Any:
    """Return a cell that no spreadsheet takes for a formula: such text gets an apostrophe in front, numbers stay as they are.

    Names of systems and items come from whoever made the outputs, and opening a table must not run what they say.

    Examples
    --------
    >>> [defuse(value) for value in ("=1+1", "@SUM(A1)", "-tuned", "-0.5", "-", -0.5, "a=b", None)]
    ["'=1+1", "'@SUM(A1)", "'-tuned", '-0.5', '-', -0.5, 'a=b', None]
    """
    if not isinstance(value, str) or len(value) < 2 or value[0] not in FORMULA:
        return value
    try:
        float(value)
    except ValueError:
        return f"'{value}"
    return value
