"""Small tagged corpora of our own making, and a trainer that gives each word the tag it has most often in its sample."""

from __future__ import annotations

import os
from collections import Counter, defaultdict
from pathlib import Path

import numpy as np

LEXICON = {
    "the": "DET", "a": "DET", "cat": "NOUN", "dog": "NOUN", "river": "NOUN", "stone": "NOUN", "light": "NOUN ADJ",
    "saw": "VERB NOUN", "ran": "VERB", "stands": "VERB NOUN", "old": "ADJ NOUN", "red": "ADJ", "over": "ADP", "under": "ADP ADV",
    "never": "ADV", "still": "ADV ADJ NOUN",
}  # fmt: skip


def write_tagged(path: Path, *, sentences: int, seed: int, documents: int = 6) -> Path:
    """Write sentences of known words with one of their tags each, in documents."""
    rng = np.random.default_rng(seed)
    words = list(LEXICON)
    lines = []
    for number in range(sentences):
        if documents and number % -(-sentences // documents) == 0:
            lines.append(f"# doc d{seed}-{len(lines)}")
        chosen = [words[k] for k in rng.integers(0, len(words), rng.integers(3, 9))]
        tags = [LEXICON[word].split()[min(rng.geometric(0.6) - 1, len(LEXICON[word].split()) - 1)] for word in chosen]
        lines.append(" ".join(f"{word}/{tag}" for word, tag in zip(chosen, tags, strict=True)))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


class MostFrequentTag:
    """Gives each word its most frequent tag; ``unknown`` to words it has not seen. Options and the environment make it fail."""

    name = "most-frequent"
    takes = ("word", "tag")
    gives = ("tag",)
    same_bits = True
    signature = "most-frequent:1"

    def __init__(self, *, unknown: str = "NOUN", depth: int = 1, spoil: str = "") -> None:
        self.unknown, self.depth, self.spoil = unknown, depth, spoil

    def fit(self, items, sample, *, seed, workdir):
        if os.environ.get("FAIL_TRAINING") == self.unknown:
            raise FloatingPointError("the loss is not a number")
        counts = defaultdict(Counter)
        for k in sample.tolist():
            for word, tag in zip(items.columns["word"][k], items.columns["tag"][k], strict=True):
                counts[word[: self.depth]][tag] += 1
        return {word: min(tags, key=lambda tag: (-tags[tag], tag)) for word, tags in counts.items()}

    def predict(self, model, items):
        assert "tag" not in items.columns
        found = [tuple(model.get(word[: self.depth], self.unknown) for word in words) for words in items.columns["word"]]
        if self.spoil == "few":
            found.pop()
        if self.spoil == "short":
            found[1] = found[1][:-1]
        if self.spoil == "blank":
            found[0] = ("",) * len(found[0])
        if self.spoil == "exit":
            raise SystemExit(3)
        return {"tags" if self.spoil == "name" else "tag": found}


def install(folder: Path) -> Path:
    """Make the trainer known to whoever has the folder on its path, as an installed package would."""
    info = folder / "tinytaggers-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: tinytaggers\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[pipeline.trainers]\nmost-frequent = support.taggers:MostFrequentTag\n")
    return folder
