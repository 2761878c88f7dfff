"""What every metric must do, as tests that a metric's own tests inherit."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.dataclass import dataclass
from pipeline.interfaces import Items, Metric

__all__ = ["MetricContract", "MetricExample", "take_items"]


@dataclass(frozen=True)
class MetricExample:
    """A metric and a test set of at least four items on which one output is better than another.

    Parameters
    ----------
    metric : Metric
    gold : Items or None
    better, worse : Items
    whole_gold : bool
        Whether statistics are weighted by the gold as a whole, as NIST weighs n-grams by how rare they are in all references. The
        statistics of an item are then those of a part of the *output*, not of a part of the test set: they may depend on the gold
        of other items, never on the output of them. A resample draws such statistics as they are, and weighs nothing anew.
    """

    metric: Metric
    gold: Items | None
    better: Items
    worse: Items
    whole_gold: bool = False


def take_items(items: Items, positions: list[int]) -> Items:
    """Return the items at some positions, in the order of these.

    Examples
    --------
    >>> take_items(Items(("a", "b"), {"label": ("x", "y")}, "f", (1, 2)), [1]).columns
    {'label': ('y',)}
    """
    return Items(
        ids=tuple(items.ids[k] for k in positions),
        columns={name: tuple(values[k] for k in positions) for name, values in items.columns.items()},
        source=items.source,
        lines=tuple(items.lines[k] for k in positions),
        numbered=items.numbered,
    )


class MetricContract(ABC):
    """What every metric must do; inherit, name the class ``Test…`` and give an example."""

    @abstractmethod
    def example(self) -> MetricExample:
        """Return the metric and the items it is tried on."""

    def test_statistics_are_whole_numbers_one_column_for_each_name(self) -> None:
        """Statistics are int64 of shape (item, statistic), each with its decimals."""
        example = self.example()
        extracted = self._extract(example, example.better)
        assert extracted.values.dtype == np.int64
        assert extracted.values.shape == (len(example.better), len(example.metric.statistics))
        assert len(extracted.decimals) == len(example.metric.statistics)
        assert all(0 <= decimals <= 9 for decimals in extracted.decimals)
        assert extracted.rounding_error >= 0.0

    def test_statistics_of_an_item_do_not_depend_on_the_others(self) -> None:
        """Statistics add: those of a part are the rows of the whole; with ``whole_gold`` those of a part of the output."""
        example = self.example()
        whole = self._extract(example, example.worse)
        positions = list(range(0, len(example.worse), 2))
        if example.whole_gold:
            part = self._extract(example, _replace_others(example.worse, positions, example.better))
            rows = part.values[positions]
        else:
            part = self._extract(example, example.worse, positions)
            rows = part.values
        np.testing.assert_array_equal(
            _on_lattice(rows, part.decimals, whole.decimals),
            whole.values[positions],
            "the rows of a part differ from the whole's",
        )

    def test_statistics_do_not_depend_on_the_order_of_items(self) -> None:
        """Reordering items reorders rows and does nothing else."""
        example = self.example()
        positions = list(range(len(example.better)))[::-1]
        whole, reordered = self._extract(example, example.better), self._extract(example, example.better, positions)
        assert reordered.decimals == whole.decimals
        np.testing.assert_array_equal(reordered.values, whole.values[positions])

    def test_direction_is_declared_and_true(self) -> None:
        """The better output scores higher where higher is better, and lower where it is not."""
        example = self.example()
        assert isinstance(example.metric.higher_is_better, bool)
        gain = self._score(example, example.better) - self._score(example, example.worse)
        assert gain > 0 if example.metric.higher_is_better else gain < 0

    def test_a_copy_scores_alike_to_the_last_bit(self) -> None:
        """The same items under another name have the same statistics and score."""
        example = self.example()
        given = example.better
        copy = Items(
            tuple(given.ids), {name: tuple(values) for name, values in given.columns.items()}, "a copy", given.lines, given.numbered
        )
        np.testing.assert_array_equal(self._extract(example, copy).values, self._extract(example, given).values)
        assert self._score(example, copy) == self._score(example, given)

    def test_scores_of_many_are_the_scores_one_by_one(self) -> None:
        """The scorer works along the first axis, for every type, shape and memory layout, with the same bits."""
        example = self.example()
        sums, decimals = self._resampled_sums(example)
        scorer = example.metric.scorer(decimals)
        single = np.array([scorer(column) for column in sums.T])
        assert single.dtype == np.float64
        cube = sums.reshape(len(sums), 4, -1)
        for dtype in (np.float32, np.float64, np.int64):
            if np.abs(sums).max() < 2**24 or dtype is not np.float32:
                np.testing.assert_array_equal(scorer(sums.astype(dtype)), single)
                np.testing.assert_array_equal(scorer(cube.astype(dtype)).ravel(), single)
                strided = np.moveaxis(np.ascontiguousarray(np.moveaxis(cube, 0, -1).astype(dtype)), -1, 0)
                np.testing.assert_array_equal(scorer(strided).ravel(), single)

    def test_a_finer_lattice_gives_the_same_bits(self) -> None:
        """Statistics with more decimals than needed score alike; counts may refuse decimals with a ValueError."""
        example = self.example()
        sums, decimals = self._resampled_sums(example)
        finer = tuple(d + 2 for d in decimals)
        try:
            scorer = example.metric.scorer(finer)
        except ValueError:
            assert not any(decimals), "a metric with decimals takes finer ones"
            return
        np.testing.assert_array_equal(scorer(sums * 100), example.metric.scorer(decimals)(sums))

    def test_nothing_scores_without_an_error(self) -> None:
        """Sums of 0 give a number or nan, and no exception."""
        example = self.example()
        decimals = self._extract(example, example.better).decimals
        assert example.metric.scorer(decimals)(np.zeros((len(decimals), 3))).shape == (3,)

    def test_a_ratio_is_proportional_to_its_numerator(self) -> None:
        """With the form ratio the score is a factor times the first statistic over the second."""
        example = self.example()
        if example.metric.form == "ratio":
            assert len(example.metric.statistics) == 2
            score = example.metric.scorer((0, 0))(np.array([[1.0, 2.0, 3.0], [8.0, 8.0, 24.0]]))
            np.testing.assert_allclose(score[1:], score[0] * np.array([2.0, 1.0]), rtol=1e-15)

    def test_denominators_are_what_they_are_declared_to_be(self) -> None:
        """One that is shared is that of both outputs; with ``items`` each item besides is right or wrong, 0 or 1 of 1."""
        example = self.example()
        declared = getattr(example.metric, "denominators", "unknown")
        if declared not in {"shared", "items"}:
            return
        better, worse = (self._extract(example, output) for output in (example.better, example.worse))
        assert example.metric.form == "ratio"
        assert better.decimals[1] == worse.decimals[1]
        np.testing.assert_array_equal(better.values[:, 1], worse.values[:, 1])
        if declared == "items":
            assert (better.values[:, 1] == 10 ** better.decimals[1]).all()
            for statistics in (better, worse):
                assert set(np.unique(statistics.values[:, 0]).tolist()) <= {0, 10 ** statistics.decimals[0]}

    def test_columns_that_it_needs_are_there_and_needed(self) -> None:
        """The example has each column that is declared as needed, and without it the metric refuses to count."""
        example = self.example()
        gold = example.gold
        if gold is not None:
            for column in example.metric.needs_of_gold:
                rest = {name: values for name, values in gold.columns.items() if name.split(".")[0] != column}
                assert len(rest) < len(gold.columns)
                _expect_refusal(partial(example.metric.prepare, replace(gold, columns=rest)))
        prepared = example.metric.prepare(gold)
        for column in example.metric.needs_of_outputs:
            rest = {name: values for name, values in example.better.columns.items() if name != column}
            assert len(rest) < len(example.better.columns)
            _expect_refusal(partial(example.metric.extract, prepared, replace(example.better, columns=rest)))

    def test_statistics_follow_statistics_that_lead(self) -> None:
        """What a metric declares to follow is among its statistics, and leads; a declaration is never needed."""
        metric = self.example().metric
        follows = getattr(metric, "follows", {})
        assert set(follows) | set(follows.values()) <= set(metric.statistics)
        assert not set(follows) & set(follows.values())

    def test_the_signature_is_one_printable_line(self) -> None:
        """A signature can be pasted into a paper."""
        signature = self.example().metric.signature
        assert signature
        assert signature.isprintable()

    def _extract(self, example: MetricExample, output: Items, positions: list[int] | None = None) -> Any:
        gold = example.gold
        if positions is not None:
            output = take_items(output, positions)
            gold = None if gold is None else take_items(gold, positions)
        return example.metric.extract(example.metric.prepare(gold), output)

    def _score(self, example: MetricExample, output: Items) -> float:
        extracted = self._extract(example, output)
        return float(example.metric.scorer(extracted.decimals)(extracted.values.sum(axis=0)))

    def _resampled_sums(self, example: MetricExample) -> tuple[NDArray[np.int64], tuple[int, ...]]:
        """Return (statistic, 64 resamples) of the worse output, and its decimals."""
        extracted = self._extract(example, example.worse)
        drawn = np.random.default_rng(1).integers(0, len(example.worse), size=(64, len(example.worse)))
        return np.ascontiguousarray(extracted.values[drawn].sum(axis=1).T), extracted.decimals


def _expect_refusal(count: Callable[[], object]) -> None:
    try:
        count()
    except Exception:  # of whatever kind the metric raises
        return
    raise AssertionError("the metric counts without a column that it is declared to need")


def _replace_others(items: Items, positions: list[int], others: Items) -> Items:
    """Return items that are those of another output but at some positions."""
    columns = {
        name: tuple(values[k] if k in positions else others.columns[name][k] for k in range(len(items)))
        for name, values in items.columns.items()
    }
    return Items(items.ids, columns, items.source, items.lines, items.numbered)


def _on_lattice(values: NDArray[np.int64], decimals: tuple[int, ...], wanted: tuple[int, ...]) -> NDArray[np.int64]:
    scale = np.array([10 ** (w - d) for w, d in zip(wanted, decimals, strict=True)], dtype=np.int64)
    return values * scale
