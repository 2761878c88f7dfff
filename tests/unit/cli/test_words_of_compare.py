"""`compare` speaks of its own options: there is no study whose keys could be changed."""

from __future__ import annotations

import ast
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

import pipeline
from pipeline.api import compare
from pipeline.cli import cli
from pipeline.errors import DataError, PipelineError
from pipeline.metrics.registry import load_metric
from pipeline.survey.compare_arguments import in_words_of_compare

PACKAGE = Path(pipeline.__file__).parent

OF_STUDIES = re.compile(
    r"\bstudy\b|`(outputs|columns|systems\.exclude|missing|documents|references|gold|format|unit)\b[^`]*:|\bcolumns: \{"
)
"""Words that only somebody who wrote a study understands."""

ONLY_IN_STUDIES = (
    "items/training.py",  # training data
    "survey/compare_arguments.py",  # the words that are replaced
    "items/discover.py",  # patterns with {system}
    "items/gold.py: start the study again",  # items: and embedded data sets
)


def strings(path: Path) -> Iterator[str]:
    """Yield what a module says: texts with a blank in them that are no docstrings, with … for what is put in."""
    tree = ast.parse(path.read_text())
    silent = {
        id(part)
        for node in ast.walk(tree)
        if isinstance(node, (ast.Expr, ast.JoinedStr))
        for part in ([node.value] if isinstance(node, ast.Expr) else node.values)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            yield "".join(str(part.value) if isinstance(part, ast.Constant) else "…" for part in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in silent and " " in node.value:
            yield node.value


def spoken() -> list[str]:
    paths = [*(PACKAGE / "items").rglob("*.py")]
    paths += [
        PACKAGE / "survey" / name
        for name in ("survey.py", "checks.py", "warnings.py", "coordinates.py", "needs.py", "compare.py", "compare_arguments.py")
    ]
    told = []
    for path in sorted(paths):
        place = path.relative_to(PACKAGE).as_posix()
        told += [f"{place}: {text}" for text in strings(path)] if place not in ONLY_IN_STUDIES else []
    return [text for text in told if OF_STUDIES.search(text) and not text.startswith(ONLY_IN_STUDIES)]


def test_no_message_about_files_speaks_of_a_study() -> None:
    found = spoken()
    assert len(found) > 30, "nothing is tested"
    left = [text for text in found if OF_STUDIES.search(in_words_of_compare(text.partition(": ")[2]))]
    assert left == []


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("paths are relative to the study file", "paths are relative to the current folder"),
        (
            "set `missing: drop` or `missing: zero`, or correct the file",
            "set `--missing drop` or `--missing zero`, or correct the file",
        ),
        ("name it in the study: columns: {label: …}", "name it: `--columns '{label: …}'`"),
        ("name the format: `format: tagged`", "name the format: `--format tagged`"),
        ("leave it out of the study", "leave it out"),
        ("`systems.exclude`: no system matches 'ref*'", "`--exclude`: no system matches 'ref*'"),
        ("resampling.baseline", "--baseline"),
        ("test set 'test set' has 1 system", "the test set has 1 system"),
        ("2 systems of the test set 'test set' are", "2 systems of the test set are"),
        ("resampling.alpha must be below 1.0, not 5.0", "--alpha must be below 1.0, not 5.0"),
        ("correct the file: a line is lost, split or joined there", "correct the file: a line is lost, split or joined there"),
    ],
)
def test_keys_become_options(text: str, words: str) -> None:
    assert in_words_of_compare(text) == words
    assert in_words_of_compare(words) == words, "said twice it is another"


