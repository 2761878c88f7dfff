"""Split lines of ``source ||| target``, or two files side by side, into words."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from pipeline.errors import DataError, Problem
from pipeline.interfaces import Items
from pipeline.items.readers._files import Lines, read_lines
from pipeline.items.readers._tables import refuse

__all__ = ["BITEXT_SEPARATOR", "bitext_items", "join_words", "read_bitext", "split_fields", "split_words"]

BITEXT_SEPARATOR = "|||"
_HELP = "write `source ||| target` on every line, words separated by spaces, or give two files, first the source"


def read_bitext(paths: Sequence[Path], warnings: list[str]) -> list[Items]:
    """Return the pairs of each file, or of every two files where they have no separator.

    Raises
    ------
    DataError
        P255 where a line is no pair, or a file has no partner of the same length.
    """
    files = [read_lines(path, tokens=True) for path in paths]
    for file in files:
        warnings.extend(file.warnings)
    if any(BITEXT_SEPARATOR in line for file in files for line in file.values):
        return [bitext_items(_split_pairs(file), file) for file in files]
    if len(files) % 2:
        raise DataError.of("P255", f"no line has a `{BITEXT_SEPARATOR}`", where=f"{files[-1].source}:1", help=_HELP)
    return [_pair(source, target) for source, target in zip(files[::2], files[1::2], strict=True)]


def bitext_items(pairs: Sequence[Sequence[tuple[str, ...]]], lines: Lines, *, first: int = 1) -> Items:
    """Return the items of pairs of sentences, one on each line from the line ``first`` on."""
    columns = {name: tuple(pair[side] for pair in pairs) for side, name in enumerate(("source", "target"))}
    ids = tuple(str(k + 1) for k in range(len(pairs)))
    return Items(ids, columns, lines.source, tuple(range(first, first + len(pairs))))


def split_words(line: str) -> tuple[str, ...]:
    """Split at spaces and tabs only: a no-break space is part of a word, for the aligner that counted the words too."""
    return tuple(word for word in line.replace("\t", " ").split(" ") if word)


def split_fields(line: str) -> list[tuple[str, ...]]:
    """Return the words of each field of a line, fields parted by ``|||`` that stands alone."""
    words = split_words(line)
    ends = [k for k, word in enumerate(words) if word == BITEXT_SEPARATOR]
    return [words[start:end] for start, end in zip([0, *(end + 1 for end in ends)], [*ends, len(words)], strict=True)]


def join_words(words: Sequence[str]) -> str:
    """Return the words of a sentence with a space between; what would be split otherwise is a ValueError."""
    line = " ".join(words)
    if split_words(line) != tuple(words) or BITEXT_SEPARATOR in words:
        raise ValueError(f"a word of the sentence {line!r} is empty, is {BITEXT_SEPARATOR} or holds white space")
    return line


def _split_pairs(lines: Lines) -> list[list[tuple[str, ...]]]:
    pairs = [split_fields(line) for line in lines.values]
    refuse(
        Problem("P255", f"the line has `{BITEXT_SEPARATOR}` {len(pair) - 1} times in place of once", f"{lines.source}:{k}", _HELP)
        for k, pair in enumerate(pairs, start=1)
        if len(pair) != 2
    )
    return pairs


def _pair(source: Lines, target: Lines) -> Items:
    if len(source.values) != len(target.values):
        raise DataError.of(
            "P255",
            f"source and target have different numbers of lines: {len(source.values)} in {source.source}, "
            f"{len(target.values)} in {target.source}",
            where=target.source,
            help="the two go line by line; an empty sentence is an empty line",
        )
    pairs = [(split_words(one), split_words(other)) for one, other in zip(source.values, target.values, strict=True)]
    return bitext_items(pairs, source)
