"""Real treebanks and alignments: counts of what is read, and scores that were counted elsewhere."""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping
from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pipeline.errors import DataError
from pipeline.interfaces import Items
from pipeline.items.readers import load_reader
from pipeline.metrics import load_metric
from pipeline.testing import take_items

pytestmark = pytest.mark.data


def read(name: str, *paths: Path, **columns: str) -> Items:
    gold = load_reader(name).read_gold(list(paths), {"columns": columns})
    assert gold is not None
    return gold


def read_output(name: str, path: Path, **columns: str) -> Items:
    return load_reader(name).read_outputs(path, system="x", options={"columns": columns})["x"]


def lines_of(path: Path) -> list[str]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return file.read().splitlines()


@pytest.mark.parametrize("part", [pytest.param("train", marks=pytest.mark.slow), "dev", "test"])
def test_sentences_words_documents_and_genres_of_a_treebank_are_all_read(data_dir: Path, part: str) -> None:
    folder = data_dir / "ud-english-ewt"
    wanted = json.loads((folder / "expected.json").read_text())["splits"][part]
    gold = read("conllu", folder / f"{part}.conllu.gz", genre="genre")
    words = [len(sentence) for sentence in gold.columns["word"]]
    assert not gold.numbered
    assert {
        "sentences": len(gold),
        "words": sum(words),
        "documents": len(set(gold.columns["document"])),
        "by_genre": {
            genre: {
                "sentences": gold.columns["genre"].count(genre),
                "words": sum(count for count, other in zip(words, gold.columns["genre"], strict=True) if other == genre),
                "documents": len(
                    {d for d, other in zip(gold.columns["document"], gold.columns["genre"], strict=True) if other == genre}
                ),
            }
            for genre in wanted["by_genre"]
        },
    } == {name: wanted[name] for name in ("sentences", "words", "documents", "by_genre")}


def test_trees_of_newspapers_have_the_words_that_are_no_traces(data_dir: Path, tmp_path: Path) -> None:
    folder = data_dir / "treebank-wsj-sample"
    wanted = json.loads((folder / "expected.json").read_text())
    gold = read("brackets", folder / "wsj.mrg.txt.gz")
    assert len(gold) == wanted["sentences"]
    assert len(set(gold.columns["document"])) == wanted["documents"]
    assert sum(map(len, gold.columns["word"])) == wanted["tokens_without_traces"]
    assert not any("NONE" in tree or "-SBJ" in tree for tree in gold.columns["tree"])
    part = take_items(gold, list(range(0, len(gold), 10)))
    load_reader("brackets").write(tmp_path / "again.mrg.gz", part.columns, part.ids)
    assert read("brackets", tmp_path / "again.mrg.gz").columns == part.columns


def test_alignments_have_the_links_and_rates_that_were_counted_elsewhere(data_dir: Path) -> None:
    folder = data_dir / "align-enfr-hansards"
    wanted = json.loads((folder / "expected.json").read_text())
    header, *rows = [line.split("\t") for line in lines_of(folder / "expected_sentence_stats.tsv.gz")]
    counted = {name: np.array([cell.split(",") for cell in cells], dtype=np.int64) for name, *cells in rows}
    files = (folder / "bitext.src-tgt.txt.gz", folder / "gold.txt.gz")
    gold = read("links", *files, base="1")
    assert len(gold) == wanted["sentences"] == len(header) - 1
    assert sum(map(len, gold.columns["sure"])) == wanted["sure_links"]
    assert sum(map(len, gold.columns["possible"])) == wanted["possible_or_sure_links"]
    metric = load_metric("aer")
    prepared = metric.prepare(gold)
    for name, numbers in wanted["systems"].items():
        found = metric.extract(prepared, read_output("links", folder / "systems" / f"{name}.txt.gz", base="1")).values
        np.testing.assert_array_equal(found, counted[name], name)
        assert found.sum(axis=0).tolist() == [numbers[key] for key in ("A_and_S", "A_and_P", "A", "S")]
        assert round(float(metric.scorer((0,) * 4)(found.sum(axis=0))), 4) == numbers["aer"]
    with pytest.raises(DataError) as caught:
        read("links", *files)
    assert 'base: "1"' in (caught.value.problems[0].help or "")


@pytest.mark.parametrize(("treebank", "step"), [("conll2017-zh/zh", 16), ("conll2018-en/en_ewt", 9)])
def test_attachment_counts_of_shared_tasks_agree_where_systems_kept_the_words(data_dir: Path, treebank: str, step: int) -> None:
    folder = data_dir / treebank
    counted = {name: cells for name, *cells in (line.split("\t") for line in lines_of(folder / "expected_sentence_stats.tsv.gz"))}
    gold = read("conllu", folder / "gold.conllu.gz")
    places = _places(gold)
    compared = 0
    for path in sorted((folder / "systems").iterdir())[::step]:
        output = read_output("conllu", path)
        same = {place: k for place, k in _places(output).items() if place in places}
        kept = take_items(gold, [places[place] for place in same])
        parsed = take_items(output, list(same.values()))
        uas, las = (_count(name, options, kept, parsed) for name, options in (("uas", {}), ("las", {"subtypes": False})))
        wanted = np.array(
            [counted[path.name.removesuffix(".conllu.gz")][places[place]].split(",") for place in same], dtype=np.int64
        )
        np.testing.assert_array_equal(np.column_stack([uas[:, 1], uas[:, 0], las[:, 0]]), wanted[:, [0, 2, 3]], path.name)
        compared += len(same)
    assert compared > 500


def _places(items: Items) -> dict[tuple[int, tuple[str, ...]], int]:
    """Give the position of each sentence by the letters before it and its words."""
    letters = [sum(map(len, words)) for words in items.columns["word"]]
    return {
        (start, words): k
        for k, (start, words) in enumerate(zip(accumulate(letters, initial=0), items.columns["word"], strict=False))
    }


def _count(name: str, options: Mapping[str, Any], gold: Items, output: Items) -> Any:
    metric = load_metric(name, options)
    return metric.extract(metric.prepare(gold), output).values
