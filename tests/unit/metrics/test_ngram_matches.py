"""N-grams that are counted in arrays are those that sacreBLEU counts one by one."""

from __future__ import annotations

import gzip
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sacrebleu.metrics.bleu import BLEU

from pipeline.interfaces import Items
from pipeline.metrics import load_metric
from pipeline.metrics._ngram_matches import References

TEXT = st.lists(st.sampled_from("abcd"), max_size=9).map(" ".join)
ITEMS = st.lists(st.tuples(TEXT, st.lists(TEXT, min_size=1, max_size=3)), min_size=1, max_size=5)


def count(output: Sequence[str], references: Sequence[Sequence[str]]) -> list[list[int]]:
    """Return the first six of sacreBLEU's integers of each item."""
    found = References.count([[text.split() for text in row] for row in references], 4).match([text.split() for text in output])
    return np.column_stack([found.lengths, found.nearest, found.matched]).tolist()


def theirs(output: Sequence[str], references: Sequence[Sequence[str]]) -> list[list[int]]:
    most = max(map(len, references))
    columns = [[row[k] if k < len(row) else None for row in references] for k in range(most)]
    rows = BLEU(tokenize="none", force=True, references=columns)._extract_corpus_statistics(list(output), None)
    return [row[:6] for row in rows]


@settings(max_examples=100, deadline=None)
@given(ITEMS)
@example([("a b", ["x y"]), ("a b a b", ["b a b"])])  # nothing matches in the first, and the second is as if it were alone
@example([("", ["a"]), ("a", [""])])
@example([("", [""])])
@example([("a a a a a", ["a a", "a a a"]), ("b b", ["b", "b b b"])])  # clipped by the larger; two as near, the shorter
@example([("e e", ["a b"]), ("a", ["b e"])])  # words of other items only
def test_matches_are_those_of_sacrebleu(items: list[tuple[str, list[str]]]) -> None:
    output, references = [text for text, _ in items], [row for _, row in items]
    assert count(output, references) == theirs(output, references)


def test_no_items_have_no_matches() -> None:
    found = References.count([], 4).match([])
    assert found.lengths.shape == found.nearest.shape == (0,)
    assert found.matched.shape == (0, 4)


@pytest.mark.data
@pytest.mark.parametrize(("name", "names"), [("wmt21-de-en", "AB"), ("wmt24-en-de", "B")])
def test_statistics_of_systems_of_wmt_are_those_of_sacrebleu(data_dir: Path, name: str, names: str) -> None:
    def read(path: Path) -> list[str]:
        return gzip.decompress(path.read_bytes()).decode().split("\n")[:-1]

    def items(columns: dict[str, list[str]]) -> Items:
        count = len(next(iter(columns.values())))
        return Items(tuple(map(str, range(count))), columns, "test", tuple(range(1, count + 1)))

    folder = data_dir / name
    references = [read(folder / f"ref.{one}.{name[-2:]}.txt.gz") for one in names]
    metric, own = load_metric("bleu"), BLEU(force=True, references=references)
    prepared = metric.prepare(items({f"reference.{k}": texts for k, texts in enumerate(references)}))
    for path in sorted((folder / "systems").iterdir())[::8]:
        texts = read(path)
        values = metric.extract(prepared, items({"text": texts})).values
        assert values.tolist() == own._extract_corpus_statistics(texts, None), path.name
