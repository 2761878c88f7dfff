"""`scripts/reference` writes what a family found between its marks, and records it so that the page can be written again."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from reference_table.__main__ import FAMILIES, main
from reference_table.document import fill_parts, parse_blocks, render_blocks

ROOT = Path(__file__).resolve().parents[2]
TABLE = "On made-up data.\n\n| system | score |\n| --- | ---: |\n| a | 1.5 |\n| b \\| c | – |"
PAGE = "# Systems\n\nBefore.\n\n<!-- made by scripts/reference taggers -->\nold\n<!-- end -->\n\nAfter.\n"


@pytest.fixture
def page(tmp_path, monkeypatch):
    module = ModuleType("reference_table.taggers")
    module.table = lambda data: f"{TABLE}\n\nFrom {data.name}."
    monkeypatch.setitem(sys.modules, "reference_table.taggers", module)
    (tmp_path / "data").mkdir()
    written = tmp_path / "systems.md"
    written.write_text(PAGE, "utf-8")
    return written


def test_markdown_taken_apart_is_put_together_again():
    blocks = parse_blocks(TABLE)
    assert render_blocks(blocks) == TABLE
    assert blocks[1]["rows"] == [["a", "1.5"], ["b \\| c", "–"]]


def test_a_table_with_a_missing_cell_is_refused():
    with pytest.raises(ValueError, match="2 cells"):
        parse_blocks("| a | b |\n|---|---|\n| 1 |")


def test_the_page_and_its_records_are_written(page, capsys):
    main(["taggers", "--data", str(page.parent / "data"), "--document", str(page)])
    text = page.read_text("utf-8")
    assert text == PAGE.replace("old", f"{TABLE}\n\nFrom data.")
    assert TABLE in capsys.readouterr().out
    record = json.loads(page.with_suffix(".json").read_text("utf-8"))["families"]["taggers"]
    assert record["blocks"][1]["rows"][0] == ["a", "1.5"]
    assert "pipeline" in record["versions"]


def test_the_page_is_written_again_from_its_records(page):
    main(["taggers", "--data", str(page.parent / "data"), "--document", str(page)])
    first, records = page.read_text("utf-8"), page.with_suffix(".json").read_bytes()
    page.write_text(PAGE, "utf-8")
    main(["--render", "--document", str(page)])
    assert page.read_text("utf-8") == first
    assert page.with_suffix(".json").read_bytes() == records


def test_records_of_other_families_are_kept(page):
    page.with_suffix(".json").write_text(json.dumps({"families": {"grammars": {"blocks": ["kept"]}}}), "utf-8")
    main(["taggers", "--data", str(page.parent / "data"), "--document", str(page)])
    assert list(json.loads(page.with_suffix(".json").read_text("utf-8"))["families"]) == ["taggers", "grammars"]


def test_a_page_without_marks_is_refused():
    with pytest.raises(ValueError, match="0 parts"):
        fill_parts(PAGE, {"parsers": ["x"]})


@pytest.mark.parametrize("arguments", [[], ["poets"], ["--render"], ["taggers", "--data", "nowhere"]])
def test_what_cannot_be_done_is_said(arguments, capsys):
    with pytest.raises(SystemExit):
        main(arguments)
    assert "error:" in capsys.readouterr().err


def test_the_page_of_this_package_is_what_its_records_say():
    page = ROOT / "docs" / "reference_systems.md"
    recorded = json.loads(page.with_suffix(".json").read_text("utf-8"))["families"]
    assert set(recorded) <= set(FAMILIES)
    text = page.read_text("utf-8")
    assert fill_parts(text, {family: record["blocks"] for family, record in recorded.items()}) == text


def test_the_difference_of_two_settings_has_the_error_of_its_sentences():
    from reference_table.parser_settings import compare_counts

    ours, other = np.array([[3.0, 8.0], [2.0, 8.0]]), np.array([[2.0, 8.0], [2.0, 8.0]])
    # One word of eight is gained, in one of two sentences: the residuals are ±1/2, and √(1/4 + 1/4) / 8 is their error.
    # The words of gold and parser are counted together, twice eight.
    assert compare_counts(ours, other) == pytest.approx((12.5, 100 * 0.5**0.5 / 8))
    assert compare_counts(ours, ours) == (0.0, 0.0)
