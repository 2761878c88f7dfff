"""Outputs align, or every reason why not is told at once."""

from __future__ import annotations

import gzip
import hashlib
from pathlib import Path

import pytest

from pipeline.errors import DataError, NothingToCompare
from pipeline.interfaces import Items
from pipeline.items import align
from pipeline.items.align import alignment_table, survey_test_set
from pipeline.items.discover import as_pattern
from pipeline.items.frame import Output, align_items, digest_items
from pipeline.items.gold import load_gold
from pipeline.items.misalignment import locate_missing_line
from pipeline.items.outputs import load_output
from pipeline.study.schema import Systems
from pipeline.study.sets import TestSet
from pipeline.study.training_schema import DatasetSpec

LINES = [
    f"segment {k} says {word} and then {word[::-1]} {k * 7919 % 101}"
    for k, word in enumerate(["abcd", "efgh", "ijkl", "mnop", "qrst"] * 8)
]


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "systems").mkdir()
    write_lines(tmp_path / "ref.txt", LINES)
    return tmp_path


def write_lines(path, lines, compress=None):
    content = "".join(line + "\n" for line in lines).encode()
    path.write_bytes(compress(content) if compress else content)


def add(folder, name, lines, compress=None):
    write_lines(folder / "systems" / f"{name}.txt", lines, compress)


def survey(folder, *, exclude=(), unit="item", min_systems=2, **changes):
    given = {"references": ("ref.txt",), "outputs": "systems/{system}.txt", **changes}
    return survey_test_set(
        "news", TestSet(**given), base=folder, systems=Systems(exclude=exclude), unit=unit, min_systems=min_systems
    )


def problems_of(folder, **changes):
    with pytest.raises(DataError) as caught:
        survey(folder, **changes)
    return caught.value.problems


def codes_of(folder, **changes):
    return [problem.code for problem in problems_of(folder, **changes)]


# --- what is found


def test_systems_are_named_by_the_placeholder_and_sorted(folder):
    for name in ("zeta", "ref-copy", 'a & <b> "ü"', "[x]"):
        add(folder, name, [name, *LINES[1:]])
    found = survey(folder, exclude=("ref*",))
    assert [output.system for output in found.outputs] == ["[x]", 'a & <b> "ü"', "zeta"]
    assert found.frame.ids == tuple(map(str, range(1, 41)))
    assert found.frame.units == found.frame.ids
    assert found.frame.unit_of_item == tuple(range(40))
    assert Path(found.outputs[0].path).is_absolute()


def test_names_with_brackets_are_excluded_as_they_are_written(folder):
    for name in ("[x]", "x", "y"):
        add(folder, name, [name, *LINES[1:]])
    assert [output.system for output in survey(folder, exclude=("[x]",), min_systems=0).outputs] == ["y"]


def test_outputs_may_be_mapped_by_name(folder):
    add(folder, "one", LINES)
    add(folder, "two", LINES[::-1])
    found = survey(folder, outputs={"a/b": "systems/two.txt", "c": "systems/one.txt"})
    assert [output.system for output in found.outputs] == ["a/b", "c"]


@pytest.mark.parametrize(
    ("files", "outputs", "pattern"),
    [
        (["a.txt", "b.txt"], {"a": "a.txt", "b": "b.txt"}, "{system}.txt"),
        (["x-a.txt", "x-b.txt"], {"a": "x-a.txt", "b": "x-b.txt"}, "x-{system}.txt"),
        (["a/out.txt", "b/out.txt"], {"a": "a/out.txt", "b": "b/out.txt"}, "{system}/out.txt"),
        (["a.txt", "b.txt", "ref.txt"], {"a": "a.txt", "b": "b.txt"}, None),  # it would find another
        (["a.txt", "b.txt"], {"a": "a.txt", "base": "b.txt"}, None),  # or have another name
        (["a*.txt", "b*.txt"], {"a": "a*.txt", "b": "b*.txt"}, None),
        (["a", "b"], {"a": "a", "b": "b"}, "{system}"),
    ],
)
def test_a_pattern_stands_for_a_list_only_where_it_finds_the_same(tmp_path, files, outputs, pattern):
    for name in files:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("x\n")
    assert as_pattern(outputs, base=tmp_path) == pattern


