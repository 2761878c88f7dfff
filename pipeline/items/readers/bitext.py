"""Sentences and their translations, from one file (``source ||| target`` per line) or from two."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Literal

from pipeline.errors import DataError
from pipeline.interfaces import FileSample, Items, Reader, Recognised
from pipeline.items.readers._bitext import BITEXT_SEPARATOR, join_words, read_bitext
from pipeline.items.readers._files import with_warnings, write_lines
from pipeline.items.readers._join import join_items

__all__ = ["BitextReader"]


class BitextReader(Reader):
    """Pairs of sentences to train aligners on, words separated by spaces.

    Items have the columns ``source`` and ``target``. There is nothing to predict: the test sets of aligners are of format
    ``links``. Files without ``|||`` come in twos, first the source, then the target, line by line.
    """

    name: ClassVar[str] = "bitext"
    endings: ClassVar[tuple[str, ...]] = (".txt", ".bitext")
    targets: ClassVar[tuple[str, ...]] = ()
    compares_with: Literal["references", "gold", "nothing"] = "nothing"
    usual_metric: str | None = None
    blank: str = ""

    def __init__(self) -> None:
        self._told: list[str] = []

    @staticmethod
    def recognise(sample: FileSample) -> Recognised | None:
        """Take lines with two sentences and three bars between them."""
        if sample.lines and all(line.count(" ||| ") == 1 for line in sample.lines[:50]):
            return Recognised(0.6, "every line is two sentences with ||| between")
        return None

    @with_warnings
    def read_gold(self, paths: Sequence[Path], options: Mapping[str, Any]) -> Items | None:
        """Return the pairs of one or several files; None without files."""
        return join_items(read_bitext(paths, self._told)) if paths else None

    @with_warnings
    def read_outputs(self, path: Path, *, system: str | None, options: Mapping[str, Any]) -> dict[str, Items]:
        """Refuse: a bitext is no output."""
        raise DataError.of(
            "P219",
            "a bitext is what aligners are trained on, and no system's output",
            where=str(path),
            help="give a test set of word alignments the format links",
        )

    def write(self, path: Path, columns: Mapping[str, Sequence[Any]], ids: Sequence[str]) -> None:
        """Write one pair a line.

        Raises
        ------
        ValueError
            Where a word is empty, is ``|||`` or holds white space: it could not be read again.
        """
        pairs = zip(columns["source"], columns["target"], strict=True)
        write_lines(path, (f"{join_words(source)} {BITEXT_SEPARATOR} {join_words(target)}" for source, target in pairs))
