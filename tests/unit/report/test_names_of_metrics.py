"""Where a person reads, a metric is called as the field writes it; keys, in files and in code, stay as studies have them."""

from __future__ import annotations

import re

import pytest

from pipeline.interfaces.wording import METRICS, name_metric
from pipeline.plugins import list_plugins
from pipeline.report.build import build_report
from pipeline.report.document import Report, to_document
from pipeline.report.layout.files import Files
from pipeline.report.layout.summary import summarise
from pipeline.report.results import latex_of
from pipeline.report.write import render_report

KEY = re.compile(r"(?<![\w/-])bleu(?![\w-])")


@pytest.fixture(scope="module")
def report(odd_report) -> Report:
    return build_report(odd_report)


@pytest.fixture(scope="module")
def files(odd_report, report: Report) -> Files:
    return render_report(odd_report, report)


def read_by_people(page: str) -> str:
    """Return the text of a page, with the labels of its figures, without code and what only programs read."""
    for hidden in ("style", "script", "code"):
        page = re.sub(rf"<{hidden}\b.*?</{hidden}>", "", page, flags=re.DOTALL)
    return page


def test_the_page_and_its_figures_write_bleu_in_capitals(files: Files) -> None:
    page = read_by_people(files["index.html"].decode())
    assert "BLEU" in page
    assert not KEY.findall(page)
    assert not [name for name in files if name.endswith(".svg") and KEY.search(files[name].decode())]


def test_markdown_terminal_and_latex_write_bleu_in_capitals(report: Report, files: Files) -> None:
    markdown = files["report.md"].decode().split("## Provenance")[0]
    for text in (markdown, summarise(report), latex_of(report)):
        assert "BLEU" in text
        assert not KEY.findall(text)


def test_keys_of_the_document_and_the_tables_stay(report: Report, files: Files) -> None:
    assert {row["metric"] for row in to_document(report)["verdict"]} == {"bleu"}
    assert b",bleu," in files["tables/leaderboard.csv"]


def test_every_other_name_is_of_a_metric_that_there_is() -> None:
    assert set(METRICS) - {"chrf+", "chrf++"} <= set(list_plugins("metrics"))
    assert name_metric("my_metrics:bleu") == "my_metrics:bleu"
