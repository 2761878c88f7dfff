"""Rankings: topic by topic what trec_eval gives, by hand where it has no such score, and with whatever a run can lack."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.metrics import ndcg_score
from support.trec_cases import CASES, LEVELS, VALUES, make_case

from pipeline.errors import DataError, StudyError
from pipeline.interfaces import Items
from pipeline.items.readers import load_reader
from pipeline.metrics import load_metric
from pipeline.testing import MetricContract, MetricExample

OURS: dict[str, tuple[str, dict[str, Any]]] = {
    "map": ("average-precision", {}),
    "map_cut_5": ("average-precision", {"cutoff": 5}),
    "recip_rank": ("reciprocal-rank", {}),
    "ndcg": ("ndcg", {}),
    "ndcg_cut_5": ("ndcg", {"cutoff": 5}),
    "P_5": ("precision-at", {"cutoff": 5}),
    "P_10": ("precision-at", {}),
}


def read_case(name: str, folder: Path) -> tuple[Items, Items]:
    """Return gold and run as a study has them: by topic, in the order of the gold."""
    qrels, run = make_case(name)
    (folder / "qrels").write_text(qrels)
    (folder / "run").write_text(run)
    reader = load_reader("trec")
    gold = reader.read_gold([folder / "qrels"], {})
    assert gold is not None
    found = reader.read_outputs(folder / "run", system="mine", options={})["mine"]
    order = [found.ids.index(topic) for topic in gold.ids]
    return gold, items(gold.ids, ranking=tuple(found.columns["ranking"][k] for k in order))


def items(ids: tuple[str, ...], **columns: Any) -> Items:
    return Items(ids, columns, "a run", tuple(range(1, len(ids) + 1)), numbered=False)


def values(name: str, gold: Items, run: Items, **options: Any) -> list[float]:
    metric = load_metric(name, options)
    counted = metric.extract(metric.prepare(gold), run)
    return metric.scorer(counted.decimals)(counted.values.T).tolist()


@pytest.mark.parametrize(
    ("measure", "level"),
    [(measure, level) for measure in sorted(OURS) for level in LEVELS if level == 1 or OURS[measure][0] != "ndcg"],
)
@pytest.mark.parametrize("case", CASES)
def test_each_topic_has_the_value_that_trec_eval_gives_it(case, measure, level, tmp_path):
    name, options = OURS[measure]
    gold, run = read_case(case, tmp_path)
    theirs = json.loads(VALUES.read_text())[f"{case} {level}"]
    assert set(theirs) == set(gold.ids)
    more = {} if name == "ndcg" else {"relevance": level}
    ours = values(name, gold, run, **options, **more)
    assert len(set(ours)) > 2
    np.testing.assert_allclose(ours, [theirs[topic][measure] for topic in gold.ids], rtol=0, atol=1e-9)
    metric = load_metric(name, {**options, **more})
    counted = metric.extract(metric.prepare(gold), run)
    mean = metric.scorer(counted.decimals)(counted.values.sum(axis=0))
    assert abs(mean - np.mean([theirs[topic][measure] for topic in gold.ids])) < 1e-9


GOLD = items(("q1", "q2"), relevance=((("a", 3), ("b", 2), ("c", 0), ("d", 1)), (("e", 1), ("f", -1))))
RUN = items(("q1", "q2"), ranking=(("c", "b", "x", "a"), ("f", "e")))


@pytest.mark.parametrize(
    ("name", "options", "expected"),
    [
        ("average-precision", {}, [(1 / 2 + 2 / 4) / 3, 1 / 2]),
        ("average-precision", {"cutoff": 3}, [1 / 2 / 3, 1 / 2]),
        ("average-precision", {"relevance": 2}, [(1 / 2 + 2 / 4) / 2, 0.0]),
        ("reciprocal-rank", {}, [1 / 2, 1 / 2]),
        ("reciprocal-rank", {"cutoff": 1}, [0.0, 0.0]),
        ("reciprocal-rank", {"relevance": 3}, [1 / 4, 0.0]),
        ("precision-at", {"cutoff": 4}, [2 / 4, 1 / 4]),
        ("ndcg", {}, [(2 / np.log2(3) + 3 / np.log2(5)) / (3 + 2 / np.log2(3) + 1 / 2), 1 / np.log2(3)]),
        ("ndcg", {"cutoff": 2}, [2 / np.log2(3) / (3 + 2 / np.log2(3)), 1 / np.log2(3)]),
        (
            "ndcg",
            {"gains": "exponential"},
            [(3 / np.log2(3) + 7 / np.log2(5)) / (7 + 3 / np.log2(3) + 1 / 2), 1 / np.log2(3)],
        ),
    ],
    ids=str,
)
def test_two_topics_have_the_values_worked_out_by_hand(name, options, expected):
    np.testing.assert_allclose(values(name, GOLD, RUN, **options), expected, rtol=0, atol=1e-9)


def test_exponential_gains_are_those_of_scikit_learn():
    rng = np.random.default_rng(3)
    levels, scores = rng.integers(0, 5, (6, 30)), rng.permuted(np.tile(np.arange(30.0), (6, 1)), axis=1)
    topics = tuple(f"t{k}" for k in range(6))
    gold = items(topics, relevance=tuple(tuple((f"d{j}", int(level)) for j, level in enumerate(row)) for row in levels))
    run = items(topics, ranking=tuple(tuple(f"d{j}" for j in np.argsort(-row)) for row in scores))
    for cutoff in (None, 7):
        theirs = [ndcg_score([2.0**row - 1], [given], k=cutoff) for row, given in zip(levels, scores, strict=True)]
        ours = values("ndcg", gold, run, gains="exponential", cutoff=cutoff)
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-9)


@pytest.mark.parametrize("name", ["average-precision", "ndcg", "reciprocal-rank", "precision-at"])
def test_a_topic_that_a_run_lacks_and_one_without_a_relevant_document_have_0(name):
    gold = items(("q1", "q2", "q3"), relevance=((("a", 1),), (("a", 0), ("b", -2)), (("a", 1),)))
    run = items(("q1", "q2", "q3"), ranking=("", ("a", "b"), ("a",)))  # a blank is what `missing: zero` puts there
    assert values(name, gold, run)[:2] == [0.0, 0.0]
    assert values(name, gold, run)[2] > 0


def test_values_are_rounded_to_nine_decimals_and_say_by_how_much():
    metric = load_metric("average-precision")
    counted = metric.extract(metric.prepare(GOLD), RUN)
    assert counted.values.tolist() == [[333333333, 1], [500000000, 1]]
    assert counted.decimals == (9, 0)
    assert 3.3e-10 < counted.rounding_error < 3.4e-10


def with_first_hits_at(*ranks: int) -> Items:
    return items(tuple(f"t{k}" for k in range(len(ranks))), ranking=tuple(("-",) * (rank - 1) + ("a",) for rank in ranks))


@pytest.mark.parametrize("options", [{}, {"cutoff": 10}, {"cutoff": 100}], ids=str)
def test_reciprocal_ranks_that_tie_are_equal_as_integers(options):
    """1/3 + 1/3 + 1/3 = 1 = 1/2 + 1/6 + 1/3: decimals would say that the first is the least."""
    gold = items(("t0", "t1", "t2"), relevance=((("a", 1),),) * 3)
    metric = load_metric("reciprocal-rank", options)
    found = [metric.extract(metric.prepare(gold), with_first_hits_at(*ranks)) for ranks in ((3, 3, 3), (2, 6, 3))]
    assert [counted.values[:, 0].sum() for counted in found] == [found[0].values[0, 1]] * 2
    assert [(counted.decimals, counted.rounding_error) for counted in found] == [((0, 0), 0.0)] * 2
    assert [float(metric.scorer((0, 0))(counted.values.sum(axis=0))) for counted in found] == [1 / 3] * 2
    assert found[0].values[0].tolist() == [840, 2520] if options == {"cutoff": 10} else [1784742960, 5354228880]


def test_late_ranks_are_rounded_less_than_nine_decimals_would_and_say_by_how_much():
    ranks = (1, 22, 23, 24, 25, 29, 997, 31_000)
    gold = items(tuple(f"t{k}" for k in range(8)), relevance=((("a", 1),),) * 8)
    metric = load_metric("reciprocal-rank")
    values, _, error = vars(metric.extract(metric.prepare(gold), with_first_hits_at(*ranks))).values()
    errors = [abs(Fraction(*row) - Fraction(1, rank)) for row, rank in zip(values.tolist(), ranks, strict=True)]
    assert not any(errors[:4])
    assert all(errors[4:6])
    assert 0 < error == float(max(errors)) < 1e-10
    assert len(set(values[:, 1].tolist())) == 1


def test_precision_at_a_depth_is_counted_and_not_rounded():
    metric = load_metric("precision-at", {"cutoff": 3})
    counted = metric.extract(metric.prepare(GOLD), RUN)
    assert counted.values.tolist() == [[1, 3], [1, 3]]
    assert (counted.decimals, counted.rounding_error) == ((0, 0), 0.0)


def test_gains_too_large_for_a_double_are_refused_with_their_topic():
    gold = items(("q1", "q2"), relevance=((("a", 1),), (("a", 51),)))
    with pytest.raises(DataError, match="the relevance 51 in topic 'q2'") as caught:
        load_metric("ndcg", {"gains": "exponential"}).prepare(gold)
    assert caught.value.problems[0].code == "P227"
    assert caught.value.problems[0].where == "a run:2"
    assert values("ndcg", gold, items(("q1", "q2"), ranking=(("a",), ("b", "a")))) == pytest.approx([1, 1 / np.log2(3)])


def test_outputs_without_rankings_are_refused():
    metric = load_metric("ndcg")
    with pytest.raises(DataError, match="needs the column 'ranking'"):
        metric.extract(metric.prepare(GOLD), items(("q1", "q2"), score=("1", "2")))
    with pytest.raises(DataError, match="needs gold values of 'relevance'"):
        metric.prepare(None)


@pytest.mark.parametrize(
    ("name", "options", "says"),
    [
        ("ndcg", {"gains": "log"}, "one of linear, exponential"),
        ("ndcg", {"cutoff": 0}, "a whole number from 1"),
        ("average-precision", {"relevance": 0}, "a whole number from 1"),
        ("precision-at", {"cutoff": None}, "a whole number"),
        ("ndcg", {"relevance": 2}, "no option 'relevance'"),
    ],
    ids=str,
)
def test_options_that_make_no_sense_are_refused(name, options, says):
    with pytest.raises(StudyError, match=says):
        load_metric(name, options)


def test_signatures_pin_depth_threshold_and_gains():
    assert load_metric("average-precision").signature == "average-precision|cutoff:none|relevance:1|rules:trec_eval"
    assert load_metric("ndcg", {"cutoff": 10}).signature == "ndcg|cutoff:10|gains:linear|rules:trec_eval"
    assert load_metric("reciprocal-rank", {"relevance": 2}).signature.startswith("reciprocal-rank|cutoff:none|relevance:2")


class _Ranking(MetricContract):
    spec: tuple[str, dict[str, Any]]

    def example(self) -> MetricExample:
        ids = ("q1", "q2", "q3", "q4")
        gold = items(ids, relevance=((("a", 1), ("b", 2)), (("c", 1),), (("d", 3), ("e", -1)), (("f", 0),)))
        better = items(ids, ranking=(("b", "x", "a"), ("y", "c"), ("d",), ("f",)))
        worse = items(ids, ranking=(("x", "a", "b"), ("y", "z", "c"), ("e",), ("g", "h")))
        return MetricExample(load_metric(*self.spec), gold, better, worse)


class TestAveragePrecision(_Ranking):
    spec = ("average-precision", {})


class TestNdcg(_Ranking):
    spec = ("ndcg", {"gains": "exponential"})


class TestReciprocalRank(_Ranking):
    spec = ("reciprocal-rank", {"cutoff": 10})


class TestPrecisionAt(_Ranking):
    spec = ("precision-at", {"cutoff": 1})
