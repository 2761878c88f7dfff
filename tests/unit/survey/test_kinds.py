"""Outputs that differ from the gold in kind: each difference is reported where a metric counts it, and nothing else is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from pipeline.interfaces import Items
from pipeline.items.frame import Frame, Survey, describe_kind
from pipeline.metrics import load_metric
from pipeline.plan.inputs import MetricInputs
from pipeline.study.load import study_from_value
from pipeline.survey.survey import survey_study
from pipeline.survey.warnings import warn_of_kinds

CASED = [f"The ship No. {k}, at dawn, left." for k in range(30)]
LOWER = [text.lower() for text in CASED]
BARE = [f"the ship {k} at dawn left" for k in range(30)]


def items(**columns: Sequence[Any]) -> Items:
    count = len(next(iter(columns.values())))
    named = {name.replace("_", "."): tuple(values) for name, values in columns.items()}
    return Items(tuple(map(str, range(count))), named, "x", tuple(range(1, count + 1)))


def told(gold: Mapping[str, Sequence[Any]], outputs: Mapping[str, Mapping[str, Sequence[Any]]], *metrics: Any) -> tuple[str, ...]:
    asked = []
    for metric in metrics:
        name, options = (metric, {}) if isinstance(metric, str) else (metric.pop("name"), metric)
        loaded = load_metric(name, options)
        asked.append(MetricInputs(name, options, loaded.signature, loaded.higher_is_better))
    kinds = {system: describe_kind(items(**columns)) for system, columns in outputs.items()}
    survey = Survey(Frame("t", (), (), ()), (), "", "x", kinds=kinds, gold_kind=describe_kind(items(**gold)))
    return warn_of_kinds(asked, survey)


def texts(reference: Sequence[str], output: Sequence[str], *metrics: Any) -> tuple[str, ...]:
    return told({"reference_0": reference}, {"north": {"text": output}}, *metrics)


def labels(gold: Sequence[str], output: Sequence[str], metric: Any = "accuracy") -> tuple[str, ...]:
    return told({"label": gold}, {"north": {"label": output}}, metric)


def test_a_reference_with_capitals_and_an_output_without_are_reported_where_case_counts() -> None:
    (line,) = texts(CASED, LOWER, "bleu", "ter", "chrf")
    assert line.startswith("the references have upper-case letters, and outputs of north none: BLEU, chrF count that as errors; ")
    assert texts(CASED, LOWER, "ter", "meteor", "nist", "rouge-l", {"name": "bleu", "lowercase": True}) == ()
    assert texts(CASED, CASED, "bleu", "wer") == texts(LOWER, LOWER, "bleu", "wer") == ()


def test_an_output_with_capitals_and_punctuation_is_reported_against_transcripts_that_have_none() -> None:
    capitals, points = texts(BARE, CASED, "wer")
    assert capitals.startswith("outputs of north have upper-case letters, and the references none: WER counts that as errors; ")
    assert points.startswith("outputs of north have punctuation, and the references none: WER counts that as errors; ")
    assert texts(BARE, CASED, {"name": "wer", "lowercase": True, "punctuation": False}) == ()
    assert texts([text.upper() for text in BARE], BARE, "cer")[0].startswith("the references have upper-case letters, and outputs")


def test_an_output_that_is_tokenised_is_reported_against_references_that_are_not() -> None:
    tokenised = [text.replace(",", " ,").replace("left.", "left .") for text in CASED]
    (line,) = texts(CASED, tokenised, "bleu")
    assert line.startswith("outputs of north have spaces before commas and full stops, and the references none: BLEU counts")
    assert texts(CASED, tokenised, "chrf") == ()
    assert texts(tokenised, tokenised, "bleu") == ()


def test_a_few_texts_or_a_few_sentences_that_differ_are_no_difference_in_kind() -> None:
    assert texts(CASED[:19], LOWER[:19], "bleu") == ()
    assert texts(CASED, [*LOWER[:-1], CASED[-1]], "bleu") == ()  # 1 of 30 is above 2 %


@pytest.mark.parametrize("wrong", [" A", "a", "A.", "(A)", '"A"'])
def test_labels_that_differ_in_spelling_alone_are_reported_with_both_spellings(wrong: str) -> None:
    (line,) = labels("ABBA" * 5, [wrong, "B", "B", "A"] * 5)
    assert line == (
        f"labels of north differ from those of the gold in spelling alone, as {wrong!r} from 'A': accuracy counts them as wrong; "
        "write both alike"
    )


def test_labels_of_another_set_are_reported_with_both_sets() -> None:
    (line,) = labels("0110" * 5, ["False", "True", "True", "True"] * 5, {"name": "f1"})
    assert line == (
        "most labels of north never occur in the gold: 'True', 'False', where the gold has '0', '1'; "
        "F1 compares two ways of labelling, not systems"
    )


def test_answers_that_could_not_be_read_and_open_sets_of_labels_are_no_difference_in_kind() -> None:
    assert labels("ABCD" * 10, ["A", "?", "?", "D"] * 10) == ()
    assert labels([str(k) for k in range(40)], [str(k + 100) for k in range(40)]) == ()  # numbers as answers: any may be wrong
    assert labels(["a", "A"] * 10, ["a", "A"] * 10) == ()
    assert labels(["A"] * 200, ["A"] * 199 + ["a"]) == ()  # a slip


def test_systems_that_differ_alike_are_named_together() -> None:
    outputs = {name: {"label": ["a", "b"] * 10} for name in ("east", "north", "south", "west", "zenith")}
    (line,) = told({"label": ["A", "B"] * 10}, outputs, "accuracy")
    assert line.startswith("labels of east, north, south and 2 more differ ")


def test_tokens_phrases_and_chunks_are_compared_by_what_their_metric_counts() -> None:
    gold = {"tag": [("NN", "VB")] * 5, "chunk": [("B-NP", "I-NP")] * 5, "tree": ["(S (NP (NN a)) (VP (VB b)))"] * 5}
    other = {"tag": [("NOUN", "VERB")] * 5, "chunk": [("B-np", "O")] * 5, "tree": ["(s (np (NN a)) (vp (VB b)))"] * 5}
    tags, chunks, trees = told(gold, {"north": other}, "tag-accuracy", "chunk-f1", "chunk-recall", "bracket-f1")
    assert "most tags of north never occur in the gold: 'NOUN', 'VERB'" in tags
    assert (
        "types of chunks of north differ from those of the gold in spelling alone, as 'np' from 'NP': chunk F1, chunk rec" in chunks
    )
    assert trees.startswith("labels of phrases of north differ")
    assert told(gold, {"north": {**gold, "tag": other["tag"]}}, "chunk-f1", "bracket-f1") == ()


@pytest.mark.parametrize(("ours", "theirs"), [("nsubj:pass", "nsubj"), ("nsubj", "nsubj:pass")])
def test_subtypes_on_one_side_alone_are_reported_where_las_counts_them(ours: str, theirs: str) -> None:
    gold, output = ({"relation": [(relation, "root", "obj", "obj")] * 5} for relation in (ours, theirs))
    (line,) = told(gold, {"north": output}, {"name": "las", "subtypes": True})
    assert "subtypes of relations, and outputs of north have" in line
    assert "('nsubj:pass'): LAS with `subtypes: true` compares two ways of annotating" in line
    assert told(gold, {"north": output}, "las", "uas") == ()
    assert told(gold, {"north": gold}, {"name": "las", "subtypes": True}) == ()


def test_links_that_count_words_from_another_number_are_reported() -> None:
    zero, one = [((0, 0), (1, 1))] * 25, [((1, 1), (2, 2))] * 25
    (line,) = told({"sure": zero, "possible": zero}, {"north": {"link": one}, "south": {"link": zero}}, "aer")
    assert line.startswith("no link of outputs of north has a word 0, and links of the gold have: ")
    (line,) = told({"sure": one, "possible": one}, {"north": {"link": zero}}, "aer")
    assert line.startswith("no link of the gold has a word 0, and links of outputs of north have: ")
    assert told({"sure": one, "possible": one}, {"north": {"link": one}}, "aer") == ()
    assert told({"sure": zero, "possible": zero}, {"north": {"link": one[:9] + [()] * 16}}, "aer") == ()  # too few to tell


def test_a_survey_carries_what_differs_in_kind_into_the_inputs_of_a_run(tmp_path: Path) -> None:
    (tmp_path / "gold.txt").write_text("0\n1\n" * 10)
    (tmp_path / "north.txt").write_text("True\nTrue\n" * 10)
    (tmp_path / "south.txt").write_text("0\n0\n" * 10)
    test_set = {"format": "labels", "gold": "gold.txt", "outputs": {name: f"{name}.txt" for name in ("north", "south")}}
    value = {"schema": 1, "study": "s", "test_sets": {"t": test_set}, "metrics": ["accuracy"]}
    inputs = survey_study(study_from_value(value, base=tmp_path).study, tmp_path).inputs
    assert [warning[:46] for warning in inputs.test_sets[0].warnings] == ["most labels of north never occur in the gold: "]


def test_a_label_that_an_item_lacks_is_no_label() -> None:
    assert labels("AB" * 10, ["A", ""] * 10) == ()
    assert describe_kind(items(label=("", "A"))).labels["label"].total() == 1


@pytest.mark.parametrize(
    ("text", "spaced"),
    [("a b .", 1), ("a , b", 1), ("a ,\n", 1), ("a. b, c", 0), (" . a", 0), ("a .5", 0), ("a ,b .c , d", 1), ("a", 0)],
)
def test_a_text_has_spaces_before_commas_where_one_stands_alone_behind_a_word(text: str, spaced: int) -> None:
    assert describe_kind(items(text=(text,))).traits["spaces before commas and full stops"] == spaced
