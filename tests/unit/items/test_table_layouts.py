"""Tables in every layout: letters, rows, wide, long; what no layout can have is refused."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from support.listening import listen

from pipeline.errors import DataError, StudyError
from pipeline.interfaces import Items
from pipeline.items.align import survey_test_set
from pipeline.items.frame import align_items
from pipeline.items.outputs import load_output
from pipeline.items.readers import load_reader
from pipeline.items.recognise import recognise_file
from pipeline.metrics import load_metric
from pipeline.study.schema import Systems
from pipeline.study.sets import TestSet

Write = Callable[[str, str], Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def put(name: str, text: str) -> Path:
        (tmp_path / name).write_text(text, encoding="utf-8")
        return tmp_path / name

    return put


def read(path: Path, layout: str, kind: str = "scores") -> dict[str, Items]:
    return load_reader({"name": kind, "layout": layout}).read_outputs(path, system=None, options={})


GOLD = "question_id\ttopic\tanswer\nq7\tsea\tB\nq3\tsea\tA\nq9\tsky\tD\nq1\tsky\tA\n"
LETTERS = 'model\tone character an item; - is no answer\nnorth\tBA-A\nsouth\tBCDA\nwest\tB"-,\n'
SPEC = {
    "format": {"name": "labels", "layout": "letters"},
    "gold": "items.tsv",
    "outputs": "letters.tsv",
    "columns": {"item": "question_id", "label": "answer", "topic": "topic"},
}


def accuracies(folder: Path, spec: TestSet) -> dict[str, list[int]]:
    found = survey_test_set("t", spec, base=folder, systems=Systems(), unit="item")
    metric = load_metric("accuracy")
    assert found.gold is not None
    prepared = metric.prepare(align_items(found.gold, found.frame))
    return {
        o.system: metric.extract(prepared, load_output(spec, o, frame=found.frame, base=folder)).values[:, 0].tolist()
        for o in found.outputs
    }


def test_letters_are_answers_to_the_items_of_the_gold_in_its_order(tmp_path: Path, write: Write) -> None:
    write("items.tsv", GOLD)
    write("letters.tsv", LETTERS)
    spec = TestSet(**SPEC)
    found = survey_test_set("t", spec, base=tmp_path, systems=Systems(), unit="topic")
    assert found.frame.ids == ("q7", "q3", "q9", "q1")
    assert found.frame.units == ("sea", "sky")
    assert accuracies(tmp_path, spec) == {"north": [1, 1, 0, 1], "south": [1, 0, 1, 1], "west": [1, 0, 0, 0]}
    assert found.warnings == (
        f"{tmp_path / 'letters.tsv'}: '-' 2 times, '\"' 1 time, ',' 1 time, in 2 of 3 systems: where the gold has another label, "
        "these are wrong answers",
    )


def test_letters_of_chosen_items_are_those_at_their_places(tmp_path: Path, write: Write) -> None:
    write("items.tsv", GOLD)
    write("letters.tsv", LETTERS)
    assert accuracies(tmp_path, TestSet(**SPEC, items="2-4"))["south"] == [0, 1, 1]
    assert accuracies(tmp_path, TestSet(**SPEC, items={"exclude": {"topic": ["sea"]}}))["north"] == [0, 1]


@pytest.mark.parametrize("missing", ["error", "drop", "zero"])
def test_a_letter_too_few_is_refused_whatever_the_study_says(tmp_path: Path, write: Write, missing: str) -> None:
    write("items.tsv", GOLD)
    write("letters.tsv", LETTERS.replace("BCDA", "BCD"))
    with pytest.raises(DataError) as caught:
        survey_test_set("t", TestSet(**SPEC, missing=missing), base=tmp_path, systems=Systems(), unit="item")
    (problem,) = caught.value.problems
    assert (problem.code, problem.where) == ("P203", f"{tmp_path / 'letters.tsv'}:3")
    assert "3 letters, the gold has 4 items" in problem.message


@pytest.mark.parametrize(
    ("text", "code", "words"),
    [
        ("model\tletters\nnorth\tAB\nnorth\tBA\n", "P208", "'north' occurs twice, on lines 2 and 3"),
        ("model\tletters\textra\nnorth\tAB\tx\n", "P211", "a column of systems and one of strings"),
        ("model\tletters\nnorth\t\n", "P212", "'north' has no letters"),
    ],
)
def test_tables_of_letters_that_cannot_be_followed_are_refused(write: Write, text: str, code: str, words: str) -> None:
    with pytest.raises(DataError, match=words) as caught:
        read(write("letters.tsv", text), "letters", "labels")
    assert caught.value.problems[0].code == code


def test_columns_of_letters_may_be_named_and_a_file_be_of_one_system(write: Write) -> None:
    path = write("letters.tsv", "note\tname\tsaid\nx\tnorth\tAB\ny\tsouth\tBA\n")
    columns = {"columns": {"system": "name", "label": "said"}}
    found = load_reader({"name": "labels", "layout": "letters"}).read_outputs(path, system=None, options=columns)
    assert {name: items.columns["label"] for name, items in found.items()} == {"north": ("A", "B"), "south": ("B", "A")}
    one = load_reader({"name": "labels", "layout": "letters"}).read_outputs(path, system="south", options=columns)
    assert one["south"].columns["label"] == ("B", "A")


def test_letters_are_recognised_where_they_are_long(tmp_path: Path, write: Write) -> None:
    path = write("letters.tsv", "model\tletters\n" + "".join(f"m{k}\t{'ABCD' * 20}\n" for k in range(3)))
    form, told = recognise_file(path, gold=True)
    assert (form.name, form.options) == ("labels", {"layout": "letters"})
    assert "one long string" in told
    short = write("short.tsv", "id\tlabel\nq1\tABCD\nq2\tABCD\n")
    assert recognise_file(short, gold=True)[0].options == {}


def test_rows_are_systems_and_every_other_column_an_item_whatever_its_name(write: Write) -> None:
    path = write("rows.csv", "Run,id,document\nNA,0.5,0.25\nsecond,0.75,0.5\n")
    assert {name: (items.ids, dict(items.columns)) for name, items in read(path, "rows").items()} == {
        "NA": (("id", "document"), {"score": ("0.5", "0.25")}),
        "second": (("id", "document"), {"score": ("0.75", "0.5")}),
    }
    with pytest.raises(DataError, match="the system 'x' occurs twice, on lines 2 and 3"):
        read(write("twice.csv", "name,a\nx,1\nx,2\n"), "rows")


def test_the_column_of_systems_is_the_one_that_is_named_a_usual_one_or_the_first(write: Write) -> None:
    path = write("rows.csv", "q1,system,run\n1,2,3\n4,5,6\n")
    options = {"columns": {"system": "run"}}
    found = load_reader({"name": "scores", "layout": "rows"}).read_outputs(path, system=None, options=options)
    assert (list(found), found["3"].ids) == (["3", "6"], ("q1", "system"))
    assert list(read(path, "rows")) == ["2", "5"]
    assert list(read(write("other.csv", "q1,x,run\n1,2,3\n4,5,6\n"), "rows")) == ["1", "4"]


def test_labels_may_stand_in_rows_too(tmp_path: Path, write: Write) -> None:
    write("gold.csv", "id,label\nq1,x\nq2,y\n")
    write("rows.csv", "name,q2,q1\nnorth,y,y\nsouth,x,x\n")
    spec = TestSet(format={"name": "labels", "layout": "rows"}, gold="gold.csv", outputs="rows.csv")
    assert accuracies(tmp_path, spec) == {"north": [0, 1], "south": [1, 0]}


def test_a_layout_that_is_named_overrules_what_columns_look_like(write: Write) -> None:
    rows = write("rows.csv", "system,q1,q2\nnorth,1,2\nsouth,3,4\n")
    assert read(rows, "auto")["north"].ids == ("q1", "q2")
    assert read(rows, "long")["north"].columns == {"q1": ("1",), "q2": ("2",)}
    wide = write("wide.csv", "item,system,north\nq1,0,1\nq2,1,0\n")
    assert list(read(wide, "wide")) == ["system", "north"]
    assert list(read(wide, "long")) == ["0", "1"]
    with pytest.raises(DataError, match="the layout is long, and no column holds the systems") as caught:
        read(write("other.csv", "item,north\nq1,1\n"), "long")
    assert caught.value.problems[0].code == "P211"


@pytest.mark.parametrize(("kind", "layout"), [("scores", "letters"), ("labels", "tall"), ("scores", None), ("labels", 3)])
def test_another_layout_is_a_mistake_of_the_study(kind: str, layout: object) -> None:
    with pytest.raises(StudyError, match=f"layout.*not {layout!r}"):
        load_reader({"name": kind, "layout": layout})


def test_rows_of_empty_fields_at_the_end_are_left_out_and_told(write: Write) -> None:
    path = write("sheet.csv", "item,north,south\nq1,1,2\nq2,3,4\n,,\n , ,\n")
    reader = listen(load_reader("scores"))
    found = reader.read_outputs(path, system=None, options={})
    assert found["south"].columns == {"score": ("2", "4")}
    assert reader.warnings == [f"{path}: the last 2 rows of empty fields were left out"]


def test_a_label_that_is_empty_in_the_last_row_of_one_column_is_a_label(write: Write) -> None:
    found = load_reader("labels").read_outputs(write("x.csv", "id,label\nq1,a\nq2,\n"), system="x", options={})
    assert found["x"].columns["label"] == ("a", "")


# --- identifiers that are one but for their spelling


def survey(folder: Path, files: dict[str, str], missing: str = "error", gold: str | None = None):
    (folder / "out").mkdir()
    for name, text in files.items():
        (folder / "out" / f"{name}.csv").write_text(text)
    given = {"format": "labels" if gold else "scores", "outputs": "out/{system}.csv", "missing": missing}
    if gold:
        (folder / "gold.csv").write_text(gold)
        given["gold"] = "gold.csv"
    return survey_test_set("t", TestSet(**given), base=folder, systems=Systems(), unit="item")


@pytest.mark.parametrize("missing", ["error", "drop", "zero"])
@pytest.mark.parametrize("with_gold", [True, False])
def test_an_id_that_is_a_float_in_one_file_and_whole_in_another_is_told_whatever_the_study_says(
    tmp_path: Path, missing: str, with_gold: bool
) -> None:
    whole, floats = "id,label\n1,1\n2,0\n30,1\n", "id,label\n1.0,1\n2.0,0\n30.0,1\n"
    with pytest.raises(DataError) as caught:
        survey(tmp_path, {"a": whole, "b": floats, "c": whole}, missing, whole if with_gold else None)
    found = [p for p in caught.value.problems if p.code == "P216" and "'b'" in p.message]
    whose = "the gold" if with_gold else "the other systems"
    assert [p.message for p in found] == [
        f"system 'b' lacks 3 of {3 if with_gold else 6} items: its item '1.0' and the item '1' of {whose} differ only in how they "
        "are written, and so do 2 more"
    ]


def test_sections_that_are_two_are_not_taken_for_one(tmp_path: Path) -> None:
    both, one = "id,label\n1.1,1\n1.10,0\n1.2,1\n", "id,label\n1.1,1\n1.2,0\n"
    found = survey(tmp_path, {"a": both, "b": one, "c": both}, "drop")
    assert found.frame.ids == ("1.1", "1.2")


def test_a_system_called_na_is_a_system(write: Write) -> None:
    found = load_reader("scores").read_outputs(
        write("x.csv", "item,system,score\nq1,NA,0.5\nq1,null,0.25\n"), system=None, options={}
    )
    assert {name: items.columns["score"] for name, items in found.items()} == {"NA": ("0.5",), "null": ("0.25",)}


@pytest.mark.data
def test_letters_of_real_models_are_the_answers_that_were_counted(data_dir: Path) -> None:
    from support.mmlu_data import read_mmlu

    base = data_dir / "mmlu-pro"
    columns = {"item": "question_id", "label": "answer"}
    spec = TestSet(format=SPEC["format"], gold="items.tsv.gz", outputs="predictions.tsv.gz", columns=columns)
    found = accuracies(base, spec)
    np.testing.assert_array_equal(np.array(list(found.values())).T, read_mmlu(data_dir, models=28, items=12002))


@pytest.mark.parametrize("name", ["", "Unnamed: 0"])
@pytest.mark.parametrize("numbers", [(0, 1, 2, 3, 4, 5), (0, 2, 5, 6, 7, 9), (3, 1, 5, 0, 4, 2)], ids=["whole", "chosen", "sorted"])
def test_the_index_that_pandas_writes_beside_named_items_is_no_system(name: str, numbers: tuple[int, ...], write: Write) -> None:
    rows = "".join(f"{number},q{k},{k % 2},{k % 3}\n" for k, number in enumerate(numbers))
    found = read(write("x.csv", f"{name},id,north,south\n{rows}"), "auto")
    assert [*found] == ["north", "south"]
    assert found["north"].ids == tuple(f"q{k}" for k in range(6))


def test_a_column_without_a_name_that_does_not_count_the_rows_is_not_left_out(write: Write) -> None:
    rows = "".join(f"{k % 4},q{k},{k % 2}\n" for k in range(6))
    assert [*read(write("x.csv", f",id,north\n{rows}"), "auto")] == ["", "north"]


@pytest.mark.parametrize(("header", "warned"), [("q9,1,0", True), ("item,1,0", False), ("q9,a,b", False)])
def test_a_header_that_looks_like_a_row_of_data_is_told(header: str, warned: bool, write: Write) -> None:
    path = write("x.csv", f"{header}\n" + "".join(f"q{k},{k % 2},1\n" for k in range(6)))
    found = read(path, "auto")
    told = f"{path}: the first line, 'q9', '1', '0', is read as the header: if it is data, put names above it"
    assert [told in items.warnings for items in found.values()].count(True) == int(warned)


@pytest.mark.parametrize("number", ['"0,{}5"', '"1,2{}0"'])
def test_a_table_of_decimal_commas_between_commas_is_refused_as_one_of_numbers(number: str, write: Write) -> None:
    """It was taken for a table of labels, whose gold was missing; nor is a column of such numbers left out as text."""
    path = write("x.csv", "item,north,south\n" + "".join(f"q{k},{number.format(k)},{k}\n" for k in range(4)))
    assert recognise_file(path)[0].name == "scores"
    with pytest.raises(DataError) as refused:
        read(path, "auto")
    (problem,) = refused.value.problems
    assert (problem.code, problem.where) == ("P210", f"{path}:2:north")
    assert problem.message.endswith(", which is not a finite number (3 more rows have such)")
    assert problem.help == "write a decimal point, or separate the fields of the table by semicolons"


def test_a_column_of_spans_between_tabs_is_left_out_unless_it_is_the_only_one(write: Write) -> None:
    rows = [f"q{k}\t{k % 2}\t1\t{k},{k + 3}" for k in range(5)]
    path = write("x.tsv", "\n".join(["item\ta\tb\tspan", *rows]) + "\n")
    found = read(path, "auto")
    assert list(found) == ["a", "b"]
    assert f"{path}: the column 'span' holds commas within numbers, and was left out" in found["a"].warnings
    alone = write("y.tsv", "item\tspan\n" + "".join(f"q{k}\t{k},{k + 3}\n" for k in range(5)))
    with pytest.raises(DataError, match="'0,3', which is not a finite number"):
        read(alone, "auto")


def test_a_last_row_that_sums_up_is_told_beside_an_index_and_no_system_that_comes_last(write: Write) -> None:
    rows = [f"{k},q{k},{k % 2},1" for k in range(6)]
    path = write("x.csv", "\n".join([",item,a,b", *rows, "6,mean,0.5,1"]) + "\n")
    told = f"{path}: the last row is called 'mean', and is an item: if it sums up the others, delete it"
    assert any(told in items.warnings for items in read(path, "auto").values())
    rows = [f"{system},q{k},{k % 2}" for system in ("base", "overall") for k in range(6)]
    path = write("y.csv", "\n".join(["system,item,score", *rows]) + "\n")
    assert not any("the last row" in told for items in read(path, "auto").values() for told in items.warnings)


@pytest.mark.parametrize(("last", "warned"), [("Mean", True), ("total ", True), ("meaning", False)])
def test_a_last_row_that_sums_up_the_others_is_told(last: str, warned: bool, write: Write) -> None:
    path = write("x.csv", "item,a,b\n" + "".join(f"q{k},{k % 2},1\n" for k in range(6)) + f"{last},0.5,1\n")
    found = read(path, "auto")
    told = f"{path}: the last row is called {last.strip()!r}, and is an item: if it sums up the others, delete it"
    assert [told in items.warnings for items in found.values()].count(True) == int(warned)
