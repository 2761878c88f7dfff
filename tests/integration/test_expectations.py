"""Known answers: read off the report's own tables, shown beside ours, and told by an exit code of their own."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest
from support.studies import run_cli, write_scores, write_study


def study(folder: Path, expect: list[dict[str, Any]], **other: Any) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    write_scores(folder / "scores.csv", ["a", "b", "c", "d"])
    test_sets = {"bench": {"format": "scores", "outputs": "scores.csv"}}
    settings: dict[str, Any] = {
        "resampling": {"replicates": 2000},
        "report": {"formats": ["html", "json"], "null_laboratory": False},
    }
    settings |= {"analyses": ["thresholds"], "expect": expect, **other}
    return write_study(folder / "study.yaml", test_sets=test_sets, metrics=["mean"], **settings)


def run(path: Path, code: int = 0) -> tuple[Path, str]:
    done = run_cli("run", path, "--serial", cwd=path.parent)
    assert done.returncode == code, done.stderr
    return Path(done.stdout.strip()), done.stderr


def table(root: Path, name: str) -> list[dict[str, str]]:
    with (root / "report" / "tables" / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that expects nothing."""
    return run(study(tmp_path_factory.mktemp("plain"), []))[0]


def asked(plain: Path) -> list[dict[str, Any]]:
    """Expectations that agree: of a score, of a gain, of a count and of a limit."""
    board, pairs = table(plain, "leaderboard"), table(plain, "pairs")
    best = board[0]
    small = sum(float(row["p"]) <= 0.5 for row in pairs)
    first = {"system_a": pairs[0]["system_a"], "system_b": pairs[0]["system_b"]}
    return [
        {
            "table": "leaderboard",
            "where": {"name": best["name"]},
            "column": "score",
            "value": float(best["score"]),
            "within": 0,
        },
        {
            "name": "gain",
            "table": "pairs",
            "where": first,
            "column": "delta",
            "value": float(pairs[0]["delta"]) * 1.04,
            "within": "5 %",
        },
        {"table": "pairs", "where": {"p": "<= 0.5"}, "count": True, "value": small, "within": 0},
        {"table": "pairs", "where": first, "column": "interval.lo", "at_most": float(pairs[0]["delta"])},
        {"table": "pairs", "where": first, "column": "score_a", "at_least": 0},
    ]


def test_answers_that_agree_are_shown_and_the_run_ends_well(plain: Path, tmp_path: Path) -> None:
    expected = asked(plain)
    root, said = run(study(tmp_path, expected))
    rows = table(root, "expectations")
    assert [row["agrees"] for row in rows] == ["True"] * 5
    assert rows[1]["name"] == "gain"
    assert rows[0]["name"].startswith("leaderboard: score of name ")
    # What is found is what the table has, and its interval stands beside it.
    pairs = table(root, "pairs")
    assert rows[1]["ours"] == pairs[0]["delta"]
    assert (rows[1]["interval.lo"], rows[1]["interval.hi"]) == (pairs[0]["interval.lo"], pairs[0]["interval.hi"])
    # The row of a pair has the interval of its gain, which is none of a score.
    assert rows[4]["interval.lo"] == ""
    assert "Known answers" not in said  # what is in order is not told
    document = json.loads((root / "report" / "report.json").read_bytes())
    (finding,) = [one for one in document["findings"] if one["analysis"] == "expectations"]
    assert [row["agrees"] for row in finding["rows"]] == [True] * 5
    assert [check["status"] for check in document["trust"] if check["check"] == "Known answers"] == ["ok"]
    assert "Known answers" in (root / "report" / "index.html").read_text("utf-8")


def test_an_answer_that_turned_has_its_exit_code_and_is_named(plain: Path, tmp_path: Path) -> None:
    one, *_, limit = asked(plain)[:4]
    turned = {**limit, "name": "low end", "at_most": -1000.0}
    path = study(tmp_path, [one, turned])
    root, said = run(path, code=7)
    assert "check: Known answers. 1 of 2 does not agree: low end: expected ≤ -1000, found" in said
    assert "error[P451]: 1 of the study's known answers does not agree: low end" in said
    assert [row["turned"] for row in table(root, "expectations")] == ["False", "True"]
    again = run_cli("run", path, "--serial", "--quiet", cwd=path.parent)  # done already
    assert again.returncode == 7
    report = run_cli("report", root, cwd=tmp_path)
    assert report.returncode == 7
    forgiven = run_cli("report", root, "--set", "expect=[]", "-o", tmp_path / "other", cwd=tmp_path)
    assert forgiven.returncode == 0
    # A report that is held to other answers is right to end well, and the run still is not.
    assert run_cli("report", root, "--set", "expect=[]", cwd=tmp_path).returncode == 0
    assert not (root / "report" / "tables" / "expectations.csv").exists()
    own = root / "report" / "tables" / "notes.csv"
    own.write_text("mine")
    assert run_cli("run", path, "--serial", "--quiet", cwd=path.parent).returncode == 7
    # Nor where the answers are the same and the tables are not.
    assert run_cli("report", root, "--set", "report.formats=[json]", cwd=tmp_path).returncode == 7
    assert not (root / "report" / "index.html").exists()
    assert run_cli("run", path, "--serial", "--quiet", cwd=path.parent).returncode == 7
    assert own.read_text() == "mine"


