"""Tables as Excel, R and pandas write them: the separator in a line of its own, blank rows, quotes between tabs, workbooks."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import pytest
from support.listening import listen

from pipeline.errors import DataError
from pipeline.interfaces import Items
from pipeline.items.item_table import ItemTable
from pipeline.items.readers import load_reader
from pipeline.items.recognise import recognise_beside, recognise_file

ROWS = "item,north,south\nq1,1,2\nq2,3,4\n"


def read(folder: Path, text: str, name: str = "t.csv") -> tuple[dict[str, Items], list[str]]:
    path = folder / name
    path.write_bytes(text.encode())
    assert recognise_file(path)[0].name == "scores"
    reader = listen(load_reader("scores"))
    found = reader.read_outputs(path, system=None, options={})
    return found, [warning.removeprefix(f"{path}: ") for warning in reader.warnings]


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
@pytest.mark.parametrize("first", ["sep={}", "SEP={}", '"sep={}"'])
def test_a_first_line_names_the_separator_as_in_excel(separator: str, first: str, tmp_path: Path) -> None:
    text = ROWS.replace(",", separator)
    with_line, told = read(tmp_path, f"{first.format(separator)}\r\n" + text.replace("\n", "\r\n"))
    assert {name: (items.ids, items.columns, items.lines) for name, items in with_line.items()} == {
        "north": (("q1", "q2"), {"score": ("1", "3")}, (3, 4)),
        "south": (("q1", "q2"), {"score": ("2", "4")}, (3, 4)),
    }
    assert told == []


def test_the_named_separator_goes_before_what_the_header_contains(tmp_path: Path) -> None:
    found, _ = read(tmp_path, "sep=;\nitem;north, the first;south\nq1;0,5;1\nq2;0,25;2\n")
    assert {name: items.columns["score"] for name, items in found.items()} == {
        "north, the first": ("0.5", "0.25"),
        "south": ("1", "2"),
    }


@pytest.mark.parametrize("joint", ["\t", ",", ", "])
def test_labels_in_quotes_are_recognised_as_a_table_of_them(joint: str, tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("".join(f'"{name}"{joint}"{label}"\n' for name, label in (("id", "label"), ("q1", "a"), ("q2", "b"))))
    form, why = recognise_file(path, gold=True)
    assert form.name == "labels"
    assert why.endswith("a table with the columns id, label, beside a file to compare with")
    found = load_reader("labels").read_outputs(path, system="a", options={})["a"]
    assert (found.ids, found.columns["label"]) == (("q1", "q2"), ("a", "b"))


def test_labels_and_documents_are_read_below_such_a_line_too(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("sep=;\nid;label\nq1;a\nq2;b\n")
    assert recognise_file(path, gold=True)[0].name == "labels"
    assert load_reader("labels").read_outputs(path, system="a", options={})["a"].columns["label"] == ("a", "b")
    table = ItemTable(path, {})
    assert table.is_table
    assert table.header == ("id", "label")


def test_a_table_of_one_column_called_sep_is_none_of_these(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("sep=x\n1\n2\n")
    assert load_reader("scores").read_outputs(path, system="a", options={})["a"].columns == {"sep=x": ("1", "2")}


@pytest.mark.parametrize(
    ("blank", "told"),
    [
        ("\n", ["line 3, which is blank, was left out"]),
        (" \n", ["line 3, which is blank, was left out"]),
        (",,\n", ["line 3, which is blank, was left out"]),
        ("\n, ,\n\n", ["3 blank lines were left out: 3, 4, 5"]),
    ],
)
def test_blank_rows_in_the_middle_are_left_out_and_told(blank: str, told: list[str], tmp_path: Path) -> None:
    found, warnings = read(tmp_path, ROWS.replace("q2", f"{blank}q2"))
    assert found["south"].columns == {"score": ("2", "4")}
    assert found["south"].ids == ("q1", "q2")
    assert warnings == told


def test_without_a_column_of_items_a_row_of_empty_fields_is_an_item_without_numbers(tmp_path: Path) -> None:
    """In a file beside it the row at that place may have some: to leave it out would move all items behind it."""
    (tmp_path / "t.csv").write_text("north,south\n1,2\n,\n3,4\n")
    with pytest.raises(DataError) as caught:
        load_reader("scores").read_outputs(tmp_path / "t.csv", system=None, options={})
    assert [problem.code for problem in caught.value.problems] == ["P210", "P210"]
    found = load_reader("scores").read_outputs(tmp_path / "t.csv", system=None, options={"missing": "drop"})
    assert found["south"].ids == ("1", "3")


@pytest.mark.parametrize("blank", ["", ",", " , "])
@pytest.mark.parametrize("text", ["seconds,score", "prompt,score"])
def test_without_names_a_blank_row_of_one_file_does_not_pair_the_items_below_with_others(
    blank: str, text: str, tmp_path: Path
) -> None:
    """The items that a failure left without a number are not the same in two files; texts that repeat name none."""
    rows = [f"{'2' if text.startswith('s') else 'What is seven?'},{score}" for score in range(6)]
    found = {}
    for name, place in (("north", 1), ("south", 4)):
        path = tmp_path / f"{name}.csv"
        path.write_text("\n".join([text, *rows[:place], blank, *rows[place + 1 :]]) + "\n")
        with pytest.raises(DataError) as caught:
            load_reader("scores").read_outputs(path, system=name, options={})
        assert {problem.code for problem in caught.value.problems} == {"P210"}
        found[name] = load_reader("scores").read_outputs(path, system=name, options={"missing": "drop"})[name]
    assert found["north"].ids == ("1", "3", "4", "5", "6")
    assert found["south"].ids == ("1", "2", "3", "4", "6")
    assert found["south"].columns["score"] == ("0", "1", "2", "3", "5")


def test_in_a_single_column_an_empty_line_is_an_empty_value(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("score\n1\n\n3\n")
    with pytest.raises(DataError) as caught:
        load_reader("scores").read_outputs(tmp_path / "t.csv", system="a", options={})
    assert [problem.where.rpartition("t.csv:")[2] for problem in caught.value.problems] == ["3:score"]


def test_quotes_of_csv_hold_separators_quotes_and_line_ends(tmp_path: Path) -> None:
    text = 'item,"A, the ""first""",B,note\r\n"q,1",1,"2",x\r\n"q;""2""",3,4,"a, ""b""\r\nand c"\r\nq3,5,6,\r\n'
    found, told = read(tmp_path, text)
    assert list(found) == ['A, the "first"', "B"]
    assert found["B"].ids == ("q,1", 'q;"2"', "q3")
    assert found["B"].columns == {"score": ("2", "4", "6")}
    assert found["B"].lines == (2, 3, 5)
    assert told == ["the column 'note' holds text, and was left out"]


