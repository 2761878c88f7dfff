"""Word alignments: sure and possible links of the gold, with its sentences or without, and links of systems.

Two notations are read: ``i-j``, and that of the NAACL shared task.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar, Literal

from pipeline.dataclass import dataclass
from pipeline.errors import DataError, Problem
from pipeline.interfaces import FileSample, Items, Reader, Recognised
from pipeline.items.readers._bitext import BITEXT_SEPARATOR, bitext_items, join_words, read_bitext, split_fields
from pipeline.items.readers._files import Lines, read_lines, with_warnings, write_lines
from pipeline.items.readers._join import join_items, need_system
from pipeline.items.readers._tables import refuse

__all__ = ["Link", "Links", "LinksReader"]

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


def _split_base(lines: Sequence[str], base: int) -> tuple[int, int]:
    """Return the number of the first line with links, from 0, and the base: a first line ``# base: 0`` goes before all else."""
    found = _BASE.fullmatch(lines[0]) if lines else None
    return (0, base) if found is None else (1, int(found[1]))


def _parse_links(lines: Sequence[str], *, source: str, first: int, base: int, count: int | None = None) -> list[Links]:
    """Return the links of each sentence.

    Parameters
    ----------
    lines : sequence of str
        One a sentence; or, as of the NAACL shared task, one a link: sentence, source word and target word from 1, then ``S`` or
        ``P`` and a number that says how sure the system was. A word 0 is not a word: the sentence is there, the link is not.
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


def _check_ends(links: Sequence[Sequence[Link]], sizes: Sequence[Link], *, source: str, lines: Sequence[int], base: int) -> None:
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
                problems.append(Problem("P253", f"{word!r} is not a link", f"{source}:{number}", _HELP))
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
            problems.append(Problem("P253", f"{line!r} is not a link", f"{source}:{number}", _HELP))
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


def _check_count(found: int, wanted: int, *, source: str) -> None:
    """Refuse links of more or fewer sentences than the bitext has (P255)."""
    if found != wanted:
        raise DataError.of(
            "P255",
            f"there are links of {found} sentences, and the bitext has {wanted}",
            where=source,
            help="the two go line by line; a sentence without links is an empty line",
        )


_A_LINK = re.compile(r"[0-9]+[-p?][0-9]+")


class LinksReader(Reader):
    """The gold is a file of links, alone or with the bitext they are of; outputs are links, one line a pair.

    Gold and bitext may be one file, ``source ||| target ||| links``. Only what is trained needs the words; where they are known,
    links beyond them are refused.

    Links are ``i-j``, in the gold also ``ipj`` for those that are possible only; or lines of the NAACL shared task. The first word
    has the number 0, or 1 where ``columns: {base: "1"}`` says so, and a file may say it itself in a first line ``# base: 0``.
    Items have the columns ``sure`` and ``possible`` (which includes the sure links), with a bitext also ``source`` and ``target``;
    those of outputs have ``link``. In the columns the first word is 0.
    """

    name: ClassVar[str] = "links"
    endings: ClassVar[tuple[str, ...]] = (".txt", ".links", ".align", ".aligned", ".alignments")
    targets: ClassVar[tuple[str, ...]] = ("sure", "possible")
    compares_with: Literal["references", "gold", "nothing"] = "gold"
    usual_metric: str | None = "aer"
    outputs: ClassVar[tuple[str, ...]] = ("link",)
    blank: str = ""

    def __init__(self) -> None:
        self._told: list[str] = []

    @staticmethod
    def recognise(sample: FileSample) -> Recognised | None:
        """Take lines of links, such as 0-0 1p2."""
        tokens = [token for line in sample.lines[:50] for token in line.split()]
        if tokens and all(_A_LINK.fullmatch(token) for token in tokens):
            return Recognised(0.8, f"every token is a link of two words, as {tokens[0]}")
        return None

    @with_warnings
    def read_gold(self, paths: Sequence[Path], options: Mapping[str, Any]) -> Items | None:
        """Return the links, and the pairs they are of; None without files. The last file holds links, unless all hold both."""
        if not paths:
            return None
        base = _base(options)
        if len(paths) == 1 and not _has_words(read_lines(paths[0])):
            return self._read_alone(paths[0], base)
        if len(paths) == 1 or _has_links(read_lines(paths[0])):
            return join_items([self._read_together(path, base) for path in paths])
        pairs = join_items(read_bitext(paths[:-1], self._told))
        lines = self._read(paths[-1])
        start, base = _split_base(lines.values, base)
        links = _parse_links(lines.values[start:], source=lines.source, first=start + 1, base=base, count=len(pairs))
        _check_count(len(links), len(pairs), source=lines.source)
        return _with_links(pairs, links, lines.source, range(start + 1, start + 1 + len(pairs)), base)

    @with_warnings
    def read_outputs(self, path: Path, *, system: str | None, options: Mapping[str, Any]) -> dict[str, Items]:
        """Return the links of one system."""
        name = need_system(system, path, "links")
        lines = self._read(path)
        links, numbers = _parse(lines, _base(options))
        return {name: Items(_number(links), {"link": tuple(one.possible for one in links)}, lines.source, numbers)}

    def write(self, path: Path, columns: Mapping[str, Sequence[Any]], ids: Sequence[str]) -> None:
        """Write the links of an output or of a gold, and the pairs where they are known; the first word is 0.

        Raises
        ------
        ValueError
            Where a word is empty, is ``|||`` or holds white space: it could not be read again.
        """
        write_lines(path, _as_lines(columns))

    def _read(self, path: Path) -> Lines:
        lines = read_lines(path, tokens=True)
        self._told.extend(lines.warnings)
        return lines

    def _read_alone(self, path: Path, base: int) -> Items:
        lines = self._read(path)
        links, numbers = _parse(lines, base)
        columns = {"sure": tuple(one.sure for one in links), "possible": tuple(one.possible for one in links)}
        return Items(_number(links), columns, lines.source, numbers)

    def _read_together(self, path: Path, base: int) -> Items:
        lines = self._read(path)
        if not _has_links(lines):
            return read_bitext([path], [])[0]
        start, base = _split_base(lines.values, base)
        fields = [split_fields(line) for line in lines.values[start:]]
        wrong = next((k for k, parts in enumerate(fields) if len(parts) != 3), None)
        if wrong is not None:
            raise DataError.of(
                "P255",
                f"the line has `{BITEXT_SEPARATOR}` {len(fields[wrong]) - 1} times in place of twice",
                where=f"{lines.source}:{start + 1 + wrong}",
                help="write `source ||| target ||| links` on every line",
            )
        pairs = bitext_items(fields, lines, first=start + 1)
        given = [" ".join(parts[2]) for parts in fields]
        links = _parse_links(given, source=lines.source, first=start + 1, base=base, count=len(pairs))
        return _with_links(pairs, links, lines.source, pairs.lines, base)


def _base(options: Mapping[str, Any]) -> int:
    base = str(options.get("base", options.get("columns", {}).get("base", "0")))
    if base not in {"0", "1"}:
        raise DataError.of("P254", f"the first word has the number 0 or 1, not {base!r}", help='`columns: {base: "1"}`')
    return int(base)


def _parse(lines: Lines, base: int) -> tuple[list[Links], tuple[int, ...]]:
    """Return the links of each sentence of a file that has nothing else, and the line of each sentence."""
    start, base = _split_base(lines.values, base)
    links = _parse_links(lines.values[start:], source=lines.source, first=start + 1, base=base)
    return links, tuple(range(start + 1, start + 1 + len(links)))


def _number(links: Sequence[Links]) -> tuple[str, ...]:
    return tuple(str(k + 1) for k in range(len(links)))


def _has_words(lines: Lines) -> bool:
    """Say whether a file has sentences, with links or without."""
    return any(BITEXT_SEPARATOR in line for line in lines.values)


def _has_links(lines: Lines) -> bool:
    start, _ = _split_base(lines.values, 0)
    return len(lines.values) > start and len(split_fields(lines.values[start])) > 2


def _with_links(pairs: Items, links: Sequence[Links], source: str, lines: Sequence[int], base: int) -> Items:
    sizes = list(zip(map(len, pairs.columns["source"]), map(len, pairs.columns["target"]), strict=True))
    possible: tuple[tuple[Link, ...], ...] = tuple(one.possible for one in links)
    _check_ends(possible, sizes, source=source, lines=lines, base=base)
    return replace(pairs, columns={**pairs.columns, "sure": tuple(one.sure for one in links), "possible": possible})


def _as_lines(columns: Mapping[str, Sequence[Any]]) -> Iterator[str]:
    if "link" in columns:
        yield "# base: 0"
        for links in columns["link"]:
            yield " ".join(f"{i}-{j}" for i, j in links)
        return
    gold = [name for name in ("sure", "possible") if name in columns]
    if gold:
        yield "# base: 0"
    for k in range(len(columns[gold[0] if gold else "source"])):
        parts = [join_words(columns[side][k]) for side in ("source", "target") if side in columns]
        if gold:
            sure = set(columns["sure"][k]) if "sure" in columns else set()
            every = sorted(sure.union(*(columns[name][k] for name in gold)))
            parts.append(" ".join(f"{i}{'-' if (i, j) in sure else 'p'}{j}" for i, j in every))
        yield f" {BITEXT_SEPARATOR} ".join(parts)
