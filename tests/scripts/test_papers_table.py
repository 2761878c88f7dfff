"""docs/papers.md has what the studies of papers expect, and naming some of them writes their sections alone."""

from __future__ import annotations

from pathlib import Path

import papers_table
import pytest
import yaml
from papers_table import PAGE, STUDIES, Done, write

PATHS = sorted(STUDIES.glob("*.yaml"))


def sections(page: str) -> dict[str, str]:
    return {name: rest for name, _, rest in (part.partition("\n") for part in page.split("\n## ")[1:])}


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