def test_blanks_behind_every_separator_of_the_header_are_no_part_of_fields(tmp_path: Path) -> None:
    found, told = read(tmp_path, 'item, "A, x", B\n"q, 1", 1, 2\nq2,3, 4\n')
    assert list(found) == ["A, x", "B"]
    assert found["B"].ids == ("q, 1", "q2")
    assert found["A, x"].columns == {"score": ("1", "3")}
    assert told == []
    found, _ = read(tmp_path, "item, A,B\nq1, 1,2\nq2,3,4\n")  # behind one of them it may be meant
    assert list(found) == [" A", "B"]


def test_quotes_between_tabs_are_quotes_where_the_whole_header_has_them(tmp_path: Path) -> None:
    found, told = read(tmp_path, '"item"\t"A, ""x"""\t"B"\n"q1"\t"1"\t2\n"q2"\t3\t4\n', "t.tsv")
    assert list(found) == ['A, "x"', "B"]
    assert found["B"].ids == ("q1", "q2")
    assert told == []
    found, _ = read(tmp_path, 'item\t"A"\tB\n"\t1\t2\n"b"\t3\t4\n', "t.tsv")
    assert list(found) == ['"A"', "B"]
    assert found["B"].ids == ('"', '"b"')


def _zip(*names: str) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in names:
            content = "application/vnd.oasis.opendocument.spreadsheet" if name == "mimetype" else "<x/>"
            archive.writestr(name, content, compress_type=zipfile.ZIP_STORED)
    return data.getvalue() + b"\xff\n\xff"


