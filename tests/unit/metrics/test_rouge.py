"""ROUGE is that of the package rouge-score, item by item, and its mean is a ratio of exact sums."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path

import numpy as np
import pytest
from rouge_score.rouge_scorer import RougeScorer
from support.text_items import BETTER, GOLD, WORSE, items

from pipeline.errors import DataError
from pipeline.metrics import load_metric
from pipeline.testing import MetricContract, MetricExample

KINDS = {"rouge-1": "rouge1", "rouge-2": "rouge2", "rouge-l": "rougeL", "rouge-lsum": "rougeLsum"}
FIELDS = {"f": "fmeasure", "precision": "precision", "recall": "recall"}


def extract(name, gold, text, **options):
    metric = load_metric(name, options)
    return metric, metric.extract(metric.prepare(gold), items(text=text))


def score(name, gold, text, **options) -> float:
    metric, found = extract(name, gold, text, **options)
    return float(metric.scorer(found.decimals)(found.values.sum(axis=0)))


class _Rouge(MetricContract):
    spec: tuple[str, dict[str, object]]
    gold = items(reference_0=GOLD, reference_1=GOLD[::-1])

    def example(self) -> MetricExample:
        name, options = self.spec
        return MetricExample(load_metric(name, options), self.gold, items(text=BETTER), items(text=WORSE))


class TestRouge1(_Rouge):
    spec = ("rouge-1", {})


class TestRouge2(_Rouge):
    spec = ("rouge-2", {"stemmer": True})


class TestRougeL(_Rouge):
    spec = ("rouge-l", {"measure": "recall"})


class TestRougeLsum(_Rouge):
    spec = ("rouge-lsum", {"separator": ","})


def test_scores_are_those_that_can_be_counted_by_hand():
    gold = items(reference_0=("the red boat sails home", "fog"))
    texts = ("the boat sails red home tonight", "rain")
    for name, measure, of_first in (
        ("rouge-1", "precision", 5 / 6),
        ("rouge-1", "recall", 1.0),
        ("rouge-1", "f", 10 / 11),
        ("rouge-2", "f", 2 * 1 / (5 + 4)),
        ("rouge-l", "precision", 4 / 6),
        ("rouge-l", "recall", 4 / 5),
    ):
        metric, found = extract(name, gold, texts, measure=measure)
        assert found.values.tolist() == [[round(of_first * 10**9), 1], [0, 1]], (name, measure)
        assert found.decimals == (9, 0)
        assert 0.0 <= found.rounding_error <= 0.5e-9
        value = metric.scorer(found.decimals)(found.values.sum(axis=0))
        assert value == pytest.approx(50 * of_first, abs=1e-7)


def test_equal_scores_by_way_of_other_counts_are_a_tie():
    gold = items(reference_0=("a b c", "a b c d e f"))
    found = extract("rouge-1", gold, ("a b x", "a b c d x y"))[1].values
    assert found.tolist() == [[666666667, 1], [666666667, 1]]


TEXTS = (
    "the cats were running on the mats.\nThey sat down.",
    "The cat ran on a mat. They sat there.\nIt rained",
    "a",
    "",
    "  ",
    "\n",
    "Ärger – naïve café",
    "a b a b a b",
    "b a b a",
    "a\u2028b c",
)


@pytest.mark.parametrize("stemmer", [False, True])
@pytest.mark.parametrize("name", sorted(KINDS))
def test_pairs_of_texts_score_as_the_package_scores_them(name, stemmer):
    theirs = RougeScorer([KINDS[name]], use_stemmer=stemmer)
    for measure, field in FIELDS.items():
        metric = load_metric(name, {"stemmer": stemmer, "measure": measure})
        for reference in TEXTS:
            other = TEXTS[0]
            for row in ((reference,), (reference, other)):
                gold = items(**{f"reference_{k}": (text,) * len(TEXTS) for k, text in enumerate(row)})
                prepared = metric.prepare(gold)
                wanted = [getattr(theirs.score_multi(list(row), text)[KINDS[name]], field) for text in TEXTS]
                if len(row) == 2 and not reference.strip():  # a blank line beside another is a reference that is not there
                    wanted = [getattr(theirs.score(other, text)[KINDS[name]], field) for text in TEXTS]
                found = metric.extract(prepared, items(text=TEXTS)).values[:, 0]
                np.testing.assert_array_equal(found, np.rint(np.array(wanted) * 1e9), str((name, measure, row)))


def test_the_reference_of_the_highest_f_counts_for_precision_too():
    gold = items(reference_0=("a b c d e f g h",), reference_1=("a b x",))
    theirs = RougeScorer(["rouge1"]).score_multi(["a b c d e f g h", "a b x"], "a b c")["rouge1"]
    assert theirs.precision == 2 / 3  # the other reference has 3 of 3
    assert extract("rouge-1", gold, ("a b c",), measure="precision")[1].values[0, 0] == 666666667


def test_sentences_of_one_line_are_parted_by_the_separator():
    gold, text = "a b c <q> d e f", "d e f <q> a b c"
    by_line = RougeScorer(["rougeLsum"]).score(gold.replace("<q>", "\n"), text.replace("<q>", "\n"))["rougeLsum"].fmeasure
    assert by_line == 1.0
    assert score("rouge-lsum", items(reference_0=(gold,)), (text,), separator="<q>") == 100.0
    assert score("rouge-lsum", items(reference_0=(gold.replace(" <q>", ""),)), (text.replace(" <q>", ""),)) == 50.0


def test_an_empty_output_scores_nothing_and_counts():
    assert score("rouge-1", items(reference_0=("a b", "c d")), ("a b", "")) == 50.0


def test_references_without_a_word_of_rouge_are_refused():
    with pytest.raises(DataError, match="letters a to z") as caught:
        load_metric("rouge-1").prepare(items(reference_0=("猫が座った", "犬")))
    assert [problem.code for problem in caught.value.problems] == ["P225"]
    assert str(caught.value.problems[0].help).endswith("take a metric of characters, or one whose tokenizer knows the language")
    for known in (load_metric("chrf"), load_metric("bleu", {"tokenize": "zh"})):
        assert known.prepare(items(reference_0=("猫が座った", "犬"))) is not None
    assert load_metric("rouge-1").prepare(items(reference_0=("猫", "a cat"))) is not None
    assert load_metric("rouge-1").prepare(items(reference_0=("", ""))) is not None


def test_the_signature_has_what_moves_the_score():
    assert re.fullmatch(
        r"rouge-2\|measure:recall\|stemmer:porter-nltk:[\d.]+\|rouge-score:[\d.]+",
        signature("rouge-2", measure="recall", stemmer=True),
    )
    assert re.fullmatch(
        r"rouge-lsum\|measure:f\|stemmer:no\|sentences:'<q>'\|rouge-score:[\d.]+", signature("rouge-lsum", separator="<q>")
    )


def signature(name, **options) -> str:
    return load_metric(name, options).signature


def test_options_that_are_none_are_refused():
    for name, options in (
        ("rouge-1", {"measure": "F"}),
        ("rouge-l", {"stemmer": "porter"}),
        ("rouge-lsum", {"separator": ""}),
        ("rouge-1", {"separator": "x"}),
    ):
        with pytest.raises(Exception, match=r"P15[01]"):
            load_metric(name, options)


@pytest.mark.data
def test_every_system_of_realsumm_has_the_mean_of_the_independent_file(data_dir):
    folder = data_dir / "realsumm"
    expected = json.loads((folder / "expected.json").read_text())["rouge_score_package_mean_f (stemmer, tags stripped)"]
    documents = [
        json.loads(line) for line in gzip.decompress((folder / "documents.jsonl.gz").read_bytes()).decode().split("\n")[:-1]
    ]
    gold = items(reference_0=[strip(document["reference"]) for document in documents])
    assert len(expected) == 25
    for name, kind in KINDS.items():
        if name == "rouge-lsum":
            continue
        metric = load_metric(name, {"stemmer": True})
        prepared = metric.prepare(gold)
        for system in sorted(expected)[:: 1 if name != "rouge-l" else 5]:
            texts = [strip(document["systems"][system]["summary"]) for document in documents]
            found = metric.extract(prepared, items(text=texts))
            assert found.values[:, 1].sum() == 100
            ours = metric.scorer(found.decimals)(found.values.sum(axis=0)) / 100
            assert ours == pytest.approx(expected[system][kind], abs=6e-7), (system, name)


@pytest.mark.data
@pytest.mark.slow
def test_summaries_by_sentences_score_as_the_package_scores_them(data_dir):
    folder = data_dir / "realsumm"
    documents = [
        json.loads(line) for line in gzip.decompress((folder / "documents.jsonl.gz").read_bytes()).decode().split("\n")[:-1]
    ]
    theirs = RougeScorer(["rougeLsum"], use_stemmer=True)
    for system in ("abs.bart", "ext.refresh"):
        pairs = [(document["reference"], document["systems"][system]["summary"]) for document in documents]
        marked = [
            [re.sub(r"\s*</t>\s*<t>\s*", " ## ", text).replace("<t>", "").replace("</t>", "") for text in pair] for pair in pairs
        ]
        wanted = [theirs.score(*(text.replace("##", "\n") for text in pair))["rougeLsum"].fmeasure for pair in marked]
        references, texts = zip(*marked, strict=True)
        found = extract("rouge-lsum", items(reference_0=references), texts, stemmer=True, separator="##")[1]
        np.testing.assert_array_equal(found.values[:, 0], np.rint(np.array(wanted) * 1e9))


def strip(text: str) -> str:
    return re.sub(r"</?t>", " ", text)


@pytest.mark.data
def test_translations_score_as_the_package_scores_them(data_dir):
    folder = data_dir / "wmt21-de-en"

    def read(path: Path) -> tuple[str, ...]:
        return tuple(gzip.decompress(path.read_bytes()).decode().split("\n")[:-1])[:200]

    references = [read(folder / f"ref.{name}.en.txt.gz") for name in "AB"]
    texts = read(folder / "systems" / "UF.txt.gz")
    theirs = RougeScorer(list(KINDS.values()), use_stemmer=True)
    wanted = [theirs.score_multi(list(row), text) for row, text in zip(zip(*references, strict=True), texts, strict=True)]
    for name, kind in KINDS.items():
        found = extract(name, items(reference_0=references[0], reference_1=references[1]), texts, stemmer=True)[1]
        np.testing.assert_array_equal(found.values[:, 0], np.rint(np.array([one[kind].fmeasure for one in wanted]) * 1e9))
