"""Every folder of trees, tags and chunks: what is read is what was counted elsewhere."""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path

import pytest
from support.listening import listen
from support.real_data import expected, lines_of

from pipeline.interfaces import Items
from pipeline.items.readers import load_reader
from pipeline.metrics import load_metric

pytestmark = pytest.mark.data


@lru_cache(maxsize=4)
def gold_of(name: str, path: Path, *more: tuple[str, str]) -> Items:
    gold = load_reader(name).read_gold([path], {"columns": dict(more)})
    assert gold is not None
    return gold


def _count_brown(data: Path, genre: str) -> None:
    gold = gold_of("tagged", data / "brown" / f"{genre}.tagged.txt.gz")
    wanted = expected(data, "brown")["categories"][genre]
    found = {
        "documents": len(set(gold.columns["document"])),
        "sentences": len(gold),
        "tokens": sum(map(len, gold.columns["word"])),
    }
    assert found == wanted, genre


@pytest.mark.parametrize("genre", ["science_fiction", "humor"])
def test_a_genre_of_tagged_text_has_the_words_that_were_counted(data_dir: Path, genre: str) -> None:
    _count_brown(data_dir, genre)


@pytest.mark.slow
def test_every_genre_of_tagged_text_has_the_words_that_were_counted(data_dir: Path) -> None:
    for genre in expected(data_dir, "brown")["categories"]:
        _count_brown(data_dir, genre)


def _count_chunks(gold: Items, places: slice) -> dict[str, int]:
    tags = [tag for sentence in gold.columns["chunk"][places] for tag in sentence]
    words = [word for sentence in gold.columns["word"][places] for word in sentence]
    return {
        "sentences": len(gold.columns["chunk"][places]),
        "tokens": len(tags),
        "tokens_with_letter_or_digit": sum(any(map(str.isalnum, word)) for word in words),
        "B-NP": tags.count("B-NP"),
        "I-NP": tags.count("I-NP"),
        "chunks_all_types": sum(tag.startswith("B-") for tag in tags),
    }


def test_chunks_of_the_shared_task_are_as_many_as_were_counted(data_dir: Path) -> None:
    wanted = expected(data_dir, "conll2000")
    gold = gold_of("columns", data_dir / "conll2000" / "test.txt.gz")
    parts = {"test": slice(None), "test_first100 (WSJ20a)": slice(100), "test_next93 (WSJ20b)": slice(100, 193)}
    for name, places in parts.items():
        assert _count_chunks(gold, places) == wanted[name], name


@pytest.mark.slow
def test_chunks_of_the_training_part_are_as_many_as_were_counted(data_dir: Path) -> None:
    gold = gold_of("columns", data_dir / "conll2000" / "train.txt.gz")
    assert _count_chunks(gold, slice(None)) == expected(data_dir, "conll2000")["train"]


def test_chunks_of_tweets_are_as_many_as_were_counted_and_those_that_begin_with_i_count(data_dir: Path) -> None:
    wanted = expected(data_dir, "twitter-chunks")
    path = data_dir / "twitter-chunks" / "test.txt.gz"
    reader = listen(load_reader("columns"))
    gold = reader.read_gold([path], {"columns": {}})
    assert gold is not None
    raw = [line.split(" ")[2] for line in lines_of(path) if line]
    assert {tag: raw.count(tag) for tag in set(raw)} == wanted["chunk_tags"]
    assert (len(gold), sum(map(len, gold.columns["word"]))) == (wanted["sentences"], wanted["tokens"])
    # Ten base phrases begin with I-NP: conlleval counts them, as the baseline beside the data does.
    tags = [tag for sentence in gold.columns["chunk"] for tag in sentence]
    assert (raw.count("B-NP"), tags.count("B-NP")) == (3909, 3919)
    assert wanted["baseline_trained_on_conll2000_most_frequent_np_tag_per_pos"]["gold"] == 3919
    metric = load_metric("chunk-recall", {"types": ["NP"]})
    assert metric.extract(metric.prepare(gold), gold).values.sum(axis=0).tolist() == [3919, 3919]
    (told,) = reader.warnings
    assert "17 begin with I, the first on line 549" in told
    begin = [line for line, before in zip(lines_of(path), ["", *lines_of(path)], strict=False) if _begins_with_i(line, before)]
    assert len(begin) == 17


