"""Transcripts are read as sclite reads them: names behind, alternatives, words that may be left out."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest
from support.listening import listen

from pipeline.errors import DataError
from pipeline.items.align import survey_test_set
from pipeline.items.outputs import load_output
from pipeline.items.readers import load_reader
from pipeline.items.readers._transcripts import read_marks
from pipeline.items.readers.trn import TrnReader
from pipeline.items.recognise import recognise_file, take_sample
from pipeline.metrics import load_metric
from pipeline.study.schema import Systems
from pipeline.study.sets import TestSet

GOLD = """;; a comment
so you saw { um / uh / @ } it (ann_001)

well (uh) nobody  came (ann_002)
  { going to / gonna } go (ben-7)\t
(ben-8)
"""
OUTPUT = "so you saw it (ann_001)\nuh nobody came (ann_002)\n(ben-8)\ngonna @ go (ben-7)\n"

# What sclite 2.4.10 counts with -s -D: words that are right, substituted, deleted, inserted.
SCLITE = (
    ("{ ash / birch elm / @ } (cedar) oak", "oak", (2, 0, 0, 0)),
    ("{ ash / birch elm / @ } (cedar) oak", "birch oak", (1, 1, 0, 0)),
    ("fir (yew) pine", "fir oak pine", (2, 1, 0, 0)),
    ("(yew)", "", (1, 0, 0, 0)),
    ("{ oak / { pine / fir yew } } larch", "fir larch", (2, 0, 1, 0)),
    ("elm @ oak", "elm oak oak", (2, 0, 0, 1)),
    ("hazel", "", (0, 0, 1, 0)),
    ("Ash", "ash", (0, 1, 0, 0)),
    ("a {b/c} d", "a c d", (3, 0, 0, 0)),
)


def write(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def gold_of(folder: Path, text: str, columns: dict[str, str] | None = None, **options):
    reader = load_reader({"name": "trn", **options})
    return reader.read_gold([write(folder, "gold.trn", text)], {"columns": columns or {}})


def output_of(folder: Path, text: str, **options):
    path = write(folder, "north.trn", text)
    return load_reader({"name": "trn", **options}).read_outputs(path, system="north", options={})["north"]


def problems_of(run) -> list[tuple[str, str]]:
    with pytest.raises(DataError) as caught:
        run()
    return [(problem.code, str(problem.where).rpartition("/")[2]) for problem in caught.value.problems]


def test_the_gold_has_what_may_be_said_place_by_place(tmp_path):
    gold = gold_of(tmp_path, GOLD)
    assert gold.ids == ("ann_001", "ann_002", "ben-7", "ben-8")
    assert (gold.lines, gold.numbered) == ((2, 4, 5, 6), False)
    assert dict(gold.columns) == {
        "reference.0": ("so you saw um it", "well uh nobody came", "going to go", ""),
        "reference.alternatives": (
            ((("so",),), (("you",),), (("saw",),), (("um",), ("uh",), ()), (("it",),)),
            ((("well",),), (("uh",), ("",)), (("nobody",),), (("came",),)),
            ((("going", "to"), ("gonna",)), (("go",),)),
            (),
        ),
        "speaker": ("ann", "ann", "ben", "ben"),
    }


def test_outputs_have_the_words_that_were_recognised_and_empty_ones_are_there(tmp_path):
    output = output_of(tmp_path, OUTPUT)
    assert output.ids == ("ann_001", "ann_002", "ben-8", "ben-7")
    assert dict(output.columns) == {"text": ("so you saw it", "uh nobody came", "", "gonna go")}
    assert output.lines == (1, 2, 3, 4)


def test_error_rates_go_by_names_and_by_the_nearest_alternative(tmp_path):
    write(tmp_path, "gold.trn", GOLD)
    (tmp_path / "systems").mkdir()
    write(tmp_path, "systems/north.trn", OUTPUT)
    write(tmp_path, "systems/south.trn", OUTPUT.replace("uh ", "").replace("gonna @", "going"))
    spec = TestSet(format="trn", gold="gold.trn", outputs="systems/{system}.trn", columns={"speaker": "speaker"})
    survey = survey_test_set("calls", spec, base=tmp_path, systems=Systems(), unit="speaker")
    assert survey.frame.units == ("ann", "ben")
    assert survey.frame.unit_of_item == (0, 0, 1, 1)
    wer = load_metric("wer")
    prepared = wer.prepare(survey.gold)
    found = [
        wer.extract(prepared, load_output(spec, output, frame=survey.frame, base=tmp_path)).values for output in survey.outputs
    ]
    assert found[0].tolist() == [[0, 4], [1, 4], [0, 2], [0, 0]]
    assert found[1].tolist() == [[0, 4], [1, 4], [1, 3], [0, 0]]


def test_utterances_have_the_edits_and_words_of_sclite(tmp_path):
    references, said, told = zip(*SCLITE, strict=True)
    gold, output = ("".join(f"{text} (s_{k})\n" for k, text in enumerate(texts)) for texts in (references, said))
    wer = load_metric("wer", {"alignment": "sclite"})
    found = wer.extract(wer.prepare(gold_of(tmp_path, gold)), output_of(tmp_path, output)).values
    assert found.tolist() == [[sum(counts[1:]), sum(counts[:3])] for counts in told]


def test_parentheses_are_letters_where_nothing_may_be_left_out(tmp_path):
    gold = gold_of(tmp_path, "well (uh) yes (a_1)\n", optional=False)
    assert {name: values for name, values in gold.columns.items() if name != "speaker"} == {"reference.0": ("well (uh) yes",)}
    assert output_of(tmp_path, "well (uh) yes (a_1)\n").columns["text"] == ("well (uh) yes",)


@pytest.mark.parametrize(
    ("speaker", "speakers"),
    [("-_", ("sw2", "ann", "x")), ("_", ("sw2-a", "ann", "x")), (2, ("sw", "an", "x")), ("-", ("sw2", "ann_1", "x"))],
)
def test_the_speaker_is_what_the_option_says(tmp_path, speaker, speakers):
    assert gold_of(tmp_path, "a (sw2-a_1)\nb (ann_1)\nc (x)\n", speaker=speaker).columns["speaker"] == speakers


def test_speakers_may_be_documents_or_any_group_and_names_without_one_are_told_where_it_matters(tmp_path):
    reader = listen(load_reader("trn"))
    path = write(tmp_path, "gold.trn", "a (x_1)\nb (y)\n")
    read = reader.read_gold([path], {"columns": {"document": "speaker", "caller": "speaker"}})
    assert read.columns["document"] == read.columns["caller"] == ("x", "y")
    assert len(reader.warnings) == 1
    assert "1 utterances, the first is 'y', name no speaker" in reader.warnings[0]
    quiet = listen(load_reader("trn"))
    quiet.read_gold([path], {})
    assert quiet.warnings == []


def test_kaldis_text_has_names_before_and_no_marks(tmp_path):
    text = "ann_1 so { it / is }\nann_2\nben_1  the\u2028end (x)\n"
    gold = gold_of(tmp_path, text, layout="kaldi")
    assert gold.ids == ("ann_1", "ann_2", "ben_1")
    assert dict(gold.columns) == {"reference.0": ("so { it / is }", "", "the\u2028end (x)"), "speaker": ("ann", "ann", "ben")}
    assert output_of(tmp_path, text, layout="kaldi").columns["text"] == gold.columns["reference.0"]


def test_a_line_separator_is_part_of_an_utterance(tmp_path):
    assert gold_of(tmp_path, "a\u2028b (s_1)\nc (s_2)\n").columns["reference.0"] == ("a\u2028b", "c")


def test_several_gold_files_are_one_and_share_no_utterance(tmp_path):
    one, two = write(tmp_path, "1.trn", "a (s_1)\n"), write(tmp_path, "2.trn", "{ b / c } (s_2)\n")
    gold = load_reader("trn").read_gold([one, two], {})
    assert (gold.ids, gold.numbered) == (("s_1", "s_2"), False)
    assert gold.columns["reference.alternatives"] == ((), ((("b",), ("c",)),))
    again = write(tmp_path, "3.trn", "a (s_2)\n\na (s_1)\n")
    found = problems_of(lambda: load_reader("trn").read_gold([one, two, again], {}))
    assert found == [("P209", "3.trn:1"), ("P209", "3.trn:3")]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("so you saw it", "does not end in the name"),
        ("so you (saw it)", "does not end in the name"),
        ("so () ", "does not end in the name"),
        ("{ a / b (s_1)", "opened and not closed"),
        ("a } (s_1)", "closed that none opens"),
        ("{ a / / b } (s_1)", "an alternative is empty"),
        ("{ } (s_1)", "an alternative is empty"),
        ("{ a / (b) } (s_1)", "(b) may be left out of an alternative"),
        ("{ " * 2000 + "a" + " / b }" * 2000 + " (s_1)", "nested more than 50 deep"),
        ("{ " + "{ a / b } " * 40 + " / c } (s_1)", "more than 1000 ways"),
    ],
)
def test_lines_that_are_no_transcript_are_refused_with_file_and_line(tmp_path, line, words):
    text = f"fine (s_0)\n{line}\n"
    assert problems_of(lambda: gold_of(tmp_path, text)) == [("P264", "gold.trn:2")]
    with pytest.raises(DataError, match=words.replace("(", r"\(").replace(")", r"\)")):
        gold_of(tmp_path, text)


def test_all_bad_lines_are_told_together_and_every_one_has_a_way_out(tmp_path):
    with pytest.raises(DataError) as caught:
        gold_of(tmp_path, "one\ntwo (s_2)\nthree\n")
    assert [problem.where.rpartition(":")[2] for problem in caught.value.problems] == ["1", "3"]
    assert "layout: kaldi" in caught.value.problems[0].help


def test_outputs_say_one_thing_and_each_utterance_once(tmp_path):
    assert problems_of(lambda: output_of(tmp_path, "a (s_1)\n{ a / b } (s_2)\n")) == [("P264", "north.trn:2")]
    assert problems_of(lambda: output_of(tmp_path, "a (s_1)\nb (s_1)\n")) == [("P209", "north.trn:2")]
    assert problems_of(lambda: output_of(tmp_path, ";; nothing\n\n")) == [("P264", "north.trn")]
    assert problems_of(lambda: output_of(tmp_path, "")) == [("P205", "north.trn")]


def test_a_file_of_no_system_is_refused(tmp_path):
    path = write(tmp_path, "x.trn", "a (s_1)\n")
    assert problems_of(lambda: load_reader("trn").read_outputs(path, system=None, options={})) == [("P219", "x.trn")]


def test_compressed_files_carriage_returns_and_byte_order_marks_are_read(tmp_path):
    path = tmp_path / "gold.trn.gz"
    path.write_bytes(gzip.compress(b"\xef\xbb\xbfso it was (s_1)\r\n(s_2)\r\n"))
    reader = listen(load_reader("trn"))
    assert reader.read_gold([path], {}).columns["reference.0"] == ("so it was", "")
    assert len(reader.warnings) == 1


def test_transcripts_are_recognised_and_kaldis_too(tmp_path):
    found, why = recognise_file(write(tmp_path, "north", OUTPUT), gold=True)
    assert (found.name, dict(found.options)) == ("trn", {})
    assert "as (ann_001)" in why
    found, why = recognise_file(write(tmp_path, "south", "ann_1 so it was\nann_2\nben_1 the end\n"), gold=True)
    assert (found.name, dict(found.options)) == ("trn", {"layout": "kaldi"})
    assert "as ann_1" in why


@pytest.mark.parametrize("text", ["so (x)\nit was\n", "so (s_1)\nso (s_1)\n", "(TOP (NN fog))\n", "b_1 x\na_1 x\n", "so it\nwas\n"])
def test_what_is_no_transcript_is_not_taken_for_one(tmp_path, text):
    found = TrnReader.recognise(take_sample(write(tmp_path, "x", text), gold=True))
    assert found is None


@pytest.mark.parametrize("layout", ["trn", "kaldi"])
def test_what_is_written_is_read_back(tmp_path, layout):
    reader = load_reader({"name": "trn", "layout": layout})
    texts, ids = ("", "so  it (was)", "a\u2028b", "x / y"), ("s_1", "1", "b-2", "é")
    reader.write(tmp_path / "x", {"text": texts}, ids)
    read = reader.read_outputs(tmp_path / "x", system="s", options={})["s"]
    assert (read.ids, read.columns["text"]) == (ids, texts)
    reader.write(tmp_path / "blank", {}, ids)
    assert reader.read_outputs(tmp_path / "blank", system="s", options={})["s"].columns["text"] == ("",) * 4


@pytest.mark.parametrize(
    ("name", "text"), [("a b", "x"), ("(a)", "x"), ("s_1", "{ a"), ("s_1", ";; x"), ("s_1", "a @ b"), ("s_1", "a\nb")]
)
def test_what_would_be_read_as_something_else_is_not_written(tmp_path, name, text):
    with pytest.raises(ValueError):
        load_reader("trn").write(tmp_path / "x", {"text": (text,)}, (name,))


@pytest.mark.parametrize("options", [{"layout": "ctm"}, {"speaker": ""}, {"speaker": 0}, {"speaker": True}, {"optional": "yes"}])
def test_options_that_are_none_are_refused(options):
    with pytest.raises(Exception, match="option '"):
        load_reader({"name": "trn", **options})


def test_a_brace_of_one_way_is_that_way():
    assert read_marks("a { b c } d", optional=True) == ("a b c d", ())
    assert read_marks("{ @ }", optional=True) == ("", ())


def test_a_thousand_utterances_are_read_and_scored_at_once(tmp_path):
    draw = np.random.default_rng(2)
    words = [" ".join(draw.choice(["ash", "oak", "yew", "elm", "fir"], size=25)) for _ in range(2000)]
    text = "".join(f"{line} (s{k % 9}_{k})\n" for k, line in enumerate(words))
    gold, output = gold_of(tmp_path, text), output_of(tmp_path, text)
    assert len(gold) == len(output) == 2000
    wer = load_metric("wer")
    assert wer.extract(wer.prepare(gold), output).values.sum(axis=0).tolist() == [0, 50000]
