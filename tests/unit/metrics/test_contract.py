"""Every metric of the package meets the contract that plugins meet."""

from __future__ import annotations

import pytest
from support.text_items import BETTER, GOLD, WORSE, items

from pipeline.interfaces import Items
from pipeline.metrics import load_metric
from pipeline.testing import MetricContract, MetricExample


class _Text(MetricContract):
    spec: tuple[str, dict[str, object]]
    gold = items(reference_0=GOLD, reference_1=GOLD[::-1])

    def example(self) -> MetricExample:
        name, options = self.spec
        return MetricExample(load_metric(name, options), self.gold, items(text=BETTER), items(text=WORSE))


class TestBleu(_Text):
    spec = ("bleu", {})


class TestBleuEffective(_Text):
    spec = ("bleu", {"effective_order": True, "smooth": "add-k"})


class TestChrf(_Text):
    spec = ("chrf", {})


class TestChrfWords(_Text):
    spec = ("chrf", {"word_order": 2, "eps_smoothing": True})


class TestTer(_Text):
    spec = ("ter", {})
    gold = items(reference_0=GOLD)


class TestTerTwoReferences(_Text):
    spec = ("ter", {})


class TestAccuracy(MetricContract):
    def example(self) -> MetricExample:
        gold = items(label=("a", "b", "c", "a", "b"))
        better, worse = items(label=("a", "b", "c", "a", "c")), items(label=("a", "", "c", "c", "c"))
        return MetricExample(load_metric("accuracy"), gold, better, worse)


class TestMean(MetricContract):
    def example(self) -> MetricExample:
        better, worse = items(score=("0.5", "1.25", "-0.125", "3")), items(score=("0.4", "0.25", "-1.1", "1e-3"))
        return MetricExample(load_metric("mean"), None, better, worse)


class TestMeanOfErrors(MetricContract):
    def example(self) -> MetricExample:
        better, worse = items(score=("0.4", "0.25", "-1.1", "1")), items(score=("0.5", "1.25", "-0.125", "3"))
        return MetricExample(load_metric("mean", {"higher_is_better": False}), None, better, worse)


class TestRatio(MetricContract):
    def example(self) -> MetricExample:
        better = items(errors=("1", "0", "2", "1"), words=("10", "7.5", "3", "12"))
        worse = items(errors=("1.5", "0.25", "2", "3"), words=("10", "7.5", "3", "12"))
        options = {"numerator": "errors", "denominator": "words", "factor": 100, "higher_is_better": False}
        return MetricExample(load_metric("ratio", options), None, better, worse)


WORDS = (("the", "cat", "sat"), ("it", "rains"), ("nobody", "came", "early"), ("left",))


def sentences(**columns: tuple[str, ...]) -> Items:
    given = {name: tuple(tuple(value.split()) for value in values) for name, values in columns.items()}
    return Items(tuple("1234"), {"word": WORDS, **given}, "test", (1, 5, 8, 12))


class _Chunks(MetricContract):
    spec: tuple[str, dict[str, object]]

    def example(self) -> MetricExample:
        gold = sentences(chunk=("B-NP I-NP B-VP", "B-NP B-VP", "B-NP B-VP O", "B-VP"))
        better = sentences(chunk=("B-NP I-NP O", "B-NP B-VP", "B-NP B-VP O", "B-NP"))
        worse = sentences(chunk=("B-NP B-NP O", "O B-VP", "B-NP I-NP O", "B-NP"))
        return MetricExample(load_metric(*self.spec), gold, better, worse)


class TestChunkF1(_Chunks):
    spec = ("chunk-f1", {})


class TestChunkRecall(_Chunks):
    spec = ("chunk-recall", {})


class TestChunkPrecision(_Chunks):
    spec = ("chunk-precision", {"types": ["NP"]})


class TestTagAccuracy(MetricContract):
    def example(self) -> MetricExample:
        gold = sentences(tag=("D N V", "P V", "P V R", "V"))
        better, worse = sentences(tag=("D N V", "P N", "P V R", "V")), sentences(tag=("D N N", "N N", "P V N", "N"))
        return MetricExample(load_metric("tag-accuracy"), gold, better, worse)


class _Lying(TestMean):
    """A metric that breaks the contract in a named way."""

    def example(self) -> MetricExample:
        example = super().example()
        example.metric.higher_is_better = False
        return example


def test_the_contract_finds_a_wrong_direction():
    with pytest.raises(AssertionError):
        _Lying().test_direction_is_declared_and_true()
