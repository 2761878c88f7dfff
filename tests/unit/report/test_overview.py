"""Where there are many verdicts, one table of them comes first, and it says what the verdicts say."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.synthetic_cubes import build_cube
from support.synthetic_reports import make_report

from pipeline.api import compare
from pipeline.report.build import build_report
from pipeline.report.document import FullReport, read_report, to_document
from pipeline.report.layout.overview import are_many, look_over
from pipeline.report.layout.pages import render_html, render_markdown
from pipeline.report.layout.summary import summarise
from pipeline.report.layout.views import view_all
from pipeline.report.results import Results
from pipeline.report.rows import Verdict

NAMES = ["a", "b", "c"]
CLEAR, CLOSE, OTHER = [60.0, 50.0, 50.1], [50.2, 50.1, 50.0], [50.0, 50.1, 60.0]


def report_of(scores: list[list[float]], **asked: Any) -> FullReport:
    cubes = {f"news{k}": build_cube(np.array(row), NAMES, name=f"news{k}") for k, row in enumerate(scores)}
    return build_report(make_report(cubes, analyses=(), **asked))


def test_of_three_test_sets_there_is_no_table_and_of_four_there_is_one() -> None:
    assert look_over(report_of([CLEAR] * 3)) is None
    overview = look_over(report_of([CLEAR] * 4))
    assert overview is not None
    assert len(overview.table.rows) == 4


def test_six_verdicts_of_two_test_sets_are_many_and_four_are_few() -> None:
    verdicts = [Verdict(test_set, metric, "paired-bootstrap", ["."]) for metric in "abc" for test_set in ("x", "y")]
    assert are_many(verdicts)
    assert not are_many(verdicts[:4])


def test_a_row_says_who_is_best_and_what_is_decided_as_the_verdict_does() -> None:
    report = report_of([CLEAR, CLOSE, OTHER, CLEAR])
    overview = look_over(report)
    assert overview is not None
    assert overview.table.columns == ("test set", "units", "best", "score", "better than", "pairs separated")
    assert overview.table.rows == (
        ("news0", "1,000", "a", "60.000", "2 of 2", "2 of 3"),
        ("news1", "1,000", "a", "50.200", "0 of 2", "0 of 3"),
        ("news2", "1,000", "c", "60.000", "2 of 2", "2 of 3"),
        ("news3", "1,000", "a", "60.000", "2 of 2", "2 of 3"),
    )
    told = (
        "a has the best score on 3 of 4 test sets, separated from all others on 2 of them; c on 1, separated from all others there."
    )
    assert overview.sentences == [told]
    for verdict, row in zip(report.verdict, overview.table.rows, strict=True):
        assert f"{row[2]} has the best score, {row[3]}" in verdict.sentences[0]


def test_a_tie_names_both_systems() -> None:
    overview = look_over(report_of([[50.0, 50.0, 40.0], CLEAR, CLEAR, CLEAR]))
    assert overview is not None
    assert overview.table.rows[0][2:5] == ("a, b", "50.000", "1 of 2")
    assert overview.sentences[0].startswith(
        "a has or shares the best score on all 4 test sets, separated from all others on 3 of them; b"
    )


def test_against_a_baseline_a_row_names_who_is_better_and_who_is_worse() -> None:
    against = {"family": "against-baseline", "baseline": "b"}
    overview = look_over(report_of([CLEAR, CLOSE, OTHER, [50.0, 60.0, 50.1]], resampling=against))
    assert overview is not None
    assert overview.table.columns == ("test set", "units", "score of b", "better than b", "worse than b", "not separated")
    assert [row[2:] for row in overview.table.rows] == [
        ("50.000", "a", "–", "1"),
        ("50.100", "–", "–", "2"),
        ("50.100", "c", "–", "1"),
        ("60.000", "–", "c, a", "0"),
    ]
    assert overview.sentences == ["a is better than b on 1 of 4 test sets and worse on 1; c is better on 1 and worse on 1."]


def test_of_one_test_set_by_several_metrics_no_sentence_counts_test_sets(tmp_path: Path) -> None:
    header = "item,system," + ",".join(f"m{k}" for k in range(6))
    scores = {"base": "0,1,1,0,0,1", "a": "1,0,1,1,1,1", "b": "1,1,1,0,0,1", "c": "0,1,1,0,0,1"}
    rows = [f"{k},{name},{row if k % 9 else scores['base']}" for name, row in scores.items() for k in range(30)]
    (tmp_path / "t.csv").write_text("\n".join([header, *rows]) + "\n")
    metrics = [{"name": f"m{k}", "metric": "mean", "column": f"m{k}", "higher_is_better": True} for k in range(6)]
    found = compare(tmp_path / "t.csv", metrics=metrics, baseline="base", replicates=200)
    overview = look_over(found.report)
    assert overview is not None
    assert overview.sentences[:4] == [
        "By m0, a is better than base; b is better; 1 is not separated from it.",
        "By m1, a is worse than base; 2 are not separated from it.",
        "By m2, no system is separated from base.",
        "By m3, a is better than base; 2 are not separated from it.",
    ]


@pytest.mark.parametrize("across", ["none", "holm"])
def test_the_caption_says_whether_rows_are_corrected_for_each_other(across: str) -> None:
    overview = look_over(report_of([CLEAR] * 4, resampling={"across_families": across}))
    assert overview is not None
    assert ("nothing corrects across rows" in overview.table.caption) is (across == "none")
    assert ("corrected across rows (Holm)" in overview.table.caption) is (across == "holm")


def test_the_caption_says_where_lower_scores_are_better() -> None:
    report = report_of([CLEAR] * 4)
    falling = [replace(row, metrics=[replace(row.metrics[0], higher_is_better=False)]) for row in report.test_sets]
    overview = look_over(replace(report, test_sets=falling))
    assert overview is not None
    assert overview.table.caption.endswith("Lower is better: BLEU.")


def test_the_table_comes_before_the_verdicts_on_every_page() -> None:
    report = report_of([CLEAR, CLOSE, OTHER, CLEAR])
    overview, views = look_over(report), view_all(report)
    assert overview is not None
    lead, verdict = overview.sentences[0], report.verdict[0].sentences[0].split(" (")[0]
    document = to_document(report)
    assert look_over(read_report(document)) == overview
    pages = [
        render_markdown(report, views, []),
        summarise(report),
        Results(document).to_markdown(),
        Results(document)._repr_html_(),
    ]
    for page in [render_html(report, views, []), *pages]:
        plain = page.replace("\xa0", " ")
        assert plain.count(lead) == 1
        assert plain.index(lead) < plain.index("better than") < plain.index("nothing corrects across rows") < plain.index(verdict)
