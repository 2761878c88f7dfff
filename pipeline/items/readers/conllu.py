"""Dependency trees. This module reads and writes CoNLL-U, and CoNLL-X, which is CoNLL-U without comments and ranges."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

from pipeline.errors import DataError, Problem
from pipeline.interfaces import Items
from pipeline.items.readers._files import Lines, read_lines, write_lines
from pipeline.items.readers._join import join_items, name_items, need_system
from pipeline.items.readers._tables import refuse
from pipeline.study.grouping import ROLES

__all__ = ["ConlluReader"]

_N_COLUMNS = 10
_NOT_A_WORD = re.compile(r"[0-9]+(-[0-9]+|\.[0-9]+)")
_COMMENT = re.compile(r"#\s*([^=\s]+)\s*(?:id\s*)?(?:=\s*(.*?)\s*)?")


@dataclass
class _Sentence:
    """What is read of a sentence before it is known to be a tree."""

    line: int
    rows: list[list[str]] = field(default_factory=list)
    comments: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class _Comments:
    """Which comments are wanted, by the names of their columns, and how many documents the files before have."""

    keys: Mapping[str, str]
    before: int


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
    blank: ClassVar[str] = ""

    def __init__(self) -> None:
        self.warnings: list[str] = []

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


def _split(lines: Lines) -> list[_Sentence]:
    """Give the sentences of a file with the rows of their words."""
    problems: list[Problem] = []
    sentences: list[_Sentence] = []
    comments: dict[str, str] = {}
    rows: list[list[str]] = []
    start, damaged = 0, False
    for number, line in enumerate(lines.values, start=1):
        if not line:
            if rows:
                sentences.append(_Sentence(start, rows, comments))
            comments, rows, damaged = {}, [], False
        elif damaged:
            continue  # the rest of the sentence is counted wrongly: one complaint is enough
        elif line[0] == "#" and not rows:
            key, value = _read_comment(line)
            comments[key] = value
        else:
            row = line.split("\t")
            if len(row) == _N_COLUMNS and row[0] == str(len(rows) + 1) and "" not in row:
                if not rows:
                    start = number
                rows.append(row)
            elif len(row) != _N_COLUMNS or not _NOT_A_WORD.fullmatch(row[0]):
                problems.append(Problem("P250", _complain(row, len(rows) + 1), f"{lines.source}:{number}", _HELP))
                damaged = True
    refuse(problems)
    if rows:
        raise DataError.of(
            "P250",
            "the file ends within a sentence: there is no empty line after its last word",
            where=f"{lines.source}:{len(lines.values)}",
            help="copy or make the file again; if the sentence is whole, add an empty line",
        )
    if not sentences:
        raise DataError.of("P250", "the file has no sentence", where=lines.source, help=_HELP)
    return sentences


_HELP = "a word is ten columns separated by tabs: number, form, lemma, UPOS, XPOS, features, head, relation, two more; `_` is blank"


def _complain(row: list[str], wanted: int) -> str:
    if len(row) != _N_COLUMNS:
        return f"the word has {len(row)} columns in place of {_N_COLUMNS}"
    if row[0] != str(wanted):
        return f"the word has the number {row[0]!r} where {wanted} comes next"
    return f"column {row.index('') + 1} is empty"


def _read_comment(line: str) -> tuple[str, str]:
    """Give key and value of ``# key = value``; ``# newdoc id = x`` has the key ``newdoc``, and no value is ``""``."""
    found = _COMMENT.fullmatch(line)
    return (found[1], found[2] or "") if found else ("", line)


def _check_trees(sentences: Sequence[_Sentence], source: str, *, one_root: bool) -> tuple[list[tuple[int, ...]], bool]:
    """Give the heads of each sentence, and whether all are blank; what is no tree is refused."""
    heads = [[row[6] for row in sentence.rows] for sentence in sentences]
    if all(head == "_" for given in heads for head in given):
        return [], True
    problems: list[Problem] = []
    trees: list[tuple[int, ...]] = []
    for sentence, given in zip(sentences, heads, strict=True):
        try:
            trees.append(tuple(map(_NUMBERS.__getitem__, given)))
        except KeyError:
            trees.append(tuple(_number(head) for head in given))
        wrong = next(_find_faults(trees[-1], given, one_root=one_root), None)
        if wrong is not None:
            word, message = wrong
            problems.append(Problem("P251", message, f"{source}:{sentence.line}, word {word}", _HELP_TREE))
    refuse(problems)
    return trees, False


_NUMBERS = {str(k): k for k in range(1000)}
_MOST_DIGITS = 9  # Python refuses to read thousands of them
_HELP_TREE = "every word has one head, the number of another word or 0, and all lead to the root"


def _number(head: str) -> int:
    return int(head) if head.isascii() and head.isdecimal() and len(head) <= _MOST_DIGITS else -1


def _find_faults(heads: tuple[int, ...], given: Sequence[str], *, one_root: bool) -> Iterator[tuple[int, str]]:
    """Yield words and what is wrong with their heads."""
    count = len(heads)
    for word, head in enumerate(heads, start=1):
        if head < 0:
            yield word, f"the head {given[word - 1][:40]!r} is not a number"
        elif head > count:
            yield word, f"the head {head} is not in the sentence, which has {count} words"
    cycle = _find_cycle(heads)
    if cycle:
        yield cycle, f"the words lead in a circle: from word {cycle} its heads come back to it"
    if one_root and heads.count(0) != 1:
        roots = [word for word, head in enumerate(heads, start=1) if head == 0]
        yield roots[1], f"the sentence has {len(roots)} roots, the words {', '.join(map(str, roots[:5]))}, and the gold has one"


def _find_cycle(heads: tuple[int, ...]) -> int:
    """Give a word on a cycle, or 0. Each word is walked over once: what it leads to is marked by the word begun with."""
    begun = [0] * (len(heads) + 1)
    begun[0] = -1
    for first in range(1, len(heads) + 1):
        word = first
        while begun[word] == 0:
            begun[word] = first
            word = heads[word - 1]
        if begun[word] == first:
            return word
    return 0


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
            if line.count("\t") != _N_COLUMNS - 1 or not (word and first and second and relation):
                raise ValueError(f"sentence {name!r}: the values of word {number} are empty or hold a tab: {line!r}")
            yield line
        yield ""
