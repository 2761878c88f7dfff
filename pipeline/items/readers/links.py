"""Word alignments: sure and possible links of the gold, with its sentences or without, and links of systems, read and written."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar, Literal

from pipeline.errors import DataError
from pipeline.interfaces import FileSample, Items, Reader, Recognised
from pipeline.items.readers._bitext import BITEXT_SEPARATOR, bitext_items, join_words, read_bitext, split_fields
from pipeline.items.readers._files import Lines, read_lines, write_lines
from pipeline.items.readers._join import join_items, need_system
from pipeline.items.readers._links import Link, Links, check_count, check_ends, parse_links, split_base
from pipeline.items.readers._warnings import with_warnings

__all__ = ["LinksReader"]


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
        start, base = split_base(lines.values, base)
        links = parse_links(lines.values[start:], source=lines.source, first=start + 1, base=base, count=len(pairs))
        check_count(len(links), len(pairs), source=lines.source)
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
        start, base = split_base(lines.values, base)
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
        links = parse_links(given, source=lines.source, first=start + 1, base=base, count=len(pairs))
        return _with_links(pairs, links, lines.source, pairs.lines, base)


def _base(options: Mapping[str, Any]) -> int:
    base = str(options.get("base", options.get("columns", {}).get("base", "0")))
    if base not in {"0", "1"}:
        raise DataError.of("P254", f"the first word has the number 0 or 1, not {base!r}", help='`columns: {base: "1"}`')
    return int(base)


def _parse(lines: Lines, base: int) -> tuple[list[Links], tuple[int, ...]]:
    """Return the links of each sentence of a file that has nothing else, and the line of each sentence."""
    start, base = split_base(lines.values, base)
    links = parse_links(lines.values[start:], source=lines.source, first=start + 1, base=base)
    return links, tuple(range(start + 1, start + 1 + len(links)))


def _number(links: Sequence[Links]) -> tuple[str, ...]:
    return tuple(str(k + 1) for k in range(len(links)))


def _has_words(lines: Lines) -> bool:
    """Say whether a file has sentences, with links or without."""
    return any(BITEXT_SEPARATOR in line for line in lines.values)


def _has_links(lines: Lines) -> bool:
    start, _ = split_base(lines.values, 0)
    return len(lines.values) > start and len(split_fields(lines.values[start])) > 2


def _with_links(pairs: Items, links: Sequence[Links], source: str, lines: Sequence[int], base: int) -> Items:
    sizes = list(zip(map(len, pairs.columns["source"]), map(len, pairs.columns["target"]), strict=True))
    possible: tuple[tuple[Link, ...], ...] = tuple(one.possible for one in links)
    check_ends(possible, sizes, source=source, lines=lines, base=base)
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
