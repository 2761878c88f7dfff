"""The section on trainings: one line a model and sample, one a failure, and no failure is told twice."""

from __future__ import annotations

from typing import Any

import numpy as np
from support.synthetic_cubes import build_cube
from support.synthetic_reports import make_report

from pipeline.report.build import build_report
from pipeline.report.claims import claim_of
from pipeline.report.document import Report
from pipeline.report.facts import AbsentSystem, FailedTask, ProblemRow, TrainingRow
from pipeline.report.layout.pages import render_html
from pipeline.report.layout.tables import make_tables
from pipeline.report.layout.views import view_all
from pipeline.report.trainings import count_failures, tell_failures, training_views


def training(system: str, **changes: Any) -> TrainingRow:
    model, _, replica = system.split("/")
    done = {"status": "done", "exit_status": 0, "attempts": 1, "reason": None, "notes": [], "log": None}
    taken = {"seconds": 2.0, "peak_memory_bytes": 3 * 2**20, "items": 1000, "units": 1000, "distinct": 0.63}
    what = {"system": system, "model": model, "sample": "bootstrap", "fraction": 0.5, "replica": int(replica)}
    return TrainingRow(**{**what, **taken, **done, **changes})


LOST = {"status": "failed", "exit_status": 3, "attempts": 2, "reason": "no <licence>", "log": "logs/a/b.txt", "items": None}
TRAININGS = [
    training("a/bootstrap-0.5/0", seconds=1.0, notes=["slow", "odd"], items=990),
    training("a/bootstrap-0.5/1", seconds=4.0, notes=["slow"], items=1010, distinct=0.6),
    training("a/bootstrap-0.5/2", peak_memory_bytes=9 * 2**20),
    training("a/seed/0", notes=["odd"]),
    training("b/seed/0", **LOST, distinct=None),
]
FAILURES = [
    FailedTask("train b/seed/0", 4, [ProblemRow("P411", "no <licence>", None, None, None)]),
    AbsentSystem("b/seed/0 on news", "b/seed/0", "train b/seed/0: no <licence>"),
    FailedTask("extract c", 4, [ProblemRow("P401", "broken", None, None, None)]),
]


def document(trainings: Any = TRAININGS, failures: Any = FAILURES) -> Report:
    cubes = {"news": build_cube(np.array([50.0, 53.0]), ["a/seed/0", "a/bootstrap-0.5/0"])}
    return build_report(make_report(cubes, analyses=(), trainings=trainings, failures=failures))


def test_a_line_has_what_the_trainings_of_a_model_and_sample_took() -> None:
    samples, _ = training_views(document())
    assert samples.rows[0] == (
        *("a", "bootstrap-0.5", "3", "0", "2.00", "1.00–4.00", "9 MiB", "990–1,010", "60.0 %–63.0 %", "slow (2); odd (1)"),
    )
    assert [row[:4] for row in samples.rows[1:]] == [("a", "seed", "1", "0"), ("b", "seed", "0", "1")]
    assert samples.rows[2][4:6] == ("–", "–")


def test_a_failure_has_its_exit_status_attempts_reason_and_log() -> None:
    _, failed = training_views(document())
    assert failed.rows == (("b/seed/0", "3", "2", "2.00", "no <licence>", "logs/a/b.txt"),)


def test_a_failed_training_is_told_once_and_other_failures_in_full() -> None:
    told = tell_failures(document())
    assert told == ["1 of 5 trainings (1 of b): see Trainings.", "label: extract c; exit_code: 4; problems: broken"]
    assert count_failures(document()) == 2


def test_the_page_escapes_what_a_training_said() -> None:
    found = document()
    page = render_html(found, view_all(found), ())
    assert "no &lt;licence&gt;" in page
    assert "no <licence>" not in page
    assert page.count('<section id="trainings">') == 1


def test_a_study_that_trains_nothing_has_no_such_section() -> None:
    found = document(trainings=(), failures=())
    assert list(training_views(found)) == []
    assert tell_failures(found) == []
    assert "trainings.csv" not in make_tables(found, {})


def test_runs_of_the_only_model_that_is_left_are_not_compared() -> None:
    cubes = {"news": build_cube(np.array([50.0, 53.0, 51.0]), [f"a/bootstrap-0.5/{k}" for k in range(3)])}
    found = build_report(make_report(cubes, analyses=(), trainings=TRAININGS, failures=FAILURES))
    (verdict,) = found.verdict
    assert verdict.sentences == ["There are no two models to compare: only a is left, since every training of b failed."]
    assert claim_of(found, verdict) == ""
