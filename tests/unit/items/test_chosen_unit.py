"""Documents that are known are drawn unless a study says otherwise; where there is nothing to draw by them, items are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pipeline.errors import DataError
from pipeline.items.align import survey_test_set
from pipeline.items.frame import Survey
from pipeline.study.grouping import with_asked_columns
from pipeline.study.resampling import Resampling
from pipeline.study.schema import Systems
from pipeline.study.sets import TestSet

N = 12
PAIRS = tuple(k // 2 for k in range(N))


def texts(folder: Path, documents: list[str] | None = None) -> dict[str, Any]:
    for name in ("ref", "A", "B"):
        (folder / f"{name}.txt").write_text("".join(f"{name} {k} is a line\n" for k in range(N)))
    given: dict[str, Any] = {"references": ("ref.txt",), "outputs": {"A": "A.txt", "B": "B.txt"}}
    if documents is None:
        return given
    (folder / "docs.txt").write_text("".join(f"{name}\n" for name in documents))
    return {**given, "documents": "docs.txt"}


def survey(folder: Path, unit: str | None = None, strata: str | None = None, **given: Any) -> Survey:
    spec = with_asked_columns(TestSet(**given), Resampling(unit=unit, strata=strata))
    return survey_test_set("t", spec, base=folder, systems=Systems(), unit=unit, strata=strata)


def write_conllu(path: Path, documents: list[int], word: str = "x") -> None:
    lines = []
    for k in range(N):
        lines += [f"# newdoc id = d{k}"] * (k in documents) + [f"# sent_id = s{k}", f"# text = {word}{k}"]
        lines += [f"1\t{word}{k}\t_\tX\t_\t_\t0\troot\t_\t_", ""]
    path.write_text("\n".join(lines) + "\n")


def trees(folder: Path, documents: list[int]) -> dict[str, Any]:
    for name in ("A", "B"):
        write_conllu(folder / f"{name}.conllu", [])
    write_conllu(folder / "gold.conllu", documents)
    return {"format": "conllu", "gold": "gold.conllu", "outputs": {"A": "A.conllu", "B": "B.conllu"}}


def test_documents_that_are_known_are_drawn(tmp_path: Path) -> None:
    found = survey(tmp_path, **texts(tmp_path, [f"d{k}" for k in PAIRS]))
    assert (found.unit, found.unit_reason, found.frame.unit_of_item) == ("document", "documents are known", PAIRS)
    assert found.frame == survey(tmp_path, "document", **texts(tmp_path, [f"d{k}" for k in PAIRS])).frame


def test_a_study_that_says_item_draws_items_and_still_knows_the_documents(tmp_path: Path) -> None:
    found = survey(tmp_path, "item", **texts(tmp_path, [f"d{k}" for k in PAIRS]))
    assert (found.unit, found.unit_reason, len(found.frame.units)) == ("item", "", N)
    assert found.frame.document_of_item == PAIRS


def test_documents_that_the_format_marks_are_known(tmp_path: Path) -> None:
    found = survey(tmp_path, **trees(tmp_path, [0, 4, 8]))
    assert (found.unit, found.frame.units) == ("document", ("d0", "d4", "d8"))


def test_documents_in_a_column_of_a_table_are_known(tmp_path: Path) -> None:
    rows = [f"i{k},{'ab'[k // 6]},{k % 5},{k % 3}" for k in range(N)]
    (tmp_path / "t.csv").write_text("\n".join(["item,document,one,two", *rows]) + "\n")
    assert survey(tmp_path, format="scores", outputs="t.csv").frame.units == ("a", "b")


@pytest.mark.parametrize(
    ("names", "told"),
    [
        ([f"{'ab'[k // 6]}_{k}" for k in range(N)], ", but 2 speakers are; the unit `speaker` draws them"),
        ([f"s{k // 3}-{k}" for k in range(N)], ", but 4 speakers are; the unit `speaker` draws them"),
        ([f"a_{k}" for k in range(N)], ""),
        ([f"s{k}_0" for k in range(N)], ""),
    ],
)
def test_speakers_are_pointed_out_where_a_transcript_has_several(names: list[str], told: str, tmp_path: Path) -> None:
    for one in ("gold", "A", "B"):
        (tmp_path / f"{one}.trn").write_text("".join(f"word {k} ({name})\n" for k, name in enumerate(names)))
    given: dict[str, Any] = {"format": "trn", "gold": "gold.trn", "outputs": {"A": "A.trn", "B": "B.trn"}}
    found = survey(tmp_path, **given)
    assert (found.unit, found.unit_reason) == ("item", f"no documents are known{told}")
    if told:
        assert len(survey(tmp_path, "speaker", **given).frame.units) == int(told.split()[2])


def test_nothing_known_is_items_without_a_word(tmp_path: Path) -> None:
    found = survey(tmp_path, **texts(tmp_path))
    assert (found.unit, found.unit_reason, found.warnings) == ("item", "no documents are known", ())


@pytest.mark.parametrize(
    ("documents", "reason"),
    [(["x"] * N, "all 12 items are of one document, 'x'"), (list("abcdefghijkl"), "every item is a document")],
)
def test_one_document_or_one_for_each_item_leaves_items(tmp_path: Path, documents: list[str], reason: str) -> None:
    found = survey(tmp_path, **texts(tmp_path, documents))
    assert (found.unit, len(found.frame.units), found.frame.document_of_item) == ("item", N, ())
    assert reason in found.unit_reason
    assert any("one document, 'x'" in warning for warning in found.warnings) == (documents[0] == "x")


def test_documents_that_the_study_names_and_that_cannot_be_read_are_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError) as caught:
        survey(tmp_path, **texts(tmp_path, ["a", "b"]))
    assert caught.value.problems[0].code == "P215"
    with pytest.raises(DataError) as caught:
        survey(tmp_path, **{**texts(tmp_path), "columns": {"document": "docid"}})
    assert (caught.value.problems[0].code, "documents:" in str(caught.value.problems[0].help)) == ("P223", True)


def test_documents_that_a_format_marks_in_part_are_left_alone_with_a_word(tmp_path: Path) -> None:
    given = trees(tmp_path, [4, 8])  # the first four sentences are of none
    found = survey(tmp_path, **given)
    assert (found.unit, len(found.frame.units)) == ("item", N)
    assert any("items are drawn, not documents" in warning for warning in found.warnings)
    with pytest.raises(DataError, match="P222"):
        survey(tmp_path, "document", **given)


def test_strata_that_are_the_documents_draw_items_within_them(tmp_path: Path) -> None:
    rows = [f"{k}\td{k // 4}\t{'xy'[k // 8]}\t{'xy'[k % 2]}" for k in range(1, N + 1)]
    (tmp_path / "items.tsv").write_text("\n".join(["item\tdocid\tdomain\tspeaker", *rows]) + "\n")
    given = {**texts(tmp_path), "documents": "items.tsv", "columns": {"document": "docid"}}
    for strata in ("document", "docid"):
        found = survey(tmp_path, strata=strata, **given)
        assert (found.unit, len(found.frame.units), len(found.frame.strata)) == ("item", N, 4)
    assert survey(tmp_path, strata="domain", **given).unit == "document"
    with pytest.raises(DataError) as caught:
        survey(tmp_path, strata="speaker", **given)
    assert (caught.value.problems[0].code, "`unit: item`" in str(caught.value.problems[0].help)) == ("P224", True)


@pytest.mark.parametrize(
    ("names", "told"),
    [
        ([f"A sentence with the number {k}" for k in range(N)], "every line is a document of its own"),
        (["one", "two"] * 6, "2 names recur in 12 places"),
        ([f"d{k}" for k in PAIRS], ""),
        ([*"aabbccddee", "a", "b"], ""),
    ],
)
def test_a_file_that_plainly_holds_no_documents_is_told(tmp_path: Path, names: list[str], told: str) -> None:
    warnings = survey(tmp_path, "document", **texts(tmp_path, names)).warnings
    assert [told in warning for warning in warnings] == [True] * bool(told)
