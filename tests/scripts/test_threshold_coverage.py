"""The simulation of `scripts/thresholds`: it meets what can be computed, and docs/thresholds.md shows what was counted."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from scipy import stats
from threshold_coverage.__main__ import main
from threshold_coverage.measure import measure, repeated_percentile
from threshold_coverage.populations import POPULATIONS, Z, known_threshold, values_of
from threshold_coverage.tables import TABLES, fill_tables

DOCS = Path(__file__).resolve().parents[2] / "docs"
RECORDS = json.loads((DOCS / "thresholds.json").read_text(encoding="utf-8"))["records"]
BY_NAME = {one.name: one for one in POPULATIONS}


def test_the_page_shows_what_was_counted() -> None:
    # To mend it: scripts/thresholds --document docs/thresholds.md
    page = (DOCS / "thresholds.md").read_text(encoding="utf-8")
    assert page == fill_tables(page, RECORDS)
    assert all(f"<!-- thresholds: {name} -->" in page for name in TABLES)


def test_what_is_shown_covers_as_often_as_it_says() -> None:
    """Never more than 7 % of the intervals of a population, rule and number of systems miss, where a hundred were shown."""
    seen = 0
    for record in RECORDS:
        shown = record["methods"]["shown"]
        if shown["there"] >= 100:
            seen += 1
            assert shown["too_low"] + shown["too_high"] <= 0.07 * shown["there"], record
        else:
            assert shown["there"] == 0 or record["systems"] >= 72
    assert seen >= 15


def test_intervals_from_resampled_systems_are_too_low_where_systems_are_few() -> None:
    for record in RECORDS:
        resampled = record["methods"]["percentile"]
        if record["rule"] == "se" and record["systems"] == 20:
            assert resampled["too_low"] > 0.1 * resampled["there"], record
            assert resampled["too_low"] > 5 * resampled["too_high"], record


def test_the_threshold_of_the_gamma_population_is_that_of_its_law() -> None:
    """Sums of two variances are gamma with twice the shape; eight means of a million pairs are within a per cent."""
    exact = Z * np.sqrt(stats.gamma.ppf(0.95, 6, scale=1 / 3) / 400)
    assert known_threshold("gamma", "se") == pytest.approx(exact, rel=0.01)
    assert next(record for record in RECORDS if record["population"] == "gamma")["truth"] == pytest.approx(exact, rel=0.01)


def test_pairs_of_a_population_have_the_standard_error_of_their_answers() -> None:
    drawn = BY_NAME["accuracy"].make(np.random.default_rng(1), 12)
    assert len(drawn.gain) == 66
    # The variance of a difference of 400 answers of 0 and 1 is at most what all of them differing would make.
    assert np.all(drawn.se <= 100 / np.sqrt(400))
    assert np.all(drawn.se**2 + drawn.gain**2 / 400 >= 100 * drawn.gain / 400 - 1e-9)  # at least the net gain differs
    values, first, second = values_of(drawn, "se")
    assert values == pytest.approx(Z * drawn.se)
    assert (first.max(), second.max()) == (10, 11)


def test_teams_come_in_threes() -> None:
    assert BY_NAME["teams"].make(np.random.default_rng(1), 9).draw.tolist() == [0, 0, 0, 1, 1, 1, 2, 2, 2]


def test_the_percentile_of_repeated_values_is_numpys() -> None:
    rng = np.random.default_rng(1)
    values, times = rng.normal(size=30), rng.integers(0, 4, size=(50, 30)).astype(float)
    expected = [np.percentile(np.repeat(values, row.astype(int)), 95) for row in times]
    assert repeated_percentile(values, times) == pytest.approx(expected)
    assert np.isnan(repeated_percentile(values, np.zeros((1, 30)))).all()


def test_a_simulation_is_its_seed() -> None:
    asked = {"trials": 3, "resampled": 2, "draws": 50, "say": lambda _: None}
    one, same, other = (measure(BY_NAME["lognormal"], 20, seed=seed, **asked) for seed in (3, 3, 4))
    assert one == same
    assert [record["estimates"] for record in one] != [record["estimates"] for record in other]
    assert one[0]["methods"]["percentile"]["studies"] == 2


@pytest.mark.slow
def test_the_counts_of_the_page_come_out_again() -> None:
    """One hundred systems with lognormal spreads, all studies: the same seed, the same counts."""
    record = next(one for one in RECORDS if (one["population"], one["systems"], one["rule"]) == ("lognormal", 100, "se"))
    asked = {"trials": record["trials"], "resampled": 0, "draws": 1, "seed": record["seed"], "say": lambda _: None}
    again = measure(BY_NAME["lognormal"], 100, **asked)[0]
    assert again["methods"]["shown"] == record["methods"]["shown"]
    assert again["estimates"] == record["estimates"]


def test_the_command_prints_the_tables(capsys: pytest.CaptureFixture[str]) -> None:
    main([])
    assert capsys.readouterr().out == "\n\n".join(table(RECORDS) for table in TABLES.values()) + "\n"
