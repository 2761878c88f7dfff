"""`pipeline compare` takes every format that has one gold file."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from pipeline.api import compare, compare_study
from pipeline.cli import cli
from pipeline.errors import DataError, PluginError, UsageError


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
    ("references", "format_", "code"),
    [
        ((), "tagged", "P011"),
        (("a", "b"), "columns", "P011"),
        ((), "text", "P012"),
        ((), "bitext", "P010"),
        (("a",), "scores", "P014"),
    ],
)
def test_what_does_not_go_together_is_refused(references: tuple[str, ...], format_: str, code: str) -> None:
    with pytest.raises(UsageError, match=code):
        compare_study({"A": "A", "B": "B"}, references, format=format_)


def test_a_format_that_is_not_there_is_refused_by_name() -> None:
    with pytest.raises(PluginError, match="there is no format 'odd'"):
        compare_study({"A": "A", "B": "B"}, ["a"], format="odd")


def test_a_table_of_scores_is_refused_a_reference_once_and_labels_are_not(tmp_path: Path) -> None:
    (tmp_path / "all.csv").write_text("item,north,south\nq1,1,0\nq2,1,1\n")
    (tmp_path / "ref.txt").write_text("she left the harbour\nit was late\n")
    with pytest.raises(UsageError, match="scores already") as raised:
        compare_study({"*": str(tmp_path / "all.csv")}, [str(tmp_path / "ref.txt")])
    assert [problem.code for problem in raised.value.problems] == ["P014"]
    with pytest.raises(DataError, match="there is no file"):
        compare([tmp_path / "all.csv"], [tmp_path / "missing.txt"])
    (tmp_path / "gold.jsonl").write_text('{"id": "q1", "label": "1"}\n{"id": "q2", "label": "0"}\n')
    with pytest.raises(DataError, match="P275"):
        compare([tmp_path / "all.csv"], [tmp_path / "gold.jsonl"])
    for gold in ("item,label\nq1,1\nq2,0\n", "1\n0\n"):
        (tmp_path / "gold.csv").write_text(gold)
        found = compare_study({"*": str(tmp_path / "all.csv")}, [str(tmp_path / "gold.csv")]).study
        assert [spec.format.name for spec in found.test_sets.values()] == ["labels"]


def test_the_format_is_recognised_by_the_first_output(tmp_path: Path) -> None:
    (tmp_path / "north.txt").write_text("Nell/np sings/vbz\nshe/pp left/vbd\n")
    (tmp_path / "one.txt").write_text("she left\nthe harbour\n")
    (tmp_path / "all.csv").write_text("item,north,south\n1,.5,.25\n2,1,0\n")
    tagged = compare_study({"A": str(tmp_path / "north.txt"), "B": "B"}, ["gold.txt"]).study
    assert ([spec.format.name for spec in tagged.test_sets.values()], tagged.metrics[0].name) == (["tagged"], "tag-accuracy")
    text = compare_study({"A": str(tmp_path / "one.txt"), "B": "B"}, ["ref.txt"]).study
    assert [(spec.format.name, spec.references) for spec in text.test_sets.values()] == [("text", ("ref.txt",))]
    scores = compare_study({"*": str(tmp_path / "all.csv")}, []).study
    assert [(spec.format.name, spec.outputs) for spec in scores.test_sets.values()] == [("scores", str(tmp_path / "all.csv"))]


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


def test_what_became_of_items_and_what_was_recognised_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, count in (("north", 8), ("south", 7)):
        rows = "".join(f"q{k},{k % 3}\n" for k in range(count))
        (tmp_path / f"{name}.csv").write_text("item,score\n" + rows)
    found = CliRunner().invoke(cli, ["compare", "north.csv", "south.csv", "--missing", "drop", "-b", "100", "--runs", "runs"])
    assert found.exit_code == 0, found.output
    assert "north.csv is read as scores: " in found.stderr
    warning, report = found.stdout.splitlines()[-2:]
    assert warning == "warning: system 'south' lacks 1 item, which is left out for all systems"
    assert report.startswith("report: ")


def test_one_path_may_hold_all_systems_in_python_too(tmp_path: Path) -> None:
    (tmp_path / "all.csv").write_text("item,north,south\n" + "".join(f"{k},{k % 2},{k % 3}\n" for k in range(12)))
    document = compare([str(tmp_path / "all.csv")], replicates=100)
    assert [system["name"] for system in document["systems"]] == ["north", "south"]
