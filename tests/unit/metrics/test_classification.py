"""Precision, recall and F1 of labels: by hand, and against scikit-learn on random labels, resampled and with classes that lack."""

from __future__ import annotations

import gzip
import warnings
from typing import Any

import numpy as np
import pytest
from sklearn.metrics import balanced_accuracy_score, f1_score, precision_score, recall_score

from pipeline.errors import DataError, StudyError
from pipeline.interfaces import Items, Metric
from pipeline.metrics import load_metric
from pipeline.study.load import study_from_value
from pipeline.survey.survey import survey_study
from pipeline.testing import MetricContract, MetricExample

SCIKIT = {"precision": precision_score, "recall": recall_score, "f1": f1_score}
NAMES = sorted(SCIKIT)


def items(labels: Any) -> Items:
    count = len(labels)
    return Items(tuple(f"q{k}" for k in range(count)), {"label": tuple(labels)}, "gold.txt", tuple(range(1, count + 1)))


def score(metric: Metric, gold: Any, found: Any) -> float:
    counted = metric.extract(metric.prepare(items(gold)), items(found))
    return float(metric.scorer(counted.decimals)(counted.values.sum(axis=0)))


GOLD = ("cat", "cat", "dog", "dog", "dog", "hen", "cat", "")
FOUND = ("cat", "dog", "dog", "", "cat", "hen", "cat", "dog")
WORSE = ("dog", "dog", "dog", "cat", "cat", "cat", "cat", "dog")


class _Example(MetricContract):
    name: str
    options: dict[str, Any]

    def example(self) -> MetricExample:
        return MetricExample(load_metric(self.name, self.options), items(GOLD), items(FOUND), items(WORSE))


class TestMicroF1(_Example):
    name, options = "f1", {"average": "micro"}


class TestPositivePrecision(_Example):
    name, options = "precision", {"positive": "dog"}


class TestMicroRecallOfSome(_Example):
    name, options = "recall", {"labels": ["cat", "dog"]}


class TestMacroF1(_Example):
    name, options = "f1", {"average": "macro", "labels": ["cat", "dog"]}


class TestMacroPrecision(_Example):
    name, options = "precision", {"average": "macro", "labels": ["cat", "dog"]}


class TestMacroRecall(_Example):
    name, options = "recall", {"average": "macro", "labels": ["cat", "dog"]}


@pytest.mark.parametrize(
    ("name", "options", "expected"),
    [
        # cat: 2 right, 3 found, 3 gold; dog: 1, 3, 3; hen: 1, 1, 1. The eighth item has no gold label, the fourth found none.
        ("precision", {"average": "micro"}, 100 * 4 / 7),
        ("recall", {"average": "micro"}, 100 * 4 / 7),
        ("precision", {"labels": ["hen", "cat"]}, 100 * 3 / 4),
        ("recall", {"positive": "dog"}, 100 / 3),
        ("f1", {"positive": "cat"}, 200 * 2 / 6),
        ("f1", {"average": "macro", "labels": ["cat", "dog", "hen"]}, 100 * (2 / 3 + 1 / 3 + 1) / 3),
        ("precision", {"average": "macro", "labels": ["dog", "hen"]}, 100 * (1 / 3 + 1) / 2),
    ],
    ids=str,
)
def test_scores_of_eight_animals_are_those_counted_by_hand(name, options, expected):
    assert score(load_metric(name, options), GOLD, FOUND) == pytest.approx(expected, rel=1e-15)


def test_statistics_say_item_by_item_what_is_right_found_and_gold():
    metric = load_metric("f1", {"average": "macro", "labels": ["dog", "cat"]})
    assert metric.statistics == ("tp.cat", "tp.dog", "found.cat", "found.dog", "gold.cat", "gold.dog")
    counted = metric.extract(metric.prepare(items(GOLD)), items(FOUND)).values
    assert counted[:5].tolist() == [
        [1, 0, 1, 0, 1, 0],  # cat found cat
        [0, 0, 0, 1, 1, 0],  # cat found dog
        [0, 1, 0, 1, 0, 1],
        [0, 0, 0, 0, 0, 1],  # dog, nothing found
        [0, 0, 1, 0, 0, 1],  # dog found cat
    ]
    micro = load_metric("f1", {"average": "micro"})
    assert micro.extract(micro.prepare(items(GOLD)), items(FOUND)).values[:5].tolist() == [[1, 2], [0, 2], [1, 2], [0, 1], [0, 2]]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("seed", range(4))
