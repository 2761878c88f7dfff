"""The simulation of `scripts/units`: it meets what can be computed, and docs/units.md shows what was counted."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from scipy.special import bdtr, bdtrc, ndtr
from unit_nulls.__main__ import main
from unit_nulls.simulate import FEW, MANY, Scenario, simulate
from unit_nulls.tables import TABLES, fill_tables

from pipeline.inference.unit_diagnostics.few_units import expected_rejection

DOCS = Path(__file__).resolve().parents[2] / "docs"
RECORDS = json.loads((DOCS / "units.json").read_text(encoding="utf-8"))["records"]
FALSE_ALARM = 1e-6


def could_be(hits: int, trials: int, low: float, high: float) -> bool:
    """Whether some rate in between gives so many: not too few for the lowest, not too many for the highest, at FALSE_ALARM."""
    return bool(bdtr(hits, trials, low) > FALSE_ALARM and bdtrc(hits - 1, trials, high) > FALSE_ALARM)


def test_a_count_is_held_against_the_rates_next_to_it() -> None:
    """Of 600: 40 are likely at .067; 85 are 14 % and too many for .07, 4 too few for .05."""
    assert could_be(40, 600, 0.03, 0.15)
    assert could_be(85, 600, 0.03, 0.15)
    assert not could_be(85, 600, 0.03, 0.07)
    assert not could_be(4, 600, 0.05, 0.07)


def test_the_page_shows_what_was_counted() -> None:
    # To mend it: scripts/units --document docs/units.md
    page = (DOCS / "units.md").read_text(encoding="utf-8")
    assert page == fill_tables(page, RECORDS)
    assert all(f"<!-- units: {name} -->" in page for name in TABLES)


def test_what_was_counted_is_what_is_known_of_it() -> None:
    """Items reject 10, 16 and 30 %, documents and the correction about what they should; margins are of the approximations."""
    counted = {(r["name"], r["correlation"]): r for r in RECORDS}
    for scenario, rate in zip(MANY, (0.05, 0.104, 0.155, 0.308), strict=True):
        record = counted[scenario.name, scenario.correlation]
        found = {name: hits / record["trials"] for name, hits in record["rejected"].items()}
        assert found["items"] == pytest.approx(rate, abs=0.01)
        assert found["documents"] == pytest.approx(0.058, abs=0.006)
        assert found["corrected"] == pytest.approx(0.05, abs=0.006)
        assert record["design_effect"] == pytest.approx(1 + 9 * scenario.correlation, rel=0.02)


@pytest.mark.statistical
def test_items_of_documents_that_agree_are_rejected_far_too_often() -> None:
    """600 nulls, ICC .3: items reject .308, documents about .058; a margin of .015 for the approximations, false alarm 4e-6."""
    seed = int(np.random.SeedSequence().entropy % 2**32)  # type: ignore[operator]  # a whole number where none was given
    record = simulate(MANY[-1], trials=600, replicates=500, seed=seed)
    items = float(2 * ndtr(-1.959964 / np.sqrt(3.7)))
    assert could_be(record["rejected"]["items"], 600, items - 0.015, items + 0.015), seed
    assert could_be(record["rejected"]["documents"], 600, 0.043, 0.073), seed


@pytest.mark.statistical
def test_five_documents_are_rejected_as_expected_and_corrected_at_the_level() -> None:
    """600 nulls: .154 and .05, with a margin of .02 for the approximations; false alarm 4e-6."""
    seed = int(np.random.SeedSequence().entropy % 2**32)  # type: ignore[operator]  # a whole number where none was given
    record = simulate(FEW[0], trials=600, replicates=500, seed=seed)
    expected = expected_rejection(5)
    assert expected is not None
    assert could_be(record["rejected"]["documents"], 600, expected - 0.02, expected + 0.02), seed
    assert could_be(record["rejected"]["corrected"], 600, 0.03, 0.07), seed


def test_a_simulation_is_its_seed() -> None:
    small = Scenario("6 × 4", (4,) * 6, 0.2)
    one, same, other = (simulate(small, trials=150, replicates=200, seed=seed) for seed in (3, 3, 4))
    assert one == same
    assert one["rejected"] != other["rejected"]


@pytest.mark.slow
def test_the_counts_of_the_page_come_out_again() -> None:
    """The second row, all 20 000 trials: the same seed, the same counts."""
    asked = {key: RECORDS[1][key] for key in ("trials", "replicates", "seed")}
    again = simulate(MANY[1], **asked)
    assert again["rejected"] == RECORDS[1]["rejected"]


def test_the_command_prints_the_tables(capsys: pytest.CaptureFixture[str]) -> None:
    main([])
    assert capsys.readouterr().out == "\n\n".join(table(RECORDS) for table in TABLES.values()) + "\n"
