"""Outputs that part the text in their own way. This module gives them the sentences of the gold, word by word."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import chain, pairwise
from typing import Any

import numpy as np

from pipeline.interfaces import Items
from pipeline.items.readers._characters import Text, align_words

__all__ = ["segment_again"]


def segment_again(gold: Items, output: Items, ours: Text, theirs: Text) -> Items:
    """Return the words of an output by the sentences of the gold; ``ours`` and ``theirs`` are their words along the same text.

    A word that is aligned is in the sentence of its gold word, any other in the one in which it begins. The column ``aligned`` has
    the number of the gold word in its sentence, 0 for none. Heads are numbers of gold words too: that of the word with which the
    head is aligned, 0 for a root, and -1 where the head is not aligned, or with a word of another gold sentence, which is no gold
    word's head.
    """
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
