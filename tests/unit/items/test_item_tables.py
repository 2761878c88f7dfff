"""The file that `documents:` names: items are found by name or refused, never by luck, and a header is no document."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import pipeline.items.item_table
from pipeline.errors import DataError, Problem
from pipeline.items.align import survey_test_set
from pipeline.items.frame import Survey
from pipeline.items.item_table import ItemTable
from pipeline.study.grouping import with_asked_columns
from pipeline.study.resampling import Resampling
from pipeline.study.schema import Systems
from pipeline.study.sets import TestSet

ROWS = ["item,doc,domain", "q1,a,x", "q2,a,x", "q3,b,x", "q4,b,y", "q5,c,y", "q6,c,y"]
DOC = {"document": "doc"}


def named(folder: Path, rows: list[str] = ROWS, items: int = 6, **given: Any) -> dict[str, Any]:
    """Scores of items that have names, and a table of them."""
    (folder / "t.csv").write_text("item,A,B\n" + "".join(f"q{k},{k},{k * k % 7}\n" for k in range(1, items + 1)))
    (folder / "items.csv").write_text("\n".join(rows) + "\n")
    return {"format": "scores", "outputs": "t.csv", "documents": "items.csv", "columns": DOC, **given}


def numbered(folder: Path, rows: list[str], **given: Any) -> dict[str, Any]:
    """Texts, whose items are line numbers, and a table of them."""
    for name in ("ref", "A", "B"):
        (folder / f"{name}.txt").write_text("".join(f"{name} {k} is a line\n" for k in range(6)))
    (folder / "items.csv").write_text("\n".join(rows) + "\n")
    outputs = {"A": "A.txt", "B": "B.txt"}
    return {"references": ("ref.txt",), "outputs": outputs, "documents": "items.csv", "columns": DOC, **given}


def survey(folder: Path, given: dict[str, Any], *, unit: str = "document", strata: str | None = None) -> Survey:
    spec = with_asked_columns(TestSet(**given), Resampling(unit=unit, strata=strata))
    return survey_test_set("news", spec, base=folder, systems=Systems(), unit=unit, strata=strata)


def problems(folder: Path, given: dict[str, Any], **asked: Any) -> tuple[Problem, ...]:
    with pytest.raises(DataError) as caught:
        survey(folder, given, **asked)
    return caught.value.problems


def test_one_wrong_name_moves_no_item(tmp_path: Path) -> None:
    rows = [ROWS[0], *ROWS[:0:-1]]
    assert survey(tmp_path, named(tmp_path, rows)).frame.unit_of_item == (0, 0, 1, 1, 2, 2)
    wrong = [row.replace("q2,", "q2x,") for row in rows]  # as many rows as items, in another order
    (problem,) = problems(tmp_path, named(tmp_path, wrong))
    assert (problem.code, problem.where) == ("P222", f"{tmp_path / 'items.csv'}:6")
    assert "'q2'" in problem.message
    assert "line 6 is about 'q2x'" in str(problem.note)


def test_an_item_that_is_named_twice_is_refused_though_the_last_would_win(tmp_path: Path) -> None:
    (problem,) = problems(tmp_path, named(tmp_path, [*ROWS, "q2,c,y"]))
    assert (problem.code, problem.where) == ("P209", f"{tmp_path / 'items.csv'}:8")
    assert "'q2' occurs twice, on lines 3 and 8" in problem.message


def test_rows_of_no_item_are_told(tmp_path: Path) -> None:
    found = survey(tmp_path, named(tmp_path, [*ROWS, "r1,c,y", "r2,c,y"]), strata="domain", unit="item")
    assert [w for w in found.warnings if "no item" in w] == [
        f"{tmp_path / 'items.csv'} has 2 rows of no item of the test set: 'r1' (line 8), 'r2' (line 9)"
    ]


def test_a_table_that_names_no_items_goes_line_by_line_and_says_so_where_they_have_names(tmp_path: Path) -> None:
    rows = [row.split(",", 1)[1] for row in ROWS]
    found = survey(tmp_path, named(tmp_path, rows))
    assert found.frame.units == ("a", "b", "c")
    assert any("goes line by line" in warning for warning in found.warnings)
    assert survey(tmp_path, numbered(tmp_path, rows)).warnings == ()


@pytest.mark.parametrize(
    ("names", "units"),
    [
        ("654321", ("c", "b", "a")),  # of line numbers, in another order
        ("012345", ("a", "b", "c")),  # counted from 0
        ("121212", ("a", "b", "c")),  # within documents
        ("uvwxyz", ("a", "b", "c")),  # something else
    ],
)
def test_line_numbers_are_found_by_number_or_go_line_by_line_with_a_word(tmp_path: Path, names: str, units: tuple[str]) -> None:
    rows = [ROWS[0], *(f"{name},{row.split(',', 1)[1]}" for name, row in zip(names, ROWS[1:], strict=True))]
    found = survey(tmp_path, numbered(tmp_path, rows))
    assert found.frame.units == units
    assert bool(found.warnings) == (names != "654321")


def test_a_line_number_that_is_lacking_among_the_others_is_refused(tmp_path: Path) -> None:
    rows = [ROWS[0], *(f"{name},{row.split(',', 1)[1]}" for name, row in zip("654391", ROWS[1:], strict=True))]
    assert [p.code for p in problems(tmp_path, numbered(tmp_path, rows))] == ["P222"]


@pytest.mark.parametrize(
    ("rows", "columns", "words"),
    [
        (ROWS, {"document": "dok"}, "no column 'dok' names the documents; there are: 'item', 'doc', 'domain'"),
        (ROWS, {}, "no column of it is 'document'; there are: 'item', 'doc', 'domain'"),
        (["doc", *"aabbcc"], {"document": "dok"}, "there is one column, and it begins with 'doc'"),
        (["Smith, J.", *"abbcc"], {}, "no column of it is 'document'"),
    ],
)
def test_a_header_is_no_document(tmp_path: Path, rows: list[str], columns: dict[str, str], words: str) -> None:
    (problem,) = problems(tmp_path, numbered(tmp_path, rows, columns=columns))
    assert (problem.code, problem.where) == ("P223", f"{tmp_path / 'items.csv'}:1")
    assert words in problem.message
    assert "document" in str(problem.help) or problem.help == "did you mean 'doc'?"


def test_a_lone_header_is_one_where_the_study_says_so(tmp_path: Path) -> None:
    rows = ["document", *"aabbcc"]
    assert survey(tmp_path, numbered(tmp_path, rows, columns={"document": "document"})).frame.units == ("a", "b", "c")
    (problem,) = problems(tmp_path, numbered(tmp_path, rows, columns={}))
    assert problem.code == "P215"
    assert "columns: {document: document}" in str(problem.help)


def test_documents_may_stand_in_outputs_beside_a_table_of_something_else(tmp_path: Path) -> None:
    given = named(tmp_path, ["item,domain", *(f"q{k},{'xy'[k > 2]}" for k in range(1, 7))])
    (tmp_path / "t.csv").write_text("item,doc,A,B\n" + "".join(f"q{k},d{(k - 1) // 2},{k},{k * k % 7}\n" for k in range(1, 7)))
    found = survey(tmp_path, given, strata="domain")
    assert (found.frame.units, found.frame.stratum_of_unit) == (("d0", "d1", "d2"), (0, 1, 1))


def test_the_file_is_read_once_for_units_and_strata(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[Path] = []
    lines = pipeline.items.item_table.read_lines
    monkeypatch.setattr(pipeline.items.item_table, "read_lines", lambda path: read.append(path) or lines(path))
    found = survey(tmp_path, named(tmp_path), unit="item", strata="domain")
    assert (found.frame.document_of_item, found.frame.strata) == ((0, 0, 1, 1, 2, 2), ("x", "y"))
    assert read == [tmp_path / "items.csv"]


def test_a_file_that_is_not_there_is_told_once(tmp_path: Path) -> None:
    given = named(tmp_path, documents="gone.csv")
    assert [p.code for p in problems(tmp_path, given, strata="domain")] == ["P201"]


def test_a_column_that_nothing_has_is_told_with_its_test_set(tmp_path: Path) -> None:
    (problem,) = problems(tmp_path, named(tmp_path), unit="speaker")
    assert problem.code == "P223"
    assert "groups the items of test set 'news'; there are: 'item', 'doc', 'domain'" in problem.message


def test_a_unit_in_several_strata_is_told_once(tmp_path: Path) -> None:
    rows = [ROWS[0], *(f"q{k},{'ab'[k > 4]},{'xyzxyy'[k - 1]}" for k in range(1, 7))]
    (problem,) = problems(tmp_path, named(tmp_path, rows), strata="domain")
    assert problem.code == "P224"
    assert problem.message == "the document 'a' lies in 3 strata: its domain is 'x' and 'y'"
    assert problem.where == "test set 'news', items 'q1' and 'q2'"


def test_strata_of_one_value_are_told(tmp_path: Path) -> None:
    rows = [ROWS[0], *(f"q{k},d{k // 3},x" for k in range(1, 7))]
    found = survey(tmp_path, named(tmp_path, rows), strata="domain")
    assert any("all 3 units are in one stratum, 'x' of domain" in warning for warning in found.warnings)
    assert not any("one stratum" in warning for warning in survey(tmp_path, named(tmp_path), unit="item", strata="domain").warnings)


def test_an_item_table_says_its_columns() -> None:
    table = ItemTable(Path("nowhere.csv"), {})
    with pytest.raises(DataError, match="there is no file"):
        table.has("document")
