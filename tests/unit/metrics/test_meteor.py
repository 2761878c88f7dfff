"""METEOR is NLTK's where it matches as NLTK does, and finds as many matches in the fewest chunks where it does not."""

from __future__ import annotations

import gzip
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from nltk.stem.porter import PorterStemmer
from nltk.translate.meteor_score import meteor_score
from support.text_items import GOLD, WORSE, items, references

from pipeline.metrics import load_metric
from pipeline.metrics._word_alignment import Aligned, align_latest, align_with_fewest_chunks
from pipeline.testing import MetricContract, MetricExample

BETTER = ("the cat sat on the mat .", "a dog barked at a moon all night", "it rained in Spain", "nobody came and so we left")


class NoSynonyms:
    """A WordNet without words."""

    @staticmethod
    def synsets(word: str) -> list[str]:
        return []


def extract(gold, text, **options):
    metric = load_metric("meteor", options)
    return metric, metric.extract(metric.prepare(gold), items(text=text))


def score(gold, text, **options) -> float:
    metric, found = extract(gold, text, **options)
    return float(metric.scorer(found.decimals)(found.values.sum(axis=0)))


class _Meteor(MetricContract):
    options: dict[str, object] = {}  # noqa: RUF012
    gold = references(GOLD, GOLD[::-1])

    def example(self) -> MetricExample:
        return MetricExample(load_metric("meteor", self.options), self.gold, items(text=BETTER), items(text=WORSE))


class TestMeteor(_Meteor):
    pass


class TestMeteorMean(_Meteor):
    options = {"aggregate": "mean", "beta": 0.6}  # noqa: RUF012


class TestMeteorOfNltk(_Meteor):
    options = {"alignment": "nltk", "tokenize": "none", "lowercase": False, "alpha": 0.5, "gamma": 0.2}  # noqa: RUF012
    gold = references(GOLD)


def stem(word: str) -> str:
    return word.rstrip("s")


@pytest.mark.parametrize(
    ("output", "reference", "fewest", "latest"),
    [
        ("a b c", "a b c", (3, 1), (3, 1)),
        ("a b c", "c b a", (3, 3), (3, 3)),
        ("the cat", "the cat saw the dog", (2, 1), (2, 2)),  # the latest `the` is not the one before the cat
        ("the cats", "the cat", (2, 1), (2, 1)),
        ("cats cat", "cat dogs", (1, 1), (1, 1)),  # the equal word has the match, not the one before it
        ("cat cat", "cats cat", (2, 1), (2, 1)),
        ("a x b", "a b", (2, 2), (2, 2)),
        ("", "a", (0, 0), (0, 0)),
        ("x", "", (0, 0), (0, 0)),
        ("of the sea of the wind", "the wind of the sea of", (6, 2), (6, 5)),
    ],
)
def test_matches_and_chunks_are_those_that_can_be_counted_by_hand(output, reference, fewest, latest):
    assert align_with_fewest_chunks(output.split(), reference.split(), stem) == fewest
    assert align_latest(output.split(), reference.split(), stem) == latest


def try_all(output: list[str], reference: list[str]) -> Aligned:
    """Write out every alignment: most equal words, then most of the others by stem, then fewest chunks."""
    best = (0, 0, 0)

    def go_on(k: int, pairs: tuple[tuple[int, int], ...], equal: int) -> None:
        nonlocal best
        if k == len(output):
            chunks = sum(n == 0 or pairs[n - 1] != (i - 1, j - 1) for n, (i, j) in enumerate(pairs))
            best = min(best, (-equal, -len(pairs), chunks))
            return
        go_on(k + 1, pairs, equal)
        for place, word in enumerate(reference):
            if stem(word) == stem(output[k]) and place not in [taken for _, taken in pairs]:
                go_on(k + 1, (*pairs, (k, place)), equal + (word == output[k]))

    go_on(0, (), 0)
    return Aligned(-best[1], best[2])


def test_no_alignment_has_more_matches_or_fewer_chunks():
    draw = np.random.default_rng(5)
    shorter = 0
    for _ in range(400):
        output, reference = (draw.choice(["a", "as", "ass", "b", "bs", "c"], size=draw.integers(0, 7)).tolist() for _ in range(2))
        found, latest = align_with_fewest_chunks(output, reference, stem), align_latest(output, reference, stem)
        assert found == try_all(output, reference), (output, reference)
        assert latest.matches == found.matches
        shorter += latest.chunks > found.chunks
    assert shorter > 20  # the search is not for nothing


def test_many_equal_words_take_no_time():
    words = ["a", "b"] * 25
    assert align_with_fewest_chunks(words, [*words[1:], "a"], stem) == (50, 2)


def test_statistics_and_their_score_are_those_that_can_be_counted_by_hand():
    """Six of seven words and seven of eight, in two chunks; then one of two and one of three."""
    gold = references(("the old ships left the harbour at dawn", "fog came late"))
    metric, found = extract(gold, ("the old ship left harbour at dawn", "fog lifted"))
    assert metric.statistics == ("matches", "hypothesis_length", "reference_length", "chunks")
    assert found.values.tolist() == [[7, 7, 8, 2], [1, 2, 3, 1]]
    assert found.decimals == (0, 0, 0, 0)
    precision, recall, fragments = 8 / 9, 8 / 11, 3 / 8
    mean = precision * recall / (0.9 * precision + 0.1 * recall)
    value = metric.scorer(found.decimals)(found.values.sum(axis=0))
    assert value == pytest.approx(100 * mean * (1 - 0.5 * fragments**3), rel=1e-14)