def test_a_placeholder_in_a_folder_name_and_wild_cards_work(folder):
    for name in ("A", "B"):
        (folder / "[runs]" / name / "x1").mkdir(parents=True)
        write_lines(folder / "[runs]" / name / "x1" / "out.txt", [name, *LINES[1:]])
    assert [output.system for output in survey(folder, outputs="[runs]/{system}/x*/out.txt").outputs] == ["A", "B"]


def test_a_pattern_that_matches_nothing_says_what_would(folder):
    add(folder, "A.txt", LINES)
    (problem,) = problems_of(folder, outputs="systems/{system}.txt.gz")
    assert problem.code == "P207"
    assert "did you mean" in problem.help


@pytest.mark.parametrize("outputs", ["systems/{sys}.txt", "systems", "ref.txt"])
def test_outputs_that_cannot_be_followed_are_refused(folder, outputs):
    assert codes_of(folder, outputs=outputs) == ["P219"]


def test_one_name_from_two_files_is_refused_with_both(folder):
    for place in ("x", "y"):
        (folder / place).mkdir()
        write_lines(folder / place / "A.txt", LINES)
    (problem,) = problems_of(folder, outputs="?/{system}.txt")
    assert problem.code == "P208"
    assert "x/A.txt" in problem.where
    assert "y/A.txt" in problem.where


@pytest.mark.parametrize("count", [0, 1])
def test_fewer_than_two_systems_are_nothing_to_compare(folder, count):
    add(folder, "left-out", LINES)
    for k in range(count):
        add(folder, f"s{k}", LINES)
    with pytest.raises(NothingToCompare) as caught:
        survey(folder, exclude=("left-out",))
    assert caught.value.problems[0].code == "P290"
    assert len(survey(folder, exclude=("left-out",), min_systems=count).outputs) == count


def test_a_test_set_of_one_item_is_refused(folder):
    write_lines(folder / "ref.txt", ["only"])
    add(folder, "A", ["x"])
    add(folder, "B", ["y"])
    (problem,) = problems_of(folder)
    assert problem.code == "P213"
    assert "1 item:" in problem.message


def test_a_name_that_does_not_print_is_refused(folder):
    add(folder, "A", LINES)
    assert codes_of(folder, outputs={"A": "systems/A.txt", "B\u202e": "systems/A.txt"}) == ["P221"]


def test_every_problem_is_told_at_once(folder):
    add(folder, "good", LINES)
    add(folder, "short", LINES[:-1])
    add(folder, "empty", [])
    (folder / "systems" / "latin.txt").write_bytes("é\n".encode("latin-1") * 40)
    assert sorted(codes_of(folder, references=("ref.txt", "no.txt"))) == ["P201", "P203", "P204", "P205"]


# --- what is equal


def test_all_groups_of_equal_outputs_are_told_at_once(folder):
    for name, lines in {"A": LINES[::-1], "B": LINES[::-1], "C": LINES, "D": LINES}.items():
        add(folder, name, [*lines[:-1], "other"])
    (told,) = (warning for warning in survey(folder).warnings if "identical outputs" in warning)
    assert told.endswith("A and B, C and D have identical outputs: no test can distinguish them")


def test_what_is_odd_about_many_files_alike_is_told_once(tmp_path):
    (tmp_path / "board").mkdir()
    for name, kind in {"A": "kind", "B": "kind", "C": "kind", "D": "sort"}.items():
        (tmp_path / "board" / f"{name}.csv").write_text(f"id,{kind},right\nq1,law,{ord(name) % 2}\nq2,law,1\n")
    spec = TestSet.model_validate({"format": "scores", "outputs": "board/{system}.csv"})
    found = survey_test_set("t", spec, base=tmp_path, systems=Systems(), unit=None)
    assert [warning.replace(str(tmp_path), "") for warning in found.warnings if "holds text" in warning] == [
        "/board/A.csv and 2 more files: the column 'kind' holds text, and was left out",
        "/board/D.csv: the column 'sort' holds text, and was left out",
    ]


def test_equal_outputs_have_equal_digests_whatever_name_and_compression(folder):
    add(folder, "A", LINES)
    add(folder, "B", LINES, gzip.compress)
    add(folder, "C", [*LINES[:-1], "other"])
    found = survey(folder)
    digests = {output.system: output.digest for output in found.outputs}
    assert digests["A"] == digests["B"] != digests["C"]
    assert found.identical == (("A", "B"),)
    assert any("A and B have identical outputs" in warning for warning in found.warnings)
    assert [f"'{system}', {system}.txt, is the reference ref.txt itself" in " ".join(found.warnings) for system in "ABC"] == [
        True,
        True,
        False,
    ]
    assert alignment_table(found)[0] == ("A", 40, 40, 0, 0, ("B",), {})


