"""`format: auto` finds the format, says why, and never guesses between two."""

from __future__ import annotations

import gzip
import zipfile
from pathlib import Path

import pytest

from pipeline.api import compare_study
from pipeline.errors import DataError
from pipeline.items.readers._files import read_lines
from pipeline.items.readers.scores import ScoreReader
from pipeline.items.recognise import recognise_file, recognise_formats, take_sample
from pipeline.plugins import import_plugin, list_plugins
from pipeline.study.load import study_from_value

TEXTS = {
    "text": "the ship left at dawn\nnobody saw it again\n",
    "labels": "noun\nverb\nnoun\n",
    "scores": "item,north,south\nq1,0.71,0.64\n",
    "columns": "Nell NNP B-NP\nsings VBZ B-VP\n\nShe PRP B-NP\n",
    "tagged": "# doc letter1\nNell/np sings/vbz ./.\n",
    "conllu": "# sent_id = h-1\n1\tGulls\t_\tNOUN\tNNS\t_\t2\tnsubj\t_\t_\n2\tcry\t_\tVERB\tVBP\t_\t0\troot\t_\t_\n\n",
    "links": "0-0 1-2\n\n2p1\n",
    "bitext": "the red boat ||| das rote Boot\nfog ||| Nebel\n",
    "brackets": "( (S (NP (NNP Nell)) (VP (VBZ sings))))\n",
}
WITH = {"text": {"references": True}, "scores": {}, "bitext": {}}


@pytest.mark.parametrize("name", sorted(TEXTS))
def test_each_format_is_recognised_by_what_its_files_look_like(name, tmp_path):
    path = tmp_path / "output"  # no suffix speaks for it
    path.write_bytes(gzip.compress(TEXTS[name].encode()))
    found, why = recognise_file(path, **WITH.get(name, {"gold": True}))
    assert found.name == name
    assert why.startswith(f"output is read as {name}: ")


def test_gold_and_references_of_compare_are_one_option_and_do_not_confuse(tmp_path):
    for name in ("text", "labels", "columns", "conllu", "links"):
        (tmp_path / name).write_text(TEXTS[name])
        assert recognise_file(tmp_path / name, gold=True, references=True)[0].name == name


def test_a_name_in_quotes_may_hold_the_delimiter(tmp_path):
    path = tmp_path / "scores.csv"
    path.write_text('item,one,"two, the second"\nq1,0.5,0.25\n')
    assert recognise_file(path)[0].name == "scores"
    path.write_text('item;one;"two, the second"\nq1;0,5;0,25\n')  # the comma in quotes separates nothing
    assert recognise_file(path)[0].name == "scores"
    assert list(ScoreReader().read_outputs(path, system=None, options={})) == ["one", "two, the second"]


def test_the_first_line_of_tokens_is_named_in_the_reason(tmp_path):
    (tmp_path / "x").write_text(TEXTS["conllu"])
    assert (
        recognise_file(tmp_path / "x", gold=True)[1] == "x is read as conllu: line 2 has ten columns between tabs, the first is 1"
    )


def test_what_no_reader_knows_is_refused_with_the_names_of_all(tmp_path):
    (tmp_path / "x").write_text("nothing that is known\n")
    with pytest.raises(DataError) as caught:
        recognise_file(tmp_path / "x", gold=True)
    (problem,) = caught.value.problems
    assert problem.code == "P259"
    assert problem.where == str(tmp_path / "x")
    assert all(name in problem.help for name in list_plugins("readers"))


@pytest.mark.parametrize(("data", "cure"), [("élan\n".encode("latin-1"), "iconv -f LATIN1"), (b"\x89PNG\x00\xff", "is binary")])
def test_what_is_no_text_is_told_so_and_not_that_no_format_is_known(data, cure, tmp_path):
    (tmp_path / "x").write_bytes(data)
    for read in (lambda path: recognise_file(path, references=True), read_lines):  # the first file, and any other
        with pytest.raises(DataError) as caught:
            read(tmp_path / "x")
        (problem,) = caught.value.problems
        assert problem.code == "P204"
        assert cure in problem.help


