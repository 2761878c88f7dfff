"""Tests the one checker of options and the one "did you mean"."""

from __future__ import annotations

import ast
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import pipeline
from pipeline.errors import PluginError, StudyError
from pipeline.options import (
    check_choice,
    check_count,
    check_flag,
    check_number,
    check_options,
    check_words,
    meant,
    nearest,
    suggest,
)
from pipeline.plugins import list_plugins
from pipeline.procedures.registry import other_names
from pipeline.survey.compare_arguments import refuse_settings


class Made:
    def __init__(self, size: int, *, case: str = "lower") -> None: ...


def test_all_wrong_options_are_told_at_once() -> None:
    with pytest.raises(StudyError) as raised:
        check_options("metric", "x", Made, {"cas": 1, "z": 2})
    assert [(p.code, p.message, p.help) for p in raised.value.problems] == [
        ("P150", "metric 'x' has no option 'cas'", "did you mean 'case'? (there are: size, case)"),
        ("P150", "metric 'x' has no option 'z'", "there are: size, case"),
        ("P151", "metric 'x' needs the option 'size'", "write it beside the name"),
    ]
    check_options("metric", "x", lambda **given: given, {"anything": 1})


def test_the_word_itself_is_never_suggested() -> None:
    assert nearest("items", ["items", "item"]) == "item"
    assert suggest("items", ["items"]) == "there are: items"
    assert suggest("x", []) is None
    assert suggest("x", [], otherwise="look elsewhere") == "look elsewhere"
    assert meant("x", ["bleu"]) is None


@pytest.mark.parametrize(
    ("word", "procedure"),
    [
        ("t-test", "paired-t"),
        ("ttest", "paired-t"),
        ("sign-test", "sign"),
        ("mcnemar_test", "mcnemar"),
        ("latest", None),
    ],
)
def test_a_test_is_known_by_its_name_with_the_word_test(word: str, procedure: str | None) -> None:
    assert nearest(word, sorted(list_plugins("procedures"))) == procedure


def test_a_name_that_others_use_comes_before_one_that_is_merely_alike() -> None:
    known = sorted(list_plugins("procedures"))
    assert nearest("bootstrap", known) == "exact-bootstrap"  # the first in which it is a word
    assert nearest("bootstrap", known, others=other_names()) == "paired-bootstrap"
    with pytest.raises(PluginError) as refused:
        refuse_settings(None, ["Permutation-Test"], None)
    assert (refused.value.problems[0].help or "").startswith("did you mean 'approximate-randomization'? (there are: ")


@pytest.mark.parametrize(
    ("check", "good", "bad", "message"),
    [
        (lambda value: check_flag("o", value), [True, False], [1, "true", None], "is true or false"),
        (lambda value: check_count("o", value, least=1, most=3), [1, 3], [0, 4, 2.0, True, "2"], "is a whole number from 1 to 3"),
        (
            lambda value: check_number("o", value, above=0),
            [0.1, 2],
            [0, float("inf"), float("nan"), True, "1"],
            "is a number above 0",
        ),
        (lambda value: check_number("o", value, least=0, most=1), [0, 1], [-0.1, 1.1, float("nan"), False], "from 0 to 1"),
        (
            lambda value: check_choice("o", value, ["lower", "mixed"]),
            ["mixed"],
            ["upper", 3, None, ["lower"]],
            "one of lower, mixed",
        ),
        (lambda value: check_words("o", value), [["a"], ("b", "a")], [[], "ab", [1], [""], ["a", "a"]], "option 'o'"),
    ],
)
def test_values_are_refused_by_name(check: Callable[[Any], Any], good: list[Any], bad: list[Any], message: str) -> None:
    for value in good:
        assert check(value) == (tuple(sorted(value)) if isinstance(value, (list, tuple)) else value)
    for value in bad:
        with pytest.raises(ValueError, match=message):
            check(value)


def test_a_choice_that_is_nearly_right_is_suggested() -> None:
    with pytest.raises(ValueError, match="is one of lower, mixed, not 'Lowr'; did you mean 'lower'\\?"):
        check_choice("case", "Lowr", ["lower", "mixed"])


def test_nothing_else_compares_spellings() -> None:
    package = Path(pipeline.__file__).parent
    users = {
        path.relative_to(package).as_posix()
        for path in package.rglob("*.py")
        if "difflib" in (text := path.read_text())
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Import) and any(alias.name == "difflib" for alias in node.names)
    }
    assert users == {"options.py"}
