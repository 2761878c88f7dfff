"""Links between the words of two sentences. This module parses the notations ``i-j`` and that of the NAACL shared task."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from pipeline.errors import DataError, Problem
from pipeline.items.readers._tables import refuse

__all__ = ["Link", "Links", "check_count", "check_ends", "parse_links", "split_base"]

Link = tuple[int, int]

_LINK = re.compile(r"([0-9]{1,6})([-p])([0-9]{1,6})")
_NAACL = re.compile(r"([0-9]{1,9})\s+([0-9]{1,6})\s+([0-9]{1,6})(?:\s+([SP]))?(?:\s+[0-9.eE+-]+)?")
_BASE = re.compile(r"#\s*base\s*[:=]\s*([01])\s*")
_HELP = "links are `i-j`, or `ipj` where they are possible only, with a space between; or a line `sentence i j S` each"


@dataclass(frozen=True)
class Links:
    """The links of one sentence, positions from 0: those that are sure, and all (the sure ones are possible too)."""

    sure: tuple[Link, ...]
    possible: tuple[Link, ...]


def split_base(lines: Sequence[str], base: int) -> tuple[int, int]:
    """Return the number of the first line with links, from 0, and the base: a first line ``# base: 0`` goes before all else."""
    found = _BASE.fullmatch(lines[0]) if lines else None
    return (0, base) if found is None else (1, int(found[1]))


def parse_links(lines: Sequence[str], *, source: str, first: int, base: int, count: int | None = None) -> list[Links]:
    """Return the links of each sentence.

    Parameters
    ----------
    lines : sequence of str
        One a sentence; or, as of the NAACL shared task, one a link: sentence, source word and target word from 1, then ``S`` or
        ``P`` and a number that says how sure the system was. A word 0 is no word: the sentence is there, the link is not.
    source : str
        The file, for messages.
    first : int
        Number of the first line, from 1.
    base : int
        Number of the first word of a sentence in ``i-j``.
    count : int, optional
        How many sentences there are; without it as many as the last line of a link says.

    Raises
    ------
    DataError
        P253 where a line holds something else; P254 where a position is less than the base.
    """
    begun = next((line.split() for line in lines if line.strip()), [])
    naacl = bool(begun) and len(begun) > 2 and all(word.isdecimal() for word in begun[:3])
    return _parse_naacl(lines, source, first, count) if naacl else _parse_lines(lines, source, first, base)


def check_ends(links: Sequence[Sequence[Link]], sizes: Sequence[Link], *, source: str, lines: Sequence[int], base: int) -> None:
    """Refuse links beyond the words of their sentences (P254), and say whether the other base would fit them all."""
    beyond = [
        (k, link)
        for k, (given, (rows, columns)) in enumerate(zip(links, sizes, strict=True))
        for link in given
        if link[0] >= rows or link[1] >= columns
    ]
    if not beyond:
        return
    fits = base == 0 and all(
        1 <= i <= rows and 1 <= j <= columns for given, (rows, columns) in zip(links, sizes, strict=True) for i, j in given
    )
    refuse(
        Problem(
            "P254",
            f"the link {i + base}-{j + base} is beyond the sentences, which have {sizes[k][0]} and {sizes[k][1]} words "
            f"(the first is number {base})",
            f"{source}:{lines[k]}",
            _OTHER.format(1) if fits else "check that the links are of this bitext, and which word has the number 0 or 1",
        )
        for k, (i, j) in beyond
    )


_OTHER = 'all links of the file fit if the first word has the number {0}: `columns: {{base: "{0}"}}`'


def _parse_lines(lines: Sequence[str], source: str, first: int, base: int) -> list[Links]:
    problems: list[Problem] = []
    found: list[Links] = []
    for number, line in enumerate(lines, start=first):
        sure: set[Link] = set()
        possible: set[Link] = set()
        for word in line.split():
            match = _LINK.fullmatch(word)
            if match is None:
                problems.append(Problem("P253", f"{word!r} is no link", f"{source}:{number}", _HELP))
                break
            link = (int(match[1]) - base, int(match[3]) - base)
            if min(link) < 0:
                problems.append(
                    Problem(
                        "P254",
                        f"the link {word} has a word 0, and words are numbered from 1",
                        f"{source}:{number}",
                        _OTHER.format(0),
                    )
                )
                break
            (sure if match[2] == "-" else possible).add(link)
        found.append(Links(tuple(sorted(sure)), tuple(sorted(sure | possible))))
    refuse(problems)
    return found


def _parse_naacl(lines: Sequence[str], source: str, first: int, count: int | None) -> list[Links]:
    problems: list[Problem] = []
    links: dict[int, tuple[set[Link], set[Link]]] = {}
    for number, line in enumerate(lines, start=first):
        if not line.strip():
            continue
        match = _NAACL.fullmatch(line.strip())
        if match is None:
            problems.append(Problem("P253", f"{line!r} is no link", f"{source}:{number}", _HELP))
            continue
        sentence, link = int(match[1]), (int(match[2]) - 1, int(match[3]) - 1)
        if sentence < 1 or sentence > (1_000_000 if count is None else count):
            there = "sentences are numbered from 1" if count is None else f"there are {count}, numbered from 1"
            problems.append(Problem("P253", f"there is no sentence {sentence}: {there}", f"{source}:{number}"))
            continue
        sure, possible = links.setdefault(sentence, (set(), set()))
        if min(link) >= 0:
            (possible if match[4] == "P" else sure).add(link)
    refuse(problems)
    empty: tuple[set[Link], set[Link]] = (set(), set())
    return [
        Links(tuple(sorted(sure)), tuple(sorted(sure | possible)))
        for sure, possible in (links.get(k + 1, empty) for k in range(count or max(links, default=0)))
    ]


def check_count(found: int, wanted: int, *, source: str) -> None:
    """Refuse links of more or fewer sentences than the bitext has (P255)."""
    if found != wanted:
        raise DataError.of(
            "P255",
            f"there are links of {found} sentences, and the bitext has {wanted}",
            where=source,
            help="the two go line by line; a sentence without links is an empty line",
        )
