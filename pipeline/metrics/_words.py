"""Texts split into words as sacreBLEU does: by its own tokenizers, but for the two that are usual, which split many texts at once.

sacreBLEU takes a text at a time, with a call of Python for each match of a regular expression, and is slow to import.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from importlib.metadata import version
from typing import Any

from pipeline.options import check_choice

__all__ = ["Splitter", "check_tokenizer", "splitting_version"]

_MANY = 1000
"""Texts that are split at once: joined, they stay in the cache."""

_ALONE = '!"#$%&()*+/:;<=>?@[\\]^_`{|}~'
"""Marks of 13a that are words by themselves wherever they stand."""
_FULL_STOP = re.compile(r"\.(?:(?![0-9])|(?<![0-9]\.))")
_COMMA = re.compile(r",(?:(?![0-9])|(?<![0-9],))")
_DASH = re.compile("-(?<=[0-9]-)")
"""Marks that are words by themselves unless they stand between digits, and unless no digit stands before them."""
_UNSURE = re.compile("[.,]{2}[0-9]")
"""Whether the second mark is a word by itself depends on how many stand before it: sacreBLEU looks at two characters at a time."""


def check_tokenizer(value: Any) -> str:
    """Return the name of a tokenizer of sacreBLEU."""
    if isinstance(value, str) and value in _AT_ONCE:
        return value
    from sacrebleu.metrics.bleu import BLEU  # only now: most need none of it

    return check_choice("tokenize", value, tuple(BLEU.TOKENIZERS))


def splitting_version() -> str:
    """Return the version of sacreBLEU, whose words these are, for the signature of a metric."""
    return version("sacrebleu")


class Splitter:
    """Splits texts into words.

    Parameters
    ----------
    tokenize : str
        A tokenizer of sacreBLEU; ``none`` for texts that are tokenized already.
    lowercase : bool
        Ignore case.
    """

    def __init__(self, tokenize: str, *, lowercase: bool) -> None:
        self._split = _AT_ONCE.get(tokenize) or _one_by_one(tokenize)
        self._lowercase = lowercase

    def __call__(self, texts: Sequence[str]) -> list[list[str]]:
        """Return the words of each text."""
        plain = [text.lower() for text in texts] if self._lowercase else texts
        return [words for start in range(0, len(plain), _MANY) for words in self._split(plain[start : start + _MANY])]

    def rows(self, rows: Sequence[Sequence[str]]) -> list[list[list[str]]]:
        """Return the words of each text of each row, such as the references of items."""
        words = iter(self([text for row in rows for text in row]))
        return [[next(words) for _ in row] for row in rows]


def _one_by_one(tokenize: str) -> Callable[[Sequence[str]], list[list[str]]]:
    """Return what splits with a tokenizer of sacreBLEU, a text at a time."""
    from sacrebleu.metrics.bleu import BLEU

    # The tokenizer is had from the metric: sacreBLEU has no other public way to it by name.
    tokenizer = BLEU(tokenize=tokenize, force=True).tokenizer
    return lambda texts: [tokenizer(text.rstrip()).split() for text in texts]


def _split_none(texts: Sequence[str]) -> list[list[str]]:
    return [text.split() for text in texts]


def _split_13a(texts: Sequence[str]) -> list[list[str]]:
    """Split by the rules of mteval-v13a, which are those of 13a, applied to all texts as one.

    Each text is a line, since none has a line feed by then. To every rule a line feed is what the spaces are that sacreBLEU puts
    around a text: white space that is no digit.
    """
    clean = "\n".join(map(_clean, texts))
    joined = clean
    for mark in _ALONE:
        joined = joined.replace(mark, f" {mark} ")
    for pattern, apart in ((_FULL_STOP, " . "), (_COMMA, " , "), (_DASH, " - ")):
        joined = pattern.sub(apart, joined)
    found = [line.split() for line in joined.split("\n")]
    if _UNSURE.search(clean):
        unsure = [k for k, line in enumerate(clean.split("\n")) if _UNSURE.search(line)]
        for k, words in zip(unsure, _one_by_one("13a")([texts[k] for k in unsure]), strict=True):
            found[k] = words
    return found


def _clean(text: str) -> str:
    text = text.rstrip().replace("<skipped>", "").replace("-\n", "").replace("\n", " ")
    if "&" in text:
        text = text.replace("&quot;", '"').replace("&amp;", "&").replace("&lt;", "<").replace("&gt;", ">")
    return text


_AT_ONCE: dict[str, Callable[[Sequence[str]], list[list[str]]]] = {"13a": _split_13a, "none": _split_none}
