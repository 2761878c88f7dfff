"""Numbers of a file become integers without loss, or say how much was lost."""

from __future__ import annotations

import math

import numpy as np
import pytest

from pipeline.errors import DataError
from pipeline.interfaces import Items
from pipeline.metrics import load_metric


def items(**columns: list[str]) -> Items:
    count = len(next(iter(columns.values())))
    return Items(tuple(f"i{k}" for k in range(count)), columns, "scores.csv", tuple(range(2, count + 2)), numbered=False)


def extract(name, output, **options):
    metric = load_metric(name, options)
    return metric, metric.extract(metric.prepare(None), output)


def test_decimals_are_those_of_the_file_without_trailing_zeros():
    _, statistics = extract("mean", items(score=["0.50", "1.25", "-3", "2e-3"]))
    assert statistics.decimals == (3, 0)
    assert statistics.values.tolist() == [[500, 1], [1250, 1], [-3000, 1], [2, 1]]
    assert statistics.rounding_error == 0.0
    assert extract("mean", items(score=["0.50", "100", "0.000"]))[1].decimals == (1, 0)


def test_a_tie_of_decimal_scores_is_an_exact_tie():
    metric, one = extract("mean", items(score=["0.1", "0.2"]))
    _, other = extract("mean", items(score=["0.3", "0"]))
    scorer = metric.scorer(one.decimals)
    assert 0.1 + 0.2 != 0.3
    assert scorer(one.values.sum(0)) == scorer(other.values.sum(0)) == 0.15


def test_more_digits_than_can_be_added_are_rounded_and_the_error_is_recorded():
    _, statistics = extract("mean", items(score=["0.1234567890123456789", "1"]))
    decimals = statistics.decimals[0]
    assert decimals == 9  # 2 items of 1 at 12 decimals stay below 2^43, and do not hold the number either
    assert statistics.values[0, 0] == 123456789
    assert 0.0 < statistics.rounding_error <= 0.5 * 10**-decimals
    _, statistics = extract("mean", items(score=["0.123456789012", "1"]))
    assert (statistics.decimals[0], statistics.rounding_error) == (12, 0.0)


@pytest.mark.parametrize("count", [10, 100, 1000])
def test_computed_numbers_that_systems_share_are_the_same_integers_whatever_else_they_have(count):
    """Else a number is rounded to eleven decimals in one file and to ten in another, and units that tie are discordant."""
    numbers = np.random.default_rng(5).random(count) * 0.8
    _, one = extract("mean", items(score=[repr(float(number)) for number in numbers]))
    _, other = extract("mean", items(score=["1.0", *(repr(float(number)) for number in numbers[1:])]))
    assert one.decimals == other.decimals == (9, 0)
    assert np.flatnonzero(one.values[:, 0] != other.values[:, 0]).tolist() == [0]


def test_computed_numbers_below_a_thousandth_keep_nine_digits():
    _, statistics = extract("mean", items(score=["0.000123456789012345678", "0.0005"]))
    assert statistics.decimals[0] == 15
    assert statistics.values[:, 0].tolist() == [123456789012, 500000000000]


def test_tiny_scores_keep_their_digits():
    _, statistics = extract("mean", items(score=["3e-10", "1.5e-10"]))
    assert statistics.values[:, 0].tolist() == [30, 15]
    assert statistics.decimals[0] == 11
    assert statistics.rounding_error == 0.0


def test_sums_leave_room_for_systems_hundreds_of_times_larger():
    _, statistics = extract("mean", items(score=["123456789.123456789"] * 1000))
    decimals = statistics.decimals[0]
    assert decimals == 1
    assert statistics.values[:, 0].max() * 1000 < 2**43 <= statistics.values[:, 0].max() * 1000 * 10
    assert 0.0 < statistics.rounding_error <= 0.5 * 10**-decimals


def test_whole_numbers_may_use_all_there_is():
    _, statistics = extract("mean", items(score=["1234567890123", "1"]))
    assert statistics.decimals[0] == 0
    assert statistics.rounding_error == 0.0


def test_numbers_that_cannot_be_added_exactly_are_refused():
    with pytest.raises(DataError) as caught:
        extract("mean", items(score=["1e16", "1"]))
    assert caught.value.problems[0].code == "P227"


@pytest.mark.parametrize("value", ["x", "", "nan", "inf"])
def test_a_column_of_words_has_no_mean(value):
    with pytest.raises(DataError) as caught:
        extract("mean", items(score=["1", value]))
    assert caught.value.problems[0].code == "P210"


def test_the_only_column_of_numbers_is_taken_and_others_are_named():
    _, statistics = extract("mean", items(comet=["1", "2"], document=["a", "a"]))
    assert statistics.values[:, 0].tolist() == [1, 2]
    with pytest.raises(DataError, match="needs the column 'score'"):
        extract("mean", items(comet=["1"], chrf=["2"]))
    with pytest.raises(DataError, match="there is no score 'blue': each item of an output has one number") as caught:
        extract("mean", items(score=["1"]), column="blue")
    (problem,) = caught.value.problems
    assert problem.help is not None
    assert problem.help.startswith("did you mean the metric 'bleu'? it is computed from texts or labels")
    _, statistics = extract("mean", items(comet=["1"], chrf=["2"]), column="chrf")
    assert statistics.values[0, 0] == 2


def test_a_ratio_is_of_sums_and_not_a_mean_of_ratios():
    metric, statistics = extract("ratio", items(errors=["1", "0.5"], words=["10", "2"]), numerator="errors", denominator="words")
    assert metric.scorer(statistics.decimals)(statistics.values.sum(0)) == 1.5 / 12


def test_a_negative_denominator_is_refused_with_its_line():
    with pytest.raises(DataError) as caught:
        extract("ratio", items(a=["1", "1"], b=["1", "-1"]), numerator="a", denominator="b")
    assert caught.value.problems[0].code == "P228"
    assert caught.value.problems[0].where == "scores.csv:3"


def test_accuracy_counts_what_is_equal_in_percent():
    metric = load_metric("accuracy")
    gold = items(label=["a", "b", "c"])
    statistics = metric.extract(metric.prepare(gold), items(label=["a", "B", ""]))
    assert statistics.values.tolist() == [[1, 1], [0, 1], [0, 1]]
    assert metric.scorer(statistics.decimals)(statistics.values.sum(0)) == 100 * (1 / 3)
    assert math.isnan(metric.scorer((0, 0))(np.zeros(2)))


@pytest.mark.parametrize(("name", "column"), [("bleu", "references"), ("accuracy", "gold labels")])
def test_a_metric_without_its_gold_says_what_it_needs(name, column):
    with pytest.raises(DataError, match=f"{name} needs {column}") as caught:
        load_metric(name).prepare(None)
    assert caught.value.problems[0].code == "P225"