def test_a_copy_of_the_gold_or_of_one_of_several_references_is_told_with_both_files(folder):
    write_lines(folder / "ref.B.txt", ["other", *LINES[1:]])
    add(folder, "A", ["other", *LINES[1:]])
    add(folder, "B", [*LINES[:-1], "other"])
    found = survey(folder, references=("ref.txt", "ref.B.txt"))
    (told,) = [warning for warning in found.warnings if "itself" in warning]
    assert told.startswith("the output of 'A', A.txt, is the reference ref.B.txt itself: leave it out")
    write_lines(folder / "gold.csv", ["id,label,topic", "1,x,sea", "2,y,sky"])
    write_lines(folder / "systems" / "A.txt", ["id,label", "1,x", "2,y"])
    write_lines(folder / "systems" / "B.txt", ["id,label", "1,x", "2,x"])
    found = survey(folder, references=(), gold="gold.csv", format="labels", columns={"topic": "topic"})
    (told,) = [warning for warning in found.warnings if "equals the gold" in warning]
    assert told.startswith("the output of 'A', A.txt, equals the gold gold.csv on every item: if it is a copy, leave it out")


def test_line_breaks_are_part_of_the_digest(folder):
    add(folder, "A", ["a", "b", *LINES[2:]])
    add(folder, "B", ["ab", "", *LINES[2:]])
    one, other = survey(folder).outputs
    assert one.digest != other.digest


def test_the_gold_digest_follows_every_reference(folder):
    add(folder, "A", LINES)
    add(folder, "B", LINES)
    write_lines(folder / "ref2.txt", LINES[::-1])
    digests = {survey(folder, references=names).gold_digest for names in (("ref.txt",), ("ref2.txt",), ("ref.txt", "ref2.txt"))}
    assert len(digests) == 3


# --- what differs in length


def test_a_lost_line_is_found_and_counted(folder):
    add(folder, "A", LINES)
    add(folder, "B", [line.upper().lower() + " ." for line in LINES])
    add(folder, "C", LINES[:16] + LINES[17:])
    (problem,) = problems_of(folder)
    assert problem.code == "P203"
    assert "system 'C' has 39 lines, the gold has 40" in problem.message
    assert problem.where.endswith("C.txt, near line 17")
    assert problem.note == "the other 2 systems align"


@pytest.mark.parametrize("missing", ["drop", "zero"])
def test_a_gap_in_the_middle_cannot_be_dropped_or_filled(folder, missing):
    add(folder, "A", LINES)
    add(folder, "B", LINES[:16] + LINES[17:])
    assert codes_of(folder, missing=missing) == ["P214"]


def test_a_line_too_many_is_found(folder):
    add(folder, "A", LINES)
    add(folder, "B", [*LINES[:5], "extra", *LINES[5:]])
    assert problems_of(folder)[0].where.endswith("near line 6")


def test_a_file_that_ends_early_is_dropped_or_filled_only_when_told(folder):
    add(folder, "A", LINES)
    add(folder, "B", LINES[:37])
    assert codes_of(folder) == ["P203"]
    dropped = survey(folder, missing="drop")
    assert len(dropped.frame.ids) == 37
    assert any("lacks 3 items, which are left out for all systems" in warning for warning in dropped.warnings)
    spec = TestSet(references=("ref.txt",), outputs="systems/{system}.txt", missing="drop")
    assert load_output(spec, dropped.outputs[0], frame=dropped.frame).columns["text"] == tuple(LINES[:37])
    assert load_gold(spec, base=folder, frame=dropped.frame).columns["reference.0"] == tuple(LINES[:37])
    filled = survey(folder, missing="zero")
    assert len(filled.frame.ids) == 40
    assert filled.outputs[1].missing == 3
    assert "system 'B' lacks 3 items, which are counted as empty" in filled.warnings
    spec = TestSet(references=("ref.txt",), outputs="systems/{system}.txt", missing="zero")
    assert load_output(spec, filled.outputs[1], frame=filled.frame).columns["text"] == (*LINES[:37], "", "", "")


