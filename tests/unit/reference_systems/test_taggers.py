"""The reference taggers: exact on cases that can be done by hand or by trying everything, and good on real text."""

from __future__ import annotations

import itertools
import math
import pickle
from collections import Counter
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from pipeline.errors import StudyError
from pipeline.interfaces import TrainingItems
from pipeline.items.readers.tagged import TaggedReader
from pipeline.testing import TrainerContract, TrainerExample
from reference_systems._perceptron_kernels import learn
from reference_systems._suffixes import count_suffixes
from reference_systems._trigrams import deleted_interpolation, transitions
from reference_systems._viterbi import best_tags
from reference_systems._words import flatten, word_table
from reference_systems.hmm_tagger import HmmTaggerTrainer
from reference_systems.perceptron_tagger import PerceptronTaggerTrainer, _layout

CORPUS = """
the/D old/A man/N walks/V ./.
the/D old/N man/V the/D boats/N ./.
she/P walks/V home/R ./.
many/A walks/N end/V here/R ./.
Anna/E fishes/V here/R ./.
the/D fishes/N end/V ./.
Boston/E walks/V the/D old/A dog/N home/R ./.
"""
UNSEEN = (("the", "young", "Clara", "wishes", "peace", "."), (), ("walks",))


def read(text):
    lines = [[pair.rsplit("/", 1) for pair in line.split()] for line in text.strip().splitlines()]
    words = tuple(tuple(word for word, _ in line) for line in lines)
    return items(words, tuple(tuple(tag for _, tag in line) for line in lines))


def items(words, tags=None):
    columns = {"word": words} if tags is None else {"word": words, "tag": tags}
    return TrainingItems(ids=tuple(str(k) for k in range(1, len(words) + 1)), columns=columns)


def tagged(trainer, training, sample, test=UNSEEN, seed=1):
    model = trainer.fit(training, np.asarray(sample), seed=seed, workdir=Path())
    return trainer.predict(pickle.loads(pickle.dumps(model)), items(test))["tag"]


class TestPerceptronTagger(TrainerContract):
    def example(self):
        return TrainerExample(PerceptronTaggerTrainer(), read(CORPUS), read(CORPUS))


class TestHmmTagger(TrainerContract):
    def example(self):
        return TrainerExample(HmmTaggerTrainer(), read(CORPUS), read(CORPUS))


def naive_sums(orders, tokens, gold, slots, bases, n_tags):
    """Add up all weights after every token, as the definition says."""
    weights, sums = Counter(), Counter()
    for order in orders:
        for sentence in order:
            first, last = tokens.starts[sentence], tokens.starts[sentence + 1]
            before = previous = n_tags
            for token in range(first, last):
                features = []
                for attribute, offset, base in slots:
                    inside = first <= token + offset < last
                    features.append(base + tokens.rows[tokens.words[token + offset] if inside else 0][attribute])
                word = tokens.rows[tokens.words[token]][0]
                features.append(bases[0] + previous)
                features.append(bases[1] + before * (n_tags + 1) + previous)
                features.append(bases[2] + word * (n_tags + 1) + previous)
                scores = [sum(weights[feature, tag] for feature in features) for tag in range(n_tags)]
                guess = scores.index(max(scores))
                if guess != gold[token]:
                    for feature in features:
                        weights[feature, gold[token]] += 1
                        weights[feature, guess] -= 1
                sums.update(weights)
                before, previous = previous, guess
    return {key: value for key, value in sums.items() if value}


def test_averaged_weights_are_the_naive_sums_over_all_steps():
    training = read(CORPUS)
    words = training.columns["word"]
    table = word_table(word for sentence in words for word in sentence)
    tokens = table.tokens(words)
    gold, _, met = flatten(training.columns["tag"])
    slots, bases, n_features = _layout(table, len(met))
    orders = np.array([[0, 1, 2, 3, 4, 5, 6], [6, 2, 4, 0, 1, 5, 3], [1, 3, 5, 2, 4, 6, 0]])
    first, tags, totals = learn(orders, tokens.words, tokens.starts, tokens.rows, gold, slots, bases, n_features, len(met))
    feature = np.repeat(np.arange(n_features), np.diff(first))
    found = {(int(f), int(t)): int(v) for f, t, v in zip(feature, tags, totals, strict=True) if v}
    assert found == naive_sums(orders, tokens, gold, slots, bases, len(met))


