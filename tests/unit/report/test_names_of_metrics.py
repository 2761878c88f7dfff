"""Where a person reads, a metric is called as the field writes it; keys, in files and in code, stay as studies have them."""

from __future__ import annotations

import json
import re

import pytest
from support.studies import write_study
from support.synthetic_reports import make_report, odd_cubes

from pipeline.api import run
from pipeline.interfaces.wording import METRICS, call_metrics, name_metric
from pipeline.metrics.registry import load_metric, title_of
from pipeline.plan.inputs import MetricInputs
from pipeline.plugins import list_plugins
from pipeline.report.build import build_report
from pipeline.report.document import SCHEMA_VERSION, Report, read_report, read_titles, read_verdicts, to_document
from pipeline.report.history.gate import Judged, judge_candidates, render_annotations, render_gate
from pipeline.report.layout.files import Files
from pipeline.report.layout.summary import conclude, summarise
from pipeline.report.results import Results, latex_of
from pipeline.report.write import render_report
from pipeline.survey.survey import title_apart

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


TITLED = re.compile("my BLEU")
UNTITLED = re.compile(r"(?<!my )BLEU|(?<![\w/-])bleu(?![\w-])")


@pytest.fixture(scope="module")
def titled(odd_report) -> tuple[Report, Files]:
    """A report of a study that calls its metric otherwise; analyses word their findings when they are made."""
    titles = {"bleu": "my BLEU"}
    with call_metrics(titles):
        given = make_report(odd_cubes(systems=6), titles=titles)
    return build_report(given), render_report(given, build_report(given))


def test_a_title_stands_wherever_a_person_reads(titled: tuple[Report, Files]) -> None:
    report, files = titled
    document = to_document(report)
    found = Results(document)
    one = report.board_of[report.places[0]][0].name
    judged = judge_candidates(report, one)
    texts = {
        "page": read_by_people(files["index.html"].decode()),
        "Markdown": files["report.md"].decode().split("## Provenance")[0],
        "terminal": summarise(report),
        "end of a run": " ".join(conclude(read_verdicts(document), titles=read_titles(document))),
        "LaTeX": found.to_latex(),
        "notebook": found._repr_html_() + found.to_markdown() + repr(found) + found.verdict,
        "gate": " ".join([judged[0].say(), render_gate(judged, run="r"), *render_annotations(judged)]),
        "headings in the document": " ".join(table["title"] for block in document["findings"] for table in block["tables"]),
        **{name: content.decode() for name in files if name.endswith(".svg") and b"BLEU" in (content := files[name])},
    }
    assert len(texts) > 10
    assert {name: UNTITLED.findall(text) for name, text in texts.items() if UNTITLED.search(text)} == {}
    assert [name for name, text in texts.items() if not TITLED.search(text)] == []


def test_keys_stay_beside_a_title(titled: tuple[Report, Files]) -> None:
    report, files = titled
    document = to_document(report)
    assert {row["metric"] for row in document["verdict"]} == set(Results(document).pairs["metric"]) == {"bleu"}
    assert {row["title"] for test_set in document["test_sets"] for row in test_set["metrics"]} == {"my BLEU"}
    assert b",bleu," in files["tables/leaderboard.csv"]


def test_a_report_and_an_account_without_titles_are_read_as_before(report: Report) -> None:
    document = json.loads(json.dumps(to_document(report)))
    for test_set in document["test_sets"]:
        for row in test_set["metrics"]:
            del row["title"]
    assert "BLEU" in summarise(read_report(document))
    assert read_titles(document) == read_titles({"schema_version": SCHEMA_VERSION - 1}) == {}
    assert " by BLEU" in Judged("t", "bleu", "a", "b", "worse", None, None, None, "", 3).say()


@pytest.mark.parametrize(
    ("name", "options", "title"),
    [
        ("chrf", {}, "chrF"),
        ("chrf", {"word_order": 2}, "chrF++"),
        ("chrf", {"word_order": 1, "beta": 3}, "chrF3+"),
        ("bleu", {"tokenize": "char"}, ""),
        ("mine", {"metric": "chrf", "word_order": 2}, ""),
    ],
)
def test_options_have_a_part_in_the_title_and_a_study_the_last_word(name: str, options: dict[str, object], title: str) -> None:
    assert title_of(name, load_metric(name, options)) == title


@pytest.mark.parametrize(("said", "title"), [("my\n BLEU", "my BLEU"), (None, ""), (str.title, "")])
def test_a_title_is_a_line_of_text_or_none(said: object, title: str) -> None:
    metric = load_metric("bleu")
    metric.title = said  # type: ignore[assignment]
    assert title_of("my_metrics:BLEU", metric) == title


def test_two_metrics_of_a_study_are_not_called_alike() -> None:
    titles = {"chrf": "chrF++", "chrf++": "", "bleu": ""}
    metrics = [MetricInputs(name, {}, name, True, title=title) for name, title in titles.items()]
    assert [metric.title for metric in title_apart(metrics)] == ["chrf", "chrf++", "BLEU"]


OWN = """
class Exact:
    statistics, form, higher_is_better, title = ("right", "all"), "ratio", True, "exact match"

    def prepare(self, gold):
        return gold.columns["reference.0"]

    def extract(self, prepared, output):
        return [(mine == right, 1) for mine, right in zip(output.columns["text"], prepared, strict=True)]

    def scorer(self, decimals):
        return lambda sums: 100 * sums[0] / sums[1]
"""


def test_a_run_calls_its_metrics_as_their_options_and_their_code_say(tmp_path) -> None:
    lines = [f"word {k} of line {k}" for k in range(20)]
    (tmp_path / "out").mkdir()
    for name, every in (("ref", 99), ("out/a", 2), ("out/b", 3)):
        wrong = ["nothing" if k % every == 1 else line for k, line in enumerate(lines)]
        (tmp_path / f"{name}.txt").write_text("\n".join(wrong) + "\n", encoding="utf-8")
    (tmp_path / "own_titles.py").write_text(OWN, encoding="utf-8")
    study = write_study(
        tmp_path / "study.yaml",
        test_sets={"t": {"format": "text", "references": ["ref.txt"], "outputs": "out/{system}.txt"}},
        metrics=[{"name": "chrf", "word_order": 2}, {"name": "own_titles:Exact", "path": "."}],
        resampling={"replicates": 300},
        report={"formats": ["json"], "null_laboratory": False},
    )
    document = json.loads((run(study, runs=tmp_path / "runs", serial=True).root / "report/report.json").read_text(encoding="utf-8"))
    assert read_titles(document) == {"chrf": "chrF++", "own_titles:Exact": "exact match"}
    told = json.dumps([document["trust"], [block["tables"] for block in document["findings"]], document["notes"]])
    assert "chrF++" in told
    assert not re.search(r"chrF(?!\+)", told)
    assert "t · exact match" in summarise(read_report(document))
