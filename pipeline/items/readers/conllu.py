"""Dependency trees in CoNLL-U, and in CoNLL-X, which is CoNLL-U without comments and ranges.

An output may divide the text into other sentences and words than the gold does. `_segment_again` gives its words the sentences of
the gold, along the characters that both have.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, count, pairwise
from pathlib import Path
from typing import Any, ClassVar, Literal

from pipeline.dataclass import dataclass, field
from pipeline.errors import DataError, Problem
from pipeline.interfaces import FileSample, Items, Reader, Recognised
from pipeline.items.readers._characters import Text, align_words, find_difference, lay_out
from pipeline.items.readers._conllu_rows import N_COLUMNS, NOT_A_WORD, Sentence, check_trees, split_sentences
from pipeline.items.readers._files import read_lines, with_warnings, write_lines
from pipeline.items.readers._join import join_items, name_items, need_system
from pipeline.study.grouping import ROLES

__all__ = ["ConlluReader"]


def _segment_again(gold: Items, output: Items, ours: Text, theirs: Text) -> Items:
    """Return the words of an output by the sentences of the gold; ``ours`` and ``theirs`` are their words along the same text.

    A word that is aligned is in the sentence of its gold word, any other in the one in which it begins. The column ``aligned`` has
    the number of the gold word in its sentence, 0 for none. Heads are numbers of gold words too: that of the word with which the
    head is aligned, 0 for a root, and -1 where the head is not aligned, or with a word of another gold sentence, which is no gold
    word's head.
    """
    import numpy as np  # recognising a file does not need it

    aligned = align_words(ours, theirs)
    firsts = np.array(ours.firsts, dtype=np.int64)
    sentence_of_gold = np.repeat(np.arange(len(gold)), np.diff(firsts))
    begins = np.array([*ours.starts, len(ours.characters)], dtype=np.int64)[firsts[:-1]]
    is_aligned = aligned >= 0
    starts = np.array(theirs.starts, dtype=np.int64)
    sentence = np.where(is_aligned, sentence_of_gold[aligned], np.searchsorted(begins, starts, side="right") - 1)
    number = aligned - firsts[sentence] + 1
    their_firsts = np.array(theirs.firsts, dtype=np.int64)
    given = np.repeat(np.arange(len(output)), np.diff(their_firsts))
    columns: dict[str, Sequence[Any]] = {
        name: list(chain.from_iterable(output.columns[name]))
        for name in ("word", "upos", "tag", "relation")
        if name in output.columns
    }
    columns["aligned"] = np.where(is_aligned, number, 0).tolist()
    if "head" in output.columns:
        heads = np.fromiter(chain.from_iterable(output.columns["head"]), dtype=np.int64, count=len(given))
        place = np.where(heads > 0, their_firsts[given] + heads - 1, 0)
        found = is_aligned[place] & (sentence_of_gold[aligned[place]] == sentence)
        columns["head"] = np.where(heads == 0, 0, np.where(found, aligned[place] - firsts[sentence] + 1, -1)).tolist()
    order = np.argsort(sentence, kind="stable")
    bounds = np.searchsorted(sentence[order], np.arange(len(gold) + 1)).tolist()
    shuffled = not bool(np.all(order[1:] > order[:-1]))
    whose = given[order]
    lines = np.array(output.lines)[whose[np.clip(bounds[:-1], 0, len(whose) - 1)]].tolist()
    for name, values in columns.items():
        ordered = [values[k] for k in order] if shuffled else values
        columns[name] = tuple(tuple(ordered[start:end]) for start, end in pairwise(bounds))
    return replace(output, ids=gold.ids, columns=columns, lines=tuple(lines), numbered=gold.numbered)


_SHOWN = 12
"""Characters on each side of a place where texts part."""


@dataclass(frozen=True)
class _Comments:
    """Which comments are wanted, by the names of their columns, and numbers for documents and paragraphs that have no name."""

    keys: Mapping[str, str]
    numbers: Mapping[str, Iterator[int]] = field(default_factory=lambda: {"document": count(1), "paragraph": count(1)})


class ConlluReader(Reader):
    """Ten columns separated by tabs, an empty line after each sentence; gold and outputs alike.

    Items have the columns ``word``, ``upos``, ``tag`` (the tag of the language), ``head`` (the number of the word each depends on,
    0 for the root) and ``relation``; where tokens stand for several words (``3-4``) also ``range``: first word, last word and form
    of each such token. Empty nodes (``3.1``) are left out. The gold has ``document`` where there are ``# newdoc`` lines, and every
    comment ``# key = value`` that ``columns:`` names. Where all heads are blank (``_``) there are no columns ``head`` and
    ``relation``.

    Outputs may have words and sentences of their own, in the same text: `fit` gives them the sentences of the gold.
    """

    name: ClassVar[str] = "conllu"
    endings: ClassVar[tuple[str, ...]] = (".conllu", ".conllx", ".conll", ".dep")
    targets: ClassVar[tuple[str, ...]] = ("head", "relation")
    compares_with: Literal["references", "gold", "nothing"] = "gold"
    usual_metric: str | None = "las"
    blank: str = ""

    def __init__(self) -> None:
        self._told: list[str] = []

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

    @with_warnings
    def read_gold(self, paths: Sequence[Path], options: Mapping[str, Any]) -> Items | None:
        """Return the sentences of one or several files, each a tree with one root; None without files."""
        if not paths:
            return None
        columns: Mapping[str, str] = options.get("columns", {})
        keys = {role: key for role, key in columns.items() if role not in ROLES}
        comments = _Comments(keys)
        parts = [self._read(path, one_root=True, comments=comments) for path in paths]
        if any("range" in part.columns for part in parts):
            parts = [replace(part, columns={"range": ((),) * len(part), **part.columns}) for part in parts]
        return join_items(parts)

    @with_warnings
    def read_outputs(self, path: Path, *, system: str | None, options: Mapping[str, Any]) -> dict[str, Items]:
        """Return the trees of one system; several roots are taken as the parser gave them, cycles are not."""
        return {need_system(system, path, "trees"): self._read(path, one_root=False)}

    def fit(self, gold: Items, output: Items) -> Items:
        """Return an output cut into the sentences of the gold.

        It stays as it is where sentences of one name have the same words; where all sentences have the same words in the same order
        it takes the names of the gold. Else words are aligned by the characters of the text (`_segment_again`).

        Parameters
        ----------
        gold : Items
            All sentences of the test set.
        output : Items
            What `read_outputs` gave.

        Raises
        ------
        DataError
            P263, where the text of the output is another one.
        """
        if "word" not in gold.columns:
            return output
        words, given = tuple(gold.columns["word"]), tuple(output.columns["word"])
        named = not (gold.numbered or output.numbered)
        place = {name: k for k, name in enumerate(gold.ids)} if named else {}
        known = [(place[name], k) for k, name in enumerate(output.ids) if name in place]
        agrees = bool(known) and all(words[one] == given[other] for one, other in known)
        if agrees and len(known) == len(output):
            return output
        if words == given:
            return replace(output, ids=gold.ids, numbered=gold.numbered)
        ours, theirs = (lay_out(items.columns["word"], items.columns.get("range", ())) for items in (gold, output))
        if ours.characters == theirs.characters:
            return _segment_again(gold, output, ours, theirs)
        if agrees:
            return output  # names tell which sentences it lacks or has too many, and the study says what becomes of those
        raise _differ(gold, output, ours, theirs)

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
        self._told.extend(lines.warnings)
        if lines.values[-1]:
            self._told.append(f"{path} ends without an empty line after its last word: the last sentence is taken for whole")
        sentences = split_sentences(lines)
        trees, blank = check_trees(sentences, lines.source, one_root=one_root)
        fields = [tuple(zip(*sentence.rows, strict=True)) for sentence in sentences]
        columns: dict[str, Sequence[Any]] = {
            "word": tuple(row[1] for row in fields),
            "upos": tuple(row[3] for row in fields),
            "tag": tuple(row[4] for row in fields),
        }
        if not blank:
            columns |= {"head": tuple(trees), "relation": tuple(row[7] for row in fields)}
        if any(sentence.ranges for sentence in sentences):
            columns["range"] = tuple(tuple(sentence.ranges) for sentence in sentences)
        if comments is not None:
            columns |= _groups(sentences, comments)
        ids, numbered = name_items([sentence.comments.get("sent_id") for sentence in sentences])
        return Items(ids, columns, lines.source, tuple(sentence.line for sentence in sentences), numbered)


def _differ(gold: Items, output: Items, ours: Text, theirs: Text) -> DataError:
    """Say where the text of an output leaves that of the gold."""
    at = find_difference(ours.characters, theirs.characters)
    before = ours.characters[max(0, at - _SHOWN) : at]
    wanted, found = ours.characters[at : at + _SHOWN], theirs.characters[at : at + _SHOWN]
    sentence = gold.ids[ours.find_word(at)[0]]
    if not found:
        message = f"the text ends after {before!r}, and the gold goes on with {wanted!r}, in sentence '{sentence}'"
    elif not wanted:
        message = f"the text goes on with {found!r} where the gold ends, after {before!r}"
    else:
        message = f"the text is not the gold's: after {before!r} it has {found!r}, the gold {wanted!r}, in sentence '{sentence}'"
    problem = Problem(
        "P263",
        message,
        f"{output.source}:{_find_line(output, *theirs.find_word(at))}",
        "outputs may divide the text into other words and sentences, with all its characters except spaces, in its order",
        f"{at} characters agree, and the gold has {len(ours.characters)}; `missing:` can only be asked of sentences that lack "
        "where gold and output name every sentence, by `# sent_id`",
    )
    return DataError(problem)


def _find_line(output: Items, sentence: int, word: int) -> int:
    """Return the line of a word, that of its range where it is the first of one; items only have the lines of sentences."""
    sentences = split_sentences(read_lines(Path(output.source)))
    if sentence >= len(sentences) or word >= len(sentences[sentence].numbers):
        return output.lines[sentence]  # the file is another one by now
    there = sentences[sentence]
    return there.numbers[word] - any(first == word + 1 for first, _, _ in there.ranges)


def _groups(sentences: Sequence[Sentence], wanted: _Comments) -> dict[str, tuple[str, ...]]:
    """Return the document of each sentence, and the comments that are asked for, which hold until another within a document."""
    held: dict[str, str] = {}
    rows: list[dict[str, str]] = []
    for sentence in sentences:
        comments = dict(sentence.comments)
        for key, noun in (("newdoc", "document"), ("newpar", "paragraph")):
            if key in comments:
                number = next(wanted.numbers[noun])
                comments[key] = comments[key] or f"{noun} {number}"
        if "newdoc" in comments:
            held = {"document": comments["newdoc"]}
        held |= {role: comments[key] for role, key in wanted.keys.items() if key in comments}
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
        ranges = {first: (last, form) for first, last, form in columns["range"][k]} if "range" in columns else {}
        for number, (word, *rest) in enumerate(zip(words, upos, tags, heads, relations, strict=True), start=1):
            if number in ranges:
                last, form = ranges[number]
                if not form or "\t" in form:
                    raise ValueError(f"sentence {name!r}: the form of range {number}-{last} is empty or holds a tab: {form!r}")
                yield "\t".join((f"{number}-{last}", form, *("_",) * (N_COLUMNS - 2)))
            first, second, head, relation = map(str, rest)
            line = f"{number}\t{word}\t_\t{first}\t{second}\t_\t{head}\t{relation}\t_\t_"
            if line.count("\t") != N_COLUMNS - 1 or not (word and first and second and relation):
                raise ValueError(f"sentence {name!r}: the values of word {number} are empty or hold a tab: {line!r}")
            yield line
        yield ""