def test_the_gold_is_blamed_where_all_systems_agree(folder):
    for name in "ABC":
        add(folder, name, [name, *LINES[1:30]])
    (problem,) = problems_of(folder)
    assert "the gold has 40 items, all 3 systems have 30" in problem.message
    (folder / "systems" / "C.txt").unlink()
    (problem,) = problems_of(folder)
    assert "the gold has 40 items, both systems have 30" in problem.message


def test_without_gold_the_majority_is_right(folder):
    for name in "ABC":
        add(folder, name, [name, *LINES[1:]])
    add(folder, "D", LINES[:10] + LINES[11:])
    (problem,) = problems_of(folder, references=())
    assert "system 'D' has 39 lines, the other systems have 40" in problem.message
    assert "near line 11" in problem.where


def test_parting_is_not_invented():
    assert locate_missing_line(["x"] * 30, ["x"] * 31) is None
    assert locate_missing_line(LINES, LINES) is None
    assert locate_missing_line([], LINES) is None


# --- tables


def test_tables_align_by_name_in_any_order(folder):
    for name, rows in {"A": "abc", "B": "cab"}.items():
        (folder / f"{name}.csv").write_text("id,score\n" + "".join(f"{row},{ord(row)}.{k}\n" for k, row in enumerate(rows)))
    found = survey(folder, references=(), format="scores", outputs="{system}.csv")
    spec = TestSet(format="scores", outputs="{system}.csv")
    loaded = [load_output(spec, output, frame=found.frame) for output in found.outputs]
    assert loaded[0].ids == loaded[1].ids == found.frame.ids == ("a", "b", "c")
    assert loaded[1].columns["score"] == ("97.1", "98.2", "99.0")
    assert loaded[1].lines == (3, 4, 2)


def test_adding_a_system_with_another_order_does_not_reorder_the_items(folder):
    for name, rows in {"b": "abc", "c": "abc"}.items():
        (folder / f"{name}.csv").write_text("id,score\n" + "".join(f"{row},1\n" for row in rows))
    before = survey(folder, references=(), format="scores", outputs="{system}.csv").frame
    (folder / "a.csv").write_text("id,score\nc,1\nb,1\na,2\n")
    assert survey(folder, references=(), format="scores", outputs="{system}.csv").frame == before


@pytest.mark.parametrize(
    ("missing", "codes", "ids"), [("error", ["P216"], None), ("drop", None, ("1", "3")), ("zero", None, ("1", "2", "3"))]
)
def test_missing_items_do_what_the_study_says(folder, missing, codes, ids):
    (folder / "t.csv").write_text("item,system,score\n1,A,5\n2,A,6\n3,A,7\n1,B,8\n3,B,9\n")
    changes = {"references": (), "format": "scores", "outputs": "t.csv", "missing": missing}
    if codes:
        assert codes_of(folder, **changes) == codes
        return
    found = survey(folder, **changes)
    assert found.frame.ids == ids
    loaded = load_output(TestSet(**changes), found.outputs[1], frame=found.frame)
    assert loaded.columns["score"] == tuple({"1": "8", "2": "0", "3": "9"}[name] for name in ids)


def test_items_the_gold_does_not_know_are_refused_or_dropped(folder):
    (folder / "gold.csv").write_text("id,label\na,x\nb,y\nc,z\n")
    for name in "AB":
        (folder / f"{name}.txt").write_text("id,label\na,x\nb,y\nc,z\nd,w\n")
    changes = {"references": (), "format": "labels", "gold": "gold.csv", "outputs": "{system}.txt"}
    (folder / "ref.txt").unlink()
    problems = problems_of(folder, **changes)
    assert [problem.code for problem in problems] == ["P217", "P217"]
    assert problems[0].message == "system 'A' has an item that the gold does not have: 'd'"
    found = survey(folder, missing="drop", **changes)
    assert found.frame.ids == ("a", "b", "c")
    assert found.warnings[:2] == tuple(f"system '{name}' has 1 item more, which is left out" for name in "AB")


