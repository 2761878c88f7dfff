"""The items that drive a gain: the better system first, contributions by hand, documents, and what cannot be said."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np
import pytest
import xarray as xr
from numpy.typing import NDArray

from pipeline.analyses.driving_items.analysis import DrivingItems
from pipeline.errors import StudyError
from pipeline.interfaces import Finding, ScoredStatistics

RIGHT = np.array(
    [
        [1, 1, 1, 1, 0, 0, 1, 1, 1, 0],  # a: 7
        [1, 0, 0, 0, 1, 0, 1, 1, 1, 0],  # b: 5
        [1, 0, 0, 0, 0, 0, 1, 0, 1, 0],  # c: 3
    ]
)


def percent(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    return 100 * sums[0] / sums[1]


def build(
    right: NDArray[np.int64] = RIGHT, *, names: Sequence[str] = "abc", higher: bool = True, document: Any = None, **attrs: Any
) -> tuple[dict[str, xr.Dataset], DrivingItems]:
    statistics = np.stack([right, np.ones_like(right)], axis=2).astype(np.int64)
    pairs = np.array(list(combinations(range(len(right)), 2)))
    where = ("metric", "test_size", "pair")
    same = (right[pairs[:, 0]] == right[pairs[:, 1]]).all(axis=1)
    cube = xr.Dataset(
        {
            "observed_score": (("metric", "test_size", "system"), percent(statistics.sum(axis=1).T)[None, None]),
            "identical": (where, same[None, None]),
        },
        coords={
            "metric": ["accuracy"],
            "test_size": ["full"],
            "system": list(names),
            "system_a": ("pair", [names[a] for a, _ in pairs]),
            "system_b": ("pair", [names[b] for _, b in pairs]),
        },
        attrs={"unit": "item", **attrs},
    )
    coords: dict[str, Any] = {"system": list(names), "item": [f"q{n}" for n in range(right.shape[1])]}
    coords |= {} if document is None else {"document": ("item", document)}
    data = xr.Dataset({"statistics": (("system", "item", "statistic"), statistics)}, coords=coords)
    scored = ScoredStatistics(data, percent, "ratio", higher)
    return {"news": cube}, DrivingItems().with_statistics({"news": {"accuracy": scored}})


def find(built: tuple[dict[str, xr.Dataset], DrivingItems], **options: Any) -> Finding:
    cubes, analysis = built
    return analysis.find(cubes, options)


def of_kind(finding: Finding, kind: str) -> list[dict[str, Any]]:
    return [dict(row) for row in finding.rows if row["kind"] == kind]


def test_neighbours_in_rank_are_looked_at_with_wins_losses_and_what_flips_them() -> None:
    finding = find(build())
    ab, bc = of_kind(finding, "pair")
    assert (ab["system_a"], ab["system_b"], ab["gain"]) == ("a", "b", pytest.approx(20.0))
    # a is right alone on three items, wrong alone on one.
    assert (ab["wins"], ab["losses"], ab["to_flip"]) == (3, 1, 2)
    assert (bc["system_a"], bc["system_b"], bc["wins"], bc["losses"], bc["to_flip"]) == ("b", "c", 2, 0, 2)
    (whole,) = of_kind(finding, "test-set")
    assert (whole["items"], whole["dead_items"], whole["dead_share"]) == (10, 5, 0.5)


def test_what_items_add_is_their_part_of_the_gain() -> None:
    rows = [row for row in of_kind(find(build()), "item") if row["system_b"] == "b"]
    assert [row["item"] for row in rows] == ["q1", "q2", "q3", "q4"]
    without = [100 * 1 / 9] * 3 + [100 * 3 / 9]
    assert [row["without"] for row in rows] == pytest.approx(without)
    assert [row["adds"] for row in rows] == pytest.approx([10, 10, 10, -10])


@pytest.mark.parametrize("higher", [True, False])
def test_the_better_system_stands_first_whatever_the_direction_and_the_order(higher: bool) -> None:
    finding = find(build(RIGHT[::-1], names="cba", higher=higher), pairs=[["b", "a"]])
    (row,) = of_kind(finding, "pair")
    assert (row["system_a"], row["system_b"]) == (("a", "b") if higher else ("b", "a"))
    assert row["gain"] == pytest.approx(20.0)
    assert row["to_flip"] == 2


def test_documents_are_left_out_whole() -> None:
    document = np.array([0, 0, 0, 0, 1, 1, 1, 2, 2, 2])
    finding = find(build(document=document))
    (ab, _) = of_kind(finding, "pair")
    assert (ab["documents"], ab["lowest_without"]) == (3, pytest.approx(-100 / 6))
    assert ab["highest_without"] == pytest.approx(100 * 3 / 7)
    (first, *_) = [row for row in of_kind(finding, "document") if row["system_b"] == "b"]
    assert (first["first_item"], first["items"], first["without"]) == ("q0", 4, pytest.approx(-100 / 6))


def test_the_most_are_listed_and_the_others_counted() -> None:
    finding = find(build(), most_pairs=1, most_items=1)
    (row,) = of_kind(finding, "pair")
    assert row["wins"] == 3
    assert [item["item"] for item in of_kind(finding, "item")] == ["q1", "q4"]
    assert any("Of 1 pairs the items are not listed" in note for note in finding.notes)


def test_with_a_baseline_its_pairs_are_looked_at() -> None:
    rows = of_kind(find(build(baseline="c")), "pair")
    assert {(row["system_a"], row["system_b"]) for row in rows} == {("a", "c"), ("b", "c")}


def test_what_cannot_be_said_has_a_reason() -> None:
    cubes, _ = build()
    (row,) = DrivingItems().find(cubes, {}).rows
    assert "not at hand" in row["reason"]
    (missing,) = of_kind(find(build(), pairs=[["a", "nobody"]]), "none")
    assert missing["reason"] == "there is no pair of a and nobody"


def test_a_pair_that_no_test_set_has_is_told_once_with_what_was_meant() -> None:
    cubes, analysis = build(names=("alpha", "beta", "gamma"))
    cubes = {**cubes, "law": cubes["news"]}
    (row,) = of_kind(analysis.find(cubes, {"pairs": [["alpha", "betta"]]}), "none")[:1]
    assert row["test_set"] is None
    assert row["reason"] == "there is no pair of alpha and betta; 'betta' is not a system; did you mean 'beta'?"
    assert sum("betta" in one["reason"] for one in of_kind(analysis.find(cubes, {"pairs": [["alpha", "betta"]]}), "none")) == 1


def test_a_pair_that_one_test_set_lacks_is_told_of_that_one() -> None:
    cubes, analysis = build()
    cubes = {**cubes, "law": cubes["news"].isel(pair=[1, 2])}
    rows = [row for row in of_kind(analysis.find(cubes, {"pairs": [["b", "a"]]}), "none") if "no pair" in row["reason"]]
    assert [row["test_set"] for row in rows] == ["law"]
    assert [row["test_set"] for row in of_kind(analysis.find(cubes, {"pairs": [["b", "a"]]}), "pair")] == ["news"]


def test_what_flips_a_gain_are_the_items_that_are_listed_first() -> None:
    """By this ratio, leaving out those whose absence costs most would never flip it."""
    first = np.array([[4, 11], [5, 11], [5, 13], [5, 7], [3, 7], [2, 2]])
    second = np.array([[5, 14], [3, 5], [5, 15], [1, 7], [4, 14], [2, 7]])
    cubes, analysis = build()
    data = xr.Dataset(
        {"statistics": (("system", "item", "statistic"), np.stack([first, second, second]))},
        coords={"system": list("abc"), "item": [f"q{n}" for n in range(6)]},
    )
    own = analysis.with_statistics({"news": {"accuracy": ScoredStatistics(data, percent, "ratio", higher_is_better=True)}})
    finding = own.find(cubes, {"pairs": [["a", "b"]]})
    (pair,) = of_kind(finding, "pair")
    listed = [int(row["item"][1:]) for row in of_kind(finding, "item")]

    def gain_without(items: list[int]) -> float:
        one, other = (np.delete(output, items, axis=0).sum(axis=0) for output in (first, second))
        return float(percent(one) - percent(other))

    assert pair["to_flip"] == next(n for n in range(6) if gain_without(listed[:n]) <= 0) == 4


def test_tables_of_units_are_called_by_their_unit() -> None:
    cubes, analysis = build(unit="dialogue")
    data = analysis.statistics["news"]["accuracy"].data
    data.coords["unit"] = ("item", np.arange(10) // 2)
    titles = [table.title for table in analysis.find(cubes, {}).tables]
    assert any("without one dialogue" in title for title in titles)
    assert not any("document" in title for title in titles)


def test_documents_without_which_there_is_no_score_come_last() -> None:
    right = np.array([[1, 1, 0, 1], [0, 1, 1, 0], [0, 0, 0, 0]])
    cubes, analysis = build(right, document=[0, 0, 1, 1])
    statistics = analysis.statistics["news"]["accuracy"].data["statistics"]
    statistics[:, 2:, 1] = 0  # without document 0 the denominator is 0
    rows = [row for row in of_kind(analysis.find(cubes, {"pairs": [["a", "b"]]}), "document")]
    assert [(row["first_item"], row["without"] is None) for row in rows] == [("q2", False), ("q0", True)]


def test_every_figure_has_its_points() -> None:
    finding = find(build())
    (figure,) = finding.figures
    assert len(finding.files[figure.table]) == 6
    assert "a over b: 20, 3 wins, 1 losses" in figure.alt


@pytest.mark.parametrize(
    "options",
    [{"pairs": [["a", "b"], ["b", "a"]]}, {"pairs": [["a", "a"]]}, {"pairs": [["a"]]}, {"most_pairs": 0}, {"most_items": 0}],
)
def test_options_of_no_use_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(StudyError):
        DrivingItems().check(options)
