"""The simulation of `scripts/suites`: it meets what can be computed, and docs/suites.md shows what was counted."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from scipy.special import bdtr, bdtrc
from scipy.stats import t
from suite_nulls.__main__ import main
from suite_nulls.simulate import RULES, SCENARIOS, SIZES, Scenario, simulate
from suite_nulls.tables import fill_table

DOCS = Path(__file__).resolve().parents[2] / "docs"
RECORDS = json.loads((DOCS / "suites.json").read_text(encoding="utf-8"))["records"]


def test_the_page_shows_what_was_counted() -> None:
    # To mend it: scripts/suites --document docs/suites.md
    page = (DOCS / "suites.md").read_text(encoding="utf-8")
    assert page == fill_table(page, RECORDS)
    assert "<!-- suites -->" in page
    assert [(record["law"], record["units"]) for record in RECORDS] == [(of.law, of.units) for of in SCENARIOS]


def test_suites_of_gaussian_and_of_0_1_scores_hold_their_level() -> None:
    """At a chance of 1e-6 for all of them, no rate of what a suite uses is above .05, and counted ones of few units are."""
    for record in RECORDS:
        for size in map(str, SIZES):
            suites, claims = record["suites"][size], {rule: record["claims"][rule][size] for rule in RULES}
            assert claims["decided"] <= claims["corrected"] <= claims["Student"] <= claims["counted"]
            if record["law"] in ("Gaussian", "0/1"):
                assert bdtrc(claims["decided"] - 1, suites, 0.05) > 1e-7
            if record["law"] == "Gaussian" and record["units"] <= 20:
                assert bdtrc(claims["counted"] - 1, suites, 0.10) < 1e-7


@pytest.mark.statistical
def test_counted_p_values_claim_as_often_as_can_be_computed_and_student_s_at_the_level() -> None:
    """1 − (1 − 2 P(T ≥ q √.9))^10, with q the normal quantile of .0025: .23. Gaussian, 10 units; fresh seed.

    Replicates of so few units have shorter tails than a Gaussian, .27 in 12 000 suites. False alarms 1e-6 each.
    """
    seed = int(np.random.SeedSequence().entropy % 2**32)  # type: ignore[operator]  # a whole number where none was given
    record = simulate(Scenario("Gaussian", 10), test_sets=6000, replicates=4000, seed=seed)
    counted, student = (record["claims"][rule]["10"] for rule in ("counted", "Student"))
    expected = 1 - (1 - 2 * t.sf(2.8070 * np.sqrt(0.9), 9)) ** 10
    assert 0.2 < expected < 0.3
    assert bdtr(counted, 600, expected - 0.03) > 1e-6, seed
    assert bdtrc(counted - 1, 600, expected + 0.08) > 1e-6, seed
    assert bdtrc(student - 1, 600, 0.05 + 0.01) > 1e-6, seed


def test_the_command_prints_the_table_of_what_was_counted(capsys: pytest.CaptureFixture[str]) -> None:
    main([])
    printed = capsys.readouterr().out
    assert printed.strip() in (DOCS / "suites.md").read_text(encoding="utf-8")
