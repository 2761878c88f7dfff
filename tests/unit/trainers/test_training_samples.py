"""Resampled training sets: who shares a sample, who does not, what is left out, and that its bits never change."""

from __future__ import annotations

import inspect
import math
from collections import Counter

import numpy as np
import pytest

from pipeline.trainers.sampling import Rule, TrainingSet, draw_sample, sample_size, training_seed

HALF = Rule("bootstrap", 0.5)
DIGITS = TrainingSet.of_items("digits", 905)
ADDRESS = {"seed": 20120712, "replica": 3}

DOCUMENTS = TrainingSet("news", np.arange(74) % 30, np.ones(74, np.int64))
"""Documents of two or three items that do not stand together."""


def of_units(sizes: list[int]) -> TrainingSet:
    """Return a set whose items are units that count for so many instances."""
    return TrainingSet("counted", np.arange(len(sizes)), np.array(sizes, np.int64))


def test_every_base_model_is_trained_on_the_same_sample():
    # A sample is a function of its address, and the address has no place for a model or a trainer.
    np.testing.assert_array_equal(draw_sample(HALF, DIGITS, **ADDRESS).items, draw_sample(HALF, DIGITS, **ADDRESS).items)
    assert set(inspect.signature(draw_sample).parameters) == {"rule", "training", "seed", "replica"}
    assert not {"model", "trainer"} & {*vars(HALF), *vars(DIGITS)}


RULES = [HALF, Rule("bootstrap"), Rule("quota"), Rule("cross-validation", folds=5), Rule("bootstrap", unit="document")]


@pytest.mark.parametrize("rule", RULES, ids=str)
@pytest.mark.parametrize(
    ("training", "address"), [(DIGITS, {"seed": 1}), (DIGITS, {"replica": 4}), (TrainingSet.of_items("letters", 905), {})], ids=str
)
def test_another_seed_replica_or_data_set_gives_another_sample(rule, training, address):
    # 226 positions agree by chance with probability 905**-226; folds with 1 / binomial(905, 181).
    one, two = draw_sample(rule, DIGITS, **ADDRESS).items, draw_sample(rule, training, **(ADDRESS | address)).items
    assert not np.array_equal(one[:226], two[:226])


def test_no_two_rules_share_their_draws():
    rules = [*RULES, Rule("bootstrap", 0.25), Rule("quota", instances="tokens"), Rule("bootstrap", unit="genre")]
    samples = [tuple(draw_sample(rule, DIGITS, **ADDRESS).items[:200].tolist()) for rule in rules]
    assert len(set(samples)) == len(rules)


def test_a_sentence_is_an_item():
    one, two = (draw_sample(Rule("bootstrap", unit=unit), DIGITS, **ADDRESS).items for unit in ("item", "sentence"))
    np.testing.assert_array_equal(one, two)


@pytest.mark.parametrize("rule", RULES, ids=str)
def test_a_replica_is_the_same_whether_or_not_others_are_asked_for(rule):
    alone = draw_sample(rule, DIGITS, **ADDRESS).items
    among = [draw_sample(rule, DIGITS, seed=20120712, replica=replica).items for replica in range(6)]
    np.testing.assert_array_equal(among[3], alone)


@pytest.mark.parametrize(("fraction", "size"), [(1.0, 905), (0.5, 453), (0.25, 226), (1e-6, 1)])
def test_a_fraction_draws_that_share_of_the_training_set_halves_rounded_up(fraction, size):
    sample = draw_sample(Rule("bootstrap", fraction), DIGITS, **ADDRESS)
    assert len(sample.items) == sample_size(fraction, 905) == size == sample.counts["units"] == sample.counts["instances"]
    assert sample.items.dtype == np.int64
    assert sample.items.min() >= 0
    assert sample.items.max() < 905


