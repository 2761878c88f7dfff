"""Win rate: by hand with ties, exact for decimals, and what is no win is refused with item and line."""

from __future__ import annotations

import pytest

from pipeline.errors import DataError, StudyError
from pipeline.interfaces import Items
from pipeline.metrics import load_metric
from pipeline.testing import MetricContract, MetricExample


def items(wins: tuple[str, ...], column: str = "win", **others: tuple[str, ...]) -> Items:
    ids = tuple(f"q{k + 1}" for k in range(len(wins)))
    lines = tuple(10 * (k + 1) for k in range(len(wins)))
    return Items(ids, {**others, column: wins}, "north.csv", lines, numbered=False)


class TestWinRate(MetricContract):
    def example(self) -> MetricExample:
        return MetricExample(
            load_metric("win-rate"), None, items(("1", "0.5", "0", "1", "0.75")), items(("0", "0.5", "0", "1", "0.7"))
        )


def score(output: Items, **options: str) -> float:
    metric = load_metric("win-rate", options)
    counted = metric.extract(metric.prepare(None), output)
    return float(metric.scorer(counted.decimals)(counted.values.sum(axis=0)))


def test_wins_losses_and_ties_are_counted_as_1_0_and_a_half():
    assert score(items(("1", "1", "0", "0.5", "0.5", "0", "1", "0"))) == 50.0
    assert score(items(("1", "0.5", "0.25"))) == 100 * 1.75 / 3


def test_a_column_of_another_name_is_taken_where_it_is_named_and_no_other():
    output = items(("1", "0"), column="beats gpt", win=("0", "0"))
    assert score(output) == 0.0
    assert score(output, column="beats gpt") == 50.0
    with pytest.raises(DataError, match="needs the column 'win'") as caught:
        score(items(("1", "0"), column="score"))
    assert caught.value.problems[0].code == "P226"


@pytest.mark.parametrize(
    ("value", "code", "says"),
    [
        ("1.0001", "P267", "which is not from 0 to 1"),
        ("-0.5", "P267", "not from 0 to 1"),
        ("100", "P267", "not from 0 to 1"),
        ("nan", "P210", "not a finite number"),
        ("", "P210", "not a finite number"),
        ("win", "P210", "not a finite number"),
        ("1e999", "P210", "not a finite number"),
    ],
)
def test_what_is_no_win_is_refused_with_item_and_line(value, code, says):
    with pytest.raises(DataError, match=says) as caught:
        score(items(("1", "0", value, "1")))
    (problem,) = caught.value.problems
    assert (problem.code, problem.where) == (code, "north.csv:30")
    assert problem.message.startswith(f"column 'win' has {value!r} at item 'q3'")


def test_of_many_that_are_wrong_ten_are_told_and_the_rest_counted():
    with pytest.raises(DataError) as caught:
        score(items(("2",) * 25))
    assert len(caught.value.problems) == 10
    assert caught.value.problems[-1].note == "and 15 more of this kind"


def test_a_column_is_named_by_a_word():
    with pytest.raises(StudyError, match="is the name of a column"):
        load_metric("win-rate", {"column": 3})
    assert load_metric("win-rate", {"column": "beats"}).signature == "win-rate|column:beats|tie:0.5|unit:percent"