def test_the_mean_is_of_the_scores_of_items():
    gold, texts = references(GOLD), ("the cat sat", "a dog", "", "nobody left early")
    each = [score(references(GOLD[k : k + 1]), texts[k : k + 1]) for k in range(4)]
    assert score(gold, texts, aggregate="mean") == pytest.approx(np.mean(each), abs=1e-7)
    assert score(gold, texts) != pytest.approx(np.mean(each), abs=0.1)
    metric, found = extract(gold, texts, aggregate="mean")
    assert (metric.form, metric.statistics, found.decimals) == ("ratio", ("sum", "items"), (9, 0))
    assert found.values[:, 1].tolist() == [1, 1, 1, 1]
    assert found.values[2, 0] == 0


def test_of_several_references_the_one_of_the_best_score_counts_the_first_of_equals():
    gold = references(("a b c d", "x y", "u v"), ("a b", "x y z", ""), ("c a b d", "y x", "v"))
    assert extract(gold, ("a b", "x y", "u"), tokenize="none")[1].values.tolist() == [[2, 2, 2, 1], [2, 2, 2, 1], [1, 1, 2, 1]]


def test_case_counts_where_it_is_asked_for():
    assert extract(references(("The Cat",)), ("the cat",))[1].values.tolist() == [[2, 2, 2, 1]]
    assert extract(references(("The Cat",)), ("the Cats",), lowercase=False)[1].values.tolist() == [[1, 2, 2, 1]]


def test_powers_are_multiplied_out_or_taken_by_logarithms_alike():
    sums = np.array([[40, 1, 0], [50, 3, 0], [45, 2, 7], [11, 1, 0]])
    for beta in (1.0, 2.0, 3.0):
        whole = load_metric("meteor", {"beta": beta}).scorer((0,) * 4)(sums)
        nearly = load_metric("meteor", {"beta": beta * (1 + 1e-14)}).scorer((0,) * 4)(sums)
        np.testing.assert_allclose(whole, nearly, rtol=1e-12)
    assert load_metric("meteor").scorer((0,) * 4)(np.zeros(4)) == 0.0


def test_options_that_are_none_are_refused():
    for options in (
        {"alpha": 1.5},
        {"gamma": -0.1},
        {"alpha": True},
        {"beta": 0},
        {"aggregate": "sum"},
        {"alignment": "beam"},
        {"tokenize": "x"},
    ):
        with pytest.raises(Exception, match="P151"):
            load_metric("meteor", options)


TEXTS = (
    "the cat sat on the mat and the dog sat on the cat",
    "The cats were sitting on the mats , and the dog too",
    "on the mat the cat sat",
    "a",
    "running runs ran run",
    "",
    "nothing alike whatsoever",
)


@pytest.mark.parametrize("parameters", [{}, {"alpha": 0.5, "beta": 1.7, "gamma": 0.3}], ids=str)
def test_pairs_of_texts_score_as_nltk_scores_them(parameters):
    pairs = list(product(TEXTS, TEXTS))
    for other in (None, TEXTS[1]):
        columns = [[reference for reference, _ in pairs], *([] if other is None else [[other] * len(pairs)])]
        check_nltk([tuple(column) for column in columns], tuple(text for _, text in pairs), parameters)


def check_nltk(columns, texts, parameters) -> None:
    options = {"aggregate": "mean", "alignment": "nltk", "tokenize": "none", **parameters}
    found = extract(references(*columns), texts, **options)[1].values[:, 0]
    stemmer = PorterStemmer()
    for k, (row, text) in enumerate(zip(zip(*columns, strict=True), texts, strict=True)):
        there = [reference.split() for reference in row if reference.strip()] or [[]]
        told = meteor_score(there, text.split(), stemmer=stemmer, wordnet=NoSynonyms(), **parameters)
        assert abs(found[k] - told * 1e9) <= 0.501, (row, text)


def read(path: Path) -> tuple[str, ...]:
    return tuple(gzip.decompress(path.read_bytes()).decode().split("\n")[:-1])


@pytest.mark.data
def test_translations_score_as_nltk_scores_them_and_in_fewer_chunks(data_dir):
    folder = data_dir / "wmt21-de-en"
    both = [read(folder / f"ref.{name}.en.txt.gz")[:250] for name in "AB"]
    for system in ("UF", "happypoet"):
        texts = read(folder / "systems" / f"{system}.txt.gz")[:250]
        check_nltk(both[:1], texts, {})
        check_nltk(both, texts, {})
        theirs = extract(references(both[0]), texts, alignment="nltk")[1].values
        ours = extract(references(both[0]), texts)[1].values
        np.testing.assert_array_equal(ours[:, :3], theirs[:, :3])
        assert (ours[:, 3] <= theirs[:, 3]).all()
        assert ours[:, 3].sum() < 0.9 * theirs[:, 3].sum()