def test_a_count_of_rows_that_a_word_no_row_has_leaves_empty_says_so(plain: Path, tmp_path: Path) -> None:
    first = table(plain, "pairs")[0]["system_a"]
    counts = [
        {"name": "misspelt", "table": "pairs", "where": {"system_a": first + "x"}, "count": True, "at_most": 5},
        {"name": "spelt", "table": "pairs", "where": {"system_a": first}, "count": True, "at_most": 5},
        {"name": "none so small", "table": "pairs", "where": {"system_a": first, "p": "< 0"}, "count": True, "at_most": 5},
    ]
    root, _ = run(study(tmp_path, counts))
    rows = table(root, "expectations")
    assert [row["agrees"] for row in rows] == ["True"] * 3
    assert rows[0]["reason"].startswith(f"no row has the system_a '{first}x'; did you mean")
    assert [row["reason"] for row in rows[1:]] == ["", ""]
    (check,) = [
        one for one in json.loads((root / "report" / "report.json").read_bytes())["trust"] if one["check"] == "Known answers"
    ]
    assert check["detail"].startswith("All 3 agree. Of misspelt, no row has the system_a")


def test_what_need_not_agree_is_shown_and_turns_nothing(plain: Path, tmp_path: Path) -> None:
    one = {**asked(plain)[0], "value": 1.0, "differs": "other data"}
    bare = {key: value for key, value in one.items() if key != "within"}
    root, _ = run(study(tmp_path, [one, bare]))
    rows = table(root, "expectations")
    assert [(row["agrees"], row["turned"]) for row in rows] == [("False", "False"), ("", "False")]
    page = (root / "report" / "index.html").read_text("utf-8")
    assert "need not" in page
    assert "other data" in page


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"table": "leaderbord"}, "there is no table 'leaderbord'; did you mean 'leaderboard'"),
        ({"column": "scor"}, "the table leaderboard has no column 'scor'; did you mean 'score'"),
        ({"where": {"nam": "a"}}, "the table leaderboard has no column 'nam'; did you mean 'name'"),
        ({"where": {}}, "4 rows of 4 are left, one is needed; they differ in name"),
        ({"where": {"name": "nobody"}}, "no row of 4 is left, one is needed; no row has the name 'nobody'; there are: a, b, c, d"),
        ({"column": "name"}, "name has no number there"),
    ],
)
def test_a_selection_that_finds_no_number_says_what_there_is(plain: Path, tmp_path: Path, wrong: dict[str, Any], said: str) -> None:
    one = {**asked(plain)[0], **wrong}
    done = run_cli("report", plain, "--set", f"expect=[{json.dumps(one)}]", "-o", tmp_path / "report", cwd=tmp_path)
    assert done.returncode == 7
    with (tmp_path / "report" / "tables" / "expectations.csv").open(encoding="utf-8", newline="") as file:
        (row,) = csv.DictReader(file)
    assert said in row["reason"]
    assert row["turned"] == "True"
    # That data are others excuses a number, not a row that the results do not have.
    excused = json.dumps({**one, "differs": "other data"})
    again = run_cli("report", plain, "--set", f"expect=[{excused}]", "-o", tmp_path / "excused", cwd=tmp_path)
    lacks = "name has no number there" not in said
    assert again.returncode == (7 if lacks else 0)
    assert ("1 of the study's known answers is not in the results: " in again.stderr) == lacks


def test_expectations_change_neither_numbers_nor_a_run_that_has_none(plain: Path, tmp_path: Path) -> None:
    root, _ = run(study(tmp_path, asked(plain)))
    assert root.name != plain.name
    for name in ("pairs", "leaderboard", "thresholds"):
        assert table(root, name) == table(plain, name)
    plan = json.loads((plain / "plan.json").read_text("utf-8"))
    assert plan["study"]["expect"] == []


@pytest.mark.parametrize(
    ("expectation", "said"),
    [
        ({"table": "pairs", "value": 1, "within": 0}, "name a column, or say count: true"),
        ({"table": "pairs", "column": "p", "count": True, "value": 1, "within": 0}, "name a column, or say count: true"),
        ({"table": "pairs", "column": "p"}, "say what is expected"),
        ({"table": "pairs", "column": "p", "value": 1}, "say how near to the value is near enough"),
        ({"table": "pairs", "column": "p", "within": 1, "at_least": 0}, "within needs a value"),
        ({"table": "pairs", "column": "p", "value": 1, "within": -1}, "a distance is a number such as 0.05"),
        ({"table": "pairs", "column": "p", "value": 1, "within": "near"}, "a distance is a number such as 0.05"),
        ({"table": "pairs", "column": "p", "at_least": 2, "at_most": 1}, "at_least 2 is above at_most 1"),
        ({"tabel": "pairs", "column": "p", "at_least": 2}, "tabel"),
    ],
)
def test_expectations_of_no_use_are_refused(tmp_path: Path, expectation: dict[str, Any], said: str) -> None:
    done = run_cli("check", study(tmp_path, [expectation]), cwd=tmp_path)
    assert done.returncode == 2
    assert said in done.stderr
