"""Metrics are found by name, and a wrong name or option says what is there."""

from __future__ import annotations

import pytest

from pipeline.errors import PluginError, StudyError
from pipeline.metrics import load_metric
from pipeline.plugins import list_plugins


def test_all_metrics_of_the_package_are_found():
    assert {"accuracy", "bleu", "chrf", "mean", "ratio", "ter"} <= set(list_plugins("metrics"))


def test_an_unknown_metric_says_what_was_meant():
    with pytest.raises(PluginError) as caught:
        load_metric("blue")
    (problem,) = caught.value.problems
    assert problem.code == "P301"
    assert "did you mean 'bleu'?" in problem.help


def test_all_unknown_options_are_told_at_once():
    with pytest.raises(StudyError) as caught:
        load_metric("bleu", {"tokenise": "13a", "smoth": "exp"})
    assert [problem.code for problem in caught.value.problems] == ["P150", "P150"]
    assert "did you mean 'tokenize'?" in caught.value.problems[0].help


def test_an_option_that_is_needed_is_asked_for():
    with pytest.raises(StudyError, match="needs the option 'denominator'"):
        load_metric("ratio", {"numerator": "errors"})


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("bleu", {"tokenize": "14a"}),
        ("bleu", {"smooth": "laplace"}),
        ("bleu", {"smooth_value": 2.0}),
        ("bleu", {"lowercase": "yes"}),
        ("chrf", {"char_order": 0}),
        ("chrf", {"beta": -1}),
        ("chrf", {"word_order": True}),
        ("ter", {"normalized": 1}),
        ("mean", {"column": 3}),
        ("ratio", {"numerator": "a", "denominator": "b", "factor": float("inf")}),
    ],
    ids=str,
)
def test_a_value_that_makes_no_sense_is_refused(name, options):
    with pytest.raises(StudyError) as caught:
        load_metric(name, options)
    assert caught.value.problems[0].code == "P151"


def test_a_metric_goes_by_another_name_with_its_own_options():
    column = load_metric("rouge of the tool", {"metric": "mean", "column": "rouge_1", "higher_is_better": True})
    assert column.signature == load_metric("mean", {"column": "rouge_1"}).signature
    with pytest.raises(StudyError, match="no option 'colum'"):
        load_metric("rouge", {"metric": "mean", "colum": "x"})


@pytest.mark.parametrize("kind", [3, "exact:Exact", None])
def test_what_goes_by_a_name_is_an_installed_metric(kind):
    with pytest.raises(StudyError, match="P151"):
        load_metric("mine", {"metric": kind})


def test_signatures_pin_what_changes_a_score():
    import sacrebleu

    assert load_metric("bleu").signature == f"BLEU|tok:13a|case:mixed|eff:no|smooth:exp|sacrebleu:{sacrebleu.__version__}"
    assert "smooth:floor[0.10]" in load_metric("bleu", {"smooth": "floor"}).signature
    assert load_metric("chrf", {"word_order": 2}).signature.startswith("chrF2++|")
    assert load_metric("mean", {"higher_is_better": False}).signature != load_metric("mean").signature
