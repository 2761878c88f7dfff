"""`pipeline compare` takes every format that has one gold file."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipeline.api import compare, compare_study
from pipeline.errors import UsageError


@pytest.mark.parametrize(
    ("format_", "metric"), [("columns", "chunk-f1"), ("tagged", "tag-accuracy"), ("labels", "accuracy"), ("scores", "mean")]
)
def test_a_format_has_its_usual_metric_and_its_gold(format_: str, metric: str) -> None:
    gold = [] if format_ == "scores" else ["gold.txt"]
    study = compare_study({"A": "A", "B": "B"}, gold, format=format_).study
    (test_set,) = study.test_sets.values()
    assert [one.name for one in study.metrics] == [metric]
    assert test_set.gold == (gold[0] if gold else None)


def test_a_metric_that_is_named_is_taken() -> None:
    study = compare_study({"A": "A", "B": "B"}, ["gold.txt"], format="columns", metrics=["chunk-recall"]).study
    assert [one.name for one in study.metrics] == ["chunk-recall"]


@pytest.mark.parametrize(
    ("references", "format_", "code"), [((), "tagged", "P011"), (("a", "b"), "columns", "P011"), (("a",), "odd", "P010")]
)
def test_what_does_not_go_together_is_refused(references: tuple[str, ...], format_: str, code: str) -> None:
    with pytest.raises(UsageError, match=code):
        compare_study({"A": "A", "B": "B"}, references, format=format_)


@pytest.mark.slow
def test_taggers_are_compared_from_their_files(tmp_path: Path) -> None:
    for name, tags in (("gold", "xyz"), ("A", "xyz"), ("B", "xxz")):
        lines = (f"a{k}/{tags[0]} b{k}/{tags[1] if k % 2 else 'y'} c{k}/{tags[2]}\n" for k in range(40))
        (tmp_path / f"{name}.txt").write_text("".join(lines))
    paths = [str(tmp_path / f"{name}.txt") for name in "AB"]
    document = compare(paths, [str(tmp_path / "gold.txt")], format="tagged", replicates=100)
    (pair,) = document["pairs"]
    assert {row["name"]: row["score"] for row in document["leaderboard"]} == {"A": 100.0, "B": pytest.approx(100 * 100 / 120)}
    assert pair["metric"] == "tag-accuracy"
