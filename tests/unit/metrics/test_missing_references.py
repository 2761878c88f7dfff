"""References that are not there: BLEU, chrF and TER are sacreBLEU's where it is handed None."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF
from sacrebleu.metrics.ter import TER
from support.listening import listen
from support.text_items import items

from pipeline.errors import DataError, StudyError
from pipeline.items.readers import load_reader
from pipeline.metrics import load_metric

OUTPUT = ("the red boat left at dawn", "fog", "nobody saw it again that day", "a lamp", "")
REFERENCES = (
    ("a red boat left the bay at dawn", "the fog came in", "", "one lamp burned", "gone"),
    ("at dawn the red boat left", "", "no one saw it that day again", "  ", ""),
    ("", "", "nobody has seen it again", "a lamp burned all night", ""),
)
NONE = [[text if text.strip() else None for text in column] for column in REFERENCES]


GOLD = items(**{f"reference_{k}": column for k, column in enumerate(REFERENCES)})


@pytest.mark.parametrize(
    ("name", "theirs"), [("bleu", BLEU(force=True)), ("chrf", CHRF()), ("ter", TER())], ids=["bleu", "chrf", "ter"]
)
def test_a_blank_reference_beside_another_is_none(name: str, theirs: BLEU | CHRF | TER) -> None:
    metric = load_metric(name)
    extracted = metric.extract(metric.prepare(GOLD), items(text=OUTPUT))
    ours = float(metric.scorer(extracted.decimals)(extracted.values.sum(axis=0)))
    assert ours == pytest.approx(theirs.corpus_score(list(OUTPUT), NONE).score, rel=1e-14)
    with_empty = theirs.corpus_score(list(OUTPUT), [list(column) for column in REFERENCES]).score
    assert name == "chrf" or abs(with_empty - ours) > 0.1  # chrF takes the best reference, and an empty one never is


def test_statistics_of_ter_stay_whole_where_segments_have_one_two_and_three_references() -> None:
    metric = load_metric("ter")
    prepared = metric.prepare(items(reference_0=("a b c", "a", "a b"), reference_1=("a b", "", "c"), reference_2=("d", "", "")))
    extracted = metric.extract(prepared, items(text=("a b c", "b", "a b")))
    assert extracted.values.tolist() == [[0, 12], [6, 6], [0, 9]]  # six is what one, two and three divide
    score = float(metric.scorer((0, 0))(extracted.values.sum(axis=0)))
    assert score == pytest.approx(float(100 * Fraction(1, 1) / (Fraction(2) + 1 + Fraction(3, 2))), rel=1e-15)


def test_as_many_references_everywhere_are_counted_as_before() -> None:
    metric = load_metric("ter")
    extracted = metric.extract(
        metric.prepare(items(reference_0=("a b c", "a"), reference_1=("a b", "c d"))), items(text=("a b", "b"))
    )
    assert extracted.values.tolist() == [[0, 5], [2, 3]]


@pytest.mark.parametrize("name", ["bleu", "chrf", "ter"])
def test_a_segment_whose_references_are_all_blank_keeps_them(name: str) -> None:
    metric = load_metric(name)
    blank = items(reference_0=("", "a b c d"), reference_1=("", "a b c e"))
    single = items(reference_0=("", "a b c d"))
    output = items(text=("x", "a b c d"))
    twice, once = (metric.extract(metric.prepare(gold), output).values for gold in (blank, single))
    np.testing.assert_array_equal(twice[0], once[0] * (2 if name == "ter" else 1))


def test_a_single_reference_is_taken_as_it_is() -> None:
    metric = load_metric("bleu")
    values = metric.extract(metric.prepare(items(reference_0=("", "a b"))), items(text=("x", "a b"))).values
    assert values[:, 1].tolist() == [0, 2]


# --- from files


def test_references_between_tabs_are_as_many_as_the_widest_line_has(tmp_path: Path) -> None:
    path = tmp_path / "refs.tsv"
    path.write_text("one boat\ta boat\t\nfog\nthe bay\t\ta bay\n")
    reader = listen(load_reader({"name": "text", "split_references": True}))
    gold = reader.read_gold([path], {})
    assert gold is not None
    assert gold.columns == {
        "reference.0": ("one boat", "fog", "the bay"),
        "reference.1": ("a boat", "", ""),
        "reference.2": ("", "", "a bay"),
    }
    assert reader.warnings == [f"{path}: 3 of 3 segments have fewer references than 3: blank ones are left out"]


def test_tabs_are_text_where_the_study_does_not_say_so_and_told_where_every_line_has_one(tmp_path: Path) -> None:
    path = tmp_path / "refs.tsv"
    path.write_text("one boat\ta boat\nfog\tmist\n")
    reader = listen(load_reader("text"))
    gold = reader.read_gold([path], {})
    assert gold is not None
    assert gold.columns == {"reference.0": ("one boat\ta boat", "fog\tmist")}
    (told,) = reader.warnings
    assert "split_references: true" in told


def test_files_with_fewer_lines_are_refused_and_blank_lines_are_counted(tmp_path: Path) -> None:
    for name, text in (("a", "one\n\nthree\n"), ("b", "eins\nzwei\n\n"), ("short", "eins\nzwei\n")):
        (tmp_path / name).write_text(text)
    reader = listen(load_reader("text"))
    reader.read_gold([tmp_path / "a", tmp_path / "b"], {})
    assert reader.warnings == [f"{tmp_path / 'a'}: 2 of 3 segments have fewer references than 2: blank ones are left out"]
    with pytest.raises(DataError, match=r"3 in .*a, 2 in .*short") as caught:
        reader.read_gold([tmp_path / "a", tmp_path / "short"], {})
    assert (caught.value.problems[0].code, caught.value.problems[0].where) == ("P215", str(tmp_path / "short"))
    with pytest.raises(StudyError, match="true or false"):
        load_reader({"name": "text", "split_references": "yes"})
