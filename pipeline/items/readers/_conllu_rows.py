"""Rows of CoNLL-U: split a file into sentences with words and ranges, and refuse what is not a tree."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain

from pipeline.errors import DataError, Problem
from pipeline.items.readers._files import Lines
from pipeline.items.readers._tables import refuse

__all__ = ["NOT_A_WORD", "N_COLUMNS", "Range", "Sentence", "check_trees", "split_sentences"]

N_COLUMNS = 10
# Python refuses to read numbers of thousands of digits: nobody writes them.
NOT_A_WORD = re.compile(r"([0-9]{1,9})(?:-([0-9]{1,9})|\.[0-9]{1,9})")
_COMMENT = re.compile(r"#\s*([^=\s]+)\s*(?:id\s*)?(?:=\s*(.*?)\s*)?")
_HELP = "a word is ten columns separated by tabs: number, form, lemma, UPOS, XPOS, features, head, relation, two more; `_` is blank"

Range = tuple[int, int, str]
"""The numbers of the first and the last of the words that one token stands for, and how it is written."""


@dataclass
class Sentence:
    """What is read of a sentence before it is known to be a tree.

    Parameters
    ----------
    rows : list of list of str
        The ten columns of each word.
    numbers : list of int
        The line of each word.
    comments : dict of str to str
        By key.
    ranges : list of Range
        Tokens of several words, in their order.
    """

    rows: list[list[str]] = field(default_factory=list)
    numbers: list[int] = field(default_factory=list)
    comments: dict[str, str] = field(default_factory=dict)
    ranges: list[Range] = field(default_factory=list)

    @property
    def line(self) -> int:
        """Where its first word stands."""
        return self.numbers[0]


def split_sentences(lines: Lines) -> list[Sentence]:
    """Return the sentences of a file; the last one may lack the empty line behind it.

    Raises
    ------
    DataError
        P250, for lines that are no words, and ranges of words that are not there.
    """
    problems: list[Problem] = []
    sentences: list[Sentence] = []
    sentence, damaged = Sentence(), False
    rows, numbers = sentence.rows, sentence.numbers
    for number, line in enumerate(chain(lines.values, ("",)), start=1):
        if not line:
            if rows or sentence.ranges or damaged:  # else comments wait for the words they are about
                sentences.append(sentence)
                problems.extend(_find_open_range(sentence, damaged, f"{lines.source}:{number - 1}"))
                sentence, damaged = Sentence(), False
                rows, numbers = sentence.rows, sentence.numbers
        elif damaged:
            continue  # the rest of the sentence is counted wrongly: one complaint is enough
        elif line[0] == "#" and not rows:
            key, value = _read_comment(line)
            sentence.comments[key] = value
        else:
            row = line.split("\t")
            if len(row) == N_COLUMNS and row[0] == str(len(rows) + 1) and "" not in row:
                rows.append(row)
                numbers.append(number)
                continue
            message = _complain(row, sentence)
            if message:
                problems.append(Problem("P250", message, f"{lines.source}:{number}", _HELP))
                damaged = True
    refuse(problems)
    if not sentences:
        raise DataError.of("P250", "the file has no sentence", where=lines.source, help=_HELP)
    return sentences


def _complain(row: list[str], sentence: Sentence) -> str:
    """Say what is wrong with a row that is not the next word; keep it where it is a range, and nothing is wrong."""
    wanted = len(sentence.rows) + 1
    if len(row) != N_COLUMNS:
        return f"the word has {len(row)} columns in place of {N_COLUMNS}"
    found = NOT_A_WORD.fullmatch(row[0])
    if found is None:
        if row[0] != str(wanted):
            return f"the word has the number {row[0][:40]!r} where {wanted} comes next"
        return f"column {row.index('') + 1} is empty"
    if found[2] is None:
        return ""  # an empty node
    first, last = int(found[1]), int(found[2])
    if first != wanted or last < first or (sentence.ranges and sentence.ranges[-1][1] >= first):
        return f"the range {row[0]} stands before word {wanted}: it goes before its first word, and ranges do not overlap"
    if not row[1]:
        return f"the range {row[0]} has no form: column 2 is empty"
    sentence.ranges.append((first, last, row[1]))
    return ""


def _find_open_range(sentence: Sentence, damaged: bool, where: str) -> Iterator[Problem]:
    if not damaged and sentence.ranges and sentence.ranges[-1][1] > len(sentence.rows):
        first, last, _ = sentence.ranges[-1]
        yield Problem("P250", f"the sentence ends at word {len(sentence.rows)}, within the range {first}-{last}", where, _HELP)


def _read_comment(line: str) -> tuple[str, str]:
    """Return key and value of ``# key = value``; ``# newdoc id = x`` has the key ``newdoc``, and no value is ``""``."""
    found = _COMMENT.fullmatch(line)
    return (found[1], found[2] or "") if found else ("", line)


def check_trees(sentences: Sequence[Sentence], source: str, *, one_root: bool) -> tuple[list[tuple[int, ...]], bool]:
    """Return the heads of each sentence, and whether all are blank.

    Raises
    ------
    DataError
        P251, for heads that are no numbers of words, circles, and several roots where one is asked.
    """
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
    if min(heads) < 0 or max(heads) > count:
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
    """Return a word on a cycle, or 0. Each word is walked over once: what it leads to is marked by the word begun with."""
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