def test_lines_go_with_named_gold_only_where_they_are_as_many(folder):
    (folder / "ref.txt").unlink()
    (folder / "gold.csv").write_text("id,label\na,x\nb,y\nc,z\n")
    for name in "AB":
        (folder / f"{name}.txt").write_text(f"{name}\ny\nz\n")
    changes = {"references": (), "format": "labels", "gold": "gold.csv", "outputs": "{system}.txt"}
    found = survey(folder, **changes)
    assert found.frame.ids == ("a", "b", "c")
    assert "it goes line by line with the gold" in found.warnings[0]
    assert load_output(TestSet(**changes), found.outputs[0], frame=found.frame).columns["label"] == ("A", "y", "z")
    (folder / "B.txt").write_text("x\ny\n")
    assert codes_of(folder, **changes) == ["P203"]


def test_no_item_in_common_is_refused(folder):
    (folder / "t.csv").write_text("item,system,score\n1,A,5\n2,A,6\n3,B,8\n4,B,9\n")
    assert codes_of(folder, references=(), format="scores", outputs="t.csv", missing="drop") == ["P218"]


def test_files_without_a_common_item_are_told_by_their_items(folder):
    (folder / "t.csv").write_text("item,system,score\n1,A,5\n2,A,6\n3,B,8\n4,B,9\n")
    with pytest.raises(DataError) as caught:
        survey(folder, references=(), format="scores", outputs="t.csv", missing="drop")
    assert caught.value.problems[0].help == "give an item the same name in all files: A has '1', '2'; B has '3', '4'"


def test_an_output_that_changed_is_not_read(folder):
    add(folder, "A", LINES)
    add(folder, "B", LINES)
    found = survey(folder)
    add(folder, "A", ["changed", *LINES[1:]])
    spec = TestSet(references=("ref.txt",), outputs="systems/{system}.txt")
    with pytest.raises(DataError, match="P220"):
        load_output(spec, found.outputs[0], frame=found.frame)
    assert load_output(spec, Output(**vars(found.outputs[1])), frame=found.frame).columns["text"] == tuple(LINES)


# --- embedded gold, documents


def test_a_gold_that_is_passed_in_needs_no_outputs():
    gold = Items(("p", "q", "r"), {"label": ("1", "2", "3")}, "digits", (1, 2, 3), numbered=False)
    spec = TestSet(format="labels", gold=DatasetSpec(dataset="digits"))
    found = survey_test_set("d", spec, base=Path(), systems=Systems(), unit="item", gold=gold)
    assert found.frame.ids == ("p", "q", "r")
    assert found.outputs == ()
    assert load_gold(spec, base=Path(), frame=found.frame, gold=gold).columns == {"label": ("1", "2", "3")}


def test_documents_are_units_in_order_of_their_first_item(folder):
    add(folder, "A", LINES)
    add(folder, "B", LINES)
    write_lines(folder / "docs.txt", ["d2"] * 10 + ["d1"] * 20 + ["d2"] * 10)
    frame = survey(folder, unit="document", documents="docs.txt").frame
    assert frame.units == ("d2", "d1")
    assert frame.unit_of_item == (0,) * 10 + (1,) * 20 + (0,) * 10
    assert len(survey(folder, unit="item", documents="docs.txt").frame.units) == 40


def test_documents_must_be_complete(folder):
    add(folder, "A", LINES)
    add(folder, "B", LINES)
    write_lines(folder / "docs.txt", ["d"] * 39)
    assert codes_of(folder, unit="document", documents="docs.txt") == ["P215"]
    write_lines(folder / "docs.txt", ["d"] * 39 + [""])
    (problem,) = problems_of(folder, unit="document", documents="docs.txt")
    assert (problem.code, problem.where) == ("P222", f"{folder / 'docs.txt'}:40")
    write_lines(folder / "docs.txt", ["d"] * 40)
    assert codes_of(folder, unit="document", documents="docs.txt") == ["P213"]


def test_documents_come_from_a_column_too(folder):
    (folder / "t.csv").write_text("item,doc,A,B\n1,x,5,6\n2,x,6,7\n3,y,7,8\n")
    changes = {"references": (), "format": "scores", "outputs": "t.csv", "columns": {"document": "doc"}}
    assert survey(folder, unit="document", **changes).frame.unit_of_item == (0, 0, 1)
    (folder / "t.csv").write_text("item,A,B\n1,5,6\n2,6,7\n")
    for unit in ("document", None):
        (problem,) = problems_of(folder, unit=unit, **changes)
        assert (problem.code, problem.message) == ("P223", "no column 'doc' groups the items of test set 'news'; there are: 'item'")


