"""Objects of any shape, one a line: texts, labels, scores and references from where a study says they stand."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.listening import listen

from pipeline.errors import DataError, StudyError
from pipeline.interfaces import Items
from pipeline.items.align import survey_test_set
from pipeline.items.frame import align_items
from pipeline.items.outputs import load_output
from pipeline.items.readers import load_reader
from pipeline.metrics import load_metric
from pipeline.study.schema import Systems
from pipeline.study.sets import TestSet

Write = Callable[..., Path]

WIDE: tuple[dict[str, Any], ...] = (
    {
        "id": 7,
        "about": {"sea": "x"},
        "ref": ["the ship left", "a ship left"],
        "out": {"a.b": {"t": "ship left", "s": {"f": 0.50, "p": 1}}, "c": {"t": "", "s": {"f": 0.25, "p": 0}}},
    },
    {
        "id": 3,
        "about": {"sea": "y"},
        "ref": "nobody saw",
        "out": {"c": {"t": "saw nobody", "s": {"f": 1e-7, "p": 1}}, "a.b": {"t": "no one", "s": {"f": 1.0, "p": 0}}},
    },
)
TEXT = {"name": "json-lines", "item": "id", "text": "out.{system}.t", "reference": "ref"}
ONE_LESS = '{"id": 2, "out": {"a": {"s": {"f": 1}}}}'
SCORES = {"name": "json-lines", "item": "id", "score": "out.{system}.s"}


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def put(*rows: Any, name: str = "all.jsonl") -> Path:
        text = "".join((row if isinstance(row, str) else json.dumps(row)) + "\n" for row in rows)
        (tmp_path / name).write_text(text, encoding="utf-8")
        return tmp_path / name

    return put


def read(form: dict[str, Any], path: Path, *, system: str | None = None, **columns: str) -> dict[str, Items]:
    return load_reader(form).read_outputs(path, system=system, options={"columns": columns})


def test_all_systems_of_a_line_are_given_with_their_texts(write: Write) -> None:
    found = read(TEXT, write(*WIDE))
    assert {name: (items.ids, dict(items.columns), items.lines) for name, items in found.items()} == {
        "a.b": (("7", "3"), {"text": ("ship left", "no one")}, (1, 2)),
        "c": (("7", "3"), {"text": ("", "saw nobody")}, (1, 2)),
    }
    assert not found["c"].numbered


def test_an_object_of_numbers_gives_each_under_its_name_with_the_digits_of_the_file(write: Write) -> None:
    found = read(SCORES, write(*WIDE))
    assert found["c"].columns == {"f": ("0.25", "1e-07"), "p": ("0", "1")}
    assert read(SCORES | {"score": "out.{system}.s.f"}, write(*WIDE))["c"].columns == {"score": ("0.25", "1e-07")}
    named = {"score": {"x": "out.{system}.s.p", "y": ["out", "{system}", "s", "f"]}}
    assert read(SCORES | named, write(*WIDE))["a.b"].columns == {"x": ("1", "0"), "y": ("0.5", "1.0")}


def test_references_that_are_fewer_are_blank_and_groups_come_from_where_the_study_says(write: Write) -> None:
    gold = load_reader(TEXT).read_gold([write(*WIDE)], {"columns": {"document": "about.sea", "label": "no"}})
    assert gold is not None
    assert gold.columns == {
        "reference.0": ("the ship left", "nobody saw"),
        "reference.1": ("a ship left", ""),
        "document": ("x", "y"),
    }
    assert (gold.ids, gold.numbered) == (("7", "3"), False)


def test_one_file_is_gold_and_all_outputs_of_a_study(tmp_path: Path, write: Write) -> None:
    write(*WIDE)
    spec = TestSet(format=TEXT, references=("all.jsonl",), outputs="all.jsonl", columns={"document": "about.sea"})
    found = survey_test_set("t", spec, base=tmp_path, systems=Systems(), unit="document")
    assert (found.frame.ids, found.frame.units, found.warnings) == (("7", "3"), ("x", "y"), ())
    assert found.gold is not None
    bleu = load_metric("bleu")
    prepared = bleu.prepare(align_items(found.gold, found.frame))
    lengths = {
        o.system: bleu.extract(prepared, load_output(spec, o, frame=found.frame, base=tmp_path)).values[:, 0].tolist()
        for o in found.outputs
    }
    assert lengths == {"a.b": [2, 2], "c": [0, 2]}


def test_lines_of_one_system_each_are_parted_by_its_name(write: Write) -> None:
    rows = [
        {"q": "x", "model": "NA", "right": True},
        {"q": "x", "model": "b", "right": False},
        {"q": "y", "model": "b", "right": True},
        {"q": "y", "model": "NA", "right": False},
    ]
    found = read({"name": "json-lines", "item": "q", "system": "model", "score": "right"}, write(*rows))
    assert {name: (items.ids, items.columns["score"], items.lines) for name, items in found.items()} == {
        "NA": (("x", "y"), ("1", "0"), (1, 4)),
        "b": (("x", "y"), ("0", "1"), (2, 3)),
    }


def test_a_file_of_one_system_needs_no_name_in_it_and_lines_are_numbered(write: Write) -> None:
    path = write({"said": "yes"}, {"said": None}, {"said": 3}, {"said": False})
    found = read({"name": "json-lines", "label": "said"}, path, system="x")["x"]
    assert (found.ids, found.numbered, found.columns) == (("1", "2", "3", "4"), True, {"label": ("yes", "", "3", "false")})
    gold = load_reader({"name": "json-lines", "label": "said", "gold": "right"}).read_gold(
        [write({"right": "yes"}, {"right": 3})], {}
    )
    assert gold is not None
    assert gold.columns == {"label": ("yes", "3")}


def test_sentences_between_marks_are_given_a_sentence_a_line(write: Write) -> None:
    path = write({"t": "<s> One . </s>  <s>Two</s>", "r": "<s> Three </s>"}, {"t": "", "r": "<s></s>"})
    form = {"name": "json-lines", "text": "t", "reference": "r", "sentences": ["<s>", "</s>"]}
    assert read(form, path, system="x")["x"].columns == {"text": ("One .\nTwo", "")}
    gold = load_reader(form).read_gold([path], {})
    assert gold is not None
    assert gold.columns == {"reference.0": ("Three", "")}
    cut = write({"t": "One. <s> Two </s> and <s> three", "r": ""}, {"t": "<s> a </s>", "r": ""})
    reader = listen(load_reader(form))
    assert reader.read_outputs(cut, system="x", options={})["x"].columns == {"text": ("One.\nTwo\nand\nthree", "a")}
    assert reader.warnings == [f"{cut}: in 1 texts <s> and </s> are not as many: sentences end at either"]


def test_a_line_that_lacks_a_system_lacks_an_item_of_it(tmp_path: Path, write: Write) -> None:
    less = json.loads(json.dumps(WIDE))
    del less[1]["out"]["c"]
    path = write(*less)
    assert read(SCORES, path)["c"].ids == ("7",)
    spec = TestSet(format=SCORES, outputs="all.jsonl")
    with pytest.raises(DataError, match=r"system 'c' lacks 1 of 2 items: '3'"):
        survey_test_set("t", spec, base=tmp_path, systems=Systems(), unit="item")


@pytest.mark.parametrize(
    ("form", "rows", "code", "words", "line"),
    [
        (TEXT, ['{"id": 1, "out": {"a": {"t": "x"}}}', '{"id": 2, "out": {"a": {"t":'], "P257", "ends in the middle", 2),
        (TEXT, ['{"id": 1, "out": {"a": {"t": 5}}}'], "P257", "'out.{system}.t' is not a text: 5", 1),
        (TEXT, ['{"id": 1, "out": {"a": {"u": "x"}}}'], "P257", "there is no 'out.{system}.t'; there are 'u'", 1),
        (TEXT, ['{"id": 1, "out": [1]}'], "P257", "'out' is not an object", 1),
        (TEXT, ['{"id": 1, "out": {"a": "x"}}'], "P257", "'out.{system}' is not an object", 1),
        (TEXT, ['{"id": null, "out": {"a": {"t": "x"}}}'], "P257", "'id' is not a name: null", 1),
        (TEXT, ['{"id": 1, "out": {"a": {"t": "x"}}}'] * 2, "P209", "the item '1' occurs twice, on lines 1 and 2", 2),
        (SCORES, ['{"id": 1, "out": {"a": {"s": {"f": NaN}}}}'], "P210", "has nan for 'f'", 1),
        (SCORES, ['{"id": 1, "out": {"a": {"s": {"f": null}}}}'], "P210", "has None for 'f'", 1),
        (SCORES, ['{"id": 1, "out": {"a": {"s": "high"}}}'], "P210", "has 'high' for 'score'", 1),
        (SCORES, ['{"id": 1, "out": {"a": {"s": {"f": 1, "p": 1}}}}', ONE_LESS], "P210", "has no 'p'", 2),
        (SCORES, ["[1]"], "P257", "the line is not an object", 1),
    ],
)
def test_lines_of_another_shape_are_refused(
    write: Write, form: dict[str, Any], rows: list[str], code: str, words: str, line: int
) -> None:
    path = write(*rows)
    with pytest.raises(DataError) as caught:
        read(form, path)
    (problem,) = caught.value.problems
    assert (problem.code, problem.where) == (code, f"{path}:{line}")
    assert words in problem.message


def test_blank_lines_alone_are_an_empty_file(write: Write) -> None:
    path = write("", "")
    with pytest.raises(DataError, match="P205: the file has no object"):
        read(TEXT, path)


def test_files_that_name_no_system_and_gold_that_nobody_looks_for_are_refused(write: Write) -> None:
    path = write({"t": "x", "m": "a"}, {"t": "y", "m": "b"})
    with pytest.raises(DataError, match="nothing in it names them") as caught:
        read({"name": "json-lines", "text": "t"}, path)
    assert caught.value.problems[0].code == "P219"
    with pytest.raises(DataError, match="does not say where in it") as caught:
        load_reader({"name": "json-lines", "text": "t"}).read_gold([path], {})
    assert caught.value.problems[0].code == "P219"
    with pytest.raises(DataError, match="holds other systems: 'a', 'b'") as caught:
        read({"name": "json-lines", "text": "t", "system": "m"}, path, system="c")
    assert caught.value.problems[0].code == "P208"


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({}, "say where outputs stand"),
        ({"text": ""}, "keys with dots"),
        ({"text": "a..b"}, "keys with dots"),
        ({"text": 3}, "keys with dots"),
        ({"text": "{system}.{system}"}, "once, or not at all"),
        ({"text": "x{system}"}, "once, or not at all"),
        ({"text": "t", "item": "{system}"}, "only the options"),
        ({"text": "{system}", "system": "m"}, "not by both"),
        ({"text": "t", "sentences": "<s>"}, "two marks"),
    ],
)
def test_options_that_cannot_be_followed_are_mistakes_of_the_study(options: dict[str, Any], words: str) -> None:
    with pytest.raises(StudyError, match=words):
        load_reader({"name": "json-lines", **options})


def test_what_it_is_compared_with_follows_from_what_it_is_told() -> None:
    asked = [
        load_reader({"name": "json-lines", **o})
        for o in ({"text": "t", "reference": "r"}, {"label": "l", "gold": "g"}, {"score": "s"})
    ]
    assert [(r.compares_with, r.usual_metric, r.blank) for r in asked] == [
        ("references", "bleu", ""),
        ("gold", "accuracy", ""),
        ("nothing", "mean", "0"),
    ]
    with pytest.raises(ValueError, match="not written"):
        asked[0].write(Path("x"), {}, ())


def test_a_key_that_a_line_has_twice_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text('{"id": 1, "said": {"label": "a"}}\n{"id": 2, "said": {"label": "a", "label": "b"}}\n')
    with pytest.raises(DataError, match="the key 'label' is twice in one object, the second time at column 34") as caught:
        load_reader({"name": "json-lines", "item": "id", "label": "said.label"}).read_outputs(path, system="x", options={})
    assert caught.value.problems[0].where == f"{path}:2"