def test_scores_are_those_of_scikit_learn(name, seed):
    rng = np.random.default_rng(seed)
    labels = [f"class {k}" for k in range(5)]
    gold = rng.choice(labels, 300, p=[0.5, 0.2, 0.15, 0.1, 0.05])
    found = np.where(rng.random(300) < 0.6, gold, rng.choice(labels, 300))
    ask = SCIKIT[name]
    some = sorted(labels[1:4])
    every = load_metric(name, {"average": "micro"})
    assert score(every, gold, found) == pytest.approx(100 * ask(gold, found, average="micro"), rel=1e-14)
    micro = load_metric(name, {"labels": some})
    assert score(micro, gold, found) == pytest.approx(100 * ask(gold, found, labels=some, average="micro"), rel=1e-14)
    macro = load_metric(name, {"average": "macro", "labels": some})
    assert score(macro, gold, found) == pytest.approx(100 * ask(gold, found, labels=some, average="macro"), rel=1e-14)
    two, other = (np.where(column == "class 1", "yes", "no") for column in (gold, found))
    binary = load_metric(name, {"positive": "yes"})
    assert score(binary, two, other) == pytest.approx(100 * ask(two, other, pos_label="yes", average="binary"), rel=1e-14)


@pytest.mark.parametrize("name", NAMES)
def test_without_options_scores_are_those_of_scikit_learn_without_options(name):
    rng = np.random.default_rng(5)
    gold = rng.integers(0, 2, 200)
    found = np.where(rng.random(200) < 0.8, gold, 1 - gold)
    texts = [[str(label) for label in labels.tolist()] for labels in (gold, found)]
    assert score(load_metric(name), *texts) == pytest.approx(100 * SCIKIT[name](gold, found), rel=1e-14)
    assert score(load_metric(name), *texts) != pytest.approx(100 * (gold == found).mean(), rel=1e-3)  # nor the accuracy
    with pytest.raises(ValueError, match="multiclass"):
        SCIKIT[name]([0, 1, 2], [0, 1, 2])
    for labels in ("012", "xy", "0"):
        with pytest.raises(DataError, match=f"'1' where none is named; the gold has '{labels[0]}'") as caught:
            score(load_metric(name), labels, labels)
        assert caught.value.problems[0].code == "P280"
    assert score(load_metric(name, {"positive": "1"}), "012", "012") == 100.0


def test_a_gold_of_which_it_is_not_said_what_counts_is_refused_when_a_study_is_checked(tmp_path):
    for name, text in (("gold", "a\nb\n"), ("north", "a\na\n"), ("south", "b\nb\n")):
        (tmp_path / f"{name}.txt").write_text(text)
    test_set = {"format": "labels", "gold": "gold.txt", "outputs": {name: f"{name}.txt" for name in ("north", "south")}}
    value = {"schema": 1, "study": "s", "test_sets": {"t": test_set}, "metrics": ["f1"]}
    with pytest.raises(DataError, match="P280"):
        survey_study(study_from_value(value, base=tmp_path).study, tmp_path)
    value["metrics"] = [{"name": "f1", "positive": "a"}]
    survey_study(study_from_value(value, base=tmp_path).study, tmp_path)


@pytest.mark.parametrize("name", NAMES)
def test_resamples_that_lack_classes_score_as_scikit_learn_scores_them(name):
    """Its macro is over the labels that the gold or the predictions of a sample have, with 0 where nothing divides.

    Its balanced accuracy is the recall of the labels that the gold has.
    """
    rng = np.random.default_rng(9)
    labels = sorted("abcdefgh")
    gold, found = rng.choice(labels, (2, 40))
    found[gold == "h"] = "a"
    metric = load_metric(name, {"average": "macro", "labels": labels})
    counted = metric.extract(metric.prepare(items(gold)), items(found)).values
    drawn = rng.integers(0, 40, (50, 9))
    scores = metric.scorer((0,) * len(metric.statistics))(counted[drawn].sum(axis=1).T)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if name == "recall":
            expected = [100 * balanced_accuracy_score(gold[some], found[some]) for some in drawn]
        else:
            expected = [100 * SCIKIT[name](gold[some], found[some], average="macro", zero_division=0) for some in drawn]
    assert len({len(set(gold[some]) | set(found[some])) for some in drawn}) > 2
    np.testing.assert_allclose(scores, expected, rtol=1e-13)


def test_where_nothing_divides_micro_is_undefined_and_a_label_of_macro_is_0_or_left_out():
    lost = ("dog",) * 4
    gold = ("cat", "cat", "dog", "dog")
    assert np.isnan(score(load_metric("precision", {"positive": "cat"}), gold, lost))
    assert score(load_metric("f1", {"positive": "cat"}), gold, lost) == 0.0
    both = load_metric("precision", {"average": "macro", "labels": ["cat", "dog"]})
    assert score(both, gold, lost) == 25.0  # cat was not found: 0; dog: half
    sums = np.array([[0, 0, 0], [1, 1, 0], [0, 0, 0], [1, 1, 0], [0, 1, 0], [1, 0, 0]])
    assert both.scorer((0,) * 6)(sums).tolist()[:2] == [100.0, 50.0]  # no cat at all: left out; a cat that is not found: 0
    assert np.isnan(both.scorer((0,) * 6)(sums)[2])


