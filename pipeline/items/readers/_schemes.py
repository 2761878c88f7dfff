"""How chunks are written as tags: recognise IOB1, IOB2, IOBES and BILOU in a file and return IOB2.

A chunk begins where the official scorer of the CoNLL shared tasks lets one begin: at a tag that says so, and at an inside tag that
follows no chunk of its type. So the chunks do not depend on whether a file is called IOB1 or IOB2, and none is lost where a file
is faulty; what is odd is told.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

from pipeline.errors import DataError, Problem
from pipeline.items.readers._tables import refuse

__all__ = ["to_iob2"]

_BEGINS, _ENDS = frozenset("BSU"), frozenset("ESLU")


@dataclass
class _Seen:
    """What a file's tags were like: counts, and the line of the first."""

    inside_first: int = 0
    first_line: int = 0
    needed: int = 0
    """B where a chunk of the same type touches: IOB1 has no other."""
    other: int = 0
    unclosed: int = 0
    unclosed_line: int = 0


def to_iob2(
    sentences: Sequence[tuple[str, ...]], lines: Sequence[int], source: str
) -> tuple[tuple[tuple[str, ...], ...], tuple[str, ...]]:
    """Return the tags of each sentence in IOB2, and sentences about the scheme where it was another or was not kept to.

    Parameters
    ----------
    sentences : sequence of tuple of str
        One tag a token.
    lines : sequence of int
        The line of the first token of each sentence; the others are on the lines below.
    source : str
        The file.

    Raises
    ------
    DataError
        P242 for tags of no scheme; P243 for a file that mixes IOBES and BILOU.

    Examples
    --------
    >>> to_iob2([("I-NP", "I-NP", "B-NP", "O")], [1], "a")[0]
    (('B-NP', 'I-NP', 'B-NP', 'O'),)
    >>> to_iob2([("S-NP", "B-VP", "E-VP")], [1], "a")
    ((('B-NP', 'B-VP', 'I-VP'),), ('a: chunks are tagged in IOBES, and read as IOB2',))
    """
    parsed = {tag: _parse(tag) for tag in set(chain.from_iterable(sentences))}
    bad = {tag for tag, parts in parsed.items() if parts is None}
    if bad:
        refuse(_impossible(sentences, lines, source, bad))
    known = {tag: parts for tag, parts in parsed.items() if parts is not None}
    prefixes = {prefix for prefix, _ in known.values()}
    scheme = _closing_scheme(prefixes, sentences, lines, source)
    begin = {tag: f"B-{kind}" if kind else "B" for tag, (_, kind) in known.items()}
    inside = {tag: f"I-{kind}" if kind else "I" for tag, (_, kind) in known.items()}
    seen = _Seen()
    normal = []
    for tags, line in zip(sentences, lines, strict=True):
        given = []
        still: str | None = None  # the type of a chunk that the next tag may continue
        for k, tag in enumerate(tags):
            prefix, kind = known[tag]
            if prefix == "O":
                begins, goes_on = False, None
                given.append("O")
            else:
                begins = prefix in _BEGINS or still != kind
                goes_on = None if prefix in _ENDS else kind
                given.append(begin[tag] if begins else inside[tag])
                if begins and prefix not in _BEGINS:
                    seen.inside_first += 1
                    seen.first_line = seen.first_line or line + k
                elif prefix == "B":
                    seen.needed += still == kind
                    seen.other += still != kind
            if still is not None and (begins or prefix == "O"):
                seen.unclosed += 1
                seen.unclosed_line = seen.unclosed_line or line + k - 1
            still = goes_on
        if still is not None:
            seen.unclosed += 1
            seen.unclosed_line = seen.unclosed_line or line + len(tags) - 1
        normal.append(tuple(given))
    told = _tell_closing(scheme, seen, source) if scheme else _tell_iob(seen, source)
    return tuple(normal), told


def _parse(tag: str) -> tuple[str, str] | None:
    """Split a tag at its first hyphen into prefix and type; None for what is not a tag of a chunk."""
    prefix, hyphen, kind = tag.partition("-")
    if tag == "O":
        return "O", ""
    return (prefix, kind) if prefix in {"B", "I", "E", "S", "L", "U"} and bool(hyphen) == bool(kind) else None


def _impossible(sentences: Sequence[tuple[str, ...]], lines: Sequence[int], source: str, bad: set[str]) -> Iterator[Problem]:
    for tags, line in zip(sentences, lines, strict=True):
        for k, tag in enumerate(tags):
            if tag in bad:
                yield Problem(
                    "P242",
                    f"'{tag}' is not a tag of a chunk in IOB1, IOB2, IOBES or BILOU",
                    f"{source}:{line + k}",
                    "a tag is O, or one of B, I, E, S, L, U with a hyphen and a type; "
                    '`columns: {chunk: "…"}` has the number of its column',
                )


def _closing_scheme(prefixes: set[str], sentences: Sequence[tuple[str, ...]], lines: Sequence[int], source: str) -> str:
    """Return the name of the scheme that marks the ends of chunks; empty where none does."""
    iobes, bilou = prefixes & {"E", "S"}, prefixes & {"L", "U"}
    if iobes and bilou:
        first = {
            letter: next(
                line + k for tags, line in zip(sentences, lines, strict=True) for k, tag in enumerate(tags) if tag[0] == letter
            )
            for letter in (min(iobes), min(bilou))
        }
        (one, here), (other, there) = first.items()
        raise DataError.of(
            "P243",
            f"the file mixes two schemes: {one} of IOBES (line {here}) and {other} of BILOU (line {there})",
            where=f"{source}:{max(here, there)}",
            help="write all chunks in one scheme",
        )
    return "IOBES" if iobes else "BILOU" if bilou else ""


def _tell_closing(scheme: str, seen: _Seen, source: str) -> tuple[str, ...]:
    told = [f"{source}: chunks are tagged in {scheme}, and read as IOB2"]
    if seen.inside_first:
        told.append(
            f"{source}: {seen.inside_first} chunks begin with a tag that should continue one, the first on line {seen.first_line}; "
            "they are counted as chunks"
        )
    if seen.unclosed:
        told.append(f"{source}: {seen.unclosed} chunks are not closed as {scheme} asks, the first on line {seen.unclosed_line}")
    return tuple(told)


def _tell_iob(seen: _Seen, source: str) -> tuple[str, ...]:
    if not seen.inside_first:
        return ()
    if not seen.other:
        sure = "" if seen.needed else " (no two chunks of a type touch: it might as well be IOB2 that never says B)"
        return (f"{source}: chunks are tagged in IOB1{sure}, and read as IOB2",)
    if seen.other < seen.inside_first:
        return (
            f"{source}: chunks are tagged in IOB1, and read as IOB2; but {seen.other} begin with B where none of their type "
            "is before them",
        )
    return (
        f"{source}: chunks are tagged in IOB2, but {seen.inside_first} begin with I, the first on line {seen.first_line}; "
        "each of them is a chunk, as conlleval counts",
    )