def test_what_was_given_with_r_is_called_a_reference_file_and_no_gold(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, lines in (("a", 9), ("b", 9), ("right", 8)):
        (tmp_path / f"{name}.lab").write_text("".join(f"{'xyz'[k % 3]}\n" for k in range(lines)))
    for typed in (["compare", "a.lab", "b.lab"], ["init", "a.lab", "b.lab"]):
        with pytest.raises(PipelineError) as refused:
            CliRunner().invoke(cli, [*typed, "-r", "right.lab", "--format", "labels"], catch_exceptions=False)
        told = str(refused.value)
        assert "items do not align: the reference file has 8 items, both systems have 9" in told
        assert "the gold" not in told


def test_of_a_column_that_is_called_gold_messages_speak_as_of_the_gold() -> None:
    assert in_words_of_compare("labels that the gold has") == "labels that the gold has"
    assert in_words_of_compare("where the gold has", references=True) == "where the reference file has"
    assert in_words_of_compare("of the gold labels", references=True) == "of the gold labels"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in ("a", "b", "ref"):
        (tmp_path / f"{name}.txt").write_text("".join(f"{name if k % 3 else 'x'} {k} y z\n" for k in range(12)))
    (tmp_path / "header.csv").write_text("item,base,new\n")
    (tmp_path / "long.csv").write_text(
        "llm,nr,acc\n" + "".join(f"{m},{k},{k % (2 + (m == 'n'))}\n" for m in "mn" for k in range(9))
    )
    return tmp_path


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("a.txt", "none.txt", "-r", "ref.txt"), "relative to the current folder"),
        (("a.txt", "-r", "ref.txt"), "give two outputs or more"),
        (("a.txt", "b.txt", "-r", "ref.txt", "-m", "bleu", "chrf"), "there is no file chrf, which is a metric"),
        (("a.txt", "b.txt", "-r", "ref.txt", "-m", "BLEU"), "did you mean 'bleu'"),
        (("a.txt", "b.txt", "-r", "ref.txt", "-m", "comet"), "export their scores of segments"),
        (("a.txt", "b.txt", "-r", "ref.txt", "--alpha", "5"), "--alpha must be below"),
        (("a.txt", "b.txt", "-r", "ref.txt", "--columns", "system"), "these are not names of columns"),
        (("a.txt", "b.txt", "-r", "ref.txt", "-m", "bleu,chrf"), "name each separately: `-m bleu -m chrf`"),
        (("a.txt", "b.txt", "-r", "reff.txt"), "did you mean ref.txt?"),
        (("a.txt", "b.txt", "-r", "gold.txt"), "there are a.txt, b.txt, header.csv, long.csv, ref.txt; paths are relative"),
        (("a.txt", "b.txt", "-r", "ref.txt", "-m", "accuracy"), "accuracy needs gold labels, and the file has references"),
        (("header.csv",), "the table has a header and no rows"),
        (("a.txt", "b.txt", "-r", "ref.txt", "--exclude", "*"), "`--exclude` leaves out a, b: leave out fewer"),
        (("none.txt", "-r", "none.txt", "--preset", "sacrebleu-bz"), "did you mean 'sacrebleu-bs'"),
        (("none.txt", "-r", "none.txt", "--procedure", "signs"), "did you mean 'sign'"),
        (("none/*.txt",), "no file matches *.txt"),
        (("*.txt", "-m", "bleu", "-r", "ref.txt"), "no file is called *.txt, and a pattern is not expanded here"),
        (("a.txt", "n=", "-r", "ref.txt"), "NAME=PATH"),
    ],
)
def test_mistakes_are_told_in_the_words_of_compare(folder: Path, arguments: tuple[str, ...], words: str) -> None:
    done = CliRunner().invoke(cli, ["compare", *arguments, "-b", "100", "-q"])
    assert isinstance(done.exception, PipelineError), done.output  # which `main` prints
    told = "\n".join(str(part) for problem in done.exception.problems for part in (problem.message, problem.help, problem.note))
    assert words in told
    assert not OF_STUDIES.search(told)


BROKEN = """
from pipeline.metrics.mean import Mean

class Broken(Mean):
    def extract(self, prepared, output):
        raise RuntimeError("a mistake of mine")
"""


