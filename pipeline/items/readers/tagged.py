"""Tagged text: read and write one sentence per line, each word followed by a slash and its tag."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Literal

from pipeline.errors import DataError, Problem
from pipeline.interfaces import FileSample, Items, Reader, Recognised
from pipeline.items.readers._files import read_lines, with_warnings, write_lines
from pipeline.items.readers._join import NOT_GIVEN, Part, as_items, given_columns, need_system
from pipeline.items.readers._tables import refuse

__all__ = ["TaggedReader"]

_SLASH = "/"


class TaggedReader(Reader):
    """A sentence a line, ``word/TAG`` parted by blanks: the columns ``word`` and ``tag``, gold and outputs alike.

    A token is split at its last slash, or at the last ``separator`` of the options. ``# doc NAME`` begins a document; other lines
    that begin with ``# `` are comments, and empty lines are no sentences.
    """

    name: ClassVar[str] = "tagged"
    endings: ClassVar[tuple[str, ...]] = (".txt", ".tagged", ".tags", ".pos")
    targets: ClassVar[tuple[str, ...]] = ("tag",)
    compares_with: Literal["references", "gold", "nothing"] = "gold"
    usual_metric: str | None = "tag-accuracy"
    blank: str = ""
    exact: ClassVar[bool] = True

    def __init__(self) -> None:
        self._told: list[str] = []

    @staticmethod
    def recognise(sample: FileSample) -> Recognised | None:
        """Take lines whose every token has a slash and a tag behind it."""
        tokens = [token for line in sample.lines[:50] if not line.startswith("# ") for token in line.split()]
        if len(tokens) > 1 and all(0 < token.rfind("/") < len(token) - 1 for token in tokens):
            return Recognised(0.7, f"every token is a word and its tag, as {tokens[0]}")
        return None

    @with_warnings
    def read_gold(self, paths: Sequence[Path], options: Mapping[str, Any]) -> Items | None:
        """Return the sentences of one file or several."""
        return as_items([self._read(path, options) for path in paths]) if paths else None

    @with_warnings
    def read_outputs(self, path: Path, *, system: str | None, options: Mapping[str, Any]) -> dict[str, Items]:
        """Return the sentences of one system; it is the gold that says which document they are of."""
        return {need_system(system, path, "sentences"): as_items([self._read(path, options)], documents=False)}

    def write(self, path: Path, columns: Mapping[str, Sequence[Any]], ids: Sequence[str]) -> None:
        """Write words and tags with a slash between; the tag ``_`` where there are none. It is read without options.

        Raises
        ------
        ValueError
            Where a word or tag cannot be written so that it is read as it is.
        """
        words = columns["word"]
        tags = columns.get("tag", [(NOT_GIVEN,) * len(sentence) for sentence in words])
        documents = columns.get("document", ("",) * len(words))
        lines: list[str] = []
        before = ""
        for sentence, given, document in zip(words, tags, documents, strict=True):
            if document != before:
                if document != document.strip(" \t") or not document or "\n" in document:
                    raise ValueError(f"a document cannot be named {document!r}")
                lines.append(f"# doc {document}")
            before = document
            tokens = [_join(word, tag) for word, tag in zip(sentence, given, strict=True)]
            if not tokens:
                raise ValueError("a sentence has no words")
            lines.append(" ".join(tokens))
        write_lines(path, lines)

    def _read(self, path: Path, options: Mapping[str, Any]) -> Part:
        lines = read_lines(path, tokens=True)
        self._told.extend(lines.warnings)
        separator = _find_separator(options.get("columns", {}), lines.source)
        words: list[tuple[str, ...]] = []
        tags: list[tuple[str, ...]] = []
        starts: list[int] = []
        documents: list[str | int] = []
        problems: list[Problem] = []
        document = ""
        for number, line in enumerate(lines.values, start=1):
            if line.startswith("# ") or line == "#":
                document = line[6:].strip(" \t") if line.startswith("# doc ") else document
                continue
            # `str.split()` would also part words at blanks that do not break.
            parts = [token.rpartition(separator) for token in line.replace("\t", " ").split(" ") if token]
            if not parts:
                continue
            problems += _malformed(parts, separator, f"{lines.source}:{number}")
            words.append(tuple([part[0] for part in parts]))
            tags.append(tuple([part[2] for part in parts]))
            starts.append(number)
            documents.append(document)
        refuse(problems)
        return Part(given_columns({"word": words, "tag": tags}), documents, tuple(starts), lines.source)


def _find_separator(columns: Mapping[str, str], source: str) -> str:
    separator = columns.get("separator", _SLASH)
    if not separator or any(sign.isspace() or sign == "#" for sign in separator):
        raise DataError.of("P241", f"the separator of word and tag cannot be {separator!r}", where=source)
    return separator


def _malformed(parts: Sequence[tuple[str, str, str]], separator: str, where: str) -> list[Problem]:
    bad = [(k, "".join(part)) for k, part in enumerate(parts) if not part[0] or not part[2]]
    if not bad:
        return []
    place, token = bad[0]
    several = f", and {len(bad) - 1} more tokens of the line" if len(bad) > 1 else ""
    message = f"token {place + 1}, '{token}'{several}: no word{separator}TAG"
    return [Problem("P244", message, where, "`columns: {separator: …}` says what stands between a word and its tag")]


def _join(word: str, tag: str) -> str:
    joined = word + _SLASH + tag  # an f-string would write a member of an enumeration by its name
    if not word or not tag or _SLASH in tag or any(sign in joined for sign in " \t\n") or tag.endswith("\r"):
        raise ValueError(f"the word {word!r} with the tag {tag!r} cannot be written as word/TAG")
    return joined
