"""The page on performance shows the figures that are stored beside it, and nothing else can stand in its tables."""

from __future__ import annotations

from pathlib import Path

import pytest
from benchmarks.document import fill_tables, merge_records, read_results, write_results
from benchmarks.tables import TABLES

DOCS = Path(__file__).resolve().parents[2] / "docs"
MACHINE = {"mode": "full", "processor": "made", "cores": 2, "versions": {"python": "3"}}


def start(command: str, wall: float) -> dict[str, object]:
    limit = {"at_most": 0.3, "met": wall <= 0.3}
    found = {"median": wall, "min": wall, "max": wall}
    return {"kind": "start", "command": command, "repeat": 1, "wall_s": found, "targets": {"wall_s": limit}, **MACHINE}


def test_the_page_on_performance_shows_the_stored_figures() -> None:
    page = (DOCS / "performance.md").read_text(encoding="utf-8")
    # To mend it: scripts/bench --render --out docs/performance.json --document docs/performance.md
    assert page == fill_tables(page, read_results(DOCS / "performance.json"))
    assert all(f"<!-- bench: {name} -->" in page for name in TABLES)


def test_tables_are_written_between_their_marks_and_say_what_is_missed() -> None:
    page = "before\n<!-- bench: start -->\nold\n<!-- end -->\nbetween\n<!-- bench: exact -->\n<!-- end -->\n"
    filled = fill_tables(page, [start("pipeline --help", 0.36)])
    assert "**0.36**, not ≤ 0.3: +20%" in filled
    assert "old" not in filled
    assert "\nbetween\n<!-- bench: exact -->\nNothing to show.\n<!-- end -->\n" in filled
    assert fill_tables(filled, [start("pipeline --help", 0.36)]) == filled


def test_a_mark_without_a_table_is_refused() -> None:
    with pytest.raises(ValueError, match="'none'"):
        fill_tables("<!-- bench: none -->\n<!-- end -->", [])


def test_what_is_measured_again_replaces_its_record_and_leaves_others(tmp_path: Path) -> None:
    first, second, other = start("a", 0.1), start("a", 0.2), start("b", 0.3)
    write_results(tmp_path / "results.json", merge_records([first, other], [second]))
    assert read_results(tmp_path / "results.json") == [second, other]