OBJECTS = '{"id": 7, "prediction": "a/b c/d", "gold": "a/b c/e"}\n{"id": 8, "prediction": "e/f", "gold": "e/f"}\n'


@pytest.mark.parametrize(
    ("file", "data"),
    [
        ("x.txt", OBJECTS),
        ("x", "\ufeff" + OBJECTS),
        ("x.txt", OBJECTS.replace(" ", "")),
        ("x.txt", "\n" + OBJECTS),
        ("x.txt", "[\n" + OBJECTS),
        ("x.txt", '{"long": "' + "a" * 70_000 + '"}\n'),
        ("x.jsonl", "the ship left\n"),
        ("x.JSONL.gz", "1-1 2-2\n"),
        ("x.json", '{\n  "id": 1\n}\n'),
        ("x.ndjson", "3\n4\n"),
    ],
)
def test_json_is_never_taken_for_plain_text_or_labels_or_tags(file, data, tmp_path):
    (tmp_path / file).write_text(data)
    with pytest.raises(DataError) as caught:
        recognise_file(tmp_path / file, gold=True, references=True)
    (problem,) = caught.value.problems
    assert (problem.code, problem.where) == ("P275", str(tmp_path / file))
    assert "json-lines, text: KEY" in problem.help
    assert problem.note == ("the keys of line 1 are 'id', 'prediction', 'gold'" if "7" in data.split("\n")[0] else None)


def test_text_that_has_braces_and_quotes_in_it_is_text(tmp_path):
    for k, line in enumerate(['{"no colon"} behind it', "{", "[1] the ship", '"a": 1', "{a: 1}"]):
        (tmp_path / str(k)).write_text(f"{line}\nthe ship left\n")
        assert recognise_file(tmp_path / str(k), references=True)[0].name == "text"


def test_json_beside_plain_text_is_refused_whichever_file_it_is(tmp_path):
    for file, data in {"north.txt": "a b\nc d\n", "ref.txt": "a b\nc e\n", "south.txt": OBJECTS, "gold.jsonl": OBJECTS}.items():
        (tmp_path / file).write_text(data)
    asked = {"north": "north.txt", "south": "south.txt"}
    with pytest.raises(DataError) as caught:
        recognise_formats(study(tmp_path, format="auto", outputs=asked, references=["ref.txt", "gold.jsonl"]), tmp_path)
    assert [(problem.code, Path(str(problem.where)).name) for problem in caught.value.problems] == [
        ("P275", "south.txt"),
        ("P275", "gold.jsonl"),
    ]
    paths = {name: str(tmp_path / file) for name, file in asked.items()}
    with pytest.raises(DataError, match="P275"):
        compare_study(paths, [str(tmp_path / "ref.txt")])
    named = compare_study(paths, [str(tmp_path / "ref.txt")], format="text").study  # what is named is taken
    assert [spec.format.name for spec in named.test_sets.values()] == ["text"]


def test_a_reader_that_breaks_over_a_file_of_others_hinders_none(tmp_path, monkeypatch):
    def ask(sample):
        raise KeyError("resolved_ids")

    monkeypatch.setattr(import_plugin("readers", "swe-bench"), "recognise", staticmethod(ask))
    (tmp_path / "f").write_text(TEXTS["brackets"])
    found, _ = recognise_file(tmp_path / "f", gold=True)
    assert found.name == "brackets"
    (tmp_path / "f").write_bytes(b"\x00\x01")
    with pytest.raises(DataError) as caught:
        recognise_file(tmp_path / "f")
    (problem,) = caught.value.problems
    assert (problem.code, problem.note) == ("P259", "swe-bench could not say whether the file is its own: KeyError: 'resolved_ids'")


