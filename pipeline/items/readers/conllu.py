"""Dependency trees. This module reads and writes CoNLL-U, and CoNLL-X, which is CoNLL-U without comments and ranges."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any, ClassVar, Literal

from pipeline.errors import DataError
from pipeline.interfaces import FileSample, Items, Recognised
from pipeline.items.readers._characters import Text, find_difference, lay_out
from pipeline.items.readers._conllu_rows import N_COLUMNS, NOT_A_WORD, Sentence, check_trees, split_sentences
from pipeline.items.readers._files import read_lines, write_lines
from pipeline.items.readers._join import join_items, name_items, need_system
from pipeline.items.readers._segments import segment_again
from pipeline.study.grouping import ROLES

__all__ = ["ConlluReader"]

_SHOWN = 12
"""Characters on each side of a place where texts part."""


class ConlluReader:
    """Ten columns separated by tabs, an empty line after each sentence; gold and outputs alike.

    Items have the columns ``word``, ``upos``, ``tag`` (the tag of the language), ``head`` (the number of the word each depends on,
    0 for the root) and ``relation``. Ranges (``3-4``) and empty nodes (``3.1``) are left out. The gold has ``document`` where there
    are ``# newdoc`` lines, and every comment ``# key = value`` that ``columns:`` names. Where all heads are blank (``_``) there are
    no columns ``head`` and ``relation``.

    Attributes
    ----------
    warnings : list of str
        What was odd about the files read so far.
    """

    name: ClassVar[str] = "conllu"
    targets: ClassVar[tuple[str, ...]] = ("head", "relation")
    compares_with: ClassVar[Literal["references", "gold", "nothing"]] = "gold"
    usual_metric: ClassVar[str | None] = "las"
    blank: ClassVar[str] = ""

    def __init__(self) -> None:
        self.warnings: list[str] = []

    @staticmethod
    def recognise(sample: FileSample) -> Recognised | None:
        """Take ten columns between tabs, the first the number of a word."""
        for number, line in enumerate(sample.lines, start=1):
            if line and not line.startswith("#"):
                fields = line.split("\t")
                if len(fields) == N_COLUMNS and (fields[0] == "1" or NOT_A_WORD.fullmatch(fields[0])):
                    return Recognised(0.95, f"line {number} has ten columns between tabs, the first is {fields[0]}")
                return None
        return None

    def read_gold(self, paths: Sequence[Path], options: Mapping[str, Any]) -> Items | None:
        """Give the sentences of one or several files, each a tree with one root; None without files."""
        if not paths:
            return None
        columns: Mapping[str, str] = options.get("columns", {})
        keys = {role: key for role, key in columns.items() if role not in ROLES}
        parts: list[Items] = []
        for path in paths:
            before = sum(len(set(part.columns.get("document", ()))) for part in parts)
            parts.append(self._read(path, one_root=True, comments=_Comments(keys, before)))
        return join_items(parts)

    def read_outputs(self, path: Path, *, system: str | None, options: Mapping[str, Any]) -> dict[str, Items]:
        """Give the trees of one system; several roots are taken as the parser gave them, cycles are not."""
        return {need_system(system, path, "trees"): self._read(path, one_root=False)}

    def write(self, path: Path, columns: Mapping[str, Sequence[Any]], ids: Sequence[str]) -> None:
        """Write sentences; a column that is not there is blank (``_``).

        Raises
        ------
        ValueError
            Where a value is empty or holds a tab, or a sentence has no word: it could not be read again.
        """
        write_lines(path, _as_lines(columns, ids))

    def _read(self, path: Path, *, one_root: bool, comments: _Comments | None = None) -> Items:
        lines = read_lines(path)
        self.warnings.extend(lines.warnings)
        sentences = _split(lines)
        trees, blank = _check_trees(sentences, lines.source, one_root=one_root)
        fields = [tuple(zip(*sentence.rows, strict=True)) for sentence in sentences]
        columns: dict[str, Sequence[Any]] = {
            "word": tuple(row[1] for row in fields),
            "upos": tuple(row[3] for row in fields),
            "tag": tuple(row[4] for row in fields),
        }
        if not blank:
            columns |= {"head": tuple(trees), "relation": tuple(row[7] for row in fields)}
        if comments is not None:
            columns |= _groups(sentences, comments)
        ids, numbered = name_items([sentence.comments.get("sent_id") for sentence in sentences])
        return Items(ids, columns, lines.source, tuple(sentence.line for sentence in sentences), numbered)


def _groups(sentences: Sequence[_Sentence], wanted: _Comments) -> dict[str, tuple[str, ...]]:
    """Give the document of each sentence, and the comments that are asked for, which hold until another within a document."""
    held: dict[str, str] = {}
    rows: list[dict[str, str]] = []
    documents = wanted.before
    for sentence in sentences:
        if "newdoc" in sentence.comments:
            documents += 1
            held = {"document": sentence.comments["newdoc"] or f"document {documents}"}
        held |= {role: sentence.comments[key] for role, key in wanted.keys.items() if key in sentence.comments}
        rows.append(dict(held))
    return {role: tuple(row.get(role, "") for row in rows) for role in dict.fromkeys(role for row in rows for role in row)}


def _as_lines(columns: Mapping[str, Sequence[Any]], ids: Sequence[str]) -> Iterator[str]:
    numbered = list(ids) == [str(k + 1) for k in range(len(ids))]
    documents = columns.get("document")
    for k, name in enumerate(ids):
        if documents is not None and documents[k] and (k == 0 or documents[k] != documents[k - 1]):
            yield f"# newdoc id = {documents[k]}"
        if not numbered:
            yield f"# sent_id = {name}"
        words = columns["word"][k]
        if not words:
            raise ValueError(f"sentence {name!r} has no word")
        blank = ("_",) * len(words)
        upos, tags, heads, relations = (
            columns[column][k] or blank if column in columns else blank for column in ("upos", "tag", "head", "relation")
        )
        for number, (word, *rest) in enumerate(zip(words, upos, tags, heads, relations, strict=True), start=1):
            first, second, head, relation = map(str, rest)
            line = f"{number}\t{word}\t_\t{first}\t{second}\t_\t{head}\t{relation}\t_\t_"
            if line.count("\t") != N_COLUMNS - 1 or not (word and first and second and relation):
                raise ValueError(f"sentence {name!r}: the values of word {number} are empty or hold a tab: {line!r}")
            yield line
        yield ""
