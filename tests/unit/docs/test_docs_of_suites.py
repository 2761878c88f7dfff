"""docs/suites.md prints what it shows, names every option and procedure, and has the figures of the simulation's test."""

from __future__ import annotations

import dataclasses
import re
import subprocess
import sys
from pathlib import Path

import pytest

from pipeline.analyses.suite.analysis import DIRECTIONS, SuiteOptions
from pipeline.procedures.registry import PROCEDURES

PAGE = (Path(__file__).resolve().parents[3] / "docs" / "suites.md").read_text(encoding="utf-8")


def fenced(language: str) -> str:
    (code,) = re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    return str(code)


def first_column(head: str) -> list[str]:
    table = PAGE.split(f"| {head} |")[1].split("\n\n")[0]
    return [name for row in re.findall(r"^\| (`.*?) \|", table, re.MULTILINE) for name in re.findall(r"`([\w-]+)`", row)]


@pytest.mark.slow
def test_the_example_prints_what_the_page_shows(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, "-c", fenced("python")], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout == fenced("text")


def test_every_option_and_direction_has_its_row() -> None:
    assert first_column("option") == [field.name for field in dataclasses.fields(SuiteOptions)]
    (told,) = re.findall(r"^\| `direction` .*$", PAGE, re.MULTILINE)
    assert all(f"`{name}`" in told for name in DIRECTIONS)


def test_the_p_of_a_direction_is_told_by_what_a_procedure_is() -> None:
    """As `analyses/suite/data.py` reads it: a new procedure needs no row."""
    rows = re.findall(r"^\| (one that draws|one that computes|any other).* as `([\w-]+)` \|", PAGE, re.MULTILINE)
    assert [kind for kind, _ in rows] == ["one that draws", "one that computes", "any other"]
    kinds = {name: "one that draws" if found.draws else "any other" for name, found in PROCEDURES.items()}
    kinds |= {name: "one that computes" for name, found in PROCEDURES.items() if not found.draws and found.one_sided is None}
    assert [(kinds[name], name) for _, name in rows] == rows
