"""The pages on families and ranks print what they show, and name everything that the code offers."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from pipeline.inference.equivalence import VERDICTS
from pipeline.inference.multiple_comparisons.families import FAMILIES
from pipeline.inference.multiple_comparisons.multiplicity import ADJUSTMENTS
from pipeline.inference.multiple_comparisons.ranks import CLUSTERS
from pipeline.report.pairs.cube_facts import NOT_TESTABLE

DOCS = Path(__file__).resolve().parents[3] / "docs"
PAGES = {name: (DOCS / f"{name}.md").read_text(encoding="utf-8") for name in ("multiplicity", "ranks", "equivalence")}


def fenced(page: str, language: str) -> str:
    (code,) = re.findall(rf"^```{language}\n(.*?)^```$", PAGES[page], re.MULTILINE | re.DOTALL)
    return str(code)


@pytest.mark.parametrize("page", sorted(PAGES))
@pytest.mark.slow
def test_the_example_prints_what_the_page_shows(page: str, tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, "-c", fenced(page, "python")], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout == fenced(page, "text")


def first_column(page: str, head: str) -> list[str]:
    table = PAGES[page].split(f"| {head} |")[1].split("\n\n")[0]
    return [name for row in re.findall(r"^\| (`.*?) \|", table, re.MULTILINE) for name in re.findall(r"`([\w -]+)`", row)]


def test_every_adjustment_cluster_verdict_and_family_has_its_row() -> None:
    assert first_column("multiplicity", "adjustment") == list(ADJUSTMENTS)
    assert first_column("ranks", "definition") == list(CLUSTERS)
    assert set(first_column("equivalence", "verdict")) == {*VERDICTS, NOT_TESTABLE}
    assert all(f"`{name}`" in PAGES["multiplicity"] for name in FAMILIES)


def test_every_adjustment_names_its_source() -> None:
    pages = "\n".join(path.read_text(encoding="utf-8") for path in DOCS.glob("*.md"))
    for name in ("max_t", "benjamini_hochberg"):
        (doi,) = re.findall(r"doi:\S+", ADJUSTMENTS[name].reference)
        assert doi in pages
