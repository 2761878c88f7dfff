"""Negative numbers: a true minus where a page is read, a hyphen in files and on terminals, math in LaTeX."""

from __future__ import annotations

import html
import json
import re
from pathlib import Path

import numpy as np
import pytest
from support.synthetic_cubes import build_cube
from support.synthetic_reports import make_report

from pipeline.interfaces.wording import set_minus
from pipeline.report.build import build_report
from pipeline.report.document import Report, to_document
from pipeline.report.layout.files import Files
from pipeline.report.layout.summary import summarise
from pipeline.report.results import latex_of
from pipeline.report.write import render_report

HYPHEN = re.compile(r"(?<![\w.\-–)])-\.?\d")
MINUS = re.compile(r"−\.?\d")


@pytest.fixture(scope="module")
def report(odd_report) -> Report:
    return build_report(odd_report)


@pytest.fixture(scope="module")
def files(odd_report, report: Report) -> Files:
    return render_report(odd_report, report)


def read_on_page(page: str) -> str:
    """Return what is read on a page: the text of its elements, without code and what only programs read."""
    for hidden in ("style", "script", "code", "title"):
        page = re.sub(rf"<{hidden}\b.*?</{hidden}>", " ", page, flags=re.DOTALL)
    return re.sub(r"<[^>]*>", " ", page)


def test_a_page_has_a_true_minus(files: Files) -> None:
    page = files["index.html"].decode()
    assert re.search(r"<td>\[?−\d", page)
    assert HYPHEN.findall(read_on_page(page)) == []


def test_files_and_terminals_have_a_hyphen_and_latex_a_minus(report: Report, files: Files) -> None:
    texts = {
        "terminal": summarise(report),
        "Markdown": files["report.md"].decode(),
        "document": json.dumps(to_document(report), ensure_ascii=False, default=str),
        **{name: files[name].decode() for name in files if name.endswith(".csv")},
    }
    assert {name: MINUS.findall(text) for name, text in texts.items() if MINUS.search(text)} == {}
    assert {name for name, text in texts.items() if HYPHEN.search(text)} >= {"terminal", "Markdown", "document", "tables/pairs.csv"}
    latex = latex_of(report)
    assert "$-$" in latex
    outside_math = re.sub(r"\$[^$]*\$", "", latex)
    assert (HYPHEN.findall(outside_math), MINUS.findall(latex)) == ([], [])


@pytest.mark.parametrize(
    "text", ["gpt-4", "1–3", "2026-11-28", "1.0e-04", "model--2", "n-1", "(a)-2", "x.-5", "compare --top -5", "-b=-1", "--a-b -.5"]
)
def test_a_hyphen_within_something_or_after_an_option_stays(text: str) -> None:
    assert set_minus(text) == text


def test_names_in_the_description_of_a_figure_keep_their_hyphens(tmp_path: Path) -> None:
    names = ["a-1", "run -1", "-5", "x(-2)"]
    given = make_report({"news": build_cube(np.array([-0.6, -0.5, -0.7, -0.9]), names, name="news")}, analyses=())
    report = build_report(given)
    page = render_report(given, report)["index.html"].decode()
    told = [html.unescape(text) for text in re.findall(r"<desc>(.*?)</desc>", page, flags=re.DOTALL)]
    assert any("run -1 has the best score, −0.50" in text for text in told)
    for turned in ("run −1", "−5 ", "x(−2)"):
        assert not any(turned in text for text in told), turned
