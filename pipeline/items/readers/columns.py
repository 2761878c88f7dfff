"""Columns of tokens: read and write the files of the CoNLL-2000 and CoNLL-2003 shared tasks."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, ClassVar, Literal

from pipeline.errors import DataError, Problem
from pipeline.interfaces import FileSample, Items, Reader, Recognised
from pipeline.items.readers._files import Lines, read_lines, with_warnings, write_lines
from pipeline.items.readers._join import NOT_GIVEN, Part, as_items, given_columns, need_system
from pipeline.items.readers._schemes import to_iob2
from pipeline.items.readers._tables import refuse

__all__ = ["ColumnsReader"]

_USUAL = {"word": 0, "tag": 1, "chunk": -1}
_DOCUMENT = "-DOCSTART-"
_FILLERS = frozenset({"-X-", "O", "-", NOT_GIVEN})
_NAMED = re.compile(r"#\s*(?:doc|newdoc id =)\s+(.*\S)")
_PLACE = re.compile(r"-?[0-9]{1,3}")


_CHUNK_TAG = re.compile(r"O|[BIESLU]-\S+")


class ColumnsReader(Reader):
    """A token a line in columns, a blank line between sentences: ``word``, ``tag`` and ``chunk``, gold and outputs alike.

    Columns are parted by blanks or, where the first token has one, by tabs. A line ``-DOCSTART-`` begins a document and is no
    sentence; so does ``# doc NAME`` before a sentence, where other lines with ``#`` are comments if they are not as wide as a
    token. Chunks are given in IOB2, whatever scheme the file has.
    """

    name: ClassVar[str] = "columns"
    endings: ClassVar[tuple[str, ...]] = (".txt", ".conll", ".iob", ".iob2", ".bio")
    targets: ClassVar[tuple[str, ...]] = ("chunk",)
    compares_with: Literal["references", "gold", "nothing"] = "gold"
    usual_metric: str | None = "chunk-f1"
    blank: str = ""

    def __init__(self) -> None:
        self._told: list[str] = []

    @staticmethod
    def recognise(sample: FileSample) -> Recognised | None:
        """Take lines of tokens whose last column is the tag of a chunk, with blank lines between."""
        rows = [line.split() for line in sample.lines if line.strip() and not line.startswith(("#", "-DOCSTART-"))]
        if not rows or any(len(row) != len(rows[0]) for row in rows) or not 2 <= len(rows[0]) <= 8:
            return None
        if all(_CHUNK_TAG.fullmatch(row[-1]) for row in rows):
            return Recognised(0.8, f"{len(rows[0])} columns a token, the last one the tag of a chunk, as {rows[0][-1]}")
        return None

    @with_warnings
    def read_gold(self, paths: Sequence[Path], options: Mapping[str, Any]) -> Items | None:
        """Return the sentences of one file or several; the column ``gold`` of the options, if named, has the gold chunks."""
        columns = options.get("columns", {})
        if "gold" in columns:
            columns = {**columns, "chunk": columns["gold"]}
        return as_items([self._read(path, columns) for path in paths]) if paths else None

    @with_warnings
    def read_outputs(self, path: Path, *, system: str | None, options: Mapping[str, Any]) -> dict[str, Items]:
        """Return the sentences of one system; it is the gold that says which document they are of."""
        items = as_items([self._read(path, options.get("columns", {}))], documents=False)
        return {need_system(system, path, "sentences"): items}

    def write(self, path: Path, columns: Mapping[str, Sequence[Any]], ids: Sequence[str]) -> None:
        """Write three columns, word, tag and chunk; ``_`` where a column is not there. It is read without options.

        Raises
        ------
        ValueError
            Where a value cannot be written so that it is read as it is.
        """
        words = columns["word"]
        unknown = [(NOT_GIVEN,) * len(sentence) for sentence in words]
        tags, chunks = columns.get("tag", unknown), columns.get("chunk", unknown)
        documents = columns.get("document", ("",) * len(words))
        texts = [*documents, *(token for values in (words, tags) for sentence in values for token in sentence)]
        separator = "\t" if any(" " in text for text in texts) or any(text == "" for text in texts[len(words) :]) else " "
        _check_writable(texts, words, tags, chunks, documents)
        lines: list[str] = []
        before = ""
        for sentence in zip(words, tags, chunks, documents, strict=True):
            document = sentence[3]
            if document != before:
                lines += [separator.join((_DOCUMENT, document, "O")), ""]
            before = document
            lines += [separator.join(token) for token in zip(*sentence[:3], strict=True)]
            lines.append("")
        write_lines(path, lines)

    def _read(self, path: Path, columns: Mapping[str, str]) -> Part:
        lines = read_lines(path, tokens=True)
        rows, starts, documents = _parse(lines)
        places = _find_places(columns, len(rows[0][0]) if rows else 3, lines.source) if rows else {}
        found = given_columns({role: [tuple([row[at] for row in sentence]) for sentence in rows] for role, at in places.items()})
        told: tuple[str, ...] = ()
        if "chunk" in found:
            found["chunk"], told = to_iob2(found["chunk"], starts, lines.source)
        self._told.extend((*lines.warnings, *told))
        return Part(found, documents, tuple(starts), lines.source)


def _parse(lines: Lines) -> tuple[list[list[list[str]]], list[int], list[str | int]]:
    """Return the fields of each token of each sentence, the line where each sentence begins, and its document.

    Raises
    ------
    DataError
        P240 for lines with another number of columns than the first token has.
    """
    tokens = [line for line in lines.values if line.strip(" \t") and not line.startswith(_DOCUMENT)]
    model = next((line for line in tokens if not line.startswith("#")), tokens[0] if tokens else "")
    delimiter = "\t" if "\t" in model else " "
    width = len(_split(model, delimiter))
    sentences: list[list[list[str]]] = []
    starts: list[int] = []
    documents: list[str | int] = []
    problems: list[Problem] = []
    document: str | int = ""
    count, inside = 0, False
    for number, line in enumerate(lines.values, start=1):
        if not line or not line.strip(" \t"):
            inside = False
            continue
        if line.startswith(_DOCUMENT):
            inside, count = False, count + 1
            document = _name_of(line, delimiter) or count
            continue
        row = _split(line, delimiter)
        if not inside and line[0] == "#" and _is_comment(line, row, width):
            named = _NAMED.fullmatch(line)
            document = named[1] if named else document
            continue
        if len(row) != width:
            message = f"the line has {len(row)} column{'s' * (len(row) != 1)}, and the first token of the file has {width}"
            problems.append(Problem("P240", message, f"{lines.source}:{number}"))
        if inside:
            sentences[-1].append(row)
        else:
            sentences.append([row])
            starts.append(number)
            documents.append(document)
            inside = True
    refuse(problems)
    return sentences, starts, documents


def _split(line: str, delimiter: str) -> list[str]:
    fields = line.split(delimiter)
    # Blanks may be several, or at the ends. `str.split()` would also part words at blanks that do not break.
    return fields if delimiter == "\t" or "" not in fields else [field for field in fields if field]


def _is_comment(line: str, row: Sequence[str], width: int) -> bool:
    return len(row) != width or row[2:3] == ["="] or _NAMED.fullmatch(line) is not None


def _name_of(line: str, delimiter: str) -> str:
    """Return the name beside the mark of a document; the shared tasks have fillers there."""
    return delimiter.join(field for field in _split(line, delimiter)[1:] if field not in _FILLERS)


def _find_places(columns: Mapping[str, str], width: int, source: str) -> dict[str, int]:
    """Return the column of each role: where the study says, else the usual one if no other role has it.

    Raises
    ------
    DataError
        P241 for a place that is not a whole number, or that the lines do not have.
    """
    places: dict[str, int] = {}
    problems = []
    for role, place in columns.items():
        if role not in {*_USUAL, "gold"}:
            if _PLACE.fullmatch(place):
                message = f"`columns:` places '{role}', and the format columns has word, tag, chunk and gold"
                problems.append(Problem("P241", message, source))
        elif not _PLACE.fullmatch(place) or not -width <= int(place) < width:
            message = f"the column of the {role} is '{place}', and the lines have columns 0 to {width - 1}"
            problems.append(Problem("P241", message, source, "count from 0, or back from the last, which is -1"))
        else:
            places[role] = int(place) % width
    refuse(problems)
    places.pop("gold", None)
    for role in ("word", "chunk", "tag"):
        usual = _USUAL[role] % width if width > _USUAL[role] else None
        if role not in places and usual is not None and usual not in places.values():
            places[role] = usual
    if "word" not in places:
        raise DataError.of(
            "P241", "no column is left for the words", where=source, help='`columns: {word: "…"}` names it, by its number'
        )
    return {role: places[role] for role in _USUAL if role in places}


def _check_writable(
    texts: Sequence[str],
    words: Sequence[Sequence[str]],
    tags: Sequence[Sequence[str]],
    chunks: Sequence[Sequence[str]],
    documents: Sequence[str],
) -> None:
    lost = next((text for text in texts if "\t" in text or "\n" in text), None)
    if lost is not None:
        raise ValueError(f"{lost!r} holds a tab or a line feed")
    filler = next((name for name in documents if _FILLERS & set(name.split(" "))), None)
    if filler is not None:
        raise ValueError(f"a document cannot be named {filler!r}: files have such a word where no name is")
    if any(name == "" and before != "" for before, name in pairwise(documents)):
        raise ValueError("a sentence without a document stands after one with a document")
    for k, (word, tag, chunk) in enumerate(zip(words, tags, chunks, strict=True)):
        if not len(word) == len(tag) == len(chunk) > 0:
            raise ValueError(f"sentence {k + 1} has {len(word)} words, {len(tag)} tags and {len(chunk)} tags of chunks")
        if word[0].startswith(_DOCUMENT) or (word[0] == "#" and tag[0] == "doc"):
            raise ValueError(f"sentence {k + 1} would be read as the beginning of a document")
