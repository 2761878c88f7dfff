"""Scores are sacreBLEU's: on real data for every system, and in the corners."""

from __future__ import annotations

import gzip
import json
from functools import lru_cache
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF
from support.text_items import items, references

from pipeline.metrics import load_metric
from pipeline.metrics._columns import reference_columns
from pipeline.metrics.bleu import Bleu

TEXTS = (
    "the cat sat on the mat and looked at the dog .",
    "The cat sat on a mat and looked at a dog .",
    "cat sat",
    "dog barks loud",
    "a",
    "",
    "  ",
    "nothing alike whatsoever",
    "the the the the the",
)


@lru_cache(maxsize=64)
def read(path: Path) -> tuple[str, ...]:
    return tuple(gzip.decompress(path.read_bytes()).decode().split("\n")[:-1])


def theirs(metric, *texts) -> BLEU | CHRF:
    """Return sacreBLEU's own metric with the same options and these references."""
    if isinstance(metric, Bleu):
        named = {
            "smooth_method": metric.smooth,
            "smooth_value": metric.smooth_value or None,
            "effective_order": metric.effective_order,
        }
        there = reference_columns("bleu", references(*texts))  # None where a reference is blank beside another
        return BLEU(tokenize=metric.tokenize, lowercase=metric.lowercase, force=True, references=there, **named)
    return metric.prepare(references(*texts))


def score(metric, prepared, text) -> float:
    extracted = metric.extract(prepared, items(text=text))
    return float(metric.scorer(extracted.decimals)(extracted.values.sum(axis=0)))


ONE_IN_FOUR = 4
"""Systems whose real texts are scored by default: chrF takes a third of a second for each."""


@pytest.mark.data
@pytest.mark.parametrize(
    ("name", "reference", "step"),
    [
        ("bleu", "A", ONE_IN_FOUR),
        ("bleu", "B", ONE_IN_FOUR),
        ("chrf", "A", ONE_IN_FOUR),
        *(pytest.param(name, reference, 1, marks=pytest.mark.slow) for name in ("bleu", "chrf") for reference in "AB"),
    ],
)
def test_systems_of_wmt21_score_what_the_independent_file_says(data_dir, name, reference, step):
    folder = data_dir / "wmt21-de-en"
    expected = json.loads((folder / "expected.json").read_text())["scores"][reference]
    metric = load_metric(name)
    texts = read(folder / f"ref.{reference}.en.txt.gz")
    prepared, own = metric.prepare(references(texts)), theirs(metric, texts)
    assert len(expected) == 19
    for system, values in list(expected.items())[::step]:
        text = read(folder / "systems" / f"{system}.txt.gz")
        ours = score(metric, prepared, text)
        assert ours == pytest.approx(values[name], abs=6e-7), system
        if name == "bleu":  # chrF's own score takes as long as ours, and the file has six decimals of it
            assert ours == pytest.approx(own.corpus_score(list(text), None).score, rel=1e-13), system


@pytest.mark.data
def test_bleu_with_both_references_of_wmt21_is_sacrebleus(data_dir):
    folder = data_dir / "wmt21-de-en"
    expected = json.loads((folder / "expected.json").read_text())["multiref_bleu"]
    metric = load_metric("bleu")
    prepared = metric.prepare(references(*(read(folder / f"ref.{r}.en.txt.gz") for r in "AB")))
    assert len(expected) == 19
    for system, value in list(expected.items())[::ONE_IN_FOUR]:
        assert score(metric, prepared, read(folder / "systems" / f"{system}.txt.gz")) == pytest.approx(value, abs=6e-7)


@pytest.mark.data
def test_chrf_with_both_references_of_wmt21_is_sacrebleus(data_dir):
    folder = data_dir / "wmt21-de-en"
    metric = load_metric("chrf", {"word_order": 2})
    prepared = metric.prepare(references(*(read(folder / f"ref.{r}.en.txt.gz")[:300] for r in "AB")))
    for system in ("UF", "Facebook-AI", "happypoet"):
        text = read(folder / "systems" / f"{system}.txt.gz")[:300]
        assert score(metric, prepared, text) == prepared.corpus_score(list(text), None).score


@pytest.mark.data
@pytest.mark.parametrize(
    ("name", "reference", "step"),
    [
        ("bleu", "A", ONE_IN_FOUR),
        *(pytest.param(*asked, 1, marks=pytest.mark.slow) for asked in (("bleu", "A"), ("bleu", "B"), ("chrf", "A"))),
    ],
)
def test_systems_of_wmt24_score_what_the_independent_file_says(data_dir, name, reference, step):
    folder = data_dir / "wmt24-en-de"
    document = json.loads((folder / "expected.json").read_text())
    left_out = set(document["excluded_lines"])

    def scored(path: Path) -> tuple[str, ...]:
        return tuple(line for k, line in enumerate(read(path)) if k not in left_out)

    metric = load_metric(name)
    prepared = metric.prepare(references(scored(folder / f"ref.{reference}.de.txt.gz")))
    for system, values in list(document["scores"][reference].items())[::step]:
        assert score(metric, prepared, scored(folder / "systems" / f"{system}.txt.gz")) == pytest.approx(values[name], abs=6e-7), (
            system
        )