def test_dropped_items_take_their_documents_along(folder):
    (folder / "t.csv").write_text("item,system,document,score\n1,A,x,5\n2,A,y,6\n3,A,z,7\n1,B,x,8\n3,B,z,9\n")
    frame = survey(folder, references=(), format="scores", outputs="t.csv", missing="drop", unit="document").frame
    assert (frame.units, frame.unit_of_item) == (("x", "z"), (0, 1))


# --- real data, and the table of codes


@pytest.mark.data
def test_the_real_test_sets_align(data_dir):
    spec = TestSet(references=("ref.A.en.txt.gz", "ref.B.en.txt.gz"), outputs="systems/{system}.txt.gz")
    found = survey_test_set("wmt21", spec, base=data_dir / "wmt21-de-en", systems=Systems(), unit="item")
    assert (len(found.outputs), len(found.frame.ids), found.identical, found.warnings) == (19, 1000, (), ())
    spec = TestSet(
        references=("ref.A.de.txt.gz",),
        outputs="systems/{system}.txt.gz",
        documents="segments.tsv.gz",
        columns={"document": "docid"},
    )
    found = survey_test_set("wmt24", spec, base=data_dir / "wmt24-en-de", systems=Systems(), unit="document")
    assert (len(found.outputs), len(found.frame.ids), len(found.frame.units)) == (26, 998, 171)
    assert found.identical == (("CycleL", "CycleL2"),)


@pytest.mark.data
def test_real_segment_scores_average_to_the_published_means(data_dir):
    import json

    import numpy as np

    from pipeline.metrics import load_metric

    base = data_dir / "wmt25-metric-scores" / "en-cs_CZ"
    published = json.loads((base.parent / "expected.json").read_text())["en-cs_CZ"]["means"]["XCOMET-XL"]
    spec = TestSet(format="scores", outputs="XCOMET-XL.tsv.gz")
    found = survey_test_set("wmt25", spec, base=base, systems=Systems(), unit="item")
    metric = load_metric("mean")
    assert len(found.outputs) == len(published) == 42
    for output in found.outputs:
        statistics = metric.extract(None, load_output(spec, output, frame=found.frame))
        mean = metric.scorer(statistics.decimals)(np.asarray(statistics.values.sum(axis=0)))
        assert float(mean) == pytest.approx(published[output.system], abs=6e-9)


def test_aligning_what_is_not_there_is_an_error():
    frame = survey_frame = Items(("a",), {"text": ("x",)}, "f", (1,), numbered=False)
    from pipeline.items.frame import Frame

    with pytest.raises(DataError, match="P216"):
        align_items(survey_frame, Frame("t", ("a", "b"), (0, 1), ("a", "b")))
    assert align_items(frame, Frame("t", ("a", "b"), (0, 1), ("a", "b")), missing="zero", blank="-").columns["text"] == ("x", "-")


@pytest.mark.parametrize(
    "values",
    [
        ("yes", "no", "größer", "") * 30,  # few, many times
        ("one", "größer", "two", ""),
        ("one", "two", "three", ""),
        (*map(str, range(300)), *("yes",) * 900),  # many times, and not from the first
        (1, -2, 10**30) * 30,
        (1, 2, 3),
        (True, 1, "1", ("1", 1, ("x",)), ()) * 30,  # equal and yet not alike
        (True, False) * 30,
        (),
    ],
)
def test_the_digest_is_that_of_every_value_with_its_length_before_it(values):
    def encode(value):
        if isinstance(value, str):
            return f"{len(value.encode())}:{value}".encode()
        return b"(" + b"".join(map(encode, value)) + b")" if isinstance(value, tuple) else f"i{int(value)};".encode()

    names = tuple(map(str, range(len(values))))
    items = Items(names, {"label": values}, "a.txt", (), numbered=True)
    content = b"pipeline-items-1\0" + f"{len(values) + 1}\n".encode() + encode("label") + b"".join(map(encode, values))
    assert digest_items(items) == hashlib.sha256(content).hexdigest()


def test_files_that_align_are_not_asked_what_their_names_may_mean(folder, monkeypatch):
    """For each name that would look at all readers: a tenth of what a run of 150 systems takes."""
    monkeypatch.setattr(align, "offer_pattern", lambda paths: pytest.fail(f"asked about {paths}"))
    add(folder, "A", LINES)
    add(folder, "B", [*LINES[:-1], "other"])
    assert [output.system for output in survey(folder).outputs] == ["A", "B"]
