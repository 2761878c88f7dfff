"""The claim of a page names every system once, on the side where its verdict puts it, and all pairs are there to be looked up."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from support.synthetic_cubes import build_cube
from support.synthetic_reports import ODD, make_report

from pipeline.report.build import build_report
from pipeline.report.claims import claim_of
from pipeline.report.document import FullReport
from pipeline.report.layout.views import view_all
from pipeline.report.pairs import all_pairs
from pipeline.report.pairs.all_pairs import encode_all_pairs
from pipeline.report.pairs.pair_table import pair_table
from pipeline.report.provenance import InputDigest, Provenance
from pipeline.report.write import render_report


def report_of(scores: list[float], names: list[str] | None = None, **asked: Any) -> FullReport:
    cube = build_cube(np.array(scores), names or [f"s{k}" for k in range(len(scores))])
    return build_report(make_report({"news": cube}, analyses=(), **asked))


def claim(scores: list[float], **asked: Any) -> str:
    report = report_of(scores, **asked)
    return claim_of(report, report.verdict[0])


HOW = "(paired-bootstrap, two-sided, Holm over {} pairs, α = 0.05)."


@pytest.mark.parametrize(
    ("scores", "told"),
    [
        ([50.0, 53.0, 52.9, 50.1], "s1 has a significantly higher BLEU score than s3 and s0; no difference from s2 is shown"),
        ([50.0, 50.1, 50.2, 50.3], "s3 has the best BLEU score, but no difference from s2, s1 and s0 is shown"),
        ([50.0, 60.0, 50.1, 50.2], "s1 has a significantly higher BLEU score than all 3 others"),
    ],
)
def test_a_claim_names_every_system_on_the_side_of_its_verdict(scores: list[float], told: str) -> None:
    assert claim(scores) == f"On news, n = 1,000, {told} {HOW.format(6)}"


def test_where_lower_scores_are_better_the_best_is_said_to_have_a_lower_one() -> None:
    report = report_of([60.0, 50.0, 50.1, 50.2])
    (test_set,) = report.test_sets
    falling = [replace(row, higher_is_better=False) for row in test_set.metrics]
    report = replace(report, test_sets=[replace(test_set, metrics=falling)])
    assert "s0 has a significantly lower BLEU score than all 3 others" in claim_of(report, report.verdict[0])


def test_a_set_that_nobody_has_named_is_the_test_set() -> None:
    cube = build_cube(np.array([50.0, 60.0, 50.1, 49.9]), ["a", "b", "c", "d"])
    given = make_report({"test set": cube}, analyses=())
    report = build_report(given)
    assert claim_of(report, report.verdict[0]).startswith(
        "On the test set, n = 1,000, b has a significantly higher BLEU score than all 3 others"
    )
    files = render_report(given, report)
    pages = [files[name] for name in files if name.endswith((".html", ".md"))]
    assert pages
    assert all(b"Scores on the test set, BLEU" in page for page in pages)
    assert all(b"Confidence against gain on the test set, BLEU" in page for page in pages)
    assert [name for name, content in files.items() if b" on test set" in content.lower()] == []


def test_against_a_baseline_only_its_pairs_are_claimed() -> None:
    told = claim([50.0, 53.0, 50.1, 47.0], resampling={"family": "against-baseline", "baseline": "s0"})
    assert told == (f"On news, n = 1,000, by BLEU, better than s0: s1; worse: s3; no difference is shown for s2 {HOW.format(3)}")


@pytest.mark.parametrize("scores", [[50.0, 51.0], [50.0, 53.0, 53.0]])
def test_nothing_is_claimed_beyond_the_verdict_of_one_pair_or_of_equal_leaders(scores: list[float]) -> None:
    assert claim(scores) == ""


def test_every_pair_of_a_long_table_is_on_the_page_with_the_cells_of_the_table() -> None:
    rng = np.random.default_rng(3)
    names = [*ODD, *(f"s{k}" for k in range(30))]
    report = report_of(rng.normal(50, 2, len(names)).tolist(), names)
    (only,) = json.loads(encode_all_pairs(report, view_all(report)))
    (where,) = report.places
    whole = pair_table(report, where, report.pairs_of[where], only["title"], digits=3, tables=1, most=10**6)
    assert len(whole.rows) == 630
    found = {(only["names"][a], only["names"][b], *cells) for a, b, *cells in only["rows"]}
    assert found == set(whole.rows)
    assert only["heads"] == list(whole.columns)


def test_a_short_table_is_not_repeated_and_too_many_pairs_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    short = report_of([50.0, 51.0, 52.0])
    assert encode_all_pairs(short, view_all(short)) == "[]"
    many = report_of(np.linspace(40, 60, 36).tolist())
    views = view_all(many)
    assert encode_all_pairs(many, views) != "[]"
    monkeypatch.setattr(all_pairs, "MOST", 629)
    assert encode_all_pairs(many, views) == "[]"


def test_names_do_not_leave_the_list_of_pairs() -> None:
    names = ["</script><script>alert(1)</script>", *(f"s{k}" for k in range(35))]
    report = report_of(np.linspace(40, 60, 36).tolist(), names)
    text = encode_all_pairs(report, view_all(report))
    assert "<" not in text
    assert names[0] in json.loads(text)[0]["names"]


def test_pages_say_when_by_what_and_from_which_inputs() -> None:
    made = Provenance("2026-11-26T10:00:00Z", "pipeline run study.yaml --set seed=7", (InputDigest("news", "s<0>", "0123abcd"),))
    given = make_report({"news": build_cube(np.array([50.0, 51.0, 52.0]), list("abc"))}, analyses=(), provenance=made)
    files = render_report(given, build_report(given))
    page, text = (bytes(files[name]).decode() for name in ("index.html", "report.md"))
    for words in ("2026-11-26 10:00:00 UTC", "pipeline run study.yaml --set seed=7", "s&lt;0&gt;", "0123abcd"):
        assert words in page
    assert "Made by `pipeline run study.yaml --set seed=7`. Begun 2026-11-26T10:00:00Z." in text
    assert b"2026-11-26" not in bytes(files["report.json"])