@pytest.mark.data
def test_every_output_of_multeval_scores_what_the_independent_file_says(data_dir):
    folder = data_dir / "multeval"
    document = json.loads((folder / "expected.json").read_text())
    metric = load_metric("bleu", {"tokenize": "none", "smooth": "none"})
    prepared = metric.prepare(references(read(folder / "example" / "refs.test2010.lc.tok.en.0.gz")))
    for name, values in document["example"].items():
        text = read(folder / "example" / f"{name}.gz")
        extracted = metric.extract(prepared, items(text=text))
        sums = extracted.values.sum(axis=0)
        assert sums.tolist() == [values["sys_len"], values["ref_len"], *values["counts"], *values["totals"]], name
        assert float(metric.scorer(extracted.decimals)(sums)) == pytest.approx(values["bleu"], abs=6e-7), name


@pytest.mark.data
@pytest.mark.parametrize("names", ["A", "AB"])
def test_ter_is_sacrebleus_with_one_reference_and_with_two(data_dir, names):
    folder = data_dir / "wmt21-de-en"
    metric = load_metric("ter")
    prepared = metric.prepare(references(*(read(folder / f"ref.{name}.en.txt.gz")[:100] for name in names)))
    for system in ("UF", "Borderline"):
        text = read(folder / "systems" / f"{system}.txt.gz")[:100]
        assert score(metric, prepared, text) == pytest.approx(prepared.corpus_score(list(text), None).score, rel=1e-14)


OPTIONS = [
    ("bleu", {}),
    ("bleu", {"effective_order": True}),
    ("bleu", {"smooth": "none"}),
    ("bleu", {"smooth": "none", "effective_order": True}),
    ("bleu", {"smooth": "floor"}),
    ("bleu", {"smooth": "floor", "smooth_value": 0.01, "effective_order": True}),
    ("bleu", {"smooth": "add-k"}),
    ("bleu", {"smooth": "add-k", "smooth_value": 2, "effective_order": True}),
    ("bleu", {"lowercase": True, "tokenize": "intl"}),
    ("chrf", {}),
    ("chrf", {"word_order": 2}),
    ("chrf", {"beta": 3, "char_order": 4, "lowercase": True, "whitespace": True}),
    ("chrf", {"eps_smoothing": True, "word_order": 1}),
]


@pytest.mark.parametrize(("name", "options"), OPTIONS, ids=str)
def test_corners_are_sacrebleus(name, options):
    """No match, no n-grams, empty outputs, empty references: every pair of nine texts, alone and followed by one good segment."""
    metric = load_metric(name, options)
    for output, reference in product(TEXTS, TEXTS):
        for more in ((), ("one good segment of a few words",)):
            texts = (reference, *more), (TEXTS[1], *more)
            prepared = metric.prepare(references(*texts))
            wanted = theirs(metric, *texts).corpus_score([output, *more], None).score
            assert score(metric, prepared, (output, *more)) == pytest.approx(wanted, rel=1e-12, abs=1e-300), (
                output,
                reference,
                more,
            )


@pytest.mark.parametrize(("name", "options"), OPTIONS, ids=str)
def test_any_sums_score_as_sacrebleu_scores_them(name, options):
    """Sums that no text has, zeros among them: resampling and plugins may hand in anything."""
    metric = load_metric(name, options)
    own = theirs(metric, ("a",))
    draw = np.random.default_rng(20120712)
    n_statistics = len(metric.statistics)
    sums = draw.integers(0, 4, size=(300, n_statistics)) * draw.integers(0, 2, size=(300, n_statistics))
    wanted = [own._compute_score_from_stats(row).score for row in sums.tolist()]
    np.testing.assert_allclose(metric.scorer((0,) * n_statistics)(sums.T), wanted, rtol=1e-12)


def test_ter_corners_are_sacrebleus_where_there_is_a_reference_word():
    metric = load_metric("ter")
    for output, reference in product(TEXTS, TEXTS):
        prepared = metric.prepare(references((reference,)))
        wanted = prepared.corpus_score([output], None).score
        ours = score(metric, prepared, (output,))
        if reference.strip():
            assert ours == wanted, (output, reference)
        else:
            assert np.isnan(ours)


def test_bleu_of_nothing_is_zero():
    assert load_metric("bleu").scorer((0,) * 10)(np.zeros(10)) == 0.0


def test_an_empty_output_has_a_brevity_penalty_of_zero():
    sums = np.array([0, 7, 1, 1, 1, 1, 1, 1, 1, 1])
    assert load_metric("bleu").scorer((0,) * 10)(sums) == 0.0
