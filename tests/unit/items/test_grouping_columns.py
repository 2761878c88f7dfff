"""Columns that group items: from a table of the items, of gold or of outputs, and never taken for a system or a score."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pipeline.errors import DataError
from pipeline.items.align import survey_test_set
from pipeline.items.frame import Survey
from pipeline.items.outputs import load_output
from pipeline.study.grouping import group_columns, with_asked_columns
from pipeline.study.resampling import Resampling
from pipeline.study.schema import Systems
from pipeline.study.sets import TestSet

LABELS = "id,gold,domain,north,south\ns1,n,x,n,v\ns2,v,x,v,v\ns3,n,y,n,n\ns4,v,y,n,v\n"


def spec_of(resampling: dict[str, Any], **given: Any) -> TestSet:
    return with_asked_columns(TestSet(**given), Resampling(**resampling))


def survey(folder: Path, resampling: dict[str, Any], **given: Any) -> Survey:
    spec = spec_of(resampling, **given)
    unit, strata = resampling.get("unit", "item"), resampling.get("strata")
    return survey_test_set("t", spec, base=folder, systems=Systems(), unit=unit, strata=strata)


def texts(folder: Path, items: int = 6) -> dict[str, Any]:
    for name in ("ref", "A", "B"):
        (folder / f"{name}.txt").write_text("".join(f"{name} {k} is a line\n" for k in range(items)))
    return {"references": ("ref.txt",), "outputs": {"A": "A.txt", "B": "B.txt"}}


def test_a_group_in_a_wide_table_is_no_system(tmp_path: Path) -> None:
    (tmp_path / "all.csv").write_text(LABELS)
    given = {"format": "labels", "gold": "all.csv", "outputs": "all.csv", "columns": {"label": "gold", "item": "id"}}
    plain = survey(tmp_path, {}, **given)
    assert [output.system for output in plain.outputs] == ["domain", "north", "south"]  # nobody said that it is none
    found = survey(tmp_path, {"strata": "domain"}, **given)
    assert [output.system for output in found.outputs] == ["north", "south"]
    assert (found.frame.stratum_of_unit, found.frame.strata) == ((0, 0, 1, 1), ("x", "y"))
    # The content of an output knows no groups, and no metric sees them.
    assert found.outputs == plain.outputs[1:]
    spec = spec_of({"strata": "domain"}, **given)
    assert set(load_output(spec, found.outputs[0], frame=found.frame).columns) == {"label"}
    by_gold = survey(
        tmp_path, {"unit": "item", "strata": "label"}, **{**given, "columns": {**given["columns"], "domain": "domain"}}
    )
    assert by_gold.frame.stratum_of_unit == (0, 1, 0, 1)


def test_a_table_of_items_may_name_them_or_go_line_by_line(tmp_path: Path) -> None:
    given = texts(tmp_path)
    (tmp_path / "items.tsv").write_text("domain\tdocid\n" + "".join(f"{'xy'[k // 4]}\td{k // 2}\n" for k in range(6)))
    asked = {"unit": "document", "strata": "domain"}
    found = survey(tmp_path, asked, **given, documents="items.tsv", columns={"document": "docid"})
    assert (found.frame.units, found.frame.strata) == (("d0", "d1", "d2"), ("x", "y"))
    assert found.frame.stratum_of_unit == (0, 0, 1)
    assert found.frame.unit_of_item == (0, 0, 1, 1, 2, 2)
    assert survey(tmp_path, {"unit": "docid"}, **given, documents="items.tsv").frame.units == ("d0", "d1", "d2")
    renamed = survey(tmp_path, {"strata": "topic"}, **given, documents="items.tsv", columns={"topic": "domain"})
    assert renamed.frame.stratum_of_unit == (0, 0, 0, 0, 1, 1)


def test_documents_are_known_where_items_are_drawn(tmp_path: Path) -> None:
    given = texts(tmp_path)
    (tmp_path / "docs.txt").write_text("a\na\nb\nb\nc\nc\n")
    assert survey(tmp_path, {}, **given).frame.document_of_item == ()
    found = survey(tmp_path, {}, **given, documents="docs.txt")
    assert found.frame.document_of_item == (0, 0, 1, 1, 2, 2)
    assert found.frame.unit_of_item == (0, 1, 2, 3, 4, 5)
    assert survey(tmp_path, {"unit": "document"}, **given, documents="docs.txt").frame.document_of_item == ()
    for nothing in ("a\n" * 6, "a\nb\nc\nd\ne\nf\n"):  # nothing lies between documents, or within
        (tmp_path / "docs.txt").write_text(nothing)
        assert survey(tmp_path, {}, **given, documents="docs.txt").frame.document_of_item == ()


def test_documents_that_nothing_is_drawn_by_are_no_reason_to_stop(tmp_path: Path) -> None:
    given = texts(tmp_path)
    (tmp_path / "docs.txt").write_text("a\nb\n")
    found = survey(tmp_path, {}, **given, documents="docs.txt")
    assert found.frame.document_of_item == ()
    assert any("the documents have 2 lines, the test set has 6 items" in warning for warning in found.warnings)


@pytest.mark.parametrize("there", ["", "docs.txt"])
def test_a_column_that_nothing_has_is_refused_with_those_there_are(tmp_path: Path, there: str) -> None:
    given = texts(tmp_path)
    (tmp_path / "docs.txt").write_text("a\na\nb\nb\nc\nc\n")
    with pytest.raises(DataError) as caught:
        survey(tmp_path, {"strata": "domain"}, **given, **({"documents": there} if there else {}))
    (problem,) = caught.value.problems
    assert problem.code == "P223"
    assert problem.message.endswith("there are: 'document'" if there else "there are: none")


def test_an_item_without_a_group_or_with_two_is_refused(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("item,system,genre,score\n1,A,x,5\n2,A,,6\n1,B,x,8\n2,B,,9\n")
    given: dict[str, Any] = {"format": "scores", "outputs": "t.csv"}
    with pytest.raises(DataError, match="item '2' has no genre"):
        survey(tmp_path, {"strata": "genre"}, **given)
    (tmp_path / "t.csv").write_text("item,system,genre,score\n1,A,x,5\n2,A,x,6\n1,B,y,8\n2,B,x,9\n")
    with pytest.raises(DataError, match="item '1' is of genre 'y', and of 'x' in another file"):
        survey(tmp_path, {"strata": "genre"}, **given)


def test_roles_of_readers_are_no_groups() -> None:
    spec = TestSet(outputs="x", columns={"item": "a", "system": "b", "label": "c", "genre": "d"})
    assert group_columns(spec) == ("document", "genre")
    assert with_asked_columns(spec, Resampling(unit="document")) is spec
    assert with_asked_columns(spec, Resampling(unit="genre")) is spec
    assert with_asked_columns(spec, Resampling(unit="year", strata="genre")).columns["year"] == "year"