@pytest.mark.parametrize(
    ("name", "data", "kind"),
    [
        ("t.xlsx", _zip("[Content_Types].xml"), "an Excel workbook"),
        ("t.csv", _zip("[Content_Types].xml", "xl/workbook.xml"), "an Excel workbook"),
        ("t.xls", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(100), "an Excel workbook"),
        ("t.ods", _zip("mimetype", "content.xml"), "a LibreOffice spreadsheet"),
        ("t.zip", _zip("a.txt"), None),
    ],
)
def test_a_workbook_is_called_so_with_the_way_out(name: str, data: bytes, kind: str | None, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(data)
    for reading in (recognise_file, lambda file: load_reader("scores").read_outputs(file, system=None, options={})):
        with pytest.raises(DataError) as caught:
            reading(path)
        (problem,) = caught.value.problems
        assert problem.code == "P204"
        assert (problem.message == f"{name} is {kind}, not text") is (kind is not None)
        assert ("save the sheet with the scores as CSV (UTF-8)" in (problem.help or "")) is (kind is not None)


@pytest.mark.parametrize(
    ("text", "line", "what", "cure"),
    [
        ("A,B\nq1,1,0\nq2,0,1\n", ":1", "line 1 has 2 fields, and the row below it 3", "names every column"),
        ("item,A\nq1,1,\nq2,0,\n", ":1", "line 1 has 2 fields, and the row below it 3", "names every column"),
        ("Scores of May,,\nitem,A,B\nq1,1,0\n", ":1", "line 1 leaves 2 columns without a name", "nothing above it"),
        ("# Scores of May\nitem,A,B\nq1,1,0\n", "", "line 1 has no tab, comma or semicolon", "commas between names"),
        ("item|A|B\nq1|1|0\nq2|0|1\n", "", "line 1 has no tab, comma or semicolon", "commas between names"),
        ("item,A,B\nq1,right,wrong\nq2,right,right\n", ":2", "no number, but 'q1', 'right', 'wrong'", "true and false"),
    ],
)
def test_a_file_called_a_table_that_is_none_of_scores_is_told_why(
    text: str, line: str, what: str, cure: str, tmp_path: Path
) -> None:
    """It was taken for labels or a text whose reference is missing."""
    path = tmp_path / "t.csv"
    path.write_text(text)
    with pytest.raises(DataError) as caught:
        recognise_beside(path, [])
    (problem,) = caught.value.problems
    assert (problem.code, problem.where) == ("P259", f"{path}{line}")
    assert what in problem.message
    assert cure in (problem.help or "")


def test_a_table_of_labels_is_still_one_whose_gold_is_missing(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("id,label\n1,yes\n2,maybe\n")
    assert recognise_beside(tmp_path / "t.csv", [])[0].name == "labels"


def test_an_empty_line_below_the_header_hides_no_table(tmp_path: Path) -> None:
    found, told = read(tmp_path, ROWS.replace("q1", "\nq1"))
    assert found["north"].columns == {"score": ("1", "3")}
    assert told == ["line 2, which is blank, was left out"]
    (tmp_path / "t.csv").write_text("item,A,B\n\nq1,right,wrong\n")
    with pytest.raises(DataError, match="below the header there is no number, but 'q1', 'right', 'wrong'"):
        recognise_beside(tmp_path / "t.csv", [])


@pytest.mark.parametrize("text", ["sep=,\nitem,A,B\n", "item,A\r,B\nq1,x,y\n", "item,A,B\nq1,x\ry,2\n", "item,A,B\n\n\n"])
def test_a_table_that_cannot_be_told_of_is_refused_for_another_reason(text: str, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(text.encode())
    with pytest.raises(DataError) as caught:
        load_reader(recognise_beside(path, [])[0].name).read_outputs(path, system="t", options={})
    assert caught.value.problems[0].code != "P999"
