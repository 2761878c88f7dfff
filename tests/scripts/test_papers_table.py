"""docs/papers.md has what the studies of papers expect, and naming some of them writes their sections alone."""

from __future__ import annotations

from pathlib import Path

import papers_table
import pytest
import yaml
from papers_table import LONG, PAGE, STUDIES, Done, row_of, run, sections_of, write
from support.studies import run_cli

PATHS = sorted(STUDIES.glob("*.yaml"))


def sections(page: str) -> dict[str, str]:
    return {name: text for name, text in sections_of(page).items() if name[0].isdigit()}


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_the_page_has_every_known_answer_of_a_study_and_none_has_turned(path: Path) -> None:
    expected = yaml.safe_load(path.read_text("utf-8"))["expect"]
    told = [line for line in sections(PAGE.read_text("utf-8"))[path.stem].splitlines() if line.startswith("| ")][1:]
    cells = [[cell.strip() for cell in line.replace("\\|", "¦").strip("|").split("|")] for line in told]
    assert [row[0] for row in cells] == [one["name"] for one in expected]
    assert {row[3] for row in cells} <= {"yes", "need not"}
    assert [row[3] == "need not" for row in cells] == ["differs" in one for one in expected]


def test_the_page_has_no_study_that_is_not_there() -> None:
    assert list(sections(PAGE.read_text("utf-8"))) == [path.stem for path in PATHS]


def test_sections_of_studies_that_were_not_run_stay_as_they_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("01-one", "02-two", "03-three"):
        (tmp_path / f"{name}.yaml").touch()
    monkeypatch.setattr(papers_table, "STUDIES", tmp_path)
    done = {name: Done(name, f"What {name} is.", 0, 7.0, [], ["signature"], "") for name in ("01-one", "03-three")}
    first = write([*done.values(), done["01-one"]._replace(name="04-gone")])
    page = write([done["01-one"]._replace(name="02-two", seconds=9.0), done["03-three"]._replace(seconds=8.0)], first)
    assert list(sections(page)) == ["01-one", "02-two", "03-three"]
    assert sections(page)["01-one"] == sections(first)["01-one"]
    assert "8 CPU seconds" in sections(page)["03-three"]


@pytest.fixture
def page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A page of two studies that is there."""
    monkeypatch.setattr(papers_table, "STUDIES", tmp_path)
    monkeypatch.setattr(papers_table, "PAGE", tmp_path / "page.md")
    for name in ("01-one", "02-two"):
        (tmp_path / f"{name}.yaml").touch()
    (tmp_path / "page.md").write_text("as it was")
    return tmp_path / "page.md"


@pytest.mark.parametrize(("code", "written"), [(0, True), (7, True), (3, False), (4, False), (130, False)])
def test_the_page_stays_where_a_study_was_not_done(
    page: Path, code: int, written: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    codes = {"01-one": code, "02-two": 0}
    monkeypatch.setattr(papers_table, "run", lambda path, runs: Done(path.stem, "", codes[path.stem], 1.0, [], ["one"], "why"))
    monkeypatch.setattr("sys.argv", ["papers"])
    assert papers_table.main() == (code != 0)
    assert (page.read_text() != "as it was") == written
    told = capsys.readouterr().err
    assert ("is left as it is: not done are 01-one\n" in told) == (not written)
    assert ("01-one: exit" in told) == (code != 0)


def test_a_study_that_nobody_knows_is_told_with_those_there_are(
    page: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["papers", "01", "99"])
    with pytest.raises(SystemExit, match="2"):
        papers_table.main()
    assert "no study begins with 99; there are 01-one, 02-two" in capsys.readouterr().err
    assert page.read_text() == "as it was"


@pytest.fixture
def at_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    """Run studies in the process of the test: their own, and those of workers, take longer to start than the studies."""
    monkeypatch.setattr(papers_table, "start", lambda path, runs: run_cli("run", path, "--runs", runs, "--serial"))


WITH_DATA = ("14-experiment-wise", "14-five-comparisons", "15-optimizer")
"""Studies of a few seconds each; those of a quarter of a minute or more are left to `scripts/papers`."""


def hold_to_page(name: str, runs: Path) -> None:
    """Run a study as it is shipped, and hold its known answers to the page, digit by digit."""
    done = run(STUDIES / f"{name}.yaml", runs)
    assert done.code == 0, done.said
    told = sections(PAGE.read_text("utf-8"))[name]
    assert done.rows
    assert [row for row in map(row_of, done.rows) if row not in told] == []


def test_the_post_has_the_numbers_of_the_page(tmp_path: Path) -> None:
    """It alone is run as `scripts/papers` does, in a process of its own."""
    hold_to_page("17-blog", tmp_path)


@pytest.mark.data
@pytest.mark.usefixtures("at_hand")
@pytest.mark.parametrize("name", WITH_DATA)
def test_a_short_study_has_the_numbers_of_the_page(
    name: str, data_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PIPELINE_DATA", str(data_dir))
    hold_to_page(name, tmp_path)


@pytest.mark.usefixtures("at_hand")
@pytest.mark.parametrize(("expected", "code"), [(70.0, 0), (71.0, 1)])
def test_a_known_answer_that_turns_ends_a_small_run_with_1_and_leaves_the_page(
    expected: float, code: int, page: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = page.parent
    rows = "\n".join(f"q{k},{60 + k},{50 + k % 7}" for k in range(21))
    (folder / "scores.csv").write_text(f"item,new,old\n{rows}\n", encoding="utf-8")
    study = {
        "schema": 1,
        "study": "01-one",
        "test_sets": {"quiz": {"format": "scores", "outputs": "scores.csv"}},
        "metrics": ["mean"],
        "resampling": {"replicates": 1000},
        "analyses": [],
        "report": {"null_laboratory": False},
        "expect": [
            {
                "name": "mean of new",
                "table": "leaderboard",
                "where": {"name": "new"},
                "column": "score",
                "value": expected,
                "within": 0.1,
            }
        ],
    }
    (folder / "01-one.yaml").write_text(yaml.safe_dump(study), encoding="utf-8")
    (folder / "02-two.yaml").unlink()
    (folder / f"{LONG[0]}.yaml").write_text("it is not run", encoding="utf-8")  # --small leaves it out
    monkeypatch.setattr("sys.argv", ["papers", "--small", "--runs", str(folder / "runs")])
    assert papers_table.main() == code
    assert page.read_text() == "as it was"
    told = capsys.readouterr().err
    assert ("mean of new" in told) == (code == 1)
    assert LONG[0] not in told
