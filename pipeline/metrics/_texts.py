"""Texts as metrics of words take them. This module gives the references of each item, and splits texts as sacreBLEU does."""

from __future__ import annotations

from typing import Any

from sacrebleu.metrics.bleu import BLEU

from pipeline.interfaces import Items
from pipeline.metrics._references import reference_columns
from pipeline.options import check_choice

__all__ = ["Splitter", "check_tokenizer", "reference_rows"]


def reference_rows(metric: str, gold: Items | None) -> list[tuple[str, ...]]:
    """Return the references of each item, those that are there.

    Raises
    ------
    DataError
        P225, where there are none at all.
    """
    rows = zip(*reference_columns(metric, gold), strict=True)
    return [tuple(text for text in row if text is not None) for row in rows]


def check_tokenizer(value: Any) -> str:
    """Return the name of a tokenizer of sacreBLEU."""
    return check_choice("tokenize", value, tuple(BLEU.TOKENIZERS))


class Splitter:
    """Splits a text into words, as BLEU of this package does.

    Parameters
    ----------
    tokenize : str
        A tokenizer of sacreBLEU; ``none`` for texts that are tokenized already.
    lowercase : bool
        Ignore case.
    """

    def __init__(self, tokenize: str, *, lowercase: bool) -> None:
        # The tokenizer is had from the metric: sacreBLEU has no other public way to it by name.
        self._tokenizer = BLEU(tokenize=tokenize, force=True).tokenizer
        self._lowercase = lowercase

    def __call__(self, text: str) -> list[str]:
        """Return the words of a text."""
        plain = text.lower() if self._lowercase else text
        words: str = self._tokenizer(plain.rstrip())
        return words.split()
