"""What would fail in the middle of a run is refused by `check` and before `compare` computes, with the line where it stands."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.studies import write_study, write_text_outputs

from pipeline.api import compare
from pipeline.errors import PipelineError, Problem
from pipeline.study.load import load_study
from pipeline.survey.survey import survey_loaded


def write_table(folder: Path, *values: str) -> None:
    rows = "".join(f"q{k},{'odd' if k == 1 else 'usual'},{k % 3},{value}\n" for k, value in enumerate(values))
    (folder / "scores.csv").write_text(f"item,kind,a,b\n{rows}")


def refused(folder: Path, test_set: dict[str, Any] | None = None, **changes: Any) -> list[Problem]:
    settings = {"test_sets": {"t": test_set or {"format": "scores", "outputs": "scores.csv"}}, "metrics": ["mean"], **changes}
    with pytest.raises(PipelineError) as caught:
        survey_loaded(load_study(write_study(folder / "study.yaml", **settings)))
    return list(caught.value.problems)


def told_of(folder: Path, **asked: Any) -> Problem:
    with pytest.raises(PipelineError) as caught:
        compare(asked.pop("outputs", folder / "scores.csv"), replicates=100, **asked)
    return caught.value.problems[0]


def test_a_metric_of_texts_is_refused_on_a_table(tmp_path: Path) -> None:
    write_table(tmp_path, *"0123")
    (bleu, f1) = refused(tmp_path, metrics=["bleu", "f1", "mean"])
    assert (bleu.code, bleu.message) == ("P225", "bleu needs references, and the test set has none")
    assert f1.message == "f1 needs gold labels, and the test set has none"
    assert told_of(tmp_path, metrics="bleu").code == "P225"


def test_a_metric_of_labels_is_refused_on_texts(tmp_path: Path) -> None:
    paths = write_text_outputs(tmp_path, ["a", "b"], items=5)
    texts = {"format": "text", "outputs": paths, "references": ["ref.txt"]}
    (problem,) = refused(tmp_path, texts, metrics=["accuracy"])
    assert (problem.code, problem.message) == ("P225", "accuracy needs gold labels, and the file has references")
    assert problem.where == str(tmp_path / "ref.txt")
    problem, _ = refused(tmp_path, texts, metrics=["mean"])
    assert (problem.code, problem.message) == ("P210", "mean needs numbers, and column 'text' of 'a' has others too")
    told = told_of(tmp_path, outputs=paths, references=tmp_path / "ref.txt", metrics="accuracy")
    assert told.help == "choose a metric of what the files hold, or name the `--format` that gives it"


@pytest.mark.parametrize("names", [lambda k: f"doc{k}", lambda k: f"news\tguardian {k // 8}"], ids=["words", "repeated"])
def test_a_list_of_documents_among_the_outputs_is_told(tmp_path: Path, names: Callable[[int], str]) -> None:
    write_text_outputs(tmp_path, ["a", "b"], items=40)
    (tmp_path / "out-docs.txt").write_text("".join(f"{names(k)}\n" for k in range(40)))
    outputs = {name: tmp_path / f"out-{name}.txt" for name in ("0", "1", "docs")}
    found = compare(outputs, tmp_path / "ref.txt", replicates=100)
    told = [text for text in found["warnings"] if "list of document names" in text]
    assert [text.partition("'docs' ")[2] for text in told] == [
        "looks like a list of document names, not like an output: give it by `--documents`, and leave it out by `--exclude`"
    ]


@pytest.mark.parametrize(
    ("texts", "references"),
    [
        ([f"word{k}" for k in range(40)], [f"word{k}" for k in range(40)]),  # isolated words, or a language without blanks
        (["yes it is"] * 40, [("yes it is", "no it is not")[k % 2] for k in range(40)]),  # answers that repeat, as the gold does
        ([f"doc{k}" for k in range(19)], ["some words here"] * 19),
    ],
)
def test_short_and_repeated_outputs_are_no_lists_of_documents(tmp_path: Path, texts: list[str], references: list[str]) -> None:
    for name, lines in (("a", texts), ("b", [*texts[1:], texts[0] + " again"]), ("ref", references)):
        (tmp_path / f"{name}.txt").write_text("".join(f"{line}\n" for line in lines))
    study = write_study(
        tmp_path / "study.yaml",
        test_sets={"t": {"format": "text", "outputs": {"a": "a.txt", "b": "b.txt"}, "references": ["ref.txt"]}},
        metrics=["wer"],
    )
    (found,) = survey_loaded(load_study(study)).inputs.test_sets
    assert not any("document names" in text for text in found.warnings)


def test_a_column_that_a_metric_names_must_be_there(tmp_path: Path) -> None:
    write_table(tmp_path, *"0123")
    (problem,) = refused(tmp_path, metrics=[{"name": "cost", "metric": "mean", "column": "cost"}])
    assert problem.code == "P226"


def test_a_number_that_is_too_large_is_refused_with_its_line(tmp_path: Path) -> None:
    write_table(tmp_path, "1", "-1e30", "2", "3")
    (problem,) = refused(tmp_path)
    assert (problem.code, problem.where) == ("P227", f"{tmp_path / 'scores.csv'}:3")
    assert problem.message == "a score of 'b' is too large to be added exactly: 4 times 1e+30 exceeds 2^52"
    assert told_of(tmp_path).code == "P227"
    compare(tmp_path / "scores.csv", exclude="c", replicates=100, filter={"kind": "usual"})  # what is left out may be so


def test_numbers_are_refused_just_where_sums_of_their_differences_are_not_exact(tmp_path: Path) -> None:
    """The null data sets of a report add differences: beyond, they ended in an internal error."""
    most = 2**50 - 1
    rows = "".join(f"q{k},{score},{-score}\n" for k, score in enumerate([most, -most, most, most]))
    (tmp_path / "scores.csv").write_text(f"item,a,b\n{rows}")
    compare(tmp_path / "scores.csv", replicates=100)
    write_table(tmp_path, *[str(2**50)] * 4)
    assert refused(tmp_path)[0].code == told_of(tmp_path).code == "P227"


@pytest.mark.parametrize(
    ("changes", "code", "line"),
    [
        ({"metrics": ["mean", "blue"]}, "P301", "- blue"),
        ({"metrics": [{"name": "mean", "colunm": "x"}]}, "P150", "name: mean"),
        ({"test_sets": {"t": {"format": "scoers", "outputs": "scores.csv"}}}, "P301", "format: scoers"),
        ({"resampling": {"unit": "domain"}}, "P223", "unit: domain"),
        ({"resampling": {"strata": "domain"}}, "P223", "strata: domain"),
        (
            {"test_sets": {"t": {"format": "scores", "outputs": "scores.csv", "items": {"include": {"kind": "none"}}}}},
            "P218",
            "items:",
        ),
        ({"analyses": [{"size-curve": {"gians": [1]}}]}, "P101", "size-curve"),
    ],
)
def test_what_the_study_says_wrong_is_told_with_its_line(tmp_path: Path, changes: dict[str, Any], code: str, line: str) -> None:
    write_table(tmp_path, *"0123")
    (problem,) = refused(tmp_path, **changes)
    path, number, _ = str(problem.where).rsplit(":", 2)
    assert (problem.code, path) == (code, str(tmp_path / "study.yaml"))
    lines = (tmp_path / "study.yaml").read_text().splitlines()
    assert line in lines[int(number) - 1] or line in lines[int(number) - 2]


def test_compare_names_its_own_option(tmp_path: Path) -> None:
    write_table(tmp_path, *"0123")
    assert told_of(tmp_path, unit="domain").where == "--unit"
    assert told_of(tmp_path, filter={"domain": "x"}).where == "--filter"