def test_two_readers_that_are_as_sure_are_both_named_and_none_is_taken(tmp_path, monkeypatch):
    (tmp_path / "x").write_text(TEXTS["links"])
    links, bitext = import_plugin("readers", "links"), import_plugin("readers", "bitext")
    monkeypatch.setattr(bitext, "recognise", staticmethod(links.recognise))
    with pytest.raises(DataError) as caught:
        recognise_file(tmp_path / "x", gold=True)
    (problem,) = caught.value.problems
    assert problem.code == "P260"
    assert "may be bitext (" in problem.message
    assert "or links (" in problem.message


def test_the_beginning_of_a_large_file_ends_with_a_whole_line(tmp_path):
    lines = [f"line {k} " + "é" * 97 for k in range(2000)]
    (tmp_path / "x").write_text("\n".join(lines), encoding="utf-8")
    sample = take_sample(tmp_path / "x")
    assert len(sample.head) == 1 << 16
    assert 300 < len(sample.lines) < 400
    assert sample.lines == tuple(lines[: len(sample.lines)])


def test_no_reader_stumbles_over_a_sample(tmp_path):
    for k, data in enumerate([b"", b"\n", b"\x00" * 100, b"PK\x03\x04 not a zip", b"{\n", b"[]", b"1\t2\n\n", b"\xff\xfe\n"]):
        path = tmp_path / str(k)
        path.write_bytes(data)
        for gold in (False, True):
            sample = take_sample(path, gold=gold, references=gold)
            for name in list_plugins("readers"):
                ask = getattr(import_plugin("readers", name), "recognise", None)
                answer = ask(sample) if ask else None
                assert answer is None or 0 < answer.confidence <= 1


def study(folder: Path, **test_set):
    value = {"schema": 1, "study": "s", "test_sets": {"harbour": test_set}, "metrics": ["bleu"]}
    return study_from_value(value, base=folder).study


def test_a_study_gets_its_formats_and_the_names_of_its_test_sets_in_paths(tmp_path):
    (tmp_path / "harbour").mkdir()
    (tmp_path / "harbour" / "north.txt").write_text(TEXTS["text"])
    asked = study(
        tmp_path, format="auto", references=["{test_set}/ref.txt"], outputs="{test_set}/{system}.txt", documents="{test_set}.tsv"
    )
    found, told = recognise_formats(asked, tmp_path)
    spec = found.test_sets["harbour"]
    assert spec.format.name == "text"
    assert spec.format.options == {}
    assert (spec.references, spec.outputs, spec.documents) == (("harbour/ref.txt",), "harbour/{system}.txt", "harbour.tsv")
    assert told == {"harbour": "north.txt is read as text: lines of text, beside references"}


def test_a_named_format_is_left_alone_and_nothing_is_told(tmp_path):
    asked = study(tmp_path, format={"name": "conllu"}, gold="g.conllu", outputs="{system}.conllu")
    assert recognise_formats(asked, tmp_path) == (asked, {})


def test_auto_without_a_file_says_which_pattern_found_none(tmp_path):
    with pytest.raises(DataError) as caught:
        recognise_formats(study(tmp_path, format="auto", references=["r"], outputs="{system}.txt"), tmp_path)
    assert [problem.code for problem in caught.value.problems] == ["P207"]


@pytest.mark.parametrize(("data", "code"), [(b"", "P205"), ("fog\n".encode("utf-16"), "P204")])
def test_an_empty_file_and_another_encoding_are_told_as_such(data, code, tmp_path):
    (tmp_path / "x").write_bytes(data)
    with pytest.raises(DataError) as caught:
        recognise_file(tmp_path / "x", gold=True)
    assert [problem.code for problem in caught.value.problems] == [code]


def test_a_zip_of_a_version_that_cannot_be_read_is_no_reason_to_break(tmp_path):
    path = tmp_path / "log.eval"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("header.json", "{}")
    assert take_sample(path).members == ("header.json",)
    data = bytearray(path.read_bytes())
    data[data.rfind(b"PK\x01\x02") + 6] = 99
    path.write_bytes(data)
    assert take_sample(path).members == ()
