"""Whatever an analysis finds is shown, and what cannot be shown is refused."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.synthetic_cubes import build_cube
from support.synthetic_reports import build_document, make_report

from pipeline.errors import PluginError
from pipeline.interfaces import Check, Column, Figure, Finding, Headline, Mark, Section, Table
from pipeline.report.document import read_report
from pipeline.report.write import render_report

ROWS = ({"test_set": "news", "gap": 1.5},)
FINDING = Finding(
    "gaps",
    ROWS,
    tables=(Table("Gaps", {}, (Column("gap", "gap", "score"),)),),
    figures=(Figure("gap-bars", "Gaps", "Bars.", "A bar is a gap.", lambda axes: axes.bar([1], [1.5]), "gaps"),),
)


def render(*findings: Finding, cube: Any = None) -> dict[str, bytes]:
    cube = build_cube(np.array([50.0, 51.0]), list("ab")) if cube is None else cube
    made = make_report({"news": cube}, analyses=())
    made = replace(made, findings=findings)
    return render_report(made, read_report(build_document(made)))


def test_a_finding_without_a_section_stands_among_the_findings() -> None:
    page = render(FINDING)["index.html"].decode()
    assert page.index('<section id="pairs">') < page.index('<section id="findings">') < page.index("A bar is a gap.")


def test_an_analysis_that_was_asked_twice_has_files_of_its_own_each_time() -> None:
    files = render(FINDING, replace(FINDING, rows=({"test_set": "news", "gap": 2.5},)))
    assert {"tables/gaps.csv", "tables/gaps_2.csv", "figures/gap-bars-01.svg", "figures/gap-bars-02.svg"} <= set(files)
    assert b"2.5" in files["tables/gaps_2.csv"]
    assert "Numbers: [gaps\\_2.csv](tables/gaps_2.csv)." in files["report.md"].decode()


def with_figure(**changes: Any) -> Finding:
    return replace(FINDING, figures=(replace(FINDING.figures[0], **changes),))


@pytest.mark.parametrize(
    ("finding", "words"),
    [
        (with_figure(section="gapz"), "the figure 'Gaps' is to stand in 'gapz', and there is no such section"),
        (replace(FINDING, tables=(replace(FINDING.tables[0], section="x"),)), "the table 'Gaps' is to stand in 'x'"),
        (replace(FINDING, tables=(Table("T", {}, (Column("gain", "gain"),)),)), "shows 'gain', which its rows lack"),
        (replace(FINDING, tables=(Table("T", {}, (Column("gap", "g", "x"),)),)), "has a column of the form 'x'"),  # type: ignore[arg-type]
        (with_figure(table="others"), "has no rows behind it"),
        (replace(FINDING, rows=(), tables=()), "has no rows behind it"),
        (with_figure(name="confidence"), "'confidence' cannot be the name of a figure"),
        (with_figure(name="../x"), "cannot be the name of a figure"),
        (replace(FINDING, csv={"gaps": ROWS, "pairs": ROWS}), "'pairs' cannot be the name of a CSV file"),
        (replace(FINDING, rows=({"gap": 1.5, "made": object()},)), "its rows: an object of the type object, which is no"),
        (replace(FINDING, rows=({"gap": [1.5, {"made": Path("x")}]},)), "its rows: an object of the type PosixPath"),
        (replace(FINDING, csv={"gaps": ROWS, "more": ({"made": 1j},)}), "the file 'more': an object of the type complex"),
        (replace(FINDING, sections=(Section("gaps", "Gaps", after="gapz"),)), "stands after 'gapz', which is not a chapter"),
        (replace(FINDING, sections=(Section("pairs", "Gaps"),)), "'pairs' cannot be the key of a section"),
        (
            replace(FINDING, headlines=(Headline({"test_set": "nws"}, "Gaps are small."),)),
            "'Gaps are small.' belongs to no verdict",
        ),
        (replace(FINDING, marks=(Mark({"test_set": "nws"}, "gain", 1.0),)), "a mark belongs to no scatter"),
    ],
)
def test_what_cannot_be_shown_is_refused(finding: Finding, words: str) -> None:
    with pytest.raises(PluginError) as refused:
        render(finding)
    (problem,) = refused.value.problems
    assert problem.code == "P312"
    assert "the analysis 'gaps'" in problem.message
    assert words in problem.message


def test_everything_that_cannot_be_shown_is_told_at_once() -> None:
    with pytest.raises(PluginError) as refused:
        render(with_figure(section="x", table="y"), replace(FINDING, analysis="others", csv={"pairs": ROWS}))
    assert len(refused.value.problems) == 4


def test_two_analyses_cannot_open_one_section() -> None:
    one, two = (replace(FINDING, sections=(Section("gaps", title),)) for title in ("Gaps", "Others"))
    with pytest.raises(PluginError, match="two analyses open the section 'gaps'"):
        render(one, two)


def test_headlines_marks_and_checks_reach_verdict_scatter_and_trust() -> None:
    where = {"test_set": "news", "metric": "bleu", "procedure": "paired-bootstrap"}
    marks = (
        Mark(where, "gain", 0.5, "half a point", "Half a point is marked.", "The line is half a point."),
        Mark(where, "p", (0.1, 0.2), caption="The band is p in [.1, .2]."),
    )
    checks = (Check("Calibration of the test", "ok", "It was looked into."),)
    found = replace(FINDING, headlines=(Headline(where, "The gap is small."),), marks=marks, checks=checks)
    files = render(found, cube=build_cube(np.array([50.0, 50.7, 51.4, 51.9]), list("abcd")))
    document = json.loads(files["report.json"])
    assert document["verdict"][0]["sentences"][-1] == "The gap is small."
    assert [row["status"] for row in document["trust"] if row["check"] == "Calibration of the test"] == ["ok"]
    scatter = files["figures/confidence-01.svg"].decode()
    assert "half a point" in scatter
    assert "Half a point is marked." in scatter
    assert "The line is half a point. The band is p in \\[.1, .2\\]." in files["report.md"].decode()


def test_an_analysis_that_was_asked_twice_says_once_what_is_the_same() -> None:
    where = {"test_set": "news", "metric": "bleu", "procedure": "paired-bootstrap"}
    one, two, other = (
        replace(FINDING, headlines=(Headline(where, told),)) for told in ("Gaps are small.", "Gaps are small.", "One is large.")
    )
    assert json.loads(render(one, two, other)["report.json"])["verdict"][0]["sentences"][-2:] == [
        "Gaps are small.",
        "One is large.",
    ]
    assert json.loads(render(one, two, other)["report.json"])["verdict"][0]["sentences"].count("Gaps are small.") == 1


def test_one_pair_beyond_the_axis_is_told_in_the_singular() -> None:
    cube = build_cube(np.array([50.0, 50.7, 51.4, 51.9]), list("abcd"))
    assert "1 pair with a larger gain, with p < 0.0005, lies to the right of the axis." in render(cube=cube)[
        "index.html"
    ].decode().replace("&lt;", "<").replace("\u00a0", " ")
