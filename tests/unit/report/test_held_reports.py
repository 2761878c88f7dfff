"""A comparison shows the report that it has just made, which is that of its document."""

from __future__ import annotations

import random
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.synthetic_cubes import build_cube
from support.synthetic_reports import make_report

import pipeline
from pipeline.report import results
from pipeline.report.build import build_report
from pipeline.report.document import read_report, to_document
from pipeline.report.held import hand_over, hold_reports
from pipeline.report.layout.summary import summarise
from pipeline.report.results import Results, latex_of

pytestmark = pytest.mark.usefixtures("few_nulls")

WORDS = ("the", "cat", "sat", "on", "a", "mat", "and", "looked", "at", "its", "dog")


def write_table(folder: Path, systems: int) -> dict[str, Any]:
    draw = random.Random(7)
    rows = [",".join(["item", *(f"s{k}" for k in range(systems))])]
    rows += [",".join([f"q{n}", *(str(int(draw.random() < 0.4 + 0.4 * k / systems)) for k in range(systems))]) for n in range(60)]
    (folder / "table.csv").write_text("\n".join(rows) + "\n")
    return {"outputs": folder / "table.csv"}


def write_texts(folder: Path) -> dict[str, Any]:
    draw = random.Random(8)
    for name in ("one", "other", "third", "reference"):
        lines = (" ".join(draw.choices(WORDS, k=draw.randint(3, 9))) for _ in range(30))
        (folder / f"{name}.txt").write_text("\n".join(lines) + "\n")
    (folder / "documents.txt").write_text("".join(f"d{n // 3}\n" for n in range(30)))
    systems = {name: folder / f"{name}.txt" for name in ("one", "other", "third")}
    return {"outputs": systems, "references": folder / "reference.txt", "metrics": "bleu"}


def write_runs(folder: Path) -> dict[str, Any]:
    draw = random.Random(9)
    for model in ("x", "y"):
        for seed in range(3):
            lines = (" ".join(draw.choices(WORDS, k=5)) for _ in range(30))
            (folder / f"{model}.seed{seed}.txt").write_text("\n".join(lines) + "\n")
    (folder / "reference.txt").write_text("\n".join(" ".join(draw.choices(WORDS, k=5)) for _ in range(30)) + "\n")
    return {"outputs": str(folder / "{system}.seed{replica}.txt"), "references": folder / "reference.txt", "metrics": "bleu"}


CASES = {
    "a table": lambda folder: write_table(folder, 3),
    "a run that is kept": lambda folder: write_table(folder, 3) | {"runs": folder / "runs"},
    "more pairs than a document lists": lambda folder: write_table(folder, 70),
    "documents and a baseline": lambda folder: write_texts(folder) | {"documents": folder / "documents.txt", "baseline": "one"},
    "runs of models": write_runs,
}


@pytest.mark.parametrize("case", CASES)
def test_the_report_at_hand_is_that_of_the_document(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, case: str) -> None:
    given = CASES[case](tmp_path)
    with monkeypatch.context() as patched:
        patched.setattr(results, "read_report", lambda document: pytest.fail("it is read from the document"))
        found = pipeline.compare(**given, replicates=200)
        shown = found.report
    read = read_report(found)
    assert to_document(shown) == to_document(read) == dict(found)
    assert summarise(shown, rest="") == summarise(read, rest="")
    assert latex_of(shown) == latex_of(read)
    assert [len(pairs) for pairs in shown.pairs_of.values()] == [len(pairs) for pairs in read.pairs_of.values()]


def test_a_run_that_is_complete_is_read(tmp_path: Path) -> None:
    given = write_table(tmp_path, 2) | {"replicates": 200, "runs": tmp_path / "runs"}
    first, again = pipeline.compare(**given), pipeline.compare(**given)
    assert "report" in vars(first)
    assert "report" not in vars(again)
    assert repr(first) == repr(again)


def test_nothing_is_held_once_the_block_has_ended(tmp_path: Path) -> None:
    with hold_reports(tmp_path) as held:
        assert held == []
    with hold_reports(tmp_path):  # the directory is free again
        pass


def test_of_two_threads_that_make_the_same_run_neither_ends_with_a_fault(tmp_path: Path) -> None:
    with ExitStack() as first, ExitStack() as second:
        first.enter_context(hold_reports(tmp_path))
        later = second.enter_context(hold_reports(tmp_path))
        first.close()
        hand_over(build_report(make_report({"news": build_cube(np.array([50.0, 51.0]), list("ab"))}, analyses=())), tmp_path)
        assert [report.study for report in later] == ["synthetic <study>"]


def test_what_is_found_is_compared_as_a_dictionary_is() -> None:
    assert Results({"a": 1}) == {"a": 1}
