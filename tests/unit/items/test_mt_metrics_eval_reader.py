"""Scores of segments, documents and published means in the layout of mt-metrics-eval."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.listening import listen

from pipeline.errors import DataError, StudyError
from pipeline.items.align import alignment_table, survey_test_set
from pipeline.items.outputs import load_output
from pipeline.items.readers import load_reader
from pipeline.items.recognise import recognise_file
from pipeline.metrics import load_metric
from pipeline.study.schema import Systems
from pipeline.study.sets import TestSet

METRIC = "metric-scores/en-de/Wave-refA.seg.score"
HUMAN = "human-scores/en-de.crew.seg.score"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two systems of four segments in three documents, two of which have the same name."""
    files = {
        "documents/en-de.docs": "sea log1\nsea log1\nsky log1\nsky log2\n",
        METRIC: "north 0.5\nnorth 0.25\nnorth 1\nnorth -1e-2\nsouth\t0.125\nsouth\t0\nsouth\t0.5\nsouth\t2\n",
        METRIC.replace(".seg.", ".sys."): "north 0.435\nsouth 0.7\n",
        HUMAN: "north 80\nnorth None\nnorth 60\nnorth None\nsouth None\nsouth None\nsouth 50\nsouth 40\n",
        HUMAN.replace(".seg.", ".sys."): "north 70\nsouth None\n",
        "system-outputs/en-de/north.txt": "ein Boot\nzwei Boote\nNebel\nSterne\n",
        "system-outputs/en-de/south.txt": "das Boot\nBoote\nNebel\n\n",
        "references/en-de.refA.txt": "ein Boot\nzwei Boote\nder Nebel\nSterne\n",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def survey(folder: Path, outputs: str, unit: str = "item", strata: str | None = None, **more):
    spec = TestSet(outputs=outputs, **{"format": "mt-metrics-eval", **more})
    return spec, survey_test_set("t", spec, base=folder, systems=Systems(), unit=unit, strata=strata)


def test_scores_are_those_of_the_segments_in_their_order(folder: Path) -> None:
    found = load_reader("mt-metrics-eval").read_outputs(folder / METRIC, system=None, options={})
    assert {name: (items.ids, items.columns["score"], items.lines) for name, items in found.items()} == {
        "north": (("1", "2", "3", "4"), ("0.5", "0.25", "1", "-1e-2"), (1, 2, 3, 4)),
        "south": (("1", "2", "3", "4"), ("0.125", "0", "0.5", "2"), (5, 6, 7, 8)),
    }
    assert found["north"].columns["document"] == ("sea/log1", "sea/log1", "sky/log1", "sky/log2")


def test_documents_are_units_and_domains_strata(folder: Path) -> None:
    _, found = survey(folder, METRIC, unit="document", strata="domain", columns={"domain": "domain"})
    assert found.frame.units == ("sea/log1", "sky/log1", "sky/log2")
    assert [found.frame.strata[k] for k in found.frame.stratum_of_unit] == ["sea", "sky", "sky"]


def test_the_published_mean_of_a_system_is_beside_ours(folder: Path) -> None:
    _, found = survey(folder, METRIC)
    assert [row.published for row in alignment_table(found)] == [{"score": (0.435, 0.435)}, {"score": (0.7, 0.65625)}]


def test_segments_without_a_score_are_missing_and_told(folder: Path) -> None:
    reader = listen(load_reader("mt-metrics-eval"))
    found = reader.read_outputs(folder / HUMAN, system=None, options={})
    assert {name: (items.ids, items.columns["document"], items.published) for name, items in found.items()} == {
        "north": (("1", "3"), ("sea/log1", "sky/log1"), {"score": 70.0}),
        "south": (("3", "4"), ("sky/log1", "sky/log2"), {}),
    }
    assert reader.warnings == [
        f"{folder / HUMAN}: 'north' has no score for 2 of 4 segments",
        f"{folder / HUMAN}: 'south' has no score for 2 of 4 segments",
    ]
    with pytest.raises(DataError) as caught:
        survey(folder, HUMAN)
    assert {p.code for p in caught.value.problems} == {"P216"}


def test_documents_stay_with_their_segments_where_no_system_has_all(folder: Path) -> None:
    path = folder / HUMAN
    path.write_text("a None\na 1\na 2\na 3\nb 4\nb None\nb 5\nb 6\n")
    spec, found = survey(folder, HUMAN, unit="document", missing="drop")
    assert (found.frame.ids, found.frame.units) == (("3", "4"), ("sky/log1", "sky/log2"))
    mean = load_metric("mean")
    counted = {o.system: mean.extract(None, load_output(spec, o, frame=found.frame)).values[:, 0].tolist() for o in found.outputs}
    assert counted == {"a": [2, 3], "b": [5, 6]}


def test_texts_of_the_layout_go_with_its_documents(folder: Path) -> None:
    given = {"format": "text", "references": ("references/en-de.refA.txt",), "documents": "documents/en-de.docs"}
    _, found = survey(folder, "system-outputs/en-de/{system}.txt", unit="document", strata="domain", **given)
    assert found.frame.units == ("sea/log1", "sky/log1", "sky/log2")
    assert found.frame.strata == ("sea", "sky")
    (folder / "documents/en-de.docs").write_text("sea\tlog1\nsea\tlog1\nsky\tlog1\nsky log2 x\n")
    with pytest.raises(DataError, match="3 fields, where a domain and a document are wanted") as caught:
        survey(folder, "system-outputs/en-de/{system}.txt", unit="document", **given)
    assert (caught.value.problems[0].code, caught.value.problems[0].where) == ("P222", f"{folder / 'documents/en-de.docs'}:4")


def test_other_documents_may_be_named_or_none(folder: Path) -> None:
    (folder / "metric-scores/en-de/other.docs").write_text("x a\nx a\nx a\nx b\n")
    for named, wanted in (("other.docs", ("x/a", "x/a", "x/a", "x/b")), ("none", None)):
        reader = load_reader({"name": "mt-metrics-eval", "documents": named})
        found = reader.read_outputs(folder / METRIC, system=None, options={})
        assert found["north"].columns.get("document") == wanted
    with pytest.raises(StudyError, match="'documents' is the path of a file"):
        load_reader({"name": "mt-metrics-eval", "documents": 3})
    (folder / "documents/en-de.docs").write_text("sea log1\n")
    with pytest.raises(DataError, match="the documents have 1 lines, the scores have 4 segments") as caught:
        load_reader("mt-metrics-eval").read_outputs(folder / METRIC, system=None, options={})
    assert caught.value.problems[0].code == "P215"


@pytest.mark.parametrize(
    ("text", "code", "words", "line"),
    [
        ("a 1\nb 1\na 2\nb 2\n", "P212", "the lines of 'a' do not stand together", 3),
        ("a 1\na 2\nb 1\n", "P203", "system 'b' has 1 lines, others have 2", 3),
        ("a 1\na nan\n", "P210", "the score of 'a' is 'nan'", 2),
        ("a 1\na\n", "P212", "the line has 1 fields", 2),
        ("sea a 1\n", "P212", "the line has 3 fields", 1),
        ("a 1\n\n", "P212", "the line has 0 fields", 2),
    ],
)
def test_lines_of_another_shape_are_refused(folder: Path, text: str, code: str, words: str, line: int) -> None:
    path = folder / METRIC
    path.write_text(text)
    with pytest.raises(DataError) as caught:
        load_reader("mt-metrics-eval").read_outputs(path, system=None, options={})
    assert (caught.value.problems[0].code, caught.value.problems[0].where) == (code, f"{path}:{line}")
    assert words in caught.value.problems[0].message


def test_a_reference_that_is_scored_against_itself_is_told(folder: Path) -> None:
    path = folder / METRIC
    path.write_text(path.read_text() + "refA 1\nrefA 1\nrefA 1\nrefA 1\n")
    reader = listen(load_reader("mt-metrics-eval"))
    reader.read_outputs(path, system=None, options={})
    (told,) = reader.warnings
    assert "'refA' is the reference the scores are made with: leave it out by `systems.exclude`" in told


def test_a_file_of_one_system_may_hold_it_alone(folder: Path) -> None:
    path = folder / "x.seg.score"
    path.write_text("any 1\nany 2\n")
    reader = load_reader("mt-metrics-eval")
    assert reader.read_outputs(path, system="x", options={})["x"].columns == {"score": ("1", "2")}
    assert reader.read_outputs(folder / METRIC, system="south", options={})["south"].columns["score"][0] == "0.125"
    with pytest.raises(DataError, match="holds other systems: 'north', 'south'"):
        reader.read_outputs(folder / METRIC, system="x", options={})


def test_it_is_recognised_by_its_name_and_lines(folder: Path) -> None:
    assert recognise_file(folder / HUMAN)[0].name == "mt-metrics-eval"
    reader = load_reader("mt-metrics-eval")
    assert reader.read_gold([], {}) is None
    with pytest.raises(DataError, match="need no gold"):
        reader.read_gold([folder / METRIC], {})
