"""A page shows the columns of an analysis that decide nothing once it is asked for all of them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from support.synthetic_cubes import build_cube
from support.synthetic_reports import make_report

from pipeline.interfaces import Column, Finding, Table
from pipeline.report.build import build_report
from pipeline.report.document import read_report, to_document
from pipeline.report.layout.views import view_all
from pipeline.report.write import render_report

FOLDED = {"p, better on any", "p, worse on any", "better, all together", "worse, all together", "p, equal gains", "I²"}


def test_the_pairs_of_a_suite_begin_with_what_is_decided() -> None:
    cubes = {name: build_cube(np.array([50.0, 53.0, 55.0]), list("abc"), name=name) for name in ("news", "talks")}
    given = make_report(cubes, analyses=("suite",))
    report = build_report(given)
    (view,) = (view for view in view_all(report) if view.kind == "suite" and "better on at least" in view.columns)
    assert view.later == FOLDED < {*view.columns}
    assert view in view_all(read_report(to_document(report)))
    page = render_report(given, report)["index.html"].decode()
    assert '<th scope="col" data-more="always">I²</th>' in page


def test_a_column_in_which_nothing_stands_is_neither_shown_nor_folded() -> None:
    cubes = {"news": build_cube(np.array([50.0, 53.0]), list("ab"))}
    columns = (Column("what", "what"), Column("more", "more", "number", later=True), Column("none", "none", "number", later=True))
    found = Finding("known", ({"what": "x", "more": 1.0, "none": None},))
    given = make_report(cubes, analyses=())
    report = build_report(replace(given, findings=[replace(found, tables=(Table("Found", {}, columns),))]))
    (view,) = (view for view in view_all(report) if view.title == "Found")
    assert (view.columns, view.later) == (("what", "more"), {"more"})
