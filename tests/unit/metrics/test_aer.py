"""Alignment error rate: its counts, its score, and links of words that are not there."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pipeline.errors import DataError
from pipeline.interfaces import Items
from pipeline.metrics import load_metric
from pipeline.testing import MetricContract, MetricExample


def items(**columns: Any) -> Items:
    count = len(next(iter(columns.values())))
    return Items(tuple(str(k + 1) for k in range(count)), columns, "north.txt", tuple(range(1, count + 1)))


GOLD = items(
    source=(("the", "red", "boat"), ("fog",), ("rain", "falls"), ("go",)),
    target=(("das", "rote", "Boot"), ("Nebel", "kommt"), ("es", "regnet"), ("geh",)),
    sure=(((0, 0), (2, 2)), ((0, 0),), (), ((0, 0),)),
    possible=(((0, 0), (1, 1), (2, 2)), ((0, 0), (0, 1)), ((0, 1), (1, 1)), ((0, 0),)),
)
BETTER = items(link=(((0, 0), (1, 1), (2, 2)), ((0, 1),), ((1, 1), (1, 0)), ((0, 0),)))
WORSE = items(link=(((0, 2), (1, 1)), (), ((1, 0),), ()))


class TestAer(MetricContract):
    def example(self) -> MetricExample:
        return MetricExample(load_metric("aer"), GOLD, BETTER, WORSE)


def count(output: Items, gold: Items = GOLD) -> list[list[int]]:
    metric = load_metric("aer")
    values: list[list[int]] = metric.extract(metric.prepare(gold), output).values.tolist()
    return values


def test_links_are_counted_that_are_sure_possible_or_there_at_all() -> None:
    assert count(BETTER) == [[2, 3, 3, 2], [0, 1, 1, 1], [0, 1, 2, 0], [1, 1, 1, 1]]


def test_the_rate_is_what_is_neither_found_nor_forgiven() -> None:
    metric = load_metric("aer")
    assert float(metric.scorer((0,) * 4)(np.array([3, 6, 7, 4]))) == pytest.approx(100 * (1 - 9 / 11), rel=1e-15)
    assert float(metric.scorer((0,) * 4)(np.array([2, 2, 2, 2]))) == 0.0
    assert np.isnan(metric.scorer((0,) * 4)(np.zeros(4)))


def test_sure_links_are_possible_even_where_the_gold_does_not_say_so() -> None:
    only = items(**{**GOLD.columns, "possible": ((), (), (), ())})
    assert count(BETTER, only) == [[2, 2, 3, 2], [0, 0, 1, 1], [0, 0, 2, 0], [1, 1, 1, 1]]


def test_a_link_that_is_given_twice_is_one() -> None:
    assert count(items(link=(((0, 0), (0, 0)), (), (), ())))[0] == [1, 1, 1, 2]


def test_a_pair_that_lacks_has_no_links() -> None:
    assert count(items(link=("", "", "", ((0, 0),))))[0] == [0, 0, 0, 2]


@pytest.mark.parametrize(
    ("links", "offered"),
    [
        ((((1, 1), (3, 3)), ((1, 1),), ((2, 2),), ((1, 1),)), True),
        ((((0, 0), (3, 3)), (), (), ()), False),
        ((((-1, 0),), (), (), ()), False),
        ((((0, 0), (3, 0)), (), (), ()), False),
        ((((0, 0), (0, 3)), (), (), ()), False),
    ],
)
def test_links_beyond_the_words_are_refused_and_the_base_offered_where_it_fits(links: Any, offered: bool) -> None:
    with pytest.raises(DataError) as caught:
        count(items(link=links))
    problem = caught.value.problems[0]
    assert problem.code == "P254"
    assert problem.where == "north.txt:1"
    assert ('base: "1"' in (problem.help or "")) == offered


def test_links_are_counted_the_same_where_the_sentences_are_not_known() -> None:
    alone = items(**{name: GOLD.columns[name] for name in ("sure", "possible")})
    assert count(BETTER, alone) == count(BETTER)
    assert count(items(link=(((7, 7),), (), (), ())), alone)[0] == [0, 0, 1, 2]


def test_counts_have_no_decimals() -> None:
    with pytest.raises(ValueError, match="decimals"):
        load_metric("aer").scorer((0, 0, 0, 2))