@pytest.mark.statistical
@pytest.mark.parametrize(("fraction", "share"), [(1.0, 0.632), (0.5, 0.393), (0.25, 0.221)])
def test_a_bootstrap_sample_holds_63_39_and_22_percent_of_the_items(fraction, share):
    # A draw changes the share by at most 1/n, so by McDiarmid |share − E| > t has chance below 2·exp(−2·t²·n²/m);
    # t below makes that 1e-6. E is 1 − (1 − 1/n)^m, within 1e-3 of the figures in the name.
    n = 20_000
    m = sample_size(fraction, n)
    bound = math.sqrt(math.log(2e6) * m / 2) / n
    expected = 1 - (1 - 1 / n) ** m
    assert expected == pytest.approx(share, abs=1e-3)
    sample = draw_sample(Rule("bootstrap", fraction), TrainingSet.of_items("many", n), **ADDRESS)
    assert sample.counts["distinct"] == len(set(sample.items.tolist())) / n
    assert abs(sample.counts["distinct"] - expected) < bound


@pytest.mark.golden
def test_the_first_positions_of_a_sample_are_these_on_every_python():
    sample = draw_sample(Rule("bootstrap"), DIGITS, seed=20120712, replica=0).items
    assert sample[:8].tolist() == [135, 20, 653, 721, 401, 758, 606, 482]
    assert int(sample.sum()) == 409649


@pytest.mark.golden
def test_the_seed_of_a_training_is_this_on_every_python():
    assert training_seed(HALF, **ADDRESS, data="digits", model="forest") == 1509584540


@pytest.mark.parametrize(
    ("rule", "other"),
    [
        (HALF, {"seed": 1}),
        (HALF, {"replica": 4}),
        (HALF, {"data": "letters"}),
        (HALF, {"model": "tree"}),
        *(
            (rule, {})
            for rule in (Rule("bootstrap"), Rule("seed"), Rule("quota"), *(Rule("cross-validation", folds=k) for k in (2, 3)))
        ),
    ],
    ids=str,
)
def test_every_training_has_a_seed_of_its_own(rule, other):
    address = {**ADDRESS, "data": "digits", "model": "forest"}
    assert training_seed(HALF, **address) != training_seed(rule, **(address | other))


def test_a_training_seed_fits_the_random_state_of_an_estimator():
    seeds = [training_seed(HALF, seed=1, data="digits", replica=replica, model="<b>/日本") for replica in range(200)]
    assert all(0 <= seed < 2**31 for seed in seeds)
    assert len(set(seeds)) == 200  # 200 of 2**31 collide with chance 1e-5; the address is fixed
    assert max(seeds) >= 2**30


def test_a_quota_takes_whole_units_until_the_instances_are_reached_and_no_longer():
    sizes = [3, 0, 7, 1, 2, 12, 5]
    for replica in range(50):
        sample = draw_sample(Rule("quota", instances="chunks:NP"), of_units(sizes), seed=1, replica=replica)
        drawn = [sizes[unit] for unit in sample.units]
        assert sum(drawn) == sample.counts["instances"] >= sum(sizes) > sum(drawn[:-1])


def test_a_quota_of_items_is_a_bootstrap_of_full_size():
    assert draw_sample(Rule("quota"), DIGITS, **ADDRESS).counts["units"] == 905


@pytest.mark.statistical
def test_the_first_unit_of_a_quota_is_any_of_them_alike():
    # First units of 1000 replicas on 4 units: chi² with 3 degrees is above 30.7 with chance 1e-6.
    first = Counter(int(draw_sample(Rule("quota"), of_units([1, 5, 9, 2]), seed=3, replica=r).units[0]) for r in range(1000))
    assert sum((first[unit] - 250) ** 2 / 250 for unit in range(4)) < 30.7


@pytest.mark.parametrize(("units", "folds"), [(10, 5), (11, 3), (74, 20), (7, 7), (2, 2)])
def test_each_repeat_of_cross_validation_leaves_out_every_unit_once(units, folds):
    training = TrainingSet.of_items("x", units)
    for repeat in range(3):
        kept = [
            set(draw_sample(Rule("cross-validation", folds=folds), training, seed=1, replica=repeat * folds + fold).items.tolist())
            for fold in range(folds)
        ]
        left_out = [set(range(units)) - each for each in kept]
        assert sorted(unit for fold in left_out for unit in fold) == list(range(units))
        assert max(map(len, left_out)) - min(map(len, left_out)) <= 1


def test_a_fold_keeps_the_order_of_the_file_and_draws_nothing_twice():
    sample = draw_sample(Rule("cross-validation", folds=5), DIGITS, **ADDRESS)
    assert (np.diff(sample.items) > 0).all()
    assert sample.counts["distinct"] == sample.counts["items"] / 905