@pytest.mark.parametrize(
    ("folder", "part"),
    [("ud-english-atis", "test"), ("ud-english-atis", "dev"), pytest.param("ud-english-atis", "train", marks=pytest.mark.slow)],
)
def test_questions_about_flights_have_the_words_that_were_counted(data_dir: Path, folder: str, part: str) -> None:
    wanted = expected(data_dir, folder)["splits"][part]
    gold = gold_of("conllu", data_dir / folder / f"{part}.conllu.gz", ("genre", "genre"))
    words = sum(map(len, gold.columns["word"]))
    assert (len(gold), words) == (wanted["sentences"], wanted["words"])
    assert set(gold.columns["genre"]) == set(wanted["by_genre"])
    roots = sum(heads.count(0) for heads in gold.columns["head"])
    assert roots == expected(data_dir, folder)["heads_root"][part]


def _begins_with_i(line: str, before: str) -> bool:
    tag, last = (row.split(" ")[2] if row else "O" for row in (line, before))
    return tag.startswith("I-") and last[2:] != tag[2:]


def test_dependencies_of_the_newspaper_are_trees_of_as_many_sentences(data_dir: Path, tmp_path: Path) -> None:
    """The file has three columns, word, tag and head: they are put where CoNLL-U has them."""
    wanted = expected(data_dir, "treebank-wsj-sample")
    lines = lines_of(data_dir / "treebank-wsj-sample" / "wsj.dep.txt.gz")
    rows, number = [], 0
    for line in lines:
        number = number + 1 if line and not line.startswith("# doc ") else 0
        if number:
            word, tag, head = line.split("\t")
            rows.append(f"{number}\t{word}\t_\t_\t{tag}\t_\t{head}\t_\t_\t_")
        else:
            rows.append(line.replace("# doc", "# newdoc id ="))
    (tmp_path / "dep.conllu").write_text("\n".join(rows) + "\n\n")
    trees = load_reader("conllu").read_outputs(tmp_path / "dep.conllu", system="x", options={"columns": {}})["x"]
    assert len(trees) == wanted["dependency_sentences"] == wanted["sentences"]
    assert sum(map(len, trees.columns["word"])) == wanted["tokens_without_traces"]
    assert sum(line.startswith("# doc ") for line in lines) == wanted["documents"]


def test_chinese_trees_have_the_leaves_that_were_counted_and_are_trees_as_brackets(data_dir: Path, tmp_path: Path) -> None:
    """The treebank has a notation of its own, ``role:POS:word``: lines are read as text, and again as Penn brackets."""
    wanted = expected(data_dir, "sinica-chinese")
    path = data_dir / "sinica-chinese" / "parsed.txt.gz"
    text = load_reader("text").read_outputs(path, system="x", options={})["x"].columns["text"]
    assert len(text) == wanted["trees"]
    leaves = [re.findall(r":([^:()|]+):([^:()|]+)", line) for line in text]
    assert sum(map(len, leaves)) == wanted["leaf_matches"]
    # Only every tenth: reading brackets takes longer than telling them.
    chosen = [k for k in range(0, len(text), 10) if leaves[k]]
    (tmp_path / "trees.mrg").write_text("".join(_as_brackets(text[k]) + "\n" for k in chosen))
    trees = gold_of("brackets", tmp_path / "trees.mrg").columns
    assert trees["word"] == tuple(tuple(word for _, word in leaves[k]) for k in chosen)
    assert trees["tag"] == tuple(tuple(tag for tag, _ in leaves[k]) for k in chosen)


def _as_brackets(line: str) -> str:
    tree = line.partition("] ")[2].rpartition("#")[0]
    tree = re.sub(r"[^:()|]+:([^:()|]+):([^:()|]+)", r"(\1 \2)", tree)
    tree = re.sub(r"(?:[^:()| ]+:)?([^:()| ]+)\((?=[^ ])", r"(\1 ", tree)
    return tree.replace("|", " ")