def test_the_traceback_of_a_metric_is_where_the_run_is_kept(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(folder)
    (folder / "broken_in_compare.py").write_text(BROKEN)
    asked = ["compare", "new.csv", "-m", "broken_in_compare:Broken", "-b", "100", "-q"]
    (folder / "new.csv").write_text("item,base,new\n" + "".join(f"{k},{k},{k % 7}\n" for k in range(20)))
    done = CliRunner().invoke(cli, asked)
    assert isinstance(done.exception, PipelineError), done.output
    help_ = str(done.exception.problems[0].help)
    assert help_.startswith("give `--runs DIR` as well, and `pipeline logs --runs DIR` has the traceback")
    done = CliRunner().invoke(cli, [*asked, "--runs", "my runs"])
    assert isinstance(done.exception, PipelineError), done.output
    (command,) = re.findall("`pipeline (.*)`", str(done.exception.problems[0].help))
    assert "RuntimeError: a mistake of mine" in CliRunner().invoke(cli, shlex.split(command)).output


@pytest.mark.parametrize("asked", ["chrf++", {"name": "chrf", "word_order": 2}])
def test_chrf_with_words_is_called_as_the_field_calls_it(folder: Path, asked: object) -> None:
    mine = {"name": "mine", "metric": "chrf", "word_order": 2}
    document = compare(["a.txt", "b.txt"], "ref.txt", metrics=["chrf", asked, mine], replicates=100)
    plain, words, named = document["pairs"]
    assert [row["metric"] for row in (plain, words, named)] == ["chrf", "chrf++", "mine"]
    assert words["score_a"] == named["score_a"] != plain["score_a"]
    assert "test set · chrF++ · " in str(document)


def test_a_study_is_told_how_to_write_it() -> None:
    with pytest.raises(PipelineError, match="P301") as caught:
        load_metric("chrf++")
    assert caught.value.problems[0].help == "write `{name: chrf++, metric: chrf, word_order: 2}`"
    assert load_metric("chrf++", {"metric": "chrf", "word_order": 2}).signature.startswith("chrF2++|")


def test_a_long_table_of_any_header_is_compared_with_its_columns_named(folder: Path) -> None:
    document = compare("long.csv", columns={"system": "llm", "item": "nr"}, replicates=100)
    assert {row["name"] for row in document["systems"]} == {"m", "n"}
    assert document["pairs"][0]["units"] == 9
    with pytest.raises(DataError, match="P209") as caught:
        compare("long.csv", columns={"item": "nr"}, replicates=100)
    assert "name the column: `--columns '{system: …}'`" in str(caught.value.problems[0].help)


def test_several_metrics_are_said_to_be_several_families_and_corrected_for_where_that_is_asked(tmp_path: Path) -> None:
    labels = {"gold": "0110" * 25, "x": "0110" * 20 + "1010" * 5, "y": "0110" * 23 + "1001" * 2}
    for name, text in labels.items():
        (tmp_path / f"{name}.labels").write_text("\n".join(text) + "\n")
    metrics = [part for name in ("accuracy", "precision", "recall", "f1") for part in ("-m", name)]
    asked = ["compare", *(str(tmp_path / f"{name}.labels") for name in "xy"), "-r", str(tmp_path / "gold.labels"), *metrics]
    plain = CliRunner().invoke(cli, [*asked, "-b", "500", "-q"], catch_exceptions=False).stdout
    (line,) = (line for line in plain.splitlines() if "Families" in line)
    assert line.startswith("check: Families. 4 families of tests (test set × metric) with 4 pairs: p adjusted is corrected by ")
    assert "not across families" in line
    assert "a chance of 0.19 if the families were independent (1 − 0.95^4), and of 0.2 at most" in line
    holm = CliRunner().invoke(cli, [*asked, "-b", "500", "-q", "--across-families", "holm"], catch_exceptions=False).stdout
    (line,) = (line for line in holm.splitlines() if "Families" in line)
    assert line.startswith("Families. 4 families")
    assert "by Holm across families" in line


def test_a_gain_that_is_not_zero_is_not_printed_as_zero(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    rows = [f"q{k},{k * 37 % 100}.5,{k * 37 % 100}.5{k % 3 == 0:d}" for k in range(60)]
    Path("scores.csv").write_text("item,old,new\n" + "\n".join(rows) + "\n")
    said = CliRunner().invoke(cli, ["compare", "scores.csv", "-b", "999", "-q"]).stdout
    (pair,) = re.findall(r"^new +old .*", said, re.MULTILINE)
    assert pair.split()[2:5] == ["0.003", "[0.002,", "0.005]"]
    assert "new is better than old by 0.003 [" in said
