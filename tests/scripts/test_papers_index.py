"""The index of docs/papers.md names rows, figures and tests that are there, and shows the numbers of the page."""

from __future__ import annotations

import csv
import gzip
from pathlib import Path

import numpy as np
import pytest
import yaml
from papers_index import INDEX, list_rows, write_index
from papers_table import PAGE, STUDIES, numbers_of

ROOT = STUDIES.parent.parent


@pytest.fixture(scope="module")
def expected() -> dict[str, list[str]]:
    """The names of the known answers of each study."""
    studies = {path.stem: yaml.safe_load(path.read_text("utf-8")) for path in STUDIES.glob("*.yaml")}
    return {name: [one["name"] for one in study["expect"]] for name, study in studies.items()}


def test_every_row_is_a_known_answer_of_its_study(expected: dict[str, list[str]]) -> None:
    assert [row for row in list_rows() if row[1] not in expected.get(row[0], ())] == []


def test_known_answers_of_a_study_are_told_apart_by_their_names(expected: dict[str, list[str]]) -> None:
    assert expected
    assert [name for name, rows in expected.items() if len(set(rows)) < len(rows)] == []


def test_every_figure_is_drawn_by_an_analysis_or_the_report() -> None:
    code = "".join(path.read_text("utf-8") for path in (ROOT / "pipeline").rglob("*.py"))
    figures = {entry["figure"] for of_paper in INDEX["figures"].values() for entry in of_paper if "figure" in entry}
    assert {name for name in figures if f'"{name}"' not in code} == set()


def test_every_known_number_has_rows_or_a_test_that_is_there() -> None:
    for known in INDEX["known"]:
        assert ("rows" in known) != ("test" in known)
        if "test" in known:
            path, _, name = known["test"].partition("::")
            assert f"def {name}(" in (ROOT / path).read_text("utf-8")


def test_the_page_has_the_index_of_its_own_numbers() -> None:
    page = PAGE.read_text("utf-8")
    ours = numbers_of(page)
    assert {tuple(row[:2]) for row in list_rows()} <= ours.keys()
    assert write_index(ours) in page
    ours["06-alignment", "p of that ratio"] = "0.5"
    assert write_index(ours) not in page


@pytest.mark.data
def test_seeds_differ_ten_times_less_on_their_development_set_than_on_hans(data_dir: Path) -> None:
    """A development set of which the accuracy of each run is all that is published has no units, so no study can resample it."""
    with gzip.open(data_dir / "hans-bert-seeds" / "accuracies_by_run.csv.gz", "rt", encoding="utf-8") as file:
        runs = [row for row in csv.DictReader(file) if row["Run"].startswith("Run ")]
    assert len(runs) == 100
    development, hans = (100 * np.std([float(row[key]) for row in runs], ddof=1) for key in ("MNLI dev acc.", "Overall accuracy"))
    assert (round(development, 3), round(hans, 3)) == (0.242, 2.355)
    section = PAGE.read_text("utf-8").partition("\n## 15b-")[2]
    assert "2.355 points, ten times the .242 of the development set" in section