def test_features_of_different_kinds_never_share_a_number():
    table = word_table(("a", "bc", "D-9"))
    slots, bases, n_features = _layout(table, 3)
    ends = [base + table.sizes[attribute] for attribute, _, base in slots]
    assert [*(base for _, _, base in slots), *bases] == [0, *ends, bases[0] + 4, bases[1] + 16]
    assert n_features == bases[2] + table.sizes[0] * 4


@pytest.mark.parametrize("trainer", [PerceptronTaggerTrainer(epochs=20), HmmTaggerTrainer()])
def test_a_tagger_knows_its_training_text_and_the_ends_of_words(trainer):
    training = read(CORPUS)
    assert tagged(trainer, training, range(7), training.columns["word"]) == training.columns["tag"]
    (first, empty, single) = tagged(trainer, training, range(7))
    assert (first[0], first[2], first[5], empty) == ("D", "E", ".", ())
    assert single in {("V",), ("N",)}


@pytest.mark.parametrize("trainer", [PerceptronTaggerTrainer(), HmmTaggerTrainer()])
def test_a_sentence_drawn_twice_counts_twice(trainer):
    training = read(CORPUS)
    drawn = [0, 1, 1, 1, 4]
    copied = items(*(tuple(training.columns[name][k] for k in drawn) for name in ("word", "tag")))
    one = trainer.fit(training, np.array(drawn), seed=3, workdir=Path())
    other = trainer.fit(copied, np.arange(5), seed=3, workdir=Path())
    once = trainer.fit(training, np.array([0, 1, 4]), seed=3, workdir=Path())
    assert pickle.dumps(one) == pickle.dumps(other)
    assert pickle.dumps(one) != pickle.dumps(once)


def test_the_seed_shuffles_what_a_perceptron_sees_and_nothing_of_an_hmm():
    training = read(CORPUS)
    fits = [PerceptronTaggerTrainer().fit(training, np.arange(7), seed=seed, workdir=Path()) for seed in (1, 1, 2)]
    assert np.array_equal(fits[0].weight, fits[1].weight)
    assert not np.array_equal(fits[0].weight, fits[2].weight)
    hmms = [pickle.dumps(HmmTaggerTrainer().fit(training, np.arange(7), seed=seed, workdir=Path())) for seed in (1, 2)]
    assert hmms[0] == hmms[1]


@pytest.mark.parametrize("trainer", [PerceptronTaggerTrainer(), HmmTaggerTrainer()])
def test_one_sentence_is_enough_and_none_is_refused(trainer):
    training = items((("go",), ()), (("V",), ()))
    assert tagged(trainer, training, [0]) == (("V",) * 6, (), ("V",))
    assert tagged(trainer, training, [1, 0, 1], ()) == ()
    with pytest.raises(ValueError, match="the sample has none"):
        trainer.fit(training, np.array([1]), seed=1, workdir=Path())


@pytest.mark.parametrize(
    ("trainer", "options"),
    [
        (PerceptronTaggerTrainer, {"epochs": 0}),
        (PerceptronTaggerTrainer, {"epochs": True}),
        (HmmTaggerTrainer, {"beam": -1}),
        (HmmTaggerTrainer, {"rare": 2.0}),
    ],
)
def test_options_of_no_use_are_refused(trainer, options):
    with pytest.raises(StudyError, match=next(iter(options))) as caught:
        trainer(**options)
    assert caught.value.problems[0].code == "P151"


def test_trigrams_are_given_to_the_history_that_foretells_them_without_themselves():
    # <s> <s> a b </s>, twice, and <s> <s> b </s>: tags a = 0, b = 1, boundary = 2.
    trigrams = Counter({(2, 2, 0): 2, (2, 0, 1): 2, (0, 1, 2): 2, (2, 2, 1): 1, (2, 1, 2): 1})
    # (2,2,0): (2-1)/(8-1), (2-1)/(3-1), (2-1)/(3-1): tie of two, to the bigram. (2,0,1): (3-1)/7, 1/1, 1/1: bigram.
    # (0,1,2): 2/7, 2/2, 1/1: bigram. (2,2,1): 2/7, 0, 0: unigram. (2,1,2): 2/7, 2/2, no other: bigram.
    assert deleted_interpolation(trigrams) == (1 / 8, 7 / 8, 0.0)


def test_transitions_are_the_interpolated_shares():
    found = transitions([[0, 1], [0, 1], [1]], 2)
    one, two, three = found.weights
    assert (one, two, three) == (1 / 8, 7 / 8, 0.0)
    # Singles: a 2, b 3, end 3 of 8; after the start a 2 and b 1 of 3; after a always b; after b always the end.
    pairs = [[0, 1, 0], [0, 0, 1], [Fraction(2, 3), Fraction(1, 3), 0]]
    singles = [Fraction(2, 8), Fraction(3, 8), Fraction(3, 8)]
    wanted = [
        [float(Fraction(1, 8) * single + Fraction(7, 8) * pair) for single, pair in zip(singles, row, strict=True)] for row in pairs
    ]
    np.testing.assert_allclose(np.exp(found.bigram), wanted, rtol=1e-14)


