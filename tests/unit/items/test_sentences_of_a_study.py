"""A study of sentences: documents come from the gold, other sentences are refused, places in a line group nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pipeline.errors import DataError, StudyError
from pipeline.items.align import survey_test_set
from pipeline.items.frame import Survey, digest_items
from pipeline.items.gold import load_gold
from pipeline.items.outputs import load_output
from pipeline.items.readers import load_reader
from pipeline.study.grouping import group_columns, with_asked_columns
from pipeline.study.load import study_from_value
from pipeline.study.resampling import Resampling
from pipeline.study.schema import Systems
from pipeline.study.sets import TestSet

N = 24


def write(folder: Path, name: str, *, chunk: str = "B-NP", leave_out: int | None = None, documents: bool = False) -> None:
    lines = []
    for k in range(N):
        if documents and k % 6 == 0:
            lines.append(f"-DOCSTART- d{k // 6} O\n")
        if k != leave_out:
            lines.append(f"n{k} NN {chunk if k % 3 == 0 else 'B-NP'}\nv{k} VB B-VP\nx{k} XX O\n")
    (folder / f"{name}.txt").write_text("\n".join(lines))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write(tmp_path, "gold", documents=True)
    write(tmp_path, "A")
    write(tmp_path, "B", chunk="O")
    return tmp_path


def spec(**given: Any) -> TestSet:
    return TestSet(**{"format": "columns", "gold": "gold.txt", "outputs": {"A": "A.txt", "B": "B.txt"}, **given})


def survey(folder: Path, resampling: dict[str, Any] | None = None, **given: Any) -> Survey:
    asked = resampling or {}
    found = with_asked_columns(spec(**given), Resampling(**asked))
    return survey_test_set("t", found, base=folder, systems=Systems(), unit=asked.get("unit", "item"), strata=asked.get("strata"))


def test_documents_of_the_gold_are_units_without_more_words(folder: Path) -> None:
    frame = survey(folder, {"unit": "document"}).frame
    assert frame.units == ("d0", "d1", "d2", "d3")
    assert frame.unit_of_item == tuple(k // 6 for k in range(N))


def test_documents_of_the_gold_are_known_where_sentences_are_drawn(folder: Path) -> None:
    frame = survey(folder).frame
    assert frame.document_of_item == tuple(k // 6 for k in range(N))
    assert len(frame.units) == N


def test_documents_that_no_file_marks_are_refused_when_it_is_read(folder: Path) -> None:
    write(folder, "gold")
    with pytest.raises(DataError) as caught:
        survey(folder, {"unit": "document"})
    (problem,) = caught.value.problems
    assert problem.code == "P223"
    assert problem.message.startswith("no column 'document' groups the items of test set 't'")


def test_a_study_of_sentences_may_draw_documents_and_one_of_text_must_name_them() -> None:
    def study(**test_set: Any) -> dict[str, Any]:
        given = {"outputs": "{system}.txt", **test_set}
        return {"schema": 1, "study": "s", "test_sets": {"t": given}, "metrics": ["bleu"], "resampling": {"unit": "document"}}

    assert study_from_value(study(format="tagged", gold="g"), base=Path()).study.resampling.unit == "document"
    with pytest.raises(StudyError, match="documents are not given"):
        study_from_value(study(format="text", references=["r"]), base=Path())


def test_places_in_a_line_are_no_groups(folder: Path) -> None:
    columns = {"word": "0", "tag": "1", "chunk": "2"}
    found = survey(folder, columns=columns)
    assert found.identical == ()  # a chunk column that groups items would be no part of the output's content
    assert group_columns(spec(columns={**columns, "genre": "genre"})) == ("document", "genre")
    assert group_columns(TestSet(format="labels", columns={"tag": "topic"})) == ("document", "tag")


def test_outputs_and_gold_are_read_again_with_their_sentences(folder: Path) -> None:
    given = spec(columns={"chunk": "-1"})
    found = survey(folder, columns={"chunk": "-1"})
    output = load_output(given, found.outputs[1], frame=found.frame)
    assert output.columns["chunk"][:2] == (("O", "B-VP", "O"), ("B-NP", "B-VP", "O"))
    gold = load_gold(given, base=folder, frame=found.frame, digest=found.gold_digest)
    assert gold is not None
    assert gold.columns["word"] == output.columns["word"]


def test_a_lost_sentence_is_refused_with_the_place(folder: Path) -> None:
    write(folder, "B", chunk="O", leave_out=9)
    with pytest.raises(DataError) as caught:
        survey(folder)
    (problem,) = caught.value.problems
    assert (problem.code, problem.message) == ("P203", "items do not align: system 'B' has 23 sentences, the gold has 24")
    assert problem.where == f"{folder / 'B.txt'}, near sentence 10"
    with pytest.raises(DataError, match="P214"):
        survey(folder, missing="drop")


def test_sentences_that_lack_at_the_end_may_be_counted_as_empty(folder: Path) -> None:
    write(folder, "B", leave_out=N - 1)
    found = survey(folder, missing="zero")
    given = spec(missing="zero")
    output = load_output(given, found.outputs[1], frame=found.frame)
    assert output.columns["chunk"][-1] == ""


def test_the_digest_of_sentences_is_that_of_their_tokens(tmp_path: Path) -> None:
    digests = []
    for content in ("a/x b/y\nc/z\n", "a/x\nb/y c/z\n", "a/x b/y\nc/zz\n", "a/x b/y\n\nc/z\n"):
        (tmp_path / "f").write_text(content)
        digests.append(digest_items(load_reader("tagged").read_outputs(tmp_path / "f", system="s", options={})["s"]))
    assert len(set(digests)) == 3
    assert digests[0] == digests[3]
