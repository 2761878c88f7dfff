"""Names that come from somebody else do nothing where a report is opened: in a spreadsheet, a browser or a terminal."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from support.studies import PAGES, run_cli, write_study, write_text_outputs

NAMES = ("=cmd|' /C calc'!A0", "@SUM(1+1)*cmd", "+1+1", "-2+3", "<script>alert(1)</script>", "$(touch planted)")


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("hostile")
    outputs = write_text_outputs(folder / "data", NAMES)
    study = write_study(
        folder / "study.yaml",
        metrics=["chrf"],
        analyses=["thresholds"],
        resampling={"replicates": 2000, "keep_replicates": 1000, "test_sizes": ["full"]},
        report={**PAGES, "formats": ["html", "json"]},
        test_sets={"=1+1": {"format": "text", "references": ["data/ref.txt"], "outputs": outputs}},
    )
    done = run_cli("run", study, "--serial", "-q", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert not (folder / "planted").exists()
    return Path(done.stdout.strip()) / "report"


def test_no_cell_of_a_table_is_a_formula(report: Path) -> None:
    tables = sorted((report / "tables").glob("*.csv"))
    cells = [(table.name, cell) for table in tables for row in csv.reader(table.read_text().splitlines(True)) for cell in row]
    assert len(tables) > 5
    assert {f"'{name}" for name in NAMES[:4]} <= {cell for _, cell in cells}, "nothing is tested"
    assert [each for each in cells if each[1][:1] in "=+-@\t\r" and len(each[1]) > 1 and not _is_number(each[1])] == []


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def test_the_document_has_the_names_as_they_are(report: Path) -> None:
    systems = json.loads((report / "report.json").read_text())["systems"]
    assert {system["name"] for system in systems} == set(NAMES)


def test_the_page_has_no_script_of_a_name(report: Path) -> None:
    page = (report / "index.html").read_text()
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert(1)" in page