@pytest.mark.statistical
def test_two_units_are_left_out_together_as_often_as_any_other_two():
    # 1000 repeats of 3 folds of 6: a pair shares a fold with chance 1/5. By Hoeffding .0928 off has chance 1e-6 over 15 pairs.
    together = np.zeros((6, 6))
    rule, training = Rule("cross-validation", folds=3), TrainingSet.of_items("six", 6)
    for replica in range(3000):
        kept = draw_sample(rule, training, seed=11, replica=replica).items
        a, b = sorted(set(range(6)) - set(kept.tolist()))
        together[a, b] += 1
    shares = together[np.triu_indices(6, 1)] / 1000
    assert abs(shares - 0.2).max() < 0.0928


def test_the_whole_set_in_order_is_what_seeds_are_tried_on():
    for replica in (0, 7):
        np.testing.assert_array_equal(draw_sample(Rule("seed"), DIGITS, seed=1, replica=replica).items, np.arange(905))


@pytest.mark.parametrize(
    "rule",
    [
        Rule(m, unit="document", **o)
        for m, o in [("bootstrap", {}), ("quota", {}), ("cross-validation", {"folds": 4}), ("seed", {})]
    ],
    ids=str,
)
def test_documents_are_drawn_whole_and_their_items_come_in_the_order_of_the_file(rule):
    sample = draw_sample(rule, DOCUMENTS, seed=1, replica=1)
    expected = [item for unit in sample.units for item in np.flatnonzero(DOCUMENTS.unit_of_item == unit)]
    assert sample.items.tolist() == expected
    assert sample.counts["distinct_units"] == len(set(sample.units.tolist())) / DOCUMENTS.n_units


def test_a_bootstrap_of_documents_draws_as_many_documents_as_there_are():
    sample = draw_sample(Rule("bootstrap", unit="document"), DOCUMENTS, seed=1, replica=0)
    assert sample.counts["units"] == 30
    assert sample.counts["items"] == len(sample.items)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Rule("jackknife"), "jackknife"),
        (lambda: Rule("bootstrap", 0.0), "0.0"),
        (lambda: Rule("bootstrap", 1.5), "1.5"),
        (lambda: Rule("cross-validation", folds=1), "1"),
        (lambda: draw_sample(HALF, DIGITS, seed=1, replica=-1), "-1"),
        (lambda: draw_sample(Rule("cross-validation", folds=9), of_units([1, 1]), seed=1, replica=0), "9 folds of 2"),
        (lambda: draw_sample(Rule("quota", instances="chunks:NP"), of_units([0, 0]), seed=1, replica=0), "no chunks:NP"),
        (lambda: draw_sample(HALF, of_units([]), seed=1, replica=0), "got 0"),
    ],
    ids=lambda given: given if isinstance(given, str) else "",  # a function's name holds its address
)
def test_what_cannot_be_drawn_is_refused_with_the_value(make, words):
    with pytest.raises(ValueError, match=words):
        make()


@pytest.mark.data
@pytest.mark.statistical
def test_a_quota_of_base_noun_phrases_draws_8938_sentences_of_conll2000(data_dir):
    # Published: 8938 ± 48 sentences, 5648 ± 34 distinct, for 54760 base-NPs (mean and deviation over samples). 20 of ours:
    # means are off by 6 deviations of a mean with chance below 1e-6.
    from pipeline.items.training import count_instances, read_training_items
    from pipeline.study.training_schema import DataFiles

    items = read_training_items(DataFiles(path="train.txt.gz", format="columns"), data_dir / "conll2000")
    counted = count_instances(items, "chunks:NP")
    training = TrainingSet("conll2000", np.arange(len(items)), counted)
    samples = [draw_sample(Rule("quota", instances="chunks:NP"), training, seed=1, replica=r).counts for r in range(20)]
    assert abs(np.mean([s["units"] for s in samples]) - 8938) < 6 * 48 / math.sqrt(20)
    assert abs(np.mean([s["distinct_units"] for s in samples]) * len(items) - 5648) < 6 * 34 / math.sqrt(20)