def test_systems_that_recall_the_same_items_have_the_same_macro_recall_in_every_resample():
    """One takes dogs for hens, the other for cats: where a resample has no hen, that is no matter of recall for either."""
    gold = ("cat",) * 4 + ("dog",) * 4 + ("hen",)
    metric = load_metric("recall", {"average": "macro", "labels": ["cat", "dog", "hen"]})
    drawn = np.random.default_rng(2).integers(0, 9, (200, 9))
    assert 30 < sum(8 not in some for some in drawn) < 170
    scores = []
    for other in ("hen", "cat"):
        found = items((*gold[:4], other, other, "dog", "dog", "hen"))
        counted = metric.extract(metric.prepare(items(gold)), found).values
        scores.append(metric.scorer((0,) * 9)(counted[drawn].sum(axis=1).T))
    np.testing.assert_array_equal(scores[0], scores[1])
    assert len(np.unique(scores[0])) > 5
    assert np.isnan(metric.scorer((0,) * 9)(np.array([0, 0, 0, 0, 0, 2, 0, 0, 0])))  # hens found, and no gold label at all


@pytest.mark.parametrize("options", [{"labels": ["cat", "dgo", "owl"]}, {"average": "macro", "labels": ["cat", "dgo", "owl"]}])
def test_labels_that_the_gold_has_not_are_refused_with_those_it_has(options):
    with pytest.raises(DataError) as caught:
        score(load_metric("f1", options), GOLD, FOUND)
    (problem,) = caught.value.problems
    assert problem.code == "P246"
    assert problem.where == "gold.txt"
    assert problem.message == "f1: the gold has no item with the labels 'dgo', 'owl'; it has 'cat' (3), 'dog' (3), 'hen' (1)"
    with pytest.raises(DataError, match="the label 'yes'; it has 'cat'"):
        score(load_metric("f1", {"positive": "yes"}), GOLD, FOUND)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"average": "macro"}, "needs the option 'labels'"),
        ({"average": "weighted", "labels": ["a"]}, "is one of binary, micro, macro"),
        ({"positive": 1}, "write a number in quotes"),
        ({"positive": "a", "labels": ["a"]}, "for one label"),
        ({"positive": "a", "average": "macro"}, "for one label"),
        ({"average": "binary", "labels": ["a"]}, "name it as 'positive'"),
        ({"labels": []}, "is a list of words"),
        ({"labels": ["a", "a"]}, "names a word twice"),
    ],
    ids=str,
)
def test_options_that_make_no_sense_are_refused(options, says):
    with pytest.raises(StudyError, match=says) as caught:
        load_metric("precision", options)
    assert caught.value.problems[0].code == "P151"


def test_signatures_pin_average_and_labels_in_whatever_order_they_are_named():
    assert load_metric("f1").signature == "f1|positive:1|unit:percent"
    assert load_metric("f1", {"average": "micro"}).signature == "f1|average:micro|labels:all|unit:percent"
    assert load_metric("f1", {"positive": "yes"}).signature == "f1|positive:yes|unit:percent"
    macro = [load_metric("f1", {"average": "macro", "labels": labels}).signature for labels in (["b", "a"], ["a", "b"])]
    assert macro == ["f1|average:macro|labels:a,b|undefined:0|absent:left-out|unit:percent"] * 2
    assert load_metric("recall", {"average": "macro", "labels": ["b", "a"]}).signature.endswith(
        "labels:a,b|absent:left-out|unit:percent"
    )
    signs = [load_metric("recall", {"labels": labels}).signature for labels in (["a,b", "c"], ["a", "b,c"], ["a\nb", "c"])]
    assert len(set(signs)) == 3
    assert all(sign.isprintable() for sign in signs)


@pytest.mark.data
@pytest.mark.parametrize("average", ["micro", "macro"])
def test_answers_of_language_models_score_as_scikit_learn_scores_them(data_dir, average):
    """Answers that could not be read are found nowhere, so that micro precision, recall and F1 differ."""
    folder = data_dir / "mmlu-pro"
    gold = [line.split("\t")[3] for line in gzip.decompress((folder / "items.tsv.gz").read_bytes()).decode().split("\n")[1:-1]]
    rows = gzip.decompress((folder / "predictions.tsv.gz").read_bytes()).decode().split("\n")[1:-1]
    letters = sorted("ABCDEFGHIJ")
    for row in rows[:3] + rows[9:10]:
        found = list(row.split("\t")[1])
        scores = {}
        for name, ask in SCIKIT.items():
            scores[name] = score(load_metric(name, {"average": average, "labels": letters}), gold, found)
            theirs = 100 * ask(gold, found, labels=letters, average=average, zero_division=0)
            assert scores[name] == pytest.approx(theirs, rel=1e-13)
        assert len(set(scores.values())) == (3 if "-" in found or average == "macro" else 1)
