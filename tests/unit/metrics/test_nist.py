"""NIST is that of NLTK with one reference, and of the rules of mteval-v13a, counted another way, with several."""

from __future__ import annotations

import gzip
import math
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from nltk.translate.nist_score import corpus_nist
from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a
from support.text_items import BETTER, GOLD, WORSE, items, references

from pipeline.metrics import kernels, load_metric, nist
from pipeline.testing import MetricContract, MetricExample


def extract(gold, text, **options):
    metric = load_metric("nist", options)
    return metric, metric.extract(metric.prepare(gold), items(text=text))


def score(gold, text, **options) -> float:
    metric, found = extract(gold, text, **options)
    return float(metric.scorer(found.decimals)(found.values.sum(axis=0)))


class _Nist(MetricContract):
    options: dict[str, object] = {}  # noqa: RUF012
    gold = references(GOLD, GOLD[::-1])

    def example(self) -> MetricExample:
        metric = load_metric("nist", self.options)
        return MetricExample(metric, self.gold, items(text=BETTER), items(text=WORSE), whole_gold=True)


class TestNist(_Nist):
    pass


class TestNistOneReference(_Nist):
    gold = references(GOLD)
    options = {"tokenize": "none", "lowercase": True, "order": 2}  # noqa: RUF012


class _Unweighted(TestNistOneReference):
    """The contract as it is for metrics whose items stand alone."""

    def example(self) -> MetricExample:
        example = super().example()
        return MetricExample(example.metric, example.gold, example.better, example.worse)


def test_the_contract_finds_weights_that_are_not_declared():
    with pytest.raises(AssertionError):
        _Unweighted().test_statistics_of_an_item_do_not_depend_on_the_others()


def test_information_and_lengths_are_those_that_can_be_counted_by_hand():
    """Eight words: a 4, b 2, c 2; pairs a-b 2 of 4 a, a-c 2 of 4 a, b-a 1 and c-a 1 of 2."""
    metric, found = extract(references(("a b a c", "a b", "a c")), ("a b c", "b a", ""), order=2)
    assert metric.statistics == ("information.1", "information.2", "total.1", "total.2", "hypothesis_length", "reference_length")
    assert found.decimals == (7, 7, 0, 0, 0, 0)
    bit = 10**7
    assert found.values.tolist() == [
        [5 * bit, 1 * bit, 3, 2, 3, 4],  # a is 1 bit, b and c are 2; a-b is 1
        [3 * bit, 0, 2, 1, 2, 2],
        [0, 0, 0, 0, 0, 2],
    ]
    penalty = 0.5 ** ((math.log(5 / 8) / math.log(1.5)) ** 2)
    value = metric.scorer(found.decimals)(found.values.sum(axis=0))
    assert value == pytest.approx((8 / 5 + 1 / 3) * penalty, rel=1e-14)


def test_two_thirds_of_the_length_keep_half_of_the_score():
    scorer = load_metric("nist", {"order": 1}).scorer((0, 0, 0, 0))
    assert scorer(np.array([6, 3, 2, 3])) == pytest.approx(1.0, rel=1e-14)
    assert scorer(np.array([6, 3, 3, 3])) == scorer(np.array([6, 3, 4, 3])) == 2.0


def test_nothing_said_scores_nothing_and_without_reference_words_there_is_no_score():
    scorer = load_metric("nist", {"order": 1}).scorer((0, 0, 0, 0))
    assert scorer(np.array([0, 0, 0, 3])) == 0.0
    assert np.isnan(scorer(np.array([0, 3, 3, 0])))


