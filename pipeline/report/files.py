"""The files of a report, each made when it is asked for and a part at a time, so that none of them must fit into memory."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

__all__ = ["Files", "csv_lines"]


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
    csv.writer(buffer, lineterminator="\n").writerows(zip(*columns, strict=True))
    return buffer.getvalue().encode()