def test_an_unknown_word_is_judged_by_the_longest_ending_seen_among_rare_words():
    model = count_suffixes({"sing": {0: 1}, "king": {1: 2}, "Bing": {2: 1}, "the": {3: 9}}, 4, rare=2)
    prior = np.array([1, 2, 1, 9]) / 13
    theta = math.sqrt(sum((prior - 0.25) ** 2) / 3)
    wanted = prior
    for share in ([1 / 3, 2 / 3, 0, 0],) * 4:  # "", g, ng, ing: of words without a capital
        wanted = (np.array(share) + theta * wanted) / (1 + theta)
    np.testing.assert_allclose(model.tag_probabilities("ring"), wanted, rtol=1e-14)
    assert model.tag_probabilities("Ring").argmax() == 2
    assert model.tag_probabilities("Ring").sum() == pytest.approx(1.0)


def random_case(generator, *, n_tags=4, n_words=5, length=5):
    sentences = [generator.integers(0, n_tags, size=generator.integers(1, 7)).tolist() for _ in range(12)] + [list(range(n_tags))]
    options = [np.sort(generator.choice(n_tags, size=generator.integers(1, n_tags + 1), replace=False)) for _ in range(n_words)]
    emissions = [np.log(generator.random(len(option))) for option in options]
    return transitions(sentences, n_tags), options, emissions, generator.integers(0, n_words, size=length).astype(np.int32)


def log_probability(path, words, found, options, emissions):
    total, boundary = 0.0, found.bigram.shape[0] - 1
    padded = [boundary, boundary, *path, boundary]
    for a, b, c in zip(padded, padded[1:], padded[2:], strict=False):
        row, value = found.context[a, b], found.bigram[b, c]
        if row >= 0:
            for entry in range(found.first[row], found.first[row + 1]):
                value = found.trigram[entry] if found.last_tag[entry] == c else value
        total += value
    return total + sum(emissions[word][list(options[word]).index(tag)] for word, tag in zip(words, path, strict=True))


def viterbi(words, found, options, emissions, beam=math.inf):
    first = np.concatenate(([0], np.cumsum([len(option) for option in options])))
    lengths = np.array([0, len(words)])
    tables = (found.bigram, found.context, found.first, found.last_tag, found.trigram)
    return best_tags(words, lengths, first, np.concatenate(options), np.concatenate(emissions), *tables, beam).tolist()


def test_the_path_found_is_the_best_of_all_paths():
    generator = np.random.default_rng(11)
    for _ in range(30):
        found, options, emissions, words = random_case(generator)
        paths = itertools.product(*(options[word].tolist() for word in words))
        best = max(log_probability(path, words, found, options, emissions) for path in paths)
        path = viterbi(words, found, options, emissions)
        assert log_probability(path, words, found, options, emissions) == pytest.approx(best, rel=1e-12)


def test_a_beam_drops_paths_and_never_finds_a_better_one():
    generator = np.random.default_rng(12)
    losses = []
    for _ in range(40):
        found, options, emissions, words = random_case(generator, length=7)
        narrow, exact = (viterbi(words, found, options, emissions, beam) for beam in (0.0, math.inf))
        scores = [log_probability(path, words, found, options, emissions) for path in (exact, narrow)]
        losses.append(scores[0] - scores[1])
    assert min(losses) >= -1e-12
    assert max(losses) > 0.1


@pytest.mark.slow
@pytest.mark.data
def test_taggers_of_news_are_as_good_on_editorials_as_they_were(data_dir):
    news, editorial = (
        TaggedReader().read_gold([data_dir / "brown" / f"{genre}.tagged.txt.gz"], {}) for genre in ("news", "editorial")
    )
    training = items(news.columns["word"], news.columns["tag"])
    for trainer, wanted in ((PerceptronTaggerTrainer(), 93.16), (HmmTaggerTrainer(), 92.31)):
        found = tagged(trainer, training, range(len(news)), editorial.columns["word"])
        right = sum(map(str.__eq__, itertools.chain(*found), itertools.chain(*editorial.columns["tag"])))
        assert 100 * right / sum(map(len, found)) == pytest.approx(wanted, abs=0.01)