@pytest.mark.parametrize("shortest", [0.0, 0.69, 0.72, 0.99])
def test_a_row_of_scores_has_the_bits_of_each_alone(shortest):
    """Rows in which all outputs are about as long as the references are scored without a branch."""
    rng = np.random.default_rng(5)
    counts = rng.integers(0, 900, (2, 3, 60))
    counts[:, 0, :9] = 0  # nothing of this order
    lengths = rng.integers(700, 900, (3, 60)) * (rng.random((3, 60)) > (0.1 if shortest == 0.0 else 0.0))
    said = np.floor(lengths * (shortest + (1.1 - shortest) * rng.random((3, 60))))
    said[lengths == 0] = 5
    sums = np.stack([counts[0] * 10**7 // 3, counts[1], said, lengths]).astype(float)
    found = load_metric("nist", {"order": 1}).scorer((7, 0, 0, 0))(sums)

    def one(information: float, ngrams: float, output: float, reference: float) -> float:
        if reference == 0.0:
            return np.nan
        value, ratio = information / (ngrams * 1e7) if ngrams else 0.0, output / reference
        if ratio == 0.0:
            return 0.0
        distance = kernels.log(min(ratio, 1.0))
        return value * kernels.exp(-nist._STEEPNESS * (distance * distance))

    expected = np.array([one(*column) for column in sums.reshape(4, -1).T]).reshape(3, 60)
    assert found.tobytes() == expected.tobytes()
    assert np.isnan(found).any() == (shortest == 0.0)


def test_weights_are_of_all_references_and_of_no_output():
    whole = extract(references(GOLD), WORSE)[1].values
    part = extract(references(GOLD[:2]), WORSE[:2])[1].values
    assert (whole[:2, 5:] == part[:, 5:]).all()
    assert (whole[:2, 0] > part[:, 0]).all()  # a word is rarer among more words
    mixed = extract(references(GOLD), (BETTER[0], *WORSE[1:]))[1].values
    np.testing.assert_array_equal(mixed[1:], whole[1:])


def test_the_mean_length_of_references_counts_where_some_are_missing():
    """Two references of the first item, one of the second: lengths times two."""
    found = extract(references(("a b c", "a b"), ("a b c d e f", "")), ("a b", "a b"))[1].values
    assert found[:, -2:].tolist() == [[4, 9], [4, 4]]


def test_a_line_separator_is_no_word():
    np.testing.assert_array_equal(
        extract(references(("a b c",)), ("a\u2028b c",))[1].values, extract(references(("a b c",)), ("a b c",))[1].values
    )


def test_case_counts_where_it_is_asked_for_as_by_mteval():
    gold, output = references(("The Boat sails",)), ("the boat Sails",)
    np.testing.assert_array_equal(extract(gold, output)[1].values, extract(gold, ("The Boat sails",))[1].values)
    assert score(gold, output, lowercase=False) == 0.0


def test_options_that_are_none_are_refused():
    for options in ({"order": 0}, {"order": True}, {"tokenize": "words"}, {"lowercase": 1}):
        with pytest.raises(Exception, match="P151"):
            load_metric("nist", options)
    with pytest.raises(ValueError, match="decimals"):
        load_metric("nist").scorer((7, 7, 7, 7, 6, 0, 0, 0, 0, 0, 0, 0))


def count_again(rows: list[list[list[str]]], outputs: list[list[str]], order: int) -> float:
    """The rules of mteval-v13a: counts clipped at the largest of the references, weights of all, the mean reference length."""

    def grams(words: list[str], n: int) -> list[str]:
        return [" ".join(words[k : k + n]) for k in range(len(words) - n + 1)]

    every = [words for row in rows for words in row]
    seen = Counter(gram for words in every for n in range(1, order + 1) for gram in grams(words, n))
    n_words = sum(len(words) for words in every)

    def information(gram: str) -> float:
        head = gram.rpartition(" ")[0]
        return -math.log2(seen[gram] / (seen[head] if head else n_words))

    total = 0.0
    for n in range(1, order + 1):
        above, below = 0.0, 0
        for row, words in zip(rows, outputs, strict=True):
            allowed = [Counter(grams(reference, n)) for reference in row]
            for gram, times in Counter(grams(words, n)).items():
                below += times
                matched = min(times, max(counts[gram] for counts in allowed))
                above += matched * information(gram) if matched else 0.0
        total += above / max(below, 1)
    ratio = sum(map(len, outputs)) / (n_words / len(rows[0]))
    return total * (1.0 if ratio >= 1 else math.exp(-math.log(2) / math.log(1.5) ** 2 * math.log(ratio) ** 2))


@pytest.mark.parametrize("order", [1, 3, 5])
def test_random_texts_score_as_nltk_and_the_rules_of_mteval_say(order):
    draw = np.random.default_rng(19)

    def text() -> list[str]:
        return draw.choice(list("abcdefg"), size=draw.integers(order + 1, 16)).tolist()

    for n_references in (1, 2, 3):
        for _ in range(20):
            rows = [[text() for _ in range(n_references)] for _ in range(5)]
            outputs = [text() for _ in range(5)]
            gold = references(*(tuple(map(" ".join, column)) for column in zip(*rows, strict=True)))
            ours = score(gold, tuple(map(" ".join, outputs)), order=order, tokenize="none")
            assert ours == pytest.approx(count_again(rows, outputs, order), rel=1e-7)
            if n_references == 1:
                assert ours == pytest.approx(corpus_nist(rows, outputs, order), rel=1e-7)


@pytest.mark.data
def test_translations_score_as_nltk_and_the_rules_of_mteval_say(data_dir):
    folder = data_dir / "wmt21-de-en"

    def read(path: Path) -> tuple[str, ...]:
        return tuple(gzip.decompress(path.read_bytes()).decode().split("\n")[:-1])[:150]

    both = [read(folder / f"ref.{name}.en.txt.gz") for name in "AB"]
    for system in ("UF", "happypoet"):
        texts = read(folder / "systems" / f"{system}.txt.gz")
        one, two = ([[tokens(text) for text in row] for row in zip(*columns, strict=True)] for columns in (both[:1], both))
        outputs = [tokens(text) for text in texts]
        assert score(references(*both[:1]), texts) == pytest.approx(corpus_nist(one, outputs, 5), rel=1e-7)
        assert score(references(*both[:1]), texts) == pytest.approx(count_again(one, outputs, 5), rel=1e-7)
        assert score(references(*both), texts) == pytest.approx(count_again(two, outputs, 5), rel=1e-7)


def tokens(text: str) -> list[str]:
    return Tokenizer13a()(text.lower().rstrip()).split()
