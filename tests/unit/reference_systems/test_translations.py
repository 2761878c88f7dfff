"""Row 5's stand-in for translation: the program learns a lexicon and uses its bigrams; the format shows it the source alone."""

from __future__ import annotations

import importlib.util
from collections import Counter
from pathlib import Path

import pytest

from pipeline.errors import DataError
from reference_systems.translations import TranslationReader

PROGRAM = Path(__file__).resolve().parents[3] / "workflows" / "papers" / "programs" / "translate.py"
PAIRS = [
    ("the house", "la maison"),
    ("the book", "le livre"),
    ("a house", "une maison"),
    ("a book", "un livre"),
    ("the house", "la maison"),
]


@pytest.fixture(scope="module")
def program():
    spec = importlib.util.spec_from_file_location("translate", PROGRAM)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def model(program):
    return program.learn([(source.split(), target.split()) for source, target in PAIRS])


def test_the_lexicon_is_that_of_model_one(model):
    best = {word: row[0][0] for word, row in model["best"].items()}
    assert (best["house"], best["book"]) == ("maison", "livre")
    assert all(sum(share for _, share in row) <= 1 + 1e-9 for row in model["best"].values())


def test_the_chances_of_what_follows_a_word_add_to_one_also_at_the_beginning(model):
    follow = Counter()
    for before, _, count in model["bigrams"]:
        follow[before] += count
    assert follow == model["words"]


def test_bigrams_choose_the_article_that_goes_with_the_noun(program, model):
    bigrams = {(one, other): count for one, other, count in model["bigrams"]}
    assert bigrams["la", "maison"] == 2
    alone = program.translate(model, ["the", "book"], None)
    together = program.translate(model, ["the", "book"], bigrams)
    assert alone == ["la", "livre"]  # "la" occurs more often than "le"
    assert together == ["le", "livre"]
    assert program.translate(model, ["Zoe"], bigrams) == ["Zoe"]


def test_a_system_sees_sources_and_its_translations_are_read_back(tmp_path):
    (tmp_path / "pairs.txt").write_text("".join(f"{source} ||| {target}\n" for source, target in PAIRS), "utf-8")
    reader = TranslationReader()
    gold = reader.read_gold([tmp_path / "pairs.txt"], {})
    assert gold.columns["source"][1] == ("the", "book")
    assert gold.columns["reference.0"][1] == "le livre"
    reader.write(tmp_path / "input.txt", {"source": gold.columns["source"]}, gold.ids)
    assert "livre" not in (tmp_path / "input.txt").read_text("utf-8")
    given = (tmp_path / "input.txt").read_text("utf-8").splitlines()
    (tmp_path / "output.txt").write_text("".join(f"{line} un mot\n" for line in given), "utf-8")
    output = reader.read_outputs(tmp_path / "output.txt", system="a", options={})["a"]
    assert output.columns["text"] == ("un mot",) * len(PAIRS)
    assert reader.read_gold([], {}) is None


def test_a_line_without_bars_is_refused_with_its_number(tmp_path):
    (tmp_path / "output.txt").write_text("a ||| b\nno bars\n", "utf-8")
    with pytest.raises(DataError, match="no \\|\\|\\|") as caught:
        TranslationReader().read_outputs(tmp_path / "output.txt", system="a", options={})
    assert caught.value.problems[0].where.endswith(":2")
