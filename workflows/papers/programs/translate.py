"""Translate word by word, from the lexicon of IBM Model 1 without its null word; a bigram model of the target language may choose.

    python3 translate.py learn PAIRS MODEL                     PAIRS has a line "source ||| target" each
    python3 translate.py words|bigrams MODEL INPUT OUTPUT      INPUT has lines "source |||", OUTPUT gets the translations too

A stand-in for a translation system: it needs nothing but Python, and takes a second for some hundred pairs.
"""

from __future__ import annotations

import json
import math
import sys
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

PASSES = 8  # of expectation maximisation
CANDIDATES = 5  # translations of a word that are looked at
BACK_OFF = 0.4  # what a bigram that was never seen has of the probability of its second word
END = "</s>"


def learn(pairs: list[tuple[list[str], list[str]]]) -> dict[str, Any]:
    """Return the best translations of each word with their probabilities, and counts of the words and bigrams of the target."""
    table: dict[str, dict[str, float]] = defaultdict(dict)
    for source, target in pairs:
        for word in source:
            for other in target:
                table[word][other] = 1.0
    for _ in range(PASSES):
        counts: dict[str, dict[str, float]] = defaultdict(lambda: defaultdict(float))
        for source, target in pairs:
            for other in target:
                total = sum(table[word][other] for word in source)
                for word in source:
                    counts[word][other] += table[word][other] / total
        for word, row in counts.items():
            total = sum(row.values())
            table[word] = {other: count / total for other, count in row.items()}
    best = {word: sorted(row.items(), key=lambda item: (-item[1], item[0]))[:CANDIDATES] for word, row in sorted(table.items())}
    words = Counter(word for _, target in pairs for word in [*target, END])  # an end is what a first word follows
    bigrams = Counter(pair for _, target in pairs for pair in zip([END, *target], [*target, END], strict=True))
    return {"best": best, "words": dict(words), "bigrams": [[*pair, count] for pair, count in sorted(bigrams.items())]}


def translate(model: dict[str, Any], source: list[str], bigrams: dict[tuple[str, str], int] | None) -> list[str]:
    """Return a word for each of the source, in its order; a word that was never seen stays as it is."""
    options = [model["best"].get(word, [[word, 1.0]]) for word in source]
    if bigrams is None:
        return [choices[0][0] for choices in options]
    words, total = model["words"], sum(model["words"].values())

    def follows(before: str, word: str) -> float:
        seen = bigrams.get((before, word), 0)
        times = words.get(before, 1)
        return math.log(seen / times if seen else BACK_OFF * (words.get(word, 0) + 0.5) / (total + 1))

    paths: dict[str, tuple[float, list[str]]] = {END: (0.0, [])}
    for choices in options:
        paths = {
            word: max((score + follows(before, word) + math.log(share), [*path, word]) for before, (score, path) in paths.items())
            for word, share in choices
            if share > 0
        }
    return max((score + follows(word, END), path) for word, (score, path) in paths.items())[1]


def main() -> None:
    """Learn or translate."""
    task, *places = sys.argv[1:]
    lines = Path(places[0 if task == "learn" else 1]).read_text("utf-8").splitlines()
    pairs = [(source.split(), target.split()) for source, _, target in (line.partition("|||") for line in lines)]
    if task == "learn":
        Path(places[1]).write_text(json.dumps(learn(pairs), ensure_ascii=False), "utf-8")
        return
    model = json.loads(Path(places[0]).read_text("utf-8"))
    bigrams = {(one, other): count for one, other, count in model["bigrams"]} if task == "bigrams" else None
    done = (f"{' '.join(source)} ||| {' '.join(translate(model, source, bigrams))}\n" for source, _ in pairs)
    Path(places[2]).write_text("".join(done), "utf-8")


if __name__ == "__main__":
    main()
