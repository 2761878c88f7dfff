"""`scripts/truths`: simulated studies whose answers are known, the page that shows them, and a small run."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from known_truths import measure as measured
from known_truths.__main__ import main
from known_truths.tables import fill_tables, truths_table

DOCS = Path(__file__).resolve().parents[2] / "docs"
RECORDS = json.loads((DOCS / "truths.json").read_text(encoding="utf-8"))["records"]


def test_the_page_shows_what_was_found() -> None:
    # To mend it: scripts/truths --document docs/truths.md
    page = (DOCS / "truths.md").read_text(encoding="utf-8")
    assert truths_table(RECORDS) in page
    assert page == fill_tables(page, RECORDS)


def test_every_truth_was_found_in_two_hundred_studies() -> None:
    assert {record["truth"] for record in RECORDS} == set(measured.TRUTHS)
    for record in RECORDS:
        assert record["studies"] >= 200
        assert record["low"] <= record["found"] <= record["high"], record
        assert record["low"] <= record["known"] <= record["high"], record


@pytest.mark.parametrize("name", ["variance components", "power", "correlations"])
def test_what_is_cheap_comes_out_again(name: str) -> None:
    shown = [record for record in RECORDS if record["truth"] == name]
    again = measured.measure(name, studies=shown[0]["studies"], seed=shown[0]["seed"], say=lambda _: None)
    assert [record["what"] for record in again] == [record["what"] for record in shown]
    for one, other in zip(again, shown, strict=True):
        assert one["found"] == pytest.approx(other["found"], rel=1e-4, abs=1e-9)


def test_a_few_studies_are_near_the_truth() -> None:
    """Of eight studies, the means are near; every alike set of test sets counts for an eighth."""
    slopes = measured.measure("size law", studies=8, seed=2, say=lambda _: None)
    assert [record["found"] for record in slopes] == pytest.approx([-0.5] * 3, abs=0.05)
    alike, shifted = measured.measure("domain shift", studies=8, seed=2, say=lambda _: None)
    assert alike["found"] <= 25
    assert shifted["found"] == 100
    shares = measured.measure("calibration", studies=8, seed=2, say=lambda _: None)
    assert [record["found"] for record in shares] == pytest.approx([0.0] * 3, abs=5)


def test_a_truth_that_is_missed_fails_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    right = measured.variance_components

    def wrong(values, pairs):
        return right([np.asarray(array) * 1.1 for array in values], pairs)  # variances 21 % too large

    assert main([]) == 0
    capsys.readouterr()
    monkeypatch.setattr(measured, "variance_components", wrong)
    missed = measured.measure("variance components", studies=60, seed=1, say=lambda _: None)
    records = tmp_path / "truths.json"
    records.write_text(json.dumps({"records": missed}), encoding="utf-8")
    assert main(["--records", str(records)]) == 1
    assert capsys.readouterr().out.count("**no**") == 3
