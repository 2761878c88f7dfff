"""Make the systems and references that are measured: seeded plain text and a table of labels."""

from __future__ import annotations

import string
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

__all__ = ["make_correct", "write_labels", "write_texts"]

VOCABULARY = 20_000


def make_words(generator: np.random.Generator) -> NDArray[np.str_]:
    """Return `VOCABULARY` words of three to eight letters."""
    letters = np.array(list(string.ascii_lowercase))
    lengths = generator.integers(3, 9, VOCABULARY)
    return np.array(["".join(generator.choice(letters, length)) for length in lengths.tolist()])


def write_texts(folder: Path, *, systems: int, items: int, seed: int = 1) -> None:
    """Write ``reference.txt`` and ``bleu/s000.txt`` and so on: lines of 5 to 44 words, a tenth to a sixth of them changed.

    A system changes words at a rate of its own, and the length of a line by −3 to +3. What is written of a system does not
    depend on how many others there are.
    """
    generator = np.random.default_rng([seed, items])
    words = make_words(generator)
    rare = 1.0 / np.arange(1, VOCABULARY + 1)  # Zipf's law: some words stand in most lines
    chance = rare / rare.sum()
    lengths = generator.integers(5, 45, items)
    lines = np.split(generator.choice(VOCABULARY, lengths.sum(), p=chance), np.cumsum(lengths)[:-1])
    _write(folder / "reference.txt", words, lines)
    (folder / "bleu").mkdir()
    for system in range(systems):
        own = np.random.default_rng([seed, items, system])
        rate = own.uniform(0.1, 0.16)
        outputs = []
        for line in lines:
            longer = int(own.integers(-3, 4))
            made = line[: max(1, len(line) + longer)] if longer <= 0 else np.append(line, own.choice(VOCABULARY, longer))
            changed = own.random(len(made)) < rate
            outputs.append(np.where(changed, own.integers(0, VOCABULARY, len(made)), made))
        _write(folder / "bleu" / f"s{system:03d}.txt", words, outputs)


def _write(path: Path, words: NDArray[np.str_], lines: list[NDArray[np.int64]]) -> None:
    path.write_text("".join(" ".join(words[line].tolist()) + "\n" for line in lines), encoding="utf-8")


def make_correct(*, systems: int, items: int, seed: int = 1) -> NDArray[np.int64]:
    """Return (item, system) 1 where a system is right; systems agree on what is hard."""
    generator = np.random.default_rng([seed, items])
    ease = generator.normal(0.8, 1.0, (items, 1))
    columns = [
        np.random.default_rng([seed, items, system]).normal(0, 0.1)
        + np.random.default_rng([seed, items, system, 1]).normal(0, 0.7, items)
        for system in range(systems)
    ]
    return (ease + np.stack(columns, axis=1) > 0).astype(np.int64)


def write_labels(folder: Path, *, systems: int, items: int, seed: int = 1) -> None:
    """Write ``gold.txt`` and ``accuracy/s000.txt`` and so on: one label of five a line."""
    generator = np.random.default_rng([seed, items, 5])
    gold = generator.integers(0, 5, items)
    wrong = (gold + generator.integers(1, 5, items)) % 5
    correct = make_correct(systems=systems, items=items, seed=seed)
    names = np.array(["noun", "verb", "name", "number", "other"])
    (folder / "accuracy").mkdir()
    (folder / "gold.txt").write_text("\n".join(names[gold]) + "\n", encoding="utf-8")
    for system in range(systems):
        labels = np.where(correct[:, system] == 1, gold, wrong)
        (folder / "accuracy" / f"s{system:03d}.txt").write_text("\n".join(names[labels]) + "\n", encoding="utf-8")
